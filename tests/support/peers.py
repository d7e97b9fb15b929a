"""Names of conventions beside their libraries: data, every name, comparison of values."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest

from judged import evaluate
from judged.conventions import Name, find
from judged.evaluation.evaluation import Evaluation
from support.generated import Collection, generate
from support.loops import for_each
from support.parts import missing_part

Grades = dict[str, int]

COLLECTIONS: dict[str, Collection] = {
    "ties and gaps": generate(101),
    "gaps": generate(102, ties=False),
    "complete": generate(103, ties=False, gaps=False, grades=(0, 0, 1, 2, 3)),
    "nothing relevant": generate(104, ties=False, grades=(*[0] * 12, 1), items=20, longest=20),
    "short lists": generate(105, ties=False, longest=4, items=30),
    "binary": generate(106, ties=False, grades=(0, 1), items=30, longest=30),
}
TIED = COLLECTIONS["ties and gaps"]
WITHOUT_TIES = {name: given for name, given in COLLECTIONS.items() if given is not TIED}


def regraded(given: Collection, change: Callable[[Grades], Grades]) -> Collection:
    """Return the same with other grades of each query; queries that are left with none go."""
    changed = {query: change(grades) for query, grades in given.judgements.items()}
    return Collection({query: grades for query, grades in changed.items() if grades}, given.rows)


def only_relevant(given: Collection) -> Collection:
    """For libraries that take whatever is listed as relevant."""
    return regraded(given, lambda grades: {each: g for each, g in grades.items() if g > 0})


def with_relevant(given: Collection) -> Collection:
    return regraded(given, lambda grades: grades if max(grades.values()) > 0 else {})


def without_negative(given: Collection) -> Collection:
    return regraded(given, lambda grades: {each: max(g, 0) for each, g in grades.items()})


def in_order(given: Collection) -> Collection:
    """Return the rows by descending score, as a run file has them; tied ones stay as they are."""
    return Collection(given.judgements, sorted(given.rows, key=lambda row: (row[0], -row[2])))


def judged_only(given: Collection) -> Collection:
    """The same without the queries of the run that nobody judged."""
    return Collection(given.judgements, [row for row in given.rows if row[0] in given.judgements])


def ranked(given: Collection, query: str) -> list[str]:
    """A query's items in rank order; for data without ties."""
    scores = given.run.get(query, {})
    return sorted(scores, key=lambda item: -scores[item])


PLACES: dict[str, tuple[float, ...]] = {
    "k": (1, 3, 10, 50),
    "rel": (2,),
    "p": (0.5, 0.95),
    "b": (0.5, 2),
    "m": (4, 5),
    "T": (0.5, 2.25),
    "x": (0.25, 0.3, 1.0),
}
"""What is tried at each place of a name."""


@dataclass(frozen=True)
class Case:
    """One of a library's names with its places filled, and the call of the library that computes
    it."""

    name: Name
    theirs: str
    places: Mapping[str, float]

    def __str__(self) -> str:
        return self.theirs

    def call(self) -> tuple[str, dict[str, Any]]:
        """Return the function and the arguments of a name such as `recall_at_k(k=3)`; `@k` after
        it is a place."""
        tree = ast.parse(self.theirs.partition("@")[0], mode="eval").body
        if not isinstance(tree, ast.Call):
            return ast.unparse(tree), {}
        return ast.unparse(tree.func), {
            str(each.arg): ast.literal_eval(each.value) for each in tree.keywords
        }

    @property
    def k(self) -> int | None:
        return int(self.places["k"]) if "k" in self.places else None


def cases(
    convention: str,
    calls: Iterable[str] | None = None,
    *,
    places: Mapping[str, Iterable[float]] | None = None,
) -> list[Case]:
    """Every name of a convention that has an expression, filled with the numbers to try.

    `calls` are the names that have a call of the real library, which must be all of them.
    """
    names = {name.theirs for name in find(convention).names if name.ours}
    assert calls is None or set(calls) == names
    tried = {**PLACES, **(places or {})}
    return [
        Case(name, name.filled(filled)[0], filled)
        for name in find(convention).names
        if name.ours
        for values in product(*(tried[place] for place in name.places))
        for filled in [dict(zip(name.places, values, strict=True))]
    ]


def every_name(
    convention: str,
    data: Mapping[str, Collection],
    *,
    only: Callable[[Case], bool] = lambda case: True,
    parts: Iterable[str] = (),
    at_first: int | None = None,
    **options: Any,
) -> Callable[[Callable[..., None]], Any]:
    """Run a test of a case and a collection for every name of a convention on all data.

    It skips without the `parts` of the library. After `at_first` collections, it is `full`.
    """

    def decorate(test: Callable[..., None]) -> Any:
        @functools.wraps(test)
        def check(case: Case, given: Collection, **fixtures: Any) -> None:
            for part in parts:
                missing_part(part)
            test(case, given, **fixtures)

        chosen = [case for case in cases(convention, **options) if only(case)]
        params = [
            pytest.param(
                given,
                id=name,
                marks=pytest.mark.full if at_first is not None and place >= at_first else (),
            )
            for place, (name, given) in enumerate(data.items())
        ]
        return pytest.mark.parametrize("given", params)(for_each("case", chosen, ids=str)(check))

    return decorate


def ours(convention: str, given: Collection, measure: str, **options: Any) -> Evaluation:
    """Our evaluation by that convention."""
    return evaluate(given.judgements, given.run, measure, convention=convention, **options)


def by_query(evaluation: Evaluation) -> dict[str, float]:
    """The values of an evaluation of one measure."""
    scored = evaluation.scored()
    (values,) = scored.values.values()
    return dict(zip(scored.rankings.queries, values.tolist(), strict=True))


def compare(
    convention: str,
    case: Case,
    given: Collection,
    theirs: Any,
    *,
    tolerance: float | None = None,
    **options: Any,
) -> None:
    """Compare values query by query where theirs is a dict, otherwise the one number for all."""
    evaluation = ours(convention, given, case.theirs, **options)
    allowed = find(convention).tolerance if tolerance is None else tolerance
    if not isinstance(theirs, Mapping):
        assert evaluation.value() == pytest.approx(float(theirs), abs=allowed, rel=0)
        return
    counted = {query: value for query, value in by_query(evaluation).items() if value == value}
    assert counted
    assert counted == pytest.approx(dict(theirs), abs=allowed, rel=0)


def closed(given: Collection, *, between_0_and_1: bool = False) -> Collection:
    """Only what was retrieved exists: judgements of exactly the items in each list."""
    judgements = {
        query: {item: given.judgements.get(query, {}).get(item, 0) for item in scores}
        for query, scores in given.run.items()
    }
    # Scores are multiples of 1/64 between -157 and 157: in single precision, 512 times smaller,
    # they are still exact.
    scale, lift = (1 / 512, 0.5) if between_0_and_1 else (1, 0)
    return Collection(
        judgements, [(query, item, score * scale + lift) for query, item, score in given.rows]
    )
