"""Measures: a registry of declarations, one small file per family."""

# Each family declares its measures, in the order in which they are listed.
# ruff: noqa: F401
# isort: off
from judged.measures import precision, average, rank, gain, user_models, counts, incomplete
from judged.measures import diversity
# isort: on

from judged.measures.measure import Measure, bind, parse_all, parse_measure
from judged.measures.reference import PRESETS
from judged.measures.registry import REGISTRY, Settled, Spec, lookup, names


def catalogue() -> list[Spec]:
    """Every measure, family by family.

    >>> [spec.name for spec in catalogue()][:3]
    ['P', 'Rprec', 'Success']
    """
    return list(REGISTRY.values())


FAMILIES = tuple(dict.fromkeys(spec.family for spec in REGISTRY.values()))
"""The families of measures. Each is the module of this package of the same name."""
DEFAULT = ("AP", "nDCG@10", "RR", "P@10", "R@100")
HEADLINE = "nDCG@10"  # where one measure is shown
"""The default measures."""

__all__ = [
    "DEFAULT",
    "FAMILIES",
    "HEADLINE",
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
