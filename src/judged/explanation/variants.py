"""The same number as others define it: the variants that libraries compute under the same name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isclose, isnan

from judged.conventions import conventions
from judged.errors import MeasureError
from judged.measures import Measure
from judged.measures.conventions import namesakes
from judged.measures.params import Choice
from judged.rankings.rankings import Rankings


@dataclass(frozen=True)
class Variant:
    """Another definition of the same measure, its value, and who has it."""

    measure: Measure
    """The other definition."""
    value: float
    """What it makes of the same list."""
    says: str
    """What differs, in words."""
    libraries: tuple[tuple[str, str], ...] = ()
    """The library, and what it calls it."""


def variants(measure: Measure, value: float, r: Rankings) -> tuple[Variant, ...]:
    """Other definitions that give this list another value: those of libraries first, then what else
    the parameters allow."""
    users: dict[Measure, list[tuple[str, str]]] = {}
    for convention in conventions().values():
        for named in namesakes(convention, measure):
            users.setdefault(named.measure, []).append((convention.title, named.theirs))
    for other in _other_choices(measure):
        users.setdefault(other, [])
    users.pop(measure, None)
    found = []
    for other, libraries in users.items():
        own = _value(other, r)
        if not isnan(own) and not isclose(own, value, rel_tol=1e-9, abs_tol=1e-12):
            found.append(
                Variant(other, own, _difference(measure, other), tuple(dict(libraries).items()))
            )
    return tuple(sorted(found, key=lambda each: -len(each.libraries)))


def _other_choices(measure: Measure) -> Iterator[Measure]:
    """The measure with each of its choices made otherwise, one at a time."""
    for param in measure.spec.params:
        if isinstance(param, Choice) and param.name not in ("aggregate", "average"):
            yield from (
                measure(**{param.name: option})
                for option in param.options
                if option != measure.params[param.name]
            )


def _value(measure: Measure, r: Rankings) -> float:
    try:
        return float(measure.compute_as_ranked(r)[0])
    except MeasureError:
        # A variant may ask for what is not there, such as a k.
        return float("nan")


def _difference(measure: Measure, other: Measure) -> str:
    changed = [
        param.describe(other.params[param.name])
        for param in measure.spec.params
        if other.params[param.name] != measure.params[param.name]
    ]
    return "; ".join(changed)
