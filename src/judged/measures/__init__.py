"""Measures: a registry of declarations, one small file per family."""

from judged.measures import average, confusion, first, gain, judged, position, precision, recall, user
from judged.measures.grammar import parse, parse_all
from judged.measures.spec import REGISTRY, Measure, Spec, lookup, names

FAMILIES = (precision, recall, average, first, gain, user, confusion, judged, position)
"""The order in which families are shown."""


def catalogue() -> list[Spec]:
    """Every measure, family by family."""
    order = [family.__name__.rpartition(".")[2] for family in FAMILIES]
    return sorted(REGISTRY.values(), key=lambda spec: order.index(spec.family))


DEFAULT = ("AP", "nDCG@10", "RR", "P@10", "R@100")
"""What is computed where no measure is named."""

__all__ = ["DEFAULT", "FAMILIES", "REGISTRY", "Measure", "Spec", "catalogue", "lookup", "names", "parse", "parse_all"]
