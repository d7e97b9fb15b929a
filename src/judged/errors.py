"""One small tree of exceptions; each message says what was wrong, what was given and what to do."""


class JudgedError(Exception):
    """Anything judged refuses to do. The command line prints its text and exits with a non-zero
    code."""


class InputError(JudgedError, ValueError):
    """A run, judgements or relevance lists that cannot be read or evaluated as they are."""


class MeasureError(JudgedError, ValueError):
    """A measure or one of its parameters that does not exist or does not fit."""


class PolicyError(JudgedError, ValueError):
    """A policy that does not exist, or that the data does not allow (`missing="error"`, say)."""


class ConventionError(JudgedError, ValueError):
    """A convention of another library that does not exist, or names whose policies cannot hold at
    once."""


class OutputError(JudgedError, OSError):
    """A result that could not be written; nothing was left half-written."""


class MissingExtraError(JudgedError, ImportError):
    """A part of judged whose optional dependencies are not installed."""
