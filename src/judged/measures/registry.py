"""The registry of measures: their parameters, what they declare, and aggregation over queries."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats
from judged.errors import MeasureError, did_you_mean, quoted
from judged.measures.reference import PRESETS, find_topic
from judged.measures.tie_orders import Closed, Worth, by_grade
from judged.options import MOST, real
from judged.rankings.rankings import Rankings
from judged.statistics import samples
from judged.statistics.samples import QueryRows, Sample, Weighed, relative
from judged.text import listed


class Param:
    """A declared parameter; the parser, messages, help and docs derive from it."""

    name: str
    default: Any = None
    says: str
    allowed: str
    """The completion of "k must be …"."""

    def check(self, value: Any) -> Any:
        """Return the value in its canonical form; raise ValueError if it is not allowed."""
        raise NotImplementedError

    def describe(self, value: Any) -> str:
        """Describe what this value means."""
        raise NotImplementedError


def show(value: Any) -> str:
    """Return a value in the notation of measures."""
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{show(key)}:{show(gain)}" for key, gain in value.items()) + "}"
    if isinstance(value, tuple):
        return "[" + ",".join(map(show, value)) + "]"
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)


def as_given(value: Any) -> str:
    """Return a wrong value in the notation of measures, if that is short."""
    text = value if isinstance(value, str) else quoted(value)
    if isinstance(value, (float, Mapping, tuple)) and len(text) < 60:
        text = show(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


def _number(value: Any) -> float:
    """Whole numbers as int, as far as floats are exact; numbers of numpy are numbers too."""
    if type(value) is int and abs(value) < MOST:
        return value
    number = real(value)
    if number is None:
        raise ValueError
    return int(number) if abs(number) < MOST and number.is_integer() else number


class Cutoff(Param):
    """The number of results that count: a whole number, R, or no limit."""

    name = "k"
    allowed = "a whole number from 1, or R"

    def __init__(
        self,
        says: str = "only the first k results count; R is the query's number of relevant items",
        *,
        endless: str = "all results count",
        as_relevant: str = "only as many results count as the query has relevant items",
        first: str = "only the first result counts",
        several: str = "only the first {} results count",
    ) -> None:
        self.says, self.several = says, several
        self.words = {None: endless, "R": as_relevant, 1: first}

    def check(self, value: Any) -> int | str | None:
        if value is None or (isinstance(value, str) and value == "R"):
            return value
        number = _number(value)
        if not isinstance(number, int) or number < 1:
            raise ValueError
        return number

    def describe(self, value: Any) -> str:
        return self.words.get(value, self.several.format(value))


class NumberParam(Param):
    """A number between two bounds, which are excluded if `open`; or None if that is the default."""

    def __init__(
        self,
        name: str,
        default: float | None,
        says: str,
        *,
        low: float = -math.inf,
        high: float = math.inf,
        open: bool = False,
        phrase: str = "",
    ) -> None:
        self.name, self.default, self.says, self.phrase = name, default, says, phrase
        self.low, self.high, self.open = low, high, open
        if math.isinf(low):
            self.allowed = "a number"
        elif math.isinf(high):
            self.allowed = f"a number {'above' if open else 'from'} {show(low)}"
        elif open:
            self.allowed = f"a number between {show(low)} and {show(high)}"
        else:
            self.allowed = f"a number from {show(low)} to {show(high)}"

    def check(self, value: Any) -> float | None:
        if value is None and self.default is None:
            return None
        number = _number(value)
        inside = self.low < number < self.high if self.open else self.low <= number <= self.high
        if not inside:
            raise ValueError
        return number

    def describe(self, value: Any) -> str:
        return self.phrase.format(show(value))


class Choice(Param):
    """One of several words, each with the sentence that describes it."""

    def __init__(self, name: str, default: str, says: str, options: Mapping[str, str]) -> None:
        self.name, self.default, self.says, self.options = name, default, says, options
        self.allowed = listed(list(options), "or")

    def check(self, value: Any) -> str:
        if isinstance(value, (bool, str)) and str(value) in ("True", "False"):  # as Python has them
            value = str(value).lower()
        if not isinstance(value, str) or value not in self.options:
            raise ValueError
        return value

    def describe(self, value: Any) -> str:
        return self.options[value]


class Gains(Param):
    """A gain for some grades, the other grades keeping theirs: {1: 3, 2: 9}."""

    name = "gains"
    says = (
        "the gain of single grades, {grade: gain}; other grades keep the gain that `gain` gives "
        "them"
    )
    allowed = "a table of grades and gains from 0, such as {1:3,2:9}"

    def check(self, value: Any) -> Mapping[float, float] | None:
        if value is None:
            return None
        if not isinstance(value, Mapping) or not value:
            raise ValueError
        table = {_number(grade): _number(gain) for grade, gain in value.items()}
        if min(table.values()) < 0:
            raise ValueError
        return _Table(sorted(table.items()))

    def describe(self, value: Any) -> str:
        if value is None:
            return "no grade has a gain of its own"
        return "; ".join(f"grade {show(grade)} gains {show(gain)}" for grade, gain in value.items())


class _Table(dict[float, float]):
    """A hashable mapping; nothing changes it after `Gains.check`."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self.items()))


