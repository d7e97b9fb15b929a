"""What concerns the whole process: temporary files, standard error, and polars after a fork."""

from __future__ import annotations

import io
import os
import sys

from judged.errors import JudgedError

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes longer to load than all the rest that `import judged` needs
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

TEMPORARY: set[str] = set()
"""Temporary files and folders, which a process that is stopped at once removes. A path is added
before the file is created, because a signal may arrive at any time."""


def remove_temporary() -> None:
    """Remove all temporary files and folders, with what `os` has alone: a signal may interrupt the
    import of anything else."""
    for path in tuple(TEMPORARY):
        for folder, _, names in os.walk(path, topdown=False):
            for name in names:
                _try(os.unlink, os.path.join(folder, name))
            _try(os.rmdir, folder)
        _try(os.unlink, path)


def _try(remove: Callable[[str], None], path: str) -> None:
    try:  # noqa: SIM105  # contextlib may be what a signal interrupts the import of
        remove(path)
    except OSError:
        pass


_messages = 2
"""The descriptor of the process's own messages."""


class StandardOutputError(OSError):
    """An error of writing to standard output; all other errors of the system are about files."""


class _WholeWriter(io.FileIO):
    """A file that takes all bytes, or raises. Python's own may take a part where the disk is full,
    or nothing where a pipe does not block, and with PYTHONUNBUFFERED nothing looks at that."""

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
    """Messages that cannot be written are lost: there is no other place for them, and the exit code
    must stay what it is."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


def take_streams() -> None:
    """Let standard output write all that it is given, or fail; standard error never fails.
    `sys.stderr` gets a descriptor of its own, so that what libraries in other languages print to
    descriptor 2 can be held back (see `hidden_panics`)."""
    global _messages
    if sys.stdout is not None:
        sys.stdout = _written_by(_StandardOutput(1, "w", closefd=False), sys.stdout)
    if sys.stderr is not None:
        _messages = os.dup(2)
        sys.stderr = _written_by(_StandardError(_messages, "w", closefd=False), sys.stderr)


def _written_by(file: io.FileIO, stream: Any) -> io.TextIOWrapper:
    writer = io.BufferedWriter(file)
    by_line = stream.line_buffering or stream.write_through
    return io.TextIOWrapper(writer, stream.encoding, stream.errors, line_buffering=by_line)


def has_separate_standard_error() -> bool:
    """Return True if libraries in other languages have descriptor 2 to themselves."""
    return _messages != 2


def show_last(message: bytes) -> None:
    """Print a message past all buffers, and bring back the cursor that a progress bar hid."""
    try:  # noqa: SIM105  # contextlib may be what a signal interrupts the import of
        os.write(_messages, (b"\x1b[?25h" if os.isatty(_messages) else b"") + message)
    except OSError:  # closed or full: the exit code has to do
        pass


FORKED = (
    "this process was forked while polars was in use, and polars would wait for ever in it. Start "
    "processes with multiprocessing.get_context('spawn') or 'forkserver', or evaluate dicts, which "
    "need no polars."
)
_in_use = _guarded = False


def _before_fork() -> None:
    global _in_use
    _in_use = "polars" in sys.modules and _polars_has_threads()


def _polars_has_threads() -> bool:
    """Whether polars has started threads to work in, which it does at its first task; assumed where
    the system does not tell the names of threads."""
    try:
        tasks = os.listdir("/proc/self/task")
    except OSError:
        return True
    for task in tasks:
        try:
            with open(f"/proc/self/task/{task}/comm") as file:
                name, _, rest = file.read().strip().partition("-")
        except OSError:  # it has just ended
            continue
        if (name == "polars" and rest.isdigit()) or name in ("async", "tokio"):
            return True
    return False


def _guard_polars() -> None:
    """Turn each use of polars by judged into an error. The threads of polars do not survive a fork,
    and whatever needs them would wait for ever. Other callers of polars are left alone."""
    global _guarded
    if not _in_use or _guarded:
        return
    _guarded = True
    import polars

    for owner in (polars, polars.DataFrame, polars.LazyFrame, polars.Series):
        for name, function in tuple(vars(owner).items()):
            if type(function) is type(_guard_polars):
                setattr(owner, name, _refusing_judged(function))


def _refusing_judged(function: Callable[..., Any]) -> Callable[..., Any]:
    from functools import wraps

    @wraps(function)
    def guarded(*arguments: Any, **options: Any) -> Any:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            module = frame.f_globals.get("__name__", "")
            if module.startswith("judged.") and module != __name__:
                raise JudgedError(FORKED)
            frame = frame.f_back
        return function(*arguments, **options)

    return guarded


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_guard_polars)
