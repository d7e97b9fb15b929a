"""What a library does to the data before it computes anything, done as its convention says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from judged.arrays import Floats, starts_of
from judged.inputs.blocks import RunBlocks
from judged.inputs.remote import AnyRun, RemoteRun
from judged.inputs.tables import Lookup, Run
from judged.matching.own_ids import have_own_id, own_id_words, without_own_ids
from judged.text import Tallied, TalliedWarning, Warned, counted

if TYPE_CHECKING:
    from judged.conventions import Convention
    from judged.rankings.rankings import Rankings


def prepared(run: AnyRun, convention: Convention | None) -> AnyRun:
    """A run as a library takes it: results with the id of their query are taken out, or warned of;
    queries with an empty list are missing, where they are to it.

    >>> from judged.conventions import find
    >>> prepared(Lookup({"q": {"q": 2.0, "a": 1.0}}), find("beir")).lists
    {'q': {'a': 1.0}}
    """
    if convention is None:
        return run
    if convention.needs_results:
        run = _without_empty(run)
    says = [each.says for each in convention.cautions if each.when == "own ids"]
    if not (convention.drops_own_id or says):
        return run
    shorter, number = without_own_ids(run)
    if not number:
        return run
    if convention.drops_own_id:
        words = own_id_words(then=f": taken out first, as {convention.title} does.")
        return replace(shorter, notes=(*run.notes, Tallied(number, *words)))
    said = (TalliedWarning(number, *own_id_words(then=f". {text}")) for text in says)
    return replace(run, notes=(*run.notes, *said))


def unprepared(run: Run | Lookup | RunBlocks, conventions: Iterable[Convention]) -> list[Warned]:
    """What libraries do to this very run first that is not done where they stand side by side."""
    asked = [each for each in conventions if each.drops_own_id or each.needs_results]
    if not asked:
        return []
    if isinstance(run, RunBlocks):
        counts = run.gather(lambda: [_counts(table) for table in run.blocks(None)])
        own, empty = (sum(numbers) for numbers in zip(*counts, strict=True))
    else:
        own, empty = _counts(run)
    return [text for each in asked for text in _unprepared(each, own, empty)]


def _counts(run: Run | Lookup) -> tuple[int, int]:
    """How many results have the id of their query, and how many queries have nothing in them."""
    return without_own_ids(run)[1], _empty(run)


def _unprepared(convention: Convention, own: int, empty: int) -> list[Warned]:
    said = []
    if convention.drops_own_id and own:
        said.append(f"{have_own_id(own)}, which {convention.title} takes out first")
    if convention.needs_results and empty:
        lists = f"{counted(empty, 'query has', 'queries have')} an empty list"
        said.append(f"{lists}, which {convention.title} takes for missing")
    return [
        Warned(f"{text}; its rows here are without that: see convention={convention.name}.")
        for text in said
    ]


def _empty(run: Run | Lookup) -> int:
    """How many queries have nothing in them."""
    if isinstance(run, Run):
        return max(0, len(run.queries) - run.frame["query"].n_unique())
    return sum(not items for items in run.lists.values())


def _without_empty(run: AnyRun) -> AnyRun:
    """A run without the queries that have nothing in them."""
    if isinstance(run, RemoteRun):
        return run.without_empty_lists()
    if isinstance(run, Run):
        return replace(run, queries=())
    return replace(run, lists={query: items for query, items in run.lists.items() if items})


def regraded(r: Rankings, rule: str) -> Rankings:
    """The rankings with grade 1 for what a rule of `conventions.THRESHOLDS` takes for relevant, and
    0 for the rest."""
    least = THRESHOLD[rule](r)

    def graded(query: np.ndarray, grade: Floats) -> Floats:
        reached = (grade >= least[query]) & (grade > 0)
        return np.where(reached, 1.0, np.minimum(grade, 0.0))

    return replace(
        r,
        hit_grade=graded(r.hit_query, r.hit_grade),
        pool_grade=graded(r.pool_query, r.pool_grade),
        whole=None if r.whole is None else regraded(r.whole, rule),
    )


def _half_or_tenth(r: Rankings) -> Floats:
    """The greater of half of the best grade and the 90th percentile (by the nearest rank)."""
    sizes = np.bincount(r.pool_query, minlength=len(r))
    least = np.full(len(r), np.inf)
    some = np.flatnonzero(sizes)
    best = starts_of(sizes)[some]
    tenth = best + sizes[some] - np.ceil(0.9 * sizes[some]).astype(np.int64)
    # Each query's grades come best first.
    least[some] = np.maximum(0.5 * r.pool_grade[best], r.pool_grade[tenth])
    return least


THRESHOLD = {"half or tenth": _half_or_tenth}
"""How each rule of `conventions.THRESHOLDS` finds the least relevant grade of every query."""
