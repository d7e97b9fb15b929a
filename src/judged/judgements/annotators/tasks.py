"""What is to be judged, read from a file: queries and items, perhaps with what they say."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from judged.errors import InputError
from judged.inputs.columns import candidates, surest
from judged.inputs.sheets import Nested, Sheet, names_columns, sheet_of
from judged.inputs.tables import Kind
from judged.inputs.texts import QUERY_TEXTS, TEXTS, TITLES, Text
from judged.judgements.annotators.log import Place
from judged.text import counted

KIND = Kind("a queue", "grade", "the columns query and item, perhaps grade, title and text")


@dataclass(frozen=True, eq=False)
class Tasks:
    """What is to be judged."""

    places: tuple[Place, ...]
    """Queries and items, each once, in the order of the file."""
    notes: tuple[str, ...] = ()
    """What was left out, a sentence each."""
    texts: Mapping[str, Text] = field(default_factory=dict)
    """What items say, where the file has it."""
    queries: Mapping[str, Text] = field(default_factory=dict)
    """What queries say, where the file has it."""


def read_tasks(path: str | os.PathLike[str]) -> Tasks:
    """What a file says is to be judged: a table with the columns query and item, as `judged queue`
    writes it. Rows that have a grade are judged already, and are left out.

    Parameters
    ----------
    path : str or path
        The file: CSV, TSV, NDJSON, JSON or Parquet.

    Returns
    -------
    Tasks

    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "queue.csv"
    >>> _ = file.write_text("query,item,grade\\nq1,d1,\\nq1,d2,1\\n")
    >>> tasks = read_tasks(file)
    >>> tasks.places, tasks.notes
    ((('q1', 'd1'),), ('1 row of queue.csv has a grade already, and is left out.',))
    """
    sheet = sheet_of(path, KIND, "a queue", names_columns)
    name = os.path.basename(os.fspath(path))
    if isinstance(sheet, Nested) or not sheet.headed:
        raise InputError(f"{path}: {KIND.phrase} is a table with {KIND.columns}.")
    columns = {}
    for role in ("query", "item"):
        if not candidates(role, sheet.header):
            raise InputError(
                f"{path}: no column is the {role}; {KIND.phrase} has {KIND.columns}. There is "
                f"{', '.join(sheet.header)}."
            )
        columns[role] = sheet.header[surest(role, sheet.header, sheet.source)]
    queries, items = (sheet.ids(columns[role], role).to_list() for role in ("query", "item"))
    judged = _judged(sheet)
    places = list(zip(queries, items, strict=True))
    open_ = dict.fromkeys(place for place, has in zip(places, judged, strict=True) if not has)
    notes = []
    if done := sum(judged):
        verb = "has a grade already, and is" if done == 1 else "have a grade already, and are"
        notes.append(f"{counted(done, 'row')} of {name} {verb} left out.")
    taken = set(columns.values())
    return Tasks(
        tuple(open_),
        tuple(notes),
        _said(sheet, items, TITLES, TEXTS, taken),
        _said(sheet, queries, (), QUERY_TEXTS[1:], taken),
    )


def _judged(sheet: Sheet) -> list[bool]:
    """Whether each row has a grade."""
    found = candidates("grade", sheet.header)
    if not found:
        return [False] * sheet.frame.height
    column = sheet.frame[sheet.header[found[0]]].to_list()
    return [each is not None and str(each).strip() not in ("", "nan") for each in column]


def _said(
    sheet: Sheet, ids: list[str], titles: tuple[str, ...], texts: tuple[str, ...], taken: set[str]
) -> dict[str, Text]:
    """What ids say, by the first columns of these names."""
    by_name = {name.lower(): name for name in reversed(sheet.header) if name not in taken}
    title, text = (
        next((by_name[name] for name in names if name in by_name), None)
        for names in (titles, texts)
    )
    if title is None and text is None:
        return {}
    height = sheet.frame.height
    columns = [
        [""] * height if name is None else [str(each or "") for each in sheet.frame[name].to_list()]
        for name in (title, text)
    ]
    return {id: Text(*said) for id, *said in zip(ids, *columns, strict=True)}
