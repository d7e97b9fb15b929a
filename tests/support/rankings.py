"""Random ragged rankings for hypothesis, and the parameters that each declared measure may take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from judged import Measure, Rankings
from judged.measures import REGISTRY, Spec
from judged.measures.params import Choice, Cutoff, Gains, Number, Param, Points

PLAIN = {name: spec for name, spec in REGISTRY.items() if spec.family != "diversity"}
"""Measures that need no subtopics."""

GRADES = (0, 0, 1, 1, 1, 2, 3, 4, -1, -2, 0.5, 1.5, 2.25)
"""Grade 0, whole, negative and fractional ones; 4 is the highest (ERR's default max_grade)."""


@dataclass(frozen=True)
class Query:
    """One query as plain Python: grades in rank order (None: nobody judged the item), and grades that were not retrieved."""

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


def queries(grades: tuple[float, ...] = GRADES, longest: int = 12) -> st.SearchStrategy[Query]:
    grade = st.sampled_from(grades)
    return st.builds(
        Query,
        shown=st.lists(st.one_of(st.none(), grade), max_size=longest).map(tuple),
        lost=st.lists(grade, max_size=5).map(tuple),
        elsewhere=st.integers(0, 4),
    )


def batches(**options: Any) -> st.SearchStrategy[list[Query]]:
    return st.lists(queries(**options), min_size=1, max_size=6)


RECALL = st.one_of(
    st.sampled_from([0, 0.1, 0.2, 0.25, 0.3, 0.5, 0.6, 0.7, 0.75, 0.9, 1]), st.integers(0, 1000).map(lambda n: n / 1000)
)

_NUMBERS: dict[str, st.SearchStrategy[float]] = {
    "rel": st.sampled_from([1, 1, 2, 0.5, 3, 1.5, 0, -1, 5]),
    "max_grade": st.sampled_from([4, 5, 6.5]),
    "beta": st.sampled_from([1, 2, 0.5, 0.1, 3.75]),
    "log": st.sampled_from([2, 10, 1.5, 2.718281828459045]),
    "p": st.integers(1, 99).map(lambda n: n / 100),
    "recall": RECALL,
    "precision": RECALL,
    "mult": st.sampled_from([1, 0.2, 0.5, 1.5, 2, 0.28]),
    "T": st.sampled_from([1, 2, 0.5, 3.75, 0.75, 40]),
    "min_rel": st.sampled_from([0, 0, 1, -1, 0.5]),
    "max_rel": st.sampled_from([4, 5, 6.5]),
    "alpha": st.sampled_from([0.5, 0, 0.25, 0.75, 1]),
    **{name: st.sampled_from([0, 1, -1, 2.5]) for name in "abcd"},
}


def _fits(param: Param, value: Any) -> bool:
    try:
        param.check(value)
    except ValueError:
        return False
    return True


def values_of(param: Param) -> st.SearchStrategy[Any]:
    """Values that a declared parameter allows."""
    if isinstance(param, Cutoff):
        return st.one_of(st.none(), st.just("R"), st.integers(1, 15))
    if isinstance(param, Choice):
        return st.sampled_from(list(param.options))
    if isinstance(param, Gains):
        return st.one_of(st.none(), st.dictionaries(st.sampled_from(GRADES), st.sampled_from([0, 1, 2.5, 9]), min_size=1))
    if isinstance(param, Points):
        return st.one_of(st.integers(2, 12), st.lists(RECALL, min_size=1, max_size=5))
    assert isinstance(param, Number)
    return _NUMBERS[param.name].filter(lambda value: _fits(param, value))


def allowed(measure: Measure) -> bool:
    """AP(norm=cutoff) and some user models need a k; nothing else depends on another parameter."""
    needs_cutoff = measure.params.get("norm") == "cutoff" or measure.spec.name in ("BPM", "SDCG", "NERR8", "NERR9")
    return not needs_cutoff or measure.params["k"] is not None


@st.composite
def settings_of(draw: st.DrawFn, spec: Spec) -> Measure:
    """A declared measure with any of its parameters set to anything."""
    measure = spec.bind({param.name: draw(values_of(param)) for param in spec.params})
    if not allowed(measure):
        measure = measure(k=draw(st.integers(1, 15)))
    return measure


def any_measure(*, diversity: bool = True) -> st.SearchStrategy[Measure]:
    """Any declared measure; without those of diversity for judgements that have no subtopics."""
    return st.sampled_from(list((REGISTRY if diversity else PLAIN).values())).flatmap(settings_of)
