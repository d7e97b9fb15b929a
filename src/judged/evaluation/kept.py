"""The rankings behind an evaluation, for what looks at single results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judged.errors import InputError

if TYPE_CHECKING:
    from judged.evaluation.exports import Exports
    from judged.rankings.rankings import Rankings

MOST_ROWS = 1_000_000
"""Rankings that come in blocks are kept up to so many hits and judgements in all."""


def rankings_of(evaluation: Exports, run: str) -> Rankings:
    """The rankings of a run; an error where they were not kept."""
    found = evaluation.rankings.get(run)
    if found is None:
        raise InputError(
            f"{run} was evaluated without keeping its ranks, so that nothing can look into its "
            "lists; give the judgements and the run themselves, or the rankings that judged.judge "
            "makes of them."
        )
    return found
