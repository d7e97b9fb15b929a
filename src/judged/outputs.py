"""Files out: written beside their place and moved there whole, so that nothing is ever half-written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from judged.errors import OutputError


def check_target(path: str | os.PathLike[str]) -> None:
    """Refuse a place that cannot be written to, before any work is done for it."""
    target = Path(path)
    if target.is_dir():
        raise OutputError(f"{target}: is a directory; give a file to write to.")
    if not target.parent.is_dir():
        raise OutputError(f"{target}: there is no folder {target.parent}; make it first.")
    if not os.access(target.parent, os.W_OK):
        raise OutputError(f"{target}: the folder {target.parent} cannot be written to.")


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary file in the same folder, which takes the place of `path` when all went well."""
    target = Path(path)
    check_target(target)
    try:
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise _refused(target, error) from error
    os.close(descriptor)
    temporary = Path(name)
    try:
        yield temporary
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(target)
    except OSError as error:
        raise _refused(target, error) from error
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a whole text file, or nothing."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def _refused(target: Path, error: OSError) -> OutputError:
    return error if isinstance(error, OutputError) else OutputError(f"{target}: cannot be written ({error.strerror or error}).")
