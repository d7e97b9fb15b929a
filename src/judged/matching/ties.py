"""One run under any rule for ties and for unjudged items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judged.arrays import (
    Floats,
    Ints,
    borders,
    count_above,
    descending,
    each_once,
    ordinals,
    positions,
    starts_of,
)
from judged.errors import InputError, PolicyError, quoted
from judged.matching.join import Matches
from judged.matching.pool import Pool
from judged.policy import CHOICES, Policy
from judged.rankings.audit import findings_of
from judged.rankings.lists import favoured, rows_of
from judged.rankings.rankings import Rankings, by_query_and_rank
from judged.text import listed

FAVOURS = ("best", "worst")  # tie rules that look at grades
ONE_ORDER = ("id", "input")
"""Tie rules that look at the run: rankings made by one of them do not know the other."""


class HitPlaces(NamedTuple):
    """Ranks of the hits, and the first and last rank of the tie of each."""

    rank: Ints
    first: Ints
    last: Ints
    single_ties: int = 0  # hits that tie with a neighbour in single precision only


def place(pool: Pool, matches: Matches, ties: str) -> HitPlaces:
    """Rank the hits: one more than the number of greater scores, and within a tie by the rule."""
    starts, lengths, score = matches.starts, matches.lengths, matches.hit_score
    judgement = matches.hit_judgement
    segment = matches.list_of[pool.query[judgement]]
    ordered = descending(matches.scores, lengths)
    if matches.hit_position is None or ordered is not matches.scores:
        first = count_above(ordered, starts, lengths, segment, score, or_equal=False) + 1
        position = starts[segment] + first - 1
        above = np.zeros(len(position), bool)
    else:
        # The lists came sorted: a hit's place is known, and only where a neighbour has the same
        # score is there a tie.
        position = matches.hit_position
        first = position - starts[segment] + 1
        above = (first > 1) & (ordered[np.maximum(position - 1, 0)] == score)
    below = (first < lengths[segment]) & (
        ordered[np.minimum(position + 1, len(ordered) - 1)] == score
    )
    last = first.copy()
    tied = np.flatnonzero(above | below)
    search = (ordered, starts, lengths, segment[tied], score[tied])
    first[tied] = count_above(*search, or_equal=False) + 1
    last[tied] = count_above(*search, or_equal=True)
    if ties in FAVOURS:
        # Where grades are by subtopic, equal ones are not all that counts: items of a query lie in
        # descending order of their ids.
        then = None if pool.subtopics is None else judgement
        grade, query = pool.grades[judgement], pool.query[judgement]
        rank = favoured(query, first, last, grade, best=ties == "best", then=then)
    else:
        rank = first.copy()
        tied = np.flatnonzero(last > first)
        if len(tied):
            rank[tied] += _place_in_tie(pool, matches, ordered, segment, first, tied, ties)
    single_ties = _single_ties(matches, ordered, segment, first, last)
    return HitPlaces(rank, first, last, single_ties)


def _single_ties(matches: Matches, ordered: Floats, segment: Ints, first: Ints, last: Ints) -> int:
    """Count the hits whose tie would be longer in single precision."""
    if not len(ordered):
        return 0
    begin = matches.starts[segment]
    above = ordered[np.maximum(begin + first - 2, 0)]
    below = ordered[np.minimum(begin + last, len(ordered) - 1)]
    with np.errstate(over="ignore"):
        score, above, below = (
            scores.astype(np.float32) for scores in (matches.hit_score, above, below)
        )
    tied = ((first > 1) & (above == score)) | ((last < matches.lengths[segment]) & (below == score))
    return int(np.count_nonzero(tied))


def _place_in_tie(
    pool: Pool, matches: Matches, ordered: Floats, segment: Ints, first: Ints, tied: Ints, ties: str
) -> Ints:
    """Count the results of its tie before each tied hit: in input order, or by descending id."""
    starts = matches.starts
    # A tie is named by the position of its first place. Only the lists with a tied hit are looked
    # at, and of them only the results in a tie with a hit.
    tie = starts[segment[tied]] + first[tied] - 1
    lists = each_once(segment[tied])
    lengths = matches.lengths[lists]
    position = positions(starts[lists], lengths)
    home = np.repeat(lists, lengths)
    if ordered is matches.scores:
        tie_of = np.maximum.accumulate(np.where(borders(ordered[position], home), position, -1))
    else:
        tie_of = starts[home] + count_above(
            ordered, starts, matches.lengths, home, matches.scores[position], or_equal=False
        )
    touched = np.zeros(len(ordered), bool)
    touched[tie] = True
    chosen = touched[tie_of]
    row_tie, items = tie_of[chosen], matches.items(lists, chosen)
    hits, by_id = pool.items_at(matches.hit_judgement[tied]), ties != "input"
    if len(items) > _MIN_TIED_FOR_POLARS:
        return _places_of_many(row_tie, items, tie, hits, by_id=by_id)
    return _places(row_tie.tolist(), items, tie.tolist(), hits, by_id=by_id)


# Loading polars takes longer than sorting fewer tied results without it.
_MIN_TIED_FOR_POLARS = 50_000


def _places(
    row_tie: list[int], row_item: list[str], tie: list[int], item: list[str], *, by_id: bool
) -> Ints:
    """Return the places of some (tie, item) among the rows of their ties, from 0."""
    order = list(range(len(row_tie)))
    if by_id:
        order.sort(key=lambda row: row_item[row].encode("utf-8", "surrogatepass"), reverse=True)
    order.sort(key=lambda row: row_tie[row])
    place: dict[tuple[int, str], int] = {}
    first: dict[int, int] = {}
    for number, row in enumerate(order):
        place[row_tie[row], row_item[row]] = number - first.setdefault(row_tie[row], number)
    return np.array([place[pair] for pair in zip(tie, item, strict=True)], dtype=np.int64)


def _places_of_many(
    row_tie: Ints, row_item: list[str], tie: Ints, item: list[str], *, by_id: bool
) -> Ints:
    """Return the same as `_places`, by polars."""
    import polars as pl

    rows = pl.DataFrame({"tie": row_tie, "item": pl.Series(row_item, dtype=pl.String)})
    rows = (
        rows.sort(["tie", "item"], descending=[False, True])
        if by_id
        else rows.sort("tie", maintain_order=True)
    )
    group = rows["tie"].to_numpy()
    number = np.cumsum(borders(group)) - 1
    rows = rows.with_columns(place=ordinals(number, int(number[-1]) + 1) - 1)
    hits = pl.DataFrame({"tie": tie, "item": pl.Series(item, dtype=pl.String)})
    joined = hits.join(rows, on=["tie", "item"], how="left", maintain_order="left")
    return joined["place"].to_numpy()


def spans(rank: Ints, *tied_by: NDArray[Any]) -> tuple[Ints, Ints]:
    """Return the first and last rank of each result's tie; neighbours tie if all columns agree."""
    new = borders(*tied_by)
    tie = np.cumsum(new) - 1
    return rank[new][tie], rank[np.roll(new, -1)][tie]