class Points(Param):
    """Recall points: how many, evenly spaced from 0 to 1, or the points themselves."""

    name = "points"
    default = 11
    says = "how many recall points, evenly spaced from 0 to 1, or a list of them"
    allowed = (
        "a whole number from 2 to 10,001, or a list of as many recall points from 0 to 1, such as "
        "[0.25,0.5,0.75]"
    )
    most = 10_001

    def check(self, value: Any) -> int | tuple[float, ...]:
        if isinstance(value, (list, tuple)) and 0 < len(value) <= self.most:
            points = tuple(_number(point) for point in value)
            if min(points) < 0 or max(points) > 1:
                raise ValueError
            return points
        number = _number(value)
        if not isinstance(number, int) or not 2 <= number <= self.most:
            raise ValueError
        return number

    def describe(self, value: Any) -> str:
        if isinstance(value, tuple):
            return f"at recall {', '.join(map(show, value))}"
        return f"at {value} recall points evenly spaced from 0 to 1"


K = Cutoff()
REL = NumberParam(
    "rel",
    1,
    "the lowest grade that counts as relevant",
    phrase="an item is relevant from grade {} on",
)


def share_param(
    name: str, default: float, says: str, phrase: str, *, open: bool = False
) -> NumberParam:
    """Make a parameter that is a number from 0 to 1, or between them."""
    return NumberParam(name, default, says, low=0, high=1, open=open, phrase=phrase)


def patience(name: str, default: float) -> NumberParam:
    """Make the parameter for the probability that a user goes on to the next result."""
    phrase = "the user goes on with probability {}"
    return share_param(name, default, "the user's patience", phrase, open=True)


Mask = NDArray[np.bool_]


class Settled(NamedTuple):
    """A measure's values after policy: undefined values replaced, and excluded queries removed."""

    values: Floats
    counted: Mask
    """A mask of the queries that count."""
    settle: Callable[[Floats], Floats]
    """The same policy for other values, one per query, that a summary is made of."""
    weights: Floats | None = None
    """The weights of the queries that count; None if all are equal."""


class Undefined(NamedTuple):
    """The queries without a value: in words, and as a test."""

    text: str
    where: Callable[[Rankings, Mapping[str, Any]], Mask]
    of_run: bool = False
    """True if it depends on the results, and not on the judgements alone."""


def _no_relevant(r: Rankings, params: Mapping[str, Any]) -> Mask:
    return r.relevant(params["rel"]) == 0


Expectation = Callable[..., Floats | Closed | None]
"""(rankings, **params) -> one value per query, for all or some queries; None where they have no
closed form."""


def ITSELF(r: Rankings) -> None:  # noqa: N802
    """Mark a measure whose own function, given expected counts, is its expectation."""


NEVER = Undefined("never", lambda r, params: np.zeros(len(r), bool))
NO_RELEVANT = Undefined("the query has no relevant item", _no_relevant)


