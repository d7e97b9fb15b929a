"""Definitions of the same measures by other libraries: data only.

The files in `libraries` hold a `Convention` for each library. New ones are found automatically.

>>> from judged.conventions import find
>>> [(name.theirs, name.ours) for name in find("ranx").names if "ndcg_burges@" in name.theirs]
[('ndcg_burges@{k}', 'nDCG(gain=exp)@{k}')]
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from judged.conventions.spec import (
    HELD,
    THRESHOLDS,
    WHEN,
    Caution,
    Choices,
    Convention,
    Name,
    Option,
)
from judged.errors import ConventionError, did_you_mean, quoted

__all__ = [
    "HELD",
    "THRESHOLDS",
    "WHEN",
    "Caution",
    "Choices",
    "Convention",
    "Name",
    "Option",
    "conventions",
    "find",
]


@cache
def conventions() -> dict[str, Convention]:
    """Return all conventions by name, in alphabetical order.

    >>> list(conventions())[:3]
    ['beir', 'clap', 'clip']
    """
    from pkgutil import iter_modules

    from judged.conventions import libraries

    modules = [
        import_module(f"{libraries.__name__}.{library.name}")
        for library in iter_modules(libraries.__path__)
    ]
    known = [
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, Convention)
    ]
    known.sort(key=lambda convention: convention.name.lower())
    return {convention.name: convention for convention in known}


@cache
def _by_spelling() -> dict[str, Convention]:
    return {
        _plain(spelling): convention
        for convention in conventions().values()
        for spelling in (convention.name, *convention.aliases)
    }


def find(name: str) -> Convention:
    """Return a convention by one of its names.

    Parameters
    ----------
    name : str
        The name or an alias, in any case; -, _, . and spaces do not matter.

    >>> find("TREC-Eval").name
    'trec_eval'
    """
    if not isinstance(name, str):
        raise ConventionError(f"a convention is the name of a library; got {quoted(name)}.")
    known = _by_spelling()
    if _plain(name) in known:
        return known[_plain(name)]
    spellings = [*conventions(), *known]
    raise ConventionError(
        f"There is no convention {quoted(name)}{did_you_mean(name, spellings, key=_plain)} "
        f"The conventions are {', '.join(conventions())}."
    )


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter not in "-_ .")
