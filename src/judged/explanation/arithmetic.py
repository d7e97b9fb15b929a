"""Arithmetic with numbers filled in, as text and as LaTeX, computed from the inside out.

>>> average = total([num(1) / 2, num(2) / 5]) / 4
>>> average.stages()
['(1/2 + 2/5) / 4', '(0.5 + 0.4) / 4', '0.9 / 4', '0.225']
>>> average.latex()
'\\\\frac{\\\\frac{1}{2} + \\\\frac{2}{5}}{4}'
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

MOST_PARTS = 8  # a longer sum shows its first parts, its last one and how many are between


def figure(value: float) -> str:
    """Return a number as people write it: with four decimals, or four digits if it is tiny.

    >>> [figure(each) for each in (3.0, 0.5, 3 / 7, 0.00001234, float("inf"))]
    ['3', '0.5', '0.4286', '1.234e-05', '∞']
    """
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if float(value).is_integer() and abs(value) < 1e15:
        return str(int(value))
    text = f"{value:.4f}" if 0.001 <= abs(value) < 1e9 else f"{value:.4g}"
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


class Expression(ABC):
    """A calculation; numbers become expressions when combined with one."""

    binds: ClassVar[int] = 9
    """Precedence: a part with lower precedence than the whole needs brackets."""

    @property
    def parts(self) -> tuple[Expression, ...]:
        return ()

    @property
    @abstractmethod
    def value(self) -> float: ...

    @abstractmethod
    def text(self) -> str: ...

    @abstractmethod
    def latex(self) -> str: ...

    def with_parts(self, parts: tuple[Expression, ...]) -> Expression:
        """Return the same expression with other parts."""
        return self

    def shortened(self) -> Expression:
        """Return the expression with the innermost arithmetic computed."""
        if all(isinstance(part, Number) for part in self.parts):
            return Number(self.value)
        return self.with_parts(
            tuple(part if isinstance(part, Number) else part.shortened() for part in self.parts)
        )

    def stages(self) -> list[str]:
        """Return the text, and the text after each computation down to the value."""
        texts, now = [self.text()], self
        while not isinstance(now, Number):
            now = now.shortened()
            if now.text() != texts[-1]:
                texts.append(now.text())
        return texts

    def inside(self, binds: int) -> str:
        """Return the text as part of an expression of some precedence."""
        return f"({self.text()})" if self.binds < binds else self.text()

    def __add__(self, other: Operand) -> Expression:
        return Sum((self, num(other)))

    def __radd__(self, other: Operand) -> Expression:
        return Sum((num(other), self))

    def __sub__(self, other: Operand) -> Expression:
        return Difference(self, num(other))

    def __rsub__(self, other: Operand) -> Expression:
        return Difference(num(other), self)

    def __mul__(self, other: Operand) -> Expression:
        return Product((*(self.several if isinstance(self, Product) else (self,)), num(other)))

    def __rmul__(self, other: Operand) -> Expression:
        return Product((num(other), self))

    def __truediv__(self, other: Operand) -> Expression:
        return Quotient(self, num(other))

    def __rtruediv__(self, other: Operand) -> Expression:
        return Quotient(num(other), self)

    def __pow__(self, other: Operand) -> Expression:
        return Power(self, num(other))


Operand = Expression | float


@dataclass(frozen=True)
class Number(Expression):
    """A number that is known already."""

    number: float

    @property
    def value(self) -> float:
        return float(self.number)

    def text(self) -> str:
        return figure(self.value)

    def inside(self, binds: int) -> str:
        return f"({self.text()})" if self.value < 0 else self.text()

    def latex(self) -> str:
        text = figure(self.value).replace("∞", r"\infty")
        return re.sub(
            r"e([+-])0*(\d+)", lambda found: rf"\cdot 10^{{{found[1].strip('+')}{found[2]}}}", text
        )


@dataclass(frozen=True)
class Named(Expression):
    """Something worked out before, called by its name."""

    symbol: str
    of: Expression

    @property
    def value(self) -> float:
        return self.of.value

    def text(self) -> str:
        return self.symbol

    def latex(self) -> str:
        return symbol_latex(self.symbol)


def symbol_latex(symbol: str) -> str:
    r"""Return a name in a LaTeX formula.

    >>> symbol_latex("AP(norm=retrieved)@10"), symbol_latex("N")
    ('\\mathrm{AP(norm{=}retrieved)@10}', 'N')
    """
    if len(symbol) == 1:
        return symbol
    signs = {"_": r"\_", "=": "{=}", " ": r"\ ", "{": r"\{", "}": r"\}"}
    signs |= {"Σ": r"\Sigma", "·": r"\cdot "}
    return r"\mathrm{" + "".join(signs.get(letter, letter) for letter in symbol) + "}"


@dataclass(frozen=True)
class Several(Expression):
    """An expression of any number of parts."""

    several: tuple[Expression, ...]

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.several

    def with_parts(self, parts: tuple[Expression, ...]) -> Expression:
        return replace(self, several=parts)

    def joined(self, written: Callable[[Expression], str], sign: str, left_out: str) -> str:
        """Join the parts; of many, those in the middle are left out."""
        if len(self.several) <= MOST_PARTS:
            return sign.join(map(written, self.several))
        more = left_out.format(len(self.several) - MOST_PARTS + 1)
        first = map(written, self.several[: MOST_PARTS - 2])
        return sign.join([*first, more, written(self.several[-1])])


_LEFT_OUT = r"\cdots\ (\text{{{} more}})\ \cdots"


@dataclass(frozen=True)
class Sum(Several):
    binds: ClassVar[int] = 1

    @property
    def value(self) -> float:
        values = [part.value for part in self.several]
        return math.fsum(values) if all(map(math.isfinite, values)) else sum(values)

    def text(self) -> str:
        return self.joined(lambda part: part.inside(1), " + ", "… ({} more) …")

    def latex(self) -> str:
        return self.joined(lambda part: bracketed(part, 1), " + ", _LEFT_OUT)


@dataclass(frozen=True)
class Product(Several):
    binds: ClassVar[int] = 3

    @property
    def value(self) -> float:
        return math.prod(part.value for part in self.several)

    def text(self) -> str:
        return self.joined(lambda part: part.inside(3), " × ", "… ({} more) …")

    def latex(self) -> str:
        return self.joined(lambda part: bracketed(part, 2), r" \cdot ", _LEFT_OUT)


@dataclass(frozen=True)
class Extreme(Several):
    """The greatest or the least of some parts."""

    which: str = "max"

    @property
    def value(self) -> float:
        values = [part.value for part in self.several]
        return max(values) if self.which == "max" else min(values)

    def text(self) -> str:
        inside = self.joined(lambda part: part.text(), ", ", "… {} more …")
        return f"{self.which}({inside})"

    def latex(self) -> str:
        inside = self.joined(lambda part: part.latex(), ", ", _LEFT_OUT)
        return rf"\{self.which}\left({inside}\right)"


@dataclass(frozen=True)
class Pair(Expression):
    """An expression of two parts."""

    first: Expression
    second: Expression

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.first, self.second)

    def with_parts(self, parts: tuple[Expression, ...]) -> Expression:
        return type(self)(*parts)


class Difference(Pair):
    binds: ClassVar[int] = 0

    @property
    def value(self) -> float:
        return self.first.value - self.second.value

    def text(self) -> str:
        return f"{self.first.inside(0)} - {self.second.inside(2)}"

    def latex(self) -> str:
        return f"{self.first.latex()} - {bracketed(self.second, 2)}"


class Quotient(Pair):
    binds: ClassVar[int] = 2

    @property
    def value(self) -> float:
        return self.first.value / self.second.value

    def text(self) -> str:
        sign = "/" if not self.first.parts and not self.second.parts and self._whole else " / "
        return f"{self.first.inside(2)}{sign}{self.second.inside(4)}"

    @property
    def _whole(self) -> bool:
        return float(self.first.value).is_integer() and float(self.second.value).is_integer()

    def inside(self, binds: int) -> str:
        # A fraction of two numbers holds together by its looks: 1/2 × 3/4.
        return (
            self.text()
            if "/" in self.text() and " " not in self.text() and binds < 4
            else super().inside(binds)
        )

    def latex(self) -> str:
        return rf"\frac{{{self.first.latex()}}}{{{self.second.latex()}}}"


class Power(Pair):
    binds: ClassVar[int] = 4

    @property
    def value(self) -> float:
        return float(self.first.value**self.second.value)

    def text(self) -> str:
        return f"{self.first.inside(5)}^{self.second.inside(5)}"

    def latex(self) -> str:
        return f"{bracketed(self.first, 9)}^{{{self.second.latex()}}}"


@dataclass(frozen=True)
class Logarithm(Expression):
    """A logarithm; without a base, the natural one."""

    of: Expression
    base: float | None = 2

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.of,)

    def with_parts(self, parts: tuple[Expression, ...]) -> Expression:
        return replace(self, of=parts[0])

    @property
    def value(self) -> float:
        if self.base == 2:
            return math.log2(self.of.value)
        return math.log(self.of.value) / (1.0 if self.base is None else math.log(self.base))

    def text(self) -> str:
        return f"{'ln' if self.base is None else f'log{figure(self.base)}'}({self.of.text()})"

    def latex(self) -> str:
        name = r"\ln" if self.base is None else rf"\log_{{{figure(self.base)}}}"
        return (
            rf"{name}\left({self.of.latex()}\right)"
            if self.of.parts
            else f"{name}({self.of.latex()})"
        )


def bracketed(part: Expression, binds: int) -> str:
    """Return the LaTeX of a part, in brackets if its precedence is lower."""
    negative = isinstance(part, Number) and part.value < 0
    return rf"\left({part.latex()}\right)" if part.binds < binds or negative else part.latex()


def num(value: Operand) -> Expression:
    return value if isinstance(value, Expression) else Number(value)


def total(parts: Iterable[Operand]) -> Expression:
    """Return a sum: 0 for no parts, and a single part unchanged."""
    several = tuple(num(part) for part in parts)
    return several[0] if len(several) == 1 else Sum(several) if several else Number(0)


def product(parts: Iterable[Operand]) -> Expression:
    several = tuple(num(part) for part in parts)
    return several[0] if len(several) == 1 else Product(several) if several else Number(1)


def greatest(*parts: Operand) -> Expression:
    return Extreme(tuple(num(part) for part in parts), "max")


def least(*parts: Operand) -> Expression:
    return Extreme(tuple(num(part) for part in parts), "min")
