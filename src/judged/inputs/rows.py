"""Rows that are judgements and a run: lists of ids for each query, or a label and a score each."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import isnan
from numbers import Real
from typing import Any

import numpy as np
import polars as pl

from judged.errors import InputError, quoted
from judged.inputs.columns import (
    LISTS,
    ROW_PATTERNS,
    NamedColumns,
    candidates,
    has_lists,
    is_labelled,
    label_columns,
    matching,
    refuse_two_columns,
    say_which,
    shown_header,
)
from judged.inputs.csv import SEPARATORS, records
from judged.inputs.dicts import IDS_NOTE, as_id, lookup_of_lists, numbered, results_of
from judged.inputs.formats import is_number
from judged.inputs.frames import complete, id_texts, scan_source
from judged.inputs.json import objects, parse_document, parsed_lines
from judged.inputs.keyed import Sheet, sheet_of_text
from judged.inputs.objects import (
    Records,
    column_of,
    from_arrow,
    is_record,
    is_series,
    records_of,
    results_of_series,
)
from judged.inputs.order import OrderOnly
from judged.inputs.polars_errors import reading_parquet
from judged.inputs.source import Source
from judged.inputs.tables import (
    JUDGEMENTS,
    NO_GRADES,
    RUN,
    Judgements,
    Kind,
    Lookup,
    Run,
    unchecked_table,
)
from judged.text import Warned, counted, listed, quote

_FRAME = "a data frame"
_KINDS = {"relevant": JUDGEMENTS, "retrieved": RUN}
_BESIDE = {"relevant": "grades", "retrieved": "scores"}  # the role of the numbers beside ids
_EXAMPLES = {
    "query": "query_id, question_id, query, question, user_input",
    "relevant": "relevant, relevant_ids, expected_ids, reference_context_ids, gold, ground_truth",
    "retrieved": "retrieved, retrieved_ids, retrieved_context_ids, predictions, results",
}
_LONG_TEXT = 60  # ids of so many characters, with spaces in them, are texts
_SEPARATED = re.compile(r"[\s,;|]")
_NAMED_ROWS = "JSON should be a list of rows with names."
_FLAGS = {"true": "1", "false": "0"}
_ROLES_OF_LABELS = {"query", "item", "grade", "score"}
_WORDS = {"grade": "label"}
ONE_QUERY = "no column is the query: all rows are results of one query."

Cells = Sequence[Any]


def rows_in(
    table: Sheet | None, roles: Sequence[str], named: NamedColumns, *, alone: bool = False
) -> dict[Kind, Lookup] | None:
    """Read the rows of a table in these roles; return None if it has no such lists of ids."""
    if table is None or not has_lists(table.header, roles, named, alone):
        return None
    for role in roles:
        named.record(_KINDS[role], table.source, table.header)
    names, beside, by_user, notes = choose_row_columns(table.header, table.source, named, roles)
    if any(names[role] is None for role in roles):
        raise InputError(missing_columns(table.header))
    needed = dict.fromkeys((*names.values(), *chain.from_iterable(beside.values())))
    cells = table.cells(name for name in needed if name is not None)
    queries = _queries(table, names["query"], cells, notes)

    def column(name: str | None, role: str) -> IdColumn:
        assert name is not None
        return IdColumn(name, _KINDS[role], cells[name], table, name in by_user)

    columns = {role: column(names[role], role) for role in roles}
    for ids in columns.values():
        ids.read_lists()
    lookups: dict[Kind, Lookup] = {}
    for role, ids in columns.items():
        numbers = [
            column(name, role)
            for name in beside[role]
            if name in by_user or _may_hold_numbers(cells[name])
        ]
        if role == "relevant" and "retrieved" in columns:
            results = columns["retrieved"]
            numbers = [one for one in numbers if not one.belongs_to_results(ids, results)]
        if len(numbers) > 1:
            raise say_which(_BESIDE[role], [one.name for one in numbers], table.source)
        lists = ids.with_values(numbers[0]) if numbers else ids.lists
        by_query = dict(zip(queries, lists, strict=True))
        lookups[ids.kind] = lookup_of_lists(by_query, ids.kind, table.source, (*notes, *ids.notes))
    more: list[str] = []
    unread = list(chain.from_iterable(matching("relevant", table.header)))
    if "relevant" not in roles and unread:
        name = quote(unread[0])
        more.append(f"{table.source}: column {name} was not read; judgements were given.")
    if len(lookups) == 2:
        relevant, retrieved = (
            list(chain.from_iterable(lookups[kind].lists.values())) for kind in (JUDGEMENTS, RUN)
        )
        if relevant and retrieved and set(relevant).isdisjoint(retrieved):
            more.append(
                Warned(
                    f"None of the relevant ids, such as {quote(relevant[0], 30)}, is among the "
                    f"retrieved ones, such as {quote(retrieved[0], 30)}: are they ids of the same "
                    "kind?"
                )
            )
    return {
        kind: replace(lookup, notes=tuple(dict.fromkeys((*more, *lookup.notes))))
        for kind, lookup in lookups.items()
    }


def refuse_other_judgements(ours: Judgements | Lookup, theirs: Judgements | Lookup) -> None:
    """Raise an error unless the judgements beside two runs are the same."""
    one, other = _grades_by_query(ours), _grades_by_query(theirs)
    for query in {**one, **other}:
        if one.get(query, {}) != other.get(query, {}):
            raise InputError(
                f"{ours.source} and {theirs.source} do not agree on what is relevant to query "
                f"{query!r}. Runs are compared on the same judgements."
            )


def _grades_by_query(table: Judgements | Lookup) -> Mapping[str, Any]:
    if isinstance(table, Lookup):
        return table.lists
    grades: dict[str, dict[str, float]] = {}
    for query, item, grade in table.frame.select("query", "item", "grade").iter_rows():
        grades.setdefault(query, {})[item] = grade
    return grades


def missing_columns(header: Sequence[str] | None) -> str:
    """Return why one table, with this header if it has one, is not judgements and a run."""
    needed = (
        "judgements and a run are needed, in this order. One table can hold both: with columns for "
        "the query, its relevant ids and its retrieved ids, or for query, item, label and score."
    )
    if header is None:
        return needed
    names = "; ".join(f"{role}: {names}" for role, names in _EXAMPLES.items())
    return (
        f"{needed} The columns are {shown_header(header) or 'none'}. Understood are, for example, "
        f"{names}. Name others by columns={{'relevant': …, 'retrieved': …}} (--columns "
        "relevant=…,retrieved=…)."
    )


def choose_row_columns(
    header: Sequence[str], source: str, named: NamedColumns, roles: Sequence[str] = LISTS
) -> tuple[dict[str, str | None], dict[str, tuple[str, ...]], frozenset[str], list[str]]:
    """Return the columns of query and ids, those of numbers beside ids, the user's, and notes."""
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
            raise say_which(role, tiers[0], source)
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
    return chosen, beside, frozenset(by_user.values()), notes


