"""A comparison as a table for a paper: letters say which runs each is shown better than."""

from __future__ import annotations

from string import ascii_lowercase
from textwrap import wrap
from typing import TYPE_CHECKING

from judged.comparison.exports import definition
from judged.comparison.exports.table import (
    Form,
    bold_rule,
    near_best,
    one_against_all,
    shown_better,
)
from judged.comparison.sentences import by_importance
from judged.text import Best, Latex, latex, latex_table, visible

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison
    from judged.evaluation.table import Look


def latex_of(
    comparison: Comparison,
    look: Look,
    *,
    quiet: bool = False,
    caption: str | None = None,
    label: str | None = None,
) -> str:
    """Runs and measures as a tabular; above it in comments what was done, below it what letters
    and bold mean, and the warnings."""
    forms = [Form(measure, look) for measure in comparison.numbers.measures]
    letters = {run: letter(at) for at, run in enumerate(comparison.runs)}
    shown = shown_better(comparison)
    best = {form.measure.name: near_best(comparison, form.measure.name) for form in forms}
    rows = []
    for run in comparison.runs:
        row = [letters[run], run]
        for form in forms:
            name = form.measure.name
            beaten = [letters[other] for other in letters if (name, run, other) in shown]
            value = form.value(comparison.value(name, run))
            row.append(_cell(value, beaten, run in best[name]))
        rows.append(row)
    above: list[str] = []
    below: list[str] = []
    if not quiet:
        warned = [f"warning: {text}" for text in comparison.warnings()]
        said = [*by_importance(comparison.rows), definition.done(comparison)]
        methods = wrap(comparison.methods(), 118, break_long_words=False, break_on_hyphens=False)
        above = [f"% {visible(text)}" for text in (*warned, *said, *methods)]
        below = [_legend(comparison), *(f"Warning: {text}" for text in comparison._grave())]
    tabular = latex_table(
        ["", "run", *(form.name for form in forms)],
        rows,
        right=range(2, 2 + len(forms)),
        notes=below,
        caption=caption,
        label=label,
    )
    return "\n".join([*above, tabular]) + "\n"


def letter(at: int) -> str:
    """The letters of runs: a to z, then aa, ab, …

    >>> letter(0), letter(25), letter(26), letter(52)
    ('a', 'z', 'aa', 'ba')
    """
    more, last = divmod(at, 26)
    return (letter(more - 1) if more else "") + ascii_lowercase[last]


def _cell(value: str, beaten: list[str], best: bool) -> str:
    """A value with the letters of the runs that it is shown better than."""
    text = Best(value) if best else value
    if not beaten:
        return text
    between = "," if any(len(each) > 1 for each in beaten) else ""
    return Latex(rf"{latex(text)}$^{{\mathrm{{{between.join(beaten)}}}}}$")


def _legend(comparison: Comparison) -> str:
    """What letters and bold mean."""
    against = one_against_all(comparison)
    only = f", compared with {against} only" if against else ""
    return (
        "Raised letters: the runs that this one is significantly better than"
        f"{only} ({definition.done(comparison).rstrip('.')}). Bold: {bold_rule(comparison)}."
    )
