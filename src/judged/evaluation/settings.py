"""The settings of an evaluation: measures, policy and the convention of another library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import Floats, starts_of
from judged.errors import ConventionError, MeasureError
from judged.inputs.blocks import RunBlocks
from judged.inputs.tables import AnyRun, Lookup, Run
from judged.matching.checks import own_id_words, without_own_ids
from judged.measures import DEFAULT, Measure, parse_measure
from judged.measures.measure import each_of, has_default, labelled, read_all
from judged.policy import DEFAULT_POLICY, Policy
from judged.text import Tallied, TalliedWarning, Warned, counted

if TYPE_CHECKING:
    from judged.conventions import Convention
    from judged.measures.conventions import LibraryMeasure
    from judged.options import ConventionLike, MeasuresLike, PolicyLike
    from judged.rankings.rankings import Rankings


@dataclass(eq=False, repr=False)
class EvaluationSettings:
    """The measures, policy and convention of an evaluation."""

    measures: tuple[Measure, ...]
    policy: Policy
    convention: Conventional | None = None
    labels: Mapping[Measure, str] = field(default_factory=dict)
    """The name of each measure in tables and files, as the caller wrote it."""

    @classmethod
    def of(
        cls,
        measures: MeasuresLike | None,
        policy: PolicyLike | None,
        convention: ConventionLike | None = None,
        *,
        prepares: bool = False,
        **otherwise: Any,
    ) -> EvaluationSettings:
        """Return settings from what a caller may pass.

        `prepares` is whether runs will go through `prepare`; `otherwise` holds the choices of a
        policy that neither the caller nor the convention makes.
        """
        if convention is None:
            labels = read_all(DEFAULT if measures is None else measures)
            usual = policy is None and not otherwise
            chosen = DEFAULT_POLICY if usual else Policy.of(policy, **otherwise)
            return cls(tuple(labels), chosen, labels=labels)
        from judged.conventions import Convention, find
        from judged.measures.conventions import named_all, named_among

        library = convention if isinstance(convention, Convention) else find(convention)
        Policy.of(policy)
        if measures is None:
            named = _of_one_policy(named_among(library, DEFAULT))
        else:
            named = named_all(library, each_of(measures))
        if not named:
            raise MeasureError(
                f"no measure was given; name one that {library.title} has, such as "
                f"{library.names[0].theirs}."
            )
        if not isinstance(policy, Policy):
            policy = _shared_policy(library, named, policy or {}, otherwise)
        _check_one_meaning(library, named)
        return cls(
            tuple(dict.fromkeys(each.measure for each in named)),
            policy,
            Conventional(library, tuple(named), prepares),
            labelled((each.measure, each.label or str(each.measure)) for each in named),
        )

    @classmethod
    def of_rankings(
        cls,
        rankings: Sequence[Rankings],
        measures: MeasuresLike | None,
        policy: PolicyLike | None = None,
        convention: ConventionLike | None = None,
    ) -> EvaluationSettings:
        """Return settings for rankings; ties and unjudged items stay as they are by default."""
        first = rankings[0]
        return cls.of(
            measures,
            policy,
            convention,
            ties=first.ties,
            unjudged=first.unjudged,
            depth=first.depth,
        )

    def prepare(self, run: Any) -> Any:
        """Return a run as the convention's library takes it, before it is matched."""
        if isinstance(run, RunBlocks):
            return run if self.convention is None else run.then(self.prepare)
        return prepared(run, self.convention.convention if self.convention else None)


def _of_one_policy(named: list[LibraryMeasure]) -> list[LibraryMeasure]:
    """Return the default measures that share the most common policy."""
    policies = [each.name.policy for each in named]
    usual = max(policies, key=policies.count, default=None)
    return [each for each in named if each.name.policy == usual]


def _shared_policy(
    convention: Convention,
    named: list[LibraryMeasure],
    given: Mapping[str, str],
    otherwise: dict[str, str],
) -> Policy:
    """Return the policy of all these measures; raise an error if they differ."""
    policies = [
        (each.theirs, Policy.of({**otherwise, **convention.policy, **each.name.policy, **given}))
        for each in named
    ]
    (first, policy), *others = policies
    for other, own in others:
        for choice, value in policy.to_dict().items():
            if own.to_dict()[choice] != value:
                raise ConventionError(
                    f"{convention.title} has {choice}={value} for {first} and "
                    f"{choice}={own.to_dict()[choice]} for {other}; "
                    f"evaluate them one at a time, or choose {choice} for both."
                )
    return policy


def _check_one_meaning(convention: Convention, named: list[LibraryMeasure]) -> None:
    """Check that two names of one measure do not mean different values."""
    first: dict[Measure, LibraryMeasure] = {}
    for each in named:
        known = first.setdefault(each.measure, each)
        if (known.name.undefined, known.name.threshold) != (
            each.name.undefined,
            each.name.threshold,
        ):
            raise ConventionError(
                f"{known.theirs} and {each.theirs} are both {each.measure} here, though "
                f"{convention.title} gives them different values for some queries; evaluate them "
                "one at a time."
            )


