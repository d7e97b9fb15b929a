"""Data on another library: its names in our notation, its policy, and where it differs or errs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

Choices = Mapping[str, str]
"""Some choices of a policy, such as {"empty": "skip"}; the others are judged's defaults."""

HELD = {"run": "library run", "output": "stored output", "reading": "reading of the source"}
"""Ways to compare a convention with its library, most reliable first."""

WHEN = {
    "tied": "judged results are tied",
    "tied in single precision": "judged results have scores that differ from others only beyond "
    "single precision",
    "not positive": "relevant results have scores of 0 or less",
    "own ids": "results have the id of their query",
    "graded": "grades are above 1",
    "fractional": "grades are not whole numbers",
    "negative": "grades are negative",
    "not relevant": "judgements have a grade below 1",
    "all relevant": "a query has no judgement of a grade from 0 to below 1",
    "nothing relevant": "a query has nothing relevant",
    "several relevant": "a query has more than one relevant item",
    "unlisted": "relevant items are missing from the lists",
    "uneven": "lists differ in length",
    "repeated": "rows about the same item were dropped",
    "unjudged queries": "the run has queries without judgements",
    "missing": "the run lacks judged queries",
    "not whole": "the number is not whole",
}
"""Properties of data for which a library's value differs from judged's by its convention."""

SINGLE = (
    "single precision: scores that differ only beyond it are tied there, and the item's id decides"
)
"""Effect of storing scores in single precision, as some libraries do."""

THRESHOLDS = {
    "half or tenth": (
        "relevant are, for each query, grades above 0 that reach half of the best grade and the "
        "90th percentile of all its grades"
    )
}
"""Rules by which a library decides for each query which grades are relevant."""


@dataclass(frozen=True)
class Caution:
    """A case in which a library's value differs from its convention; a warning if the data have it.

    Parameters
    ----------
    when : str
        The property of the data: a key of `WHEN`.
    says : str
        What the library does in that case, in a sentence.

    >>> Caution("tied", "It orders tied results by ascending id.").when
    'tied'
    """

    when: str
    says: str


_PLACE = re.compile(r"\{(\w+)\}")
_VALUE = {"k": r"[1-9]\d*"}
_NUMBER = r"\d*\.?\d+"


@dataclass(frozen=True)
class Name:
    """A name of a library, and our measure for it.

    Parameters
    ----------
    theirs : str
        As its users write it, with {k} for a cutoff, and {rel} or {p} for another number.
    ours : str
        The same in our notation, with the same places. Empty if it cannot be expressed; `note`
        then explains why.
    note : str, optional
        How it differs from our measure with its usual parameters, in a sentence.
    policy : Mapping, optional
        The policy of this name, if it differs from the rest of the library.
    aliases : tuple of str, optional
        Other spellings, with the same places.
    plain : bool, optional
        Whether our measure's name without parameters means it. False if the library calls it
        something else: R(norm=capped)@10 is RecTools' r_precision, and R@10 its Recall.
    threshold : str, optional
        A key of `THRESHOLDS`, if the library decides for each query what is relevant.
    undefined : float, optional
        Value of queries for which our measure is undefined, if no policy sets it.
    cautions : tuple of Caution, optional
        Data for which the library gives another value under this name.

    >>> name = Name("map@{k}", "AP@{k}")
    >>> name.read("MAP@10"), name.read("ndcg@10")
    ({'k': '10'}, None)
    """

    theirs: str
    ours: str
    note: str = ""
    policy: Choices = field(default_factory=dict)
    aliases: tuple[str, ...] = ()
    plain: bool = True
    threshold: str = ""
    undefined: float | None = None
    cautions: tuple[Caution, ...] = ()

    @property
    def places(self) -> tuple[str, ...]:
        """Names in braces, such as ("k",)."""
        return tuple(_PLACE.findall(self.theirs))

    def read(self, text: str) -> dict[str, str] | None:
        """Return the value at each place if a text is this name, else None.

        Parameters
        ----------
        text : str
            A text that may be this name; case and spaces do not matter.

        >>> Name("map@{k}", "AP@{k}").read("MAP @ 5")
        {'k': '5'}
        """
        tight = re.sub(r"\s", "", text)
        for spelling in (self.theirs, *self.aliases):
            if found := _pattern(spelling).fullmatch(tight):
                return found.groupdict()
        return None

    def filled(self, places: Mapping[str, object]) -> tuple[str, str]:
        """Return their text and ours with the places filled in.

        Parameters
        ----------
        places : Mapping
            {place: value}, such as {"k": 10}.

        >>> Name("map@{k}", "AP@{k}").filled({"k": 5})
        ('map@5', 'AP@5')
        """
        return _fill(self.theirs, places), _fill(self.ours, places)


