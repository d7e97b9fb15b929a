"""The values of every definition in a family, query by query, and how many queries each difference
touches."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, isnan
from typing import Any

import numpy as np

from judged.arrays import Floats
from judged.conventions import Convention, Name, find
from judged.conventions.disagreement.definitions import Choice, Definition, Meaning, User
from judged.errors import PolicyError
from judged.evaluation.evaluation import evaluate_rankings
from judged.evaluation.settings import Conventional, EvaluationSettings
from judged.matching.variants import Variants
from judged.measures import Measure
from judged.measures.conventions import Named
from judged.measures.spec import Mask
from judged.policy import Policy
from judged.rankings.rankings import Rankings

CLOSE = 1e-12
"""Values closer than this are the same: sums in another order."""


class Rows:
    """One run's rankings under any policy, and the values of any measure: each made once."""

    def __init__(self, runs: Variants) -> None:
        self._runs = runs
        self._known: dict[Meaning, Scores] = {}

    @property
    def rankings(self) -> Rankings:
        """By the default policy."""
        return self._runs.usual

    def learn(self, wanted: Iterable[Meaning]) -> None:
        """Compute what is not known yet, the measures of one policy together: they share what ties
        cost."""
        together: dict[tuple[Any, ...], list[Meaning]] = {}
        for meaning in dict.fromkeys(wanted):
            if meaning not in self._known:
                policy, beside = meaning.policy, (meaning.rule, meaning.undefined)
                stops = "error" in (policy.missing, policy.empty)
                own = meaning if stops or beside != ("", None) else None
                together.setdefault((policy, own), []).append(meaning)
        for some in together.values():
            self._known |= self._scored(some)

    def _scored(self, some: list[Meaning]) -> dict[Meaning, Scores]:
        """The scores of meanings of one policy; one alone, where it has something beside it."""
        policy = some[0].policy
        request = EvaluationSettings(tuple(each.measure for each in some), policy, _beside(some[0]))
        try:
            rankings = self._runs.under(policy.ties, policy.unjudged)
            scored = evaluate_rankings([rankings], request).scored()
        except PolicyError as error:
            return {meaning: Scores(None, None, str(error)) for meaning in some}
        return {
            meaning: Scores(scored.summary[meaning.measure], scored.values[meaning.measure])
            for meaning in some
        }

    def scores(self, meaning: Meaning) -> Scores:
        self.learn([meaning])
        return self._known[meaning]


def _beside(meaning: Meaning) -> Conventional | None:
    """A rule for what is relevant and a value for what is undefined, as a library has them."""
    if not meaning.rule and meaning.undefined is None:
        return None
    measure = str(meaning.measure)
    name = Name(measure, measure, threshold=meaning.rule, undefined=meaning.undefined)
    library = Convention(measure, measure, "", "", "", (name,))
    return Conventional(library, (Named(meaning.measure, measure, name),))


@dataclass(frozen=True, eq=False)
class Scores:
    """A definition's summary and values (NaN for a query that does not count); or why the library
    stops instead."""

    value: float | None
    values: Floats | None
    stops: str | None = None


@dataclass(frozen=True)
class Counts:
    """How many queries, in all and of each kind that definitions treat differently; a query may be
    of several kinds."""

    queries: int
    tied: int
    """A judged result ties with another one."""
    short: int
    """The list has fewer results than the cutoff."""
    missing: int
    """The run lacks the query."""
    nothing_relevant: int


@dataclass(frozen=True)
class Difference:
    """One thing in which a definition is unlike the one that was asked for, and how many queries it
    touches by itself."""

    choice: str
    says: str
    touched: int


@dataclass(frozen=True)
class Row:
    """One definition of a measure: its value, who uses it, and what makes it differ."""

    definition: Definition
    """The measure and the policy, and who has them."""
    value: float | None
    """None where the library would stop with an error."""
    stops: str | None
    """Why it would stop."""
    counted: int
    """How many queries the value is about."""
    touched: Counts | None
    """The queries whose value is not that of the first row; one that counts in only one of the two
    is among them."""
    differences: tuple[Difference, ...]

    @property
    def measure(self) -> Measure:
        """The measure with the parameters that this definition has."""
        return self.definition.measure

    @property
    def policy(self) -> Policy:
        """What this definition assumes."""
        return self.definition.policy

    @property
    def users(self) -> tuple[User, ...]:
        """The libraries that have this definition."""
        return self.definition.users

    def used_by(self, *names: str) -> bool:
        """Whether one of these libraries uses this definition.

        Parameters
        ----------
        *names : str
            Names of conventions, such as "ranx".

        Returns
        -------
        bool

        >>> from judged import compare_conventions
        >>> found = compare_conventions({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR@10")
        >>> found.rows()[0].used_by("ir_measures")
        True
        """
        wanted = {find(name).name for name in names}
        return any(user.convention.name in wanted for user in self.users)


