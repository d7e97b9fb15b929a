"""Measures as another library means them: its names, or ours, to the variant that it computes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches

from judged.conventions import Convention, Name
from judged.errors import MeasureError
from judged.measures.grammar import parse, pieces_of
from judged.measures.presets import PRESETS
from judged.measures.spec import Measure

_NUMBER = re.compile(r"\{\w+\}|\d*\.?\d+")

FREE = ("rel", "aggregate")
"""What may be added to any measure of a library: which grades count, and how queries become one
number."""


@dataclass(frozen=True)
class Named:
    """A measure, and what the library calls it."""

    measure: Measure
    theirs: str
    name: Name


def named_all(convention: Convention, measures: list[str | Measure]) -> list[Named]:
    """The library's variant of each measure, each once; a text may hold several of its names or of
    ours.

    >>> from judged.conventions import find
    >>> [named.measure for named in named_all(find("torchmetrics"), ["RetrievalMAP(top_k=10), AP@5"])]
    [AP(norm=retrieved)@10, AP(norm=retrieved)@5]
    """
    found = [named for each in measures for named in _named(convention, each)]
    return list({named.measure: named for named in reversed(found)}.values())[::-1]


def named_among(convention: Convention, measures: tuple[str, ...]) -> list[Named]:
    """The library's variants of those measures that it has."""
    return [named for text in measures if (named := _variant(convention, parse(text)))]


def _named(convention: Convention, measure: str | Measure) -> Iterator[Named]:
    if isinstance(measure, Measure):
        yield _variant(convention, measure) or _missing(convention, str(measure), measure)
        return
    if measure.strip().lower() in PRESETS:
        for text in PRESETS[measure.strip().lower()]:
            yield from _read(convention, text)
        return
    # A name may have commas of its own, as trec_eval's P.5,10 has.
    texts = [measure] if any(convention.read(measure)) else pieces_of(measure)
    for text in texts:
        yield from _read(convention, text)


def _read(convention: Convention, text: str) -> Iterator[Named]:
    readings = list(convention.read(text))
    for reading in readings:
        if not reading.ours:
            raise MeasureError(
                f"{convention.title}'s {reading.theirs} cannot be computed here. "
                f"{reading.name.note}"
            )
        yield Named(parse(reading.ours), reading.theirs, reading.name)
    if not readings:
        try:
            measure = parse(text)
        except MeasureError:
            _missing(convention, text)
        yield _variant(convention, measure) or _missing(convention, text, measure)


def _variant(convention: Convention, measure: Measure) -> Named | None:
    """What a measure in our notation is in the library; None where it has none of these parameters."""
    defaults = {param.name: param.default for param in measure.spec.params}
    chosen = {name: value for name, value in measure.items if value != defaults[name]}
    for named in _of_the_same_name(convention, measure):
        own = named.measure.params
        added = {key: value for key, value in chosen.items() if own[key] != value}
        if all(key in FREE and own[key] == defaults[key] for key in added):
            return replace(named, measure=named.measure(**added))
    return None


def namesakes(convention: Convention, measure: Measure) -> Iterator[Named]:
    """What the library computes under the name of a measure, at the same cutoff, whatever its other
    parameters are.

    >>> from judged.conventions import find
    >>> [named.measure for named in namesakes(find("torchmetrics"), parse("AP(rel=2)@10"))]
    [AP(rel=2, norm=retrieved)@10]
    """
    free = {key: measure.params[key] for key in FREE if key in measure.params}
    for named in _of_the_same_name(convention, measure):
        yield replace(named, measure=named.measure(**free))


def _of_the_same_name(convention: Convention, measure: Measure) -> Iterator[Named]:
    """The library's names for a measure at the same cutoff, as the library has them."""
    spec = measure.spec
    for name in convention.names:
        places = {place: standing_at(place, name, measure) for place in name.places}
        if not name.ours or None in places.values():
            continue
        theirs, ours = name.filled(places)
        try:
            own = parse(ours)
        except MeasureError:
            continue
        if own.spec.name == spec.name and (
            not spec.at or own.params[spec.at] == measure.params[spec.at]
        ):
            yield Named(own, theirs, name)


def standing_at(place: str, name: Name, measure: Measure) -> object:
    """What a measure has at a place of a name: the parameter that our notation sets there, or the
    cutoff."""
    named = re.search(rf"(\w+)=\{{{place}\}}", name.ours)
    return measure.params.get(named[1] if named else measure.spec.at or "")


def _missing(convention: Convention, text: str, measure: Measure | None = None) -> Named:
    """Raises: the library has no such measure."""
    known = [name for name in convention.names if name.ours]
    of_this_measure = [
        name.theirs
        for name in known
        if measure and name.ours.partition("(")[0].partition("@")[0] == measure.spec.name
    ]
    close = of_this_measure[:1] or _close(
        text, [spelling for name in known for spelling in (name.theirs, *name.aliases)]
    )
    hint = f"; did you mean {close[0]!r}?" if close else "."
    raise MeasureError(
        f"{convention.title} has no {text!r}{hint} It has "
        f"{', '.join(name.theirs for name in known)}."
    )


def _close(text: str, spellings: list[str]) -> list[str]:
    """The spelling nearest to a text, whatever numbers stand in it."""
    lower: dict[str, str] = {}
    for spelling in spellings:
        lower.setdefault(_NUMBER.sub("#", spelling.lower()), spelling)
    return [lower[found] for found in get_close_matches(_NUMBER.sub("#", text.lower()), lower, n=1)]
