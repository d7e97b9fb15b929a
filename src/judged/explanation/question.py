"""What is explained: one query of a run, of rankings, or a relevance list."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isnan
from typing import Any, Unpack

from judged.errors import (
    ConventionError,
    InputError,
    MeasureError,
    PolicyError,
    did_you_mean,
    quoted,
)
from judged.evaluation.evaluation import Evaluation, evaluate_rankings
from judged.evaluation.settings import EvaluationSettings
from judged.explanation.explanation import Explanation
from judged.explanation.listing import Listing, Row, shown_ranks, threshold
from judged.explanation.steps import steps_of
from judged.inputs import read_judgements
from judged.inputs.blocks import Room, RunBlocks
from judged.inputs.data import Data, holds_rows
from judged.inputs.formats import is_rankings_file
from judged.inputs.tables import Judgements, Lookup, Run
from judged.limits import limits
from judged.matching.documents import with_items
from judged.matching.matcher import match_with
from judged.matching.pool import pool_of
from judged.measures import Measure
from judged.options import (
    CollectionLike,
    JudgementsLike,
    PolicyLike,
    RunLike,
    Scoring,
    checked,
    formats_of,
    takes_scoring,
)
from judged.policy import Policy
from judged.rankings.file import read_rankings
from judged.rankings.rankings import Rankings
from judged.rankings.relevance import NO_DEPTH, NO_IDS, listed_rankings, may_be_list


@dataclass(frozen=True)
class Read:
    """One query: its rankings, and which item stands where."""

    rankings: Rankings
    items: Mapping[int, str] = field(default_factory=dict)
    """Ids by rank; none where the input has no ids."""
    lost: Mapping[str, float] = field(default_factory=dict)
    """Ids and grades of items with a grade above 0 that were not retrieved, the best grades first.
    """


def read(
    judgements: Any,
    run: Any,
    query: str | None,
    *,
    relevant: int | None,
    pool: Sequence[Any] | str | None,
    settings: EvaluationSettings,
    scoring: Mapping[str, Any],
) -> Read:
    """Read one query of a run, of rankings, or a relevance list."""
    policy, collection = settings.policy, scoring.get("collection")
    item_to, exclude_same_id = scoring.get("item_to"), bool(scoring.get("exclude_same_id"))
    if run is not None or holds_rows(judgements):
        if relevant is not None or pool is not None:
            raise InputError(
                "relevant and pool are about a relevance list; judgements say themselves what is "
                "relevant."
            )
        judgements_format, run_format = formats_of(scoring.get("format"))
        data = with_items(
            Data.of(
                judgements,
                run,
                columns=scoring.get("columns"),
                judgements_format=judgements_format,
                run_format=run_format,
                room=Room.of(limits().memory, limits().temporary),
            ),
            item_to=item_to,
            exclude_same_id=exclude_same_id,
            duplicates=policy.duplicates,
        )
        table = settings.prepare(data.run("explain takes one run."))
        return _read_query(data.judgements(), table, query, policy, collection)
    if item_to is not None or exclude_same_id:
        raise InputError(NO_IDS)
    if isinstance(judgements, Rankings):
        return _read_rankings(judgements, query)
    if not may_be_list(judgements):
        raise InputError(
            "judgements need a run beside them; a relevance list is a text or a list of grades in "
            "rank order."
        )
    if query is not None:
        raise InputError("a relevance list is one query's; query names one of several.")
    if policy.depth is not None:
        raise InputError(NO_DEPTH)
    if isinstance(collection, Mapping):
        raise InputError("collection of a relevance list is one number.")
    return Read(listed_rankings(judgements, relevant=relevant, pool=pool, collection=collection))


def _read_rankings(rankings: Rankings, query: str | None) -> Read:
    chosen = _chosen(rankings.queries, query, rankings.queries)
    return Read(rankings.take([rankings.queries.index(chosen)]))


def _read_query(
    known: Judgements | Lookup,
    run: Run | Lookup | RunBlocks,
    query: str | None,
    policy: Policy,
    collection: CollectionLike | None = None,
) -> Read:
    found = _results(run, _queries(known), query)
    chosen = _chosen(_queries(known), query, _queries(found))
    own = _only(known, chosen)
    assert isinstance(own, (Judgements, Lookup))
    grades = _grades_of(own, policy.duplicates)
    if chosen in _queries(found):
        listed = _only(found, chosen)
        assert isinstance(listed, (Run, Lookup))
        rankings = match_with(own, policy, collection)(listed)
        order = _order(listed, chosen, grades, rankings, policy)
    else:
        rankings, order = (
            _read_rankings(match_with(known, policy, collection)(run), chosen).rankings,
            [],
        )
    if policy.depth is not None:
        order = order[: policy.depth]
    if policy.unjudged == "removed":
        order = [item for item in order if grades.get(item, -1.0) >= 0]
    lost = sorted(
        (item for item in set(grades) - set(order) if grades[item] > 0),
        key=lambda item: (-grades[item], item),
    )
    return Read(rankings, dict(enumerate(order, 1)), {item: grades[item] for item in lost})


def _results(run: Run | Lookup | RunBlocks, judged: list[str], query: str | None) -> Run | Lookup:
    """A run; of one in blocks, what it has of the query that is asked for."""
    if not isinstance(run, RunBlocks):
        return run
    one = query if query is not None or len(judged) != 1 else judged[0]
    return (None if one is None else run.only(one)) or Lookup({}, run.source, name=run.name)


def _order(
    run: Run | Lookup, query: str, grades: Mapping[str, float], r: Rankings, policy: Policy
) -> list[str]:
    """The items of the whole list in the order of their ranks.

    Ranks are decided in one place: every item of the list is judged, with its number for a grade,
    and its rank read off. Where ties go by grades, which of several tied items of one grade stands
    where makes no difference.
    """
    items = list(dict.fromkeys(_items(run, query)))
    if not items:
        return []
    blind = replace(
        policy, ties=policy.ties if policy.ties in ("id", "input") else "id", unjudged="nonrelevant"
    )
    numbered = read_judgements({query: {item: number for number, item in enumerate(items)}})
    ranked = match_with(numbered, replace(blind, depth=None))(run)
    order = [items[int(number)] for number in ranked.hit_grade.tolist()]
    whole = r.whole or r
    at = dict(zip(whole.hit_rank.tolist(), whole.hit_grade.tolist(), strict=True))
    first = ranked.spans[0].tolist()
    tied: dict[int, list[str]] = {}
    for item, begin in zip(order, first, strict=True):
        tied.setdefault(begin, []).append(item)
    return [
        item
        for begin, items in tied.items()
        for item in _by_grade(items, [at.get(begin + place) for place in range(len(items))], grades)
    ]


def _by_grade(
    items: list[str], wanted: list[float | None], grades: Mapping[str, float]
) -> Iterator[str]:
    """Reorder items so that each place has the wanted grade (None: unjudged), in linear time."""
    left = OrderedDict.fromkeys(items)
    waiting: dict[float | None, deque[str]] = {}
    for item in items:
        waiting.setdefault(grades.get(item), deque()).append(item)
    for grade in wanted:
        fitting = waiting.get(grade, deque())
        while fitting and fitting[0] not in left:
            fitting.popleft()
        item = fitting.popleft() if fitting else next(iter(left))
        del left[item]
        yield item


def _chosen(judged: Iterable[str], query: str | None, listed: Iterable[str]) -> str:
    names = list(judged)
    if query is None:
        if len(names) == 1:
            return names[0]
        shown = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
        raise InputError(
            f"say which query to explain; there are {len(names):,} judged queries: {shown}."
        )
    if query in names:
        return query
    if query in set(listed):
        raise InputError(
            f"query {query!r} is in the run, but nobody judged it; there is nothing to explain."
        )
    raise InputError(
        f"There is no judged query {quoted(query)} among {len(names):,}{did_you_mean(query, names)}"
    )


def _queries(table: Judgements | Run | Lookup) -> list[str]:
    return list(table.lists) if isinstance(table, Lookup) else table.names()


def _only(table: Judgements | Run | Lookup, query: str) -> Judgements | Run | Lookup:
    if isinstance(table, Lookup):
        return replace(table, lists={query: table.lists[query]} if query in table.lists else {})
    own = (table.frame["query"] == query).arg_true().to_numpy()
    rows = own if table.rows is None else table.rows[own]
    return replace(table, frame=table.frame[own], rows=rows, queries=(query,))


def _items(run: Run | Lookup, query: str) -> list[str]:
    if isinstance(run, Lookup):
        return list(run.lists.get(query, {}))
    return list(run.frame["item"].to_list())


def _grades_of(judgements: Judgements | Lookup, duplicates: str) -> dict[str, float]:
    pool = pool_of(judgements, duplicates=duplicates)
    return dict(zip(pool.items[0], pool.grades.tolist(), strict=True))


def policy_of_a_list(policy: PolicyLike | None, given: Any) -> Any:
    """Return a policy for a list without ids: ties stay as written, unless grades decide."""
    chosen = policy.to_dict() if isinstance(policy, Policy) else {} if policy is None else policy
    if not isinstance(chosen, Mapping):
        return policy
    if chosen.get("ties", "id") == "id" or not (isinstance(given, str) and "(" in given):
        return {**chosen, "ties": "input"}
    return chosen


def refuse_unbroken_ties(policy: Policy) -> None:
    if policy.ties == "expected":
        raise PolicyError(
            "an explanation goes through one order of the results, and ties=expected is the mean "
            "over all orders; choose ties=id, input, best or worst."
        )


ROWS = 30  # so many ranks are shown, where nobody says how many


@takes_scoring
@checked
def explain(
    judgements: JudgementsLike | Evaluation | Rankings | Sequence[float | None],
    run: RunLike | None = None,
    measure: str | Measure = "AP",
    *,
    query: str | None = None,
    relevant: int | None = None,
    pool: Sequence[Any] | str | None = None,
    rows: int | None = ROWS,
    **scoring: Unpack[Scoring],
) -> Explanation:
    """Explain how one measure comes to its value for one query, step by step.

    Parameters
    ----------
    judgements : JudgementsLike, Evaluation, Rankings, or a relevance list
        As `judged.evaluate` takes them. Without a run: an evaluation, rankings, rows that hold
        relevant and retrieved ids, or the grades of one list in rank order, as a list or a text
        ("0 1 0 0 1"; None or - for an unjudged item; brackets in a text around tied results).
    run : RunLike, optional
        A file, {query: {item: score}}, or a table. Of an evaluation with several runs, the name of
        one.
    measure : str or Measure, optional
        One measure; AP by default.
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
    Explanation

    >>> print(explain({"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}, "RR", query="q").arithmetic)
    RR = 1/2 = 0.5
    >>> explain([0, 1, 0, 0, 1], measure="P@5").value
    0.4
    """
    for name in ("weights", "unique", "trusted", "skip_bad"):
        if scoring.get(name):
            raise InputError(f"explain is about one query, so {name} has no meaning; leave it out.")
    if isinstance(judgements, Evaluation):
        return _explain_evaluation(judgements, run, measure, query, rows)
    if run is None and is_rankings_file(judgements):
        judgements = read_rankings(judgements)
    known: dict[str, Any] = (
        {"ties": judgements.ties, "unjudged": judgements.unjudged}
        if isinstance(judgements, Rankings)
        else {}
    )
    policy: Any = scoring.get("policy")
    if run is None and not known:
        policy = policy_of_a_list(policy, judgements)
    settings = EvaluationSettings.of(
        [measure] if isinstance(measure, Measure) else measure,
        policy,
        scoring.get("convention"),
        prepares=True,
        **known,
    )
    _check(settings)
    query_read = read(
        judgements, run, query, relevant=relevant, pool=pool, settings=settings, scoring=scoring
    )
    return _explained(settings.measures[0], query_read, settings.policy, rows)


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
        places = [each.name for each in evaluation.runs]
        table = list(evaluation.sources.readings())[places.index(scored.name)].read()
        known = evaluation.sources.judgements()
        sizes = scored.rankings.collection
        collection = (
            None
            if sizes is None
            else dict(zip(scored.rankings.queries, sizes.tolist(), strict=True))
        )
        table = settings.prepare(table)
        query_read = _read_query(known, table, query, settings.policy, collection)
    return _explained(chosen, query_read, settings.policy, rows)


def _check(settings: EvaluationSettings) -> None:
    if len(settings.measures) > 1:
        raise MeasureError(
            f"explain takes one measure; got {', '.join(map(str, settings.measures))}."
        )
    if settings.convention and settings.convention.threshold(settings.measures[0]):
        raise ConventionError(
            f"{settings.convention.convention.title} finds out for each query which grades are "
            "relevant; say it for this one, as in P(rel=2)@10, and it can be explained."
        )
    refuse_unbroken_ties(settings.policy)


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