def _columns_by_user(header: Sequence[str], source: str, named: NamedColumns) -> dict[str, str]:
    columns: dict[str, str] = {}
    for role, places in named.positions(header).items():
        known = {"score": "scores", "grade": "grades"}.get(role, role)
        if known not in ROW_PATTERNS or len(places) > 1 or known in columns:
            raise InputError(
                f"{source}: columns, {role}: where ids are in lists, there may be one column for "
                f"each of {', '.join(ROW_PATTERNS)}."
            )
        columns[known] = header[places[0]]
    return columns


def table_in_file(source: Source, format: str) -> Sheet | None:
    """Return the table in a file; None if its columns have no names."""
    if format == "parquet":
        with reading_parquet(source.label):
            return Sheet.of_scan(scan_source(source), source.label)
    if format in SEPARATORS:
        return sheet_of_text(source, records(source, SEPARATORS[format]))
    if format == "ndjson":
        header = _first_names(next((line for line in source.lines() if line.strip()), b""))
        rows = parsed_lines(source, _NAMED_ROWS)
    elif format == "json" and (head := source.head().lstrip()).startswith(b"["):
        header = _first_names(head[1:]) or _first_names(source.read().lstrip()[1:])
        rows = _rows_of_document(source)
    else:
        return None
    rows = objects(rows, source.label, _NAMED_ROWS)
    return None if header is None else Sheet(source.label, header, rows)


