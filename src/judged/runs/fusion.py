"""Fuse several runs into one, by ranks or by scores."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, Unpack

import numpy as np

from judged.arrays import Floats
from judged.errors import InputError, warn
from judged.inputs import as_runs, read_runs
from judged.inputs.order import OrderOnly
from judged.inputs.tables import Run
from judged.matching.checks import rising_scores
from judged.options import (
    ColumnsLike,
    FileFormat,
    FusionMethod,
    FusionNormalisation,
    PolicyLike,
    RunsLike,
    checked,
)
from judged.results import Display, DisplayOptions, Document, Frame, RunResult, Table
from judged.runs import TIES, K
from judged.runs.ranked import (
    CollectedRuns,
    FusedLists,
    FusionSettings,
    RankedLists,
    collect,
    constant,
    contributions_of,
    read_distinct,
    sum_lists,
    written,
)
from judged.text import Warned, counted, few, listed, to_json, with_source


@checked
def fuse(
    runs: RunsLike,
    *,
    method: FusionMethod = "rrf",
    k: int = K,
    weights: Sequence[float] | Mapping[str, float] | None = None,
    normalise: FusionNormalisation | None = None,
    policy: PolicyLike | None = None,
    columns: ColumnsLike | None = None,
    run_format: FileFormat | None = None,
) -> Fusion:
    """Fuse several runs into one, by the ranks of their results or by their scores.

    A list contributes nothing to items that it lacks. Weights that were tuned on the queries that
    are then compared make the fused run look better than it is.

    Parameters
    ----------
    runs : RunsLike
        At least two runs: {name: run}, or a list of files.
    method : {"rrf", "combsum", "combmnz", "weighted"}, optional
        An item's score: the sum of 1 / (k + rank) over the lists that have it; the sum of its
        normalised scores; that sum times the number of these lists; or the sum with weights, which
        must be given.
    k : int, optional
        For rrf: the larger, the less the first ranks stand out.
    weights : sequence of float or dict, optional
        Weight of each run, in any method: a list in the order of the runs, or {name: weight}; by
        default all are 1.
    normalise : {"minmax", "zscore", "max", "sum", "rank", "none"}, optional
        Normalisation of the scores of each list, by default minmax; not for rrf.
    policy : PolicyLike, optional
        `depth` is the number of results of each list that count, and that a fused list keeps; 1,000
        by default. `ties` is the order of results with equal scores, in the runs and in the fused
        lists: "id", descending on bytes; "input", first run first; or "expected", where tied
        results share the mean contribution of their ranks. `duplicates` is what to do if an item
        occurs twice for a query. Other choices have no meaning here.
    columns : ColumnsLike, optional
        Meaning of columns, such as {"query": "question_id", "item": "chunk_id"}; by default their
        names tell.
    run_format : FileFormat, optional
        Format of the files, such as "trec" or "csv", if it is not recognised.

    Returns
    -------
    Fusion
        A run that every function of judged takes.

    >>> runs = {"bm25": {"q": {"a": 9.1, "b": 7.4}}, "dense": {"q": {"c": 0.9, "a": 0.8}}}
    >>> fuse(runs).frame["item"].to_list()
    ['a', 'c', 'b']
    >>> fuse(runs, method="combsum", weights=[2, 1]).to_dict()
    {'q': {'a': 2.0, 'c': 1.0, 'b': 0.0}}
    """
    import polars as pl

    named = as_runs(runs)
    if len(named) < 2:
        raise InputError(
            "fuse needs at least two runs, as {name: run} or a list of files; got one."
        )
    names = [name or "run" for name in named]
    settings = FusionSettings.of(names, method, k, weights, normalise, policy)
    read = read_runs(named, "Only runs can be fused.", columns=columns, format=run_format)
    tables = [read_distinct(run, settings.duplicates).table for run in read]
    collected = collect(tables, depth=settings.depth, ties=settings.ties)
    _check_common_queries(collected)
    with np.errstate(over="ignore", invalid="ignore"):  # sum_lists reports overflows
        gained = [contributions_of(lists, settings) for lists in collected.runs]
        fused = sum_lists(collected, gained, settings)
    frame = pl.DataFrame(
        {
            "query": collected.queries.gather(fused.query),
            "item": collected.items.gather(fused.row),
            "score": fused.score,
        }
    )
    counts = zip(collected.runs, settings.weights, fused.alone.tolist(), strict=True)
    fusion = Fusion(
        frame,
        f"the {settings.method} of {len(tables)} runs",
        _notes_of(collected, gained, fused, settings),
        name=settings.method,
        tag=settings.tag,
        runs=tuple(
            FusedRun(lists.run.name, weight, len(lists.starts), len(lists.row), int(alone))
            for lists, weight, alone in counts
        ),
        settings=tuple(settings.to_dict().items()),
        weights=settings.weights if settings.by_hand else None,
    )
    for text in fusion.warnings():
        warn(text)
    return fusion


def _notes_of(
    collected: CollectedRuns, gained: Sequence[Floats], fused: FusedLists, settings: FusionSettings
) -> tuple[str, ...]:
    notes: list[str] = []
    for run in collected.runs:
        notes += with_source(run.run.name, _about_scores(run, settings))
        notes += _about_missing(run, collected)
    named = listed([run.run.name for run in collected.runs])
    weights = listed([written(weight) for weight in settings.weights])
    by_hand = (
        f"The weights {weights} were given by hand. If they were tuned on some queries, compare "
        "the fused run on other queries."
    )
    return (
        f"{settings.method} of {named}: an item's score is {settings.formula()}.",
        *notes,
        *_about_empty(collected),
        *_about_overlap(collected, fused),
        *_about_negative(gained, settings),
        *_about_depth(collected, fused, settings.depth),
        *([by_hand] if settings.by_hand else []),
        f"Ties in the runs and in the fused lists: {TIES[settings.ties]}.",
    )


def _check_common_queries(collected: CollectedRuns) -> None:
    queries = [np.unique(run.query) for run in collected.runs]
    counts = np.bincount(np.concatenate(queries))
    for run, present in zip(collected.runs, queries, strict=True):
        if (counts[present] == 1).all():
            other = next(numbers for numbers in collected.runs if numbers is not run)
            one, two = (
                few([repr(query) for query in collected.queries.gather(numbers[:4]).to_list()])
                for numbers in (present, np.unique(other.query))
            )
            raise InputError(
                f"{run.run.name} has no query in common with another run. It has {one}; "
                f"{other.run.name} has {two}. Do they belong to the same collection?"
            )


def _about_scores(run: RankedLists, settings: FusionSettings) -> Iterator[str]:
    table = run.run
    yield from table.notes
    if table.dropped:
        rows = counted(table.dropped, "duplicate row was", "duplicate rows were")
        yield f"{rows} dropped."
    stretch = table.frame["query"].rle_id().to_numpy()
    lengths = np.bincount(stretch).astype(np.int64)
    yield from rising_scores(table.frame["score"].to_numpy(), lengths, table.notes)
    if not settings.adds_ranks and any(isinstance(note, OrderOnly) for note in table.notes):
        yield Warned(
            f"the run has an order but no scores, so {settings.method} adds numbers made from its "
            "ranks. Use rrf for ranks."
        )
    value = {"minmax": "1", "zscore": "0", "sum": "the same share"}.get(str(settings.normalise))
    if value and (same := int(constant(run).sum())):
        lists = counted(same, "list has", "lists have")
        yield Warned(f"{lists} only one score, so each result there counts {value}.")


def _about_missing(run: RankedLists, collected: CollectedRuns) -> Iterator[str]:
    there = np.zeros(len(collected.queries), bool)
    there[run.query] = True
    lacking = np.flatnonzero(~there)
    if len(lacking):
        names = few(collected.queries.gather(lacking[:4]).to_list())
        total = counted(len(there), "query", "queries")
        fused = "its fused list" if len(lacking) == 1 else "their fused lists"
        yield Warned(
            f"{run.run.name} lacks {len(lacking):,} of {total} ({names}) and contributes nothing "
            f"to {fused}."
        )


def _about_empty(collected: CollectedRuns) -> Iterator[str]:
    named = {query for run in collected.runs for query in run.run.queries}
    if lost := sorted(named - set(collected.queries.to_list())):
        have, are = ("query has", "is") if len(lost) == 1 else ("queries have", "are")
        yield Warned(
            f"{len(lost):,} {have} no results in any run ({few(lost)}) and {are} not in the fused "
            "run."
        )


def _about_overlap(collected: CollectedRuns, fused: FusedLists) -> Iterator[str]:
    columns = ["score", "item", "query"]
    for one, other in combinations((run.run for run in collected.runs), 2):
        if one.frame.select(columns).equals(other.frame.select(columns)):
            yield Warned(f"{one.name} and {other.name} are identical, so their lists count twice.")
    for run, alone in zip(collected.runs, fused.alone.tolist(), strict=True):
        if alone == len(run.row):
            yield Warned(
                f"None of the results of {run.run.name} ({alone:,}) is in another run. Are its "
                "item ids spelled like theirs?"
            )


def _about_negative(gained: Sequence[Floats], settings: FusionSettings) -> Iterator[str]:
    """Yield a warning about negative scores, because an item that a list lacks gets 0."""
    below = sum(int((values < 0).sum()) for values in gained)
    if not below:
        return
    results = sum(map(len, gained))
    how = f" after {settings.normalise}" if settings.normalise != "none" else ""
    mnz = " combmnz lowers them further." if settings.method == "combmnz" else ""
    yield Warned(
        f"{below:,} of {counted(results, 'score')} are below 0{how}, so these items get less than "
        f"items that the list lacks, which get 0.{mnz} Use minmax to avoid this."
    )


def _about_depth(collected: CollectedRuns, fused: FusedLists, depth: int) -> Iterator[str]:
    for run in collected.runs:
        if run.cut:
            yield (
                f"{run.run.name}: {counted(run.cut, 'list is', 'lists are')} longer than "
                f"{depth:,}; results below do not count."
            )
    if fused.cut:
        cut = counted(fused.cut, "fused list was", "fused lists were")
        yield f"{cut} cut at {counted(depth, 'result')}."


@dataclass(frozen=True)
class FusedRun:
    """Contribution of one run to a fusion."""

    name: str
    weight: float
    queries: int
    """Number of queries with results."""
    results: int
    """Number of results within the depth."""
    alone: int
    """Number of these that no other run has."""


@dataclass(frozen=True, eq=False, repr=False)
class Fusion(RunResult, Run):
    """A fused run, which every function of judged takes, as returned by `fuse`.

    >>> import judged
    >>> fused = judged.fuse({"one": {"q": ["a", "b"]}, "other": {"q": ["c", "a"]}})
    >>> fused.frame["item"].to_list()
    ['a', 'c', 'b']
    >>> judged.evaluate({"q": {"a": 1}}, fused, "RR").value()
    1.0
    """

    runs: tuple[FusedRun, ...] = ()
    """Contribution of each run."""
    settings: tuple[tuple[str, Any], ...] = ()
    """Settings: method, k or normalise, depth, ties."""
    weights: tuple[float, ...] | None = None
    """Weights that the caller gave, in the order of the runs; None if there were none."""

    SAVED_AS: ClassVar[dict[str, str]] = {".json": "to_json", ".csv": "to_csv"}

    @property
    def method(self) -> str:
        """Method: rrf, combsum, combmnz or weighted."""
        return str(dict(self.settings)["method"])

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return {query: {item: score}}, the best item first.

        >>> import judged
        >>> fused = judged.fuse({"one": {"q": ["a"]}, "other": {"q": ["a"]}}, method="combsum")
        >>> fused.to_dict()
        {'q': {'a': 2.0}}
        """
        lists = self.frame.group_by("query", maintain_order=True).agg("item", "score")
        return {
            query: dict(zip(items, scores, strict=True))
            for query, items, scores in lists.iter_rows()
        }

    def to_frame(self) -> Frame:
        """Return one row per result: query, item, score and rank from 1.

        >>> import judged
        >>> fused = judged.fuse({"one": {"q": ["a", "b"]}, "other": {"q": ["c", "a"]}})
        >>> fused.to_frame().select("item", "rank").rows()
        [('a', 1), ('c', 2), ('b', 3)]
        """
        import polars as pl

        return self.frame.with_columns(rank=pl.int_range(1, pl.len() + 1).over("query"))

    def document(self, display: Display) -> Document:
        rows = [
            [
                run.name,
                written(run.weight),
                *map("{:,}".format, (run.queries, run.results, run.alone)),
            ]
            for run in self.runs
        ]
        header = ["run", "weight", "queries", "results", "only here"]
        return Document(
            tables=[Table(header, rows, {"run"})],
            warnings=[note for note in self.notes if isinstance(note, Warned)],
            notes=[note for note in self.notes if not isinstance(note, Warned)],
        )

    def save(self, path: str | os.PathLike[str], **display: Unpack[DisplayOptions]) -> None:
        """Write the run to a file, whole or not at all; scores keep all their digits.

        Parameters
        ----------
        path : str or os.PathLike
            Where to write. The file extension decides the format: TREC text (.run, .trec, .txt or
            none), .parquet, .csv or .json. It can be read back as the same run; the tag of TREC
            text holds the method.
        **display : Unpack[DisplayOptions]
            Options of `Display`; none has a meaning here.

        >>> import judged
        >>> judged.fuse({"one": {"q": ["a"]}, "other": {"q": ["a"]}}).save("/dev/null")
        """
        self._display("save", display)
        self._save_run(path, self.tag or self.method)

    def _metadata(self) -> dict[str, str]:
        weights = {run.name: run.weight for run in self.runs}
        made = {**dict(self.settings), "weights": weights, "by_hand": self.weights is not None}
        return {**super()._metadata(), "fusion": to_json(made)}
