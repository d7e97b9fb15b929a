"""Measures as another library means them: its names, or ours, to the variants that it computes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from judged.conventions import Convention, Name
from judged.errors import MeasureError, did_you_mean
from judged.measures.measure import Measure, has_default, label_of, parse_measure, pieces_of
from judged.measures.reference import PRESETS
from judged.measures.registry import Spec, is_name, lookup, show
from judged.text import listed

_NUMBER = re.compile(r"\{\w+\}|\d*\.?\d+")

FREE = ("rel", "aggregate")
"""Parameters that may be added to any measure of a library."""


EXAMPLES = {"k": 10, "m": 4, "p": 0.8, "x": 0.5}
"""Numbers for the places of names in messages; 1 for others."""
MAX_LISTED = 12
"""The number of a library's names that an error lists."""
WHOLE = 1000
"""A library's own cutoff from this number on means whole lists."""


class LibraryMeasure(NamedTuple):
    """A measure, and what the library calls it."""

    measure: Measure
    theirs: str
    name: Name
    label: str = ""
    """The name in the request; empty for our notation."""


def named_all(convention: Convention, measures: list[str | Measure]) -> list[LibraryMeasure]:
    """Find the library's variant of each measure, by its names or ours, each once.

    >>> from judged.conventions import find
    >>> wanted = ["RetrievalMAP(top_k=10), AP@5"]
    >>> [named.measure for named in named_all(find("torchmetrics"), wanted)]
    [AP(norm=retrieved)@10, AP(norm=retrieved)@5]
    """
    variants = [named for measure in measures for named in _named(convention, measure)]
    first: dict[tuple[Measure, str], LibraryMeasure] = {}
    for named in variants:
        first.setdefault((named.measure, named.theirs), named)
    return list(first.values())


def named_among(convention: Convention, measures: tuple[str, ...]) -> list[LibraryMeasure]:
    """Return the library's variants of those measures that it has."""
    return [named for text in measures if (named := _variant(convention, parse_measure(text)))]


def _named(convention: Convention, measure: str | Measure) -> Iterator[LibraryMeasure]:
    if not isinstance(measure, str):
        yield from _read(convention, str(parse_measure(measure)))
        return
    # A name may have commas of its own, as trec_eval's P.5,10 has.
    texts = [measure] if any(convention.read(measure)) else pieces_of(measure)
    for text in texts:
        if text.lower() in PRESETS:
            for preset_measure in PRESETS[text.lower()]:
                yield from _read(convention, preset_measure)
            continue
        variants = list(_read(convention, text))
        for named in variants:
            label = text if len(variants) == 1 else named.theirs
            yield named._replace(label=label_of(label, named.measure))


def _read(convention: Convention, text: str) -> Iterator[LibraryMeasure]:
    """Read one of the library's names, or one of ours by the rule of `_variant`."""
    readings = list(convention.read(text))
    for theirs, ours, name in readings:
        if not ours:
            raise MeasureError(
                f"{convention.title} has {theirs}, but judged cannot score it that way. {name.note}"
            )
        yield LibraryMeasure(parse_measure(ours), theirs, name)
    if not readings:
        try:
            measure = parse_measure(text)
        except MeasureError:
            _missing(convention, text)
        written = set(re.findall(r"(\w+)\s*=", text))
        yield (
            _variant(convention, measure, written)
            or (None if written else _otherwise_spelled(convention, measure))
            or _missing(convention, text, measure)
        )


def _variant(
    convention: Convention, measure: Measure, written: Iterable[str] = ()
) -> LibraryMeasure | None:
    """Find the library's variant of a measure in our notation, or None."""
    # That is the library's first measure of this name with the parameters that are written or not
    # as usual. Without parameters, names that are not `plain` are not meant. `rel` and `aggregate`
    # may be added.
    defaults = {param.name: param.default for param in measure.spec.params}
    chosen = {
        name: value for name, value in measure.items if value != defaults[name] or name in written
    }
    extended = None
    for named in _of_the_same_name(convention, measure):
        params = named.measure.params
        added = {key: value for key, value in chosen.items() if params[key] != value}
        if not (added or (chosen.keys() <= {measure.spec.at} and not named.name.plain)):
            return named
        if (
            extended is None
            and named.name.plain
            and added
            and all(key in FREE and params[key] == defaults[key] for key in added)
        ):
            words = " and ".join(f"{key}={show(value)}" for key, value in added.items())
            extended = named._replace(
                measure=named.measure(**added), theirs=f"{named.theirs} with {words}"
            )
    return extended


def _otherwise_spelled(convention: Convention, measure: Measure) -> LibraryMeasure | None:
    """Find a measure under another of our names: in some libraries, recall is a hit rate."""
    spec = measure.spec
    rest = str(measure).removeprefix(spec.name)
    for spelling in (spec.name, *(alias for alias, preset in spec.aliases.items() if not preset)):
        readings = list(convention.read(spelling + rest))
        if len(readings) == 1 and readings[0][1]:
            [(theirs, ours, name)] = readings
            return LibraryMeasure(parse_measure(ours), theirs, name)
    return None


def _of_the_same_name(convention: Convention, measure: Measure) -> Iterator[LibraryMeasure]:
    names = [name for name in convention.names if _declared(name.ours) is measure.spec]
    for name, places in _with_places(names, measure):
        named = _filled(name, places)
        # Their cutoffs are numbers: there is no map@R.
        if named and named.measure.cutoff == measure.cutoff and name.read(named.theirs) is not None:
            yield named


