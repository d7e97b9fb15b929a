"""What a library does to the data before it computes anything, done as its convention says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from judged.inputs.tables import Lookup, Run
from judged.segments import Floats, starts_of
from judged.text import Warned, counted

if TYPE_CHECKING:
    from judged.conventions import Convention
    from judged.rankings.rankings import Rankings


def prepared(run: Run | Lookup, convention: Convention | None) -> Run | Lookup:
    """A run as a library takes it: results with the id of their query are taken out, or warned of.

    >>> from judged.conventions import find
    >>> prepared(Lookup({"q": {"q": 2.0, "a": 1.0}}), find("beir")).lists
    {'q': {'a': 1.0}}
    """
    if convention is None:
        return run
    says = [each.says for each in convention.cautions if each.when == "own ids"]
    if not (convention.drops_own_id or says):
        return run
    shorter, number = _without_own_ids(run)
    if not number:
        return run
    results = f"{counted(number, 'result')} {'has' if number == 1 else 'have'}"
    found = f"{results} the id of {'its' if number == 1 else 'their'} query"
    if convention.drops_own_id:
        note = f"{found}: taken out first, as {convention.title} does."
        return replace(shorter, notes=(*run.notes, note))
    return replace(run, notes=(*run.notes, *(Warned(f"{found}. {text}") for text in says)))


def _without_own_ids(run: Run | Lookup) -> tuple[Run | Lookup, int]:
    """The run without results that have the id of their query, and how many these were."""
    if isinstance(run, Lookup):
        own = {query for query, results in run.lists.items() if query in results}
        lists = {
            query: {item: score for item, score in results.items() if item != query}
            if query in own
            else results
            for query, results in run.lists.items()
        }
        return replace(run, lists=lists), len(own)
    import polars as pl

    kept = (run.frame["query"] != run.frame["item"]).arg_true()
    number = run.frame.height - len(kept)
    if not number:
        return run, 0
    frame, locate = run.frame[kept], run.locate
    # A query whose only result was itself is still there, with an empty list.
    emptied = run.frame["query"].n_unique() - frame["query"].n_unique()
    if emptied and not frame.select("query", "item").is_duplicated().any():
        rest: dict[str, dict[str, float]] = {
            query: {} for query in run.frame["query"].unique(maintain_order=True)
        }
        for query, item, score in frame.select(pl.col("query", "item", "score")).iter_rows():
            rest[query][item] = score
        return Lookup(rest, run.source, run.notes, run.name), number
    where = None if locate is None else lambda rows: locate(kept[list(rows)].to_list())
    return replace(run, frame=frame, locate=where), number


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
