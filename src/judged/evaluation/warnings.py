"""What could mislead whoever reads the numbers of an evaluation and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from judged.errors import warn
from judged.evaluation.definition import about_runs

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


ABOUT: tuple[Callable[[Exports], list[str]], ...] = ()
"""What is looked at: each gives its sentences about an evaluation."""
