"""How each measure comes to its value: one function per measure, declared by the measure's name.

The steps of a measure lie in the file that has the name of the measure's own.
"""

from importlib import import_module

from judged.explanation.steps.registry import STEPS, steps_of
from judged.measures import FAMILIES

for _family in FAMILIES:
    import_module(f"{__name__}.{_family}")

__all__ = ["STEPS", "steps_of"]
