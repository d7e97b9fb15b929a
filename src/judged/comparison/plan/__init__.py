"""Power analysis: how many queries a comparison needs, or what the queries can detect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judged.options import GroupsLike, PilotLike, checked, later

if TYPE_CHECKING:
    from judged.comparison.plan.result import Plan
    from judged.measures import Measure
else:  # loaded by `typing.get_type_hints` only
    Measure = later("judged:Measure")
    Plan = later("judged:Plan")

__all__ = ["plan"]


@checked
def plan(
    *,
    difference: float | None = None,
    sd: float | None = None,
    pilot: PilotLike | None = None,
    queries: int | None = None,
    power: float | None = None,
    level: float = 0.95,
    comparisons: int = 1,
    margin: float | None = None,
    half_width: float | None = None,
    measure: str | Measure | None = None,
    groups: GroupsLike | None = None,
    simulate: bool = False,
) -> Plan:
    """Work out how many queries a comparison needs (power analysis).

    Of `queries`, `difference` and `power`, the one that is not given is computed from the others.

    Parameters
    ----------
    difference : float, optional
        The true difference to detect, in the measure's own unit. With a `margin`, how much better
        the system truly is, by default 0. Otherwise its sign matters only to `simulate`.
    sd : float, optional
        Standard deviation of the per-query differences. Either this or a pilot is needed.
    pilot : Comparison, array or dict, optional
        Source of the standard deviation: a comparison, of which the pair with the largest one is
        used, or per-query differences as numbers or as {query: difference}.
    queries : int, optional
        Number of queries; computed by default.
    power : float, optional
        Probability of detecting the difference, 0.8 by default; computed if `difference` and
        `queries` are given.
    level : float, optional
        Confidence level. A difference is significant if its p is below 1 - level.
    comparisons : int, optional
        Number of comparisons that are corrected together. Each is planned for the first step of
        Holm's correction, 1 - (1 - level)/comparisons.
    margin : float, optional
        By how much a system may be worse. The plan is then for a one-sided test of non-inferiority,
        as with the rule safe of `gate`, and for equivalence as in `compare`.
    half_width : float, optional
        Half-width that the confidence interval of a difference may have.
    measure : str or Measure, optional
        One of the measures of a pilot with several.
    groups : GroupsLike, optional
        The group of each of the pilot's queries, if queries of a group are not independent. For
        differences without ids, a list.
    simulate : bool, optional
        Check the power on samples of the pilot's differences.

    >>> print(plan(difference=0.02, sd=0.1).says()[0])
    You need 199 queries to detect a difference of 0.02 with 80 % power.
    >>> plan(queries=50, sd=0.1).difference
    0.0404...
    >>> round(plan(queries=50, difference=0.02, sd=0.1).power, 4)
    0.2836
    """
    from judged.comparison.plan.solution import make_plan

    return make_plan(
        difference=difference,
        sd=sd,
        pilot=pilot,
        queries=queries,
        power=power,
        level=level,
        comparisons=comparisons,
        margin=margin,
        half_width=half_width,
        measure=measure,
        groups=groups,
        simulate=simulate,
    )
