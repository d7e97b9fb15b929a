"""Numbers of each query that any tool computed, to be compared: from dicts, tables and files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import polars as pl

from judged.arrays import Floats
from judged.errors import InputError, quoted
from judged.inputs.agreement import few
from judged.inputs.columns import called, candidates, shown_header
from judged.inputs.dicts import as_id
from judged.inputs.formats import distinct_names, is_number, named_file
from judged.inputs.keyed import Sheet, names_columns, read_sheet
from judged.inputs.tables import Kind
from judged.text import Warned, counted, listed, quote

if TYPE_CHECKING:
    from judged.options import ValuesLike

VALUES = Kind(
    "values of queries",
    "value",
    "{run: {query: value}}, {run: {measure: {query: value}}}, a table or files",
)
_GIVEN = "the values given"
_UNNAMED_MEASURE = "value"
_KEY = ["run", "measure", "query"]
_SCHEMA = {**dict.fromkeys((*_KEY, "place"), pl.String), "value": pl.Float64}
_NOT_ZERO = "A system that did not run is not a system that scored zero."
UNWEIGHTED = (
    "The weights of queries are not read from here: every query counts once, unless weights "
    "are given."
)
_NAMES = {
    "run": (
        *("run", "run_id", "run_name", "system", "system_id", "system_name", "model"),
        *("model_name", "retriever", "engine", "pipeline", "variant", "method"),
    ),
    "measure": ("measure", "metric", "measure_name", "metric_name"),
    "value": ("value", "score", "measure_value", "metric_value", "result"),
}
_UNSURE_NAMES = {"run": ("name", "tag")}  # names of a run if no other column is one
_RANGES = ("worst", "expected", "best", "low", "high", "unjudged irrelevant", "unjudged relevant")
_NO_MEASURES = (
    *("num_q", "num_ret", "num_rel", "num_nonrel_judged_ret", "runid", "relstring", "warning"),
)
"""Lines of trec_eval that are not measures."""
_STEMS = (
    *("m?ap", "gm?_?map", "alpha[-_]?n?dcg", "n?dcg", "s?dcg", "n?dcg_cut", "map_cut", "ndcg_rel"),
    *("rndcg", "m?rr", "recip_rank", "reciprocal_rank", "r-?prec", "rprec_mult", "bpref", "infap"),
    *("n?err", "n?err-ia", "rbp", "bpm", "inst", "success", "hits?", "hit_?rate", "accuracy"),
    *("recall", "precision", "set_[a-z_]+", "relative_p", "f1", "judged", "unj", "auroc", "auc"),
    *("11pt_avg", "iprec(_at_recall)?", "bing", "num_[a-z_]+", "num(rel|ret|q|relret)", "runid"),
    *("relstring", "utility", "rank", "[prfg](?=[@(])", "(?-i:[PRFG](?=_))"),
)
_MEASURE = re.compile(
    rf"(?:{'|'.join(_STEMS)})(?:\(.*\))?(?:[@_]\d+(?:\.\d+)?)?(?:\(.*\))?", re.IGNORECASE
)


@dataclass(frozen=True, eq=False)
class QueryValues:
    """A number of each query for each run and measure; every run has the same queries."""

    frame: pl.DataFrame
    """Columns run, measure and query (texts) and value (never NaN), each key once."""
    source: str = _GIVEN
    notes: tuple[str, ...] = ()
    higher_is_better: Mapping[str, bool] = field(default_factory=dict)
    in_full: Mapping[str, str] = field(default_factory=dict)
    """judged's full names of measures, if the file has them: AP(aggregate=geometric) for GMAP."""

    @property
    def runs(self) -> tuple[str, ...]:
        return tuple(self.frame["run"].unique(maintain_order=True))

    @property
    def measures(self) -> tuple[str, ...]:
        return tuple(self.frame["measure"].unique(maintain_order=True))

    def of(self, measure: str) -> tuple[tuple[str, ...], Floats]:
        """Return the queries of a measure, and their values with a column for each run."""
        rows = self.frame.filter(pl.col("measure") == measure)
        queries = rows["query"].unique(maintain_order=True)
        runs = pl.Series("run", self.runs, dtype=pl.String)
        for name, known in (("query", queries), ("run", runs)):
            numbers = pl.Series(f"{name} number", range(len(known)), dtype=pl.Int64)
            rows = rows.join(pl.DataFrame([known, numbers]), on=name)
        ordered = rows.sort("query number", "run number")["value"].to_numpy()
        return tuple(queries), ordered.reshape(len(queries), len(runs))


_Row = tuple["str | None", "str | None", Any, str, Any]  # run, measure, query, place and value