def rankings_from_scores(
    y_true: Iterable[Sequence[float]],
    y_score: Iterable[Sequence[float]],
    *,
    ties: str,
    queries: Sequence[str] | None,
    name: str,
) -> Rankings:
    """Make the rankings of `Rankings.from_scores`."""
    known = [choice for choice in CHOICES["ties"] if choice != "id"]
    if not isinstance(ties, str) or ties not in known:
        raise PolicyError(
            f"items have no ids here: ties must be {listed(known, 'or')}; got {quoted(ties)}."
        )
    grades, scores = rows_of(y_true, "y_true"), rows_of(y_score, "y_score")
    if not grades:
        raise InputError("y_true holds no rows; give one row for each query.")
    if len(grades) != len(scores):
        raise InputError(
            f"y_true has {len(grades)} rows, y_score has {len(scores)}; the lengths must match."
        )
    lists: list[Any] = []
    ordered = []
    for row, (grade, score) in enumerate(zip(grades, scores, strict=True)):
        if len(grade) != len(score):
            raise InputError(
                f"row {row} of y_true has {len(grade)} values, that of y_score has {len(score)}; "
                "the lengths must match."
            )
        for what, values in (("y_true", grade), ("y_score", score)):
            if np.isnan(values).any():
                raise InputError(f"{what} has a NaN in row {row}; give a number.")
        order = np.argsort(-score, kind="stable")
        lists.append(grade[order])
        ordered.append(score[order])
    sizes = [len(row) for row in lists]
    made = Rankings.from_relevance(lists, collection=sizes, queries=queries, name=name)
    first, last = spans(made.hit_rank, made.hit_query, np.concatenate(ordered))
    return rearranged(replace(made, hit_tie_first=first, hit_tie_last=last), ties)


