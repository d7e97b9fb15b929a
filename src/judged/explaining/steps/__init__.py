"""How each measure comes to its value: one function a measure, declared by the measure's name."""

from judged.explaining.steps import average, binary, diversity, gain, users
from judged.explaining.steps.registry import STEPS, steps_of

FAMILIES = (binary, average, gain, users, diversity)
"""The modules whose declarations fill the registry."""

__all__ = ["FAMILIES", "STEPS", "steps_of"]