@dataclass(eq=False)
class _Part:
    """The values of one table, file or dict, as they were given."""

    rows: Iterable[_Row]
    source: str
    notes: list[str] = field(default_factory=list)
    wide: tuple[str, ...] = ()  # names that may be runs or measures; in `rows` they are runs
    tag: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Policy and measures with which the values were computed, if known."""
    user_name: str | None = None
    name: str = "run"  # the name of the run if it has no other

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The values as numbers; unnamed runs and measures, and missing values, are null."""
        checked = []
        for run, measure, key, place, given in self.rows:
            query = as_id(key, self.source)
            is_missing = given is None or (isinstance(given, str) and not given.strip())
            value = None if is_missing else _number_of(given)
            if not is_missing and (value is None or value != value):
                where = f" in run {run!r}" if run else f" of {measure!r}" if measure else ""
                what = f"no number: {quoted(given)}."
                if value is not None:
                    what = "NaN; give a number, or leave the query out of all runs."
                raise InputError(f"{place}: the value of query {query!r}{where} is {what}")
            checked.append((run, measure, query, place, value))
        return pl.DataFrame(checked, schema=_SCHEMA, orient="row")


def values_of(given: ValuesLike, *, measure_name: str | None = None) -> QueryValues:
    """Read numbers of each query; incomplete ones are an error."""
    if isinstance(given, QueryValues):
        return given
    if measure_name is not None and (not isinstance(measure_name, str) or not measure_name.strip()):
        raise InputError(f"measure_name must be a text; got {quoted(measure_name)}.")
    parts = list(_parts(given))
    source = listed([part.source for part in parts]) if len(parts) < 4 else "the files given"
    frame = _without_missing(_joined(parts, measure_name), notes := _notes(parts), source)
    _refuse_incomplete(frame, source)
    measures = {
        name: measure
        for part in parts
        for name, measure in part.settings.get("measures", {}).items()
    }
    return QueryValues(
        frame,
        source,
        tuple(notes),
        {
            name: bool(about["higher_is_better"])
            for name, about in measures.items()
            if "higher_is_better" in about
        },
        {name: about["name"] for name, about in measures.items() if "name" in about},
    )


def _parts(given: Any) -> Iterator[_Part]:
    if isinstance(given, (str, PathLike)):
        given = [given]
    if isinstance(given, Mapping) and any(map(_is_table, given.values())) and "runs" not in given:
        for key, values in given.items():
            run = as_id(key, _GIVEN)
            yield _part(values, run, run, f"the values of run {run!r}")
    elif (
        isinstance(given, (list, tuple))
        and given
        and all(isinstance(file, (str, PathLike)) for file in given)
    ):
        files = list(map(named_file, given))
        for (user_name, file), name in zip(files, distinct_names(files), strict=True):
            yield _part(fspath(file), user_name, name, _GIVEN)
    else:
        yield _part(given, None, "run", _GIVEN)


def _is_table(given: Any) -> bool:
    """Return whether this is a table or a file, not a value or a dict of values."""
    if isinstance(given, str):
        return not is_number(given.strip())
    return isinstance(given, (PathLike, Iterable)) and not isinstance(given, (bytes, Mapping))


def _part(given: Any, user_name: str | None, name: str, label: str) -> _Part:
    sheet = read_sheet(given, VALUES, label, names_columns)
    part = _part_of_table(sheet) if isinstance(sheet, Sheet) else _part_of_dict(*sheet)
    part.user_name, part.name = user_name, name
    return part


def _joined(parts: Sequence[_Part], measure_name: str | None) -> pl.DataFrame:
    """Return the values of all parts with a run and a measure in each row."""
    tags = [part.tag for part in parts]
    frames, used = [], False
    for at, part in enumerate(parts):
        frame = part.frame
        if part.wide and not _wide_are_runs(part, measure_name):
            frame = frame.with_columns(pl.col("run").alias("measure"), run=pl.lit(None, pl.String))
        runs = frame["run"].unique(maintain_order=True).drop_nulls()
        tag = part.tag if part.tag is not None and tags.count(part.tag) == 1 else None
        if part.user_name is not None and len(runs) > 1:
            raise InputError(
                f"{part.source}: is called {part.user_name!r}, but holds the runs "
                f"{few(runs.to_list())}; leave the name out."
            )
        if part.user_name is not None or len(runs) < 1:
            frame = frame.with_columns(run=pl.lit(part.user_name or tag or part.name))
        used = used or bool(frame["measure"].null_count())
        measure = pl.col("measure").fill_null(measure_name or _UNNAMED_MEASURE)
        frames.append(frame.with_columns(measure, part=pl.lit(at)))
    joined = pl.concat(frames, how="vertical_relaxed")
    if measure_name is not None and not used:
        names = joined["measure"].unique(maintain_order=True).to_list()
        raise InputError(
            f"measure_name is {measure_name!r}, but the values say themselves which measures they "
            f"are of ({few(names)}); leave it out."
        )
    again = joined.filter(~pl.struct(_KEY).is_first_distinct())
    if again.height:
        run, measure, query, place, *_ = again.row(0)
        earlier = joined.filter(pl.col("run") == run)["part"][0]
        raise InputError(
            f"{place}: query {query!r} has a value of {measure!r} in run {run!r} already, in "
            f"{parts[earlier].source}. Give each query one value, and each run a name of its own, "
            "as in NAME=FILE."
        )
    return joined.select(*_KEY, "value")


