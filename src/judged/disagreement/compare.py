"""The values of every definition in a family, query by query, and how many queries each difference
touches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judged.conventions import find
from judged.disagreement.definitions import Choice, Definition, User
from judged.errors import PolicyError
from judged.evaluation.evaluation import evaluate_rankings
from judged.inputs.tables import Judgements, Lookup, Run
from judged.judging import judge_variants
from judged.measures import Measure
from judged.measures.spec import Mask
from judged.policy import Policy
from judged.rankings.rankings import Rankings
from judged.segments import Floats

CLOSE = 1e-12
"""Values closer than this are the same: sums in another order."""


class Rows:
    """One run's rankings under any policy, and the values of any measure: each made once."""

    def __init__(
        self,
        judgements: Judgements | Lookup,
        run: Run | Lookup,
        *,
        depth: int | None,
        duplicates: str,
    ) -> None:
        # What is wrong with the data is wrong with all definitions: it is found here.
        self._runs = judge_variants(judgements, run, depth=depth, duplicates=duplicates)
        self._known: dict[tuple[Measure, Policy], Scores] = {}

    @property
    def rankings(self) -> Rankings:
        """By the default policy."""
        return self._runs.usual

    def learn(self, wanted: dict[tuple[Measure, Policy], None]) -> None:
        """Compute what is not known yet, the measures of one policy together: they share what ties
        cost."""
        by_policy: dict[Policy, list[Measure]] = {}
        for measure, policy in wanted:
            if (measure, policy) not in self._known:
                by_policy.setdefault(policy, []).append(measure)
        for policy, measures in by_policy.items():
            stops = "error" in (policy.missing, policy.empty)
            for some in [[each] for each in measures] if stops else [measures]:
                self._known |= {
                    (measure, policy): scores
                    for measure, scores in self._scored(some, policy).items()
                }

    def _scored(self, measures: list[Measure], policy: Policy) -> dict[Measure, Scores]:
        try:
            rankings = self._runs.under(policy.ties, policy.unjudged)
            scored = evaluate_rankings([rankings], measures, policy=policy).scored()
        except PolicyError as error:
            return {measure: Scores(None, None, str(error)) for measure in measures}
        return {
            measure: Scores(scored.summary[measure], scored.values[measure]) for measure in measures
        }

    def scores(self, measure: Measure, policy: Policy) -> Scores:
        self.learn({(measure, policy): None})
        return self._known[measure, policy]


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


def compare(data: Rows, measure: Measure, definitions: list[Definition]) -> Compared:
    """All definitions of a family on the same data."""
    wanted = {(each.measure, each.policy): None for each in definitions}
    wanted |= {
        (choice.measure, choice.policy): None for each in definitions for choice in each.choices
    }
    data.learn(wanted)
    kinds = _kinds(data.rankings, measure)
    usual = data.scores(measure, Policy())
    rows = tuple(_row(data, each, usual, kinds) for each in definitions)
    return Compared(
        measure, rows, _counts(np.ones(len(data.rankings), bool), kinds), _alike(data, rows)
    )


def _alike(data: Rows, rows: tuple[Row, ...]) -> tuple[tuple[Row, ...], ...]:
    groups: list[list[Row]] = []
    for row in rows:
        scores = data.scores(row.measure, row.policy)
        for group in groups:
            if group[0].measure == row.measure and _same(
                scores, data.scores(group[0].measure, group[0].policy)
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
    scores = data.scores(definition.measure, definition.policy)
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
    scores = data.scores(choice.measure, choice.policy)
    if scores.values is None:
        return int(
            kinds["missing" if choice.policy.missing == "error" else "nothing_relevant"].sum()
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
