"""What the playground shows: all of it stands in the address."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from judged.errors import InputError, JudgedError
from judged.measures import Measure, parse_measure
from judged.policy import Policy
from judged.rankings.relevance import RelevanceList, relevance_list
from judged.web.errors import RefusedError
from judged.web.params import Params
from judged.web.playground.examples import EXAMPLES, START

MOST = 100
"""So many results a list may have here."""
LETTERS = 4_000
"""So many characters a list may be written with."""
DEEPEST = 1_000
"""The greatest k."""
GREATEST = 1_000_000
"""So many items may be relevant in all, or to be retrieved."""
ADDED = 24
"""So many measures may be added."""
GRADES = 3
"""Clicks go through the grades up to this one, where the list has no higher one."""

CARDS = (
    "P@k",
    "R@k",
    "F@k",
    "AP@k",
    "RR",
    "DCG@k",
    "nDCG@k",
    "nDCG(gain=exp)@k",
    "Rprec",
    "Success@k",
    "RBP",
    "ERR@k",
)
"""The measures that are always there, and which of them take k."""
FIRST = "AP@k"
"""The card that is looked at closely where nobody chose another."""
CHOSEN = {"list_ties": "ties", "list_unjudged": "unjudged", "list_empty": "empty"}
"""Choices of the policy by the parameters that make them; the terms of other pages stay as they
are."""
COUNTED = ("list", "relevant", "pool", "collection", "k", *CHOSEN)
"""The parameters that numbers depend on."""
OWN = (*COUNTED, "grades", "add", "card", "before")
"""The parameters of an address that are about the playground."""


@dataclass(frozen=True)
class State:
    """A list, and how it is looked at.

    >>> state = State.of(Params.read("list=0+1+(-+2)&relevant=4&k=3&card=nDCG@k"))
    >>> str(state.listed), state.relevant, str(state.chosen)
    ('0 1 (- 2)', 4, 'nDCG@3')
    """

    listed: RelevanceList
    relevant: int | None = None
    """How many items are relevant in all; None where the list holds them, or the pool says it."""
    pool: str = ""
    """The grades of all judged items, as they were written."""
    collection: int | None = None
    k: int | None = 10
    grades: int = GRADES
    policy: Policy = field(default_factory=Policy)
    added: tuple[str, ...] = ()
    """Measures beside those that are always there, as they were written."""
    refused: tuple[tuple[str, str], ...] = ()
    """Measures that do not exist, each with the sentence that says so."""
    card: str = FIRST
    """Which measure is looked at closely: one of `CARDS`, or one that was added."""
    was: State | None = None
    """What stood there before the last change."""
    raised: int | None = None
    """How many were said to be relevant in all, where the list holds more."""

    @classmethod
    def of(cls, params: Params, *, before: bool = True) -> State:
        """What an address asks for; an example stands in for what it does not say."""
        example = params.one("example")
        if example is not None and example not in EXAMPLES:
            raise RefusedError(
                f"There is no example {example!r}; there is {', '.join(EXAMPLES)}.", "example"
            )
        if example is not None or params.one("list") is None:
            start = Params((EXAMPLES[example] if example else START).parameters)
            given = {name: params.all(name) for name in OWN if params.all(name)}
            kept = given if example is None else {}
            params = start.with_({name: list(values) for name, values in kept.items()})
        listed = _listed(params.text("list"))
        pool = params.text("pool")
        in_list = sum(_relevant(grade) for grade in listed.grades)
        relevant = _whole(params, "relevant", GREATEST)
        added, refused = _measures(params.all("add"))
        k = params.text("k", "10")
        state = cls(
            listed,
            relevant if pool or relevant is None else max(relevant, in_list),
            pool,
            _whole(params, "collection", GREATEST),
            None if k == "all" else params.whole("k", 10, at_least=1, at_most=DEEPEST),
            params.whole("grades", GRADES, at_least=1, at_most=9),
            Policy.of({name: value for own, name in CHOSEN.items() if (value := params.one(own))}),
            added,
            refused,
            params.text("card"),
            raised=relevant if relevant is not None and not pool and relevant < in_list else None,
        )
        if state.card not in state.measures:
            state = replace(state, card=state.first_card)
        was = params.one("before") if before else None
        return state if was is None else replace(state, was=_before(was))

    @property
    def measures(self) -> dict[str, Measure]:
        """Every card's measure, by the name of the card; those that were added come last."""
        cards = {card: _measure(self._filled(card)) for card in CARDS}
        known = set(cards.values())
        for text in self.added:
            measure = _measure(text)
            if measure not in known:
                known.add(measure)
                cards[str(measure)] = measure
        return cards

    def _filled(self, card: str) -> str:
        """A card's measure, with k in its place."""
        cutoff = "" if self.k is None else f"@{self.k}"
        return card.removesuffix("@k") + cutoff if card.endswith("@k") else card

    @property
    def first_card(self) -> str:
        """The card that is looked at where nobody chose one: the last that was added, or AP@k."""
        last = _measure(self.added[-1]) if self.added else None
        return next((key for key, each in self.measures.items() if each == last), FIRST)

    @property
    def chosen(self) -> Measure:
        """The measure that is looked at closely."""
        return self.measures[self.card]

    @property
    def top(self) -> int:
        """The grade after which a click goes on to "not judged"."""
        whole = [int(each) for each in self.listed.grades if _plain(each) and each <= 9]
        return max(self.grades, *whole) if whole else self.grades

    def parameters(self, **changes: Any) -> Params:
        """The address of this state, with some of it changed; where numbers change, the state
        itself goes along as what was there before."""
        before = self if any(name in COUNTED for name in changes) else self.was
        wanted = dict(changes)
        if before is not None:
            wanted["before"] = str(before.numbers)
        return Params(tuple(self._said())).with_(wanted)

    @property
    def numbers(self) -> Params:
        """What the numbers depend on, as parameters."""
        return Params(tuple(pair for pair in self._said() if pair[0] in COUNTED))

    def _said(self) -> Iterator[tuple[str, str]]:
        """What the address says; what is as usual is left out."""
        yield "list", str(self.listed)
        if self.relevant is not None:
            yield "relevant", str(self.relevant)
        if self.pool:
            yield "pool", self.pool
        if self.collection is not None:
            yield "collection", str(self.collection)
        if self.k != 10:
            yield "k", "all" if self.k is None else str(self.k)
        if self.grades != GRADES:
            yield "grades", str(self.grades)
        usual, chosen = Policy().to_dict(), self.policy.to_dict()
        yield from (
            (own, chosen[name]) for own, name in CHOSEN.items() if chosen[name] != usual[name]
        )
        yield from (("add", text) for text in self.added)
        if self.card != self.first_card:
            yield "card", self.card


