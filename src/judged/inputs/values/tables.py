"""Values of queries out of one table: which column is what, and the numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from judged.errors import InputError
from judged.inputs.columns import candidates
from judged.inputs.formats import is_number
from judged.inputs.sheets import Sheet
from judged.inputs.values.names import column, is_measure, is_range
from judged.inputs.values.parts import UNWEIGHTED, Part, no_number, number_of
from judged.text import Warned, listed, quote

_COUNTS = ("num_q", "num_ret", "num_rel", "num_nonrel_judged_ret")
_WORDS = ("runid", "relstring", "warning")


def part_of_table(table: Sheet) -> Part:
    """The values in a table."""
    if not table.headed:
        return _headless(table)
    header, source = table.header, table.source
    query = column("query", header, source)
    if query is None:
        raise InputError(
            f"{source}: a column with the ids of queries is needed, called query_id, qid or query; "
            f"the columns are {_named(header)}."
        )
    run, measure, value = (
        column(role, [name for name in header if name != query], source)
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
            f"are {_named(header)}."
        )
    if value is not None:
        return _long(table, (run, measure, query, value), rest)
    return _by_column(table, query, run, rest)


def _columns(names: Sequence[str]) -> str:
    return f"column{'s' if len(names) > 1 else ''} {_named(names)}"


def _named(header: Sequence[str]) -> str:
    return ", ".join(quote(name, 30) for name in header[:20])


def _long(sheet: Sheet, chosen: Sequence[str | None], rest: Sequence[str]) -> Part:
    """A value in each row."""
    run, measure, query, value = chosen
    assert query is not None
    assert value is not None
    odd = [name for name in rest if measure is None and _has_numbers(sheet.frame[name])]
    if odd:
        raise InputError(
            f"{sheet.source}: values may be in column {quote(value)} or in {_named(odd)}; leave "
            "what is no value out, or name the columns run, query, measure and value."
        )
    queries = sheet.ids(query, "query")
    numbers = _numbers(sheet, value, queries)
    notes = [f"{sheet.source}: not read: {_columns(rest)}."] if rest else []
    columns = [
        _labels(sheet, run, "run"),
        _labels(sheet, measure, "measure"),
        queries.alias("query"),
        numbers.alias("value"),
    ]
    return Part(_framed(columns), sheet.place, sheet.source, (*notes, *_remarks(sheet)))


def _framed(columns: Sequence[pl.Series]) -> pl.DataFrame:
    rows = pl.Series("row", range(len(columns[0])), dtype=pl.Int64)
    return pl.DataFrame([*columns, rows])


def _remarks(sheet: Sheet) -> Iterator[str]:
    """The warnings that judged writes below a table."""
    said = (each.removeprefix("warning:").strip() for each in sheet.remarks)
    return (Warned(f"{sheet.source}: {each}") for each in said)


def _has_numbers(column: pl.Series) -> bool:
    if column.dtype == pl.String:
        return any(is_number(cell.strip()) for cell in column.drop_nulls())
    return column.dtype.is_numeric()


def _labels(sheet: Sheet, name: str | None, role: str) -> pl.Series:
    """Names of runs or measures; null where there is no such column."""
    if name is None:
        return pl.Series(role, [None] * sheet.frame.height, dtype=pl.String)
    cells = sheet.frame[name]
    if cells.dtype == pl.Object:  # measures of ir_measures are objects
        made = [None if cell is None else str(cell) for cell in cells]
        sheet = sheet.with_columns(pl.DataFrame({name: made}, schema={name: pl.String}))
    elif cells.dtype == pl.String:
        sheet = sheet.with_columns(pl.DataFrame([cells.str.strip_chars()]))
    return sheet.ids(name, role).alias(role)


def _by_column(sheet: Sheet, query: str, run: str | None, rest: Sequence[str]) -> Part:
    """Values in several columns: of measures where there is a run, of either where there is
    none."""
    header, notes = sheet.header, list(_remarks(sheet))
    texts = [header[at] for at in candidates("query", header)]
    texts += [name for name in header if name.strip().lower() in ("", "unnamed: 0")]
    ranges = [name for name in rest if is_range(name, header)]
    weights = [name for name in rest if run is not None and name == "weight"]
    if weights:
        notes.append(Warned(f"{sheet.source}: {UNWEIGHTED}"))
    left = [name for name in rest if name in (*texts, *ranges)]
    if left:
        notes.append(f"{sheet.source}: not read: {_columns(left)}.")
    kept = [name for name in rest if name not in (*left, *weights)]
    if not kept:
        raise InputError(
            f"{sheet.source}: there is no column of values; the columns are {_named(header)}."
        )
    queries = sheet.ids(query, "query").alias("query")
    owner = _labels(sheet, run, "run")
    nothing = _labels(sheet, None, "measure")
    made = []
    for name in kept:
        label = pl.repeat(name, sheet.frame.height, dtype=pl.String, eager=True)
        pair = [owner, label.alias("measure")] if run else [label.alias("run"), nothing]
        values = _numbers(sheet, name, queries, f" in column {quote(name, 30)}")
        made.append(_framed([*pair, queries, values.alias("value")]))
    wide = () if run else tuple(kept)
    return Part(pl.concat(made), sheet.place, sheet.source, tuple(notes), wide)


def _numbers(sheet: Sheet, name: str, queries: pl.Series, where: str = "") -> pl.Series:
    """The values in a column; an empty cell is no value, and anything else is refused."""
    cells = sheet.frame[name]

    def fault(row: int) -> InputError:
        return InputError(f"{sheet.place(row)}: {no_number(queries[row], cells[row], where)}")

    if sheet.is_text:
        cells = cells.str.strip_chars(" \t")
        found = cells.set(cells == "", None)
        numbers = found.cast(pl.Float64, strict=False)
        odd = (numbers.is_null() & found.is_not_null()).arg_true().head(1).to_list()
    elif cells.dtype.is_numeric() or cells.dtype == pl.Null:
        odd, numbers = [], cells.cast(pl.Float64)
    elif cells.dtype == pl.Object:
        made = [None if cell is None else number_of(cell) for cell in cells]
        odd = [
            row
            for row, (cell, number) in enumerate(zip(cells, made, strict=True))
            if cell is not None and number is None
        ]
        numbers = pl.Series(name, made, dtype=pl.Float64)
    else:
        odd, numbers = _odd(cells), cells
    if odd:
        raise fault(odd[0])
    if numbers.dtype != pl.Float64:
        numbers = pl.Series(name, [None] * len(cells), dtype=pl.Float64)
    if len(nan := numbers.is_nan().arg_true()):
        raise fault(nan[0])
    return numbers


def _odd(cells: pl.Series) -> list[int]:
    """The first cell of a column of other types that is not even a number as text."""
    there = cells.is_not_null().arg_true().to_list()
    worst = (row for row in there if not (isinstance(cells[row], str) and is_number(cells[row])))
    return [next(worst, there[0])] if there else []


def _headless(sheet: Sheet) -> Part:
    """Lines without names: query and value; or three fields, as trec_eval and ir_measures print
    them."""
    width = len(sheet.header)
    if width == 2:
        named = sheet.with_columns(
            sheet.frame.rename(dict(zip(sheet.header, ("query", "value"), strict=True)))
        )
        return _long(named, (None, None, "query", "value"), ())
    if width != 3:
        raise InputError(
            f"{sheet.place(0)}: the first line has to name the columns, such as run, query, "
            f"measure and value; found {quote(' '.join(sheet.frame.row(0)))}."
        )
    cells = [sheet.frame[name].str.strip_chars() for name in sheet.header]
    first, second = (set(each) for each in cells[:2])
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
    frame = pl.DataFrame([each.alias(name) for each, name in zip(cells, order, strict=True)])
    return _printed(sheet.with_columns(frame))


def _printed(sheet: Sheet) -> Part:
    """What trec_eval, ir_measures or judged print for each query, without their summaries."""
    frame = _with_run(sheet)
    summary = pl.col("query") == "all"
    said = frame.filter(summary & ~pl.col("measure").is_in(_WORDS))
    if len(twice := said.filter(~pl.struct("run", "measure").is_first_distinct())):
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
    others = frame.filter(~summary)["measure"].unique(maintain_order=True)
    gone = [name for name in others if name in (*_COUNTS, *_WORDS)]
    warned = frame.filter(summary & (pl.col("measure") == "warning"))["value"]
    notes: list[str] = [Warned(f"{sheet.source}: {each}") for each in warned]
    if gone:
        notes.append(f"{sheet.source}: not read, as these are no measures: {listed(gone)}.")
    decimals = kept["value"].filter(kept["value"].str.contains(".", literal=True))
    if len(decimals) and decimals.str.contains(r"\.\d{4}$").all():
        notes.append(f"{sheet.source}: the values are rounded to four decimals.")
    lines = sheet.lines or range(frame.height)
    part = Sheet(kept, sheet.source, True, True, [lines[row] for row in kept["row"]])
    tags = frame.filter(pl.col("measure") == "runid")["value"]
    run = "run" if len(tags) > 1 else None
    found = _long(part, (run, "measure", "query", "value"), ())
    tag = tags[0] if len(tags) == 1 else None
    return Part(found.frame, found.place, found.source, tuple(notes), tag=tag)


def _with_run(sheet: Sheet) -> pl.DataFrame:
    """The rows with the run that each is of, where several stand below each other, each under a
    line with its name, as judged writes them."""
    is_tag = (pl.col("measure") == "runid") & (pl.col("query") == "all")
    frame = sheet.frame.with_row_index("row").with_columns(
        run=pl.when(is_tag).then("value").forward_fill()
    )
    if frame.filter(is_tag).height > 1 and frame["run"].null_count():
        raise InputError(
            f"{sheet.source}: holds several runs, whose names stand below their values; give each "
            "run in a file of its own."
        )
    return frame
