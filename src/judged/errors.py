"""One small tree of exceptions; each message says what was wrong, what was given and what to do."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # `import judged` loads this module: nothing slow here
    from collections.abc import Callable, Iterable
    from typing import Any


__all__ = [
    "ConventionError",
    "EngineError",
    "InputError",
    "JudgedError",
    "JudgedWarning",
    "MeasureError",
    "MissingExtraError",
    "OutputError",
    "PolicyError",
]


in_shell = False
"""True if messages name options instead of keywords; set by `main` of the command line."""


def for_caller(message: str) -> str:
    """Return a message with keywords for Python, or with options for the shell.

    A message names both, the option in parentheses.

    >>> for_caller("use missing='zero' (--missing zero), or leave it out (see sd, --sd)")
    "use missing='zero', or leave it out (see sd)"
    """
    if in_shell or "--" in message:
        import re

        for pattern, words in _SHELL if in_shell else _PYTHON:
            message = re.sub(pattern, words, message)
    return message


_INNER = r"[^()]*(?:\([^()]*\)[^()]*)*"
_VALUE = r"(?:\{[^{}]*\}|[\w.]+\([^()]*\)|'[^']*'|[\w.…]+)"
_PYTHON = ((rf" \(--{_INNER}\)", ""), (rf"\(({_INNER}), --{_INNER}\)", r"(\1)"))
_SHELL = (
    # Values begin where words begin, or a long id would take minutes.
    (rf"(?<![\w.])(?:[\w.]+=)?{_VALUE} \((--{_INNER})\)", r"\1"),
    (rf"\(see {_VALUE}, (--{_INNER})\)", r"(see \1)"),
    (rf"\((?:[\w.]+=)?{_VALUE}, (--{_INNER})\)", r"(with \1)"),
    (r"\bto_text\(verbose=True\)", "-v"),
    (r"\b([Uu]se|or|choose) (ties|missing|empty|unjudged|duplicates)=(\w+)\b", r"\1 --\2 \3"),
)
"""Patterns of both forms, and the form that stays."""


class JudgedError(Exception):
    """Anything judged refuses to do; the command line prints it, with a non-zero exit code."""

    def __str__(self) -> str:
        return for_caller(shortened(super().__str__()))


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


class EngineError(JudgedError, RuntimeError):
    """A cluster or database that cannot be reached, was lost, or cannot do what it was asked."""


class JudgedWarning(UserWarning):
    """A warning about a number that could mislead; the result contains it too."""

    def __str__(self) -> str:
        return for_caller(shortened(super().__str__()))


def warn(text: str) -> None:
    """Issue a `JudgedWarning` where the user's code called judged."""
    import warnings

    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == "judged":
        level, frame = level + 1, frame.f_back
    warnings.warn(text, JudgedWarning, stacklevel=level)


def did_you_mean(
    word: object,
    known: Iterable[str],
    *,
    cutoff: float = 0.6,
    key: Callable[[str], str] = str.lower,
) -> str:
    """Return the end of a sentence about an unknown name: the nearest known one, or a full stop.

    Names are compared by their `key`, and written as they are.

    >>> f"There is no measure 'nDCH'{did_you_mean('nDCH', ['AP', 'nDCG'])}"
    "There is no measure 'nDCH'; did you mean 'nDCG'?"
    >>> f"There is no measure 'XYZ'{did_you_mean('XYZ', ['AP', 'nDCG'])}"
    "There is no measure 'XYZ'."
    """
    if not isinstance(word, str) or len(word) > _QUOTED:
        return "."
    from difflib import get_close_matches

    by_key: dict[str, str] = {}
    for name in known:
        by_key.setdefault(key(name), name)
    near = get_close_matches(key(word), by_key, n=3, cutoff=cutoff)
    near = [name for name in near if _is_near(key(word), name)]
    return f"; did you mean {by_key[near[0]]!r}?" if near else "."


def _is_near(word: str, name: str) -> bool:
    """Return whether a name starts like a word, or few edits make one of the other."""
    if name.startswith(word) or word.startswith(name):
        return True
    previous: list[int] = []
    distances = list(range(len(name) + 1))
    for row, letter in enumerate(word, 1):
        before, previous, distances = previous, distances, [row]
        for column, other in enumerate(name, 1):
            changed = previous[column - 1] + (letter != other)
            least = min(changed, previous[column] + 1, distances[-1] + 1)
            if row > 1 and column > 1 and (letter, word[row - 2]) == (name[column - 2], other):
                least = min(least, before[column - 2] + 1)  # two letters swapped
            distances.append(least)
    return distances[-1] <= max(1, 2 * max(len(word), len(name)) / 5)


_QUOTED = 80
"""So much of a wrong value is quoted."""
MAX_WORD = 500
"""Ids, names and values of this length or more are cut in messages."""


def shortened(message: str) -> str:
    """Cut very long ids and values in a message: quoted texts, or words without white space.

    >>> shortened(f"query {'x' * 10**5!r} has no grade.") == f"query '{'x' * 79}…' has no grade."
    True
    """
    if len(message) <= MAX_WORD:
        return message
    import re

    between_quotes = rf"""(?<!\w)(['"])(?:(?!\1)[^\\\n]|\\.){{{MAX_WORD},}}\1"""
    message = re.sub(between_quotes, lambda match: f"{match[0][:_QUOTED]}…{match[1]}", message)
    return re.sub(rf"\S{{{MAX_WORD},}}", lambda match: f"{match[0][:_QUOTED]}…", message)


def quoted(given: Any) -> str:
    """Return a wrong value as a message quotes it, even if it is long or hard to print.

    >>> quoted("x"), quoted(10**5000)
    ("'x'", 'a number of more than 4,300 digits')
    """
    try:
        text = repr(given)
    except ValueError:
        return "a number of more than 4,300 digits"
    except Exception:
        return f"something of the type {type(given).__name__}"
    return text if len(text) <= _QUOTED else f"{text[:_QUOTED]}…"


_FORKED = (
    "polars was loaded before this process was forked. Threads do not survive a fork, so polars "
    "would deadlock. Start processes with multiprocessing.get_context('spawn') or 'forkserver', or "
    "pass dicts instead of files and frames."
)


def _guard_polars() -> None:
    """Make calls of polars by judged raise an error in a forked process.

    Calls of polars by other code are left alone.
    """
    polars = sys.modules.get("polars")
    if polars is None or hasattr(polars, "_judged_guard"):
        return
    polars._judged_guard = True  # type: ignore[attr-defined]
    for owner in (polars, polars.DataFrame, polars.LazyFrame, polars.Series):
        for name, function in tuple(vars(owner).items()):
            if type(function) is type(_guard_polars):
                setattr(owner, name, _raising_for_judged(function))


def _raising_for_judged(function: Callable[..., Any]) -> Callable[..., Any]:
    from functools import wraps

    @wraps(function)
    def guarded(*arguments: Any, **options: Any) -> Any:
        frame = sys._getframe(1)
        while frame is not None:
            module = frame.f_globals.get("__name__", "")
            if module.startswith("judged.") and module != __name__:
                raise JudgedError(_FORKED)
            frame = frame.f_back  # type: ignore[assignment]
        return function(*arguments, **options)

    return guarded


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_guard_polars)