def _relevant(grade: Any) -> bool:
    """Whether an item counts among those that are relevant in all: a grade above 0."""
    best = max(grade.values(), default=0) if isinstance(grade, Mapping) else grade or 0
    return isinstance(best, (int, float)) and best > 0


def _plain(grade: Any) -> bool:
    return isinstance(grade, int) and grade > 0


def _listed(text: str) -> RelevanceList:
    if len(text) > LETTERS:
        raise InputError(
            f"the list is written with {len(text):,} characters; the playground takes {LETTERS:,}."
        )
    listed = relevance_list(text)
    if len(listed.grades) > MOST:
        raise InputError(
            f"the list has {len(listed.grades):,} results; the playground takes {MOST}. "
            "judged explain takes longer ones."
        )
    return listed


def _whole(params: Params, name: str, most: int) -> int | None:
    if params.one(name) is None:
        return None
    return params.whole(name, 0, at_least=0, at_most=most)


def _measures(given: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Those that exist, and those that do not with the sentence that says so."""
    if len(given) > ADDED:
        raise RefusedError(
            f"{len(given)} measures were added; there is room for {ADDED}.", "measure"
        )
    added: dict[str, None] = {}
    refused: dict[str, str] = {}
    for text in given:
        try:
            added[str(_measure(text))] = None
        except JudgedError as error:
            refused[text] = str(error)
    return tuple(added), tuple(refused.items())


@lru_cache(maxsize=512)
def _measure(text: str) -> Measure:
    return parse_measure(text)


def _before(text: str) -> State | None:
    """The state before the last change; none where somebody wrote nonsense into the address."""
    try:
        return State.of(Params.read(text), before=False)
    except JudgedError:
        return None
