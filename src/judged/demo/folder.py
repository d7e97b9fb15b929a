"""Folders that a demo writes into: made where they are missing, refused where they are taken."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from judged.errors import OutputError


def make(folder: Path) -> None:
    """Make the folder, where it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"{folder}: cannot be made a folder ({error.strerror}); name another one."
        ) from error


def check_place(readme: Path, first_line: str, others: Iterable[Path]) -> None:
    """Refuse a folder with files of the same names that are not those of a demo, whose README
    begins with a line of its own."""
    opened = first_line.encode()
    if readme.is_file() and readme.read_bytes()[: len(opened)] == opened:
        return
    for path in (readme, *others):
        if path.exists():
            raise OutputError(f"{path}: is there, and is no part of a demo; name another folder.")