def _wide_are_runs(part: _Part, measure_name: str | None) -> bool:
    """Return whether the columns of a wide table are runs, not measures of one run."""
    measures = [name for name in part.wide if is_measure(name)]
    if part.user_name is not None or len(measures) == len(part.wide):
        return measure_name is not None and part.user_name is None
    if measures and measure_name is None:
        raise InputError(
            f"{part.source}: these may be runs or measures: {quote(measures[0], 30)} is the name "
            "of a measure, others are not. If they are runs, give measure_name (--measure-name); "
            "if measures, name the run: NAME=FILE, or a column run."
        )
    return True


def _notes(parts: Sequence[_Part]) -> list[str]:
    notes = [note for part in parts for note in part.notes]
    known = [part for part in parts if part.settings]
    for part in known[1:]:
        first = known[0]
        for name, one in first.settings["measures"].items():
            other = part.settings["measures"].get(name, one)
            if one.get("parameters") != other.get("parameters"):
                raise InputError(
                    f"{first.source} and {part.source}: {name} is not the same measure in both; "
                    "evaluate all runs with the same convention."
                )
        if first.settings["policy"] != part.settings["policy"]:
            notes.append(
                Warned(
                    f"{first.source} and {part.source} were evaluated under different policies: a "
                    "difference may come from that."
                )
            )
    return list(dict.fromkeys(notes))


def _without_missing(frame: pl.DataFrame, notes: list[str], source: str) -> pl.DataFrame:
    present = frame.filter(pl.col("value").is_not_null())
    if not present.height:
        raise InputError(f"{source}: holds no values.")
    runs = frame["run"].unique(maintain_order=True)
    if len(silent := runs.filter(~runs.is_in(present["run"].implode()))):
        raise InputError(f"{source}: run {silent[0]!r} has no values. {_NOT_ZERO}")
    lost = frame.join(present, on=["measure", "query"], how="anti", maintain_order="left")
    measures: dict[tuple[str, ...], list[str]] = {}
    for (measure,), rows in lost.group_by("measure", maintain_order=True):
        queries = tuple(rows["query"].unique(maintain_order=True))
        measures.setdefault(queries, []).append(str(measure))
    for queries, names in measures.items():
        which = counted(len(queries), "query", "queries")
        of = listed(names) if len(names) < 5 else f"{len(names):,} measures"
        notes.append(f"{which} without a value of {of} in any run left out ({few(queries)}).")
    return present


def _refuse_incomplete(frame: pl.DataFrame, source: str) -> None:
    """Raise an error unless every run has every measure, and of each the same queries."""
    every = (
        frame.select("run")
        .unique(maintain_order=True)
        .join(frame.select("measure", "query").unique(maintain_order=True), how="cross")
    )
    lacking = every.join(frame, on=_KEY, how="anti", maintain_order="left")
    if not lacking.height:
        return
    run, measure, query = lacking.select(_KEY).row(0)
    of_measure = frame.filter(pl.col("measure") == measure)
    other = of_measure.filter(pl.col("query") == query)["run"][0]
    lost = lacking.filter((pl.col("run") == run) & (pl.col("measure") == measure))["query"]
    which = counted(len(lost), "query", "queries")
    raise InputError(
        f"{source}: run {run!r} has no value of {measure!r} for {which} that run {other!r} has "
        f"({few(lost.to_list())}); give all runs the same queries, or leave these out of all."
    )


def is_measure(name: str) -> bool:
    return _MEASURE.fullmatch(name.strip()) is not None


def _number_of(given: Any) -> float | None:
    """Return a number of Python, or one in a text; None for anything else."""
    if isinstance(given, str):
        text = given.strip(" \t")
        return float(text) if is_number(text) else None
    if isinstance(given, bool) or not isinstance(given, Real):
        return None
    try:
        return float(given)
    except (OverflowError, ValueError):
        return None


