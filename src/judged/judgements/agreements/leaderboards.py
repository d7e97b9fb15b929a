"""What judges do to runs: values, verdicts and orders under each of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.errors import InputError, PolicyError
from judged.inputs.tables import Judgements, Lookup
from judged.judgements.agreements.judges import on_queries, read_runs
from judged.policy import add_choices
from judged.text import Warned, listed, plain

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison
    from judged.evaluation.evaluation import Evaluation
    from judged.options import ColumnsLike, FileFormat, RunsLike
    from judged.statistics.orders import OrderAgreement


@dataclass(frozen=True)
class Verdicts:
    """Two runs on one measure, as each judge has it."""

    measure: str
    run: str
    """The run that is compared."""
    against: str
    """The run that it is compared with."""
    verdicts: Mapping[str, str]
    """The verdict under each judge."""
    differences: Mapping[str, float]
    """By how much the run's number is greater under each judge."""

    @property
    def changes(self) -> bool:
        """Whether judges lead to different verdicts."""
        return len(set(self.verdicts.values())) > 1

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {
            "measure": self.measure,
            "run": self.run,
            "against": self.against,
            "verdicts": dict(self.verdicts),
            "differences": {name: plain(each) for name, each in self.differences.items()},
            "changes": self.changes,
        }


@dataclass(frozen=True)
class Swap:
    """Two runs whose order is another one under another judge."""

    measure: str
    first: str
    """The judge under whom `run` is the better one."""
    second: str
    """The judge under whom it is the worse one."""
    run: str
    against: str
    lead: float
    """By how much the run is better under the first judge."""
    loss: float
    """By how much it is worse under the second."""

    @property
    def size(self) -> float:
        """By how much the difference moves."""
        return self.lead + self.loss

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {
            "measure": self.measure,
            "first": self.first,
            "second": self.second,
            "run": self.run,
            "against": self.against,
            "lead": self.lead,
            "loss": self.loss,
        }


