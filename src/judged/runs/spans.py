"""Evidence as spans of characters in documents, a golden set that survives another chunking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from judged import __version__
from judged.arrays import Floats, Ints, divide, ordinals, starts_of
from judged.errors import InputError, for_caller
from judged.evaluation.warnings import announce_warnings
from judged.inputs import as_runs, read_judgements, read_run
from judged.matching.checks import nothing_in_common
from judged.matching.pool import pool_of
from judged.options import (
    LEVEL,
    JudgementsLike,
    Path,
    PolicyLike,
    RunsLike,
    TableLike,
    checked,
    checked_methods,
    choice,
    whole,
)
from judged.results import Display, Document, Frame, Result, Table, plain_value
from judged.runs.fusion import check_policy, read_distinct
from judged.statistics.intervals import Interval, interval
from judged.statistics.samples import Means, Median
from judged.text import counted, few, shown

if TYPE_CHECKING:
    import polars as pl

    from judged.inputs.spans import SpanTable

TO_ALL = "CharactersToAll"
"""The measure of reading effort, of which lower values are better."""
DEFINITIONS = {
    "SpanRecall": "the share of evidence characters that the first k chunks cover",
    "SpanPrecision": "the share of distinct characters in the first k chunks that are evidence; 0 "
    "if these hold none",
    "IoU": "evidence characters in the first k chunks, divided by the characters that are in these "
    "chunks or evidence",
    TO_ALL: "distinct characters read, chunk after chunk and each from its start, until all "
    "evidence is covered; infinite if the run never covers it, so the summary is the median",
}
"""Each measure, without its cutoff, and its definition."""


@checked
def evaluate_spans(
    judgements: JudgementsLike,
    runs: RunsLike,
    k: int | Sequence[int] = (1, 5, 10),
    *,
    chunks: Path | Mapping[str, Any] | TableLike | None = None,
    judged_chunks: Path | Mapping[str, Any] | TableLike | None = None,
    rel: float = 1,
    level: float = LEVEL,
    policy: PolicyLike | None = None,
) -> SpanEvaluation:
    """Evaluate retrieved chunks by the characters of evidence that they cover.

    Evidence is spans of documents, so one golden set evaluates every chunking. Offsets are
    half-open, [start, end). Overlapping chunks count once, and so do overlapping spans of evidence.
    Offsets may count tokens instead of characters if all tables do.

    Parameters
    ----------
    judgements : JudgementsLike
        Evidence: a table or file with the columns query, doc, start, end and optionally grade, or a
        dict {query: [(document, start, end), …]}. With `judged_chunks`, judgements of chunk ids.
    runs : RunsLike
        Retrieved chunks: tables with the columns query, doc, start, end and score, or dicts {query:
        [(document, start, end), …]}, best first. With `chunks`, runs of chunk ids.
    k : int or list of int, optional
        Numbers of chunks that count.
    chunks : table, dict or file, optional
        The span of each chunk id: columns item, doc, start and end, or {item: (document, start,
        end)}. Runs with different chunks take {run: table}.
    judged_chunks : table, dict or file, optional
        The same for the chunk ids of the judgements, to rebase a golden set of chunks to spans.
    rel : float, optional
        The least grade of evidence.
    level : float, optional
        The confidence level of the intervals.
    policy : PolicyLike, optional
        `missing`, and `ties` (id or input); other choices have no meaning here.

    >>> evidence = {"q": [("terms", 100, 200)]}
    >>> large, small = {"q": [("terms", 0, 400)]}, {"q": [("terms", 100, 150), ("terms", 150, 250)]}
    >>> found = evaluate_spans(evidence, {"large": large, "small": small}, k=[1, 2])
    >>> found.value("SpanRecall@1", "large"), found.value("SpanPrecision@1", "large")
    (1.0, 0.25)
    >>> found.value("SpanRecall@1", "small"), found.value("CharactersToAll", "small")
    (0.5, 100.0)
    """
    import polars as pl

    from judged.inputs.spans import tables_by_run

    chosen = check_policy(policy, "evaluate_spans", "missing", "ties")
    if chosen.ties not in ("id", "input"):
        raise InputError(f"spans break ties by id or by input; got ties={chosen.ties}.")
    cutoffs = [whole("k", one) for one in (k if isinstance(k, (list, tuple)) else [k])]
    if not cutoffs:
        raise InputError("k is empty; give a number of chunks, such as 5.")
    named_runs = as_runs(runs)
    tables = tables_by_run(chunks, [*named_runs])
    golden = _read_evidence(judgements, judged_chunks)
    source, evidence = golden.source, golden.frame.filter(pl.col("value") >= rel)
    queries = evidence["query"].unique(maintain_order=True)
    if not len(queries):
        raise InputError(f"{source}: no span has grade {rel:g} or above, so there is no evidence.")
    warned = []
    if without := _lacking(pl.Series(golden.names, dtype=pl.String), queries):
        which = counted(len(without), "query has", "queries have")
        warned.append(
            f"{which} no evidence of grade {rel:g} or above ({few(without)}). All values leave "
            + for_caller("them out. Lower rel (--rel) if their spans are evidence.")
        )
    number = queries.to_frame().with_row_index("number")
    evidence = evidence.join(number, on="query", maintain_order="left")
    documents = evidence["doc"].unique(maintain_order=True)
    values: dict[str, dict[str, Floats]] = {}
    for given_name, run in named_runs.items():
        name = given_name or "run"
        read = _read_chunks(run, tables.get(given_name), name, queries)
        found = read.frame
        warned += [f"{read.source}: {note}" for note in read.notes]
        absent = _lacking(queries, pl.Series(read.names, dtype=pl.String))
        if len(absent) == len(queries):
            raise InputError(nothing_in_common(source, queries.to_list(), read.source, read.names))
        if absent:
            lacks = f"no results for {len(absent):,} of {len(queries):,} judged queries"
            lacks += f" ({few(absent)}), and missing={chosen.missing}"
            if chosen.missing == "error":
                raise InputError(f"{read.source}: there are {lacks}.")
            effect = "leaves them out" if chosen.missing == "skip" else "counts them as empty lists"
            warned.append(f"{name} has {lacks} {effect}.")
        if golden.scored and not read.scored:
            warned.append(
                f"{source} has scores and {read.source} has none, so scores were taken for grades. "
                "If the two were given in the wrong order, exchange them."
            )
        if unknown := _lacking(documents, found["doc"]):
            verb = "occurs" if len(unknown) == 1 else "occur"
            warned.append(
                f"{len(unknown):,} of {counted(len(documents), 'document')} with evidence never "
                f"{verb} in {name} for judged queries ({few(unknown)}). Their evidence counts as "
                "not retrieved. Check that both use the same document ids."
            )
        found = found.join(number, on="query", maintain_order="left")
        keys = ["item"] if "item" in found.columns else ["doc", "start", "end"]
        keys = keys if chosen.ties == "id" else []
        descending = [False, True, *(key == "item" for key in keys)]  # as evaluate orders ids
        found = found.sort(["number", "value", *keys], descending=descending, maintain_order=True)
        values[name] = _SpanLines.of(evidence, found, len(queries)).measure(cutoffs)
        if chosen.missing == "skip":
            left_out = queries.is_in(absent).to_numpy()
            values[name] = {
                measure: np.where(left_out, np.nan, row) for measure, row in values[name].items()
            }
    names = tuple(queries.to_list())
    return announce_warnings(SpanEvaluation(names, values, rel, level, tuple(warned)))


def _lacking(names: pl.Series, known: pl.Series) -> list[str]:
    return names.filter(~names.is_in(known.unique().implode())).to_list()


def _read_evidence(judgements: Any, chunks: Any) -> SpanTable:
    """Read spans, or judgements of chunks."""
    import polars as pl

    from judged.inputs.spans import CHUNKS, SPANS, SpanTable, read_spans, refuse_empty, with_spans

    if chunks is None:
        return read_spans(judgements, SPANS, "grade")
    pool = pool_of(read_judgements(judgements))
    columns = {
        "query": [pool.queries[at] for at in pool.query],
        "item": pool.items_at(np.arange(len(pool.grades))),
        "value": pool.grades,
    }
    texts = {"query": pl.String, "item": pl.String}
    frame = pl.DataFrame(columns, schema_overrides=texts)
    frame = with_spans(frame, read_spans(chunks, CHUNKS), pool.name)
    refuse_empty(frame, lambda at: f"{pool.name}, item {frame['item'][at]!r}")
    return SpanTable(frame, pool.name, [*pool.queries], scored=False)


def _read_chunks(run: Any, chunks: SpanTable | None, name: str, queries: pl.Series) -> SpanTable:
    """Read a run of spans, or of chunk ids."""
    from judged.inputs.spans import SPANS, SpanTable, read_spans, with_spans

    if chunks is None:
        spans = read_spans(run, SPANS, "score")
        judged = spans.frame["query"].is_in(queries.implode())
        return spans._replace(frame=spans.frame.filter(judged))
    read = read_run(run, name=name)
    frame = read_distinct(read, "error").frame
    frame = frame.filter(frame["query"].is_in(queries.implode()))
    frame = with_spans(frame.select("query", "item", value="score"), chunks, read.source)
    return SpanTable(frame, read.source, read.names(), scored=True)


# -- computing


@dataclass(frozen=True, eq=False)
class _SpanLines:
    """Evidence and chunks on one line, where each document of each query has a place of its own."""

    queries: int  # number of queries
    query: Ints
    start: Ints  # ascending
    end: Ints
    rank: Ints  # 0 for evidence
    before: Ints  # characters in the better chunks of the query, repeated ones included

    @classmethod
    def of(cls, evidence: pl.DataFrame, chunks: pl.DataFrame, queries: int) -> _SpanLines:
        """Lay out evidence, and chunks in the order of queries and ranks."""
        import polars as pl

        owner = chunks["number"].to_numpy().astype(np.int64)
        length = (chunks["end"] - chunks["start"]).to_numpy()
        read = np.append(0, np.cumsum(length))
        first = starts_of(np.bincount(owner, minlength=queries))
        names = ["number", "doc", "start", "end"]
        spans = pl.concat([evidence.select(names), chunks.select(names)])
        lines = spans.group_by("number", "doc", maintain_order=True).agg(pl.col("end").max())
        lines = lines.select("number", "doc", place=pl.col("end").cum_sum() - pl.col("end"))
        spans = spans.join(lines, on=["number", "doc"], how="left", maintain_order="left")
        place = spans["place"].to_numpy()
        start = spans["start"].to_numpy() + place
        order = np.argsort(start, kind="stable")
        nothing = np.zeros(len(evidence), np.int64)
        return cls(
            queries,
            spans["number"].to_numpy().astype(np.int64)[order],
            start[order],
            (spans["end"].to_numpy() + place)[order],
            np.append(nothing, ordinals(owner, queries))[order],
            np.append(nothing, read[:-1] - read[first[owner]])[order],
        )

    def count(self, ends: Ints) -> Floats:
        """Count the distinct characters of each query in the spans from `start` to these ends."""
        reached = np.append(0, np.maximum.accumulate(ends)[:-1])
        gained = np.maximum(ends - np.maximum(self.start, reached), 0)
        return np.bincount(self.query, gained, self.queries).astype(np.float64, copy=False)

    def cover(self, ends: Ints) -> tuple[Floats, Floats]:
        """Count characters in chunks that are read to these ends, and those in them or evidence."""
        is_chunk = self.rank > 0
        chunks = self.count(np.where(is_chunk, ends, self.start))
        return chunks, self.count(np.where(is_chunk, ends, self.end))

    def measure(self, cutoffs: Iterable[int]) -> dict[str, Floats]:
        """Return the values of all measures for each query."""
        evidence = self.cover(self.start)[1]
        recall, precision, iou = {}, {}, {}
        for k in cutoffs:
            chunks, either = self.cover(np.where(self.rank <= k, self.end, self.start))
            both = chunks + evidence - either
            recall[f"SpanRecall@{k}"] = both / evidence
            precision[f"SpanPrecision@{k}"] = np.nan_to_num(divide(both, chunks))
            iou[f"IoU@{k}"] = both / either
        return {**recall, **precision, **iou, TO_ALL: self.read_all()}

    def read_all(self) -> Floats:
        """Return the characters read until all evidence is covered, found by bisection."""
        least = np.zeros(self.queries, np.int64)
        most = least.copy()
        np.maximum.at(most, self.query, self.before + self.end - self.start)
        chunks, either = self.cover(self.end)
        covered = chunks == either
        while (least < most).any():
            middle = (least + most) // 2
            chunks, either = self.cover(self._read_to(middle))
            enough = chunks == either
            least, most = np.where(enough, least, middle + 1), np.where(enough, middle, most)
            least = np.minimum(least, most)
        return np.where(covered, self.cover(self._read_to(least))[0], np.inf)

    def _read_to(self, characters: Ints) -> Ints:
        """Return the end of each chunk if each query reads a given number of characters."""
        left = np.maximum(characters[self.query] - self.before, 0)
        return np.minimum(self.start + left, self.end)


# -- the result


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class SpanEvaluation(Result):
    """Values of runs on evidence that is spans of documents.

    >>> import judged
    >>> judged.evaluate_spans({"q": [("d", 0, 8)]}, {"q": [("d", 4, 8)]}, k=1).values("IoU@1")
    {'run': {'q': 0.5}}
    """

    DISPLAY: ClassVar[frozenset[str]] = frozenset({"per_query"})

    queries: tuple[str, ...]
    """The queries with evidence."""
    numbers: Mapping[str, Mapping[str, Floats]]
    """The values of the queries, by run and measure; NaN for a query that is left out."""
    rel: float
    """The least grade of evidence."""
    level: float
    """The confidence level of the intervals."""
    warned: tuple[str, ...] = ()
    """Warnings about the data."""

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures."""
        return tuple(next(iter(self.numbers.values())))

    def values(self, measure: str) -> dict[str, dict[str, float]]:
        """Return {run: {query: value}} of a measure, which `judged.compare_values` compares.

        Parameters
        ----------
        measure : str
            The name of a measure, such as "IoU@5".
        """
        choice("measure", measure, self.measures)
        columns = {run: numbers[measure].tolist() for run, numbers in self.numbers.items()}
        return {
            run: {q: value for q, value in zip(self.queries, values, strict=True) if value == value}
            for run, values in columns.items()
        }

    def intervals(self) -> dict[str, dict[str, Interval]]:
        """Return the mean and its confidence interval, by measure and run.

        The summary of CharactersToAll is the median, which may be infinite.
        """
        return {
            measure: {run: self._interval(measure, run) for run in self.numbers}
            for measure in self.measures
        }

    def _interval(self, measure: str, run: str) -> Interval:
        numbers = self.numbers[run][measure]
        kind, highest = (Median, np.inf) if measure == TO_ALL else (Means, 1.0)
        sample = kind.of_values(numbers[~np.isnan(numbers)])
        return interval(sample, level=self.level, range=(0.0, highest))

    def value(self, measure: str, run: str | None = None) -> float:
        """Return the mean of a run over its queries, or the median of CharactersToAll.

        Parameters
        ----------
        measure : str
            The name of a measure, such as "SpanRecall@5".
        run : str, optional
            The name of the run, if there are several.
        """
        choice("measure", measure, self.measures)
        names = [*self.numbers]
        if run is None and len(names) == 1:
            run = names[0]
        return self._interval(measure, choice("run", run, names)).estimate

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Return plain values for JSON.

        Parameters
        ----------
        per_query : bool, optional
            Add the values of each query.
        """
        values: dict[str, Any] = {
            "rel": self.rel,
            "level": self.level,
            "measures": plain_value(self.intervals()),
            "warnings": self.warnings(),
            "judged": __version__,
        }
        if per_query:
            values["queries"] = plain_value(self.to_frame(per_query=True).to_dicts())
        return values

    def to_frame(self, *, per_query: bool = False) -> Frame:
        """Return a row for each measure and run.

        Parameters
        ----------
        per_query : bool, optional
            Return a row for each run and query instead, with a column for each measure.
        """
        import polars as pl

        if per_query:
            frames = (
                pl.DataFrame({"run": run, "query": self.queries, **values})
                for run, values in self.numbers.items()
            )
            return pl.concat(frames).fill_nan(None)
        rows = [
            (measure, run, one.estimate, *(one.low, one.high), one.method)
            for measure, by_run in self.intervals().items()
            for run, one in by_run.items()
        ]
        names = ("measure", "run", "value", "low", "high", "method")
        return pl.DataFrame(rows, schema=names, orient="row").fill_nan(None)

    def document(self, display: Display) -> Document:
        rows = [
            [
                *(measure, run, shown(one.estimate)),
                f"{shown(one.low)} … {shown(one.high)}" if one.known else "–",
                f"{(~np.isnan(self.numbers[run][measure])).sum():,}",
            ]
            for measure, by_run in self.intervals().items()
            for run, one in by_run.items()
        ]
        header = ["measure", "run", "value", f"{100 * self.level:g} % CI", "queries"]
        tables = [Table(header, rows, {"measure", "run"})]
        if display.per_query:
            frame = self.to_frame(per_query=True)
            cells = [[*row[:2], *map(shown, row[2:])] for row in frame.rows()]
            tables.append(Table(frame.columns, cells, {"run", "query"}))
        return Document(
            tables=tables,
            warnings=self.warned,
            details=[
                *(f"{name}: {meaning}." for name, meaning in DEFINITIONS.items()),
                f"Evidence: grade {self.rel:g} or above. Overlapping chunks count once, and so do "
                "overlapping spans of evidence. Values are means over queries.",
            ],
        )
