"""The sum behind the chosen number of the playground, step by step."""

from __future__ import annotations

from judged.errors import InputError
from judged.web.asked import Asked, Page
from judged.web.pages.sums import sum_behind
from judged.web.playground.answer import Answer
from judged.web.playground.state import OWN, State

PARAMS = (*OWN, "example", "width")


def page(asked: Asked) -> Page:
    """The sum alone."""
    answer = Answer(State.of(asked.params))
    told = answer.explained(answer.state.chosen)
    if isinstance(told, str):
        raise InputError(told)
    return Page(
        "playground_steps.html", f"{told.measure}, step by step", {"view": sum_behind(told)}
    )
