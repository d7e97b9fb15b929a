"""Random ragged rankings for hypothesis, and the parameters that each declared measure may take."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from hypothesis import strategies as st

from judged import Rankings
from judged.measures import REGISTRY, Measure, Spec, bind
from judged.measures.registry import Choice, Cutoff, Gains, NumberParam, Param, Points

PLAIN = {name: spec for name, spec in REGISTRY.items() if spec.family != "diversity"}
"""Measures that need no subtopics."""

GRADES = (0, 0, 1, 1, 1, 2, 3, 4, -1, -2, 0.5, 1.5, 2.25)
"""Grade 0, whole, negative and fractional ones; 4 is the highest (ERR's default max_grade)."""


@dataclass(frozen=True)
class Query:
    """One query as plain Python: grades in rank order (None: nobody judged the item), and grades
    that were not retrieved."""

    shown: tuple[float | None, ...]
    lost: tuple[float, ...] = ()
    elsewhere: int = 0
    """How many more items the collection holds, neither retrieved nor judged."""

    @property
    def pool(self) -> list[float]:
        return [grade for grade in self.shown if grade is not None] + list(self.lost)

    @property
    def collection(self) -> int:
        return len(self.shown) + len(self.lost) + self.elsewhere


def rankings_of(queries: list[Query]) -> Rankings:
    return Rankings.from_relevance(
        [query.shown for query in queries],
        pool=[query.pool for query in queries],
        collection=[query.collection for query in queries],
    )


def queries(grades: tuple[float, ...] = GRADES, longest: int = 9) -> st.SearchStrategy[Query]:
    unjudged = (None,) * len(grades)  # half of the results
    return st.builds(
        Query,
        shown=st.lists(st.sampled_from((*unjudged, *grades)), max_size=longest).map(tuple),
        lost=st.lists(st.sampled_from(grades), max_size=4).map(tuple),
        elsewhere=st.integers(0, 4),
    )


def batches(**options: Any) -> st.SearchStrategy[list[Query]]:
    return st.lists(queries(**options), min_size=1, max_size=4)


_RECALL = (0, 0.1, 0.2, 0.25, 0.28, 0.3, 0.333, 0.5, 0.6, 0.7, 0.75, 0.9, 0.999, 1)

_NUMBERS: dict[str, tuple[float, ...]] = {
    "rel": (1, 1, 2, 0.5, 3, 1.5, 0, -1, 5),
    "max_grade": (4, 5, 6.5),
    "beta": (1, 2, 0.5, 0.1, 3.75),
    "log": (2, 10, 1.5, 2.718281828459045),
    "p": (0.8, 0.5, 0.01, 0.95, 0.99),
    "recall": _RECALL,
    "precision": _RECALL,
    "mult": (1, 0.2, 0.5, 1.5, 2, 0.28),
    "T": (1, 2, 0.5, 3.75, 0.75, 40),
    "min_rel": (0, 0, 1, -1, 0.5),
    "max_rel": (4, 5, 6.5),
    "alpha": (0.5, 0, 0.25, 0.75, 1),
    **dict.fromkeys("abcd", (0, 1, -1, 2.5)),
}


def _fits(param: Param, value: Any) -> bool:
    try:
        param.check(value)
    except ValueError:
        return False
    return True


def values_of(param: Param) -> list[Any]:
    """Values that a declared parameter allows."""
    if isinstance(param, Cutoff):
        return [None, "R", *range(1, 16)]
    if isinstance(param, Choice):
        return list(param.options)
    if isinstance(param, Gains):
        return [
            None,
            {1: 3, 2: 9},
            {0: 1},
            {-1: 2.5, 1: 0},
            {0.5: 9, 3: 0},
            {4: 1, 2.25: 2.5},
            dict.fromkeys(GRADES, 0),
        ]
    if isinstance(param, Points):
        return [*range(2, 13), [0.5], [1, 0], [0.25, 0.5, 0.75], list(_RECALL)]
    assert isinstance(param, NumberParam)
    return [value for value in _NUMBERS[param.name] if _fits(param, value)]


def mended(measure: Measure) -> Measure:
    """AP(norm=cutoff), nDCG(ideal=cutoff) and some user models need a k; nothing else depends on
    another parameter."""
    needs_cutoff = "cutoff" in (
        measure.params.get("norm"),
        measure.params.get("ideal"),
    ) or measure.spec.name in (
        "BPM",
        "SDCG",
        "NERR8",
        "NERR9",
    )
    return measure(k=7) if needs_cutoff and measure.params["k"] is None else measure


def settings_of(spec: Spec) -> st.SearchStrategy[Measure]:
    """A declared measure with each of its parameters set to anything."""
    values = {param.name: st.sampled_from(values_of(param)) for param in spec.params}
    return st.fixed_dictionaries(values).map(partial(bind, spec)).map(mended)


def any_measure(*, diversity: bool = True) -> st.SearchStrategy[Measure]:
    """Any declared measure; without those of diversity for judgements that have no subtopics."""
    return st.sampled_from(list((REGISTRY if diversity else PLAIN).values())).flatmap(settings_of)


def random_measure(spec: Spec, draw: Random) -> Measure:
    """The same without hypothesis: less cunning, but cheap, so that many more combinations are
    tried."""
    return mended(bind(spec, {param.name: draw.choice(values_of(param)) for param in spec.params}))


def random_queries(draw: Random, count: int, grades: tuple[float, ...] = GRADES) -> list[Query]:
    return [
        Query(
            shown=tuple(draw.choice([None, *grades]) for _ in range(draw.randint(0, 14))),
            lost=tuple(draw.choice(grades) for _ in range(draw.choice([0, 0, 1, 3, 8]))),
            elsewhere=draw.randint(0, 3),
        )
        for _ in range(count)
    ]
