"""The steps of every measure, by its name."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from judged.errors import MeasureError
from judged.explanation.listing import Listing, Steps

STEPS: dict[str, Callable[..., Steps]] = {}
"""(listing, **parameters) -> steps; they are asked for where the measure has a value."""


def steps(*names: str) -> Callable[[Callable[..., Steps]], Callable[..., Steps]]:
    """Declare the steps of some measures."""

    def register(function: Callable[..., Steps]) -> Callable[..., Steps]:
        STEPS.update(dict.fromkeys(names, function))
        return function

    return register


def steps_of(listing: Listing) -> Steps:
    """How a listing's measure comes to its value."""
    name = listing.measure.spec.name
    if name not in STEPS:
        raise MeasureError(
            f"{name} declares no steps and cannot be explained; judged.explanation.steps says how "
            "others do."
        )
    function = STEPS[name]
    taken = inspect.signature(function).parameters
    return function(
        listing, **{name: value for name, value in listing.measure.params.items() if name in taken}
    )
