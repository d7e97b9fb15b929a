"""One small tree of exceptions; each message says what was wrong, what was given and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


class JudgedError(Exception):
    """Anything judged refuses to do; the command line prints it, with a non-zero exit code."""


class InputError(JudgedError, ValueError):
    """A run, judgements or relevance lists that cannot be read or evaluated as they are."""


class MeasureError(JudgedError, ValueError):
    """A measure or one of its parameters that does not exist or does not fit."""


class PolicyError(JudgedError, ValueError):
    """A policy that does not exist, or that the data does not allow (`missing="error"`, say)."""


class ConventionError(JudgedError, ValueError):
    """A convention that does not exist, or names of one whose policies cannot hold at once."""


class OutputError(JudgedError, OSError):
    """A result that could not be written; nothing was left half-written."""


class MissingExtraError(JudgedError, ImportError):
    """A part of judged whose optional dependencies are not installed."""


def did_you_mean(
    word: object,
    known: Iterable[str],
    *,
    written: Mapping[str, str] | None = None,
    cutoff: float = 0.6,
) -> str:
    """The end of a sentence that says a name is unknown: the nearest known one, or a full stop.

    Where names are compared in another form than they are written in, `written` is {form: name}.

    >>> f"There is no measure 'nDCH'{did_you_mean('nDCH', ['AP', 'nDCG'])}"
    "There is no measure 'nDCH'; did you mean 'nDCG'?"
    >>> f"There is no measure 'XYZ'{did_you_mean('XYZ', ['AP', 'nDCG'])}"
    "There is no measure 'XYZ'."
    """
    from difflib import get_close_matches

    by_lower = {name.lower(): name for name in known}
    near = get_close_matches(str(word).lower(), by_lower, n=1, cutoff=cutoff)
    if not near:
        return "."
    name = by_lower[near[0]]
    return f"; did you mean {(written[name] if written else name)!r}?"
