"""What is known of another library: its names, in our notation, its policy, and where it differs or
errs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

Choices = Mapping[str, str]
"""Some choices of a policy, {"empty": "skip"}; the others are judged's defaults."""

_PLACE = re.compile(r"\{(\w+)\}")
_VALUE = {"k": r"[1-9]\d*"}
_NUMBER = r"\d*\.?\d+"


@dataclass(frozen=True)
class Name:
    """One of a library's names, and our measure for it.

    >>> name = Name("map@{k}", "AP@{k}")
    >>> name.read("MAP@10"), name.read("ndcg@10")
    ({'k': '10'}, None)
    """

    theirs: str
    """As its users write it; {k} is the place of a cutoff, {rel} or {p} that of another number."""
    ours: str
    """The same in our notation, with the same places. Empty where it cannot be expressed; then
    `note` says why."""
    note: str = ""
    """How it differs from our measure with its usual parameters: a sentence, or nothing where it
    does not."""
    policy: Choices = field(default_factory=dict)
    """Where this name has a policy of its own, unlike the rest of the library."""
    aliases: tuple[str, ...] = ()
    """Other spellings, with the same places."""

    @property
    def places(self) -> tuple[str, ...]:
        """What stands in braces: ("k",)."""
        return tuple(_PLACE.findall(self.theirs))

    def read(self, text: str) -> dict[str, str] | None:
        """What stands at each place of a text, where it is this name; upper and lower case and
        blanks do not matter."""
        tight = re.sub(r"\s", "", text)
        for spelling in (self.theirs, *self.aliases):
            if found := re.fullmatch(_pattern(spelling), tight, re.IGNORECASE):
                return found.groupdict()
        return None

    def filled(self, places: Mapping[str, object]) -> tuple[str, str]:
        """Their text and ours with values at their places."""
        return _fill(self.theirs, places), _fill(self.ours, places)


def _pattern(spelling: str) -> str:
    """The spelling as a regular expression, one group a place."""
    parts = _PLACE.split(re.sub(r"\s", "", spelling))
    return "".join(
        f"(?P<{part}>{_VALUE.get(part, _NUMBER)})" if number % 2 else re.escape(part)
        for number, part in enumerate(parts)
    )


def _fill(template: str, places: Mapping[str, object]) -> str:
    return _PLACE.sub(lambda found: str(places[found[1]]), template)


@dataclass(frozen=True)
class Option:
    """An option of a library that changes what its numbers mean, and the same as our policy or
    parameters."""

    theirs: str
    """As its users write it."""
    says: str
    """What it does, in a sentence."""
    policy: Choices = field(default_factory=dict)
    """The choices of our policy that do the same."""
    params: Mapping[str, str] = field(default_factory=dict)
    """The parameters of our measures that do the same, {"rel": "{n}"}."""


@dataclass(frozen=True)
class Convention:
    """How a library, a script or a benchmark defines its numbers, in terms of ours.

    >>> from judged.conventions import find
    >>> find("ranx").version
    '0.3.21'
    """

    name: str
    """What `convention=` takes."""
    title: str
    version: str
    """The version that was compared; empty where it has none."""
    verified: str
    """How it was compared, in a sentence."""
    names: tuple[Name, ...]
    policy: Choices = field(default_factory=dict)
    """The choices in which it differs from judged's defaults."""
    options: tuple[Option, ...] = ()
    differences: tuple[str, ...] = ()
    """A sentence for each thing that it does in another way than judged by default; `policy` and
    `names` do the same."""
    wrong: tuple[str, ...] = ()
    """What it does wrong or leaves to chance. judged does not imitate that."""
    package: str = ""
    """The distribution that was compared, where there is one to install."""
    tolerance: float = 1e-9
    """How far its numbers lie from ours at most: more than 1e-9 where it rounds or computes in
    single precision."""
    aliases: tuple[str, ...] = ()
    """Other names of the library."""
    reads: Callable[[str], list[str] | None] | None = None
    """A way to read texts that no template covers: our measures for a text, or None."""

    def read(self, text: str) -> Iterator[Reading]:
        """What a text means where it is one of the library's names; nothing where it is not."""
        for name in self.names:
            places = name.read(text)
            if places is not None:
                theirs, ours = name.filled(places)
                yield Reading(theirs, ours, name)
                return
        for ours in (self.reads(text) if self.reads else None) or []:
            yield Reading(text.strip(), ours, Name(text.strip(), ours))


@dataclass(frozen=True)
class Reading:
    """One of a library's names with its numbers filled in, and our measure."""

    theirs: str
    ours: str
    name: Name