def _rows_of_document(source: Source) -> Iterator[tuple[str, Any]]:
    yield from numbered(parse_document(source, _NAMED_ROWS))  # parsed only if rows are read


def table_of(given: Any) -> Sheet | None:
    """Return the table that a frame or rows of Python are; None for anything else."""
    if isinstance(given, Records):
        return _table_of_columns(given.columns, given.label)
    if hasattr(given, "iloc"):
        return _pandas_table(given) if hasattr(given, "columns") else None
    if isinstance(given, (pl.LazyFrame, pl.DataFrame)):
        return Sheet.of_scan(given.lazy(), _FRAME)
    if hasattr(given, "__arrow_c_stream__"):
        try:
            return Sheet.of_scan(from_arrow(given).lazy(), _FRAME)
        except InputError:
            return None  # the reader of frames reports the error
    return None


def table_in_document(source: Source, format: str) -> Sheet | None:
    """Return the rows of a JSON document that is a dict."""
    if format != "json":
        return None
    return table_of(records_in(parse_document(source, _NAMED_ROWS), source.label))


def records_in(content: Any, label: str = "a dict") -> Records | None:
    """Return rows from a list of them, from {query: row} or from {column: [values]}, or None."""
    if isinstance(content, list) and content and all(map(is_record, content)):
        return records_of(content, label)
    if not isinstance(content, Mapping) or not content:
        return None
    by_column = all(isinstance(values, (list, tuple)) for values in content.values())
    if _has_both_lists(content) or (by_column and is_labelled(list(map(str, content)))):
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


def _table_of_columns(columns: Mapping[str, Cells], label: str) -> Sheet:
    rows = (dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True))
    return Sheet(label, list(columns), numbered(rows))


def _pandas_table(frame: Any) -> Sheet:
    header = [str(name) for name in frame.columns]

    def rows() -> Iterator[tuple[str, Mapping[str, Any]]]:
        refuse_two_columns(header, _FRAME)
        columns = {name: frame.iloc[:, at].tolist() for at, name in enumerate(header)}
        yield from _table_of_columns(columns, _FRAME).rows

    return Sheet(_FRAME, header, rows())


def _queries(
    table: Sheet, name: str | None, cells: Mapping[str, Cells], notes: list[str]
) -> list[str]:
    if name is None:
        notes.append(f"{table.source}: no column is the query, so that rows are numbered from 1.")
        return [str(row + 1) for row in range(len(next(iter(cells.values()))))]
    rows: dict[str, int] = {}
    for row, cell in enumerate(cells[name]):
        if _is_missing(cell) or cell == "":
            raise InputError(f"{table.place(row)}: the query is missing (column {quote(name)}).")
        try:
            query = as_id(cell)
        except InputError as error:
            raise InputError(f"{table.place(row)}, column {quote(name)}: {error}") from None
        if rows.setdefault(query, row) != row:
            one, two = table.row_name(rows[query]), table.row_name(row)
            raise InputError(
                f"{table.source}: {one} and {two} have the same query, {quote(query, 60)}; give "
                "each query one row, or say with columns={'query': …} (--columns query=…) which "
                "column tells them apart."
            )
    if not all(isinstance(cell, str) for cell in cells[name]):
        notes.append(IDS_NOTE)
    return list(rows)


def _is_missing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, float) and isnan(cell))


