"""The playground: a list to change, the value of every measure, and the values of libraries."""

from __future__ import annotations

from math import isnan
from typing import Any

from judged.errors import InputError
from judged.measures import REGISTRY
from judged.policy import CHOICES
from judged.text import shown
from judged.web.pages.calculations import calculation_of
from judged.web.pages.templating import figure
from judged.web.playground import (
    EXAMPLES,
    MAX_RELEVANT,
    MAX_RESULTS,
    MORE,
    PLAYGROUND_PARAMS,
    POLICY_PARAMS,
    TEXTS,
    PlaygroundState,
    python_code,
    shell_commands,
)
from judged.web.playground_answer import MeasureCard, PlaygroundAnswer
from judged.web.visit import CommandText, Page, Params, Visit

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
        "unjudged results are",
        {"nonrelevant": "not relevant", "removed": "taken out first"},
    ),
    "list_empty": (
        "a list without relevant items",
        {"zero": "counts 0", "one": "counts 1", "skip": "is left out", "error": "is an error"},
    ),
}
"""The choices of the policy that apply to a list without item ids, as clauses of a sentence."""
NARROWEST, WIDEST = 240, 1_600
CURVE_HEIGHT = 280


def page(visit: Visit) -> Page:
    """Show the list of the address."""
    state = PlaygroundState.of(visit.params)
    answer = PlaygroundAnswer(state)
    others = visit.params.without(*PLAYGROUND_PARAMS, "example", "width").pairs

    def url(**changes: object) -> str:
        return f"/playground?{Params((*state.parameters(**changes).pairs, *others))}"

    def hidden(*without: str) -> tuple[tuple[str, str], ...]:
        return (*state.parameters(**dict.fromkeys(without)).pairs, *others)

    def stepper(name: str, label: str, value: int | None, least: int, most: int) -> dict[str, Any]:
        return {
            "name": name,
            "label": label,
            "value": "all" if value is None else str(value),
            "less": url(**{name: value - 1}) if value is not None and value > least else None,
            "more": url(**{name: value + 1}) if value is not None and value < most else None,
            "hidden": hidden(name),
        }

    counts = ("relevant", "relevant in all", answer.relevant, answer.retrieved, MAX_RELEVANT)
    longer = len(state.listed.grades) < MAX_RESULTS
    context = {
        "answer": answer,
        "state": state,
        "url": url,
        "hidden": hidden,
        "others": others,
        "example": EXAMPLES.get(visit.params.text("example")),
        "examples": (("From the texts", TEXTS), ("Where definitions differ", MORE)),
        "steppers": [
            *([] if state.pool else [stepper(*counts)]),
            stepper("k", "k", state.k, 1, MAX_RESULTS),
        ],
        "choices": [
            (name, begins, words, state.policy.to_dict()[choice], CHOICES[choice])
            for (name, (begins, words)), choice in zip(
                CHOICE_WORDS.items(), POLICY_PARAMS.values(), strict=True
            )
        ],
        "registry": [(name, spec.title) for name, spec in REGISTRY.items()],
        "curve": f"/playground/curve?{state.numbers}",
        "steps": f"/playground/steps?{state.parameters().without('before')}",
        "announced": announced(answer.chosen),
        "most": MAX_RESULTS,
        "longer": f"{state.listed} 0" if longer else None,
    }
    command = CommandText(shell_commands(state), python_code(state))
    return Page("playground.html", "Playground", context, command)


def announced(card: MeasureCard) -> str:
    """Return what a screen reader hears after a change."""
    if card.refused:
        return card.refused
    value = f"{card.measure} is {shown(card.value)}"
    if card.effect is None:
        return f"{value}."
    if not card.effect.moved:
        return f"{value}, as before."
    if isnan(card.effect.difference):
        return f"{value}."
    more = "more" if card.effect.difference > 0 else "less"
    return f"{value}, {shown(abs(card.effect.difference))} {more} than before."


def curve_page(visit: Visit) -> Page:
    """Show the precision-recall curve of the list, with AP as its area."""
    from judged.charts import precision_recall

    width = visit.params.whole("width", 400, at_least=0, at_most=10_000)
    title = "Precision against recall"
    chart = precision_recall(
        PlaygroundAnswer(PlaygroundState.of(visit.params)).curve,
        theme="page",
        width=min(max(width, NARROWEST), WIDEST),
        height=CURVE_HEIGHT,
        title=title,
    )
    return Page("playground_curve.html", title, {"figure": figure(chart)})


def steps_page(visit: Visit) -> Page:
    """Show the calculation of the chosen value, step by step."""
    answer = PlaygroundAnswer(PlaygroundState.of(visit.params))
    told = answer.explained(answer.state.chosen)
    if isinstance(told, str):
        raise InputError(told)
    title = f"{told.measure}, step by step"
    return Page("playground_steps.html", title, {"view": calculation_of(told)})
