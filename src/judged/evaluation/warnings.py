"""What could mislead whoever reads the numbers of an evaluation and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from judged.errors import warn
from judged.evaluation.definition import about_runs
from judged.measures.orders import LIMIT
from judged.text import counted, listed

if TYPE_CHECKING:
    from judged.evaluation.exports import Exports
    from judged.results import Result

    Said = TypeVar("Said", bound=Result)


def warnings(evaluation: Exports) -> list[str]:
    """Every warning once: about the data of the runs, then about measures, policy and
    convention."""
    found = about_runs(evaluation, [list(run.audit.warnings) for run in evaluation.runs])
    return found + [text for about in ABOUT for text in about(evaluation)]


def announced(result: Said) -> Said:
    """The result, each of its warnings issued as Python's, for code that never prints it."""
    for text in result.warnings():
        warn(text)
    return result


def _tie_ends(evaluation: Exports) -> list[str]:
    """Measures whose worst and best orders of ties were not all looked for."""
    said = []
    for run in evaluation.runs:
        unsure = run.others["worst"].unsure if "worst" in run.others else {}
        queries = counted(max(unsure.values(), default=0), "query has", "queries have")
        said.append(
            [
                f"The tie range of {listed(list(map(str, unsure)))} reaches at least this far, and "
                f"may reach further: {queries} more than {LIMIT} orders of tied results, of which "
                "some were tried."
            ]
            if unsure
            else []
        )
    return about_runs(evaluation, said)


ABOUT: tuple[Callable[[Exports], list[str]], ...] = (_tie_ends,)
"""What is looked at: each gives its sentences about an evaluation."""