@dataclass(frozen=True)
class Compared:
    """The rows of one measure, that which was asked for first, and what kinds of queries there
    are."""

    measure: Measure
    rows: tuple[Row, ...]
    found: Counts
    alike: tuple[tuple[Row, ...], ...]
    """The same rows, those together that differ in their policies alone and have the same value for
    every query."""

    @property
    def by_value(self) -> tuple[tuple[Row, ...], ...]:
        """The same rows, those of one number together, the greatest first; those that stop last."""
        groups: list[list[Row]] = []
        for row in sorted(self.rows, key=lambda each: -inf if each.value is None else each.value):
            if groups and _equal(groups[-1][0].value, row.value):
                groups[-1].append(row)
            else:
                groups.append([row])
        # Within a group what was asked for stands first, as in all rows.
        return tuple(tuple(sorted(group, key=self.rows.index)) for group in reversed(groups))


def _equal(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return one == other or abs(one - other) <= CLOSE or (isnan(one) and isnan(other))


def compare(data: Rows, measure: Measure, definitions: tuple[Definition, ...]) -> Compared:
    """All definitions of a family on the same data."""
    data.learn(each.meaning for each in definitions)
    data.learn(choice.meaning for each in definitions for choice in each.choices)
    kinds = _kinds(data.rankings, measure)
    usual = data.scores(Meaning(measure, Policy()))
    rows = tuple(_row(data, each, usual, kinds) for each in definitions)
    return Compared(
        measure, rows, _counts(np.ones(len(data.rankings), bool), kinds), _alike(data, rows)
    )


def _alike(data: Rows, rows: tuple[Row, ...]) -> tuple[tuple[Row, ...], ...]:
    groups: list[list[Row]] = []
    for row in rows:
        scores = data.scores(row.definition.meaning)
        for group in groups:
            if group[0].measure == row.measure and _same(
                scores, data.scores(group[0].definition.meaning)
            ):
                group.append(row)
                break
        else:
            groups.append([row])
    return tuple(map(tuple, groups))


def _same(scores: Scores, others: Scores) -> bool:
    """Whether all values are the same, or a library would stop for the same reason."""
    if scores.values is None or others.values is None:
        return scores.stops == others.stops
    return not _unlike(scores, others).any()


def _row(data: Rows, definition: Definition, usual: Scores, kinds: dict[str, Mask]) -> Row:
    scores = data.scores(definition.meaning)
    touched = None if scores.values is None else _unlike(scores, usual)
    return Row(
        definition=definition,
        value=scores.value,
        stops=scores.stops,
        counted=0 if scores.values is None else int((~np.isnan(scores.values)).sum()),
        touched=None if touched is None else _counts(touched, kinds),
        differences=tuple(
            Difference(choice.name, choice.says, _touched_by(data, choice, usual, kinds))
            for choice in definition.choices
        ),
    )


def _touched_by(data: Rows, choice: Choice, usual: Scores, kinds: dict[str, Mask]) -> int:
    """How many queries have another value by this choice alone; those that it stops at, where it is
    to stop."""
    scores = data.scores(choice.meaning)
    if scores.values is None:
        return int(
            kinds[
                "missing" if choice.meaning.policy.missing == "error" else "nothing_relevant"
            ].sum()
        )
    return int(_unlike(scores, usual).sum())


def _unlike(scores: Scores, usual: Scores) -> Mask:
    assert scores.values is not None
    assert usual.values is not None
    return ~np.isclose(scores.values, usual.values, rtol=0, atol=CLOSE, equal_nan=True)


def _kinds(r: Rankings, measure: Measure) -> dict[str, Mask]:
    """Which queries are of each kind that definitions treat differently."""
    first, last = r.spans
    cutoff = r.cutoff(measure.params.get("k"), measure.params.get("rel", 1))
    return {
        "tied": np.bincount(r.hit_query[last > first], minlength=len(r)) > 0,
        "short": ~r.missing & (r.retrieved < np.where(np.isinf(cutoff), 0, cutoff)),
        "missing": r.missing,
        "nothing_relevant": r.relevant(measure.params.get("rel", float(np.nextafter(0, 1)))) == 0,
    }


def _counts(which: Mask, kinds: dict[str, Mask]) -> Counts:
    return Counts(
        int(which.sum()), **{kind: int((which & mask).sum()) for kind, mask in kinds.items()}
    )
