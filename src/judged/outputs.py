"""Outputs: files written whole or not at all, temporary files, and the standard streams."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import combinations
from pathlib import Path
from typing import Any

from judged.errors import OutputError, quoted
from judged.text import listed

TEMPORARY: set[str] = set()
"""Temporary files and folders, removed when a signal ends the process. A path is added before the
file is created, because a signal may arrive at any time."""


def check_target(
    path: str | os.PathLike[str], *, reads: Iterable[str | os.PathLike[str]] = ()
) -> None:
    """Raise an error if a file cannot be written, or is one of those in `reads`."""
    if not isinstance(path, (str, os.PathLike)) or not isinstance(os.fspath(path), str):
        raise OutputError(f"a file to write to is named by a text or a path; got {quoted(path)}.")
    if not os.fspath(path):
        raise OutputError("the name of the file to write to is empty; give a file.")
    target = Path(path)
    try:
        os.lstat(target)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, ValueError) as error:  # a name that is too long, or has a NUL in it
        raise _refused(target, error) from None
    if os.path.isdir(target):
        raise OutputError(f"{target}: is a directory; give a file to write to.")
    if is_device(target):
        return
    if any(_is_at(other, target) for other in reads):
        raise OutputError(f"{target}: is read by this very command; write to another file.")
    folder = _place(target).parent
    if not os.path.isdir(folder):
        raise OutputError(f"{target}: there is no folder {folder}; make it first.")
    if not os.access(folder, os.W_OK):
        raise OutputError(f"{target}: the folder {folder} cannot be written to.")
    if os.path.exists(target) and not os.access(target, os.W_OK):
        raise OutputError(
            f"{target}: is write-protected; give another file, or allow writing to it."
        )


def check_distinct(targets: Mapping[str, str | os.PathLike[str]]) -> None:
    """Refuse two outputs in one place; `targets` has the file of each option."""
    named = [(option, Path(path)) for option, path in targets.items() if not is_device(Path(path))]
    for (one, first), (other, second) in combinations(named, 2):
        # Where case does not count, two names that differ in it are one file.
        same = os.path.realpath(first).casefold() == os.path.realpath(second).casefold()
        if same or _is_at(first, second):
            raise OutputError(
                f"{second}: is what both {one} and {other} would write; give each a file of its "
                "own."
            )


def _is_at(other: str | os.PathLike[str], target: Path) -> bool:
    """Return whether an input file, or standard input ("-"), is the target."""
    try:
        read = os.fstat(0) if os.fspath(other) == "-" else os.stat(other)
        return os.path.samestat(read, os.stat(target))
    except (OSError, ValueError):
        return False


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary file in the same folder, which replaces `path` on success.

    A link stays a link: what it points to is replaced. A device or a pipe is never replaced, but
    written into at the end.
    """
    import shutil
    import tempfile

    target = Path(path)
    check_target(target)
    device, place = is_device(target), _place(target)
    folder = tempfile.gettempdir() if device else place.parent
    temporary = Path(folder, f".judged.{os.urandom(8).hex()}")
    TEMPORARY.add(str(temporary))
    try:
        temporary.touch(0o600, exist_ok=False)
        yield temporary
        if device:
            with temporary.open("rb") as source, target.open("ab") as sink:
                shutil.copyfileobj(source, sink)
        else:
            temporary.chmod(_mode(place))
            temporary.replace(place)
    except OSError as error:
        raise _refused(target, error) from error
    except Exception as error:
        if type(error).__module__ != "polars.exceptions":
            raise
        raise _refused(target, error) from error  # the disk is full, in the words of polars
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()
        TEMPORARY.discard(str(temporary))


def is_device(target: Path) -> bool:
    """Return whether a path is a device, a FIFO or an open file of this process."""
    opened = os.path.abspath(target).startswith(
        ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/")
    )
    return os.path.exists(target) and (
        opened or not (os.path.isfile(target) or os.path.isdir(target))
    )


def _place(target: Path) -> Path:
    return Path(os.path.realpath(target)) if os.path.islink(target) else target


def _mode(place: Path) -> int:
    """Return the permissions of the file, or of a new file."""
    if place.exists():
        return stat.S_IMODE(place.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def checked_ending(path: str | os.PathLike[str], endings: Sequence[str]) -> str:
    """Return the file extension of an output, if its format is supported."""
    ending = Path(path).suffix.lower()
    if ending not in endings:
        raise OutputError(
            f"{path}: the ending says the format, and must be {listed(endings, 'or')}."
        )
    return ending


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a whole text file, or nothing."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def _refused(target: Path, error: Exception) -> OutputError:
    if isinstance(error, OutputError):
        return error
    return OutputError(
        f"{target}: cannot be written ({getattr(error, 'strerror', None) or error})."
    )


def remove_temporary() -> None:
    """Remove all temporary files and folders.

    Signal handlers call this, so it imports nothing.
    """
    for path in tuple(TEMPORARY):
        for folder, _, names in os.walk(path, topdown=False):
            for name in names:
                _try(os.unlink, os.path.join(folder, name))
            _try(os.rmdir, folder)
        _try(os.unlink, path)


def _try(remove: Callable[[str], None], path: str) -> None:
    with suppress(OSError):
        remove(path)


class StandardOutputError(OSError):
    """An error of writing to standard output, in contrast to errors of files."""


class _WholeWriter(io.FileIO):
    """A file that takes all bytes, or raises.

    `io.FileIO` may take only a part where a disk is full, or nothing where a pipe does not block,
    and with PYTHONUNBUFFERED nothing checks that.
    """

    def write(self, data: Any) -> int:
        left = memoryview(data).cast("B")
        size = len(left)
        while left:
            written = super().write(left)
            if written:
                left = left[written:]
            else:
                import select

                select.select([], [self.fileno()], [])
        return size


class _StandardOutput(_WholeWriter):
    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise StandardOutputError(error.errno, error.strerror) from None


class _StandardError(_WholeWriter):
    """Standard error that loses what it cannot write: the exit code must stay what it is."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


def open_standard_streams() -> None:
    """Make standard output write everything or fail, and standard error never fail."""
    if sys.stdout is not None:
        sys.stdout = _text_stream(_StandardOutput(1, "w", closefd=False), sys.stdout)
    if sys.stderr is not None:
        sys.stderr = _text_stream(_StandardError(2, "w", closefd=False), sys.stderr)


def _text_stream(file: io.FileIO, stream: Any) -> io.TextIOWrapper:
    by_line = stream.line_buffering or stream.write_through
    return io.TextIOWrapper(
        io.BufferedWriter(file), stream.encoding, stream.errors, line_buffering=by_line
    )


def print_last_words(message: str) -> None:
    """Print a message past all buffers, and show the cursor that a progress bar may have hidden."""
    show_cursor = "\x1b[?25h" if os.isatty(2) else ""
    with suppress(OSError):  # closed or full: the exit code remains
        os.write(2, f"{show_cursor}judged: {message}\n".encode())
