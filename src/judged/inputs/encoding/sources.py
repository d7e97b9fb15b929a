"""What is given to an encoder: texts, or paths of files, with their ids."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from judged.errors import InputError, quoted
from judged.inputs.dicts import as_id, is_list
from judged.inputs.texts import Of, Texts, read_texts
from judged.text import Warned, counted, few, quote

ONE: dict[Of, str] = {"queries": "query", "items": "item"}


@dataclass(frozen=True, eq=False)
class Inputs:
    """One side: what is encoded, in the order of its rows."""

    of: Of
    contents: tuple[str, ...]
    """Texts, or paths of files."""
    ids: tuple[str, ...] | None = None
    files: bool = False
    """Whether they are paths."""
    source: str = ""
    """What messages call the side."""
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.contents)

    def name(self, row: int) -> str:
        return self.ids[row] if self.ids is not None else str(row)

    @property
    def unit(self) -> tuple[str, str]:
        """What one of them is called, and several."""
        return ("file", "files") if self.files else ("text", "texts")


def read_inputs(given: Any, of: Of, *, paths: bool = False) -> Inputs:
    """Texts in any form that `read_texts` takes, or in a list; a folder of files; paths in a list
    or by id.

    With `paths`, texts are the paths of files.
    """
    source = f"the {of}"
    if isinstance(given, (str, PathLike)) and os.path.isdir(given):
        return _in_folder(Path(given), of)
    if isinstance(given, Mapping) and any(isinstance(each, PathLike) for each in given.values()):
        ids = tuple(as_id(name, source) for name in given)
        return _of_files(_paths(given.values(), source), ids, of, source)
    if hasattr(given, "to_list") and not hasattr(given, "columns"):  # a column of a table
        given = given.to_list()
    if is_list(given):
        rows = given.tolist() if hasattr(given, "tolist") else list(given)
        if not rows:
            raise InputError(f"{source}: there is nothing to encode; give at least one.")
        if any(isinstance(row, PathLike) for row in rows):
            return _of_files(_paths(rows, source), None, of, source)
        if any(isinstance(row, str) for row in rows):
            return _in_list(rows, of, source, paths=paths)
        given = rows
    texts = read_texts(given, of=of, strip=paths)
    source = texts.source if isinstance(given, (str, PathLike)) else source
    return _in_texts(texts, of, source, paths=paths)


def _in_list(rows: list[Any], of: Of, source: str, *, paths: bool) -> Inputs:
    for number, row in enumerate(rows, 1):
        if not isinstance(row, str):
            raise InputError(
                f"{source}, row {number}: {quoted(row)} is no text, as others are; give texts "
                "alone, or {id: text}."
            )
    if paths:
        return _of_files(rows, None, of, source)
    inputs = Inputs(of, tuple(rows), source=source)
    return Inputs(of, inputs.contents, source=source, notes=_of_empty(inputs))


def _in_texts(texts: Texts, of: Of, source: str, *, paths: bool) -> Inputs:
    ids = tuple(texts)
    if paths:
        return _of_files([texts.texts[name] for name in ids], ids, of, source)
    # Title and text as BEIR and those who follow it join them.
    said = tuple(
        " ".join(filter(None, (texts.titles.get(name), texts.texts[name]))) for name in ids
    )
    both = sum(bool(texts.texts[name]) for name in texts.titles)
    one, many = ONE[of], of
    joined = f"Title and text of {counted(both, one, many)} joined by a space."
    inputs = Inputs(of, said, ids, source=source)
    notes = (*((joined,) if both else ()), *_of_empty(inputs))
    return Inputs(of, said, ids, source=source, notes=notes)


def _of_empty(inputs: Inputs) -> tuple[str, ...]:
    """A warning where texts are empty: they are encoded as that, and perhaps should not be."""
    empty = [inputs.name(row) for row, text in enumerate(inputs.contents) if not text.strip()]
    if not empty:
        return ()
    some = counted(len(empty), f"{ONE[inputs.of]} has", f"{inputs.of} have")
    return (Warned(f"{some} an empty text ({few(empty)}), which was encoded as it is."),)


def _in_folder(folder: Path, of: Of) -> Inputs:
    """All files of a folder and those below it, in the order of their names, which are their
    ids."""
    found = sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    if not found:
        raise InputError(f"{folder}: there is no file in this folder.")
    return Inputs(of, tuple(str(folder / name) for name in found), tuple(found), True, str(folder))


def _paths(given: Iterable[Any], source: str) -> list[str]:
    paths = []
    for number, each in enumerate(given, 1):
        if not isinstance(each, (str, PathLike)) or not isinstance(fspath(each), str):
            raise InputError(
                f"{source}, row {number}: {quoted(each)} is no path of a file, as others are."
            )
        paths.append(fspath(each))
    return paths


def _of_files(paths: list[str], ids: tuple[str, ...] | None, of: Of, source: str) -> Inputs:
    inputs = Inputs(of, tuple(paths), ids, True, source)
    for row, path in enumerate(paths):
        if not os.path.isfile(path):
            raise InputError(
                f"{source}, {ONE[of]} {quote(inputs.name(row))}: there is no file {quote(path)}."
            )
    return inputs
