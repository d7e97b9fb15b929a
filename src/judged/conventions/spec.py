"""What is known of another library: its names, in our notation, its policy, and where it differs or
errs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

Choices = Mapping[str, str]
"""Some choices of a policy, {"empty": "skip"}; the others are judged's defaults."""

HELD = {
    "run": "library run",
    "output": "stored output",
    "reading": "reading of the source",
}
"""How a convention was held against its library, best first."""

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
    "unjudged queries": "the run has queries that nobody judged",
    "missing": "the run lacks judged queries",
    "not whole": "the number is not whole",
}
"""What data may be like for a library to give another number than judged by its convention."""

SINGLE = (
    "single precision: scores that differ only beyond it are tied there, and the item's id decides"
)
"""What libraries do that hold scores so."""

THRESHOLDS = {
    "half or tenth": (
        "relevant are, for each query, grades above 0 that reach half of the best grade and the "
        "90th percentile of all its grades"
    ),
}
"""Rules by which a library decides for each query from which grade on an item is relevant."""


@dataclass(frozen=True)
class Caution:
    """Where a library's number is not what its convention gives; a warning, if the data are such.

    Parameters
    ----------
    when : str
        What the data are like: a key of `WHEN`.
    says : str
        What the library does then, in a sentence.

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
    """One of a library's names, and our measure for it.

    Parameters
    ----------
    theirs : str
        As its users write it; {k} is the place of a cutoff, {rel} or {p} that of another number.
    ours : str
        The same in our notation, with the same places. Empty where it cannot be expressed; then
        `note` says why.
    note : str, optional
        How it differs from our measure with its usual parameters: a sentence, or nothing where it
        does not.
    policy : Mapping, optional
        Where this name has a policy of its own, unlike the rest of the library.
    aliases : tuple of str, optional
        Other spellings, with the same places.
    plain : bool, optional
        Whether our measure's name without parameters means it. Not so where the library calls it
        something else: R(norm=capped)@10 is RecTools' r_precision, and R@10 its Recall.
    threshold : str, optional
        A key of `THRESHOLDS`, where the library finds out for each query what is relevant.
    undefined : float, optional
        What a query counts for which our measure is undefined, where no policy says so.
    cautions : tuple of Caution, optional
        Data for which the library gives another number under this name.

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
        """What stands in braces: ("k",)."""
        return tuple(_PLACE.findall(self.theirs))

    def read(self, text: str) -> dict[str, str] | None:
        """What stands at each place of a text, where it is this name.

        Parameters
        ----------
        text : str
            What may be this name; upper and lower case and blanks do not matter.

        Returns
        -------
        dict or None

        >>> Name("map@{k}", "AP@{k}").read("MAP @ 5")
        {'k': '5'}
        """
        tight = re.sub(r"\s", "", text)
        for spelling in (self.theirs, *self.aliases):
            if found := _pattern(spelling).fullmatch(tight):
                return found.groupdict()
        return None

    def filled(self, places: Mapping[str, object]) -> tuple[str, str]:
        """Their text and ours with values at their places.

        Parameters
        ----------
        places : Mapping
            {place: value}, such as {"k": 10}.

        Returns
        -------
        tuple of str

        >>> Name("map@{k}", "AP@{k}").filled({"k": 5})
        ('map@5', 'AP@5')
        """
        return _fill(self.theirs, places), _fill(self.ours, places)


@cache
def _pattern(spelling: str) -> re.Pattern[str]:
    """The spelling as a regular expression, one group per place."""
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
    """An option of a library that changes what its numbers mean, and our own for it.

    Parameters
    ----------
    theirs : str
        As its users write it.
    says : str
        What it does, in a sentence.
    policy : Mapping, optional
        The choices of our policy that do the same.
    params : Mapping, optional
        The parameters of our measures that do the same, {"rel": "{n}"}.
    depth : bool, optional
        Whether the lists have to be cut at k first for the policy to do the same.

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
    """How a library, a script or a benchmark defines its numbers, in terms of ours.

    Parameters
    ----------
    name : str
        What `convention=` takes.
    title : str
        Its name for people.
    version : str
        The version that was compared; empty where it has none.
    held : str
        How it was held against the library: a key of `HELD`.
    verified : str
        The same in a sentence: with which data, and what was left out.
    names : tuple of Name
        What it calls its measures. Of several for one of ours, our name without parameters means
        the first that is `plain`: what the library computes by default.
    policy : Mapping, optional
        The choices in which it differs from judged's defaults.
    options : tuple of Option, optional
        Its options that change what its numbers mean.
    differences : tuple of str, optional
        A sentence for each thing that it does in another way than judged by default; `policy` and
        `names` do the same.
    wrong : tuple of str, optional
        What it does wrong or leaves to chance. judged does not imitate that.
    drops_own_id : bool, optional
        Whether a result that has the id of its query is taken out first.
    needs_results : bool, optional
        Whether a query with an empty list of results counts as one that the run lacks.
    cautions : tuple of Caution, optional
        Data for which the library gives other numbers under all of its names.
    package : str, optional
        The distribution that was compared, where there is one to install.
    tolerance : float, optional
        How far its numbers lie from ours at most: more than 1e-9 where it rounds or computes in
        single precision.
    aliases : tuple of str, optional
        Other names of the library.
    reads : callable, optional
        A way to read texts that no template covers: each name that a text stands for, with its
        places filled, or None.

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

    def read(self, text: str) -> Iterator[Reading]:
        """What a text means where it is one of the library's names; nothing where it is not.

        Parameters
        ----------
        text : str
            One of its names, with numbers at their places.

        Returns
        -------
        Iterator of Reading

        >>> from judged.conventions import find
        >>> [reading.ours for reading in find("ranx").read("mrr@10")]
        ['RR@10']
        """
        for name in self.names:
            places = name.read(text)
            if places is not None:
                theirs, ours = name.filled(places)
                yield Reading(theirs, ours, name)
                return
        for name in (self.reads(text.strip()) if self.reads else None) or []:
            yield Reading(name.theirs, name.ours, name)


@dataclass(frozen=True)
class Reading:
    """One of a library's names with its numbers filled in, and our measure."""

    theirs: str
    """The text as the library writes it."""
    ours: str
    """The same in our notation."""
    name: Name
    """What was read."""
