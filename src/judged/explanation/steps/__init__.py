"""How each measure comes to its value: one function a measure, declared by the measure's name."""

from judged.explanation.steps import average, binary, diversity, gain, user_models
from judged.explanation.steps.registry import STEPS, steps_of

FAMILIES = (binary, average, gain, user_models, diversity)
"""The modules whose declarations fill the registry."""

__all__ = ["FAMILIES", "STEPS", "steps_of"]
