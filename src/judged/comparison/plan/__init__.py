"""How many queries does a difference take, or what can be seen with those there are?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judged.options import checked

if TYPE_CHECKING:
    from judged.comparison.plan.result import Plan
    from judged.measures import Measure
    from judged.options import GroupsLike, PilotLike

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
    design_effect: float | None = None,
    simulate: bool = False,
    seed: int = 0,
) -> Plan:
    """Plan a comparison: queries, power and detectable difference, one of them from the others.

    Parameters
    ----------
    difference : float, optional
        The true difference that is to be seen, in the measure's own unit. Its sign, minus for a
        loss, matters only to `simulate`; and to a `margin`, where it is how much better the system
        truly is, by default 0.
    sd : float, optional
        The standard deviation of the differences of queries. Either this or a pilot is needed.
    pilot : Comparison, array or dict, optional
        What it is estimated from: what `compare` gives, of its pairs that which spreads most; or
        the differences of queries, as numbers or as {query: difference}.
    queries : int, optional
        How many queries there are; by default it is worked out how many it takes.
    power : float, optional
        How often the difference is to be shown, by default 0.8; worked out where both `difference`
        and `queries` are given.
    level : float, optional
        A difference is shown where its p is below 1 - level.
    comparisons : int, optional
        How many comparisons are corrected together: each then has to be shown at
        1 - (1 - level)/comparisons, the first step of Holm's correction.
    margin : float, optional
        By how much a system may be worse: what is to be shown is that it is not, one-sided, as the
        rule safe of `gate` does. How many queries `compare` takes to call it equivalent is said
        too.
    half_width : float, optional
        How far the ends of the interval of a difference may be from it.
    measure : str or Measure, optional
        Of a pilot with several measures, the one that is planned by.
    groups : GroupsLike, optional
        The group of each of the pilot's queries, where queries of a group are not independent; the
        plan is then for groups. Of differences without ids, a list.
    design_effect : float, optional
        How many queries count as one independent one, from 1, where that is known without a pilot.
    simulate : bool, optional
        Whether the power is tried out on samples of the pilot's differences.
    seed : int, optional
        What these are drawn from.

    Returns
    -------
    Plan

    >>> print(plan(difference=0.02, sd=0.1).says()[0])
    You need 199 queries to see a difference of 0.02 with power 0.80.
    >>> plan(queries=50, sd=0.1).difference
    0.0404...
    >>> round(plan(queries=50, difference=0.02, sd=0.1).power, 4)
    0.2836
    """
    from judged.comparison.plan.solution import Asked, solved

    given: dict[str, Any] = {
        "difference": difference,
        "sd": sd,
        "queries": queries,
        "power": power,
        "level": level,
        "comparisons": comparisons,
        "margin": margin,
        "half_width": half_width,
        "design_effect": design_effect,
    }
    return solved(
        Asked.of(**given, pilot=pilot, measure=measure, groups=groups, simulate=simulate), seed
    )
