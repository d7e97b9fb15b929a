"""Numbers of each query that any tool computed, to be compared: from dicts, tables and files."""

from __future__ import annotations

import math
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
from judged.inputs.keyed import Nested, Sheet, names_columns, read_sheet
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
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")


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
    """Columns of `_SCHEMA`; run and measure are null if unnamed, the value if there is none."""
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
        part = _part_of_dict(table)
        unnamed = part.frame["run"].null_count() and part.frame["measure"].null_count()
        if isinstance(given, Mapping) and user_name is None and unnamed:
            raise InputError(
                f"{table.source}: these are numbers without a run or a query; {VALUES.phrase} are "
                f"{VALUES.columns}."
            )
    return replace(part, user_name=user_name, name=name)


def _with_names(parts: Sequence[_Part], measure_name: str | None) -> list[_Part]:
    """Return the parts with a run and a measure in each row."""
    are_runs = _wide_are_runs(parts, measure_name)
    tags = [part.tag for part in parts]
    named, used = [], False
    for part in parts:
        frame = part.frame
        if part.wide and not are_runs[part.source]:
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


def _wide_are_runs(parts: Sequence[_Part], measure_name: str | None) -> dict[str, bool]:
    """Return whether the columns of each wide table are runs, not measures of one run."""
    wide = [part for part in parts if part.wide]
    shared = set.intersection(*(set(part.wide) for part in wide)) if len(wide) > 1 else set()
    are_runs: dict[str, bool] = {}
    for part in wide:
        measures = [name for name in part.wide if is_measure(name)]
        if part.user_name is not None or all_measures(part.wide):
            are_runs[part.source] = measure_name is not None and part.user_name is None
        elif measure_name is not None or not (measures or shared):
            are_runs[part.source] = True
        elif len(wide) > 1 and all(set(part.wide) == set(other.wide) for other in wide):
            are_runs[part.source] = False
        else:
            which = measures or [name for name in part.wide if name in shared]
            raise InputError(
                f"{part.source}: these may be runs or measures: {quote(which[0], 30)} is "
                f"{'the name of a measure' if measures else 'in several files'}, others are not. "
                "If they are runs, give measure_name (--measure-name); if measures, name the run: "
                "NAME=FILE, or a column run."
            )
    return are_runs


