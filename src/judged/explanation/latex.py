"""The formula of an explanation with its numbers filled in, as LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judged.explanation.arithmetic import Number, symbol_latex
from judged.explanation.listing import Line

if TYPE_CHECKING:
    from judged.explanation.explanation import Explanation


def to_latex(e: Explanation) -> str:
    """An align* environment: the definition, what is worked out first, and the value; needs
    amsmath."""
    name = symbol_latex(str(e.measure))
    rows = [rf"{symbol_latex(e.measure.spec.name)} &= {e.measure.formula}"]
    if e.steps is None:
        rows.append(rf"{name} &\ \text{{is undefined: {e.measure.spec.undefined.text}}}")
    else:
        divisor = (e.steps.divisor,) if e.steps.divisor else ()
        rows += [_row(line) for line in (*e.steps.before, *divisor)]
        rows.append(_row(Line(str(e.measure), e.steps.value)))
    return "\\begin{align*}\n" + " \\\\\n".join(rows) + "\n\\end{align*}\n"


def _row(line: Line) -> str:
    worked = [line.value.latex()]
    if not isinstance(line.value, Number):
        worked.append(Number(line.value.value).latex())
    return " = ".join(worked).join([f"{symbol_latex(line.symbol)} &= ", ""])
