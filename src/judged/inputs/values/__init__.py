"""Numbers of each query that any tool computed, to be compared: from dicts, tables and files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import polars as pl

from judged.arrays import Floats
from judged.errors import InputError, quoted
from judged.inputs.agreement import apart, few
from judged.inputs.dicts import as_id
from judged.inputs.formats import distinct_names, is_number, named_file
from judged.inputs.sheets import Nested, Sheet, names_columns, sheet_of
from judged.inputs.values.dicts import part_of_dict
from judged.inputs.values.names import all_measures, is_measure
from judged.inputs.values.parts import MEASURE, NOT_ZERO, VALUES, Part
from judged.inputs.values.tables import part_of_table
from judged.text import Warned, counted, listed, quote

if TYPE_CHECKING:
    from judged.options import ValuesLike

GIVEN = "the values given"
_KEY = ["run", "measure", "query"]


@dataclass(frozen=True, eq=False)
class Values:
    """A number of each query for each run and measure: every run has the same queries."""

    frame: pl.DataFrame
    """Columns run, measure and query (texts) and value (floats, never NaN), in the order of the
    input; each run, measure and query once."""
    source: str = GIVEN
    """What messages call them."""
    notes: tuple[str, ...] = ()
    """What was assumed or left out, a sentence each."""
    higher_is_better: Mapping[str, bool] = field(default_factory=dict)
    """Of measures whose file says it."""
    in_full: Mapping[str, str] = field(default_factory=dict)
    """What judged itself calls measures whose file says it: AP(aggregate=geometric) for GMAP."""

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of the runs, in the order of the input."""
        return tuple(self.frame["run"].unique(maintain_order=True))

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures, in the order of the input."""
        return tuple(self.frame["measure"].unique(maintain_order=True))

    def of(self, measure: str) -> tuple[tuple[str, ...], Floats]:
        """The queries that a measure has values of, and these values: a row for each query, a
        column for each run.

        >>> values_of({"a": {"q1": 0.5, "q2": 1}, "b": {"q2": 0, "q1": 0.25}}).of("value")
        (('q1', 'q2'), array([[0.5 , 0.25],
               [1.  , 0.  ]]))
        """
        found = self.frame.filter(pl.col("measure") == measure)
        queries = found["query"].unique(maintain_order=True)
        runs = pl.Series("run", self.runs, dtype=pl.String)
        for name, known in (("query", queries), ("run", runs)):
            numbers = pl.Series(f"{name} number", range(len(known)), dtype=pl.Int64)
            found = found.join(pl.DataFrame([known, numbers]), on=name)
        ordered = found.sort("query number", "run number")["value"].to_numpy()
        return tuple(queries), ordered.reshape(len(queries), len(runs))


def values_of(given: ValuesLike, *, measure_name: str | None = None) -> Values:
    """Numbers of each query, from whatever holds them; what is incomplete is refused.

    Parameters
    ----------
    given : ValuesLike
        {run: {query: value}}, {run: {measure: {query: value}}}, {run: table or file}, a table
        (long: run, query, measure, value; wide: query and a column for each run), a file or a list
        of files, each of which may be named: "NAME=FILE".
    measure_name : str, optional
        What the values are called where nothing says it; by default "value".

    Returns
    -------
    Values

    >>> found = values_of({"bm25": {"q1": 0.5}, "dense": {"q1": 0.75}}, measure_name="AP")
    >>> found.runs, found.measures
    (('bm25', 'dense'), ('AP',))
    """
    if isinstance(given, Values):
        return given
    if measure_name is not None and (not isinstance(measure_name, str) or not measure_name.strip()):
        raise InputError(f"measure_name must be a text; got {quoted(measure_name)}.")
    parts = list(_parts(given))
    source = listed([part.source for part in parts]) if len(parts) < 4 else "the files given"
    named = _with_names(parts, measure_name)
    frame = _without_missing(_joined(named), notes := _notes(parts), source)
    _refuse_incomplete(frame, source)
    return Values(frame, source, tuple(notes), _directions(parts), _in_full(parts))


@dataclass(frozen=True, eq=False)
class _Named(Part):
    """A part with the names that its run may have."""

    own: str | None = None
    """The name that somebody gave it."""
    name: str = "run"
    """The one that it has by itself."""


def _parts(given: Any) -> Iterator[_Named]:
    """Each table, file or dict with the name of its run."""
    if isinstance(given, (str, PathLike)):
        given = [given]
    if isinstance(given, Mapping) and not _is_nested(given):
        for key, each in given.items():
            run = as_id(key, GIVEN)
            if isinstance(each, (Mapping, Real)) or each is None:
                raise InputError(
                    f"{GIVEN}: run {run!r} is a {type(each).__name__}, and others are tables or "
                    "files; give all in one form."
                )
            _refuse_bare(each, run)
            yield _part(each, run, run, f"the values of run {run!r}")
    elif isinstance(given, (list, tuple)) and given and all(map(_is_path, given)):
        files = [named_file(each) if isinstance(each, str) else (None, each) for each in given]
        for (own, file), name in zip(files, distinct_names(files), strict=True):
            yield _part(fspath(file), own, name, GIVEN)
    else:
        yield _part(given, None, "run", GIVEN)


def _refuse_bare(given: Any, run: str) -> None:
    """Numbers without the ids of their queries cannot be aligned."""
    bare = isinstance(given, (list, tuple)) and all(isinstance(each, Real) for each in given)
    if bare or type(given).__module__.partition(".")[0] in ("numpy", "torch"):
        raise InputError(
            f"{GIVEN}: run {run!r} has numbers without the ids of their queries, which cannot be "
            "aligned with those of others; give {query: value}."
        )


def _is_path(given: Any) -> bool:
    return isinstance(given, (str, PathLike))


def _is_nested(given: Mapping[Any, Any]) -> bool:
    """Whether a dict holds the values themselves, and not tables or files."""
    return not any(
        (isinstance(each, str) and not is_number(each.strip()))
        or isinstance(each, PathLike)
        or hasattr(each, "columns")
        or (isinstance(each, Iterable) and not isinstance(each, (str, bytes, Mapping)))
        for each in given.values()
    ) or ("judged" in given and "runs" in given)


def _forms() -> str:
    return f"{VALUES.phrase} are {VALUES.columns}."


def _part(given: Any, own: str | None, name: str, called: str) -> _Named:
    table = sheet_of(given, VALUES, called, names_columns)
    if isinstance(table, Sheet):
        part = part_of_table(table)
    else:
        part = part_of_dict(table)
        if isinstance(given, Mapping) and part.frame["run"].null_count() and own is None:
            _refuse_flat(table, part)
    fields = {each: getattr(part, each) for each in Part.__dataclass_fields__}
    return _Named(**fields, own=own, name=name)


def _refuse_flat(table: Nested, part: Part) -> None:
    """Numbers in a dict of Python are those of runs by query, or of nobody knows what."""
    if part.frame["measure"].null_count():
        raise InputError(f"{table.source}: these are numbers without a run or a query; {_forms()}")


def _with_names(parts: Sequence[_Named], measure_name: str | None) -> list[_Named]:
    """The parts with a run and a measure in each row."""
    are_runs = _wide_are_runs(parts, measure_name)
    tags = [part.tag for part in parts]
    made, used = [], False
    for part in parts:
        frame = part.frame
        if part.wide and not are_runs[part.source]:
            frame = frame.with_columns(pl.col("run").alias("measure"), run=pl.lit(None, pl.String))
        runs = frame["run"].unique(maintain_order=True).drop_nulls()
        tag = part.tag if part.tag is not None and tags.count(part.tag) == 1 else None
        if part.own is not None and len(runs) > 1:
            raise InputError(
                f"{part.source}: is called {part.own!r}, but holds the runs {few(runs.to_list())}; "
                "leave the name out."
            )
        name = part.own or tag or part.name
        if part.own is not None or len(runs) < 1:
            frame = frame.with_columns(run=pl.lit(name))
        used = used or bool(frame["measure"].null_count())
        measure = pl.col("measure").fill_null(measure_name or MEASURE)
        made.append(replace(part, frame=frame.with_columns(measure)))
    if measure_name is not None and not used:
        names = dict.fromkeys(name for part in made for name in part.frame["measure"].unique())
        raise InputError(
            f"measure_name is {measure_name!r}, but the values say themselves which measures they "
            f"are of ({few(list(names))}); leave it out."
        )
    return made


def _wide_are_runs(parts: Sequence[_Named], measure_name: str | None) -> dict[str, bool]:
    """Whether the columns of each wide table are runs; otherwise they are measures of one."""
    wide = [part for part in parts if part.wide]
    shared = set.intersection(*(set(part.wide) for part in wide)) if len(wide) > 1 else set()
    found: dict[str, bool] = {}
    for part in wide:
        like = [name for name in part.wide if is_measure(name)]
        if part.own is not None or all_measures(part.wide):
            found[part.source] = measure_name is not None and part.own is None
        elif measure_name is not None or not (like or shared):
            found[part.source] = True
        elif len(wide) > 1 and all(set(part.wide) == set(each.wide) for each in wide):
            found[part.source] = False
        else:
            which = like or [name for name in part.wide if name in shared]
            raise InputError(
                f"{part.source}: these may be runs or measures: {quote(which[0], 30)} is "
                f"{'the name of a measure' if like else 'in several files'}, others are not. "
                "If they are runs, give measure_name (--measure-name); if measures, name the run: "
                "NAME=FILE, or a column run."
            )
    return found


def _joined(parts: Sequence[_Named]) -> pl.DataFrame:
    """All rows, each run, measure and query once."""
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


def _notes(parts: Sequence[_Named]) -> list[str]:
    """What the parts say, and where they do not fit together."""
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
            said = Warned(
                f"{first.source} and {part.source} were evaluated under different policies: a "
                "difference may come from that."
            )
            notes.append(said)
    return list(dict.fromkeys(notes))


def _directions(parts: Sequence[_Named]) -> dict[str, bool]:
    """Whether higher is better, of the measures whose file says it."""
    return {
        name: bool(each["higher_is_better"])
        for part in parts
        for name, each in part.settings.get("measures", {}).items()
        if "higher_is_better" in each
    }


def _in_full(parts: Sequence[_Named]) -> dict[str, str]:
    """What judged itself calls measures, of those whose file says it."""
    return {
        name: each["name"]
        for part in parts
        for name, each in part.settings.get("measures", {}).items()
        if isinstance(each.get("name"), str)
    }


def _without_missing(frame: pl.DataFrame, notes: list[str], source: str) -> pl.DataFrame:
    """The values that are there; where no run has one, the query is left out with a note."""
    there = frame.filter(pl.col("value").is_not_null())
    if not there.height:
        raise InputError(f"{source}: holds no values.")
    runs = frame["run"].unique(maintain_order=True)
    if len(silent := runs.filter(~runs.is_in(there["run"].implode()))):
        raise InputError(f"{source}: run {silent[0]!r} has no values. {NOT_ZERO}")
    lost = frame.join(there, on=["measure", "query"], how="anti", maintain_order="left")
    measures: dict[tuple[str, ...], list[str]] = {}
    for (measure,), some in lost.group_by("measure", maintain_order=True):
        queries = tuple(some["query"].unique(maintain_order=True))
        measures.setdefault(queries, []).append(str(measure))
    for queries, names in measures.items():
        which = counted(len(queries), "query", "queries")
        of = listed(names) if len(names) < 5 else f"{len(names):,} measures"
        notes.append(f"{which} without a value of {of} in any run left out ({few(queries)}).")
    return there


def _refuse_incomplete(frame: pl.DataFrame, source: str) -> None:
    """Every run has to have every measure, and of each the same queries."""
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
            some = frame.filter(pl.col("measure") == measure)
            raise InputError(f"{source}: {_lacking(some, short, measure)}")


def _lacking(frame: pl.DataFrame, run: str, measure: str) -> str:
    """The message on queries of a measure that a run lacks and others have."""
    queries = frame["query"].unique(maintain_order=True)
    own = frame.filter(pl.col("run") == run)["query"]
    lost = queries.filter(~queries.is_in(own.implode())).to_list()
    other = frame.filter(pl.col("query") == lost[0])["run"][0]
    theirs = frame.filter(pl.col("run") == other)["query"]
    if not own.is_in(theirs.implode()).any():
        said = apart(own.to_list(), theirs.to_list(), f"Run {run!r} has values")
        return f"the runs {run!r} and {other!r} have no query in common. {said}"
    which = counted(len(lost), "query", "queries")
    return (
        f"run {run!r} has no value of {measure!r} for {which} that run {other!r} has "
        f"({few(lost)}); give all runs the same queries, or leave these out of all."
    )