# -- dicts


def _part_of_dict(content: Mapping[Any, Any], source: str) -> _Part:
    if not content:
        raise InputError(f"{source}: holds no values.")
    if isinstance(content.get("runs"), list) and "judged" in content:
        return _part_of_judged(content, source)
    inner = list(content.values())
    if not any(isinstance(values, Mapping) for values in inner):
        return _Part([(None, None, key, source, value) for key, value in content.items()], source)
    _refuse_other_than_dicts(content, source)
    if not any(isinstance(value, Mapping) for values in inner for value in values.values()):
        rows = list(_two_levels(content, source))
        runs = dict.fromkeys(run for run, *_ in rows if run is not None)
        return _Part(rows, source, wide=tuple(runs))
    rows = []
    for run, values in content.items():
        name = as_id(run, source)
        rows += _two_levels(values, f"{source}, run {name!r}", name)
    return _Part(rows, source)


def _refuse_other_than_dicts(content: Mapping[Any, Any], source: str) -> None:
    for key, values in content.items():
        if not isinstance(values, Mapping):
            raise InputError(
                f"{source}: {key!r} is {quoted(values)}, where others are dicts. "
                f"{VALUES.phrase.capitalize()} are {VALUES.columns}."
            )
        if not values:
            raise InputError(f"{source}: {key!r} has no values. {_NOT_ZERO}")


def _two_levels(content: Mapping[Any, Any], source: str, run: str | None = None) -> Iterator[_Row]:
    """Yield the values of {measure: {query: value}} or {query: {measure: value}} of a run."""
    _refuse_other_than_dicts(content, source)
    outer = [as_id(key, source) for key in content]
    inner = {as_id(key, source) for values in content.values() for key in values}
    by_query = all(map(is_measure, inner)) and not any(map(is_measure, outer))
    for name, values in zip(outer, content.values(), strict=True):
        for key, value in values.items():
            if by_query:
                yield run, as_id(key, source), name, source, value
            elif run is None:
                yield name, None, key, source, value
            else:
                yield run, name, key, source, value


def _part_of_judged(content: Mapping[Any, Any], source: str) -> _Part:
    rows: list[_Row] = []
    notes: list[str] = [Warned(f"{source}: {text}") for text in content.get("warnings", ())]
    for run in content["runs"]:
        if "per_query" not in run:
            raise InputError(
                f"{source}: holds no values of queries, only their summary; write it with "
                "per_query=True (--per-query)."
            )
        if run.get("weights"):
            notes.append(Warned(f"{source}: {UNWEIGHTED}"))
        for query, values in run["per_query"].items():
            rows += [(run["name"], measure, query, source, x) for measure, x in values.items()]
    if not rows:
        raise InputError(f"{source}: holds no values.")
    settings = {"policy": content.get("policy"), "measures": content.get("measures", {})}
    return _Part(rows, source, notes, settings=settings)


# -- tables


def _part_of_table(sheet: Sheet) -> _Part:
    """Read a long table, with a row for each value, or a wide one."""
    frame, header, source = sheet.frame, sheet.header, sheet.source
    if not sheet.headed:
        return _without_header(sheet)
    query = _column("query", header, source)
    if query is None:
        raise InputError(
            f"{source}: a column with the ids of queries is needed, called query_id, qid or query; "
            f"the columns are {shown_header(header)}."
        )
    run, measure, value = (
        _column(role, [name for name in header if name != query], source)
        for role in ("run", "measure", "value")
    )
    if candidates("item", header) and value is not None:
        raise InputError(
            f"{source}: this looks like a run (query, item, score), not like values of queries; "
            "evaluate it with judgements first."
        )
    rest = [name for name in header if name not in (query, run, measure if value else None, value)]
    notes: list[str] = [
        Warned(f"{source}: {text.removeprefix('warning:').strip()}") for text in sheet.remarks
    ]
    queries, runs = sheet.ids(query, "query"), _labels(sheet, run, "run")
    places = list(map(sheet.place, range(frame.height)))
    if value is not None:
        measures = _labels(sheet, measure, "measure")
        cells = frame[value].to_list()
        notes += [_not_read(source, rest)] if rest else []
        return _Part(zip(runs, measures, queries, places, cells, strict=True), source, notes)
    if run is not None and "weight" in rest:
        notes.append(Warned(f"{source}: {UNWEIGHTED}"))
        rest.remove("weight")
    unread = {header[at] for at in candidates("query", header)}
    unread |= {name for name in rest if name.strip().lower() in ("", "unnamed: 0")}
    unread |= {name for name in rest if _is_range(name, header)}
    if left := [name for name in rest if name in unread]:
        notes.append(_not_read(source, left))
    names = [name for name in rest if name not in unread]
    if not names:
        raise InputError(f"{source}: no column has values; the columns are {shown_header(header)}.")
    rows = [
        (owner, name, query_id, place, cell) if run else (name, None, query_id, place, cell)
        for name in names
        for owner, query_id, place, cell in zip(
            runs, queries, places, frame[name].to_list(), strict=True
        )
    ]
    return _Part(rows, source, notes, wide=() if run else tuple(names))


