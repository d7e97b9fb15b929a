"""Parameters that measures declare: each knows its default, what is allowed, and how to say it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from judged.errors import quoted
from judged.options import MOST, real
from judged.text import listed


class Param(Protocol):
    """What a declared parameter can do; the parser, messages, help and docs all derive from it."""

    @property
    def name(self) -> str: ...
    @property
    def default(self) -> Any: ...
    @property
    def says(self) -> str: ...
    @property
    def allowed(self) -> str:
        """What a value must be, to complete the sentence "k must be …"."""
        ...

    def check(self, value: Any) -> Any:
        """Return the value in its canonical form; raise ValueError if it is not allowed."""
        ...

    def describe(self, value: Any) -> str:
        """Describe what this value means."""
        ...


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
    number = real(value)
    if number is None:
        raise ValueError
    return int(number) if abs(number) < MOST and number.is_integer() else number


@dataclass(frozen=True)
class Cutoff:
    """How many results count: a whole number, R, or no limit."""

    name: str = "k"
    default: int | str | None = None
    says: str = "only the first k results count; R is the query's number of relevant items"
    allowed: str = "a whole number from 1, or R"

    def check(self, value: Any) -> int | str | None:
        if value is None or (isinstance(value, str) and value == "R"):
            return value
        number = _number(value)
        if not isinstance(number, int) or number < 1:
            raise ValueError
        return number

    def describe(self, value: Any) -> str:
        if value is None:
            return "all results count"
        if value == "R":
            return "only as many results count as the query has relevant items"
        return (
            f"only the first {value} result{'s' if value > 1 else ''} "
            f"count{'s' if value == 1 else ''}"
        )


@dataclass(frozen=True)
class Number:
    """A number between two bounds, which are excluded if `open`; or None if that is the default."""

    name: str
    default: float | None
    says: str
    low: float = -math.inf
    high: float = math.inf
    open: bool = False
    phrase: str = ""

    @property
    def allowed(self) -> str:
        if math.isinf(self.low):
            return "a number"
        if math.isinf(self.high):
            return f"a number {'above' if self.open else 'from'} {show(self.low)}"
        return (
            f"a number {'between' if self.open else 'from'} {show(self.low)} "
            f"{'and' if self.open else 'to'} {show(self.high)}"
        )

    def check(self, value: Any) -> float | None:
        if value is None and self.default is None:
            return None
        number = _number(value)
        inside = self.low < number < self.high if self.open else self.low <= number <= self.high
        if not inside:
            raise ValueError
        return number

    def describe(self, value: Any) -> str:
        return (self.phrase or f"{self.name} is {{}}").format(show(value))


@dataclass(frozen=True)
class Choice:
    """One of a few words, each with the sentence that says what it does."""

    name: str
    default: str
    says: str
    options: Mapping[str, str]

    @property
    def allowed(self) -> str:
        return listed(list(self.options), "or")

    def check(self, value: Any) -> str:
        if not isinstance(value, str) or value not in self.options:
            raise ValueError
        return value

    def describe(self, value: Any) -> str:
        return self.options[value]


@dataclass(frozen=True)
class Gains:
    """A gain for some grades, the other grades keeping theirs: {1: 3, 2: 9}."""

    name: str = "gains"
    default: None = None
    says: str = (
        "the gain of single grades, {grade: gain}; other grades keep the gain that `gain` gives "
        "them"
    )
    allowed: str = "a table of grades and gains from 0, such as {1:3,2:9}"

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


@dataclass(frozen=True)
class Points:
    """Recall points: how many, evenly spaced from 0 to 1, or the points themselves."""

    name: str = "points"
    default: int | tuple[float, ...] = 11
    says: str = "how many recall points, evenly spaced from 0 to 1, or a list of them"
    allowed: str = (
        "a whole number from 2 to 10,001, or a list of as many recall points from 0 to 1, such as "
        "[0.25,0.5,0.75]"
    )
    most: ClassVar = 10_001

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
REL = Number(
    "rel",
    1,
    "the lowest grade that counts as relevant",
    phrase="an item is relevant from grade {} on",
)


def patience(name: str, default: float) -> Number:
    """Make the parameter for the chance that a user goes on to the next result."""
    return Number(
        name,
        default,
        "the user's patience",
        low=0,
        high=1,
        open=True,
        phrase="the user goes on with probability {}",
    )
