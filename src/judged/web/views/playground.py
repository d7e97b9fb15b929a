"""The playground: a list to play with, every measure of it, and what libraries call by that
name."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan

from judged.errors import InputError
from judged.measures import REGISTRY
from judged.policy import CHOICES
from judged.text import shown
from judged.web.pages.calculations import calculation_of
from judged.web.playground import (
    EXAMPLES,
    MAX_RELEVANT,
    MAX_RESULTS,
    MORE,
    PLAYGROUND_PARAMS,
    POLICY_PARAMS,
    TEXTS,
    MeasureCard,
    PlaygroundAnswer,
    PlaygroundState,
    python_code,
    shell_commands,
)
from judged.web.visit import CommandText, Page, Params, Visit

PARAMS = (*PLAYGROUND_PARAMS, "example", "width")

CHOICE_WORDS = {
    "list_ties": (
        "Results that share a score count",
        {
            "id": "as they stand",
            "best": "in the system's favour",
            "worst": "against the system",
            "expected": "as the mean over all orders",
        },
    ),
    "list_unjudged": (
        "what nobody judged is",
        {"nonrelevant": "not relevant", "removed": "taken out first"},
    ),
    "list_empty": (
        "a list with nothing relevant",
        {"zero": "counts 0", "one": "counts 1", "skip": "is left out", "error": "is an error"},
    ),
}
"""The choices of the policy that a list knows, as parts of a sentence; a list has no item ids."""


@dataclass(frozen=True)
class Stepper:
    """A number with a step down and a step up."""

    name: str
    label: str
    value: str
    less: str | None
    """The address of one less; None where it goes no further."""
    more: str | None
    hidden: tuple[tuple[str, str], ...]


def page(visit: Visit) -> Page:
    """The list of the address."""
    state = PlaygroundState.of(visit.params)
    answer = PlaygroundAnswer(state)
    others = visit.params.without(*PLAYGROUND_PARAMS, "example", "width")

    def url(**changes: object) -> str:
        """This page with something changed."""
        return f"/playground?{Params((*state.parameters(**changes).pairs, *others.pairs))}"

    def hidden(*without: str) -> tuple[tuple[str, str], ...]:
        """The parameters that a form sends beside its own."""
        return (*state.parameters(**dict.fromkeys(without)).pairs, *others.pairs)

    curve = Params((*state.numbers.pairs,))
    steps = Params((*state.parameters().without("before").pairs,))
    context = {
        "answer": answer,
        "state": state,
        "url": url,
        "hidden": hidden,
        "others": others.pairs,
        "example": EXAMPLES.get(visit.params.text("example")),
        "examples": (("From the texts", TEXTS), ("Where definitions come apart", MORE)),
        "steppers": _steppers(state, answer, url, hidden),
        "choices": [
            (
                name,
                begins,
                words,
                state.policy.to_dict()[POLICY_PARAMS[name]],
                CHOICES[POLICY_PARAMS[name]],
            )
            for name, (begins, words) in CHOICE_WORDS.items()
        ],
        "registry": _registry(),
        "curve": f"/playground/curve?{curve}",
        "steps": f"/playground/steps?{steps}",
        "announced": announced(answer.chosen),
        "most": MAX_RESULTS,
        "longer": _longer(state, url),
    }
    command = CommandText(shell_commands(state), python_code(state))
    return Page("playground.html", "Playground", context, command)


def _longer(state: PlaygroundState, url: object) -> str | None:
    """The list with one more result; None where it may not grow."""
    if len(state.listed.grades) >= MAX_RESULTS:
        return None
    return f"{state.listed} 0"


def _steppers(
    state: PlaygroundState, answer: PlaygroundAnswer, url: object, hidden: object
) -> list[Stepper]:
    assert callable(url)
    assert callable(hidden)
    found = []
    if not state.pool:
        relevant = answer.relevant
        least = answer.retrieved
        found.append(
            Stepper(
                "relevant",
                "relevant in all",
                str(relevant),
                url(relevant=relevant - 1) if relevant > least else None,
                url(relevant=relevant + 1) if relevant < MAX_RELEVANT else None,
                hidden("relevant"),
            )
        )
    k = state.k
    found.append(
        Stepper(
            "k",
            "k",
            "all" if k is None else str(k),
            url(k=k - 1) if k is not None and k > 1 else None,
            url(k=k + 1) if k is not None and k < MAX_RESULTS else None,
            hidden("k"),
        )
    )
    return found


def _registry() -> list[tuple[str, str]]:
    """Every measure that can be added, by its name."""
    return [(name, spec.title) for name, spec in REGISTRY.items()]


def announced(card: MeasureCard) -> str:
    """What a screen reader is told after a change."""
    if card.refused:
        return card.refused
    said = f"{card.measure} is {shown(card.value)}"
    if card.effect is None:
        return f"{said}."
    if not card.effect.moved:
        return f"{said}, as before."
    if isnan(card.effect.difference):
        return f"{said}."
    more = "more" if card.effect.difference > 0 else "less"
    return f"{said}, {shown(abs(card.effect.difference))} {more} than before."


WIDEST = 1_600
NARROWEST = 240
CURVE_HEIGHT = 280


def curve_page(visit: Visit) -> Page:
    """The figure alone, made for the width it gets."""
    from judged.charts import precision_recall
    from judged.web.pages.templating import figure

    width = visit.params.whole("width", 400, at_least=0, at_most=10_000)
    answer = PlaygroundAnswer(PlaygroundState.of(visit.params))
    chart = precision_recall(
        answer.curve,
        theme="page",
        width=min(max(width, NARROWEST), WIDEST),
        height=CURVE_HEIGHT,
        title="Precision against recall",
    )
    return Page("playground_curve.html", "Precision against recall", {"figure": figure(chart)})


def steps_page(visit: Visit) -> Page:
    """The sum alone."""
    answer = PlaygroundAnswer(PlaygroundState.of(visit.params))
    told = answer.explained(answer.state.chosen)
    if isinstance(told, str):
        raise InputError(told)
    return Page(
        "playground_steps.html", f"{told.measure}, step by step", {"view": calculation_of(told)}
    )
