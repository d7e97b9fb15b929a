"""What a temperature does: to the scores that there are (`sweep`), and to what is learned under it (`study`)."""

from judged.temperature.result import Best, Point, Sweep
from judged.temperature.sweeping import TEMPERATURES, sweep

__all__ = ["TEMPERATURES", "Best", "Point", "Sweep", "sweep"]
