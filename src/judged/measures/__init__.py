"""Measures: a registry of declarations, one small file per family."""

from judged.measures import (
    average,
    compat,
    confusion,
    counts,
    curve,
    cwl,
    diversity,
    gain,
    graded,
    incomplete,
    precision,
    rank,
    recall,
    sets,
    user_models,
)
from judged.measures.grammar import parse_all, parse_measure
from judged.measures.measure import Measure, bind
from judged.measures.presets import PRESETS
from judged.measures.spec import REGISTRY, Settled, Spec, lookup, names

FAMILIES = (
    precision,
    recall,
    average,
    curve,
    rank,
    gain,
    graded,
    user_models,
    cwl,
    compat,
    sets,
    confusion,
    incomplete,
    counts,
    diversity,
)
"""The order in which families are shown."""


def catalogue() -> list[Spec]:
    """Every measure, family by family.

    Returns
    -------
    list of Spec

    >>> [spec.name for spec in catalogue()][:3]
    ['P', 'Rprec', 'Success']
    """
    order = [family.__name__.rpartition(".")[2] for family in FAMILIES]
    return sorted(REGISTRY.values(), key=lambda spec: order.index(spec.family))


DEFAULT = ("AP", "nDCG@10", "RR", "P@10", "R@100")
"""What is computed where no measure is named."""

__all__ = [
    "DEFAULT",
    "FAMILIES",
    "PRESETS",
    "REGISTRY",
    "Measure",
    "Settled",
    "Spec",
    "bind",
    "catalogue",
    "lookup",
    "names",
    "parse_all",
    "parse_measure",
]
