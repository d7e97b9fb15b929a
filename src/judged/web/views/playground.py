"""The playground: a list to play with, every measure of it, and what libraries call by that
name."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan

from judged.measures import REGISTRY
from judged.policy import CHOICES
from judged.text import shown
from judged.web.asked import Asked, Command, Page
from judged.web.params import Params
from judged.web.playground import commands
from judged.web.playground.answer import Answer, Card
from judged.web.playground.examples import EXAMPLES, MORE, TEXTS
from judged.web.playground.state import CHOSEN, GREATEST, MOST, OWN, State

PARAMS = (*OWN, "example", "width")

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


def page(asked: Asked) -> Page:
    """The list of the address."""
    state = State.of(asked.params)
    answer = Answer(state)
    others = asked.params.without(*OWN, "example", "width")

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
        "example": EXAMPLES.get(asked.params.text("example")),
        "examples": (("From the texts", TEXTS), ("Where definitions come apart", MORE)),
        "steppers": _steppers(state, answer, url, hidden),
        "choices": [
            (name, begins, words, state.policy.to_dict()[CHOSEN[name]], CHOICES[CHOSEN[name]])
            for name, (begins, words) in CHOICE_WORDS.items()
        ],
        "registry": _registry(),
        "curve": f"/playground/curve?{curve}",
        "steps": f"/playground/steps?{steps}",
        "announced": announced(answer.chosen),
        "most": MOST,
        "longer": _longer(state, url),
    }
    command = Command(commands.shell(state), commands.python(state))
    return Page("playground.html", "Playground", context, command)


def _longer(state: State, url: object) -> str | None:
    """The list with one more result; None where it may not grow."""
    if len(state.listed.grades) >= MOST:
        return None
    return f"{state.listed} 0"


def _steppers(state: State, answer: Answer, url: object, hidden: object) -> list[Stepper]:
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
                url(relevant=relevant + 1) if relevant < GREATEST else None,
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
            url(k=k + 1) if k is not None and k < MOST else None,
            hidden("k"),
        )
    )
    return found


def _registry() -> list[tuple[str, str]]:
    """Every measure that can be added, by its name."""
    return [(name, spec.title) for name, spec in REGISTRY.items()]


def announced(card: Card) -> str:
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
