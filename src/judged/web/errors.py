"""Errors of pages and of the API, each with its HTTP status."""

from __future__ import annotations

import sys
import traceback
from secrets import token_hex

from judged.errors import InputError, JudgedError


class RefusedError(InputError):
    """A wrong request; `where` names the parameter or header.

    Besides 400, the status may be 403 (no key, another site), 409 (impossible at present) or 413
    (too large).
    """

    status = 400

    def __init__(
        self, message: str, where: str | None = None, *, status: int | None = None
    ) -> None:
        super().__init__(message)
        self.where = where
        if status is not None:
            self.status = status


class GoneError(RefusedError):
    """A page, query, system or file that does not exist (any more)."""

    status = 404


class UnreadableError(RefusedError):
    """A file that cannot be read or evaluated; `file` is set if it can be left out."""

    status = 422

    def __init__(self, message: str, where: str | None = None, file: str | None = None) -> None:
        super().__init__(message, where)
        self.file = file


class UndecidedError(RefusedError):
    """It is unclear which files to evaluate."""

    status = 409


class StoppedError(JudgedError):
    """A job that the user stopped."""

    status = 409


def status_of(error: JudgedError) -> int:
    """Return the HTTP status of an error, by default 400."""
    return int(getattr(error, "status", 400))


def report_crash(error: BaseException) -> str:
    """Print the traceback of a crash to the terminal, and return the message of pages."""
    id = token_hex(2)
    sys.stderr.write(f"judged: request {id} failed:\n{''.join(traceback.format_exception(error))}")
    return f"Something went wrong here ({id}). The terminal has the details; nothing was lost."