class Variants:
    """One run under any rule for ties and for unjudged items, each made on demand, once.

    Made from rankings alone, it has the tie rules that need no item ids. With a function that
    matches the run again by a tie rule, it has them all.
    """

    def __init__(self, usual: Rankings, judge: Callable[[str], Rankings] | None = None) -> None:
        self.usual = usual
        self._judge = judge
        self._made: dict[tuple[str, str], Rankings] = {(usual.ties, usual.unjudged): usual}

    def under(self, ties: str | None = None, unjudged: str | None = None) -> Rankings:
        """Return the rankings under a tie rule and a rule for unjudged items; None keeps a rule."""
        key = ties or self.usual.ties, unjudged or self.usual.unjudged
        if key not in self._made:
            self._made[key] = self._variant(*key)
        return self._made[key]

    def _variant(self, ties: Any, unjudged: str) -> Rankings:
        if unjudged != self.usual.unjudged:
            if unjudged == "nonrelevant":
                raise PolicyError(_REMOVED)
            return condensed(self.under(ties))
        if ties != "expected" and not self.usual.may_be_tied:  # every rule leaves the same ranks
            return replace(self.usual, ties=ties)
        if self._judge is None or ties == "expected":
            return rearranged(self.usual, ties)
        return self._judge(ties)

    @property
    def has_items(self) -> bool:
        """True if the run is known, so that every tie rule can be applied."""
        return self._judge is not None

    @cached_property
    def unjudged(self) -> bool:
        """True if there are unjudged results to remove."""
        return bool((self.under(unjudged="removed").retrieved != self.usual.retrieved).any())


def list_variants(r: Rankings) -> Variants:
    """Return the variants of a relevance list, where ties broken by id stay as written."""
    usual = replace(r, ties="id")

    def broken(ties: Any) -> Rankings:
        return rearranged(usual, ties) if ties in FAVOURS else replace(usual, ties=ties)

    return Variants(usual, broken)


_REMOVED = (
    "the unjudged items of these rankings were removed, which cannot be undone; make them again."
)


def cut(r: Rankings, depth: int) -> Rankings:
    """Keep the first results of each list, and all hits of an unbroken tie that the depth cuts."""
    above = r.spans[0] if r.ties == "expected" else r.hit_rank
    kept = replace(r, **r.hits(above <= depth))
    return replace(kept, retrieved=np.minimum(r.retrieved, depth), depth=depth, whole=r.whole or r)


def condensed(r: Rankings) -> Rankings:
    """Remove unjudged items, those of a negative grade included."""
    if r.complete:  # all items are judged, and those that are not listed are irrelevant
        return replace(r, unjudged="removed")
    if r.ties == "expected":
        _refuse_cut_ties(r)
    whole = r.whole or r
    r = replace(r, **r.hits(r.hit_grade >= 0))
    place = ordinals(r.hit_query, len(r))
    changes: dict[str, Any] = {"hit_rank": place}
    if r.hit_tie_first is not None:
        first, last = spans(place, r.hit_query, r.hit_tie_first)
        changes |= {"hit_tie_first": first, "hit_tie_last": last}
    return replace(
        r,
        retrieved=np.bincount(r.hit_query, minlength=len(r)),
        unjudged="removed",
        whole=whole,
        **changes,
    )


