"""How other libraries define the same names: data only, one file per library.

Each file holds one `CONVENTION`. A new file is found by itself.

>>> from judged.conventions import find
>>> [(name.theirs, name.ours) for name in find("ranx").names if name.theirs.startswith("ndcg_burges@")]
[('ndcg_burges@{k}', 'nDCG(gain=exp)@{k}')]
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from importlib import import_module

from judged.conventions.spec import Choices, Convention, Name, Option, Reading
from judged.errors import ConventionError

__all__ = ["Choices", "Convention", "Name", "Option", "Reading", "conventions", "find"]


@cache
def conventions() -> dict[str, Convention]:
    """Every convention by its name, in alphabetical order."""
    from pkgutil import iter_modules

    modules = [
        import_module(f"{__name__}.{found.name}")
        for found in iter_modules(__path__)
        if found.name != "spec"
    ]
    every: list[Convention] = [module.CONVENTION for module in modules]
    return {
        convention.name: convention
        for convention in sorted(every, key=lambda each: each.name.lower())
    }


def find(name: str) -> Convention:
    """A convention by one of its names; upper and lower case, -, _ and blanks are the same."""
    known = {
        _plain(spelling): each
        for each in conventions().values()
        for spelling in (each.name, *each.aliases)
    }
    if _plain(name) in known:
        return known[_plain(name)]
    close = get_close_matches(_plain(name), known, n=1)
    hint = f" Did you mean {known[close[0]].name!r}?" if close else ""
    raise ConventionError(
        f"there is no convention {name!r}.{hint} There is {', '.join(conventions())}."
    )


def _plain(name: str) -> str:
    return "".join(letter for letter in str(name).lower() if letter not in "-_ .")
