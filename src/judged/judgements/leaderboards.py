"""The same runs under each assessor's judgements: values, verdicts and orders."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Unpack

from judged.comparison.comparison import Comparison
from judged.comparison.orders import uneven
from judged.errors import InputError, PolicyError
from judged.evaluation.evaluate import evaluate
from judged.judgements.assessors import on_queries
from judged.options import LEVEL, Scoring
from judged.policy import Policy
from judged.results import plain_value
from judged.statistics.orders import order_agreement
from judged.text import Warned, counted, listed

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.inputs.tables import Judgements, Lookup, Run
    from judged.statistics.orders import OrderAgreement


@dataclass(frozen=True, eq=False)
class Leaderboards:
    """The same runs under each assessor, on the queries that all of them judged."""

    evaluations: Mapping[str, Evaluation]  # evaluation of the runs under each assessor
    comparisons: Mapping[str, Comparison]
    """Comparison of the runs under each assessor; empty with one run."""
    queries: int  # number of queries that all assessors judged
    notes: tuple[str, ...] = ()

    @property
    def _first(self) -> Evaluation:
        return next(iter(self.evaluations.values()))

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of the runs."""
        return tuple(run.name for run in self._first.runs)

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures."""
        return tuple(self._first.labels)

    @property
    def relevant_from(self) -> dict[str, float]:
        """Lowest relevant grade of each measure that has one."""
        rels = {label: measure.params.get("rel") for label, measure in self._first.labels.items()}
        return {label: rel for label, rel in rels.items() if isinstance(rel, (int, float))}

    @cached_property
    def values(self) -> dict[str, dict[str, dict[str, float]]]:
        """Value of each run, by measure and assessor."""
        return {
            label: {
                name: {run.name: run.summary[result.labels[label]] for run in result.runs}
                for name, result in self.evaluations.items()
            }
            for label in self.measures
        }

    @cached_property
    def verdicts(self) -> tuple[dict[str, Any], ...]:
        """Verdicts on every pair of runs and measure; empty with one run."""
        # `verdicts` and `differences` (`run` minus `against`) are by assessor, and `changes` is
        # True if assessors lead to different verdicts.
        rows = {name: comparison.rows for name, comparison in self.comparisons.items()}
        return tuple(
            {
                **{name: getattr(same[0], name) for name in ("measure", "run", "against")},
                "verdicts": dict(zip(rows, [row.verdict for row in same], strict=True)),
                "differences": dict(zip(rows, [row.difference for row in same], strict=True)),
                "changes": len({row.verdict for row in same}) > 1,
            }
            for same in zip(*rows.values(), strict=True)
        )

    def _higher_is_better(self, measure: str, assessor: str) -> dict[str, float]:
        """Return the values of the runs, negated if lower values are better."""
        sign = 1 if self._first.labels[measure].spec.higher_is_better else -1
        return {run: sign * value for run, value in self.values[measure][assessor].items()}

    @cached_property
    def orders(self) -> dict[str, dict[tuple[str, str], OrderAgreement]]:
        """Agreement of the orders of three or more runs, by measure and pair of assessors."""
        if len(self.runs) < 3:
            return {}
        return {
            measure: {
                (one, other): order_agreement(
                    self._higher_is_better(measure, one), self._higher_is_better(measure, other)
                )
                for one, other in combinations(self.evaluations, 2)
            }
            for measure, under in self.values.items()
            if not any(math.isnan(value) for runs in under.values() for value in runs.values())
        }

    def sentences(self) -> Iterator[str]:
        """Yield what the assessors change about the runs, a sentence each."""
        for measure in self.measures:
            rows = [row for row in self.verdicts if row["measure"] == measure]
            changed = [row for row in rows if row["changes"]]
            if rows and not changed:
                pairs = counted(len(rows), "pair of runs", "pairs of runs")
                yield f"{measure}: all assessors lead to the same verdict on {pairs}."
            for row in changed:
                words = [f"{verdict} under {name}" for name, verdict in row["verdicts"].items()]
                pair = f"{row['run']} vs {row['against']}"
                yield f"{measure}: the verdict on {pair} is {listed(words)}."
            if len(self.runs) == 1:
                (run,) = self.runs
                values = self.values[measure].items()
                under = [f"{runs[run]:.4f} under {name}" for name, runs in values]
                yield f"{measure} of {run} is {listed(under)}."
            for (one, other), order in self.orders.get(measure, {}).items():
                tau = f"undefined ({order.note})" if math.isnan(order.tau) else f"{order.tau:.3f}"
                yield f"{measure}: Kendall's tau of the orders under {one} and {other} is {tau}."
        if len(self.runs) == 2:
            yield "Kendall's tau of the orders needs at least three runs."

    def to_dict(self) -> dict[str, Any]:
        return {
            "queries": self.queries,
            "values": plain_value(self.values),
            "verdicts": plain_value(self.verdicts),
            "orders": [
                {"measure": measure, "first": one, "second": other, **order.to_dict()}
                for measure, pairs in self.orders.items()
                for (one, other), order in pairs.items()
            ],
            "policy": self._first.policy.to_dict(),
            "definitions": {
                label: measure.definition() for label, measure in self._first.labels.items()
            },
        }


def leaderboards_of(
    assessors: Mapping[str, Judgements | Lookup],
    queries: Sequence[str],
    runs: Mapping[str, Run | Lookup],
    measures: Any,
    *,
    level: float = LEVEL,
    seed: int = 0,
    **scoring: Unpack[Scoring],
) -> Leaderboards:
    """Evaluate and compare runs under each assessor, on some queries."""
    policy = scoring.get("policy")
    missing = policy.missing if isinstance(policy, Policy) else (policy or {}).get("missing")
    evaluations: dict[str, Evaluation] = {}
    comparisons: dict[str, Comparison] = {}
    texts: dict[str, list[str]] = {}  # the assessors of each warning
    for name, judgements in assessors.items():
        try:
            evaluation = evaluate(on_queries(judgements, queries), runs, measures, **scoring)
            evaluations[name], warnings = evaluation, evaluation.warnings()
            if len(runs) > 1:
                comparison = evaluation.compare(level=level, seed=seed, missing=missing)
                comparisons[name] = comparison
                warnings = [*comparison.warnings(), *uneven(comparison)]
        except (InputError, PolicyError) as error:
            raise type(error)(f"under {name}: {error}") from error
        for text in warnings:
            texts.setdefault(text, []).append(name)
    notes = [
        Warned(text if len(names) == len(assessors) else f"under {listed(names)}: {text}")
        for text, names in texts.items()
    ]
    return Leaderboards(evaluations, comparisons, len(queries), tuple(notes))
