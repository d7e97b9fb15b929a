"""Several collections in one table: values, macro means over collections, and ranks of systems."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar, Unpack
from warnings import catch_warnings

import numpy as np

from judged import __version__
from judged.arrays import Floats
from judged.comparison.export import NumberFormat, rank_range
from judged.comparison.numbers import Compared, Numbers
from judged.comparison.outcomes import further_variances, match_pair
from judged.comparison.settings import SAVED_AS
from judged.comparison.verdicts import Place, leaderboard
from judged.comparison.wording import percent_of, with_ends
from judged.errors import InputError, JudgedError, JudgedWarning, quoted
from judged.evaluation.evaluate import evaluate
from judged.evaluation.evaluation import Evaluation
from judged.evaluation.export import Look, best
from judged.evaluation.intervals import interval_of, summary_range
from judged.evaluation.warnings import announce_warnings
from judged.inputs.formats import is_rankings_file, run_name
from judged.measures import Measure
from judged.options import LEVEL, RESAMPLES, MeasuresLike, Scoring, checked, takes_scoring
from judged.results import Display, Document, Frame, Result, ResultPart, Table, plain_value
from judged.statistics.intervals import Interval
from judged.statistics.ranks import corrected
from judged.statistics.samples import Sample, effective_units, exact_mean, exact_sum
from judged.statistics.t import More, Spread, against_zero, below, fewest_units, half_widths, spread
from judged.text import Bold, Left, Warned, listed

MACRO, SHARED = "macro mean", "shared mean"
"""Names of the means over all collections, and over those that all systems have."""
FIXED = (
    "Collections are taken as fixed: confidence intervals and ranks are about other queries of "
    "these collections, not about other collections."
)
POINTWISE = (
    "Confidence intervals of values and differences are pointwise, not simultaneous. "
    "Ranks and verdicts use p corrected by Holm over all pairs, so an interval without 0 need not "
    "be a significant difference."
)
UNDEFINED = Interval(math.nan)
_BEIR_TEXTS = {"corpus.jsonl", "queries.jsonl"}
_JUDGED_NAME = re.compile(r"(?<![a-z])(qrels?|judge?ments?)(?![a-z])", re.IGNORECASE)


@takes_scoring
@checked
def evaluate_many(
    collections: Mapping[str, tuple[Any, Any]] | str | os.PathLike[str],
    measures: MeasuresLike = "nDCG@10",
    *,
    common: bool = False,
    level: float = LEVEL,
    **scoring: Unpack[Scoring],
) -> Benchmark:
    """Evaluate systems on several collections, with macro means and ranks.

    A system that lacks a collection has no macro mean, because a mean over fewer collections cannot
    be compared with the others.

    Parameters
    ----------
    collections : dict or path
        {collection: (judgements, runs)} as `judged.evaluate` takes them, with runs by the names of
        systems; or a folder with a folder per collection, which holds one file of judgements
        (qrels.txt, judgements.csv, BEIR's qrels/test.tsv) and a run per system. Runs of one
        system have one file name.
    measures : MeasuresLike, optional
        Such as "nDCG@10", or a list; there is one table per measure.
    common : bool, optional
        Add the mean over the collections that all systems have, if some lack collections.
    level : float, optional
        The confidence level.
    **scoring

    >>> judgements = {"q1": {"a": 1}, "q2": {"b": 1}}
    >>> good, bad = {"q1": ["a"], "q2": ["b"]}, {"q1": ["a"], "q2": ["c", "b"]}
    >>> web, news = {"bm25": bad, "dense": good}, {"bm25": bad, "dense": bad}
    >>> found = evaluate_many({"web": (judgements, web), "news": (judgements, news)}, "RR")
    >>> {name: mean.estimate for name, mean in found.macro().items()}
    {'bm25': 0.75, 'dense': 0.875}
    """
    if scoring.get("trusted") is not None:
        raise InputError(
            "trusted judgements are about the queries of one collection; evaluate the collections "
            "one at a time to use them."
        )
    if isinstance(collections, (str, os.PathLike)):
        collections = read_folder(collections)
    if not isinstance(collections, Mapping) or not collections:
        raise InputError(
            "collections must be {name: (judgements, runs)} or a folder with a folder per "
            f"collection; got {quoted(collections)}."
        )
    evaluations = {}
    for name, data in collections.items():
        if not isinstance(data, (tuple, list)) or len(data) != 2:
            raise InputError(f"collection {quoted(name)} must be (judgements, runs).")
        try:
            evaluations[str(name)] = _evaluate_collection(*data, measures, scoring)
        except JudgedError as error:
            raise type(error)(f"{name}: {error}") from None
    return announce_warnings(Benchmark(evaluations, level, common))


def _evaluate_collection(
    judgements: Any, runs: Any, measures: MeasuresLike, scoring: Scoring
) -> Evaluation:
    """Evaluate runs, rankings files, or both; the warnings are those of the whole result."""
    named = runs if isinstance(runs, Mapping) else {}
    rankings = {name: run for name, run in named.items() if is_rankings_file(run)}
    others = {name: run for name, run in named.items() if name not in rankings}
    with catch_warnings(action="ignore", category=JudgedWarning):
        if not rankings:
            return evaluate(judgements, runs, measures, **scoring)
        found = evaluate(list(rankings.values()), None, measures, **scoring)
        if not others:
            return found.beside(names=list(rankings))
        first = evaluate(judgements, others, measures, **scoring)
        return first.beside(found, names=[*(run.name for run in first.runs), *rankings])


# -- folders


def read_folder(folder: str | os.PathLike[str]) -> dict[str, tuple[Path | None, dict[str, Path]]]:
    """Return the judgements and runs of each collection, a folder each, in order of names."""
    where = Path(folder)
    if not where.is_dir():
        raise InputError(f"{where}: there is no such folder; give one with collections in it.")
    folders = sorted(path for path in where.iterdir() if path.is_dir() and path.name[0] != ".")
    if not folders:
        raise InputError(
            f"{where}: holds no folders. Make one for each collection, with its judgements and "
            "runs; use judged evaluate for a single collection."
        )
    return {path.name: _read_collection(path) for path in folders}


def _read_collection(folder: Path) -> tuple[Path | None, dict[str, Path]]:
    """Return the judgements and the runs by name; rankings files need no judgements."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name[0] != ".")
    files = [path for path in files if path.name not in _BEIR_TEXTS]
    plain = [path for path in files if not is_rankings_file(path)]
    judged = [path for path in plain if _JUDGED_NAME.search(path.name)]
    if len(judged) > 1:
        names = listed([path.name for path in judged])
        raise InputError(
            f"{folder}: {names} could each be the judgements. Leave one of them there, or call "
            "only one qrels.txt."
        )
    if not judged and (folder / "qrels" / "test.tsv").is_file():  # as BEIR keeps them
        judged = [folder / "qrels" / "test.tsv"]
    if not judged and (plain or not files):
        raise InputError(f"{folder}: no file holds judgements. Call the file with them qrels.txt.")
    runs: dict[str, Path] = {}
    for path in files:
        if path not in judged:
            name = path.stem if is_rankings_file(path) else run_name(path)
            if name in runs:
                raise InputError(
                    f"{folder}: {runs[name].name} and {path.name} are both runs of {name}. Leave "
                    "one of them there, or rename one."
                )
            runs[name] = path
    if not runs:
        raise InputError(f"{folder}: holds no runs. Add a file for each system, such as bm25.run.")
    return (judged[0] if judged else None), runs


# -- means over collections


def _variance(
    samples: Sequence[Sample], averaged: Floats | None, more: More
) -> tuple[float, float]:
    """Compute the variance of a number, or of a difference of two; 0 if all queries are equal."""
    weights = samples[0].weights
    size = effective_units(len(samples[0]), weights, None)
    if size <= 1 or not (averaged is None or np.isfinite(averaged).all()):
        return math.nan, math.nan
    if samples[0].aggregate == "mean" and averaged is not None:
        found = spread(averaged[:, None], weights, more=more)
        error = float(found.error[0])
        return (0.0, math.inf) if math.isnan(error) else (error**2, float(found.freedom[0]))
    from judged.statistics.bootstrap import resampled

    drawn = resampled(samples, None, RESAMPLES, 0)
    numbers = drawn[0] if len(samples) == 1 else drawn[0] - drawn[1]
    known = np.isfinite(numbers).all()
    return float(numbers.var()) * size / (size - 1) if known else math.nan, size - 1


def macro_mean(numbers: Sequence[float], spreads: Sequence[tuple[float, float]]) -> Spread:
    """Average numbers over fixed collections; `spreads` are their variances and freedoms."""
    # The variance is the sum of the collections' variances, divided by their number squared, with
    # Satterthwaite's degrees of freedom. Sums are exact, so the order of collections changes no
    # bit.
    variances, freedoms = np.array(spreads).T
    total, freedom, error = exact_sum(variances), math.nan, math.nan
    if total > 0:
        freedom = total**2 / exact_sum(variances**2 / freedoms)
        error = math.sqrt(total) / len(numbers)
    return Spread(np.array([exact_mean(np.array(numbers))]), np.array([error]), np.array([freedom]))


@dataclass(frozen=True)
class MacroPair(ResultPart):
    """The difference of two systems in their mean over collections, and its test."""

    measure: str
    run: str
    against: str
    value: float
    against_value: float
    difference: Interval
    p: float  # two-sided p of the t test of paired differences within collections
    corrected_p: float = 1.0
    verdict: str = ""  # better, worse, or not significant


@dataclass(frozen=True)
class Board:
    """Means of systems over some collections, their differences and ranks."""

    measure: str
    name: str
    collections: tuple[str, ...]
    means: Mapping[str, Interval]
    pairs: tuple[MacroPair, ...]
    places: tuple[Place, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Benchmark(Result):
    """Systems on several collections: values, macro means with confidence intervals, and ranks.

    >>> judgements, run = {"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": ["a"], "q2": ["b"]}
    >>> evaluate_many({"web": (judgements, {"bm25": run})}, "RR").values()
    {'web': {'bm25': 0.5}}
    """

    SAVED_AS: ClassVar[dict[str, str]] = SAVED_AS
    DISPLAY: ClassVar[frozenset[str]] = frozenset({"decimals", "percent"})

    evaluations: Mapping[str, Evaluation]
    """The evaluation of each collection."""
    level: float = LEVEL
    """The confidence level."""
    common: bool = False
    """True to add the mean over the collections that all systems have."""

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """The names of all systems."""
        return tuple(dict.fromkeys(run.name for ev in self.evaluations.values() for run in ev.runs))

    @property
    def _first(self) -> Evaluation:
        return next(iter(self.evaluations.values()))

    @cached_property
    def _numbers(self) -> dict[str, Numbers]:
        return {name: Numbers.of(evaluation) for name, evaluation in self.evaluations.items()}

    @cached_property
    def _compared(self) -> dict[str, Compared]:
        """Each measure by its name in tables."""
        return {known.name: known for known in next(iter(self._numbers.values())).measures}

    def values(self, measure: str | Measure | None = None) -> dict[str, dict[str, float]]:
        """Return {collection: {system: value}} of a measure, with NaN for missing cells.

        Parameters
        ----------
        measure : str or Measure, optional
            One of the measures; needed only if there are several.
        """
        label = self._first.label(self._first.measure(measure))
        empty = dict.fromkeys(self.systems, math.nan)
        return {
            name: empty | {run: numbers.entries[label, run].number for run in numbers.runs}
            for name, numbers in self._numbers.items()
        }

    def missing(self, measure: str | Measure | None = None) -> dict[str, list[str]]:
        """Return the collections that each incomplete system lacks.

        Parameters
        ----------
        measure
            As for `values`.
        """
        values = self.values(measure)
        lacks = {
            system: [name for name, row in values.items() if math.isnan(row[system])]
            for system in self.systems
        }
        return {system: names for system, names in lacks.items() if names}

    def macro(self, measure: str | Measure | None = None) -> dict[str, Interval]:
        """Return the macro mean of each system with its confidence interval; NaN if incomplete.

        Parameters
        ----------
        measure
            As for `values`.
        """
        board = self.boards[self._first.label(self._first.measure(measure))][0]
        return {system: board.means.get(system, UNDEFINED) for system in self.systems}

    @cached_property
    def boards(self) -> dict[str, list[Board]]:
        """Macro means and ranks by each measure; then those over shared collections, if wanted."""
        boards = {}
        for label, measure in self._compared.items():
            lacking, every = self.missing(label), tuple(self.evaluations)
            complete = [system for system in self.systems if system not in lacking]
            boards[label] = [self._make_board(measure, MACRO, every, complete)]
            if self.common and lacking:
                lost = {collection for names in lacking.values() for collection in names}
                shared = tuple(collection for collection in every if collection not in lost)
                boards[label].append(self._make_board(measure, SHARED, shared, self.systems))
        return boards

    def _make_board(
        self, measure: Compared, name: str, chosen: tuple[str, ...], systems: Sequence[str]
    ) -> Board:
        if not chosen:
            return Board(measure.name, name, chosen, {}, (), ())
        numbers = [self._numbers[collection] for collection in chosen]
        means = {system: self._mean(measure, system, numbers) for system in systems}
        values = {system: mean.estimate for system, mean in means.items()}
        pairs = self._pairs(measure, values, numbers)
        places = leaderboard(measure, values, pairs)
        return Board(measure.name, name, chosen, means, pairs, places)

    def _mean(self, measure: Compared, system: str, numbers: Sequence[Numbers]) -> Interval:
        entries = [each.entry(measure, system) for each in numbers]
        known = [(np.array([entry.error**2]), np.array([math.inf])) for entry in entries]
        spreads = [
            _variance([entry.sample], entry.averaged, [more])
            for entry, more in zip(entries, known, strict=True)
        ]
        found = macro_mean([entry.number for entry in entries], spreads)
        mean, half = float(found.mean[0]), float(half_widths(found, self.level)[0])
        if math.isnan(half) or math.isinf(mean):
            few = any(len(entry.place) < 2 for entry in entries)
            why = "a collection has one query" if few else "values do not vary, or are infinite"
            return Interval(mean, note=why)
        ends = [summary_range(e.values, measure.range, e.sample.aggregate) for e in entries]
        lowest, highest = (exact_mean(np.array(side)) for side in zip(*ends, strict=True))
        return Interval(mean, max(mean - half, lowest), min(mean + half, highest), "t")

    def _pairs(
        self, measure: Compared, values: Mapping[str, float], numbers: Sequence[Numbers]
    ) -> tuple[MacroPair, ...]:
        """Test the paired differences of all systems, and correct p for their number."""
        pairs: list[MacroPair] = []
        for run, against in combinations(values, 2):
            matches = [match_pair(each, measure, run, against) for each in numbers]
            spreads = [
                _variance([m.ours.sample, m.theirs.sample], m.averaged, further_variances([m]))
                for m in matches
            ]
            found = macro_mean([match.difference for match in matches], spreads)
            with np.errstate(all="ignore"):
                tested = against_zero(found, [self.level])
            differing = sum(int(match.differs.sum()) for match in matches)
            difference, p = Interval(float(found.mean[0]), note="too few queries differ"), 1.0
            # The signs of few differing queries cannot be significant.
            if differing >= fewest_units(self.level) and not math.isnan(tested.p[0]):
                ends = float(tested.low[0, 0]), float(tested.high[0, 0])
                difference = Interval(difference.estimate, *ends, "t")
                p = max(float(tested.p[0]), 2.0 ** (1 - differing))
            names = measure.name, run, against
            pairs.append(MacroPair(*names, values[run], values[against], difference, p))
        holm = corrected(np.array([pair.p for pair in pairs]), "holm").tolist()
        for at, (pair, p) in enumerate(zip(pairs, holm, strict=True)):
            better = (pair.difference.estimate > 0) == measure.higher_is_better
            verdict = ("better" if better else "worse") if below(p, self.level) else ""
            pairs[at] = replace(pair, corrected_p=p, verdict=verdict or "not significant")
        return tuple(pairs)

    # -- for programs

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        pairs = [pair for boards in self.boards.values() for pair in boards[0].pairs]
        return {
            "collections": {
                name: len(ev.runs[0].rankings) for name, ev in self.evaluations.items()
            },
            "systems": list(self.systems),
            "values": plain_value(self.to_frame().to_dicts()),
            "missing": {label: self.missing(label) for label in self._compared},
            "pairs": plain_value(pairs),
            "level": self.level,
            "intervals": POINTWISE,
            "policy": self._first.policy.to_dict(),
            "warnings": self.warnings(),
            "definition": self.methods(),
            "judged": __version__,
        }

    def to_frame(self) -> Frame:
        """Return a row per cell, and per mean, whose collection is null, with confidence intervals.

        Missing cells have a row without a value. `collections` is the number behind the value.
        """
        import polars as pl

        rows: list[tuple[Any, ...]] = []
        for label, measure in self._first.labels.items():
            for name, evaluation in self.evaluations.items():
                scored = {run.name: run for run in evaluation.runs}
                for system in self.systems:
                    run, of = scored.get(system), UNDEFINED
                    if run is not None:
                        of = interval_of(run, measure, level=self.level)
                    ends = of.estimate, of.low, of.high
                    rows.append((label, name, None, 1, system, *ends, None, None))
            for board in self.boards[label]:
                ranks = {place.run: (place.rank_low, place.rank_high) for place in board.places}
                for system in self.systems:
                    of = board.means.get(system, UNDEFINED)
                    about = label, None, board.name, len(board.collections), system
                    ends = of.estimate, of.low, of.high
                    rows.append((*about, *ends, *ranks.get(system, (None, None))))
        columns = {
            **dict.fromkeys(("measure", "collection", "mean"), pl.String()),
            **{"collections": pl.Int64(), "system": pl.String()},
            **dict.fromkeys(("value", "low", "high"), pl.Float64()),
            **dict.fromkeys(("rank_low", "rank_high"), pl.Int64()),
        }
        return pl.DataFrame(rows, schema=columns, orient="row").fill_nan(None)

    # -- for people

    def says(self) -> list[str]:
        """Return the best system by each measure in a sentence."""
        sentences = []
        for board in (board for boards in self.boards.values() for board in boards):
            if len(board.places) < 2 or math.isnan(board.places[0].value):
                continue
            first, *others = board.places
            mean = board.means[first.run]
            having = "" if len(board.places) == len(self.systems) else " that have one"
            against = f"significantly better than all others{having}"
            if level := [place.run for place in others if place.rank_low == 1]:
                against = f"not significantly better than {listed(level)}"
            ends = with_ends(mean.estimate, mean.low, mean.high, self.level)
            words = f"{first.run} has the best {board.name}, {ends}, {against}."
            sentences.append(f"{board.measure}: {words}")
        return sentences

    def _grave(self) -> list[str]:
        found: dict[str, list[str]] = {}
        remedy = "Add what is missing"
        if not self.common:
            remedy += ", or use common=True (--common) for the mean over shared collections"
        for label, boards in self.boards.items():
            for system, names in self.missing(label).items():
                text = f"{system} has no value for {listed(names)}, so it has no macro mean."
                found.setdefault(f"{text} {remedy}.", []).append(label)
            if not boards[-1].collections:
                found.setdefault("No collection has values of all systems.", []).append(label)
            for name, numbers in self._numbers.items():
                values = {run: numbers.entries[label, run].values for run in numbers.runs}
                alike = [run for run, of in values.items() if len(of) > 1 and (of == of[0]).all()]
                if alike:
                    text = (
                        f"All queries of {name} have the same value for {listed(alike)}, which "
                        "adds no variance. Confidence intervals of means may be too narrow."
                    )
                    found.setdefault(text, []).append(label)
        for name, evaluation in self.evaluations.items():
            for text in evaluation._grave():
                found.setdefault(text, []).append(name)
        every = list(self._compared)
        return [Warned(t if of == every else f"{listed(of)}: {t}") for t, of in found.items()]

    def methods(self) -> str:
        """Return what all numbers mean, as a paragraph for a paper."""
        from judged.evaluation.wording import methods

        sizes = [f"{n} {len(ev.runs[0].rankings):,}" for n, ev in self.evaluations.items()]
        return (
            f"{methods(self._first, f'the judged queries of each collection: {listed(sizes)}')} "
            f"The macro mean gives each collection the same weight. Its {percent_of(self.level)} "
            "confidence interval uses Student's t with Satterthwaite's degrees of freedom. Its "
            "variance is the sum of the variances of the collections' values over queries, divided "
            "by the squared number of collections. The bootstrap estimates the variance of values "
            "that are not means over queries. Ranks come from t tests of paired differences of "
            f"macro means, corrected by Holm. {POINTWISE} {FIXED}"
        )

    def document(self, display: Display) -> Document:
        look = Look(display.decimals, display.percent)
        shared = {
            f"{board.name}: over {listed(board.collections)}, which all systems have."
            for boards in self.boards.values()
            for board in boards[1:]
            if board.collections
        }
        return Document(
            answer=self.says(),
            tables=[table for label in self.boards for table in self._tables(label, look)],
            warnings=self._grave(),
            notes=[
                *sorted(shared),
                "Every collection counts the same in the macro mean. Ranks: t tests of paired "
                f"differences, corrected by Holm, so all hold with {percent_of(self.level)} "
                "confidence together.",
                FIXED,
            ],
            details=lambda: [
                f"{name}: {text}"
                for name, evaluation in self.evaluations.items()
                for text in evaluation.warnings()
                if text not in evaluation._grave()
            ],
            hint="definitions, and warnings about ties and unjudged results: to_text(verbose=True)",
            methods=self.methods,
        )

    def _tables(self, label: str, look: Look) -> list[Table]:
        """Return the table of collections and systems, then those of means with ranks."""
        format, rows = NumberFormat(self._compared[label], look), []
        measure, boards = self._first.labels[label], self.boards[label]
        means = {board.name: {s: of.estimate for s, of in board.means.items()} for board in boards}
        for name, row in [*self.values(label).items(), *means.items()]:
            numbers = [row.get(system, math.nan) for system in self.systems]
            cells = format.values(numbers)
            bold = best(numbers, cells, measure)
            rows.append([name, *(Bold(cell) if cell in bold else cell for cell in cells)])
        tables = [Table([format.name, *self.systems], rows)]
        for board in boards:
            runs = list(dict.fromkeys([*(place.run for place in board.places), *self.systems]))
            ranks = {p.run: rank_range(p.rank_low, p.rank_high) for p in board.places}
            intervals = [board.means.get(run, UNDEFINED) for run in runs]
            texts, ends = format.with_intervals([of.estimate for of in intervals], intervals)
            columns = runs, [ranks.get(run, "–") for run in runs], texts, ends
            header = [format.name, "rank", board.name, Left(f"{percent_of(self.level)} CI")]
            tables.append(Table(header, list(zip(*columns, strict=True))))
        return tables