def _may_hold_numbers(cells: Cells) -> bool:
    """Return whether these may be lists of scores or grades, not texts or one number per row."""
    parsed = (_parsed_list(cell) if isinstance(cell, str) else cell for cell in cells)
    lists = [cell for cell in parsed if not _is_missing(cell)]
    if not all(isinstance(cell, (list, tuple)) or getattr(cell, "ndim", 0) == 1 for cell in lists):
        return False
    first = next((cell[0] for cell in lists if len(cell)), None)
    return bool(lists) and not isinstance(first, str)


@dataclass(eq=False)
class IdColumn:
    """A column of lists: ids, pairs of an id and a number, objects, or numbers beside ids."""

    name: str
    kind: Kind
    cells: Cells
    table: Sheet
    by_user: bool = False
    lists: Sequence[Sequence[Any]] = ()  # once they were read
    notes: tuple[str, ...] = ()

    def error(self, row: int, what: str) -> InputError:
        return InputError(f"{self.table.place(row)}: column {quote(self.name)} {what}")

    def read_lists(self) -> None:
        parsed = [self.parsed(cell, row) for row, cell in enumerate(self.cells)]
        self._refuse_flags(parsed)
        if None in parsed and self.kind is JUDGEMENTS:
            raise InputError(
                f"{self.table.place(parsed.index(None))}: the relevant ids are missing (column "
                f"{quote(self.name)}); write [] where nothing is relevant."
            )
        if missing := parsed.count(None):
            many = counted(missing, "query has", "queries have")
            place = self.table.row_name(parsed.index(None))
            self.notes += (
                Warned(f"{many} no list of retrieved ids ({place}): taken for nothing retrieved."),
            )
        texts = (entry for entries in parsed for entry in entries or () if isinstance(entry, str))
        text = next((text for text in texts if len(text) >= _LONG_TEXT and " " in text), None)
        if text is not None and self.kind is JUDGEMENTS:
            self.notes += (
                Warned(
                    f"Items are whole texts, such as {quote(text, 40)}: only a retrieved text that "
                    "is the same, character by character, counts as relevant. Where there are ids, "
                    "name their columns."
                ),
            )
        self.lists = [entries or [] for entries in parsed]

    def with_values(self, numbers: IdColumn) -> list[list[tuple[str, Any]]]:
        """Return each id with its number in another column."""
        lists = []
        for row, entries in enumerate(self.lists):
            place = self.table.place(row)
            pairs, assumed = results_of(entries, place, self.kind)
            values = numbers.parsed(numbers.cells[row], row) or ()
            if pairs and not any(isinstance(x, OrderOnly) or x == NO_GRADES for x in assumed):
                raise say_which(self.kind.value, [self.name, numbers.name], self.table.source)
            if len(pairs) != len(values):
                raise InputError(
                    f"{place}: {counted(len(pairs), 'id')} in column {quote(self.name)}, but "
                    f"{counted(len(values), self.kind.value)} in column {quote(numbers.name)}; "
                    "give one for each."
                )
            lists.append([(item, value) for (item, _), value in zip(pairs, values, strict=True)])
        return lists

    def belongs_to_results(self, relevant: IdColumn, retrieved: IdColumn) -> bool:
        """Return whether this column has a number for each retrieved id, not each relevant one."""
        if self.by_user or not matching("grades", [self.name])[1]:
            return False
        lengths = [len(self.parsed(cell, row) or ()) for row, cell in enumerate(self.cells)]
        of_relevant, of_retrieved = (
            lengths == [len(entries) for entries in column.lists]
            for column in (relevant, retrieved)
        )
        if of_relevant and of_retrieved:
            raise InputError(
                f"{self.table.source}: column {quote(self.name)} has a number for each id of "
                f"columns {quote(relevant.name)} and {quote(retrieved.name)}. Leave it out, or "
                f"say that it grades the relevant ids: columns={{'grades': {self.name!r}}} "
                f"(--columns grades={self.name})."
            )
        return of_retrieved

    def _refuse_flags(self, lists: Sequence[Sequence[Any] | None]) -> None:
        """Raise an error for 0 and 1 in rank order instead of the ids of relevant items."""
        types = {type(entry) for cell in lists for entry in cell or ()}
        may_be_flags = (
            self.kind is JUDGEMENTS
            and types == {int}
            and all(entry in (0, 1) for cell in lists for entry in cell or ())
        )
        for row, cell in enumerate(lists if may_be_flags or bool in types else ()):
            if cell and (len(set(cell)) < len(cell) or bool in set(map(type, cell))):
                raise self.error(
                    row,
                    f"holds {_shown(cell)}, which says of each result whether it is relevant, not "
                    "the ids of relevant items; judged.Rankings.from_relevance reads such lists.",
                )

    def parsed(self, cell: Any, row: int) -> Sequence[Any] | None:
        """Return the list in a cell; None if the cell is empty."""
        if isinstance(cell, str):
            text = cell.strip()
            is_id = self._is_called_id() or (self.by_user and not is_number(text))
            if is_id and text and text[0] not in "[{" and not _SEPARATED.search(text):
                return [text]
            cell = _parsed_list(text) if text else None
            if text and cell is None:
                raise self.error(
                    row,
                    f'holds {quote(text, 60)}, which is no list; write lists as JSON: ["a", "b"].',
                )
        if _is_missing(cell):
            return None
        if isinstance(cell, Mapping):
            numbers = all(isinstance(value, (Real, np.number)) for value in cell.values())
            names = [name for name in cell if isinstance(name, str)]
            if not numbers or "id" in cell or candidates("item", names):
                what = f"holds {_shown(cell)}; write a list of ids, or {{id: {self.kind.value}}}."
                raise self.error(row, what)
            return list(cell.items())
        if is_series(cell):
            return results_of_series(cell, self.table.place(row))
        if getattr(cell, "ndim", 0) == 1 or isinstance(cell, pl.Series):
            return list(cell.tolist() if hasattr(cell, "tolist") else cell)
        if isinstance(cell, (set, frozenset)):
            if self.kind is RUN:
                raise self.error(row, "holds a set, which has no order; give a list, best first.")
            return sorted(cell, key=str)
        if isinstance(cell, (list, tuple)):
            return cell
        if isinstance(cell, (int, np.integer)) and self._is_called_id():
            return [cell]
        shown = _shown(cell)
        raise self.error(row, f"holds {shown}, which is no list of ids; write [{shown}] for one.")

    def _is_called_id(self) -> bool:
        """Return whether the name ends in "id", so that a text alone is surely one."""
        return re.search(r"ids?$", self.name.strip(), re.IGNORECASE) is not None


