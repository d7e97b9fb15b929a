"""The steps of each measure: one function per measure, in the file named like the measure's own."""

from importlib import import_module

from judged.explanation.listing import STEPS, steps_of
from judged.measures import FAMILIES

for _family in FAMILIES:
    import_module(f"{__name__}.{_family}")

__all__ = ["STEPS", "steps_of"]
