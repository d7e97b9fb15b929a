"""One query's rankings from whatever holds them, with the ids of its results."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from judged.errors import InputError, PolicyError, did_you_mean, quoted
from judged.inputs import read_judgements
from judged.inputs.blocks import RunBlocks
from judged.inputs.data import Data, holds_rows
from judged.inputs.tables import Judgements, Lookup, Run
from judged.matching import match_with, pool_of
from judged.matching.documents import with_items
from judged.policy import Policy
from judged.rankings.rankings import Rankings
from judged.rankings.relevance import NO_DEPTH, NO_IDS, listed_rankings, may_be_list

if TYPE_CHECKING:
    from judged.inputs.blocks import Room
    from judged.options import CollectionLike, ColumnsLike, FileFormat, ItemToLike, PolicyLike


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
    policy: Policy,
    prepare: Callable[[Run | Lookup], Run | Lookup],
    depth: int | None,
    duplicates: str,
    collection: CollectionLike | None,
    item_to: ItemToLike | None,
    exclude_same_id: bool,
    columns: ColumnsLike | None,
    judgements_format: FileFormat | None,
    run_format: FileFormat | None,
    room: Room | None = None,
) -> Read:
    """One query of a run, of rankings, or a relevance list."""
    if run is not None or holds_rows(judgements):
        if relevant is not None or pool is not None:
            raise InputError(
                "relevant and pool are about a relevance list; judgements say themselves what is "
                "relevant."
            )
        data = with_items(
            Data.of(
                judgements,
                run,
                columns=columns,
                judgements_format=judgements_format,
                run_format=run_format,
                room=room,
            ),
            item_to=item_to,
            exclude_same_id=exclude_same_id,
            duplicates=duplicates,
        )
        listed = data.run("explain takes one run.")
        return _read_query(
            data.judgements(),
            prepare(listed),
            query,
            policy=policy,
            depth=depth,
            duplicates=duplicates,
            collection=collection,
        )
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
    if depth is not None:
        raise InputError(NO_DEPTH)
    if isinstance(collection, Mapping):
        raise InputError("collection of a relevance list is one number.")
    return Read(listed_rankings(judgements, relevant=relevant, pool=pool, collection=collection))


def _read_rankings(rankings: Rankings, query: str | None) -> Read:
    """One query of rankings made before; they know no ids."""
    chosen = _chosen(rankings.queries, query, rankings.queries)
    return Read(rankings.take([rankings.queries.index(chosen)]))


def _read_query(
    known: Judgements | Lookup,
    run: Run | Lookup | RunBlocks,
    query: str | None,
    *,
    policy: Policy,
    depth: int | None = None,
    duplicates: str = "error",
    collection: CollectionLike | None = None,
) -> Read:
    """One query of a run and its judgements; everything else in them is left aside."""
    found = _results(run, _queries(known), query)
    chosen = _chosen(_queries(known), query, _queries(found))
    chosen_policy = replace(policy, depth=depth, duplicates=duplicates)
    own = _only(known, chosen)
    assert isinstance(own, (Judgements, Lookup))
    grades = _grades_of(own, duplicates)
    if chosen in _queries(found):
        listed = _only(found, chosen)
        assert isinstance(listed, (Run, Lookup))
        rankings = match_with(own, chosen_policy, collection)(listed)
        order = _order(listed, chosen, grades, rankings, policy, duplicates)
    else:
        rankings, order = (
            _read_rankings(match_with(known, chosen_policy, collection)(run), chosen).rankings,
            [],
        )
    if depth is not None:
        order = order[:depth]
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
    run: Run | Lookup,
    query: str,
    grades: Mapping[str, float],
    r: Rankings,
    policy: Policy,
    duplicates: str,
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
    ranked = match_with(numbered, replace(blind, duplicates=duplicates, depth=None))(run)
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
    """The items so that each place has the grade that is wanted there (None: nobody judged it), and
    otherwise in the order they have; each item is looked at a few times, however many there are."""
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
    """The rows of one query."""
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
    """The grade of each judged item of the one query; by subtopic the best one."""
    pool = pool_of(judgements, duplicates=duplicates)
    return dict(zip(pool.items[0], pool.grades.tolist(), strict=True))


def policy_of_a_list(policy: PolicyLike | None, given: Any) -> Any:
    """A policy for a relevance list, which has no ids: ties stand as they are written, unless
    grades decide; where nothing is tied, they are not broken at all."""
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