def _parsed_list(text: str) -> Any:
    """Parse a list from JSON, or as Python prints it; return None if that is not certain."""
    # If a printed list has neither " nor \\, no text in it holds a quotation mark.
    has_no_marks = '"' not in text and "\\" not in text
    for spelling in (text, text.replace("'", '"')) if has_no_marks else (text,):
        try:
            return json.loads(spelling)
        except (ValueError, RecursionError):
            continue
    try:
        read = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    # Texts side by side ("['a' 'b']", as numpy prints them) become one in Python.
    same = repr(read).replace(" ", "") == text.replace(" ", "")
    return read if same and isinstance(read, (list, dict)) else None


def _shown(given: Any) -> str:
    return quote(given if isinstance(given, str) else repr(given), 60)


# Rows with a label and a score, as scikit-learn takes them: tables and arrays


def read_labelled(table: Sheet | None, named: NamedColumns) -> dict[Kind, Judgements | Run] | None:
    """Read a table with a label and a score in each row; None for other tables."""
    if table is None or not is_labelled(table.header, named):
        return None
    choice = {role: _column(role, table, named) for role in ("query", "item")}
    if has_lists(table.header, LISTS, named, alone=True):
        likely = [name for role in ("grade", "score") for name in label_columns(role, table.header)]
        cells = table.cells(likely)
        if "relevant" in named or "retrieved" in named or not _are_numbers(cells, choice["item"]):
            return None
    choice |= {role: _column(role, table, named) for role in ("grade", "score")}
    for role in named.positions(table.header):
        if role not in _ROLES_OF_LABELS:
            raise InputError(
                f"{table.source}: a column of {role}s has no place in a table of labels and "
                "scores; roles are query, item, label and score."
            )
    for kind in (JUDGEMENTS, RUN):
        named.record(kind, table.source, table.header)
    cells = table.cells([name for name in dict.fromkeys(choice.values()) if name is not None])
    grade, score = choice["grade"], choice["score"]
    assert grade is not None
    assert score is not None
    height = len(cells[grade])
    notes = [] if choice["query"] else [_one_query(table, choice.values())]
    values = {
        role: _numbers_in(cells[name], role, table)
        for role, name in (("grade", grade), ("score", score))
    }
    ids: dict[str, pl.Series] = {}
    for role, default in (("query", ["all"] * height), ("item", _numbers(height))):
        name = choice[role]
        column = column_of(name or role, default if name is None else cells[name])
        texts = id_texts(column.name, column.dtype, table.source, notes)
        ids[role] = pl.DataFrame([column]).select(texts.alias(role)).to_series()
    frame = pl.DataFrame({**ids, **values})
    read: dict[Kind, Judgements | Run] = {}

    def named_places(rows: Sequence[int]) -> str:
        return listed(list(map(table.row_name, rows)))

    for kind in (JUDGEMENTS, RUN):
        rows = complete(frame.select("query", "item", kind.value), kind, table.place)
        unchecked = unchecked_table(kind, rows, table.source, tuple(notes))
        read[kind] = replace(unchecked, places=named_places)
    return read


