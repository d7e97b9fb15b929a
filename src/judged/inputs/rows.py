"""Rows that hold a query with its relevant and its retrieved ids, as judgements and a run."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from judged.arrays import Ints
from judged.errors import InputError
from judged.inputs.columns import (
    LISTS,
    ROW_PATTERNS,
    NamedColumns,
    has_lists,
    matching,
    refuse_two_columns,
    shown_header,
)
from judged.inputs.csv import SEPARATORS, records
from judged.inputs.csv import line_numbers as record_lines
from judged.inputs.dicts import IDS_NOTE, ORDER_NOTE, as_id
from judged.inputs.frames import scan_source
from judged.inputs.json import line_numbers as object_lines
from judged.inputs.json import objects, parse_document
from judged.inputs.objects import Records, from_arrow, is_record, records_of
from judged.inputs.order import Ranked, against_ranks, refuse_odd_ranks
from judged.inputs.polars_errors import reading_parquet, refusing
from judged.inputs.row_lists import IdListColumn, IdLists, are_lists, hold_texts
from judged.inputs.source import LineNumbers, Source
from judged.inputs.tables import JUDGEMENTS, NO_GRADES, RUN, Judgements, Locate, Run, texts
from judged.text import Warned, counted, quote

Cells: TypeAlias = "pl.Series | Sequence[Any]"
_FRAME = "a data frame"
_KINDS = {"relevant": JUDGEMENTS, "retrieved": RUN}
_BESIDE = {"relevant": "grades", "retrieved": "scores"}  # the role of the numbers beside ids
_EXAMPLES = {
    "query": "query_id, question_id, query, question, user_input",
    "relevant": "relevant, relevant_ids, expected_ids, reference_context_ids, gold, ground_truth",
    "retrieved": "retrieved, retrieved_ids, retrieved_context_ids, predictions, results",
}
_PHRASES = {
    "query": "the query",
    "relevant": "the relevant ids",
    "retrieved": "the retrieved ids",
    "scores": "the scores of retrieved items",
    "grades": "the grades of relevant items",
}
_LONG_TEXT = 60  # ids of so many characters, with spaces in them, are texts


@dataclass(frozen=True, eq=False)
class RowContents:
    judgements: Judgements | None
    run: Run | None


@dataclass(frozen=True)
class RowColumns:
    names: Mapping[str, str | None]
    """The columns of the query, the relevant ids and the retrieved ids."""
    beside: Mapping[str, tuple[str, ...]]
    """Columns with the scores or grades of ids, if they hold lists of numbers."""
    by_user: frozenset[str]
    notes: tuple[str, ...] = ()

    def needed(self) -> list[str]:
        names = (*self.names.values(), *chain.from_iterable(self.beside.values()))
        return list(dict.fromkeys(name for name in names if name is not None))


@dataclass(frozen=True, eq=False)
class RowTable:
    """A table of which only the names of columns are known, until `columns` are read."""

    header: Sequence[str]
    label: str
    read: Callable[[Sequence[str]], Mapping[str, Cells]]
    locate: Locate | None = None
    columns: Mapping[str, Cells] = field(default_factory=dict)

    def lists(self, name: str, role: str, *, by_user: bool = False) -> IdListColumn:
        return IdListColumn(name, role, self.columns[name], self.place, by_user)

    def place(self, row: int) -> str:
        word = "line" if self.locate else "row"
        number = self.locate([row])[0] if self.locate else row + 1
        return f"{self.label}, {word} {number}"


def rows_in(
    table: RowTable | None, roles: Sequence[str], named: NamedColumns, *, alone: bool = False
) -> RowContents | None:
    """Read the rows of a table in these roles; return None if it has no such lists of ids."""
    if table is None or not has_lists(table.header, roles, named, alone):
        return None
    for role in roles:
        named.record(_KINDS[role], table.label, table.header)
    columns = choose_row_columns(table.header, table.label, named, roles)
    table = replace(table, columns=table.read(columns.needed()))
    if not len(next(iter(table.columns.values()))):
        raise InputError(f"{table.label}: holds no rows.")
    notes = list(columns.notes)
    queries = _queries(table, columns.names["query"], notes)
    judgements = run = None
    if "relevant" in roles:
        judgements = _judgements(table, columns, queries, tuple(notes))
    if "retrieved" in roles:
        run = _run(table, columns, queries, tuple(notes))
    unread = [name for names in matching("relevant", table.header) for name in names]
    if run is not None and judgements is None and unread:
        note = f"{table.label}: column {quote(unread[0])} was not read; judgements were given."
        run = replace(run, notes=(*run.notes, note))
    if judgements is not None and run is not None:
        relevant, retrieved = judgements.frame["item"], run.frame["item"]
        if len(relevant) and len(retrieved) and not relevant.is_in(retrieved.implode()).any():
            warning = Warned(
                f"None of the relevant ids, such as {quote(relevant[0], 30)}, is among the "
                f"retrieved ones, such as {quote(retrieved[0], 30)}: are they ids of the same kind?"
            )
            judgements = replace(judgements, notes=(*judgements.notes, warning))
    return RowContents(judgements, run)


def refuse_other_judgements(ours: Judgements, theirs: Judgements) -> None:
    both = f"{ours.source} and {theirs.source} do not agree on what is relevant"
    advice = "Runs are compared on the same judgements."
    for one, other in ((ours, theirs), (theirs, ours)):
        known = set(other.names())
        lost = next((query for query in one.names() if query not in known), None)
        if lost is not None:
            raise InputError(
                f"{both}: query {lost!r} is in {one.source}, not in {other.source}. {advice}"
            )
    for one, other in ((ours, theirs), (theirs, ours)):
        numbered = one.frame.with_row_index("row")
        apart = numbered.join(other.frame, on=["query", "item", "grade"], how="anti").sort("row")
        if apart.height:
            row, query, item, grade = apart.row(0)
            raise InputError(
                f"{both}: query {query!r} has item {item!r} with grade {grade:g} in {one.source}, "
                f"{one.where([row])}, not in {other.source}. {advice}"
            )


def missing_columns(header: Sequence[str] | None) -> str:
    columns = "" if header is None else f" (found: {shown_header(header) or 'none'})"
    names = "; ".join(f"{role}: {names}" for role, names in _EXAMPLES.items())
    return (
        "judgements need a run beside them: judged evaluate QRELS RUN; or rows with columns for "
        f"the query, its relevant ids and its retrieved ids{columns}. Names understood are, for "
        f"example, {names}; others are named by columns={{'relevant': …, 'retrieved': …}} "
        "(--columns relevant=…,retrieved=…)."
    )


def choose_row_columns(
    header: Sequence[str], source: str, named: NamedColumns, roles: Sequence[str] = LISTS
) -> RowColumns:
    by_user = _columns_by_user(header, source, named)
    chosen: dict[str, str | None] = dict.fromkeys(("query", *LISTS))
    notes: list[str] = []
    for role in ("query", *roles):
        if role in by_user:
            chosen[role] = by_user[role]
            continue
        free = [name for name in header if name not in {*chosen.values(), *by_user.values()}]
        tiers = [names for names in matching(role, free) if names]
        if tiers and len(tiers[0]) > 1:
            raise InputError(_two_columns(role, tiers[0], source))
        chosen[role] = tiers[0][0] if tiers else None
        if len(tiers) > 1 and role in LISTS:
            others = " or ".join(quote(name) for names in tiers[1:] for name in names)
            notes.append(f"Column {quote(tiers[0][0])} was taken for the {role} ids, not {others}.")
        if role in named and tiers:
            lost = quote("+".join(named[role]))
            notes.append(
                f"{source} has no column {lost}: column {quote(tiers[0][0])} was taken for the "
                f"{role}."
            )
    free = [name for name in header if name not in {*chosen.values(), *by_user.values()}]
    beside = {
        role: (by_user[numbers],)
        if (numbers := _BESIDE[role]) in by_user
        else tuple(chain.from_iterable(matching(numbers, free)))
        for role in roles
    }
    return RowColumns(chosen, beside, frozenset(by_user.values()), tuple(notes))


def _columns_by_user(header: Sequence[str], source: str, named: NamedColumns) -> dict[str, str]:
    columns: dict[str, str] = {}
    for role, places in named.positions(header).items():
        known = {"score": "scores", "grade": "grades"}.get(role, role)
        if known not in ROW_PATTERNS:
            raise InputError(
                f"{source}: a column of {role}s has no place beside lists of ids; roles are "
                f"{', '.join(ROW_PATTERNS)}."
            )
        if len(places) > 1 or known in columns:
            raise InputError(
                f"{source}: {known} must be one column where ids are in lists; got "
                f"{' and '.join(quote(header[at]) for at in places)}."
            )
        columns[known] = header[places[0]]
    return columns


def _two_columns(role: str, names: Sequence[str], source: str) -> str:
    both = " and ".join(map(quote, names))
    return (
        f"{source}: {both} could both be {_PHRASES[role]}; say which, with "
        f"columns={{{role!r}: {names[0]!r}}} (--columns {role}={names[0]})."
    )


def table_in_file(source: Source, format: str) -> RowTable | None:
    """Return the table in a file; None if its columns have no names."""
    if format == "parquet":
        with reading_parquet(source.label):
            return _polars_table(scan_source(source), source.label)
    read: Callable[[Sequence[str]], Mapping[str, Cells]]
    lines: Locate | None = None
    if format in SEPARATORS:
        separator = SEPARATORS[format]
        header = next(records(source, separator), (0, None))[1]
        read = partial(_read_delimited, source, separator)
        lines = LineNumbers.of(source, partial(record_lines, separator=separator))
    elif format == "ndjson":
        header = _first_names(next((line for line in source.lines() if line.strip()), b""))
        read = partial(_read_objects, source)
        lines = LineNumbers.of(source, object_lines)
    elif format == "json" and (head := source.head().lstrip()).startswith(b"["):
        header = _first_names(head[1:]) or _first_names(source.read().lstrip()[1:])
        read = partial(_read_document, source)
    else:
        return None
    return None if header is None else RowTable(header, source.label, read, lines)


def table_of(given: Any) -> RowTable | None:
    """Return the table that a frame or rows of Python are; None for anything else."""
    if isinstance(given, Records):
        return _records_table(given)
    if hasattr(given, "iloc"):
        return _pandas_table(given) if hasattr(given, "columns") else None
    if isinstance(given, (pl.LazyFrame, pl.DataFrame)):
        return _polars_table(given.lazy(), _FRAME)
    if hasattr(given, "__arrow_c_stream__"):
        try:
            return _polars_table(from_arrow(given).lazy(), _FRAME)
        except InputError:
            return None  # the reader of frames reports the error
    return None


def document_table(source: Source) -> RowTable | None:
    expected = "JSON should be a list of rows with names."
    rows = records_in(parse_document(source, expected), source.label)
    return None if rows is None else _records_table(rows)


def records_in(content: Any, label: str = "a dict") -> Records | None:
    """Return rows from a list of them, from {query: row} or from {column: [values]}, or None."""
    if isinstance(content, list) and content and all(map(is_record, content)):
        return records_of(content, label)
    if not isinstance(content, Mapping) or not content:
        return None
    if _has_both_lists(content):
        return _from_columns(content, label)
    rows = content.values()
    if all(isinstance(row, Mapping) for row in rows) and _has_both_lists(next(iter(rows))):
        return records_of(({**row, "query_id": key} for key, row in content.items()), label)
    return None


def _has_both_lists(names: Mapping[Any, Any]) -> bool:
    header = [name for name in names if isinstance(name, str)]
    return all(any(matching(role, header)) for role in LISTS)


def _from_columns(content: Mapping[Any, Any], label: str) -> Records:
    columns = {
        str(name): list(values) for name, values in content.items() if hasattr(values, "__len__")
    }
    one, height = next((name, len(values)) for name, values in columns.items())
    for other, values in columns.items():
        if len(values) != height:
            raise InputError(
                f"{label}: column {quote(one)} has {counted(height, 'value')}, but column "
                f"{quote(other)} has {len(values)}; give every column one value per row."
            )
    return Records(columns, label)


def _first_names(text: bytes) -> list[str] | None:
    try:
        first, _ = json.JSONDecoder().raw_decode(text.decode("utf-8", "replace").lstrip())
    except (ValueError, RecursionError):
        return None
    return list(first) if isinstance(first, dict) else None


def _read_delimited(source: Source, separator: str, names: Sequence[str]) -> dict[str, Cells]:
    every = records(source, separator)
    _, header = next(every)
    rows = []
    for number, cells in every:
        if len(cells) != len(header):
            raise InputError(
                f"{source.label}, line {number}: {counted(len(cells), 'cell')}, but the header has "
                f"{len(header)}; put a list with commas between quotation marks."
            )
        rows.append(cells)
    return {name: [row[header.index(name)] for row in rows] for name in names}


def _read_objects(source: Source, names: Sequence[str]) -> dict[str, Cells]:
    rows = [row for _, row in objects(source)]
    return {name: [row.get(name) for row in rows] for name in names}


def _read_document(source: Source, names: Sequence[str]) -> Mapping[str, Cells]:
    table = document_table(source)
    if table is None:
        raise InputError(f"{source.label}: JSON should be a list of rows with names.")
    return table.read(names)


def _polars_table(frame: pl.LazyFrame, label: str) -> RowTable:
    def read(names: Sequence[str]) -> dict[str, Cells]:
        with refusing(f"{label}: cannot be read"):
            return dict(frame.select(names).collect().to_dict())

    return RowTable(frame.collect_schema().names(), label, read)


def _pandas_table(frame: Any) -> RowTable:
    header = [str(name) for name in frame.columns]

    def read(names: Sequence[str]) -> dict[str, Cells]:
        for name in names:
            refuse_two_columns([other for other in header if other == name], _FRAME)
        return {name: frame.iloc[:, header.index(name)].tolist() for name in names}

    return RowTable(header, _FRAME, read)


def _records_table(given: Records) -> RowTable:
    columns = given.columns
    return RowTable(
        list(columns), given.label, lambda names: {name: columns[name] for name in names}
    )


def _queries(table: RowTable, name: str | None, notes: list[str]) -> pl.Series:
    if name is None:
        notes.append(f"{table.label}: no column is the query, so that rows are numbered from 1.")
        height = len(next(iter(table.columns.values())))
        return pl.Series([str(number) for number in range(1, height + 1)], dtype=pl.String)
    cells = table.columns[name]
    if isinstance(cells, pl.Series) and cells.dtype != pl.Object:
        ids = cells
    else:
        ids = texts("query", _query_texts(table, name, list(cells)))
        if not all(isinstance(cell, str) for cell in cells):
            notes.append(IDS_NOTE)
    if ids.dtype.is_integer():
        notes.append(IDS_NOTE)
    elif not isinstance(ids.dtype, (pl.String, pl.Categorical, pl.Enum, pl.Null)):
        raise InputError(
            f"{table.label}: column {quote(name)} is {ids.dtype}, but queries must be texts or "
            "whole numbers."
        )
    ids = ids.cast(pl.String)
    missing = (ids.is_null() | (ids == "")).arg_true()
    if len(missing):
        raise InputError(f"{table.place(missing[0])}: the query is missing (no {quote(name)}).")
    again = ids.is_duplicated().arg_true()
    if len(again):
        first = ids[again[0]]
        rows = (ids == first).arg_true().to_list()[:2]
        places = table.locate(rows) if table.locate else [row + 1 for row in rows]
        word = "lines" if table.locate else "rows"
        raise InputError(
            f"{table.label}: {word} {places[0]} and {places[1]} have the same query, "
            f"{quote(first, 60)}; give each query one row, or say with columns={{'query': …}} "
            "(--columns query=…) which column tells them apart."
        )
    return ids


def _query_texts(table: RowTable, name: str, cells: list[Any]) -> list[str | None]:
    queries: list[str | None] = []
    for row, cell in enumerate(cells):
        if cell is None or cell == "" or (isinstance(cell, float) and cell != cell):
            queries.append(None)
            continue
        try:
            queries.append(as_id(cell))
        except InputError as error:
            raise InputError(f"{table.place(row)}, column {quote(name)}: {error}") from None
    return queries


def _judgements(
    table: RowTable, columns: RowColumns, queries: pl.Series, notes: tuple[str, ...]
) -> Judgements:
    lists, grades = _lists_and_values(table, columns, "relevant")
    missing = np.flatnonzero(lists.counts < 0)
    if len(missing):
        raise InputError(
            f"{table.place(int(missing[0]))}: the relevant ids are missing (column "
            f"{quote(columns.names['relevant'] or '')}); write [] where nothing is relevant."
        )
    rows = lists.rows()
    if grades is None:
        notes = (*notes, NO_GRADES) if len(lists.ids) else notes
        grades = pl.repeat(1.0, len(lists.ids), dtype=pl.Float64, eager=True)
    infinite = (~grades.is_finite()).arg_true()
    if len(infinite):
        raise InputError(
            f"{table.place(int(rows[infinite[0]]))}: the grade is {grades[infinite[0]]}; a grade "
            "must be a finite number."
        )
    is_text = lists.ids.str.contains(" ", literal=True)
    long_texts = lists.ids.filter(is_text & (lists.ids.str.len_chars() >= _LONG_TEXT))
    if len(long_texts):
        warning = Warned(
            f"Items are whole texts, such as {quote(long_texts[0], 40)}: only a retrieved text "
            "that is the same, character by character, counts as relevant. Where there are ids, "
            "name their columns."
        )
        notes = (*notes, warning)
    return Judgements(
        lists.frame(queries, grades.alias("grade")),
        table.label,
        lists.with_note(notes),
        table.locate,
        rows=rows,
        queries=lists.all_queries(queries),
    )


def _run(table: RowTable, columns: RowColumns, queries: pl.Series, notes: tuple[str, ...]) -> Run:
    lists, scores = _lists_and_values(table, columns, "retrieved")
    rows = lists.rows()
    if len(missing := np.flatnonzero(lists.counts < 0)):
        many = counted(len(missing), "query has", "queries have")
        first = quote(queries[int(missing[0])], 40)
        warning = f"{many} no list of retrieved ids, such as {first}: taken for nothing retrieved."
        notes = (*notes, Warned(warning))
    if scores is None:
        notes = (*notes, ORDER_NOTE, *_notes_on_distances(lists)) if len(lists.ids) else notes
        counts = np.maximum(lists.counts, 0)
        left = np.repeat(np.cumsum(counts), counts) - np.arange(len(rows))
        scores = pl.Series(left, dtype=pl.Float64)
    elif lists.are_ranks:
        notes = (*notes, Ranked("There is no score: the rank of each result gives the order."))
    else:
        against: tuple[str, ...] = ()
        if lists.ranks is not None:
            against = against_ranks(zip(rows, lists.ranks, scores, strict=True))
        notes = (*notes, *(against or _notes_on_order(scores, rows)))
    run = Run(
        lists.frame(queries, scores.alias("score")),
        table.label,
        lists.with_note(notes),
        table.locate,
        rows=rows,
        queries=lists.all_queries(queries),
    )
    if lists.are_ranks:
        refuse_odd_ranks(run)
    return run


def _notes_on_distances(lists: IdLists) -> tuple[str, ...]:
    """Return a warning if lists without scores are not in the order of their distances."""
    if lists.distances is None:
        return ()
    rows = lists.rows()
    name, given = lists.distances
    unused = f"The field {quote(name)} of the retrieved objects is not used"
    values = np.array([value if isinstance(value, Real) else np.nan for value in given], float)
    falls = (values[1:] < values[:-1]) & (rows[1:] == rows[:-1])
    if not falls.any():
        return (f"{unused}: the order of each list is the ranking.",)
    many = counted(len(set(rows[1:][falls].tolist())), "list does", "lists do")
    return (
        Warned(
            f"{unused}, and {many} not have the smallest distance first. The order of each list "
            'is the ranking. If the distances should rank, sort the lists, or add a field "score" '
            "with the negative distance."
        ),
    )


def _notes_on_order(scores: pl.Series, rows: Ints) -> tuple[str, ...]:
    """Return a note if scores do not fall in the order of the lists."""
    values = scores.to_numpy()
    within = rows[1:] == rows[:-1]
    rises = set(rows[1:][(values[1:] > values[:-1]) & within].tolist())
    falls = set(rows[1:][(values[1:] < values[:-1]) & within].tolist())
    if len(rises - falls) > len(falls):
        share = f"{len(rises - falls):,} of {len(rises | falls):,} lists"
        return (
            Warned(
                f"The scores rise in the order of {share if falls else 'every list'}, as distances "
                "do; ranks are by score, the greatest first, so that such a list is read "
                "backwards. If they are distances, leave them out: the order of the list is then "
                "the ranking."
            ),
        )
    if rises:
        return ("Ranks are by score: some lists are not in the order of their scores.",)
    return ()


def _lists_and_values(
    table: RowTable, columns: RowColumns, role: str
) -> tuple[IdLists, pl.Series | None]:
    name = columns.names[role]
    if name is None:
        raise InputError(missing_columns(table.header))
    column = table.lists(name, role, by_user=name in columns.by_user)
    lists = column.lists()
    beside = _column_beside(table, columns, role, lists)
    if beside is None:
        return lists, lists.values
    if lists.are_ranks:
        assert lists.values is not None
        lists = replace(lists, values=None, are_ranks=False, ranks=(-lists.values).to_list())
    if lists.values is not None:
        raise InputError(
            f"{table.label}: columns {quote(name)} and {quote(beside)} both have a {column.value} "
            "for each id; leave one out."
        )
    values, counts = table.lists(beside, role).numbers(column.value)
    ids = np.maximum(lists.counts, 0)
    wrong = np.flatnonzero(ids != np.maximum(counts, 0))
    if len(wrong):
        row = int(wrong[0])
        raise InputError(
            f"{table.place(row)}: {counted(int(ids[row]), 'id')} in column {quote(name)}, but "
            f"{counted(max(int(counts[row]), 0), column.value)} in column {quote(beside)}; give "
            "one for each."
        )
    return lists, values


def _column_beside(table: RowTable, columns: RowColumns, role: str, lists: IdLists) -> str | None:
    names = [
        name
        for name in columns.beside[role]
        if name in columns.by_user
        or (are_lists(table.columns[name]) and not hold_texts(table.columns[name]))
    ]
    if role == "relevant":
        names = [name for name in names if not _repeats_relevance(table, columns, name, lists)]
    if len(names) > 1:
        raise InputError(_two_columns(_BESIDE[role], names, table.label))
    return names[0] if names else None


def _repeats_relevance(table: RowTable, columns: RowColumns, name: str, relevant: IdLists) -> bool:
    """Return whether a column says of each retrieved id whether it is relevant."""
    retrieved = columns.names["retrieved"]
    may_be_labels = bool(matching("grades", [name])[1])
    if retrieved is None or name in columns.by_user or not may_be_labels:
        return False
    values, counts = table.lists(name, "retrieved").numbers("relevance")
    results = table.lists(retrieved, "retrieved").lists()
    if not np.array_equal(np.maximum(counts, 0), np.maximum(results.counts, 0)):
        return False
    pairs = pl.DataFrame({"row": relevant.rows(), "item": relevant.ids}).unique()
    labelled = pl.DataFrame({"row": results.rows(), "item": results.ids}).join(
        pairs.with_columns(known=True), on=["row", "item"], how="left", maintain_order="left"
    )
    agrees = bool((labelled["known"].fill_null(False) == (values > 0)).all())
    if agrees and values.is_in([0.0, 1.0]).all():
        return True
    fits_relevant = np.array_equal(np.maximum(counts, 0), np.maximum(relevant.counts, 0))
    if fits_relevant and not agrees:
        return False
    raise InputError(
        f"{table.label}: column {quote(name)} has a number for each id of column "
        f"{quote(retrieved)}, so it may grade these results, and not the ids of column "
        f"{quote(columns.names['relevant'] or '')}. Leave it out, or say what it is: "
        f"columns={{'grades': {name!r}}} (--columns grades={name})."
    )
