"""What items and queries say and look like, from files that lie beside the runs: texts, pictures
and attributes."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judged.errors import JudgedError
from judged.inputs.attributes import attributes_of
from judged.inputs.tables import Lookup
from judged.inputs.texts import Of, Text, Texts, read_texts
from judged.web.jobs import progress_of_this_work

if TYPE_CHECKING:
    import polars as pl

    from judged.web.asked import Asked
    from judged.web.files import Found

LARGE = 64 * 10**6
"""Of a file with more bytes, only the texts of items are kept that a run lists or somebody judged.
"""


@dataclass(frozen=True, eq=False)
class Said:
    """Texts of items or of queries, and what could not be read."""

    texts: Mapping[str, Text] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    """The library's sentences."""


def texts_of(asked: Asked) -> Said:
    """The titles and texts of items, of all tables that have some."""
    return _said(asked, "texts", "items")


def queries_of(asked: Asked) -> Said:
    """The texts of queries."""
    return _said(asked, "queries", "queries")


def _said(asked: Asked, kind: str, of: Of) -> Said:
    files = [file for file in asked.workspace.of_kind(kind) if not has_pictures(file)]
    found: list[Texts] = []
    problems = []
    for file in files:
        try:
            key = "texts", of, file.identity
            found.append(asked.cache.get(key, partial(_read, asked, file, of)))
        except JudgedError as error:
            problems.append(str(error))
    return Said(ChainMap(*found) if found else {}, tuple(problems))  # type: ignore[arg-type]


def _read(asked: Asked, file: Found, of: Of) -> Texts:
    progress_of_this_work().say(f"Reading {file.name}")
    large = of == "items" and file.size > LARGE and not asked.workspace.undecided
    only = _needed(asked) if large else None
    return read_texts(file.path, of=of, only=only)


def _needed(asked: Asked) -> Collection[str]:
    known = asked.calculations
    needed: set[str] = set()
    for table in (known.judgements(), *(known.run(system.name) for system in known.systems)):
        if isinstance(table, Lookup):
            for each in table.lists.values():
                needed.update(each)
        else:
            needed.update(table.frame["item"].unique().to_list())
    return needed


def has_pictures(file: Found) -> bool:
    """Whether a table says where pictures are."""
    return {"id", "picture"} <= set(file.columns)


def pictures_of(asked: Asked) -> Mapping[str, Path]:
    """Where the picture of each item is, of those that may be shown: files inside the folder, or
    beside the table that names them."""
    found: dict[str, Path] = {}
    for file in asked.workspace.of_kind("texts", "queries", "attributes", "labels", "other"):
        if not has_pictures(file) or file.uploaded:
            continue
        folder = (asked.library.folder or file.path.parent).resolve()

        key = "pictures", file.identity, str(folder)
        found |= asked.cache.get(key, partial(_pictures, file, folder))
    return found


def _pictures(file: Found, folder: Path) -> dict[str, Path]:
    from judged.charts.pictures import read_pictures

    paths = {name: Path(str(place)) for name, place in read_pictures(file.path).items()}
    return {name: path for name, path in paths.items() if _inside(path, folder)}


def _inside(path: Path, folder: Path) -> bool:
    try:
        return path.resolve().is_relative_to(folder)
    except (OSError, ValueError, RuntimeError):  # a loop of links, a name that no file can have
        return False


def attributes_of_queries(asked: Asked, queries: tuple[str, ...]) -> tuple[pl.DataFrame, list[str]]:
    """What is known of each query, a column each; and what could not be read."""
    import polars as pl

    columns: dict[str, Any] = {}
    problems: list[str] = []
    for file in asked.workspace.of_kind("attributes"):
        try:
            key = "attributes", file.identity, asked.workspace.identity
            read = partial(attributes_of, str(file.path), queries)
            frame = asked.cache.get(key, read).frame
            columns |= {name: frame[name] for name in frame.columns}
        except JudgedError as error:
            problems.append(str(error))
    return pl.DataFrame(columns), problems
