"""Lists to start from: the worked examples of the texts that judged grew from, and some more."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import isfinite, isnan, nan
from shlex import quote
from typing import Any

from judged.conventions.disagreement import CLOSE, DefinitionRow, Disagreement, compare_conventions
from judged.errors import InputError, JudgedError
from judged.evaluation.evaluation import evaluate_rankings
from judged.explanation import Explanation, explain
from judged.explanation.improvement import Effect
from judged.matching.variants import cut, list_variants
from judged.measures import Measure, parse_measure
from judged.policy import Policy
from judged.rankings.rankings import Rankings
from judged.rankings.relevance import RelevanceList, listed_rankings, relevance_list, written_grade
from judged.web.errors import RefusedError
from judged.web.visit import Params


@dataclass(frozen=True)
class PlaygroundExample:
    """A list, and what it shows."""

    key: str
    """What the address calls it."""
    title: str
    says: str
    parameters: tuple[tuple[str, str], ...]
    """Those of an address."""


TEXTS = (
    PlaygroundExample(
        "four-relevant",
        "Average precision, worked out: four relevant",
        "Relevant results at ranks 2, 5, 7 and 9, and no others: AP is 0.4433.",
        (("list", "0 1 0 0 1 0 1 0 1 0"), ("relevant", "4")),
    ),
    PlaygroundExample(
        "image-search",
        "Image search: relevant at ranks 3, 5 and 8",
        "AP@10 is 0.3694; the area under the interpolated curve is larger, 0.3917.",
        (("list", "0 0 1 0 1 0 0 1 0 0"), ("relevant", "3")),
    ),
    PlaygroundExample(
        "eight-predictions",
        "Eight predictions: P, R, F1 at 4",
        "Three of the first four are relevant, of four in all: P@4, R@4 and F@4 are 0.75. AP is "
        "37/48 = 0.7708.",
        (
            ("list", "1 0 1 1 0 1 0 0"),
            ("relevant", "4"),
            ("k", "4"),
            ("add", "AP"),
            ("card", "F@k"),
        ),
    ),
    PlaygroundExample(
        "eight-predictions-dcg",
        "Eight predictions: DCG and nDCG at 8",
        "The same list down to rank 8.",
        (
            ("list", "1 0 1 1 0 1 0 0"),
            ("relevant", "4"),
            ("k", "8"),
            ("card", "nDCG(gain=exp)@k"),
            ("add", "DCG(gain=exp)@8"),
        ),
    ),
    PlaygroundExample(
        "search-phone",
        "MAP of two searches: phone",
        "AP is 13/15 = 0.8667; the mean of both searches is 599/840 = 0.7131.",
        (("list", "1 1 0 0 1 0 0"), ("relevant", "3")),
    ),
    PlaygroundExample(
        "search-watch",
        "MAP of two searches: watch",
        "AP is 47/84 = 0.5595; the mean of both searches is 599/840 = 0.7131.",
        (("list", "0 1 1 0 0 1 1"), ("relevant", "4")),
    ),
)
"""The worked lists of the texts, with the right values where a text slips."""

MORE = (
    PlaygroundExample(
        "not-all-retrieved",
        "Two relevant items were not retrieved",
        "Libraries divide by different numbers of relevant items, so AP has many values.",
        (("list", "0 1 0 0 1 0 1 0 1 0"), ("relevant", "6")),
    ),
    PlaygroundExample(
        "graded",
        "Grades up to 3, and two results that nobody judged",
        "Gains g and 2^g − 1 differ, and what is unjudged counts as not relevant, or not at all.",
        (("list", "3 - 2 1 - 0 0 1 3 0 0 0"), ("relevant", "7"), ("card", "nDCG@k")),
    ),
    PlaygroundExample(
        "tied",
        "Results that share a score",
        "Their order is nobody's choice: see what it could be, and who takes the mean.",
        (("list", "0 (0 1 1) 0 (1 0)"), ("relevant", "3")),
    ),
    PlaygroundExample(
        "nothing-relevant",
        "Nothing relevant at all",
        "Most measures are undefined here; libraries say 0, 1, or leave the query out.",
        (("list", "0 0 0 0 0"), ("relevant", "0"), ("card", "nDCG@k")),
    ),
)
"""Lists where definitions come apart."""

EXAMPLES = {each.key: each for each in (*TEXTS, *MORE)}
START = EXAMPLES["not-all-retrieved"]
"""What stands there at first."""


MAX_RESULTS = 100
"""So many results a list may have here."""
MAX_CHARACTERS = 4_000
"""So many characters a list may be written with."""
MAX_K = 1_000
"""The greatest k."""
MAX_RELEVANT = 1_000_000
"""So many items may be relevant in all, or to be retrieved."""
MAX_ADDED = 24
"""So many measures may be added."""
DEFAULT_GRADES = 3
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
DEFAULT_CARD = "AP@k"
"""The card that is looked at closely where nobody chose another."""
POLICY_PARAMS = {"list_ties": "ties", "list_unjudged": "unjudged", "list_empty": "empty"}
"""Choices of the policy by the parameters that make them; the terms of other pages stay as they
are."""
NUMBER_PARAMS = ("list", "relevant", "pool", "collection", "k", *POLICY_PARAMS)
"""The parameters that numbers depend on."""
PLAYGROUND_PARAMS = (*NUMBER_PARAMS, "grades", "add", "card", "before")
"""The parameters of an address that are about the playground."""


@dataclass(frozen=True)
class PlaygroundState:
    """A list, and how it is looked at.

    >>> state = PlaygroundState.of(Params.read("list=0+1+(-+2)&relevant=4&k=3&card=nDCG@k"))
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
    grades: int = DEFAULT_GRADES
    policy: Policy = field(default_factory=Policy)
    added: tuple[str, ...] = ()
    """Measures beside those that are always there, as they were written."""
    refused: tuple[tuple[str, str], ...] = ()
    """Measures that do not exist, each with the sentence that says so."""
    card: str = DEFAULT_CARD
    """Which measure is looked at closely: one of `CARDS`, or one that was added."""
    was: PlaygroundState | None = None
    """What stood there before the last change."""
    raised: int | None = None
    """How many were said to be relevant in all, where the list holds more."""

    @classmethod
    def of(cls, params: Params, *, before: bool = True) -> PlaygroundState:
        """What an address asks for; an example stands in for what it does not say."""
        example = params.one("example")
        if example is not None and example not in EXAMPLES:
            raise RefusedError(
                f"There is no example {example!r}; there is {', '.join(EXAMPLES)}.", "example"
            )
        if example is not None or params.one("list") is None:
            start = Params((EXAMPLES[example] if example else START).parameters)
            given = {name: params.all(name) for name in PLAYGROUND_PARAMS if params.all(name)}
            kept = given if example is None else {}
            params = start.with_({name: list(values) for name, values in kept.items()})
        listed = _read_list(params.text("list"))
        pool = params.text("pool")
        in_list = sum(_relevant(grade) for grade in listed.grades)
        relevant = _whole(params, "relevant", MAX_RELEVANT)
        added, refused = _read_measures(params.all("add"))
        k = params.text("k", "10")
        state = cls(
            listed,
            relevant if pool or relevant is None else max(relevant, in_list),
            pool,
            _whole(params, "collection", MAX_RELEVANT),
            None if k == "all" else params.whole("k", 10, at_least=1, at_most=MAX_K),
            params.whole("grades", DEFAULT_GRADES, at_least=1, at_most=9),
            Policy.of(
                {name: value for own, name in POLICY_PARAMS.items() if (value := params.one(own))}
            ),
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
        return next((key for key, each in self.measures.items() if each == last), DEFAULT_CARD)

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
        before = self if any(name in NUMBER_PARAMS for name in changes) else self.was
        wanted = dict(changes)
        if before is not None:
            wanted["before"] = str(before.numbers)
        return Params(tuple(self._said())).with_(wanted)

    @property
    def numbers(self) -> Params:
        """What the numbers depend on, as parameters."""
        return Params(tuple(pair for pair in self._said() if pair[0] in NUMBER_PARAMS))

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
        if self.grades != DEFAULT_GRADES:
            yield "grades", str(self.grades)
        usual, chosen = Policy().to_dict(), self.policy.to_dict()
        yield from (
            (own, chosen[name])
            for own, name in POLICY_PARAMS.items()
            if chosen[name] != usual[name]
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


def _read_list(text: str) -> RelevanceList:
    if len(text) > MAX_CHARACTERS:
        raise InputError(
            f"the list has {len(text):,} characters; the playground takes {MAX_CHARACTERS:,}."
        )
    listed = relevance_list(text)
    if len(listed.grades) > MAX_RESULTS:
        raise InputError(
            f"the list has {len(listed.grades):,} results; the playground takes {MAX_RESULTS}. "
            "judged explain takes longer ones."
        )
    return listed


def _whole(params: Params, name: str, most: int) -> int | None:
    if params.one(name) is None:
        return None
    return params.whole(name, 0, at_least=0, at_most=most)


def _read_measures(given: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Those that exist, and those that do not with the sentence that says so."""
    if len(given) > MAX_ADDED:
        raise RefusedError(
            f"{len(given)} measures were added; there is room for {MAX_ADDED}.", "measure"
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


def _before(text: str) -> PlaygroundState | None:
    """The state before the last change; none where somebody wrote nonsense into the address."""
    try:
        return PlaygroundState.of(Params.read(text), before=False)
    except JudgedError:
        return None


@dataclass(frozen=True)
class GradeTile:
    """One result."""

    rank: int
    grade: str
    """As the list writes it."""
    sign: str
    """What stands on it."""
    look: str
    """relevant by grade (g1 to g3), none, or unjudged."""
    words: str
    """What it is."""
    under: str
    """Precision at a relevant result; empty elsewhere."""
    beyond: bool
    """Whether it is below k."""
    removed: bool
    """Whether the policy takes it out of the list."""
    tie: str
    """Where it stands in a tie: first, inside, last; empty where it has a score of its own."""
    next_list: str
    """The list after a click on it."""
    next_words: str


def tiles_of(state: PlaygroundState, told: Explanation | str) -> tuple[GradeTile, ...]:
    """The tiles of a list, with precision under those that are relevant, where their order is that
    of the list."""
    listed = state.listed
    removed = state.policy.unjudged == "removed"
    ordered = not listed.tied or state.policy.ties in ("id", "input")
    counted = [not (removed and _unjudged(grade)) for grade in listed.grades]
    under = _precisions(told) if ordered and not isinstance(told, str) else {}
    ends = _ties(listed)
    tiles = []
    at = 0
    top = max((best for grade in listed.grades if (best := _best(grade)) > 0), default=1)
    for place, grade in enumerate(listed.grades):
        at += counted[place]
        clicked = _clicked(grade, state.top)
        tiles.append(
            GradeTile(
                place + 1,
                written_grade(grade),
                _sign(grade),
                _look(grade, max(top, 1)),
                _words(grade),
                under.get(at, "") if counted[place] else "",
                state.k is not None and (at if ordered else place + 1) > state.k,
                not counted[place],
                ends.get(place + 1, ""),
                str(RelevanceList(_with(listed.grades, place, clicked), listed.tied)),
                _words(clicked),
            )
        )
    return tuple(tiles)


def _precisions(told: Explanation) -> dict[int, str]:
    """Precision at each relevant rank, as the explanation of P has it."""
    if told.steps is None:
        return {}
    (column,) = [each for each in told.steps.columns if each.name == "precision"]
    return {
        row.rank: str(cell.stages()[0]) if hasattr(cell, "stages") else str(cell)
        for row, cell in zip(told.rows, column.cells, strict=True)
        if row.relevant and cell is not None
    }


def _ties(listed: RelevanceList) -> dict[int, str]:
    places: dict[int, str] = {}
    for first, last in listed.tied:
        places |= dict.fromkeys(range(first, last + 1), "inside")
        places |= {first: "first", last: "last"}
    return places


def _with(grades: tuple[Any, ...], place: int, grade: Any) -> tuple[Any, ...]:
    return (*grades[:place], grade, *grades[place + 1 :])


def _clicked(grade: Any, top: int) -> Any:
    """What a click makes of a grade: the next one, then not judged, then 0 again."""
    if grade is None:
        return 0
    if isinstance(grade, Mapping) or not float(grade).is_integer() or grade < 0:
        return 0
    return int(grade) + 1 if grade < top else None


def _best(grade: Any) -> float:
    if grade is None:
        return 0.0
    return float(max(grade.values(), default=0)) if isinstance(grade, Mapping) else float(grade)


def _unjudged(grade: Any) -> bool:
    """Whether nobody judged it; a grade below 0 is no judgement."""
    return grade is None or _best(grade) < 0


def _sign(grade: Any) -> str:
    if _unjudged(grade):
        return "?"
    best = _best(grade)
    return "✓" if best == 1 else "·" if best == 0 else f"{best:g}"


def _look(grade: Any, top: float) -> str:
    """Grades above 3 are spread over the three colours."""
    if _unjudged(grade):
        return "unjudged"
    best = _best(grade)
    if best <= 0:
        return "none"
    if top <= 3:
        return f"g{min(3, max(1, round(best)))}"
    return f"g{min(3, 1 + int(3 * ((best - 1) / top)))}" if best >= 1 else "g1"


def _words(grade: Any) -> str:
    if grade is None:
        return "not judged"
    best = _best(grade)
    if best < 0:
        return f"grade {best:g}, which is no judgement"
    return f"grade {best:g}" if best > 0 else "not relevant"


AS_REQUESTED = "as asked for"


@dataclass(frozen=True)
class LibraryName:
    """A library, and what it calls the measure."""

    name: str
    title: str
    theirs: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class DefinitionLine:
    """Definitions that differ in nothing that matters to this list, and who has them."""

    notations: tuple[str, ...]
    reasons: tuple[str, ...]
    """What makes them differ from what was asked for, in words."""
    matters: bool
    """Whether that makes a difference to this list."""
    users: tuple[LibraryName, ...]


@dataclass(frozen=True)
class ValueGroup:
    """One number, and all definitions that give it."""

    value: float | None
    """None where libraries stop instead."""
    stops: str
    lines: tuple[DefinitionLine, ...]
    own: bool
    """Whether it is the number of the card."""


@dataclass(frozen=True, eq=False)
class LibraryValues:
    """What libraries make of the list."""

    measure: str
    groups: tuple[ValueGroup, ...]
    found: Disagreement
    count: int
    """How many libraries there are."""
    numbers: int
    """How many different numbers they have, with judged's."""
    most: float
    """The greatest number, or 1: how long bars may be."""
    differs: bool
    """Whether the choices above are not judged's default and give another number."""

    def to_dict(self) -> dict[str, Any]:
        """What `judged conventions` says of the measure, as plain Python values."""
        told: dict[str, Any] = self.found.to_dict()["measures"][0]
        return told


def libraries_of(state: PlaygroundState, options: Mapping[str, Any], value: float) -> LibraryValues:
    """The chosen measure under every library's definition, each with its own policy."""
    measure = state.chosen
    found = compare_conventions(str(state.listed), measures=[measure], **options)
    compared = found.compared()
    groups = [_group(rows, value) for rows in compared.by_value]
    differs = not any(group.own for group in groups)
    if differs:
        groups.append(ValueGroup(value, "", (_chosen_here(state),), own=True))
        groups.sort(key=_order)
    known = {user.name for group in groups for line in group.lines for user in line.users}
    return LibraryValues(
        str(measure),
        tuple(groups),
        found,
        len(known - {"judged"}),
        sum(group.value is not None for group in groups),
        max(
            [
                1.0,
                *(
                    group.value
                    for group in groups
                    if group.value is not None and isfinite(group.value)
                ),
            ]
        ),
        differs,
    )


def _order(group: ValueGroup) -> tuple[bool, float]:
    return group.value is None or isnan(group.value), -(group.value or 0.0)


def _chosen_here(state: PlaygroundState) -> DefinitionLine:
    """The card's own number, where the choices above are not the usual ones."""
    usual, said = Policy().to_dict(), state.policy.sentences()
    chosen = [name for name, value in state.policy.to_dict().items() if usual[name] != value]
    reasons = tuple(said[name] for name in chosen) or (AS_REQUESTED,)
    judged = LibraryName("judged", "judged, as chosen above", (str(state.chosen),))
    return DefinitionLine((str(state.chosen),), reasons, True, (judged,))


def _group(rows: tuple[DefinitionRow, ...], value: float) -> ValueGroup:
    alike: dict[tuple[tuple[str, ...], bool], list[tuple[str, DefinitionRow]]] = {}
    for row in rows:
        notation, reasons, matters = _reasons_of(row)
        alike.setdefault((reasons, matters), []).append((notation, row))
    own = rows[0].value
    lines = (
        DefinitionLine(
            tuple(dict.fromkeys(notation for notation, _ in some)),
            reasons,
            matters,
            _users([row for _, row in some]),
        )
        for (reasons, matters), some in alike.items()
    )
    return ValueGroup(
        own,
        rows[0].stops or "",
        tuple(line for line in lines if line.users),
        own=own is not None and (abs(own - value) <= CLOSE or (isnan(own) and isnan(value))),
    )


def _users(rows: list[DefinitionRow]) -> tuple[LibraryName, ...]:
    """Who has these definitions, each library once."""
    users: dict[str, LibraryName] = {}
    for row in rows:
        if not row.differences:
            users["judged"] = LibraryName("judged", "judged, by default", (str(row.measure),))
        for each in row.users:
            title = f"{each.convention.title} {each.convention.version}".strip()
            known = users.setdefault(
                each.convention.name, LibraryName(each.convention.name, title, ())
            )
            note = each.named.name.note
            users[known.name] = replace(
                known,
                theirs=(*known.theirs, each.named.theirs),
                notes=(*known.notes, note) if note else known.notes,
            )
    return tuple(users.values())


def _reasons_of(row: DefinitionRow) -> tuple[str, tuple[str, ...], bool]:
    """The notation with what matters to the list, and the reasons; of what does not matter only a
    parameter or another measure is said."""
    matter = [each for each in row.differences if each.touched]
    own = [each for each in row.differences if each.choice.partition("=")[0] in _named(row)]
    told = matter or own
    beside = [each.choice for each in matter if each not in own and each.choice != str(row.measure)]
    reasons = tuple(dict.fromkeys(each.says for each in told)) or (AS_REQUESTED,)
    return ", ".join([str(row.measure), *beside]), reasons, bool(matter)


def _named(row: DefinitionRow) -> set[str]:
    """The names of differences that the notation of the measure shows."""
    return {*row.measure.params, str(row.measure)}


@dataclass(frozen=True)
class MeasureCard:
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


class PlaygroundAnswer:
    """All that the page shows of a state; what is not asked for is not computed.

    >>> params = Params.read("list=0+1+0+0+1+0+1+0+1+0&relevant=4")
    >>> answer = PlaygroundAnswer(PlaygroundState.of(params))
    >>> [(str(card.measure), round(card.value, 4)) for card in answer.cards][3]
    ('AP@10', 0.4433)
    """

    def __init__(self, state: PlaygroundState) -> None:
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
    def cards(self) -> tuple[MeasureCard, ...]:
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
            return PlaygroundAnswer(_with_cards(self.state.was, self.state)).values
        except JudgedError:
            return {}

    def _card(self, key: str, measure: Measure, was: Mapping[str, float | str]) -> MeasureCard:
        value = self.values[key]
        state = self.state
        common: dict[str, Any] = {
            "added": key in state.added,
            "chosen": key == state.card,
        }
        if isinstance(value, str):
            return MeasureCard(key, measure, nan, "", refused=value, **common)
        before = was.get(key)
        effect = Effect(measure, before, value) if isinstance(before, float) else None
        return MeasureCard(key, measure, value, self._sum(measure), effect, **common)

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
    def chosen(self) -> MeasureCard:
        """The card that is looked at closely."""
        return next(card for card in self.cards if card.chosen)

    @cached_property
    def tiles(self) -> tuple[GradeTile, ...]:
        """The results of the list."""
        return tiles_of(self.state, self.explained(self.state.measures["P@k"](k=None)))

    @cached_property
    def libraries(self) -> LibraryValues | str:
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


def _card_dict(card: MeasureCard) -> dict[str, Any]:
    effect = card.effect
    return {
        "measure": str(card.measure),
        "value": None if isnan(card.value) else card.value,
        "arithmetic": card.arithmetic,
        "before": None if effect is None or isnan(effect.before) else effect.before,
        "error": card.refused or None,
    }


def _with_cards(was: PlaygroundState, now: PlaygroundState) -> PlaygroundState:
    """A state of before with the cards of now."""
    return replace(was, added=now.added, card=now.card)


def shell_commands(state: PlaygroundState) -> str:
    """The commands that print the chosen number, and what libraries call by its name."""
    listed, measure = quote(str(state.listed)), quote(str(state.chosen))
    options = "".join(f" --{name} {quote(str(value))}" for name, value in _options(state).items())
    chosen = "".join(f" --{name} {value}" for name, value in _changed_policy(state).items())
    lines = [f"judged conventions {listed} -m {measure}{options}"]
    if not (state.policy.ties == "expected" and state.listed.tied):
        lines.insert(0, f"judged explain {listed} -m {measure}{options}{chosen}")
    return "\n".join(lines)


def python_code(state: PlaygroundState) -> str:
    """The same in Python, with all numbers of the page."""
    options = "".join(f", {name}={value!r}" for name, value in _options(state).items())
    policy = _changed_policy(state)
    chosen = f", policy={policy!r}" if policy else ""
    measures = [str(measure) for measure in state.measures.values()]
    pool = ", pool=[pool]" if state.pool else ""
    counted = _options(state)
    counted.pop("pool", None)
    numbers = "".join(f", {name}={value!r}" for name, value in counted.items())
    lines = [
        "import judged",
        "",
        f"grades = {list(state.listed.grades)!r}",
        *([f"pool = {_pool(state.pool)!r}"] if state.pool else []),
        "rankings = judged.Rankings.from_relevance(",
        f"    [grades]{numbers}{pool}, tied={[list(state.listed.tied)]!r}",
        ")",
        f"print(rankings.evaluate({measures!r}{chosen}))",
        f"listed = {str(state.listed)!r}",
    ]
    measure = repr(str(state.chosen))
    if not (state.policy.ties == "expected" and state.listed.tied):
        lines.append(f"print(judged.explain(listed, measure={measure}{options}{chosen}))")
    lines.append(f"print(judged.compare_conventions(listed, measures={measure}{options}))")
    return "\n".join(lines)


def _pool(text: str) -> list[Any]:
    from judged.rankings.relevance import pool_list

    return pool_list(text)


def _options(state: PlaygroundState) -> dict[str, Any]:
    options = {
        "relevant": state.relevant,
        "pool": state.pool or None,
        "collection": state.collection,
    }
    return {name: value for name, value in options.items() if value is not None}


def _changed_policy(state: PlaygroundState) -> dict[str, str]:
    usual = Policy().to_dict()
    return {name: value for name, value in state.policy.to_dict().items() if value != usual[name]}


def link_of(rankings: Rankings, measure: Measure | None = None) -> dict[str, str] | None:
    """The parameters of the playground with the list of one query, down to the first hundred
    results.

    Parameters
    ----------
    rankings : Rankings
        Of one query.
    measure : Measure, optional
        What is looked at closely there.

    Returns
    -------
    dict or None
        None where the list is empty, or judged by subtopic.

    >>> from judged import Rankings
    >>> link_of(Rankings.from_relevance([[0, 2, None]], relevant=[3]))
    {'list': '0 2 -', 'relevant': '3'}
    """
    length = min(int(rankings.retrieved[0]), MAX_RESULTS)
    if not length or rankings.subtopics is not None:
        return None
    at = dict(zip(rankings.hit_rank.tolist(), rankings.hit_grade.tolist(), strict=True))
    first, last = (each.tolist() for each in rankings.spans)
    ties = {(begin, min(end, length)) for begin, end in zip(first, last, strict=True)}
    listed = RelevanceList(
        tuple(at.get(rank) for rank in range(1, length + 1)),
        tuple(sorted(tie for tie in ties if tie[0] < tie[1])),
    )
    link = {"list": str(listed)}
    left = rankings.pool_grade.tolist()
    for grade in listed.grades:
        if grade is not None:
            left.remove(grade)
    if all(grade <= 0 or grade == 1 for grade in left):
        link["relevant"] = str(int((rankings.pool_grade > 0).sum()))
    else:
        link["pool"] = " ".join(f"{grade:g}" for grade in rankings.pool_grade.tolist())
    if rankings.ties in ("best", "worst", "expected") and listed.tied:
        link["list_ties"] = rankings.ties
    if measure is not None:
        k = measure.params.get("k")
        link |= {"add": str(measure), "k": str(k) if isinstance(k, int) and k <= MAX_K else "all"}
    return link
