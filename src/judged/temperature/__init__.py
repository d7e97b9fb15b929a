"""What a temperature does: to the scores that there are (`sweep`), and to what is learned under it
(`study`)."""

from __future__ import annotations

from judged.checks import SWEPT_TEMPERATURES as TEMPERATURES
from judged.temperature.studies import study
from judged.temperature.study_result import Studied, Study
from judged.temperature.sweep_result import Best, Point, Sweep
from judged.temperature.sweeps import sweep

__all__ = ["TEMPERATURES", "Best", "Point", "Studied", "Study", "Sweep", "study", "sweep"]
