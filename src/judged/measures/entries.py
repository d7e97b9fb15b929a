"""Measures and presets as plain values: what the command line and the explorer give as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from math import isinf
from typing import TYPE_CHECKING, Any

from judged.measures.grammar import pieces_of, read_all
from judged.measures.presets import ABOUT

if TYPE_CHECKING:
    from judged.measures.measure import Measure
    from judged.measures.presets import Preset
    from judged.measures.spec import Spec


def presets_in(text: str) -> tuple[dict[str, Preset], str | list[str]]:
    """The presets that a text names, and what else it does."""
    pieces = pieces_of(text)
    presets = {each.lower(): ABOUT[each.lower()] for each in pieces if each.lower() in ABOUT}
    return presets, [each for each in pieces if each.lower() not in ABOUT] if presets else text


def entries(
    labels: Mapping[Measure, str], presets: Mapping[str, Preset], *, chosen: bool
) -> dict[str, Any]:
    """Everything about some: measures by what they are called, those of chosen presets too."""
    own = [text for preset in presets.values() for text in preset.measures] if chosen else []
    every = {**(read_all(own) if own else {}), **labels}
    return {
        "measures": {
            label: {**measure.definition(), **_declared(measure.spec)}
            for measure, label in every.items()
        },
        "presets": {name: asdict(preset) for name, preset in presets.items()},
    }


def _declared(spec: Spec) -> dict[str, Any]:
    options = {
        each.name: {"default": each.default, "allowed": each.allowed, "says": each.says}
        for each in spec.params
    }
    return {
        "aliases": list(spec.aliases),
        "range": [None if isinf(bound) else bound for bound in spec.range],
        "options": options,
        "example": asdict(spec.example),
    }
