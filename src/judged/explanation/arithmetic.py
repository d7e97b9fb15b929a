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

    @property
    def binds(self) -> int:
        """Precedence: a part with lower precedence than the whole needs brackets."""
        return 9

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
        return Operation("+", (self, num(other)))

    def __radd__(self, other: Operand) -> Expression:
        return Operation("+", (num(other), self))

    def __sub__(self, other: Operand) -> Expression:
        return Operation("-", (self, num(other)))

    def __rsub__(self, other: Operand) -> Expression:
        return Operation("-", (num(other), self))

    def __mul__(self, other: Operand) -> Expression:
        product_so_far = isinstance(self, Operation) and self.operator == "×"
        return Operation("×", (*(self.parts if product_so_far else (self,)), num(other)))

    def __rmul__(self, other: Operand) -> Expression:
        return Operation("×", (num(other), self))

    def __truediv__(self, other: Operand) -> Expression:
        return Operation("/", (self, num(other)))

    def __rtruediv__(self, other: Operand) -> Expression:
        return Operation("/", (num(other), self))

    def __pow__(self, other: Operand) -> Expression:
        return Operation("^", (self, num(other)))


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


PRECEDENCE = {"-": 0, "+": 1, "/": 2, "×": 3, "^": 4, "min": 9, "log": 9, "ln": 9}


def _add(values: list[float]) -> float:
    return math.fsum(values) if all(map(math.isfinite, values)) else sum(values)


def _logarithm(value: float, base: float) -> float:
    return math.log2(value) if base == 2 else math.log(value) / math.log(base)


COMPUTE: dict[str, Callable[[list[float]], float]] = {
    "-": lambda values: values[0] - values[1],
    "+": _add,
    "/": lambda values: values[0] / values[1],
    "×": math.prod,
    "^": lambda values: float(values[0] ** values[1]),
    "min": min,
    "log": lambda values: _logarithm(*values),
    "ln": lambda values: math.log(values[0]),
}


@dataclass(frozen=True)
class Operation(Expression):
    """An operator, one of `PRECEDENCE`, and its operands."""

    operator: str
    operands: tuple[Expression, ...]

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.operands

    @property
    def binds(self) -> int:
        return PRECEDENCE[self.operator]

    @property
    def value(self) -> float:
        return COMPUTE[self.operator]([part.value for part in self.operands])

    def with_parts(self, parts: tuple[Expression, ...]) -> Expression:
        return replace(self, operands=parts)

    def text(self) -> str:
        first, last = self.operands[0], self.operands[-1]
        match self.operator:
            case "-":
                return f"{first.inside(0)} - {last.inside(2)}"
            case "+":
                return self._join(lambda part: part.inside(1), " + ", "… ({} more) …")
            case "/":
                return f"{first.inside(2)}{'/' if self._fraction else ' / '}{last.inside(4)}"
            case "×":
                return self._join(lambda part: part.inside(3), " × ", "… ({} more) …")
            case "^":
                return f"{first.inside(5)}^{last.inside(5)}"
            case "log":
                return f"log{last.text()}({first.text()})"
        return f"{self.operator}({self._join(lambda part: part.text(), ', ', '… {} more …')})"

    @property
    def _fraction(self) -> bool:
        """Return whether this is a fraction of two whole numbers or names, such as 1/2."""
        return self.operator == "/" and all(
            not part.parts and float(part.value).is_integer() for part in self.operands
        )

    def inside(self, binds: int) -> str:
        # A fraction of two numbers holds together by its looks: 1/2 × 3/4.
        plain = self._fraction and " " not in self.text() and binds < 4
        return self.text() if plain else super().inside(binds)

    def latex(self) -> str:
        first, last = self.operands[0], self.operands[-1]
        left_out = r"\cdots\ (\text{{{} more}})\ \cdots"
        match self.operator:
            case "-":
                return f"{first.latex()} - {bracketed(last, 2)}"
            case "+":
                return self._join(lambda part: bracketed(part, 1), " + ", left_out)
            case "/":
                return rf"\frac{{{first.latex()}}}{{{last.latex()}}}"
            case "×":
                return self._join(lambda part: bracketed(part, 2), r" \cdot ", left_out)
            case "^":
                return f"{bracketed(first, 9)}^{{{last.latex()}}}"
            case "log" | "ln":
                name = r"\ln" if self.operator == "ln" else rf"\log_{{{last.text()}}}"
                argument = rf"\left({first.latex()}\right)" if first.parts else f"({first.latex()})"
                return name + argument
        inside = self._join(lambda part: part.latex(), ", ", left_out)
        return rf"\{self.operator}\left({inside}\right)"

    def _join(self, written: Callable[[Expression], str], sign: str, left_out: str) -> str:
        """Join the operands; of many, those in the middle are left out."""
        if len(self.operands) <= MOST_PARTS:
            return sign.join(map(written, self.operands))
        more = left_out.format(len(self.operands) - MOST_PARTS + 1)
        first = map(written, self.operands[: MOST_PARTS - 2])
        return sign.join([*first, more, written(self.operands[-1])])


def bracketed(part: Expression, binds: int) -> str:
    """Return the LaTeX of a part, in brackets if its precedence is lower."""
    negative = isinstance(part, Number) and part.value < 0
    return rf"\left({part.latex()}\right)" if part.binds < binds or negative else part.latex()


def num(value: Operand) -> Expression:
    return value if isinstance(value, Expression) else Number(value)


def total(parts: Iterable[Operand]) -> Expression:
    """Return a sum: 0 for no parts, and a single part unchanged."""
    operands = tuple(map(num, parts))
    if len(operands) < 2:
        return operands[0] if operands else Number(0)
    return Operation("+", operands)


def least(*parts: Operand) -> Expression:
    return Operation("min", tuple(map(num, parts)))


def logarithm(value: Operand, base: float | None = 2) -> Expression:
    """Return a logarithm; without a base, the natural one."""
    if base is None:
        return Operation("ln", (num(value),))
    return Operation("log", (num(value), Number(base)))
