"""The numbers of the playground: tiles, cards, and the values of all libraries."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite, isnan, nan
from typing import Any

from judged.conventions.disagreement import CLOSE, DefinitionRow, Disagreement, compare_conventions
from judged.errors import JudgedError
from judged.evaluation.evaluation import evaluate_rankings
from judged.explanation import Explanation, explain
from judged.explanation.improvement import Effect
from judged.matching.variants import cut, list_variants
from judged.measures import Measure
from judged.rankings.rankings import Rankings
from judged.rankings.relevance import RelevanceList, listed_rankings, written_grade
from judged.web.playground import PlaygroundState

AS_REQUESTED = "as requested"


@dataclass(frozen=True)
class GradeTile:
    """One result of the list."""

    rank: int
    grade: str
    sign: str
    look: str
    """The CSS class: g1 to g3, none or unjudged."""
    words: str
    under: str
    """The precision at a relevant result."""
    beyond: bool
    """Whether it is below k."""
    removed: bool
    """Whether the policy removes it."""
    tie: str
    """Its place in a tie: first, inside, last or empty."""
    next_list: str
    """The list after a click."""
    next_words: str


def tiles_of(state: PlaygroundState, told: Explanation | str) -> tuple[GradeTile, ...]:
    """Return the tiles of a list; `told` explains precision."""
    listed, k = state.listed, state.k
    grades = listed.grades
    removes = state.policy.unjudged == "removed"
    ordered = not listed.tied or state.policy.ties in ("id", "input")
    under = _precisions(told) if ordered and not isinstance(told, str) else {}
    ties: dict[int, str] = {}
    for first, last in listed.tied:
        ties |= {**dict.fromkeys(range(first, last + 1), "inside"), first: "first", last: "last"}
    top = max((best for grade in grades if (best := _best(grade)) > 0), default=1)
    tiles, at = [], 0
    for rank, grade in enumerate(grades, 1):
        removed = removes and _is_unjudged(grade)
        at += not removed
        clicked = _clicked(grade, state.top)
        after = RelevanceList((*grades[: rank - 1], clicked, *grades[rank:]), listed.tied)
        tiles.append(
            GradeTile(
                rank,
                written_grade(grade),
                _sign(grade),
                _look(grade, max(top, 1)),
                _words(grade),
                "" if removed else under.get(at, ""),
                k is not None and (at if ordered else rank) > k,
                removed,
                ties.get(rank, ""),
                str(after),
                _words(clicked),
            )
        )
    return tuple(tiles)


def _precisions(told: Explanation) -> dict[int, str]:
    """Return precision at each relevant rank, from the explanation of P."""
    if told.steps is None:
        return {}
    (column,) = [column for column in told.steps.columns if column.name == "precision"]
    return {
        row.rank: str(cell.stages()[0]) if hasattr(cell, "stages") else str(cell)
        for row, cell in zip(told.rows, column.cells, strict=True)
        if row.relevant and cell is not None
    }


def _clicked(grade: Any, top: int) -> Any:
    """Return the grade after a click: the next one, then not judged, then 0 again."""
    if grade is None or isinstance(grade, Mapping):
        return 0
    if not float(grade).is_integer() or grade < 0:
        return 0
    return int(grade) + 1 if grade < top else None


def _best(grade: Any) -> float:
    if grade is None:
        return 0.0
    return float(max(grade.values(), default=0)) if isinstance(grade, Mapping) else float(grade)


def _is_unjudged(grade: Any) -> bool:
    return grade is None or _best(grade) < 0  # a grade below 0 is not a judgement


def _sign(grade: Any) -> str:
    if _is_unjudged(grade):
        return "?"
    best = _best(grade)
    return "✓" if best == 1 else "·" if best == 0 else f"{best:g}"


def _look(grade: Any, top: float) -> str:
    """Return the CSS class; grades above 3 are spread over the three colours."""
    if _is_unjudged(grade):
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


# -- other libraries


@dataclass(frozen=True)
class LibraryName:
    """A library, and its names for the measure."""

    name: str
    title: str
    theirs: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class DefinitionLine:
    """Definitions that do not differ for this list, and the libraries that use them."""

    notations: tuple[str, ...]
    reasons: tuple[str, ...]
    """How they differ from the requested definition."""
    matters: bool
    """Whether that affects this list."""
    users: tuple[LibraryName, ...]


@dataclass(frozen=True)
class ValueGroup:
    """A value, and all definitions that give it."""

    value: float | None
    """None if libraries stop with an error."""
    stops: str
    lines: tuple[DefinitionLine, ...]
    own: bool
    """Whether it is the value of the card."""


@dataclass(frozen=True, eq=False)
class LibraryValues:
    """The values of all libraries for a list."""

    measure: str
    groups: tuple[ValueGroup, ...]
    found: Disagreement
    count: int
    """The number of libraries."""
    numbers: int
    """The number of different values, judged's included."""
    most: float
    """The length of the longest bar."""
    differs: bool
    """Whether the chosen policy gives another value than judged's default."""

    def to_dict(self) -> dict[str, Any]:
        """Return what `judged conventions` gives for the measure."""
        told: dict[str, Any] = self.found.to_dict()["measures"][0]
        return told


