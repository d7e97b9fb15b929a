"""What another library has under the name of a measure: its variants, and other measures that go by
that name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from judged.conventions import Convention, Name
from judged.errors import MeasureError
from judged.measures.conventions import FREE, Named, standing_at
from judged.measures.grammar import parse
from judged.measures.spec import Measure, is_name, lookup

WHOLE = 1000
"""From so many results on, a cutoff that a library has of its own is meant for whole lists."""


def relatives(convention: Convention, measure: Measure) -> list[Named]:
    """What the library has under the name of a measure, in all its variants, each once.

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
    wanted = _cutoff(measure)
    exact = any(_cutoff(named.measure) == wanted for named in every)
    least = wanted if isinstance(wanted, int) else WHOLE
    found: dict[Any, Named] = {}
    for named in every:
        own = _cutoff(named.measure)
        if (
            own in (wanted, "R")
            or (own is None and not exact)
            or (isinstance(own, int) and own >= least)
        ):
            found.setdefault((named.measure, frozenset(named.name.policy.items())), named)
    return list(found.values())


def _cutoff(measure: Measure) -> Any:
    return measure.params[measure.spec.at] if measure.spec.at else None


def _by_name(convention: Convention, measure: Measure) -> Iterator[Named]:
    """The library's names for a measure, with the cutoff and the other numbers that the measure
    has."""
    for name in convention.names:
        places = {place: standing_at(place, name, measure) for place in name.places}
        if not name.ours or None in places.values():
            continue
        theirs, ours = name.filled(places)
        if name.read(theirs) is None:  # their cutoffs are numbers: there is no map@R
            continue
        try:
            own = parse(ours)
        except MeasureError:
            continue
        if own.spec.name != measure.spec.name:
            called = next(_called(name, places, measure), None)
            if called is None:
                continue
            theirs = called
        # What may be added to any measure of a library is as in the measure that is asked for.
        own = own(
            **{
                key: measure.params[key]
                for key in FREE
                if key in measure.params and _usual(own, key)
            }
        )
        if own.params["aggregate"] == measure.params["aggregate"]:
            yield Named(own, theirs, name)


def _usual(measure: Measure, name: str) -> bool:
    return name in measure.params and measure.params[name] == measure.spec.param(name).default


def _called(name: Name, places: Mapping[str, object], measure: Measure) -> Iterator[str]:
    """The spellings of a name that would be a measure's in our notation."""
    for spelling in (name.theirs, *name.aliases):
        root = spelling.partition("@")[0].partition("(")[0].strip()
        if is_name(root) and lookup(root)[0].name == measure.spec.name:
            yield Name(spelling, "").filled(places)[0]