class Example(NamedTuple):
    """A worked example: a relevance list in rank order, and its value worked out by hand.

    The list has one grade per result, {"subtopic":grade} for measures of subtopics, and - for
    unjudged results.
    """

    measure: str
    ranking: str
    value: float
    relevant: int | None = None
    collection: int | None = None

    def rankings(self) -> Rankings:
        import json

        grades = [None if text == "-" else json.loads(text) for text in self.ranking.split()]
        return Rankings.from_relevance([grades], relevant=self.relevant, collection=self.collection)


class Spec:
    """A measure as declared, once.

    >>> from judged.measures import REGISTRY
    >>> REGISTRY["RR"].title, [param.name for param in REGISTRY["RR"].params]
    ('Reciprocal rank', ['k', 'rel', 'aggregate'])
    """

    name: str
    """Its name in texts."""
    title: str
    """Its full name."""
    says: str
    """The definition in words, without the parameters."""
    formula: str
    """The definition in LaTeX."""
    reference: str
    """The key of its definition in the bibliography."""
    range: tuple[float, float]
    """The lowest and the highest possible value."""
    params: tuple[Param, ...]
    """Its parameters, each with its default."""
    undefined: Undefined
    """The queries without a value."""
    example: Example
    """A list whose value was worked out by hand."""
    compute: Callable[..., Floats]
    """(rankings, **params) -> one value per query."""
    family: str
    """The module that declares it."""
    formulas: Mapping[str, str] = {}
    """Formulas of variants: {"of=all": …}."""
    aliases: Mapping[str, Mapping[str, Any]]
    """Other names with the parameters they imply: {"GMAP": {"aggregate": "geometric"}}."""
    at: str | None
    """The parameter that `@` sets."""
    laws: frozenset[str]
    """The names of the laws it keeps, which the tests check."""
    higher_is_better: bool = True
    """False if a lower value is better, such as for ranks."""
    rates_relevance: bool = True
    """False for counts, which have a value without relevant items too: no policy changes them."""
    tells_unjudged: bool = False
    """True if irrelevant items count differently from unjudged ones."""
    gives: Callable[..., QueryRows | None] | None = None
    """(rankings, **params) -> what each query adds to the summary; None if the summary aggregates
    the queries' values. Blocks of rankings are joined."""
    made_of: Callable[..., Sample] | None = None
    """(rows, settled, **params) -> the sample behind the summary: one row per query that counts."""
    expected: Expectation | None
    """The mean over all orders of tied results, in closed form; if it is None, or returns None,
    orders are enumerated or sampled."""
    worth: Callable[..., Worth] | None
    """(rankings, **params) -> what tied results are worth, if that determines the orders in which
    the measure is highest and lowest. `by_grade` follows from the law swap_up_never_hurts."""
    monotone: Callable[[Mapping[str, Any]], bool] | None = None
    """(params) -> whether the value moves in one direction only when a retrieved item, and the
    query's judgement of it, get a better grade."""
    adds: Callable[[Mapping[str, Any]], bool] | None = None
    """(params) -> whether the value is the sum of independent gains of the results, which grow
    towards the top."""
    divides: Callable[[Mapping[str, Any]], tuple[str, str] | None] | None = None
    """(params) -> two measures with the same parameters whose quotient the value is: one that adds,
    and one that depends on the judgements alone and grows with each grade."""

    def __init__(self, **declared: Any) -> None:
        # No dataclass: making one of so many fields takes a noticeable part of the start-up.
        if unknown := declared.keys() - self.__annotations__.keys():
            raise TypeError(f"a measure has no {unknown}")
        vars(self).update(declared)

    def bound(self, params: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
        """Return all parameters with their values: those given, checked, and defaults."""
        values = {param.name: param.default for param in self.params}
        for name, value in params.items():
            param = self.param(name)
            try:
                values[name] = param.check(value)
            except (ValueError, TypeError, OverflowError, RecursionError):
                raise MeasureError(
                    f"{name} of {self.name} must be {param.allowed}; got {as_given(value)}."
                ) from None
        return tuple(values.items())

    def param(self, name: str) -> Param:
        """Return a parameter by its name.

        Parameters
        ----------
        name : str
            Such as "k". An unknown name is a MeasureError that suggests the nearest.

        Returns
        -------
        Param
            Its default, what is allowed, and how to describe both.

        >>> from judged.measures import REGISTRY
        >>> REGISTRY["P"].param("k").allowed
        'a whole number from 1, or R'
        """
        for param in self.params:
            if param.name == name:
                return param
        known = [param.name for param in self.params]
        raise MeasureError(
            f"{self.name} takes no {quoted(name)}{did_you_mean(name, known)} It takes "
            f"{', '.join(known)}."
        )


def collection_size(r: Rankings, name: str) -> Floats:
    """Return how many items there were to retrieve; raise an error if that is not known."""
    if r.collection is None:
        raise MeasureError(
            f"{name} counts the items that were not retrieved and needs the size of the "
            "collection; give it as collection (--collection)."
        )
    known = r.retrieved + r.total(r.pool_query) - r.total(r.hit_query)
    if (short := np.flatnonzero(r.collection < known)).size:
        worst = short[0]
        raise MeasureError(
            f"the collection of query {r.queries[worst]} holds {r.collection[worst]:,} items, but "
            f"{int(known[worst]):,} were retrieved or judged; {name} needs the number of all items "
            "there are."
        )
    return r.collection.astype(np.float64)


def accepted(function: Callable[..., Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that a function takes by keyword."""
    return {name: value for name, value in params.items() if name in taken(function)}


@cache
def taken(function: Callable[..., Any]) -> frozenset[str]:
    """Return the names of a function's parameters."""
    return frozenset(inspect.signature(function).parameters)


EVERY_LAW = frozenset(
    {"swap_up_never_hurts", "append_unjudged_is_neutral", "below_k_is_ignored", "perfect_is_best"}
)
REGISTRY: dict[str, Spec] = {}
"""Every measure by its name, family after family."""
_JOINT = r"(?<=[a-z0-9])[-_](?=[a-z])"

DISPUTED = {
    "acc": "Success@k, whether a relevant item is among the first k results, and Accuracy@k, the "
    "share of all items that are classified rightly",
    "hits": "Success@k, whether a relevant item is among the first k results, and NumRelRet@k, how "
    "many of them are relevant",
}
"""Spellings that mean one thing here and another there, and both things."""


def _plain(name: str) -> str:
    """Return a name without differences of spelling: hit_rate, Hit-Rate and HitRate are one."""
    # A sign before a number stays: AP_11 is not AP11.
    name = name.lower()
    return re.sub(_JOINT, "", name) if "-" in name or "_" in name else name


_NEAR = 0.66  # least similarity of a suggested name
_NAMES: dict[str, str] = {}
"""The measure of each plain name."""


def measure(
    *,
    name: str,
    params: tuple[Param, ...],
    at: str | None = "k",
    aliases: tuple[str, ...] | Mapping[str, Mapping[str, Any]] = (),
    range: tuple[float, float] = (0, 1),
    undefined: Undefined = NO_RELEVANT,
    aggregate: str = "mean",
    laws: set[str] | frozenset[str] = frozenset(),
    expected: Expectation | None = None,
    worth: Callable[..., Worth] | None = None,
    **declared: Any,
) -> Callable[[Callable[..., Floats]], Callable[..., Floats]]:
    """Declare a measure above the function that computes it for all queries.

    `at` applies only if there is such a parameter.
    """

    def register(compute: Callable[..., Floats]) -> Callable[..., Floats]:
        all_params = (
            params
            if any(p.name == "aggregate" for p in params)
            else (*params, aggregate_param(aggregate))
        )
        other = aliases if isinstance(aliases, Mapping) else {alias: {} for alias in aliases}
        family = compute.__module__.rpartition(".")[2]
        spec = Spec(
            name=name,
            params=all_params,
            at=at if any(param.name == at for param in params) else None,
            aliases=other,
            range=range,
            undefined=undefined,
            laws=frozenset(laws),
            compute=compute,
            family=family,
            expected=compute if expected is ITSELF else expected,
            worth=by_grade if worth is None and "swap_up_never_hurts" in laws else worth,
            **declared,
        )
        for known in (name, *other):
            if _NAMES.setdefault(_plain(known), name) != name:
                raise ValueError(f"two measures are called {known!r}")
        # A full title is a name too, such as "expected reciprocal rank".
        _NAMES.setdefault(_plain(re.sub(r"\(.*|\W", "", spec.title)), name)
        REGISTRY[name] = spec
        return compute

    return register


def lookup(name: str) -> tuple[Spec, Mapping[str, Any]]:
    """Find a declared measure and the parameters that its name implies.

    Parameters
    ----------
    name : str
        Any name or alias; case, - and _ do not matter.

    Returns
    -------
    tuple
        The `Spec`, and {parameter: value} of what the name sets.

    >>> spec, preset = lookup("gmap")
    >>> spec.name, preset
    ('AP', {'aggregate': 'geometric'})
    """
    try:
        spec = REGISTRY[_NAMES[_plain(name)]]
        presets = {_plain(other): preset for other, preset in spec.aliases.items()}
        return spec, presets.get(_plain(name), {})
    except KeyError:
        if both := DISPUTED.get(_plain(name).rstrip("0123456789_-.")):
            raise MeasureError(
                f"{quoted(name)} has two meanings: {both}; write the one that is meant."
            ) from None
        if name.lower() in PRESETS:
            raise MeasureError(
                f"{quoted(name)} is a preset: it has no cutoff and no parameters of its own, and "
                f"means {', '.join(PRESETS[name.lower()])}."
            ) from None
        if topic := find_topic(name):
            raise MeasureError(f"{quoted(name)} is not a measure. {topic[0]}") from None
        raise MeasureError(
            f"There is no measure {quoted(name)}{_nearest(name)} 'judged measures' lists them all."
        ) from None


def _nearest(name: str) -> str:
    """Return the end of a sentence that suggests a name: nDCG@10 for nDCG10 and ndgc10."""
    if cut := re.fullmatch(r"(.*[A-Za-z])[-_.]?([1-9]\d*)", name):
        hint = did_you_mean(cut[1], names(), cutoff=_NEAR)
        near = hint.removeprefix("; did you mean '").removesuffix("'?")
        taken_by = {param.name for param in lookup(near)[0].params} if is_name(near) else set()
        if "k" in taken_by and "beta" not in taken_by and not near[-1].isdigit():
            return f"; did you mean '{near}@{cut[2]}'?"
    return did_you_mean(name, [*names(), *PRESETS], cutoff=_NEAR)


def is_name(name: str) -> bool:
    """Return whether a measure has this name."""
    return _plain(name) in _NAMES


def names() -> Iterator[str]:
    """Yield all known names, aliases included.

    >>> "MRR" in names()
    True
    """
    for name, spec in REGISTRY.items():
        yield name
        yield from spec.aliases


class Aggregation(NamedTuple):
    """A way to make one number of the queries' values, with its standard error."""

    value: Callable[[Floats, Weighed], float]
    error: Callable[[Floats, Floats, Weighed], float]
    says: str
    weighted: bool = True
    """True if weights are supported: doubling all of them must change nothing."""

    def __call__(self, values: Floats, weights: Floats | None = None) -> float:
        return self.value(values, relative(weights))

    def standard_error(
        self, values: Floats, errors: Floats, weights: Floats | None = None
    ) -> float:
        """Compute the standard error of the number from those of the values."""
        return self.error(values, errors, relative(weights))


AGGREGATIONS: dict[str, Aggregation] = {
    "mean": Aggregation(
        samples.weighted_mean, samples.mean_error, "the summary is the mean over the queries"
    ),
    "geometric": Aggregation(
        samples.geometric,
        samples.geometric_error,
        "the summary is the geometric mean over the queries, each value at least "
        f"{samples.GEOMETRIC_FLOOR:.5f}",
    ),
    "median": Aggregation(
        samples.median, samples.median_error, "the summary is the median over the queries"
    ),
    "sum": Aggregation(
        samples.total,
        lambda values, errors, weights: samples.sum_error(errors),
        "the summary is the sum over the queries",
        weighted=False,
    ),
}


def aggregate_param(default: str, names: tuple[str, ...] = tuple(AGGREGATIONS)) -> Choice:
    """Make every measure's last parameter: how its values become one number."""
    return Choice(
        "aggregate",
        default,
        "how the queries' values become one number",
        {name: AGGREGATIONS[name].says for name in names},
    )
