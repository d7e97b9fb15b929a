"""The question that an explanation answers: which number, of which query of what."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isnan
from typing import TYPE_CHECKING, Any

from judged.errors import ConventionError, MeasureError
from judged.evaluation.evaluation import evaluate_rankings
from judged.evaluation.settings import EvaluationSettings
from judged.explanation.explanation import Explanation
from judged.explanation.listing import Listing, Row, shown_ranks, threshold
from judged.explanation.source import Read, policy_of_a_list, read, refuse_unbroken_ties
from judged.explanation.steps import steps_of
from judged.inputs.blocks import MEMORY, Room
from judged.measures import Measure
from judged.options import checked
from judged.policy import Policy
from judged.rankings.rankings import Rankings

if TYPE_CHECKING:
    from judged.options import (
        CollectionLike,
        ColumnsLike,
        ConventionLike,
        Duplicates,
        FileFormat,
        ItemToLike,
        JudgementsLike,
        Memory,
        Path,
        PolicyLike,
        RunLike,
    )

ROWS = 30
"""So many ranks are shown, where nobody says how many."""


@checked
def explain(
    judgements: JudgementsLike | Rankings | Sequence[float | None],
    run: RunLike | None = None,
    measure: str | Measure = "AP",
    *,
    query: str | None = None,
    relevant: int | None = None,
    pool: Sequence[Any] | str | None = None,
    policy: PolicyLike | None = None,
    depth: int | None = None,
    duplicates: Duplicates = "error",
    collection: CollectionLike | None = None,
    convention: ConventionLike | None = None,
    rows: int | None = ROWS,
    item_to: ItemToLike | None = None,
    exclude_same_id: bool = False,
    columns: ColumnsLike | None = None,
    judgements_format: FileFormat | None = None,
    run_format: FileFormat | None = None,
    memory: Memory = MEMORY,
    temporary: Path | None = None,
) -> Explanation:
    """How one measure comes to its value for one query, step by step.

    Parameters
    ----------
    judgements : JudgementsLike, Rankings, or a relevance list
        As `judged.evaluate` takes them. Without a run: `Rankings`, rows that hold relevant and
        retrieved ids, or the grades of one list in
        rank order, as a list or a text ("0 1 0 0 1"; None or - for an item that nobody judged;
        brackets in a text around results that share a score).
    run : RunLike, optional
        A file, {query: {item: score}}, or a table.
    measure : str or Measure, optional
        One measure; AP by default.
    query : str, optional
        Which query; may be left out where only one was judged.
    relevant : int, optional
        Of a relevance list: how many items are relevant in all.
    pool : sequence or str, optional
        Of a relevance list: the grades of all judged items, in any order.
    policy : PolicyLike, optional
        Ties, missing queries, queries with nothing relevant, unjudged items. Ties must be broken:
        not "expected".
    depth : int, optional
        Cut the list at this rank first; by default it counts whole.
    duplicates : {"error", "first"}, optional
        What to do about an item that occurs twice.
    collection : int or Mapping, optional
        How many items there were to retrieve; few measures need it.
    convention : str or Convention, optional
        Measure and policy as another library means them.
    rows : int or None, optional
        How many ranks are shown, those of relevant items first; None shows all.
    item_to : ItemToLike, optional
        Which document an item belongs to, as in `judged.evaluate`.
    exclude_same_id : bool, optional
        Take out results that have the id of their query, and judgements of a query for itself.
    columns : ColumnsLike, optional
        What each column of a table is, such as {"query": "question_id", "item": "chunk_id"}; by
        default their names tell.
    judgements_format, run_format : FileFormat, optional
        The format of the files, such as "trec" or "csv", where it is not recognised.
    memory : str or int, optional
        What a run may take while it is read; of a large one, only the rows of the query are kept.
    temporary : str or PathLike, optional
        The folder for what is put on disk meanwhile; by default that of the system.

    Returns
    -------
    Explanation

    >>> print(explain({"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}, "RR", query="q").arithmetic)
    RR = 1/2 = 0.5
    >>> explain([0, 1, 0, 0, 1], measure="P@5").value
    0.4
    """
    known: dict[str, Any] = (
        {"ties": judgements.ties, "unjudged": judgements.unjudged}
        if isinstance(judgements, Rankings)
        else {}
    )
    given: Any = policy
    if run is None and not known:
        given = policy_of_a_list(policy, judgements)
    request = EvaluationSettings.of(
        [measure] if isinstance(measure, Measure) else measure,
        given,
        convention,
        prepares=True,
        **known,
    )
    if len(request.measures) > 1:
        raise MeasureError(
            f"explain takes one measure; got {', '.join(map(str, request.measures))}."
        )
    if request.convention and request.convention.threshold(request.measures[0]):
        raise ConventionError(
            f"{request.convention.convention.title} finds out for each query which grades are "
            f"relevant; say it for this one, as in P(rel=2)@10, and it can be explained."
        )
    refuse_unbroken_ties(request.policy)
    found = read(
        judgements,
        run,
        query,
        relevant=relevant,
        pool=pool,
        policy=request.policy,
        prepare=request.prepare,
        depth=depth,
        duplicates=duplicates,
        collection=collection,
        item_to=item_to,
        exclude_same_id=exclude_same_id,
        columns=columns,
        judgements_format=judgements_format,
        run_format=run_format,
        room=Room.of(memory, temporary),
    )
    return _explained(request.measures[0], found, request.policy, rows)


def _explained(measure: Measure, found: Read, policy: Policy, rows: int | None) -> Explanation:
    evaluation = evaluate_rankings([found.rankings], [measure], policy=policy)
    (r,), settled = evaluation.rankings.values(), float(evaluation.runs[0].values[measure][0])
    value = _before_policy(measure, r, policy, settled)
    rel = threshold(measure)
    end = float(r.cutoff(measure.params.get("k"), rel)[0])
    ranks = shown_ranks(r, rel, end, rows)
    try:
        steps = None if isnan(value) else steps_of(Listing(r, measure, ranks))
    except OverflowError:
        raise MeasureError(
            f"{measure} is {value:.6g} here, but its steps cannot be written out: gains of these "
            "grades are beyond what a computer's numbers can hold (1.8e308)."
        ) from None
    grades = dict(zip(r.hit_rank.tolist(), r.hit_grade.tolist(), strict=True))
    listed = tuple(
        Row(
            rank,
            found.items.get(rank),
            grades.get(rank),
            grades.get(rank, -inf) >= rel,
            rank <= (steps.end if steps else end),
        )
        for rank in ranks
    )
    return Explanation(measure, r, policy, value, settled, steps, listed, found.lost, found.items)


def _before_policy(measure: Measure, r: Rankings, policy: Policy, settled: float) -> float:
    """The measure's own value; it is worked out again only where the policy may have changed it."""
    if measure.undefined(r)[0]:
        return float("nan")
    if isnan(settled) or policy.empty == "one":
        return float(measure.compute_as_ranked(r)[0])
    return settled
