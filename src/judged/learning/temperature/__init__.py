"""What a temperature does: to the scores that there are (`sweep`), and to what is learned under it
(`study`)."""

from __future__ import annotations

from judged.learning.temperature.studies import study
from judged.learning.temperature.study_result import Studied, Study
from judged.learning.temperature.sweep_result import Best, Point, Sweep
from judged.learning.temperature.sweeps import sweep
from judged.options import SWEPT_TEMPERATURES as TEMPERATURES

__all__ = ["TEMPERATURES", "Best", "Point", "Studied", "Study", "Sweep", "study", "sweep"]
