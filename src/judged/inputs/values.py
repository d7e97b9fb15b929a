"""Numbers of each query that any tool computed, to be compared: from dicts, tables and files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from numbers import Real
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import polars as pl

from judged.arrays import Floats
from judged.errors import InputError, quoted
from judged.inputs.agreement import apart, few
from judged.inputs.columns import candidates, plain, shown_header
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
_SCHEMA = {
    "run": pl.String,
    "measure": pl.String,
    "query": pl.String,
    "value": pl.Float64,
    "row": pl.Int64,
}
_NOT_ZERO = "A system that did not run is not a system that scored zero."
UNWEIGHTED = (
    "The weights of queries are not read from here: every query counts once, unless weights "
    "(--weights) are given."
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
_COUNTS = ("num_q", "num_ret", "num_rel", "num_nonrel_judged_ret")
_WORDS = ("runid", "relstring", "warning")  # lines of trec_eval that are no measures
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


@dataclass(frozen=True, eq=False)
class _Part:
    """The values of one table, file or dict."""

    frame: pl.DataFrame
    """Columns of `_SCHEMA`; unnamed runs and measures, and missing values, are null."""
    place: Callable[[int], str]
    source: str
    notes: tuple[str, ...] = ()
    wide: tuple[str, ...] = ()  # names that may be runs or measures; in `frame` they are runs
    tag: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Policy and measures with which the values were computed, if known."""
    user_name: str | None = None
    name: str = "run"  # the name of the run if it has no other


def values_of(given: ValuesLike, *, measure_name: str | None = None) -> QueryValues:
    """Read numbers of each query; incomplete ones are an error."""
    if isinstance(given, QueryValues):
        return given
    if measure_name is not None and (not isinstance(measure_name, str) or not measure_name.strip()):
        raise InputError(f"measure_name must be a text; got {quoted(measure_name)}.")
    parts = list(_parts(given))
    source = listed([part.source for part in parts]) if len(parts) < 4 else "the files given"
    named = _with_names(parts, measure_name)
    frame = _without_missing(_joined(named), notes := _notes(parts), source)
    _refuse_incomplete(frame, source)
    measures = [
        (name, measure)
        for part in parts
        for name, measure in part.settings.get("measures", {}).items()
    ]
    return QueryValues(
        frame,
        source,
        tuple(notes),
        {name: bool(m["higher_is_better"]) for name, m in measures if "higher_is_better" in m},
        {name: m["name"] for name, m in measures if isinstance(m.get("name"), str)},
    )


def _parts(given: Any) -> Iterator[_Part]:
    if isinstance(given, (str, PathLike)):
        given = [given]
    if isinstance(given, Mapping) and not _is_nested(given):
        for key, values in given.items():
            run = as_id(key, _GIVEN)
            if isinstance(values, (Mapping, Real)) or values is None:
                raise InputError(
                    f"{_GIVEN}: run {run!r} is a {type(values).__name__}, and others are tables or "
                    "files; give all in one form."
                )
            bare = isinstance(values, (list, tuple)) and all(isinstance(x, Real) for x in values)
            if bare or type(values).__module__.partition(".")[0] in ("numpy", "torch"):
                raise InputError(
                    f"{_GIVEN}: run {run!r} has numbers without the ids of their queries, which "
                    "cannot be aligned with those of others; give {query: value}."
                )
            yield _part(values, run, run, f"the values of run {run!r}")
    elif (
        isinstance(given, (list, tuple))
        and given
        and all(isinstance(file, (str, PathLike)) for file in given)
    ):
        files = [named_file(file) if isinstance(file, str) else (None, file) for file in given]
        for (user_name, file), name in zip(files, distinct_names(files), strict=True):
            yield _part(fspath(file), user_name, name, _GIVEN)
    else:
        yield _part(given, None, "run", _GIVEN)


def _is_nested(given: Mapping[Any, Any]) -> bool:
    """Return whether a dict holds the values themselves, not tables or files."""
    return not any(
        (isinstance(value, str) and not is_number(value.strip()))
        or isinstance(value, PathLike)
        or hasattr(value, "columns")
        or (isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)))
        for value in given.values()
    ) or ("judged" in given and "runs" in given)


def _part(given: Any, user_name: str | None, name: str, label: str) -> _Part:
    table = read_sheet(given, VALUES, label, names_columns)
    if isinstance(table, Sheet):
        part = _part_of_table(table)
    else:
        part = _part_of_dict(*table)
        unnamed = part.frame["run"].null_count() and part.frame["measure"].null_count()
        if isinstance(given, Mapping) and user_name is None and unnamed:
            raise InputError(
                f"{part.source}: these are numbers without a run or a query; {VALUES.phrase} are "
                f"{VALUES.columns}."
            )
    return replace(part, user_name=user_name, name=name)