def libraries_of(state: PlaygroundState, value: float) -> LibraryValues:
    """Return the chosen measure by every library's definition, each with its own policy."""
    found = compare_conventions(str(state.listed), measures=[state.chosen], **state.options)
    groups = [_group(rows, value) for rows in found.compared().by_value]
    differs = not any(group.own for group in groups)
    if differs:
        groups.append(ValueGroup(value, "", (_chosen_here(state),), own=True))
        groups.sort(key=lambda group: (not _has_value(group), -(group.value or 0.0)))
    known = {user.name for group in groups for line in group.lines for user in line.users}
    values = [group.value for group in groups if group.value is not None]
    return LibraryValues(
        str(state.chosen),
        tuple(groups),
        found,
        len(known - {"judged"}),
        len(values),
        max([1.0, *(value for value in values if isfinite(value))]),
        differs,
    )


def _has_value(group: ValueGroup) -> bool:
    return group.value is not None and not isnan(group.value)


def _chosen_here(state: PlaygroundState) -> DefinitionLine:
    sentences = state.policy.sentences()
    reasons = tuple(sentences[name] for name in state.changed_policy) or (AS_REQUESTED,)
    judged = LibraryName("judged", "judged, as chosen above", (str(state.chosen),))
    return DefinitionLine((str(state.chosen),), reasons, True, (judged,))


def _group(rows: tuple[DefinitionRow, ...], value: float) -> ValueGroup:
    alike: dict[tuple[tuple[str, ...], bool], list[tuple[str, DefinitionRow]]] = {}
    for row in rows:
        notation, reasons, matters = _reasons_of(row)
        alike.setdefault((reasons, matters), []).append((notation, row))
    lines = [
        DefinitionLine(
            tuple(dict.fromkeys(notation for notation, _ in pairs)),
            reasons,
            matters,
            _users([row for _, row in pairs]),
        )
        for (reasons, matters), pairs in alike.items()
    ]
    theirs = rows[0].value
    same = theirs is not None and (abs(theirs - value) <= CLOSE or (isnan(theirs) and isnan(value)))
    used = tuple(line for line in lines if line.users)
    return ValueGroup(theirs, rows[0].stops or "", used, own=same)


def _users(rows: list[DefinitionRow]) -> tuple[LibraryName, ...]:
    """Return the libraries with these definitions, each once."""
    users: dict[str, LibraryName] = {}
    for row in rows:
        if not row.differences:
            users["judged"] = LibraryName("judged", "judged, by default", (str(row.measure),))
        for user in row.users:
            convention, note = user.convention, user.named.name.note
            title = f"{convention.title} {convention.version}".strip()
            known = users.setdefault(convention.name, LibraryName(convention.name, title, ()))
            users[known.name] = replace(
                known,
                theirs=(*known.theirs, user.named.theirs),
                notes=(*known.notes, note) if note else known.notes,
            )
    return tuple(users.values())


def _reasons_of(row: DefinitionRow) -> tuple[str, tuple[str, ...], bool]:
    """Return the notation, the reasons for another value, and whether they affect the list.

    Of differences without effect, only parameters and other measures are named.
    """
    matter = [difference for difference in row.differences if difference.touched]
    in_notation = {*row.measure.params, str(row.measure)}
    named = [d for d in row.differences if d.choice.partition("=")[0] in in_notation]
    beside = [d.choice for d in matter if d not in named and d.choice != str(row.measure)]
    reasons = tuple(dict.fromkeys(d.says for d in matter or named)) or (AS_REQUESTED,)
    return ", ".join([str(row.measure), *beside]), reasons, bool(matter)