def _one_query(table: Sheet, used: Collection[str | None]) -> str:
    """Return a note, or a warning if a column that is not used repeats values as queries do."""
    note = f"{table.source}: {ONE_QUERY}"
    unused = [name for name in table.header if name not in used]
    for name, column in (table.cells(unused) if unused else {}).items():
        texts = list(map(str, column[:1000]))
        if 1 < len(set(texts)) < len(texts):
            return Warned(
                f"{note} If column {quote(name)} is the query, name it: "
                f"columns={{'query': {name!r}}} (--columns query={name})."
            )
    return note


def _column(role: str, table: Sheet, named: NamedColumns) -> str | None:
    """Return the column of a role, the user's first; several are an error."""
    names = label_columns(role, table.header, named)
    if len(names) > 1:
        raise say_which(_WORDS.get(role, role), names, table.source)
    return names[0] if names else None


def _are_numbers(cells: Mapping[str, Cells], item: str | None) -> bool:
    """Return whether these are numbers of items, and not ids, which may be numbers too."""
    texts = [str(cell).strip().lower() for column in cells.values() for cell in column[:100]]
    scalar = all(is_number(text) or text in _FLAGS for text in texts)
    return scalar and (item is not None or any("." in text for text in texts))


def _numbers_in(cells: Cells, role: str, table: Sheet) -> pl.Series:
    """Return labels or scores as numbers; anything else is an error that names its row."""
    column = column_of(role, cells)
    if column.dtype == pl.String:
        texts = column.str.strip_chars()
        if role == "grade":
            texts = texts.str.to_lowercase().replace(_FLAGS)
        numbers = texts.cast(pl.Float64, strict=False)
    elif column.dtype.is_numeric() or (column.dtype == pl.Boolean and role == "grade"):
        numbers = column.cast(pl.Float64)
    else:
        known = (Real, np.bool_) if role == "grade" else Real
        values = [float(cell) if isinstance(cell, known) else None for cell in cells]
        numbers = pl.Series(role, values, dtype=pl.Float64)
    wrong = (numbers.is_null() | numbers.is_nan()).arg_true()
    if not len(wrong):
        return numbers
    word, value = _WORDS.get(role, role), cells[wrong[0]]
    if value is None or value == "":
        what = "is missing"
    elif numbers[wrong[0]] is not None:
        what = "is NaN"
    else:
        expected = "a number, or true or false" if role == "grade" else "a number"
        what = f"is {quoted(value)}; a {word} is {expected}"
    raise InputError(f"{table.place(wrong[0])}: the {word} {what}.")