@dataclass(frozen=True, eq=False)
class Leaderboards:
    """The same runs under each judge's own judgements, on the queries that all of them judged."""

    under: Mapping[str, Comparison | Evaluation]
    """The comparison of the runs under each judge; of one run its evaluation."""
    queries: int
    """How many queries all judged."""
    notes: tuple[str, ...] = ()

    @cached_property
    def evaluations(self) -> dict[str, Evaluation]:
        """The evaluation of the runs under each judge."""
        found: dict[str, Any] = {
            name: getattr(each, "evaluation", each) for name, each in self.under.items()
        }
        return found

    @cached_property
    def _first(self) -> Evaluation:
        return next(iter(self.evaluations.values()))

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of the runs."""
        return tuple(run.name for run in self._first.runs)

    @property
    def measures(self) -> tuple[str, ...]:
        """What the measures are called."""
        return tuple(self._first.labels)

    @property
    def least_grades(self) -> dict[str, float]:
        """From which grade on an item is relevant to the measures that ask for it."""
        asked = {label: each.params.get("rel") for label, each in self._first.labels.items()}
        return {label: rel for label, rel in asked.items() if isinstance(rel, (int, float))}

    @cached_property
    def values(self) -> dict[str, dict[str, dict[str, float]]]:
        """Of each measure, under each judge, the number of each run."""
        return {
            label: {
                judge: {run.name: run.summary[found.labels[label]] for run in found.runs}
                for judge, found in self.evaluations.items()
            }
            for label in self.measures
        }

    @cached_property
    def verdicts(self) -> tuple[Verdicts, ...]:
        """Every pair of runs on every measure; nothing of one run."""
        if len(self.runs) < 2:
            return ()
        rows = {judge: found.rows for judge, found in self.under.items()}  # type: ignore[union-attr]
        return tuple(
            Verdicts(
                *(own[0].measure, own[0].run, own[0].against),
                dict(zip(rows, [row.verdict for row in own], strict=True)),
                dict(zip(rows, [row.difference for row in own], strict=True)),
            )
            for own in zip(*rows.values(), strict=True)
        )

    def _better(self, measure: str, judge: str) -> dict[str, float]:
        """The numbers of the runs, such that the greater is the better one."""
        higher = self._first.labels[measure].spec.higher_is_better
        sign = 1 if higher else -1
        return {run: sign * value for run, value in self.values[measure][judge].items()}

    @cached_property
    def orders(self) -> dict[str, dict[tuple[str, str], OrderAgreement]]:
        """Of each measure, how far the orders under every two judges agree; nothing of fewer than
        three runs, or where one of them has no number."""
        if len(self.runs) < 3:
            return {}
        from judged.statistics.orders import order_agreement

        return {
            measure: {
                (one, other): order_agreement(
                    self._better(measure, one), self._better(measure, other)
                )
                for one, other in combinations(self.under, 2)
            }
            for measure in self.measures
            if not any(
                math.isnan(each) for own in self.values[measure].values() for each in own.values()
            )
        }

    @cached_property
    def swaps(self) -> tuple[Swap, ...]:
        """Of each measure and every two judges the largest swap: the two runs that change places,
        and whose difference moves most."""
        every = [
            self._largest_swap(measure, one, other)
            for measure in self.measures
            for one, other in combinations(self.under, 2)
        ]
        return tuple(swap for swap in every if swap is not None)

    def _largest_swap(self, measure: str, one: str, other: str) -> Swap | None:
        ours, theirs = self._better(measure, one), self._better(measure, other)
        above, below = (_levels(each) for each in (ours, theirs))
        swapped = [
            (run, against, ours[run] - ours[against], theirs[against] - theirs[run])
            for run in above
            for against in above
            if above[run] < above[against] and below[run] > below[against]
        ]
        if not swapped:
            return None
        run, against, lead, loss = max(swapped, key=lambda each: each[2] + each[3])
        return Swap(measure, one, other, run, against, lead, loss)

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {
            "queries": self.queries,
            "values": {
                measure: {
                    judge: {run: plain(value) for run, value in own.items()}
                    for judge, own in under.items()
                }
                for measure, under in self.values.items()
            },
            "verdicts": [each.to_dict() for each in self.verdicts],
            "orders": [
                {"measure": measure, "first": one, "second": other, **found.to_dict()}
                for measure, pairs in self.orders.items()
                for (one, other), found in pairs.items()
            ],
            "swaps": [each.to_dict() for each in self.swaps],
            "policy": self._first.policy.to_dict(),
            "definitions": {
                label: measure.definition() for label, measure in self._first.labels.items()
            },
        }


def _levels(values: Mapping[str, float]) -> dict[str, int]:
    """How many different values are above that of each run which has one; values that are equal but
    for rounding are one."""
    from judged.statistics.orders import levels_of

    known = {run: value for run, value in values.items() if not math.isnan(value)}
    return dict(zip(known, levels_of(np.array([*known.values()])).tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class Terms:
    """How the runs are scored: the same under each judge."""

    measures: Any
    columns: ColumnsLike | None
    run_format: FileFormat | None
    comparing: Mapping[str, Any] = field(default_factory=dict)
    """Options of `compare`."""
    scoring: Mapping[str, Any] = field(default_factory=dict)
    """Options of `compare` and `evaluate`."""


def leaderboards_of(
    judges: Mapping[str, Judgements | Lookup],
    queries: Sequence[str],
    runs: RunsLike,
    terms: Terms,
) -> Leaderboards:
    """The runs under each judge."""
    from judged.comparison import compare
    from judged.evaluation import evaluate

    read = read_runs(runs, columns=terms.columns, format=terms.run_format)
    under: dict[str, Comparison | Evaluation] = {}
    for judge, own in judges.items():
        judgements = on_queries(own, queries)
        try:
            if len(read) > 1:
                under[judge] = compare(
                    judgements, read, terms.measures, **terms.comparing, **terms.scoring
                )
            else:
                scoring = dict(terms.scoring)
                chosen = {name: scoring.pop(name, None) for name in ("depth", "duplicates")}
                scoring["policy"] = add_choices(scoring.get("policy"), **chosen)
                under[judge] = evaluate(judgements, read, terms.measures, **scoring)
        except (InputError, PolicyError) as error:
            raise type(error)(f"under {judge}: {error}") from error
    return Leaderboards(under, len(queries), tuple(_warned(under)))


def _warned(under: Mapping[str, Comparison | Evaluation]) -> list[str]:
    """What the comparisons warn of, once each."""
    from judged.comparison.comparison import Comparison
    from judged.comparison.orders import uneven

    said: dict[str, list[str]] = {}
    for judge, found in under.items():
        for text in (*found.warnings(), *(uneven(found) if isinstance(found, Comparison) else ())):
            said.setdefault(text.replace(": see --", ": see judged evaluate --"), []).append(judge)
    return [
        Warned(text if len(judges) == len(under) else f"under {listed(judges)}: {text}")
        for text, judges in said.items()
    ]
