"""The convention of Evidently beside Evidently: means over users, of what stands in one frame."""

from __future__ import annotations

from typing import Any

import pytest

from support.generated import Collection, generate
from support.loops import for_each
from support.peers import HEAVY, WITHOUT_TIES, Case, cases, closed, compare, without_negative

pytestmark = HEAVY

NAME = "evidently"
EVERY = cases(NAME, places={"k": (1, 3, 10), "rel": (0.5, 1)})
CONTEXTS = [case for case in EVERY if case.theirs.startswith("ContextRelevance")]
OF_LISTS = [case for case in EVERY if case not in CONTEXTS]
DATA = {
    name: without_negative(closed(given))
    for name, given in WITHOUT_TIES.items()
    if name != "short lists"
}
EVEN = without_negative(
    closed(generate(131, ties=False, gaps=False, shortest=12, longest=12, grades=(0, 0, 1, 2)))
)
"""Lists of one length, which MAP needs."""


def frame(given: Collection) -> Any:
    """One row a result, in rank order, which MAP needs."""
    pd = pytest.importorskip("pandas")
    rows = [
        (query, item, score, given.judgements[query][item])
        for query, item, score in sorted(given.rows, key=lambda row: (row[0], -row[2]))
    ]
    return pd.DataFrame(rows, columns=["user_id", "item_id", "prediction", "target"])


def value(name: str, given: Collection, k: int, **options: Any) -> float:
    pytest.importorskip("evidently")
    from evidently.legacy import metrics
    from evidently.legacy.pipeline.column_mapping import ColumnMapping
    from evidently.legacy.report import Report

    metric = f"{name}Metric" if name.endswith("TopK") else f"{name}KMetric"
    asked = getattr(metrics, metric)(k=k, **options)
    report = Report(metrics=[asked])
    columns = ColumnMapping(
        user_id="user_id",
        item_id="item_id",
        prediction="prediction",
        target="target",
        recommendations_type="score",
    )
    report.run(reference_data=None, current_data=frame(given), column_mapping=columns)
    found = asked.get_result().current
    # Some series begin at 0, some at 1.
    return float(found.iloc[k - 1])


@pytest.mark.parametrize("collection", DATA)
@for_each("case", OF_LISTS, ids=str)
def test_every_name(case: Case, collection: str) -> None:
    given, (name, options) = DATA[collection], case.call()
    if name == "MAP":
        given = EVEN
    assert compare(NAME, case, given, value(name, given, **options))
    # Users without feedback can count.
    theirs = value(name, given, **options, no_feedback_users=True)
    assert compare(NAME, case, given, theirs, policy={"empty": "zero"})


def contexts(
    given: Collection, monkeypatch: pytest.MonkeyPatch, **options: Any
) -> dict[str, float]:
    """What the contexts of each row come to, where a model gives them their grades as scores."""
    pd = pytest.importorskip("pandas")
    evidently = pytest.importorskip("evidently")
    from evidently.descriptors import _context_relevance as descriptors

    def score(question: Any, context: Any, options: Any) -> Any:
        scores = [
            [given.judgements[query][item] for item in items]
            for query, items in zip(question.data, context.data, strict=True)
        ]
        return descriptors.DatasetColumn(
            descriptors.ColumnType.List, pd.Series(scores, index=question.data.index)
        )

    monkeypatch.setitem(descriptors.METHODS, "given", (score, descriptors.MeanAggregation))
    rows = pd.DataFrame(
        {"question": list(given.run), "contexts": [list(items) for items in given.run.values()]}
    )
    wanted = descriptors.ContextRelevance(
        "question", "contexts", method="given", alias="found", **options
    )
    found = evidently.Dataset.from_pandas(rows, descriptors=[wanted]).as_dataframe()
    return dict(zip(found["question"], map(float, found["found"]), strict=True))


@pytest.mark.parametrize("tenths", [(0, 1, 3, 5, 7), (2, 5, 7, 8, 9, 10), (0, 0, 0, 8)], ids=str)
@for_each("case", CONTEXTS, ids=str)
def test_contexts_of_rows(
    case: Case, tenths: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = generate(132, gaps=False, longest=8, grades=tenths)
    whole = closed(drawn)
    given = Collection(
        {
            query: {item: grade / 10 for item, grade in grades.items()}  # type: ignore[misc]
            for query, grades in whole.judgements.items()
        },
        whole.rows,
    )
    theirs = contexts(given, monkeypatch, **case.call()[1])
    assert compare(NAME, case, given, theirs) == len(given.judgements)