# -- cards


@dataclass(frozen=True)
class MeasureCard:
    """A measure of the list: value, calculation, and effect of the last change."""

    key: str
    measure: Measure
    value: float
    arithmetic: str
    effect: Effect | None = None
    refused: str = ""
    """Why there is no value."""
    added: bool = False
    chosen: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the card for JSON."""
        effect = self.effect
        return {
            "measure": str(self.measure),
            "value": None if isnan(self.value) else self.value,
            "arithmetic": self.arithmetic,
            "before": None if effect is None or isnan(effect.before) else effect.before,
            "error": self.refused or None,
        }


class PlaygroundAnswer:
    """Everything that the page shows of a state, computed on demand.

    >>> from judged.web.visit import Params
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
        self._explanations: dict[Measure, Explanation | str] = {}

    @property
    def relevant(self) -> int:
        """The number of relevant items."""
        return int((self.listed.pool_grade > 0).sum())

    @property
    def retrieved(self) -> int:
        """The number of relevant results."""
        return int((self.listed.hit_grade > 0).sum())

    @cached_property
    def values(self) -> dict[str, float | str]:
        """The value of each card, or the error message."""
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
        return tuple(self._card(key, measure) for key, measure in self.state.measures.items())

    @cached_property
    def _values_before(self) -> Mapping[str, float | str]:
        was, now = self.state.was, self.state
        if was is None:
            return {}
        try:
            return PlaygroundAnswer(replace(was, added=now.added, card=now.card)).values
        except JudgedError:
            return {}

    def _card(self, key: str, measure: Measure) -> MeasureCard:
        value, before = self.values[key], self._values_before.get(key)
        added, chosen = key in self.state.added, key == self.state.card
        if isinstance(value, str):
            return MeasureCard(key, measure, nan, "", None, value, added, chosen)
        effect = Effect(measure, before, value) if isinstance(before, float) else None
        return MeasureCard(
            key, measure, value, self._arithmetic(measure), effect, "", added, chosen
        )

    def _arithmetic(self, measure: Measure) -> str:
        """Return the calculation on one line: its first stage that has only numbers."""
        told = self.explained(measure)
        if isinstance(told, str):
            return "mean over all orders of the ties"
        if told.steps is None:
            return f"undefined: {measure.spec.undefined.text}"
        stages = told.steps.value.stages()
        numbers = (stage for stage in stages[:-1] if not re.search(r"[A-Za-z]", stage))
        return next(numbers, stages[0])

    def explained(self, measure: Measure) -> Explanation | str:
        """Return the explanation of a value, or the error message."""
        if measure not in self._explanations:
            try:
                self._explanations[measure] = explain(
                    self.rankings, measure=measure, policy=self.state.policy, rows=None
                )
            except JudgedError as error:
                self._explanations[measure] = str(error)
        return self._explanations[measure]

    @cached_property
    def chosen(self) -> MeasureCard:
        """The card that is shown in detail."""
        return next(card for card in self.cards if card.chosen)

    @cached_property
    def tiles(self) -> tuple[GradeTile, ...]:
        """The results of the list."""
        return tiles_of(self.state, self.explained(self.state.measures["P@k"](k=None)))

    @cached_property
    def libraries(self) -> LibraryValues | str:
        """The values of all libraries, or the error message."""
        value = self.values[self.state.card]
        try:
            return libraries_of(self.state, nan if isinstance(value, str) else value)
        except JudgedError as error:
            return str(error)

    @property
    def curve(self) -> Rankings:
        """The list down to k, for its curve; without an order of ties, ties stay as typed."""
        rankings = self.listed if self.rankings.ties == "expected" else self.rankings
        return rankings if self.state.k is None else cut(rankings, self.state.k)

    def to_dict(self) -> dict[str, Any]:
        """Return everything for JSON."""
        state, libraries, told = self.state, self.libraries, self.explained(self.state.chosen)
        return {
            "list": str(state.listed),
            "relevant": self.relevant,
            "k": state.k,
            "policy": state.policy.to_dict(),
            "measures": [card.to_dict() for card in self.cards],
            "chosen": str(state.chosen),
            "sentences": [told] if isinstance(told, str) else list(told.sentences()),
            "libraries": None if isinstance(libraries, str) else libraries.to_dict(),
            "refused": [{"measure": text, "error": why} for text, why in state.refused],
        }
