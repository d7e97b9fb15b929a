"""What is said about a fusion beside its scores: what was assumed, found, or could mislead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from judged.arrays import Floats
from judged.errors import InputError
from judged.inputs.order import OrderOnly
from judged.matching.checks import rising_scores
from judged.runs.fusion.contributions import constant
from judged.runs.fusion.lists import Collected, Lists
from judged.runs.fusion.settings import TIES, Settings, written
from judged.runs.fusion.sums import Fused
from judged.text import Warned, counted, few, listed, with_source

_QUERIES = ("query", "queries")


def notes(
    collected: Collected, gained: Sequence[Floats], fused: Fused, settings: Settings
) -> tuple[str, ...]:
    """All of them, a sentence each."""
    found: list[str] = []
    for run, own in zip(collected.runs, gained, strict=True):
        own_notes = (*_of_scores(run, settings), *_normalised(run, own, settings))
        found += with_source(run.run.name, own_notes)
        found += _lacking(run, collected)
    found += _empty(collected)
    named = listed([run.run.name for run in collected.runs])
    return (
        f"{settings.method} of {named}: an item's score is {settings.formula()}.",
        *found,
        *_alike(collected, fused),
        *_below_nothing(gained, settings),
        *_cut(collected, fused, settings),
        *_by_hand(settings),
        f"Where the runs or the fused lists have ties, {TIES[settings.ties]}.",
    )


def refuse_strangers(collected: Collected) -> None:
    """An error where a run has no query in common with any other."""
    queries = [np.unique(run.query) for run in collected.runs]
    counts = np.bincount(np.concatenate(queries))
    for run, own in zip(collected.runs, queries, strict=True):
        if (counts[own] == 1).all():
            other = next(each for each in collected.runs if each is not run)
            one, two = (
                few([repr(query) for query in collected.queries.gather(each[:4]).to_list()])
                for each in (own, np.unique(other.query))
            )
            raise InputError(
                f"{run.run.name} has no query in common with another run. It has {one}; "
                f"{other.run.name} has {two}. Do they belong to the same collection?"
            )


def _of_scores(run: Lists, settings: Settings) -> Iterator[str]:
    """What the reader said of a run, and what the order of its rows tells."""
    table = run.run
    yield from table.notes
    if table.dropped:
        rows = counted(
            table.dropped, "row that repeats another was", "rows that repeat others were"
        )
        yield f"{rows} left out."
    stretch = table.frame["query"].rle_id().to_numpy()
    lengths = np.bincount(stretch).astype(np.int64)
    yield from rising_scores(table.frame["score"].to_numpy(), lengths, table.notes)
    if not settings.adds_ranks and any(isinstance(note, OrderOnly) for note in table.notes):
        yield Warned(
            f"it has an order and no scores, and {settings.method} adds numbers that stand for "
            "its ranks; rrf is made for ranks."
        )


def _normalised(run: Lists, gained: Floats, settings: Settings) -> Iterator[str]:
    """Lists of which normalisation leaves less than there was."""
    if settings.adds_ranks or settings.normalise == "none":
        return
    same = int(constant(run).sum()) if settings.normalise != "max" else 0
    if same:
        each = {"minmax": "1", "zscore": "0", "sum": "the same share"}[str(settings.normalise)]
        lists = counted(same, "list has", "lists have")
        yield Warned(f"{lists} one score throughout: every result there counts {each}.")
    apart = (run.score[1:] != run.score[:-1]) & (run.rank[1:] > 1)
    merged = int((apart & (gained[1:] == gained[:-1])).sum())
    if merged:
        yield Warned(
            f"{counted(merged, 'score differs', 'scores differ')} so little from the next one that "
            "normalised they are the same: rounding makes ties of them."
        )


def _lacking(run: Lists, collected: Collected) -> Iterator[str]:
    """The queries that a run lacks and others have."""
    there = np.zeros(len(collected.queries), bool)
    there[run.query] = True
    lacking = np.flatnonzero(~there)
    if len(lacking):
        names = few(collected.queries.gather(lacking[:4]).to_list())
        total = counted(len(there), *_QUERIES)
        fused = "its fused list" if len(lacking) == 1 else "their fused lists"
        yield Warned(
            f"{run.run.name} lacks {len(lacking):,} of {total} ({names}): nothing of it is in "
            f"{fused}."
        )


def _empty(collected: Collected) -> Iterator[str]:
    """Queries that runs name and none has results for."""
    named = dict.fromkeys(query for run in collected.runs for query in run.run.queries)
    if lost := list(named.keys() - set(collected.queries.to_list())) if named else []:
        yield Warned(
            f"{counted(len(lost), 'query has', 'queries have')} no results in any run "
            f"({few(sorted(lost))}): not in the fused run."
        )


def _alike(collected: Collected, fused: Fused) -> Iterator[str]:
    """Runs that are the same, and runs that have no item in common with the others."""
    for one, other in combinations(collected.runs, 2):
        if one.run.frame.height == other.run.frame.height and _same(one, other):
            yield Warned(
                f"{one.run.name} and {other.run.name} are the same: their lists count twice."
            )
    for run, alone in zip(collected.runs, fused.alone.tolist(), strict=True):
        if alone == len(run.row):
            yield Warned(
                f"No result of {run.run.name} ({alone:,} in all) is in another run: are "
                "its item ids written as theirs are?"
            )


def _same(one: Lists, other: Lists) -> bool:
    """Whether two runs have the same scores, items and queries, row by row."""
    return all(
        one.run.frame[name].equals(other.run.frame[name]) for name in ("score", "item", "query")
    )


def _below_nothing(gained: Sequence[Floats], settings: Settings) -> Iterator[str]:
    """Scores below 0, as a list that lacks an item gives it 0."""
    below = sum(int((each < 0).sum()) for each in gained)
    if not below:
        return
    results = sum(map(len, gained))
    how = f"normalised by {settings.normalise} are" if settings.normalise != "none" else "are"
    mnz = ", and the number of lists makes it less" if settings.method == "combmnz" else ""
    yield Warned(
        f"{below:,} of {counted(results, 'score')} {how} below 0: there an item gets less than one "
        f"that the list lacks, which gets 0{mnz}. minmax has nothing below 0."
    )


def _cut(collected: Collected, fused: Fused, settings: Settings) -> Iterator[str]:
    """Lists that are longer than the depth."""
    for run in collected.runs:
        if run.cut:
            yield (
                f"Of {run.run.name}, {counted(run.cut, 'list is', 'lists are')} longer than "
                f"{settings.depth:,}: what stands below does not count."
            )
    if fused.cut:
        yield (
            f"{counted(fused.cut, 'fused list was', 'fused lists were')} cut at "
            f"{counted(settings.depth, 'result')}."
        )


def _by_hand(settings: Settings) -> Iterator[str]:
    """Where weights come from is for people to know."""
    if settings.by_hand:
        weights = listed([written(weight) for weight in settings.weights])
        yield (
            f"The weights {weights} were given by hand. Where they were chosen by how well some "
            "queries do, those queries flatter the fused run: compare it on others."
        )