def _joined(parts: Sequence[_Part]) -> pl.DataFrame:
    frame = pl.concat(
        [part.frame.with_columns(part=pl.lit(at)) for at, part in enumerate(parts)],
        how="vertical_relaxed",
    )
    again = frame.filter(~pl.struct(_KEY).is_first_distinct())
    if again.height:
        run, measure, query, _, row, at = again.row(0)
        first = frame.filter(
            (pl.col("run") == run) & (pl.col("measure") == measure) & (pl.col("query") == query)
        ).row(0)
        if first[-1] != at:
            raise InputError(
                f"two runs are called {run!r} ({parts[first[-1]].source} and {parts[at].source}); "
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
    runs = frame["run"].unique(maintain_order=True).to_list()
    sizes = frame.group_by("measure", "run").len()
    has = {(measure, run): size for measure, run, size in sizes.iter_rows()}
    every = frame.group_by("measure", maintain_order=True).agg(pl.col("query").n_unique())
    for measure, queries in every.iter_rows():
        owners = [run for run in runs if (measure, run) in has]
        if lacking := next((run for run in runs if run not in owners), None):
            raise InputError(
                f"{source}: run {lacking!r} has no values of {measure!r}, which run {owners[0]!r} "
                "has; give every run the same measures."
            )
        short = next((run for run in runs if has[measure, run] < queries), None)
        if short is not None:
            rows = frame.filter(pl.col("measure") == measure)
            raise InputError(f"{source}: {_lacking_queries(rows, short, measure)}")


def _lacking_queries(frame: pl.DataFrame, run: str, measure: str) -> str:
    queries = frame["query"].unique(maintain_order=True)
    ours = frame.filter(pl.col("run") == run)["query"]
    lost = queries.filter(~queries.is_in(ours.implode())).to_list()
    other = frame.filter(pl.col("query") == lost[0])["run"][0]
    theirs = frame.filter(pl.col("run") == other)["query"]
    if not ours.is_in(theirs.implode()).any():
        words = apart(ours.to_list(), theirs.to_list(), f"Run {run!r} has values")
        return f"the runs {run!r} and {other!r} have no query in common. {words}"
    which = counted(len(lost), "query", "queries")
    return (
        f"run {run!r} has no value of {measure!r} for {which} that run {other!r} has "
        f"({few(lost)}); give all runs the same queries, or leave these out of all."
    )


def is_measure(name: str) -> bool:
    return _MEASURE.fullmatch(name.strip()) is not None


def all_measures(names: Iterable[str]) -> bool:
    measures = map(is_measure, names)
    return next(measures, False) and all(measures)


def _number_of(given: Any) -> float | None:
    """Return a number of Python; JSON has infinity as text. None for anything else."""
    if isinstance(given, str) and given in ("Infinity", "-Infinity"):
        return float(given)
    if isinstance(given, bool) or not isinstance(given, Real):
        return None
    try:
        return float(given)
    except (OverflowError, ValueError):
        return None


def _no_number(query: str, given: Any, where: str = "") -> str:
    what = f"the value of query {query!r}{where} is"
    given = given.to_list() if isinstance(given, pl.Series) else given
    text = given.strip() if isinstance(given, str) else ""
    number = float(text) if is_number(text) else _number_of(given)
    if number is not None and math.isnan(number):
        return (
            f"{what} NaN; give a number, or leave the query out of all runs (an empty cell, or no "
            "row)."
        )
    hint = (
        " Write decimals with a point."
        if _DECIMAL_COMMA.fullmatch(text)
        else " Give numbers, not texts."
        if number is not None
        else " Write 1 and 0."
        if isinstance(given, bool)
        else ""
    )
    return f"{what} no number: {quoted(given)}.{hint}"


_Leaf = tuple["str | None", "str | None", Any, Any]


def _part_of_leaves(leaves: Sequence[_Leaf], source: str, notes: Sequence[str] = ()) -> _Part:
    rows = []
    for number, (run, measure, key, given) in enumerate(leaves):
        query = as_id(key, source)
        value = None if given is None else _number_of(given)
        if given is not None and (value is None or value != value):
            where = "" if run is None else f" in run {run!r}"
            raise InputError(f"{source}: {_no_number(query, given, where)}")
        rows.append((run, measure, query, value, number))
    frame = pl.DataFrame(rows, schema=_SCHEMA, orient="row")
    return _Part(frame, lambda row: source, source, tuple(notes))


def _part_of_dict(given: Nested) -> _Part:
    content, source = given.content, given.source
    if not content:
        raise InputError(f"{source}: holds no values.")
    if isinstance(content.get("runs"), list) and "judged" in content:
        return _part_of_judged(content, source)
    inner = list(content.values())
    if not any(isinstance(values, Mapping) for values in inner):
        return _part_of_leaves([(None, None, *pair) for pair in content.items()], source)
    _refuse_other_than_dicts(content, source)
    if not any(isinstance(value, Mapping) for values in inner for value in values.values()):
        part = _part_of_leaves(list(_two_levels(content, source)), source)
        runs = part.frame["run"].drop_nulls().unique(maintain_order=True)
        return replace(part, wide=tuple(runs))
    leaves: list[_Leaf] = []
    for run, values in content.items():
        name = as_id(run, source)
        leaves += _two_levels(values, f"{source}, run {name!r}", name)
    measures = {str(measure) for _, measure, _, _ in leaves}
    queries = {query for _, _, query, _ in leaves}
    notes = []
    if len(measures) > max(len(queries), 1) and not any(map(is_measure, measures)):
        notes.append(
            Warned(
                f"There are more measures ({len(measures):,}) than queries ({len(queries):,}): "
                "were they given as {run: {query: {measure: value}}}? The order is run, measure, "
                "query."
            )
        )
    return _part_of_leaves(leaves, source, notes)


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
        if len(inner) > len(outer):
            raise InputError(
                f"{source}: what stands where queries do has names of measures "
                f"({few(list(inner))}); give {{run: {{measure: {{query: value}}}}}}."
            )
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
        if isinstance(run, Mapping) and "name" in run and "per_query" not in run:
            raise InputError(
                f"{source}: holds no values of queries, only their summary; write it with "
                "--per-query."
            )
        if not _is_run_of_judged(run):
            raise InputError(
                f"{source}: looks like JSON of judged, but a run is not as judged writes it: "
                f"{quoted(run)}."
            )
        if run.get("weights"):
            notes.append(Warned(f"{source}: {UNWEIGHTED}"))
        for query, values in run["per_query"].items():
            leaves += [(run["name"], measure, query, value) for measure, value in values.items()]
    if not leaves:
        raise InputError(f"{source}: holds no values.")
    part = _part_of_leaves(leaves, source, tuple(dict.fromkeys(notes)))
    measures = content.get("measures")
    known = measures if isinstance(measures, Mapping) else {}
    settings = {
        "policy": content.get("policy"),
        "measures": {name: value for name, value in known.items() if isinstance(value, Mapping)},
    }
    return replace(part, settings=settings)


def _is_run_of_judged(run: Any) -> bool:
    if not isinstance(run, Mapping) or not isinstance(run.get("name"), str):
        return False
    queries = run.get("per_query")
    return isinstance(queries, Mapping) and all(isinstance(x, Mapping) for x in queries.values())


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
    odd = [name for name in rest if measure is None and _has_numbers(sheet.frame[name])]
    if odd:
        raise InputError(
            f"{sheet.source}: values may be in column {quote(value)} or in {shown_header(odd)}; "
            "leave what is no value out, or name the columns run, query, measure and value."
        )
    queries = sheet.ids(query, "query")
    numbers = _numbers(sheet, value, queries)
    notes = [_not_read(sheet, rest)] if rest else []
    columns = [
        _labels(sheet, run, "run"),
        _labels(sheet, measure, "measure"),
        queries.alias("query"),
        numbers.alias("value"),
    ]
    return _Part(_framed(columns), sheet.place, sheet.source, (*notes, *_remarks(sheet)))


def _framed(columns: Sequence[pl.Series]) -> pl.DataFrame:
    return pl.DataFrame([*columns, pl.Series("row", range(len(columns[0])), dtype=pl.Int64)])


def _remarks(sheet: Sheet) -> Iterator[str]:
    warnings = (text.removeprefix("warning:").strip() for text in sheet.remarks)
    return (Warned(f"{sheet.source}: {text}") for text in warnings)


def _has_numbers(column: pl.Series) -> bool:
    if column.dtype == pl.String:
        return any(is_number(cell.strip()) for cell in column.drop_nulls())
    return column.dtype.is_numeric()


def _labels(sheet: Sheet, name: str | None, role: str) -> pl.Series:
    if name is None:
        return pl.Series(role, [None] * sheet.frame.height, dtype=pl.String)
    cells = sheet.frame[name]
    if cells.dtype == pl.Object:  # measures of ir_measures are objects
        labels = [None if cell is None else str(cell) for cell in cells]
        sheet = sheet.with_columns(pl.DataFrame({name: labels}, schema={name: pl.String}))
    elif cells.dtype == pl.String:
        sheet = sheet.with_columns(pl.DataFrame([cells.str.strip_chars()]))
    return sheet.ids(name, role).alias(role)


def _wide(sheet: Sheet, query: str, run: str | None, rest: Sequence[str]) -> _Part:
    """Read values in several columns: measures if there is a run, else runs or measures."""
    header, notes = sheet.header, list(_remarks(sheet))
    left = {header[at] for at in candidates("query", header)}
    left |= {name for name in header if name.strip().lower() in ("", "unnamed: 0")}
    left |= {name for name in rest if _is_range(name, header)}
    weights = [name for name in rest if run is not None and name == "weight"]
    if weights:
        notes.append(Warned(f"{sheet.source}: {UNWEIGHTED}"))
    if unread := [name for name in rest if name in left]:
        notes.append(_not_read(sheet, unread))
    kept = [name for name in rest if name not in left and name not in weights]
    if not kept:
        raise InputError(
            f"{sheet.source}: there is no column of values; the columns are {shown_header(header)}."
        )
    queries = sheet.ids(query, "query").alias("query")
    owner = _labels(sheet, run, "run")
    unnamed = _labels(sheet, None, "measure")
    frames = []
    for name in kept:
        label = pl.repeat(name, sheet.frame.height, dtype=pl.String, eager=True)
        pair = [owner, label.alias("measure")] if run else [label.alias("run"), unnamed]
        values = _numbers(sheet, name, queries, f" in column {quote(name, 30)}")
        frames.append(_framed([*pair, queries, values.alias("value")]))
    wide = () if run else tuple(kept)
    return _Part(pl.concat(frames), sheet.place, sheet.source, tuple(notes), wide)


def _is_range(name: str, header: Sequence[str]) -> bool:
    """Return whether a column is an end of the range of another, as "AP worst" of "AP"."""
    ends = (f" {end}" for end in _RANGES)
    return any(name.endswith(end) and name.removesuffix(end) in header for end in ends)


def _numbers(sheet: Sheet, name: str, queries: pl.Series, where: str = "") -> pl.Series:
    """Return the values in a column; an empty cell is no value, anything else an error."""
    cells = sheet.frame[name].to_list()
    values: list[float | None] = []
    bad_rows = []
    for row, cell in enumerate(cells):
        text = cell.strip(" \t") if sheet.is_text and cell is not None else None
        is_missing = cell is None or text == ""
        number = float(text) if text and is_number(text) else _number_of(cell)
        if not is_missing and (number is None or number != number):
            bad_rows.append(row)
        values.append(None if is_missing else number)
    if bad_rows:  # the worst is not even a number as text
        numeric = (isinstance(cells[row], str) and is_number(cells[row]) for row in bad_rows)
        worst = min(zip(numeric, bad_rows, strict=True))[1]
        raise InputError(f"{sheet.place(worst)}: {_no_number(queries[worst], cells[worst], where)}")
    return pl.Series(name, values, dtype=pl.Float64)


def _without_header(sheet: Sheet) -> _Part:
    """Read query and value, or the three fields that trec_eval and ir_measures print."""
    width = len(sheet.header)
    if width == 2:
        names = dict(zip(sheet.header, ("query", "value"), strict=True))
        named = sheet.with_columns(sheet.frame.rename(names))
        return _long(named, None, None, "query", "value")
    if width != 3:
        raise InputError(
            f"{sheet.place(0)}: the first line has to name the columns, such as run, query, "
            f"measure and value; found {quote(' '.join(sheet.frame.row(0)))}."
        )
    cells = [sheet.frame[name].str.strip_chars() for name in sheet.header]
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
    order = ("measure", "query", "value") if of_trec_eval else ("query", "measure", "value")
    frame = pl.DataFrame([column.alias(name) for column, name in zip(cells, order, strict=True)])
    return _printed(sheet.with_columns(frame))


def _printed(sheet: Sheet) -> _Part:
    """Read the lines that trec_eval, ir_measures or judged print, without their summaries."""
    # judged writes several runs below each other, each under a line with its name.
    is_tag = (pl.col("measure") == "runid") & (pl.col("query") == "all")
    frame = sheet.frame.with_row_index("row").with_columns(
        run=pl.when(is_tag).then("value").forward_fill()
    )
    if frame.filter(is_tag).height > 1 and frame["run"].null_count():
        raise InputError(
            f"{sheet.source}: holds several runs, whose names stand below their values; give each "
            "run in a file of its own."
        )
    summary = pl.col("query") == "all"
    summaries = frame.filter(summary & ~pl.col("measure").is_in(_WORDS))
    if len(twice := summaries.filter(~pl.struct("run", "measure").is_first_distinct())):
        raise InputError(
            f"{sheet.place(twice['row'][0])}: there are two lines of {quote(twice['measure'][0])} "
            'with "all", which is the summary; a query cannot be called so here. Give each run in '
            "a file of its own."
        )
    kept = frame.filter(~summary & ~pl.col("measure").is_in([*_COUNTS, *_WORDS]))
    if not kept.height:
        raise InputError(
            f"{sheet.source}: holds no values of queries, only a summary; print them with -q."
        )
    measures = frame.filter(~summary)["measure"].unique(maintain_order=True)
    unread = [name for name in measures if name in (*_COUNTS, *_WORDS)]
    warnings = frame.filter(summary & (pl.col("measure") == "warning"))["value"]
    notes: list[str] = [Warned(f"{sheet.source}: {text}") for text in warnings]
    if unread:
        notes.append(f"{sheet.source}: not read, as these are no measures: {listed(unread)}.")
    decimals = kept["value"].filter(kept["value"].str.contains(".", literal=True))
    if len(decimals) and decimals.str.contains(r"\.\d{4}$").all():
        notes.append(f"{sheet.source}: the values are rounded to four decimals.")
    lines = sheet.lines or range(frame.height)
    values = Sheet(kept, sheet.source, True, True, [lines[row] for row in kept["row"]])
    tags = frame.filter(pl.col("measure") == "runid")["value"]
    part = _long(values, "run" if len(tags) > 1 else None, "measure", "query", "value")
    return replace(part, notes=tuple(notes), tag=tags[0] if len(tags) == 1 else None)
