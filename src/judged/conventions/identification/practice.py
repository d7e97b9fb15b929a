"""Definitions that are in use: those of the libraries that judged knows, and its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from judged.conventions import Convention, Name, Option, conventions
from judged.conventions.identification.candidates import Space
from judged.errors import MeasureError
from judged.measures import Measure, bind, parse_measure
from judged.policy import Policy

OWN = "judged"
"""Who computes a measure with its usual parameters under the usual policy."""


@dataclass(frozen=True)
class Practice:
    """A definition that somebody uses."""

    library: str
    theirs: str
    """What the library calls it."""
    measure: Measure
    policy: Mapping[str, str]
    """An option for each choice of a policy; it may be one that judged does not have."""
    options: tuple[str, ...] = ()
    """The options of the library that make it so, as its users write them."""
    far: int = 0
    """What it costs to suppose it: an option is less likely than none."""

    @property
    def said(self) -> str:
        """`trec_eval with -c`."""
        return f"{self.library} with {' and '.join(self.options)}" if self.options else self.library


def practices(space: Space) -> Iterator[Practice]:
    """Everything in use that computes a measure of the space."""
    yield from _own(space)
    for convention in conventions().values():
        for name in convention.names:
            # What is relevant by a rule of the library's own is no measure by itself.
            if (
                re.split(r"[(@]", name.ours, maxsplit=1)[0] == space.spec.name
                and not name.threshold
            ):
                yield from _of(convention, name, space)


def _own(space: Space) -> Iterator[Practice]:
    """The defaults at every cutoff; cutoffs that are not usual ones are a little further away."""
    at = space.spec.at
    for value in space.values[at] if at else (None,):
        measure = bind(space.spec, {at: value} if at else {})
        far = 1 if value == "R" else 2 if value is not None and value == space.longest else 0
        yield Practice(OWN, str(measure), measure, Policy().to_dict(), far=far)


def _of(convention: Convention, name: Name, space: Space) -> Iterator[Practice]:
    """One of a library's names with each number that is tried in its places, as it is and with the
    library's options."""
    for places in _fillings(name, space):
        theirs, ours = name.filled(places)
        try:
            measure = parse_measure(ours)
        except MeasureError:
            continue
        usual = {**Policy().to_dict(), **convention.policy, **name.policy}
        settings = [
            Option("", "", {}),
            *(each for each in convention.options if each.policy and not each.depth),
        ]
        for option, (level, own) in product(settings, _levels(convention, measure, space)):
            options = tuple(text for text in (option.theirs, level) if text)
            yield Practice(
                convention.name, theirs, own, {**usual, **option.policy}, options, far=len(options)
            )


def _fillings(name: Name, space: Space) -> Iterator[dict[str, str]]:
    """The numbers that are tried at the places of a name."""
    tried = [_tried(place, name, space) for place in name.places]
    yield from (dict(zip(name.places, texts, strict=True)) for texts in product(*tried))


def _tried(place: str, name: Name, space: Space) -> list[str]:
    """The values of the parameter that our notation sets at a place, or of the cutoff, as the place
    takes them."""
    named = re.search(rf"(\w+)=([\d.]*)\{{{place}\}}", name.ours)
    values: tuple[Any, ...] = space.values.get(named[1] if named else space.spec.at or "", ())
    begins = named[2] if named else ""
    return [
        str(value).removeprefix(begins)
        for value in values
        if not isinstance(value, str) and value is not None
    ]


def _levels(
    convention: Convention, measure: Measure, space: Space
) -> Iterator[tuple[str, Measure]]:
    """The measure as it is, and with the library's option for the lowest relevant grade."""
    yield "", measure
    option = next((option for option in convention.options if "rel" in option.params), None)
    default = bind(measure.spec, {}).params.get("rel")
    if option is not None and default is not None and measure.params["rel"] == default:
        for rel in space.values["rel"]:
            if rel != default:
                yield re.sub(r"N\b", str(rel), option.theirs), measure(rel=rel)
