"""The number that every definition gives: each measure under each policy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from judged.arrays import Floats
from judged.errors import MeasureError, PolicyError
from judged.evaluation.scores import Settlement, nothing_relevant, undefined
from judged.matching.variants import Variants
from judged.measures import Measure
from judged.measures.spec import Mask, Settled, taken
from judged.policy import CHOICES, Policy
from judged.rankings.rankings import Rankings

OPTIONS = {
    choice: tuple(option for option in known if option != "error")
    for choice, known in CHOICES.items()
}
"""The options of each choice that lead to a number."""

UNTRIED = ("expected", "removed")
"""The choices about ranks that cannot hold at once where a depth cuts through a tie."""

SHAPE = tuple(map(len, OPTIONS.values()))

Place = tuple[int, ...]
"""A policy as the index of its option in each choice, in the order of `OPTIONS`."""


def policy_at(place: Iterable[int]) -> Policy:
    chosen = zip(OPTIONS.items(), place, strict=True)
    return Policy.of({choice: options[at] for (choice, options), at in chosen})


@dataclass(frozen=True, eq=False)
class Grid:
    """A number for each measure and policy; NaN where there is none."""

    measures: list[Measure]
    values: Floats
    """One row per measure, then one axis for each choice of the policy."""
    rankings: dict[tuple[str, str], Rankings]
    """By how ties are broken and what becomes of unjudged items; the same object where that changes
    nothing."""

    def option(self, measure: Measure, choice: str, option: str) -> int | None:
        """Where an option stands on its axis; None where it leads to no number, "error" among them
        where it would stop."""
        if option in OPTIONS[choice]:
            return OPTIONS[choice].index(option)
        r = next(iter(self.rankings.values()))
        stops = r.missing.any() if choice == "missing" else nothing_relevant(measure, r).any()
        return None if stops else 0

    @property
    def untried(self) -> str:
        """What could not be tried, and why; empty where everything was."""
        if UNTRIED in self.rankings:
            return ""
        return (
            "ties=expected with unjudged=removed was not tried: the depth cuts through a tie, so "
            "how many results are left depends on its order."
        )

    @cached_property
    def idle(self) -> dict[str, str]:
        """The choices that cannot change any number here, and why."""
        usual = self.rankings["id", "nonrelevant"]
        said = {}
        if all(self.rankings[ties, "nonrelevant"] is usual for ties in OPTIONS["ties"]):
            said["ties"] = "no judged result is tied with another"
        if not usual.missing.any():
            said["missing"] = "the run lacks no judged query"
        along = list(OPTIONS).index("empty") + 1
        if np.array_equal(
            self.values,
            np.repeat(self.values.take([0], along), SHAPE[along - 1], along),
            equal_nan=True,
        ):
            said["empty"] = "every query has something relevant"
        if self.rankings["id", "removed"] is usual:
            said["unjudged"] = "all results were judged"
        return said


def all_rankings(run: Variants) -> dict[tuple[str, str], Rankings]:
    """The rankings under every choice about ranks: the same ones where it changes nothing, and none
    where two choices cannot hold at once."""
    found = {}
    for ties in OPTIONS["ties"]:
        for unjudged in OPTIONS["unjudged"]:
            # A depth that cuts a tie leaves no list without unjudged items that is the mean of all.
            try:
                found[ties, unjudged] = run.under(
                    ties if run.tied else None, unjudged if run.unjudged else None
                )
            except PolicyError:
                if (ties, unjudged) != UNTRIED:
                    raise
    return found


def compute(measures: Iterable[Measure], rankings: dict[tuple[str, str], Rankings]) -> Grid:
    """The grid of all measures that can be computed; the error of the first where none can."""
    wanted = list(dict.fromkeys(measures))
    columns = {
        each: _columns(wanted, r) for each, r in {id(r): r for r in rankings.values()}.items()
    }
    values = np.full((len(wanted), *SHAPE), np.nan)
    for (ties, unjudged), r in rankings.items():
        at = (OPTIONS["ties"].index(ties), OPTIONS["unjudged"].index(unjudged))
        values[:, at[0], :, :, at[1]] = columns[id(r)]
    values[np.isinf(values)] = np.nan
    _fill_in_means(values)
    there = ~np.isnan(values).all(axis=(1, 2, 3, 4))
    if not there.any():
        # Computing one says why.
        wanted[0].compute(next(iter(rankings.values())))
    return Grid([m for m, kept in zip(wanted, there, strict=True) if kept], values[there], rankings)


def _columns(measures: list[Measure], r: Rankings) -> Floats:
    """The summaries of all measures for the choices about missing and empty queries."""
    result = np.full((len(measures), len(OPTIONS["missing"]), len(OPTIONS["empty"])), np.nan)
    known: dict[tuple[str, bytes], float] = {}
    for members, raw in _blocks(measures, r):
        first = measures[members[0]]
        nothing = nothing_relevant(first, r) | undefined(first, raw[0])
        for missing, empty, same in _policies(r.missing, nothing):
            settlement = Settlement(
                first.spec, Policy.of({"missing": missing, "empty": empty}), nothing, r.missing
            )
            counted, settled = settlement.counted, settlement.settle(raw)
            for member, values in zip(members, settled, strict=True):
                measure = measures[member]
                # Most definitions give a query's list the same values as some other: they are
                # averaged once.
                key = (measure.params["aggregate"], values.tobytes())
                plain = measure.spec.made_of is None
                value = known.get(key) if plain else None
                if value is None:
                    given = Settled(values, counted, settlement.settle)
                    value = measure.summarise(measure.gives(r), given)
                    if plain:
                        known[key] = value
                for at in same:
                    result[member][at] = value
    return result


def _policies(missing: Mask, nothing: Mask) -> Iterator[tuple[str, str, list[tuple[int, int]]]]:
    """The choices about missing and empty queries that differ here, each with all places on the
    axes that it stands for."""
    for m, one in enumerate(OPTIONS["missing"]):
        for e, other in enumerate(OPTIONS["empty"]):
            rows = [m] if missing.any() else list(range(len(OPTIONS["missing"])))
            columns = [e] if nothing.any() else list(range(len(OPTIONS["empty"])))
            if m == rows[0] and e == columns[0]:
                yield one, other, [(row, column) for row in rows for column in columns]


def _blocks(measures: list[Measure], r: Rankings) -> Iterator[tuple[list[int], Floats]]:
    """Measures whose values are settled alike, with those values, one row per measure; what cannot
    be computed is left out."""
    blocks: dict[tuple[str, Any], list[int]] = {}
    for number, measure in enumerate(measures):
        settled_by = tuple(measure.params.get(name) for name in ("rel", "gain", "gains"))
        blocks.setdefault((measure.spec.name, settled_by), []).append(number)
    for members in blocks.values():
        spec = measures[members[0]].spec
        own = taken(spec.compute) | (taken(spec.expected) if spec.expected else frozenset())
        raw: dict[tuple[tuple[str, Any], ...], Floats | None] = {}
        rows = []
        for member in members:
            core = tuple(item for item in measures[member].items if item[0] in own)
            if core not in raw:
                raw[core] = _values(measures[member], r)
            if (values := raw[core]) is not None:
                rows.append((member, values))
        if rows:
            yield [member for member, _ in rows], np.stack([values for _, values in rows])


def _values(measure: Measure, r: Rankings) -> Floats | None:
    """One value per query; None where they cannot be computed, or only be estimated from random
    orders of ties."""
    try:
        if r.ties != "expected":
            return measure.compute(r)
        closed = measure.closed(r)
    except MeasureError:
        return None
    return closed.values if closed.known.all() else None


def _fill_in_means(values: Floats) -> None:
    """Where every order of ties gives the same number, so does their mean, and nobody has to
    estimate it."""
    axis = list(OPTIONS).index("ties") + 1
    by_order = np.moveaxis(values, axis, 0)
    mean = OPTIONS["ties"].index("expected")
    orders = np.delete(by_order, mean, 0)
    same = np.isnan(by_order[mean]) & (np.abs(orders - orders[0]) < 1e-12).all(axis=0)
    by_order[mean][same] = orders[0][same]
