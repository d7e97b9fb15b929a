"""Own measures: a function of one query's ranks and grades, used like any other measure."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, starts_of
from judged.errors import MeasureError, quoted
from judged.measures.measure import bind
from judged.measures.reference import PRESETS
from judged.measures.registry import (
    REL,
    Cutoff,
    Example,
    NumberParam,
    Param,
    Undefined,
    is_name,
    lookup,
)
from judged.measures.registry import measure as declare
from judged.options import real
from judged.rankings.rankings import Rankings

GIVEN = ("ranks", "grades", "pool", "retrieved")
"""Names of parameters that the function gets from the data; all others are its own."""
ROUNDING = 1e-9
"""Values may be this far outside the range."""


def measure(
    function: Callable[..., float] | None = None,
    *,
    name: str | None = None,
    higher_is_better: bool = True,
    range: tuple[float, float] = (0, 1),
) -> Any:
    """Make a measure of a function of one query's ranks and grades.

    The function is called once per query, so it is slower than measures of judged. Declaring a
    name again replaces the measure.

    Parameters
    ----------
    function : callable
        Takes `ranks` and `grades` of the judged items that were retrieved, best rank first; and, if
        it names them, `pool` (all grades of the query, best first) and `retrieved` (the length of
        the list). Further parameters need defaults and are parameters of the measure: `k` is the
        number after `@`, and results below it are left out of `ranks` and `grades`. It returns a
        number, or NaN if the query has no value.
    name : str, optional
        Its name; by default that of the function.
    higher_is_better : bool, optional
        False if lower values are better.
    range : tuple of float, optional
        The lowest and the highest possible value, for confidence intervals and missing queries.

    Returns
    -------
    Measure
        The measure, for `evaluate` and everything after it. Texts can name it, too.

    >>> import judged
    >>> @judged.measure
    ... def LastHit(ranks, grades, retrieved, k=None):
    ...     return max(ranks[grades >= 1], default=0) / retrieved
    >>> judged.evaluate({"q": {"a": 1, "b": 0}}, {"q": ["b", "a", "c", "d"]}, "LastHit@3").value()
    0.5
    """
    if function is None:
        return lambda plain: measure(
            plain, name=name, higher_is_better=higher_is_better, range=range
        )
    named = name or function.__name__
    if not re.fullmatch(r"[A-Za-z]\w*", named, re.ASCII):
        raise MeasureError(f"a measure needs a name such as MyGain, not {quoted(named)}: name=….")
    known = lookup(named)[0] if is_name(named) else None
    replaced = known is not None and (known.family, known.name) == ("own", named)
    if (known is not None and not replaced) or named.lower() in PRESETS:
        raise MeasureError(f"there is a measure {quoted(named)} already; choose another name.")
    wanted, params = _parameters(function, named)

    def compute(r: Rankings, **values: Any) -> Floats:
        return _each_query(function, named, wanted, values, range, r)

    def returns_nan(r: Rankings, values: Mapping[str, Any]) -> NDArray[np.bool_]:
        return np.isnan(compute(r, **{param.name: values[param.name] for param in params}))

    first = (inspect.getdoc(function) or "").strip().split("\n\n")[0]
    own = declare(
        name=named,
        params=params,
        title=named,
        says=" ".join(first.split()) or "A measure of the user's.",
        formula=named,
        reference="own",
        range=range,
        higher_is_better=higher_is_better,
        undefined=Undefined("the function returns NaN", returns_nan),
        example=Example(named, "1", math.nan),
    )
    # The registry passes the parameters that the signature names.
    arguments = [inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY) for each in params]
    vars(compute)["__signature__"] = inspect.Signature(arguments)
    compute.__module__ = "own"
    own(compute)
    return bind(*lookup(named))


def _parameters(
    function: Callable[..., float], named: str
) -> tuple[frozenset[str], tuple[Param, ...]]:
    """Return which data the function wants, and the declared parameters of the measure."""
    wanted: set[str] = set()
    params: list[Param] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name in GIVEN:
            wanted.add(parameter.name)
        elif parameter.name == "k":
            cutoff = Cutoff()
            if parameter.default is not inspect.Parameter.empty:
                cutoff.default = cutoff.check(parameter.default)
            params.append(cutoff)
        elif parameter.name == "rel" and real(parameter.default) in (1, None):
            params.append(REL)
        elif real(parameter.default) is not None and parameter.name != "aggregate":
            says = f"{parameter.name} is {{}}"
            params.append(
                NumberParam(parameter.name, parameter.default, parameter.name, phrase=says)
            )
        else:
            raise MeasureError(
                f"{named}: the parameter {parameter.name!r} is neither one of {', '.join(GIVEN)} "
                "nor has it a number as its default, such as cost=0.5."
            )
    if not {"ranks", "grades"} <= wanted:
        raise MeasureError(f"{named}: the function must take ranks and grades.")
    return frozenset(wanted), tuple(params)


def _each_query(
    function: Callable[..., float],
    named: str,
    wanted: frozenset[str],
    values: dict[str, Any],
    range: tuple[float, float],
    r: Rankings,
) -> Floats:
    size = len(r)
    last = r.cutoff(values.get("k"), values.get("rel", 1))
    found = np.full(size, math.nan)
    hits, pools = (np.bincount(query, minlength=size) for query in (r.hit_query, r.pool_query))
    first_hit, first_pool = starts_of(hits), starts_of(pools)
    for query, query_id in enumerate(r.queries):
        own = slice(first_hit[query], first_hit[query] + hits[query])
        above = r.hit_rank[own] <= last[query]
        data = {
            "ranks": r.hit_rank[own][above],
            "grades": r.hit_grade[own][above],
            "pool": r.pool_grade[first_pool[query] : first_pool[query] + pools[query]],
            "retrieved": int(r.retrieved[query]),
        }
        value = function(**{key: data[key] for key in wanted}, **values)
        if isinstance(value, (float, np.floating)) and math.isnan(value):
            continue
        number = real(value)
        if number is None:
            raise MeasureError(
                f"{named} returned {quoted(value)} for query {query_id!r}; it must return "
                "a number, or NaN if the query has no value."
            )
        if not range[0] - ROUNDING <= number <= range[1] + ROUNDING:
            raise MeasureError(
                f"{named} returned {number:g} for query {query_id!r}, but its values are from "
                f"{range[0]:g} to {range[1]:g}; declare others with range=(lowest, highest)."
            )
        found[query] = number
    return found