def _refuse_cut_ties(r: Rankings) -> None:
    """Raise an error if the order of a tie decides how many items a condensed list has."""
    across = np.flatnonzero(r.spans[1] > r.retrieved[r.hit_query])
    if len(across):
        raise PolicyError(
            f"depth={r.depth} cuts through a tie of query {r.queries[r.hit_query[across[0]]]}, so "
            "the number of results that unjudged=removed leaves depends on the order of the tie, "
            "which ties=expected leaves open. Leave out one of the three."
        )


def uncondensed(r: Rankings) -> Rankings:
    """Put back the unjudged items that were removed."""
    if r.unjudged != "removed" or r.whole is None:
        return r
    return _finished(r.whole, replace(r, unjudged="nonrelevant"))


def rearranged(r: Rankings, ties: Any) -> Rankings:
    """Break ties in the system's favour, against it, or not at all (expected)."""
    if ties == r.ties:
        return r
    unknown = r.hit_tie_first is None or (r.depth is not None and r.whole is None)
    if ties not in (*FAVOURS, "expected") or unknown:
        raise PolicyError(
            "these rankings were made with "
            f"ties={r.ties}{f' and depth={r.depth}' if r.depth and unknown else ''}, "
            f"which cannot be undone; make them again with ties={ties}."
        )
    whole = r.whole or r
    return _finished(_favouring(whole, ties) if ties in FAVOURS else replace(whole, ties=ties), r)


def _favouring(r: Rankings, ties: str) -> Rankings:
    rank = favoured(r.hit_query, *r.spans, r.hit_grade, best=ties == "best", then=r.hit_item)
    return r.arranged(rank, ties=ties)


def _finished(whole: Rankings, like: Rankings) -> Rankings:
    r = whole if like.depth is None or like.whole is None else cut(whole, like.depth)
    r = condensed(r) if like.unjudged == "removed" and r.unjudged != "removed" else r
    return replace(r, basis=like.basis, findings=like.findings)


def restated(r: Rankings, policy: Policy, depth: int | None = None) -> Rankings:
    """Apply another policy and depth to whole rankings, and count the findings again."""
    if r.whole is not None or r.depth is not None or r.unjudged == "removed":
        raise PolicyError("these rankings were cut or condensed, which cannot be undone here.")
    known = findings_of(r)
    whole = replace(r, findings=None)
    if policy.ties != r.ties:
        tied = bool((r.spans[1] > r.spans[0]).any())
        free = policy.ties in ONE_ORDER and not tied
        whole = replace(whole, ties=policy.ties) if free else rearranged(whole, policy.ties)
    shown = whole if depth is None else cut(whole, depth)
    final = condensed(shown) if policy.unjudged == "removed" else shown
    findings = replace(
        known.recount(shown),
        cut_by_depth=int((whole.retrieved - shown.retrieved).sum()),
        unjudged_removed=int((shown.retrieved - final.retrieved).sum()),
    )
    return replace(final, findings=findings)


BY_SUBTOPIC = (
    "{}: judged by subtopic, where an unjudged result may serve one subtopic and not another, so "
    "an unjudged range has no meaning. Leave out unjudged_range."
)


def judged_alike(r: Rankings, grade: float) -> Rankings:
    """Give every unjudged result this grade; results with a negative grade are unjudged too."""
    whole = r.whole or r
    if whole.unjudged == "removed":
        raise PolicyError(_REMOVED)
    if r.subtopics is not None:
        raise PolicyError(BY_SUBTOPIC.format(r.name))
    return judged_otherwise(_filled(whole, grade, _reach(whole, r)), r)


def judged_otherwise(whole: Rankings, r: Rankings) -> Rankings:
    """Finish whole rankings with other judgements as some rankings were: ties, depth, unjudged."""
    if r.ties in FAVOURS and r.hit_tie_first is not None:
        whole = _favouring(whole, r.ties)
    return _finished(whole, r)


