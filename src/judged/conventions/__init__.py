"""How other libraries define the same names: data only, one file per library.

Each file holds one `CONVENTION`. A new file is found by itself.

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
    Reading,
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
    "Reading",
    "conventions",
    "find",
]


@cache
def conventions() -> dict[str, Convention]:
    """Every convention by its name, in alphabetical order.

    Returns
    -------
    dict of str to Convention

    >>> list(conventions())[:3]
    ['beir', 'clap', 'clip']
    """
    from pkgutil import iter_modules

    from judged.conventions import libraries

    modules = [
        import_module(f"{libraries.__name__}.{library.name}")
        for library in iter_modules(libraries.__path__)
    ]
    every: list[Convention] = [module.CONVENTION for module in modules]
    return {
        convention.name: convention
        for convention in sorted(every, key=lambda each: each.name.lower())
    }


def find(name: str) -> Convention:
    """A convention by one of its names.

    Parameters
    ----------
    name : str
        The name or an alias; upper and lower case do not matter, nor do -, _, . and blanks.

    Returns
    -------
    Convention

    >>> find("TREC-Eval").name
    'trec_eval'
    """
    if not isinstance(name, str):
        raise ConventionError(f"a convention is the name of a library; got {quoted(name)}.")
    known = {
        _plain(spelling): each
        for each in conventions().values()
        for spelling in (each.name, *each.aliases)
    }
    if _plain(name) in known:
        return known[_plain(name)]
    spellings = [*conventions(), *known]
    raise ConventionError(
        f"There is no convention {quoted(name)}{did_you_mean(name, spellings, key=_plain)} "
        f"There is {', '.join(conventions())}."
    )


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter not in "-_ .")