@dataclass(eq=False, repr=False)
class Conventional:
    """The library whose numbers an evaluation has, and what it calls them."""

    convention: Convention
    named: tuple[LibraryMeasure, ...]
    prepared: bool = False
    """True if the data were prepared as the library does it."""

    def __str__(self) -> str:
        return f"{self.convention.title} {self.convention.version}".strip()

    def read(self, measure: str | Measure) -> Measure:
        """Return the measure of a library's name, or of our notation."""
        if isinstance(measure, str) and any(self.convention.read(measure)):
            from judged.measures.conventions import named_all

            return named_all(self.convention, [measure])[0].measure
        return parse_measure(measure)

    def theirs(self, measure: Measure) -> LibraryMeasure | None:
        """Return the library's name of a measure."""
        return next((each for each in self.named if each.measure == measure), None)

    def threshold(self, measure: Measure) -> str:
        """Return the library's rule for relevance, unless `rel` is given."""
        named = self.theirs(measure)
        return named.name.threshold if named and has_default(measure, "rel") else ""

    def undefined(self, measure: Measure) -> float | None:
        """Return the library's value of undefined queries, if it has one."""
        named = self.theirs(measure)
        return named.name.undefined if named else None

    def filled(self, measure: Measure, values: Floats) -> Floats:
        """Replace undefined values by those of the library."""
        fixed = self.undefined(measure)
        return values if fixed is None else np.where(np.isnan(values), fixed, values)

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.convention.name,
            "version": self.convention.version,
            "held": self.convention.held,
            "names": {
                str(each.measure): each.theirs
                for each in self.named
                if each is self.theirs(each.measure)
            },
        }


def prepared(run: AnyRun, convention: Convention | None) -> AnyRun:
    """Return a run as a library takes it: without own ids and empty lists, if it drops them."""
    if convention is None:
        return run
    if convention.needs_results:
        run = _without_empty(run)
    says = [each.says for each in convention.cautions if each.when == "own ids"]
    if not (convention.drops_own_id or says):
        return run
    shorter, number = without_own_ids(run)
    if not number:
        return run
    if convention.drops_own_id:
        words = own_id_words(then=f": taken out first, as {convention.title} does.")
        return replace(shorter, notes=(*run.notes, Tallied(number, *words)))
    said = (TalliedWarning(number, *own_id_words(then=f". {text}")) for text in says)
    return replace(run, notes=(*run.notes, *said))


def unprepared(run: Run | Lookup | RunBlocks, conventions: Iterable[Convention]) -> list[Warned]:
    """Return warnings about preparations of libraries that were not done."""
    asked = [each for each in conventions if each.drops_own_id or each.needs_results]
    if not asked:
        return []
    if isinstance(run, RunBlocks):
        counts = run.gather(lambda: [_counts(table) for table in run.blocks(None)])
        own, empty = (sum(numbers) for numbers in zip(*counts, strict=True))
    else:
        own, empty = _counts(run)
    return [text for each in asked for text in _unprepared(each, own, empty)]


def _counts(run: Run | Lookup) -> tuple[int, int]:
    return without_own_ids(run)[1], _empty(run)


def _unprepared(convention: Convention, own: int, empty: int) -> list[Warned]:
    said = []
    if convention.drops_own_id and own:
        said.append(f"{Tallied(own, *own_id_words())}, which {convention.title} takes out first")
    if convention.needs_results and empty:
        lists = f"{counted(empty, 'query has', 'queries have')} an empty list"
        said.append(f"{lists}, which {convention.title} takes for missing")
    return [
        Warned(
            f"{text}; its rows here are without that: see convention={convention.name} "
            "(--convention)."
        )
        for text in said
    ]


def _empty(run: Run | Lookup) -> int:
    if isinstance(run, Run):
        return max(0, len(run.queries) - run.frame["query"].n_unique())
    return sum(not items for items in run.lists.values())


def _without_empty(run: AnyRun) -> AnyRun:
    if isinstance(run, Run):
        return replace(run, queries=())
    return replace(run, lists={query: items for query, items in run.lists.items() if items})


def regraded(r: Rankings, rule: str) -> Rankings:
    """Return the rankings with grade 1 for relevant items by a rule, and 0 for others."""
    least = THRESHOLD[rule](r)

    def graded(query: np.ndarray, grade: Floats) -> Floats:
        reached = (grade >= least[query]) & (grade > 0)
        return np.where(reached, 1.0, np.minimum(grade, 0.0))

    return replace(
        r,
        hit_grade=graded(r.hit_query, r.hit_grade),
        pool_grade=graded(r.pool_query, r.pool_grade),
        whole=None if r.whole is None else regraded(r.whole, rule),
    )


def _half_or_tenth(r: Rankings) -> Floats:
    """Return the greater of half of the best grade and the 90th percentile."""
    sizes = np.bincount(r.pool_query, minlength=len(r))
    least = np.full(len(r), np.inf)
    some = np.flatnonzero(sizes)
    best = starts_of(sizes)[some]
    tenth = best + sizes[some] - np.ceil(0.9 * sizes[some]).astype(np.int64)
    # Each query's grades come best first.
    least[some] = np.maximum(0.5 * r.pool_grade[best], r.pool_grade[tenth])
    return least


THRESHOLD = {"half or tenth": _half_or_tenth}
"""Functions that return each query's lowest relevant grade, by rules of `conventions`."""