def _with_names(parts: Sequence[_Part], measure_name: str | None) -> list[_Part]:
    """Return the parts with a run and a measure in each row."""
    tags = [part.tag for part in parts]
    named, used = [], False
    for part in parts:
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
        named.append(replace(part, frame=frame.with_columns(measure)))
    if measure_name is not None and not used:
        names = dict.fromkeys(name for part in named for name in part.frame["measure"].unique())
        raise InputError(
            f"measure_name is {measure_name!r}, but the values say themselves which measures they "
            f"are of ({few(list(names))}); leave it out."
        )
    return named


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


def _joined(parts: Sequence[_Part]) -> pl.DataFrame:
    frame = pl.concat(
        [part.frame.with_columns(part=pl.lit(at)) for at, part in enumerate(parts)],
        how="vertical_relaxed",
    )
    again = frame.filter(~pl.struct(_KEY).is_first_distinct())
    if again.height:
        run, measure, query, _, row, at = again.row(0)
        owners = frame.filter(pl.col("run") == run)["part"].unique(maintain_order=True)
        if len(owners) > 1:
            raise InputError(
                f"two runs are called {run!r} ({parts[owners[0]].source} and {parts[at].source}); "
                "give each a name of its own, as in NAME=FILE."
            )
        raise InputError(
            f"{parts[at].place(row)}: query {query!r} has a value of {measure!r} in run {run!r} "
            "already; give each query one."
        )
    return frame.select(*_KEY, "value")


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
    ours = of_measure.filter(pl.col("run") == run)["query"].to_list()
    other = of_measure.filter(pl.col("query") == query)["run"][0]
    theirs = of_measure.filter(pl.col("run") == other)["query"].to_list()
    if ours and set(ours).isdisjoint(theirs):
        words = apart(ours, theirs, f"Run {run!r} has values")
        raise InputError(
            f"{source}: the runs {run!r} and {other!r} have no query in common. {words}"
        )
    lost = lacking.filter((pl.col("run") == run) & (pl.col("measure") == measure))["query"]
    which = counted(len(lost), "query", "queries")
    raise InputError(
        f"{source}: run {run!r} has no value of {measure!r} for {which} that run {other!r} has "
        f"({few(lost.to_list())}); give all runs the same queries, or leave these out of all."
    )


def is_measure(name: str) -> bool:
    return _MEASURE.fullmatch(name.strip()) is not None


def all_measures(names: Iterable[str]) -> bool:
    measures = map(is_measure, names)
    return next(measures, False) and all(measures)


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


def _no_number(query: str, given: Any, where: str = "") -> str:
    what = f"the value of query {query!r}{where} is"
    if given != given or _number_of(given) is not None:
        return (
            f"{what} NaN; give a number, or leave the query out of all runs (an empty cell, or no "
            "row)."
        )
    return f"{what} no number: {quoted(given)}."


_Leaf = tuple["str | None", "str | None", Any, Any]  # run, measure, query and value


def _part_of_leaves(
    leaves: Iterable[_Leaf],
    source: str,
    notes: Iterable[str] = (),
    *,
    sheet: Sheet | None = None,
    rows: Sequence[int] | None = None,
    **fields: Any,
) -> _Part:
    """Check the values; those of a `sheet` are in these `rows` of it, by default in all."""
    height = 1 if sheet is None else sheet.frame.height

    def place(at: int) -> str:
        return source if sheet is None else sheet.place(rows[at] if rows else at % height)

    checked = []
    for at, (run, measure, key, given) in enumerate(leaves):
        query = as_id(key, source)
        is_missing = given is None or (isinstance(given, str) and not given.strip())
        value = None if is_missing else _number_of(given)
        if not is_missing and (value is None or value != value):
            where = f" in run {run!r}" if run else f" of {measure!r}" if measure else ""
            raise InputError(f"{place(at)}: {_no_number(query, given, where)}")
        checked.append((run, measure, query, value, at))
    frame = pl.DataFrame(checked, schema=_SCHEMA, orient="row")
    return _Part(frame, place, source, tuple(notes), **fields)