@cache
def _pattern(spelling: str) -> re.Pattern[str]:
    """Return a spelling as a regular expression with one group per place."""
    parts = _PLACE.split(re.sub(r"\s", "", spelling))
    text = "".join(
        f"(?P<{part}>{_VALUE.get(part, _NUMBER)})" if number % 2 else re.escape(part)
        for number, part in enumerate(parts)
    )
    return re.compile(text, re.IGNORECASE)


def _fill(template: str, places: Mapping[str, object]) -> str:
    return _PLACE.sub(lambda found: str(places[found[1]]), template)


@dataclass(frozen=True)
class Option:
    """An option of a library that changes its values, and ours for it.

    Parameters
    ----------
    theirs : str
        As its users write it.
    says : str
        Its effect, in a sentence.
    policy : Mapping, optional
        Choices of our policy with the same effect.
    params : Mapping, optional
        Parameters of our measures with the same effect, such as {"rel": "{n}"}.
    depth : bool, optional
        Whether lists must be cut at k first for the policy to have the same effect.

    >>> Option("-c", "Missing queries count as 0.", policy={"missing": "zero"}).theirs
    '-c'
    """

    theirs: str
    says: str
    policy: Choices = field(default_factory=dict)
    params: Mapping[str, str] = field(default_factory=dict)
    depth: bool = False


@dataclass(frozen=True)
class Convention:
    """Definitions of a library, a script or a benchmark, in terms of ours.

    Parameters
    ----------
    name : str
        The name that `convention=` takes.
    title : str
        Its full name.
    version : str
        The compared version; empty if it has none.
    held : str
        How it was compared with the library: a key of `HELD`.
    verified : str
        The comparison in a sentence: the data, and what was left out.
    names : tuple of Name
        Its names of measures. If several mean one of ours, our name without parameters means the
        first that is `plain`, which is the library's default.
    policy : Mapping, optional
        Choices that differ from judged's defaults.
    options : tuple of Option, optional
        Its options that change values.
    differences : tuple of str, optional
        A sentence for each difference from judged's defaults; `policy` and `names` reproduce
        them.
    wrong : tuple of str, optional
        Errors and random behaviour, which judged does not imitate.
    drops_own_id : bool, optional
        Whether results that have the id of their query are removed first.
    needs_results : bool, optional
        Whether a query with an empty list of results counts as missing.
    cautions : tuple of Caution, optional
        Data for which the library gives other values under all of its names.
    package : str, optional
        The compared Python distribution, if there is one.
    tolerance : float, optional
        Largest difference of its values from ours: more than 1e-9 if it rounds or computes in
        single precision.
    aliases : tuple of str, optional
        Other names of the library.
    reads : callable, optional
        A function that reads texts that no template covers: it returns the names that a text
        means, with their places filled in, or None.

    >>> from judged.conventions import find
    >>> find("ranx").version
    '0.3.21'
    """

    name: str
    title: str
    version: str
    held: str
    verified: str
    names: tuple[Name, ...]
    policy: Choices = field(default_factory=dict)
    options: tuple[Option, ...] = ()
    differences: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    drops_own_id: bool = False
    needs_results: bool = False
    cautions: tuple[Caution, ...] = ()
    package: str = ""
    tolerance: float = 1e-9
    aliases: tuple[str, ...] = ()
    reads: Callable[[str], list[Name] | None] | None = None

    def read(self, text: str) -> Iterator[tuple[str, str, Name]]:
        """Yield what a text means: the text as the library writes it, ours, and its `Name`.

        Parameters
        ----------
        text : str
            One of its names, with numbers at their places.

        >>> from judged.conventions import find
        >>> [ours for _, ours, _ in find("ranx").read("mrr@10")]
        ['RR@10']
        """
        for name in self.names:
            places = name.read(text)
            if places is not None:
                yield *name.filled(places), name
                return
        for name in (self.reads(text.strip()) if self.reads else None) or []:
            yield name.theirs, name.ours, name