def _with_places(
    names: Iterable[Name], measure: Measure
) -> Iterator[tuple[Name, dict[str, object]]]:
    """Yield a library's names for known measures, with a measure's values at their places."""
    for name in names:
        places = {place: _standing_at(place, name, measure) for place in name.places}
        if name.ours and None not in places.values():
            yield name, places


@lru_cache(maxsize=4096)
def _declared(text: str) -> Spec | None:
    """Find the measure that a text or template names, without reading the rest."""
    root = text.partition("@")[0].partition("(")[0].strip()
    return lookup(root)[0] if is_name(root) else None


def _filled(name: Name, places: Mapping[str, object]) -> LibraryMeasure | None:
    """Fill the places of a name; None if our measure does not take the values."""
    theirs, ours = name.filled(places)
    try:
        return LibraryMeasure(_measure(ours), theirs, name)
    except MeasureError:
        return None


@lru_cache(maxsize=1024)
def _measure(ours: str) -> Measure:
    """Many libraries have the same definition: each text is parsed once."""
    return parse_measure(ours)


def _standing_at(place: str, name: Name, measure: Measure) -> object:
    """Return a measure's value at a place of a name: a parameter, or the cutoff."""
    named = re.search(rf"(\w+)=\{{{place}\}}", name.ours)
    return measure.params.get(named[1]) if named else measure.cutoff


# -- all that goes by a name


def relatives(convention: Convention, measure: Measure) -> list[LibraryMeasure]:
    """Find all variants that the library has under the name of a measure, each once.

    For a measure with a cutoff these are its names that take one; where none does, those that read
    whole lists, as that MRR is what MRR@10 gets compared with; and cutoffs of its own that look as
    far or farther. Another measure that goes by the name belongs to them too, as a hit rate that is
    called recall does.

    >>> from judged import AP, R
    >>> from judged.conventions import find
    >>> [(each.theirs, each.measure) for each in relatives(find("rectools"), AP @ 10)]
    [('MAP(k=10)', AP@10), ('MAP(k=10, divide_by_k=True)', AP(norm=cutoff)@10)]
    >>> [(each.theirs, each.measure) for each in relatives(find("clip"), R @ 10)]
    [('R@10', Success@10)]
    """
    every = list(_by_name(convention, measure))
    wanted = measure.cutoff
    exact = any(named.measure.cutoff == wanted for named in every)
    least = wanted if isinstance(wanted, int) else WHOLE
    variants: dict[Any, LibraryMeasure] = {}
    for named in every:
        cutoff = named.measure.cutoff
        if (
            cutoff in (wanted, "R")
            or (cutoff is None and not exact)
            or (isinstance(cutoff, int) and cutoff >= least)
        ):
            name = named.name
            means = frozenset(name.policy.items()), name.threshold, name.undefined
            variants.setdefault((named.measure, *means), named)
    return list(variants.values())


def _by_name(convention: Convention, measure: Measure) -> Iterator[LibraryMeasure]:
    """Yield the library's names for a measure, with the measure's cutoff and numbers."""
    for name, places in _with_places(convention.names, measure):
        theirs = next(_called(name, places, measure), None)
        # Their cutoffs are numbers: there is no map@R.
        if theirs is None or name.read(theirs) is None:
            continue
        if not (named := _filled(name, places)):
            continue
        # What may be added to any measure of a library is as in the measure that is asked for.
        variant = named.measure(
            **{
                key: measure.params[key]
                for key in FREE
                if key in measure.params and has_default(named.measure, key)
            }
        )
        if variant.params["aggregate"] == measure.params["aggregate"]:
            yield LibraryMeasure(variant, theirs, name)


def _called(name: Name, places: Mapping[str, object], measure: Measure) -> Iterator[str]:
    """Yield what a library calls a measure, in its own names or in our notation."""
    if _declared(name.ours) is measure.spec:
        yield name.filled(places)[0]
    for spelling in (name.theirs, *name.aliases):
        if _declared(spelling) is measure.spec:
            yield Name(spelling, "").filled(places)[0]


def _masked(spelling: str) -> str:
    """Mask the numbers of a name: MAPP@10 is near to MAP@{k}."""
    return _NUMBER.sub("#", spelling.lower())


def _missing(convention: Convention, text: str, measure: Measure | None = None) -> LibraryMeasure:
    """Raise the error that the library has no such measure, or writes it in another way."""
    spellings = {
        spelling: name for name in convention.names for spelling in (name.theirs, *name.aliases)
    }
    same = [name for spelling, name in spellings.items() if _root(spelling) == _root(text)]
    if same:
        examples = dict.fromkeys(
            name.filled({place: EXAMPLES.get(place, 1) for place in name.places})[0]
            for name in same
        )
        raise MeasureError(
            f"{convention.title} has {re.split('[(@]', text)[0]}, but not as {text!r}; write it as "
            f"in {listed(list(examples), 'or')}."
        )
    known = [name.theirs for name in convention.names if name.ours]
    meant = [
        name.theirs for name in convention.names if measure and _declared(name.ours) is measure.spec
    ]
    hint = f"; did you mean {meant[0]!r}?" if meant else did_you_mean(text, spellings, key=_masked)
    lists = f"It has {', '.join(known)}."
    if len(known) > MAX_LISTED:
        lists = f"'judged conventions {convention.name}' lists what it has."
    raise MeasureError(f"{convention.title} has no {text!r}{hint} {lists}")


def _root(spelling: str) -> str:
    """Return the first word of a name: ndcg for nDCG(dcg='log2')@{k}."""
    return re.split(r"[(@]", spelling, maxsplit=1)[0].strip().lower()