def _part_of_dict(content: Mapping[Any, Any], source: str) -> _Part:
    if not content:
        raise InputError(f"{source}: holds no values.")
    if isinstance(content.get("runs"), list) and "judged" in content:
        return _part_of_judged(content, source)
    inner = list(content.values())
    if not any(isinstance(values, Mapping) for values in inner):
        return _part_of_leaves([(None, None, *pair) for pair in content.items()], source)
    _refuse_other_than_dicts(content, source)
    if not any(isinstance(value, Mapping) for values in inner for value in values.values()):
        leaves = list(_two_levels(content, source))
        runs = dict.fromkeys(run for run, *_ in leaves if run is not None)
        return _part_of_leaves(leaves, source, wide=tuple(runs))
    leaves = []
    for run, values in content.items():
        name = as_id(run, source)
        leaves += _two_levels(values, f"{source}, run {name!r}", name)
    return _part_of_leaves(leaves, source)


def _refuse_other_than_dicts(content: Mapping[Any, Any], source: str) -> None:
    for key, values in content.items():
        if not isinstance(values, Mapping):
            raise InputError(
                f"{source}: {key!r} is {quoted(values)}, where others are dicts. "
                f"{VALUES.phrase.capitalize()} are {VALUES.columns}."
            )
        if not values:
            raise InputError(f"{source}: {key!r} has no values. {_NOT_ZERO}")


def _two_levels(content: Mapping[Any, Any], source: str, run: str | None = None) -> Iterator[_Leaf]:
    """Yield the values of {measure: {query: value}} or {query: {measure: value}} of a run."""
    _refuse_other_than_dicts(content, source)
    outer = [as_id(key, source) for key in content]
    keys = dict.fromkeys(chain.from_iterable(content.values()))
    inner = dict.fromkeys(as_id(key, source) for key in keys)
    if all_measures(inner) and not any(map(is_measure, outer)):
        for query, values in content.items():
            for key, value in values.items():
                yield run, as_id(key, source), query, value
        return
    for name, values in zip(outer, content.values(), strict=True):
        labels = (name, None) if run is None else (run, name)
        for query, value in values.items():
            yield (*labels, query, value)


def _part_of_judged(content: Mapping[Any, Any], source: str) -> _Part:
    leaves: list[_Leaf] = []
    warnings = content.get("warnings")
    notes = [Warned(f"{source}: {text}") for text in warnings] if isinstance(warnings, list) else []
    for run in content["runs"]:
        if not isinstance(run, Mapping) or not isinstance(run.get("per_query"), Mapping):
            raise InputError(
                f"{source}: holds no values of queries, only their summary; write it with "
                "--per-query."
            )
        if run.get("weights"):
            notes.append(Warned(f"{source}: {UNWEIGHTED}"))
        for query, values in run["per_query"].items():
            leaves += [(run["name"], measure, query, value) for measure, value in values.items()]
    if not leaves:
        raise InputError(f"{source}: holds no values.")
    measures = content.get("measures")
    known = measures if isinstance(measures, Mapping) else {}
    settings = {
        "policy": content.get("policy"),
        "measures": {name: value for name, value in known.items() if isinstance(value, Mapping)},
    }
    return _part_of_leaves(leaves, source, dict.fromkeys(notes), settings=settings)


def _part_of_table(sheet: Sheet) -> _Part:
    if not sheet.headed:
        return _without_header(sheet)
    header, source = sheet.header, sheet.source
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
    rest = [name for name in header if name not in (query, run, measure, value)]
    if measure is not None and value is None:
        raise InputError(
            f"{source}: beside the column {quote(measure)}, a column value is needed; the columns "
            f"are {shown_header(header)}."
        )
    if value is not None:
        return _long(sheet, run, measure, query, value, rest)
    return _wide(sheet, query, run, rest)


def _column(role: str, header: Sequence[str], source: str) -> str | None:
    def called(names: Sequence[str]) -> list[str]:
        known = set(map(plain, names))
        return [name for name in header if plain(name) in known]

    if role == "query":
        columns = [header[at] for at in candidates("query", header)[:1]]
    else:
        columns = called(_NAMES[role]) or called(_UNSURE_NAMES.get(role, ()))
    if len(columns) > 1:
        two = " and ".join(quote(name, 30) for name in columns[:2])
        raise InputError(f"{source}: the columns {two} may both be the {role}; leave one out.")
    return columns[0] if columns else None


def _not_read(sheet: Sheet, names: Sequence[str]) -> str:
    return f"{sheet.source}: not read: column{'s' if len(names) > 1 else ''} {shown_header(names)}."


def _long(
    sheet: Sheet,
    run: str | None,
    measure: str | None,
    query: str,
    value: str,
    rest: Sequence[str] = (),
) -> _Part:
    notes = [_not_read(sheet, rest)] if rest else []
    columns = _labels(sheet, run, "run"), _labels(sheet, measure, "measure")
    leaves = zip(*columns, sheet.ids(query, "query"), sheet.frame[value].to_list(), strict=True)
    return _part_of_leaves(leaves, sheet.source, (*notes, *_remarks(sheet)), sheet=sheet)


