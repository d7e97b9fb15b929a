"""Every measure has steps, and their arithmetic comes to the measure's own value."""

from __future__ import annotations

from math import fsum, isclose, isnan
from random import Random

from judged import Rankings
from judged.errors import MeasureError
from judged.explanation.arithmetic import Number
from judged.explanation.listing import Listing, Steps
from judged.explanation.steps import STEPS, steps_of
from judged.measures import REGISTRY, Measure, parse_measure
from measures.diversity.twins import Listed
from measures.diversity.twins import rankings_of as rankings_by_subtopic
from support.loops import for_each
from support.rankings import random_measure, random_queries, rankings_of

TRIALS = 60


def test_every_measure_has_steps() -> None:
    assert set(STEPS) == set(REGISTRY)


def explained(measure: Measure, r: Rankings) -> Steps:
    return steps_of(Listing(r, measure, tuple(range(1, int(r.retrieved[0]) + 1))))


def same(mine: float, theirs: float) -> bool:
    return mine == theirs or isclose(mine, theirs, rel_tol=1e-12, abs_tol=1e-12)


def random_rankings(name: str, draw: Random) -> Rankings:
    if REGISTRY[name].family != "diversity":
        return rankings_of(random_queries(draw, 1))

    def item() -> dict[str, float]:
        return {
            name: draw.choice([0, 1, 1, 2, -1, 0.5])
            for name in draw.sample("abcdefg", draw.randint(1, 5))
        }

    shown = tuple(draw.choice([None, item(), item()]) for _ in range(draw.randint(0, 12)))
    return rankings_by_subtopic([Listed(shown, tuple(item() for _ in range(draw.randint(1, 5))))])


@for_each("name", REGISTRY)
def test_the_arithmetic_comes_to_the_value(name: str) -> None:
    draw = Random(name)
    defined = 0
    for _ in range(TRIALS):
        measure, r = random_measure(REGISTRY[name], draw), random_rankings(name, draw)
        try:
            value = float(measure.compute(r)[0])
        except MeasureError:
            continue
        if isnan(value):
            continue
        defined += 1
        steps = explained(measure, r)
        assert same(steps.value.value, value), (measure, r)
        if steps.adds is not None:
            assert same(fsum(each.value for each in steps.adds.values()), value), (measure, r)
            assert all(rank <= steps.end for rank in steps.adds)
        assert all(len(cells) == r.retrieved[0] for _, cells in steps.columns)
        assert steps.value.stages()[-1] == Number(steps.value.value).text()
        assert "None" not in steps.value.latex()
    assert defined > TRIALS / 4


@for_each("name", [name for name in REGISTRY if REGISTRY[name].at == "k"])
def test_ranks_below_the_cutoff_have_no_cells(name: str) -> None:
    example = REGISTRY[name].example
    r = example.rankings()
    steps = explained(parse_measure(example.measure)(k=1), r)
    assert steps.end == 1
    assert all(cell is None for _, cells in steps.columns for cell in cells[1:])
