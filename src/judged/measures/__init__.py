"""Measures: a registry of declarations, one small file per family."""

from judged.measures.families import FAMILIES
from judged.measures.grammar import parse_all, parse_measure
from judged.measures.measure import Measure, bind
from judged.measures.presets import PRESETS
from judged.measures.spec import REGISTRY, Settled, Spec, lookup, names


def catalogue() -> list[Spec]:
    """Every measure, family by family.

    Returns
    -------
    list of Spec

    >>> [spec.name for spec in catalogue()][:3]
    ['P', 'Rprec', 'Success']
    """
    return list(REGISTRY.values())


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
