"""The bar of terms: the policy as a sentence, every part of which can be chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from judged.conventions import conventions, find
from judged.policy import CHOICES, DUPLICATES, SHORT, SHORT_DUPLICATES
from judged.web.terms import USUAL, Terms

if TYPE_CHECKING:
    from judged.web.asked import Asked


@dataclass(frozen=True)
class Choice:
    """One thing that may be chosen."""

    value: str
    words: str
    title: str = ""


@dataclass(frozen=True)
class Part:
    """One part of the sentence."""

    name: str
    begins: str
    choices: tuple[Choice, ...]
    chosen: str
    """What was chosen; empty where the convention or the library decides."""
    changed: bool = False
    """Whether the last change was about it."""


@dataclass(frozen=True)
class Bar:
    """What the template shows."""

    path: str
    hidden: tuple[tuple[str, str], ...]
    """The other parameters of the address, and the terms before a change."""
    policy: tuple[Part, ...]
    conventions: tuple[Choice, ...]
    convention: str
    depth: str
    duplicates_begin: str
    duplicates: tuple[Choice, ...]
    chosen_duplicates: str
    changed: frozenset[str]
    """The names of what the last change was about."""


def bar_of(asked: Asked, terms: Terms) -> Bar:
    """The bar of a page under its terms."""
    from urllib.parse import urlencode

    own = {*CHOICES, "convention", "depth", "duplicates", "was", "from"}
    hidden = [pair for pair in asked.params.pairs if pair[0] not in own]
    hidden.append(("was", urlencode(terms.to_params()) or USUAL))
    words, choices = SHORT_DUPLICATES
    theirs = Terms(terms.measures, {}, terms.convention).policy.to_dict()
    was = terms.was()
    changed = frozenset() if was is None else terms.differing(was)
    return Bar(
        asked.path,
        tuple(hidden),
        tuple(_part(name, terms, theirs[name], name in changed) for name in CHOICES),
        (
            Choice("", "judged's own"),
            *(Choice(each.name, each.title) for each in conventions().values()),
        ),
        terms.convention or "",
        "" if terms.depth is None else str(terms.depth),
        words,
        tuple(Choice(value, choices[value], says) for value, says in DUPLICATES.items()),
        terms.duplicates,
        changed,
    )


def _part(name: str, terms: Terms, theirs: str, changed: bool) -> Part:
    begins, words = SHORT[name]
    # What nobody chose is the convention's, or usual: a choice without a value, that stands first.
    title = "" if terms.convention is None else find(terms.convention).title
    unsaid = Choice("", f"{words[theirs]}, as {title} does" if title else words[theirs])
    chosen = terms.chosen.get(name, "")
    known = tuple(
        Choice(value, _sure(words[value]) if value == theirs else words[value], says)
        for value, says in CHOICES[name].items()
        # To choose the usual makes a difference where runs that lack many queries are compared.
        if value != theirs or title or value == chosen or name == "missing"
    )
    return Part(name, begins, (unsaid, *known), chosen, changed)


def _sure(words: str) -> str:
    return f"{words}, by choice"
