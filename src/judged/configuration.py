"""Limits of the process: memory, the folder for temporary files, and the number of threads."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from judged.errors import InputError, quoted
from judged.options import optional, size_in_bytes, whole

if TYPE_CHECKING:
    from types import TracebackType

LEAST_MEMORY = 20_000_000
"""Bytes below which no run can be read in blocks."""


@dataclass(frozen=True)
class Limits:
    """The limits in force; see `config`."""

    memory: int = 1_000_000_000
    """Bytes that reading a run may take, beyond the program and the judgements."""
    temporary: str | None = None
    """The folder for temporary files; None for the system's."""
    jobs: int | None = None
    """The number of runs that are read at once; None for one per core."""


class config:  # noqa: N801  # called like a function
    """Set limits of memory, temporary files and threads for all that follows.

    As a context manager it sets them back at the end of the block. Numbers never depend on them.

    Parameters
    ----------
    memory : str or int, optional
        How much memory a run may take while it is read, such as "2GB"; larger runs are read in
        blocks, and a run that is not grouped by query is sorted on disk first.
    temporary : str or os.PathLike, optional
        The folder for temporary files; by default the system's.
    jobs : int, optional
        How many runs are read at once; by default one per core.

    >>> import judged
    >>> with judged.config(memory="500MB"):
    ...     judged.evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").value()
    0.5
    """

    current: ClassVar[Limits] = Limits()
    """The limits in force."""

    def __init__(self, **changes: Any) -> None:
        self._before = config.current
        config.current = replace(config.current, **_check(changes))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        config.current = self._before


def _check(changes: dict[str, Any]) -> dict[str, Any]:
    checks = {"memory": _memory, "temporary": _folder, "jobs": _jobs}
    for name in changes:
        if name not in checks:
            raise InputError(f"config has no {quoted(name)}; it has {', '.join(checks)}.")
    return {name: checks[name](value) for name, value in changes.items()}


def _memory(value: Any) -> int:
    return size_in_bytes(value, at_least=LEAST_MEMORY)


def _jobs(value: Any) -> int | None:
    return optional(lambda name, given: whole(name, given, otherwise=", or None for one per core"))(
        "jobs", value
    )


def _folder(value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, (str, os.PathLike)):
        raise InputError(f"temporary must be a folder; got {quoted(value)}.")
    folder = os.fspath(value)
    if not os.path.isdir(folder):
        raise InputError(f"temporary: there is no folder {folder!r}; make it first.")
    if not os.access(folder, os.W_OK):
        raise InputError(f"temporary: the folder {folder!r} cannot be written to.")
    return folder
