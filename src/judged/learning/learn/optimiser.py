"""The optimiser, and when it stops."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import Floats
from judged.embeddings.learned import Weights
from judged.embeddings.training import Step
from judged.learning.learn.loss import Objective
from judged.measures import Measure
from judged.text import counted

if TYPE_CHECKING:
    from judged.options import Progress


class Search:
    """The optimiser, watched: after each iteration the weights are judged by `value`, and the best
    are kept."""

    def __init__(
        self,
        objective: Objective,
        value: Callable[[Weights], float],
        *,
        measure: Measure,
        patience: int,
        iterations: int,
        progress: Progress | None,
    ) -> None:
        self.objective, self.value, self.progress = objective, value, progress
        self.measure, self.patience, self.iterations = measure, patience, iterations
        self.history: list[Step] = []
        self.best = 0
        self.weights: Weights = {}
        self.stopped = ""

    def run(self) -> None:
        from scipy.optimize import minimize

        start = self.objective.start
        at_start = self.objective(start)
        self._look(start, at_start[0])
        found = minimize(
            lambda vector: at_start if np.array_equal(vector, start) else self.objective(vector),
            start,
            jac=True,
            method="L-BFGS-B",
            callback=self._watch,
            options={
                "maxiter": self.iterations,
                "maxfun": 100 * self.iterations,
                "ftol": 1e-12,
                "gtol": 1e-9,
            },
        )
        if not self.stopped:
            endings = {0: "the loss is at a minimum", 1: "as many as were allowed"}
            self.stopped = endings.get(found.status, "no step lowers the loss any more")

    def _watch(self, intermediate_result: Any) -> None:
        """What scipy calls after each iteration, by the name of this parameter; StopIteration ends
        it."""
        self._look(intermediate_result.x, float(intermediate_result.fun))
        if self.progress is not None:
            self.progress(1)
        waited = len(self.history) - 1 - self.best
        if waited >= self.patience:
            many = counted(waited, "iteration")
            self.stopped = f"{self.measure} on validation did not gain for {many}"
            raise StopIteration

    def _look(self, vector: Floats, loss: float) -> None:
        weights = {
            name: part.astype(np.float32) for name, part in self.objective.unpacked(vector).items()
        }
        value = self.value(weights)
        self.history.append(Step(len(self.history), loss - self.objective.pull(vector), value))
        sign = 1 if self.measure.spec.higher_is_better else -1
        if len(self.history) == 1 or sign * value > sign * self.history[self.best].value:
            self.best, self.weights = len(self.history) - 1, weights