def _remarks(sheet: Sheet) -> Iterator[str]:
    warnings = (text.removeprefix("warning:").strip() for text in sheet.remarks)
    return (Warned(f"{sheet.source}: {text}") for text in warnings)


def _labels(sheet: Sheet, name: str | None, role: str) -> Sequence[str | None]:
    if name is None:
        return [None] * sheet.frame.height
    cells = sheet.frame[name]
    if cells.dtype in (pl.Object, pl.String):  # measures of ir_measures are objects
        labels = [None if cell is None else str(cell).strip() for cell in cells]
        sheet = sheet.with_columns(pl.DataFrame({name: labels}, schema={name: pl.String}))
    return sheet.ids(name, role).to_list()


def _wide(sheet: Sheet, query: str, run: str | None, rest: Sequence[str]) -> _Part:
    """Read values in several columns: measures if there is a run, else runs or measures."""
    header, notes = sheet.header, list(_remarks(sheet))
    unread_names = {header[at] for at in candidates("query", header)}
    unread_names |= {name for name in header if name.strip().lower() in ("", "unnamed: 0")}
    unread_names |= {name for name in rest if _is_range(name, header)}
    weights = [name for name in rest if run is not None and name == "weight"]
    if weights:
        notes.append(Warned(f"{sheet.source}: {UNWEIGHTED}"))
    if unread := [name for name in rest if name in unread_names]:
        notes.append(_not_read(sheet, unread))
    value_names = [name for name in rest if name not in unread_names and name not in weights]
    if not value_names:
        raise InputError(
            f"{sheet.source}: no column holds values; the columns are {shown_header(header)}."
        )
    queries, owners = sheet.ids(query, "query"), _labels(sheet, run, "run")
    leaves = [
        (owner, name, query_id, cell) if run else (name, None, query_id, cell)
        for name in value_names
        for owner, query_id, cell in zip(owners, queries, sheet.frame[name].to_list(), strict=True)
    ]
    wide = () if run else tuple(value_names)
    return _part_of_leaves(leaves, sheet.source, notes, sheet=sheet, wide=wide)


def _is_range(name: str, header: Sequence[str]) -> bool:
    """Return whether a column is an end of the range of another, as "AP worst" of "AP"."""
    ends = (f" {end}" for end in _RANGES)
    return any(name.endswith(end) and name.removesuffix(end) in header for end in ends)


def _without_header(sheet: Sheet) -> _Part:
    """Read query and value, or the three fields that trec_eval and ir_measures print."""
    cells = [[cell.strip() for cell in sheet.frame[name]] for name in sheet.header]
    if len(cells) == 2:
        return _long(sheet, None, None, *sheet.header)
    if len(cells) != 3:
        raise InputError(
            f"{sheet.place(0)}: the first line has to name the columns, such as run, query, "
            f"measure and value; found {quote(' '.join(sheet.frame.row(0)))}."
        )
    first, second = (set(column) for column in cells[:2])
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
    return _printed(sheet, list(zip(measures, queries, cells[2], strict=True)))


def _printed(sheet: Sheet, lines: Sequence[tuple[str, str, str]]) -> _Part:
    """Read the lines that trec_eval, ir_measures or judged print, without their summaries."""
    source = sheet.source
    tags = [value for measure, _, value in lines if measure == "runid"]
    # judged writes several runs below each other, each under a line with its name.
    run: str | None = None
    notes: list[str] = []
    unread: dict[str, None] = {}
    leaves: list[_Leaf] = []
    rows: list[int] = []
    for row, (measure, query, value) in enumerate(lines):
        if query == "all":
            if measure == "runid":
                run = value
            elif measure == "warning":
                notes.append(Warned(f"{source}: {value}"))
            continue
        if run is None and len(tags) > 1:
            raise InputError(
                f"{source}: holds several runs, whose names are below their values; give each run "
                "in a file of its own."
            )
        if measure in (*_COUNTS, *_WORDS):
            unread[measure] = None
        else:
            leaves.append((run if len(tags) > 1 else None, measure, query, value))
            rows.append(row)
    if not leaves:
        raise InputError(
            f"{source}: holds no values of queries, only a summary; print them with -q."
        )
    if unread:
        notes.append(f"{source}: not read, because these are no measures: {listed([*unread])}.")
    decimals = [value for *_, value in leaves if "." in value]
    if decimals and all(re.search(r"\.\d{4}$", value) for value in decimals):
        notes.append(f"{source}: the values are rounded to four decimals.")
    tag = tags[0] if len(tags) == 1 else None
    return _part_of_leaves(leaves, source, notes, sheet=sheet, rows=rows, tag=tag)
