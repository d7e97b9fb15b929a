"""What a report was made from and by: files with their sizes and hashes, and versions."""

from __future__ import annotations

import hashlib
import os
import platform
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

from judged import __version__
from judged.inputs.formats import named_file

LIBRARIES = ("numpy", "polars", "scipy", "vl-convert-python")
"""What numbers and pictures come from, beside judged itself."""
_BLOCK = 1 << 20


@dataclass(frozen=True)
class File:
    """A file that was read, by its name alone: where it lay is nobody's business."""

    role: str
    """What it was read as: judgements, run, texts, …"""
    name: str
    """Its name; with the folder before it where two files have one name."""
    size: int | None
    """In bytes; None of what cannot be read again, such as standard input."""
    sha256: str | None
    """The hash of the bytes as they lie on the disk."""

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {"role": self.role, "name": self.name, "bytes": self.size, "sha256": self.sha256}


def versions() -> dict[str, str]:
    """What a report was made by.

    >>> next(iter(versions()))
    'judged'
    """
    found = {"judged": __version__, "Python": platform.python_version()}
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return found


def files(given: Mapping[str, Any]) -> tuple[File, ...]:
    """The files among what was given, by the role of each; what is no file has no row.

    >>> files({"judgements": {"q": {"a": 1}}})
    ()
    """
    paths = [(role, path) for role, each in given.items() for path in paths_in(each)]
    names = short_names([path for _, path in paths])
    return tuple(
        File(role, name, *_measured(path)) for (role, path), name in zip(paths, names, strict=True)
    )


def paths_in(given: Any) -> Iterator[str]:
    """The files in what somebody gave for one thing: a path, NAME=FILE, FILE::ARRAY, table:FILE, or
    several of them."""
    if isinstance(given, Mapping):
        given = [each for each in given.values() if isinstance(each, (str, PathLike))]
    for each in given if isinstance(given, (list, tuple)) else [given]:
        if isinstance(each, str):
            named = [each, each.partition("::")[0], each.removeprefix("table:")]
            named += named_file(each)[1:] if "=" in each else ()
            found = (path for path in named if path == "-" or os.path.isfile(path))
            yield from islice(found, 1)
        elif isinstance(each, PathLike):
            yield str(os.fspath(each))


def short_names(paths: Iterable[str]) -> list[str]:
    """The names of files; those that have one name get as much of the way to them as tells them
    apart.

    >>> short_names(["/home/me/a/top.run", "/home/me/b/top.run", "qrels.txt", "-"])
    ['a/top.run', 'b/top.run', 'qrels.txt', '-']
    """
    parts = [Path(path).absolute().parts if path != "-" else ("-",) for path in paths]
    shown = [list(each[-1:]) for each in parts]
    while True:
        counts = Counter(map(tuple, shown))
        distinct = {tuple(each): set() for each in shown}  # type: dict[tuple[str, ...], set[Any]]
        for each, whole in zip(shown, parts, strict=True):
            distinct[tuple(each)].add(whole)
        grown = False
        for at, whole in enumerate(parts):
            own = tuple(shown[at])
            if counts[own] > 1 and len(distinct[own]) > 1 and len(own) < len(whole):
                shown[at] = list(whole[-len(own) - 1 :])
                grown = True
        if not grown:
            return ["/".join(each) for each in shown]


def _measured(path: str) -> tuple[int | None, str | None]:
    if path == "-" or not os.path.isfile(path):
        return None, None
    digest, size = hashlib.sha256(), 0
    with open(path, "rb") as handle:
        while block := handle.read(_BLOCK):
            digest.update(block)
            size += len(block)
    return size, digest.hexdigest()
