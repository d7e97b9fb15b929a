"""What a page or the API refuses, each with the number of its answer."""

from __future__ import annotations

from judged.errors import InputError, JudgedError


class RefusedError(InputError):
    """Something that is not done, and where it was asked for."""

    status = 400

    def __init__(self, message: str, where: str | None = None) -> None:
        super().__init__(message)
        self.where = where


class ForbiddenError(RefusedError):
    """Somebody who may not look."""

    status = 403


class GoneError(RefusedError):
    """A page, a query, a system or a file that is not there, or not any more."""

    status = 404


class ConflictError(RefusedError):
    """Something that cannot be done as things are: two files of one name, nothing to evaluate."""

    status = 409


class TooLargeError(RefusedError):
    """An upload beyond a limit."""

    status = 413


class UnreadableError(RefusedError):
    """A file that is there and cannot be read or evaluated."""

    status = 422

    def __init__(self, message: str, where: str | None = None, file: str | None = None) -> None:
        super().__init__(message, where)
        self.file = file
        """The file that could be left out, where there are others."""


class UndecidedError(ConflictError):
    """Numbers were asked for, and it is not clear of which files."""


class UnpairedError(ConflictError):
    """Vectors were asked for, and it is not clear which files belong together."""


class StoppedError(JudgedError):
    """Work that somebody stopped."""

    status = 409


def status_of(error: JudgedError) -> int:
    """The number of the answer to an error of the library: what was asked for is wrong, unless it
    says otherwise."""
    return int(getattr(error, "status", 400))