def _reach(whole: Rankings, r: Rankings) -> Ints:
    """Count the results of each list above the depth, or that may be there by a tie."""
    if r.depth is None or r.whole is None:
        return whole.retrieved
    reach = np.minimum(whole.retrieved, r.depth)
    if r.ties in (*FAVOURS, "expected"):
        first, last = whole.spans
        above = first <= r.depth
        np.maximum.at(reach, whole.hit_query[above], last[above])
    return reach


def _filled(r: Rankings, grade: float, reach: Ints) -> Rankings:
    """Make hits of all results of whole rankings, as far down as they matter."""
    # The order of results that tie only with other unjudged ones does not matter; they get no tie.
    starts = starts_of(r.retrieved)
    owner = np.repeat(np.arange(len(r)), r.retrieved)
    place = ordinals(owner, len(r))
    free = place <= reach[owner]
    free[starts[r.hit_query] + r.hit_rank - 1] = False
    query, rank = owner[free], place[free]
    hit_query = np.concatenate([r.hit_query, query])
    hit_rank = np.concatenate([r.hit_rank, rank])
    reached = r.hit_rank <= reach[r.hit_query]
    unjudged = reached & (r.hit_grade < 0)  # a negative grade is no judgement
    hits: dict[str, Any] = {
        "hit_query": hit_query,
        "hit_rank": hit_rank,
        "hit_grade": np.concatenate(
            [np.where(unjudged, grade, r.hit_grade), np.full(len(query), grade)]
        ),
    }
    if r.hit_tie_first is not None:
        first, last = _spread_spans(r, starts, place)
        hits["hit_tie_first"] = np.concatenate([r.spans[0], first[free]])
        hits["hit_tie_last"] = np.concatenate([r.spans[1], last[free]])
    order = by_query_and_rank(hit_query, hit_rank)
    pool_query = np.concatenate([r.pool_query, query])
    pool_grade = np.concatenate([_regraded(r, unjudged, grade), np.full(len(query), grade)])
    best = np.lexsort((-pool_grade, pool_query))
    return replace(
        r,
        **{name: values[order] for name, values in hits.items()},
        pool_query=pool_query[best],
        pool_grade=pool_grade[best],
    )


def _spread_spans(r: Rankings, starts: Ints, place: Ints) -> tuple[Ints, Ints]:
    """Return the ranks that the ties of all results span, if their ties hold a hit."""
    first, last = place.copy(), place.copy()
    tied = np.flatnonzero(r.spans[1] > r.spans[0])
    tie_begin = starts[r.hit_query[tied]] + r.spans[0][tied] - 1
    tie_begin, one = np.unique(tie_begin, return_index=True)
    begin, end = r.spans[0][tied[one]], r.spans[1][tied[one]]
    size = end - begin + 1
    inside = positions(tie_begin, size)
    first[inside], last[inside] = np.repeat(begin, size), np.repeat(end, size)
    return first, last


def _regraded(r: Rankings, which: NDArray[np.bool_], grade: float) -> Floats:
    """Return the pool's grades with another grade for those of some hits."""
    levels, level = np.unique(np.concatenate([r.pool_grade, r.hit_grade]), return_inverse=True)
    key = np.concatenate([r.pool_query, r.hit_query]) * len(levels) + level
    pool, hits = key[: len(r.pool_grade)], key[len(r.pool_grade) :][which]
    kinds, count = np.unique(hits, return_counts=True)
    if not len(kinds):
        return r.pool_grade
    # Equal keys lie together, for the pool is in order of query and grade; as many of each go as
    # there are such hits.
    number = np.cumsum(borders(pool)) - 1
    place = ordinals(number, int(number[-1]) + 1)
    kind = np.minimum(np.searchsorted(kinds, pool), len(kinds) - 1)
    return np.where((kinds[kind] == pool) & (place <= count[kind]), grade, r.pool_grade)
