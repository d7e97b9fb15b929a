"""Explain one query of a run, of rankings, or a relevance list."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from math import inf, isnan, nan
from shlex import quote
from typing import Any, TypeAlias, TypeVar, Unpack, overload

from judged.conventions.disagreement import read_data, read_lists
from judged.errors import (
    ConventionError,
    InputError,
    MeasureError,
    PolicyError,
    did_you_mean,
    quoted,
)
from judged.evaluation.evaluation import Evaluation
from judged.evaluation.scores import score_run
from judged.evaluation.settings import EvaluationSettings
from judged.explanation.explanation import Explanation, Explanations
from judged.explanation.listing import Listing, RankRow, shown_ranks, threshold
from judged.explanation.steps import steps_of
from judged.inputs.blocks import RunBlocks
from judged.inputs.data import holds_rows, typed_lists
from judged.inputs.formats import is_rankings_file
from judged.inputs.tables import Judgements, Lookup, Run
from judged.matching.matcher import match_with
from judged.measures import HEADLINE, Measure
from judged.options import (
    CollectionLike,
    JudgementsLike,
    PolicyLike,
    RunLike,
    Scoring,
    checked,
    takes_scoring,
)
from judged.policy import Policy
from judged.rankings.file import read_rankings
from judged.rankings.rankings import Rankings
from judged.rankings.relevance import NO_IDS, may_be_list

QueryTable = TypeVar("QueryTable", bound=Judgements | Run | Lookup)


@dataclass(frozen=True)
class RankedQuery:
    """One query: its rankings, and the item at each rank."""

    rankings: Rankings
    items: Mapping[int, str] = field(default_factory=dict)  # ids by rank, if the input has ids
    lost: Mapping[str, float] = field(default_factory=dict)
    """Ids and grades of items with a grade above 0 that were not retrieved, best grades first."""


def read(
    judgements: Any,
    run: Any,
    query: str | None,
    *,
    relevant: int | None,
    pool: Sequence[Any] | str | None,
    settings: EvaluationSettings,
    scoring: Mapping[str, Any],
) -> RankedQuery:
    """Read one query of a run, of rankings, or a relevance list."""
    policy, collection = settings.policy, scoring.get("collection")
    if run is not None or holds_rows(judgements):
        if relevant is not None or pool is not None:
            raise InputError(
                "relevant and pool describe a relevance list; with judgements, leave them out."
            )
        data = read_data(judgements, run, scoring, policy)
        table = settings.prepare(data.run("explain takes one run."))
        return _read_query(data.judgements(), table, query, policy, collection)
    if scoring.get("item_to") is not None or scoring.get("exclude_same_id"):
        raise InputError(NO_IDS)
    if isinstance(judgements, Rankings):
        return _read_rankings(judgements, query)
    if not may_be_list(judgements):
        raise InputError(
            "judgements and a run are needed; a relevance list is a text or a list of grades in "
            "rank order."
        )
    rankings = read_lists(judgements, relevant, pool, scoring)
    if len(rankings) > 1:
        return _read_rankings(rankings, query)
    if query is not None:
        raise InputError("a relevance list has one query without a name; leave out query.")
    return RankedQuery(rankings)


def _read_rankings(rankings: Rankings, query: str | None) -> RankedQuery:
    if query is None:
        query = _only_query(rankings.queries)
    if query not in rankings.queries:
        raise InputError(_unknown(query, rankings.queries, in_run=False))
    return RankedQuery(rankings.take([rankings.queries.index(query)]))


def _read_query(
    known: Judgements | Lookup,
    run: Run | Lookup | RunBlocks,
    query: str | None,
    policy: Policy,
    collection: CollectionLike | None = None,
) -> RankedQuery:
    if query is None:
        query = _only_query(known.names())
    results = (
        run.only(query) or Lookup({}, run.source, name=run.name)
        if isinstance(run, RunBlocks)
        else run
    )
    in_run = query in results.names()
    if query not in known.names():
        raise InputError(_unknown(query, known.names(), in_run=in_run))
    matcher = match_with(_only(known, query), policy, collection)
    grades = dict(zip(matcher.pool.items[0], matcher.pool.grades.tolist(), strict=True))
    order: list[str] = []
    if in_run:
        results = _only(results, query)
        rankings = matcher(results)
        order = _order(results, query, grades, rankings)
    else:
        matched = match_with(known, policy, collection)(run)
        rankings = _read_rankings(matched, query).rankings
    if policy.depth is not None:
        order = order[: policy.depth]
    if policy.unjudged == "removed":
        order = [item for item in order if grades.get(item, -1.0) >= 0]
    lost = sorted(
        (item for item in set(grades) - set(order) if grades[item] > 0),
        key=lambda item: (-grades[item], item),
    )
    return RankedQuery(rankings, dict(enumerate(order, 1)), {item: grades[item] for item in lost})


def _order(run: Run | Lookup, query: str, grades: Mapping[str, float], r: Rankings) -> list[str]:
    """Return the items of a list by rank: by score, ties by the policy."""
    # If ties go by grades, tied items of one grade may have any order among themselves.
    if isinstance(run, Lookup):
        scores = {item: float(score) for item, score in run.lists.get(query, {}).items()}
    else:
        rows = zip(run.frame["item"].to_list(), run.frame["score"].to_list(), strict=True)
        scores = dict(reversed(list(rows)))  # the first of several rows counts
        scores = dict(reversed(scores.items()))
    items = list(scores) if r.ties == "input" else sorted(scores, reverse=True)
    items.sort(key=lambda item: -scores[item])
    if r.ties in ("id", "input"):
        return items
    whole = r.whole or r
    wanted = dict(zip(whole.hit_rank.tolist(), whole.hit_grade.tolist(), strict=True))
    order: list[str] = []
    for _, tied in groupby(items, key=scores.__getitem__):
        order += _by_grade(list(tied), wanted, len(order) + 1, grades)
    return order


def _by_grade(
    items: list[str], wanted: Mapping[int, float], first: int, grades: Mapping[str, float]
) -> Iterator[str]:
    """Reorder tied items so that each rank from `first` on has its grade, in linear time."""
    left = OrderedDict.fromkeys(items)
    waiting: dict[float | None, deque[str]] = {}
    for item in items:
        waiting.setdefault(grades.get(item), deque()).append(item)
    for rank in range(first, first + len(items)):
        fitting = waiting.get(wanted.get(rank), deque())
        while fitting and fitting[0] not in left:
            fitting.popleft()
        item = fitting.popleft() if fitting else next(iter(left))
        del left[item]
        yield item


def _only_query(judged: Sequence[str]) -> str:
    if len(judged) == 1:
        return judged[0]
    if not judged:
        raise InputError("the judgements have no queries, so there is nothing to explain.")
    names = ", ".join(judged[:5]) + (", …" if len(judged) > 5 else "")
    raise InputError(
        f"name the query to explain, such as query={judged[0]!r} (--query {quote(judged[0])}); "
        f"there are {len(judged):,} judged queries: {names}."
    )


def _unknown(query: str, judged: Sequence[str], *, in_run: bool) -> str:
    if in_run:
        return f"query {query!r} is in the run but has no judgements, so it cannot be explained."
    hint = did_you_mean(query, judged)
    return f"There is no judged query {quoted(query)} among {len(judged):,}{hint}"


def _only(table: QueryTable, query: str) -> QueryTable:
    if isinstance(table, Lookup):
        return replace(table, lists={query: table.lists[query]})
    kept = (table.frame["query"] == query).arg_true().to_numpy()
    rows = kept if table.rows is None else table.rows[kept]
    return replace(table, frame=table.frame[kept], rows=rows, queries=(query,))


def _policy_of_a_list(policy: PolicyLike | None, relevance_list: Any) -> Any:
    """Return a policy for a list without ids: ties stay as written, unless grades decide."""
    chosen = policy.to_dict() if isinstance(policy, Policy) else {} if policy is None else policy
    if not isinstance(chosen, Mapping):
        return policy
    texts = isinstance(relevance_list, (list, tuple))
    lists = relevance_list if texts else [relevance_list]
    marks_ties = any(isinstance(text, str) and "(" in text for text in lists)
    if chosen.get("ties", "id") == "id" or not marks_ties:
        return {**chosen, "ties": "input"}
    return chosen


ROWS = 30  # ranks shown by default


ExplainLike: TypeAlias = JudgementsLike | Evaluation | Rankings | Sequence[float | None]


@overload
def explain(
    judgements: ExplainLike,
    run: RunLike | None = None,
    measure: str | Measure = HEADLINE,
    *,
    query: str | None = None,
    relevant: int | None = None,
    pool: Sequence[Any] | str | None = None,
    rows: int | None = ROWS,
    **scoring: Unpack[Scoring],
) -> Explanation: ...


@overload
def explain(
    judgements: ExplainLike,
    run: RunLike | None = None,
    measure: Sequence[str | Measure] = (),
    *,
    query: str | None = None,
    relevant: int | None = None,
    pool: Sequence[Any] | str | None = None,
    rows: int | None = ROWS,
    **scoring: Unpack[Scoring],
) -> Explanations: ...


@takes_scoring
@checked
def explain(
    judgements: ExplainLike,
    run: RunLike | None = None,
    measure: str | Measure | Sequence[str | Measure] = HEADLINE,
    *,
    query: str | None = None,
    relevant: int | None = None,
    pool: Sequence[Any] | str | None = None,
    rows: int | None = ROWS,
    **scoring: Unpack[Scoring],
) -> Explanation | Explanations:
    """Explain how a measure comes to its value for one query, step by step.

    Parameters
    ----------
    judgements : JudgementsLike, Evaluation, Rankings, or a relevance list
        As `judged.evaluate` takes them. Without a run: an evaluation, rankings, rows that hold
        relevant and retrieved ids, or the grades of one list in rank order, as a list or a text
        ("0 1 0 0 1"; None or - for an unjudged item; brackets in a text around tied results).
    run : RunLike, optional
        A file, {query: {item: score}}, or a table. Of an evaluation with several runs, the name of
        one.
    measure : str, Measure, or a list of them, optional
        The measure, nDCG@10 by default; measures in a list are explained side by side.
    query : str, optional
        The query; not needed if only one was judged.
    relevant : int, optional
        Of a relevance list: the number of relevant items in all.
    pool : sequence or str, optional
        Of a relevance list: the grades of all judged items, in any order.
    rows : int or None, optional
        The number of ranks that are shown, those of relevant items first; None shows all.
    **scoring

    Returns
    -------
    Explanation or Explanations
        The latter for a list of measures.

    >>> print(explain({"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}, "RR", query="q").arithmetic)
    RR = 1/2 = 0.5
    >>> explain([0, 1, 0, 0, 1], measure="P@5").value
    0.4
    >>> [each.value for each in explain("0 1 1", measure=["RR", "P@3"]).explanations]
    [0.5, 0.6666666666666666]
    """
    several = not isinstance(measure, str | Measure)
    measures: Any = measure if several else [measure]
    for name in ("weights", "unique", "trusted", "skip_bad"):
        if scoring.get(name) is not None and scoring.get(name) is not False:
            raise InputError(f"explain is about one query, so {name} has no meaning; leave it out.")
    if isinstance(judgements, Evaluation):
        explained = [_explain_evaluation(judgements, run, each, query, rows) for each in measures]
        return Explanations(tuple(explained)) if several else explained[0]
    if run is None and is_rankings_file(judgements):
        judgements = read_rankings(judgements)
    if run is not None and (lists := typed_lists(judgements, run)):
        judgements, run = lists, None
    known: dict[str, Any] = (
        {"ties": judgements.ties, "unjudged": judgements.unjudged}
        if isinstance(judgements, Rankings)
        else {}
    )
    policy: Any = scoring.get("policy")
    if run is None and not known and may_be_list(judgements):
        policy = _policy_of_a_list(policy, judgements)
    convention = scoring.get("convention")
    settings = EvaluationSettings.of(measures, policy, convention, prepares=True, **known)
    if len(settings.measures) > 1 and not several:
        names = ", ".join(map(str, settings.measures))
        raise MeasureError(
            f"explain takes one measure, or a list to explain them side by side; got {names} in "
            "one text."
        )
    _check(settings)
    query_read = read(
        judgements, run, query, relevant=relevant, pool=pool, settings=settings, scoring=scoring
    )
    explained = [_explain_query(m, query_read, settings.policy, rows) for m in settings.measures]
    return Explanations(tuple(explained)) if several else explained[0]


def _explain_evaluation(
    evaluation: Evaluation, run: Any, measure: str | Measure, query: str | None, rows: int | None
) -> Explanation:
    chosen = evaluation.measure(measure)
    settings = replace(evaluation.settings, measures=(chosen,))
    _check(settings)
    scored = evaluation.scored(run)
    if evaluation.sources is None:
        query_read = _read_rankings(scored.rankings, query)
    else:
        names = [other.name for other in evaluation.runs]
        table = list(evaluation.sources.readings())[names.index(scored.name)].read()
        r = scored.rankings
        sizes = None if r.collection is None else r.collection.tolist()
        collection = None if sizes is None else dict(zip(r.queries, sizes, strict=True))
        known, table = evaluation.sources.judgements(), settings.prepare(table)
        query_read = _read_query(known, table, query, settings.policy, collection)
    return _explain_query(chosen, query_read, settings.policy, rows)


def _check(settings: EvaluationSettings) -> None:
    if settings.convention and any(map(settings.convention.threshold, settings.measures)):
        raise ConventionError(
            f"{settings.convention.convention.title} decides for each query which grades are "
            "relevant; to explain a value, name the lowest relevant grade, as in P(rel=2)@10."
        )
    if settings.policy.ties == "expected":
        raise PolicyError(
            "an explanation goes through one order of the results, and ties=expected is the mean "
            "over all orders; choose ties=id, input, best or worst."
        )


def _explain_query(
    measure: Measure, query_read: RankedQuery, policy: Policy, rows: int | None
) -> Explanation:
    scored = score_run(query_read.rankings, EvaluationSettings((measure,), policy))
    r, settled = scored.rankings, float(scored.values[measure][0])
    value = settled
    if measure.undefined(r)[0]:
        value = nan
    elif isnan(settled) or policy.empty == "one":  # the policy may have replaced the value
        value = float(measure.compute_as_ranked(r)[0])
    rel = threshold(measure)
    end = float(r.cutoff(measure.params.get("k"), rel)[0])
    ranks = shown_ranks(r, rel, end, rows)
    own = measure.spec.family == "own"  # a function, which declares no steps
    try:
        steps = None if own or isnan(value) else steps_of(Listing(r, measure, ranks))
    except OverflowError:
        raise MeasureError(
            f"{measure} is {value:.6g} here, but its steps cannot be written out: gains of these "
            "grades exceed the largest floating-point number (1.8e308)."
        ) from None
    last = steps.end if steps else end
    grades = dict(zip(r.hit_rank.tolist(), r.hit_grade.tolist(), strict=True))
    lost, items = query_read.lost, query_read.items
    listed = tuple(
        RankRow(
            rank, items.get(rank), grades.get(rank), grades.get(rank, -inf) >= rel, rank <= last
        )
        for rank in ranks
    )
    return Explanation(measure, r, policy, value, settled, steps, listed, lost, items)