def _numbers(count: int) -> list[str]:
    """Return ids for items without ids, which cannot be ids of queries."""
    # Padded, so that ties break by place, whether queries are rows or share one row.
    return [f"#{number:0{len(str(count))}}" for number in range(1, count + 1)]


def labelled_arrays(y_true: Any, y_score: Any, query: Any = None) -> tuple[Judgements, Run]:
    """Return judgements and a run from labels and scores, in one row or in one row per query."""
    labels, scores = _rows("y_true", y_true), _rows("y_score", y_score)
    nested = [_is_nested(name, rows) for name, rows in (("y_true", labels), ("y_score", scores))]
    if len(labels) != len(scores) or nested[0] != nested[1]:
        raise InputError(
            f"y_true has {_shape(labels)} and y_score has {_shape(scores)}; they must have the "
            "same shape."
        )
    names = None if query is None else _rows("query", query)
    if names is not None and len(names) != len(labels):
        what = counted(len(labels), "row" if nested[0] else "label")
        raise InputError(f"query has {counted(len(names), 'value')} for {what}; give one for each.")
    if nested[0] and len(labels) > 1 and all(len(row) == 1 for row in labels):
        raise InputError(
            "y_true has one label in each row, so there is nothing to rank. Flatten y_true and "
            "y_score (ravel) if the rows are results of one query."
        )
    if not nested[0]:
        queries = ["all"] * len(labels) if names is None else names
        items = _numbers(len(labels))
        cells = {"query": queries, "item": items, "grade": labels, "score": scores}
    else:
        numbers = range(1, len(labels) + 1)
        cells = {"query": [], "item": [], "grade": [], "score": []}
        queries = [*map(str, numbers)] if names is None else names
        for number, name, row, row_scores in zip(numbers, queries, labels, scores, strict=True):
            grades, values = _rows(f"y_true[{number - 1}]", row), list(row_scores)
            if len(grades) != len(values):
                raise InputError(
                    f"row {number - 1} of y_true has {counted(len(grades), 'label')} and that of "
                    f"y_score {counted(len(values), 'score')}; they must have the same length."
                )
            cells["query"] += [name] * len(grades)
            cells["item"] += _numbers(len(grades))
            cells["grade"] += grades
            cells["score"] += values
    rows = (dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True))
    table = Sheet("y_true and y_score", list(cells), numbered(rows))
    read = read_labelled(table, NamedColumns({}, alone=True))
    assert read is not None
    judgements, run = read[JUDGEMENTS], read[RUN]
    assert isinstance(judgements, Judgements)
    assert isinstance(run, Run)
    return judgements, run


def _rows(name: str, given: Any) -> list[Any]:
    """Return an array, a tensor, a column or a list as a list."""
    if hasattr(given, "detach"):  # a tensor of torch, maybe on a graphics card
        given = given.detach().cpu()
    convert = getattr(given, "tolist", None) or getattr(given, "to_list", None)
    rows = convert() if callable(convert) else given
    if not isinstance(rows, (list, tuple)):
        raise InputError(f"{name} must be an array or a list; got {quoted(given)}.")
    if not rows:
        raise InputError(f"{name} is empty.")
    return list(rows)


def _is_nested(name: str, rows: Sequence[Any]) -> bool:
    nested = [isinstance(row, (list, tuple, np.ndarray)) for row in rows]
    if not any(nested):
        return False
    if not all(nested) or any(isinstance(cell, (list, tuple)) for row in rows for cell in row):
        raise InputError(f"{name} must have one dimension, or two: a row for each query.")
    return True


def _shape(rows: Sequence[Any]) -> str:
    return counted(len(rows), "row" if isinstance(rows[0], (list, tuple)) else "value")