def _column(role: str, header: Sequence[str], source: str) -> str | None:
    if role == "query":
        columns = [header[at] for at in candidates("query", header)[:1]]
    else:
        columns = called(_NAMES[role], header) or called(_UNSURE_NAMES.get(role, ()), header)
    if len(columns) > 1:
        two = " and ".join(quote(name, 30) for name in columns[:2])
        raise InputError(f"{source}: the columns {two} may both be the {role}; leave one out.")
    return columns[0] if columns else None


def _not_read(source: str, names: Sequence[str]) -> str:
    return f"{source}: not read: column{'s' if len(names) > 1 else ''} {shown_header(names)}."


def _labels(sheet: Sheet, column: str | None, role: str) -> Sequence[str | None]:
    if column is None:
        return [None] * sheet.frame.height
    cells = sheet.frame[column]
    if cells.dtype not in (pl.Object, pl.String):  # measures of ir_measures are objects
        return sheet.ids(column, role).to_list()
    labels = ["" if cell is None else str(cell).strip() for cell in cells]
    if "" in labels:
        raise InputError(f"{sheet.place(labels.index(''))}: the {role} is missing.")
    return labels


def _is_range(name: str, header: Sequence[str]) -> bool:
    """Return whether a column is an end of the range of another, as "AP worst" of "AP"."""
    ends = (f" {end}" for end in _RANGES)
    return any(name.endswith(end) and name.removesuffix(end) in header for end in ends)


def _without_header(sheet: Sheet) -> _Part:
    """Read query and value, or the three fields that trec_eval and ir_measures print."""
    cells = [[cell.strip() for cell in column] for column in sheet.frame]
    places = list(map(sheet.place, range(sheet.frame.height)))
    if len(cells) == 2:
        ids = sheet.ids(sheet.header[0], "query")
        rows = zip(ids, places, cells[1], strict=True)
        return _Part([(None, None, *row) for row in rows], sheet.source)
    if len(cells) != 3:
        raise InputError(
            f"{sheet.place(0)}: the first line has to name the columns, such as run, query, "
            f"measure and value; found {quote(' '.join(sheet.frame.row(0)))}."
        )
    first, second = set(cells[0]), set(cells[1])
    of_trec_eval, of_ir_measures = (
        any(map(is_measure, one)) and not any(map(is_measure, other - {"all"}))
        if ("all" in first) == ("all" in second)
        else "all" in other
        for one, other in ((first, second), (second, first))
    )
    if of_trec_eval == of_ir_measures:
        raise InputError(
            f"{sheet.place(0)}: of the three fields, either of the first two may be the measure; "
            "name the columns in a first line, such as measure, query and value."
        )
    measures, queries = cells[:2] if of_trec_eval else (cells[1], cells[0])
    return _printed(list(zip(measures, queries, places, cells[2], strict=True)), sheet.source)


def _printed(lines: Sequence[tuple[str, str, str, str]], source: str) -> _Part:
    """Read the lines that trec_eval, ir_measures or judged print, without their summaries."""
    tags = [value for measure, *_, value in lines if measure == "runid"]
    if len(tags) > 1:
        raise InputError(f"{source}: holds several runs; give each run in a file of its own.")
    summary = [line for line in lines if line[1] == "all"]
    notes: list[str] = [
        Warned(f"{source}: {value}") for measure, *_, value in summary if measure == "warning"
    ]
    rows = [(None, *line) for line in lines if line[1] != "all" and line[0] not in _NO_MEASURES]
    if not rows:
        raise InputError(
            f"{source}: holds no values of queries, only a summary; print them with -q."
        )
    unread = dict.fromkeys(
        line[0] for line in lines if line[1] != "all" and line[0] in _NO_MEASURES
    )
    if unread:
        notes.append(f"{source}: not read, because these are no measures: {listed([*unread])}.")
    decimals = [value for *_, value in rows if "." in value]
    if decimals and all(re.search(r"\.\d{4}$", value) for value in decimals):
        notes.append(f"{source}: the values are rounded to four decimals.")
    return _Part(rows, source, notes, tag=tags[0] if tags else None)
