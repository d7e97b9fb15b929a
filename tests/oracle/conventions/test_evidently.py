"""The convention of Evidently beside Evidently: means over users, of what stands in one frame."""

from __future__ import annotations

import sys
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


def test_a_row_without_contexts_is_scored_as_an_empty_text(monkeypatch: pytest.MonkeyPatch) -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("evidently")
    from evidently.descriptors import _context_relevance as descriptors

    read: list[str] = []

    class Model:
        def __init__(self, name: str) -> None: ...

        def encode(self, texts: Any) -> Any:
            read.extend(texts)
            return [[1.0, 0.0] for _ in texts]

    module = type(sys)("sentence_transformers")
    module.SentenceTransformer = Model  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    columns = [
        descriptors.DatasetColumn(descriptors.ColumnType.Text, series)
        for series in (
            pd.Series(["p", "q"], name="question"),
            pd.Series([["a", "b"], []], name="contexts"),
        )
    ]
    found = descriptors.semantic_similarity_scoring(*columns, None)
    assert read == ["p", "q", "a", "b", ""]
    assert found.data.tolist() == [[1.0, 1.0], [1.0]]


def test_two_tied_relevant_items_have_a_precision_of_two() -> None:
    given = Collection(
        {"q": {"a": 1, "b": 1, "c": 0}}, [("q", "a", 2.0), ("q", "b", 2.0), ("q", "c", 1.0)]
    )
    assert value("PrecisionTopK", given, 1) == 2.0


def test_a_short_list_has_an_average_precision_above_one() -> None:
    given = Collection(
        {"q": {"a": 1}, "r": {item: int(item == "a") for item in "abcde"}},
        [("q", "a", 9.0), *(("r", item, 9.0 - at) for at, item in enumerate("abcde"))],
    )
    # The one result of q is relevant, and is added at every rank down to 5: (5 + 1) / 2.
    assert value("MAP", given, 5) == 3.0


def test_rows_out_of_rank_order_change_its_average_precision() -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("evidently")
    from evidently.legacy.metrics.recsys.precision_recall_k import PrecisionRecallCalculation

    ranks = pd.DataFrame({"users": ["q"] * 3, "target": [1, 0, 1], "preds": [1, 2, 3]})
    values = [
        PrecisionRecallCalculation(3).get_precision_and_recall_dict(rows, 3)["map"][-1]
        for rows in (ranks, ranks[::-1])
    ]
    assert values[0] == pytest.approx((1 + 2 / 3) / 2)
    assert values[1] != pytest.approx(values[0])


def test_a_k_beyond_the_longest_list_has_no_value() -> None:
    given = Collection({"q": {"a": 1, "b": 0}}, [("q", "a", 2.0), ("q", "b", 1.0)])
    with pytest.raises((KeyError, IndexError)):
        value("RecallTopK", given, 5)


def test_the_ranks_beside_two_metrics_are_too_great_by_one() -> None:
    evidently = pytest.importorskip("evidently")
    from evidently import metrics

    given = Collection({"q": {"a": 1, "b": 0}}, [("q", "a", 2.0), ("q", "b", 1.0)])
    columns = evidently.Recsys(
        user_id="user_id", item_id="item_id", target="target", prediction="prediction"
    )
    data = evidently.Dataset.from_pandas(
        frame(given), data_definition=evidently.DataDefinition(ranking=[columns])
    )
    report = evidently.Report([metrics.NDCG(k=2), metrics.MRR(k=2), metrics.RecallTopK(k=2)]).run(
        data, None
    )
    first = [min(metric["value"]["rank"].values()) for metric in report.dict()["metrics"]]
    assert first == [2, 2, 1]
