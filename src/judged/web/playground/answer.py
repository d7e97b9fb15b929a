"""What the playground says of a list: every number is the library's."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan, nan
from typing import Any

from judged.errors import JudgedError
from judged.evaluation.evaluation import evaluate_rankings
from judged.explanation import Explanation, explain
from judged.explanation.effect import Effect
from judged.matching.variants import cut, list_variants
from judged.measures import Measure
from judged.rankings.rankings import Rankings
from judged.rankings.relevance import listed_rankings
from judged.web.playground.libraries import Libraries, libraries_of
from judged.web.playground.state import State
from judged.web.playground.tiles import Tile, tiles_of


@dataclass(frozen=True)
class Card:
    """A measure of the list: its value, how it comes about, and what the last change did."""

    key: str
    measure: Measure
    value: float
    arithmetic: str
    """The sum with the list's numbers; or why there is none."""
    effect: Effect | None = None
    """What the last change did; None where nothing changed before."""
    refused: str = ""
    """Why there is no value, in the library's words."""
    added: bool = False
    chosen: bool = False


class Answer:
    """All that the page shows of a state; what is not asked for is not computed.

    >>> from judged.web.params import Params
    >>> answer = Answer(State.of(Params.read("list=0+1+0+0+1+0+1+0+1+0&relevant=4")))
    >>> [(str(card.measure), round(card.value, 4)) for card in answer.cards][3]
    ('AP@10', 0.4433)
    """

    def __init__(self, state: State) -> None:
        self.state = state
        self.listed = listed_rankings(
            state.listed,
            relevant=state.relevant,
            pool=state.pool or None,
            collection=state.collection,
        )
        policy = state.policy
        self.rankings = list_variants(self.listed).under(policy.ties, policy.unjudged)

    @property
    def relevant(self) -> int:
        """How many items are relevant in all, by the library's count."""
        return int((self.listed.pool_grade > 0).sum())

    @property
    def retrieved(self) -> int:
        """How many of the results are relevant."""
        return int((self.listed.hit_grade > 0).sum())

    @cached_property
    def values(self) -> dict[str, float | str]:
        """Each card's value, or the sentence that says why there is none."""
        measures = self.state.measures
        try:
            return dict(zip(measures, self._evaluated(list(measures.values())), strict=True))
        except JudgedError:
            return {key: self._alone(measure) for key, measure in measures.items()}

    def _evaluated(self, measures: list[Measure]) -> list[float]:
        found = evaluate_rankings([self.rankings], measures, policy=self.state.policy)
        return [found.value(measure) for measure in measures]

    def _alone(self, measure: Measure) -> float | str:
        try:
            return self._evaluated([measure])[0]
        except JudgedError as error:
            return str(error)

    @cached_property
    def cards(self) -> tuple[Card, ...]:
        """One card for each measure."""
        was = self._before
        return tuple(self._card(key, measure, was) for key, measure in self._measures())

    def _measures(self) -> list[tuple[str, Measure]]:
        return list(self.state.measures.items())

    @cached_property
    def _before(self) -> Mapping[str, float | str]:
        """The values before the last change."""
        if self.state.was is None:
            return {}
        try:
            return Answer(_with_cards(self.state.was, self.state)).values
        except JudgedError:
            return {}

    def _card(self, key: str, measure: Measure, was: Mapping[str, float | str]) -> Card:
        value = self.values[key]
        state = self.state
        common: dict[str, Any] = {
            "added": key in state.added,
            "chosen": key == state.card,
        }
        if isinstance(value, str):
            return Card(key, measure, nan, "", refused=value, **common)
        before = was.get(key)
        effect = Effect(measure, before, value) if isinstance(before, float) else None
        return Card(key, measure, value, self._sum(measure), effect, **common)

    def _sum(self, measure: Measure) -> str:
        """The sum on one line, short: the first step with numbers alone in it."""
        told = self.explained(measure)
        if isinstance(told, str):
            return "mean over all orders of the ties"
        if told.steps is None:
            return f"undefined: {measure.spec.undefined.text}"
        stages = told.steps.value.stages()
        return next(
            (stage for stage in stages[:-1] if not re.search(r"[A-Za-z]", stage)), stages[0]
        )

    def explained(self, measure: Measure) -> Explanation | str:
        """How a value comes about; or why that cannot be said."""
        if measure not in self._explained:
            try:
                told: Explanation | str = explain(
                    self.rankings, measure=measure, policy=self.state.policy, rows=None
                )
            except JudgedError as error:
                told = str(error)
            self._explained[measure] = told
        return self._explained[measure]

    @cached_property
    def _explained(self) -> dict[Measure, Explanation | str]:
        return {}

    @cached_property
    def chosen(self) -> Card:
        """The card that is looked at closely."""
        return next(card for card in self.cards if card.chosen)

    @cached_property
    def tiles(self) -> tuple[Tile, ...]:
        """The results of the list."""
        return tiles_of(self.state, self.explained(self.state.measures["P@k"](k=None)))

    @cached_property
    def libraries(self) -> Libraries | str:
        """The list under the definition of every library; or why there are no numbers."""
        state = self.state
        options = {
            "relevant": state.relevant,
            "pool": state.pool or None,
            "collection": state.collection,
        }
        value = self.values[state.card]
        try:
            return libraries_of(state, options, nan if isinstance(value, str) else value)
        except JudgedError as error:
            return str(error)

    @property
    def curve(self) -> Rankings:
        """The list down to k, as its curve is drawn; ties stand as they are written where no order
        is theirs."""
        r = self.listed if self.rankings.ties == "expected" else self.rankings
        return r if self.state.k is None else cut(r, self.state.k)

    def sentences(self) -> Sequence[str]:
        """What is to be said of the chosen measure."""
        told = self.explained(self.state.chosen)
        return [told] if isinstance(told, str) else told.sentences()

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values that JSON can hold."""
        state, libraries = self.state, self.libraries
        return {
            "list": str(state.listed),
            "relevant": self.relevant,
            "k": state.k,
            "policy": state.policy.to_dict(),
            "measures": [_card_dict(card) for card in self.cards],
            "chosen": str(state.chosen),
            "sentences": list(self.sentences()),
            "libraries": None if isinstance(libraries, str) else libraries.to_dict(),
            "refused": [{"measure": text, "error": why} for text, why in state.refused],
        }


def _card_dict(card: Card) -> dict[str, Any]:
    effect = card.effect
    return {
        "measure": str(card.measure),
        "value": None if isnan(card.value) else card.value,
        "arithmetic": card.arithmetic,
        "before": None if effect is None or isnan(effect.before) else effect.before,
        "error": card.refused or None,
    }


def _with_cards(was: State, now: State) -> State:
    """A state of before with the cards of now."""
    return replace(was, added=now.added, card=now.card)
