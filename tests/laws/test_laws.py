"""What each measure's declaration promises, on random rankings; every promised law is a test and
the other way round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from judged import Rankings
from judged.measures import REGISTRY, Measure, bind, parse_measure
from support.loops import for_each
from support.rankings import (
    PLAIN,
    Query,
    queries,
    random_measure,
    random_queries,
    rankings_of,
    settings_of,
)

ROUNDING = 1e-12


def value(measure: Measure, query: Query) -> float:
    return float(measure.compute(rankings_of([query]))[0])


def is_no_worse(measure: Measure, new: Query, old: Query) -> bool:
    after, before = value(measure, new), value(measure, old)
    if np.isnan(before) or np.isnan(after):
        return bool(np.isnan(before) and np.isnan(after))
    return (
        after >= before - ROUNDING if measure.spec.higher_is_better else after <= before + ROUNDING
    )


# -- the laws: each takes a measure and a draw, and asserts


def swap_up_never_hurts(measure: Measure, query: Query, data: st.DataObject) -> None:
    """An item of a better grade that changes places with one above it never makes things worse;
    unjudged is the worst."""
    if len(query.shown) < 2:
        return
    places = st.integers(0, len(query.shown) - 1)
    upper, lower = sorted((data.draw(places), data.draw(places)))
    shown = list(query.shown)
    shown[upper], shown[lower] = sorted(
        (shown[upper], shown[lower]),
        key=lambda grade: -np.inf if grade is None else grade,
        reverse=True,
    )
    assert is_no_worse(measure, replace(query, shown=tuple(shown)), query)


def append_unjudged_is_neutral(measure: Measure, query: Query, data: st.DataObject) -> None:
    """Results that nobody judged, put at the end of the list, change nothing."""
    longer = replace(query, shown=query.shown + (None,) * data.draw(st.integers(1, 5)))
    np.testing.assert_equal(value(measure, longer), value(measure, query))


def below_k_is_ignored(measure: Measure, query: Query, data: st.DataObject) -> None:
    """What stands below the cutoff may come in any order, be dropped, or be more."""
    k = measure.params["k"]
    assert isinstance(k, int)
    above, below = query.shown[:k], query.shown[k:]
    kept = data.draw(
        st.permutations(below).map(lambda items: items[: data.draw(st.integers(0, len(items)))])
    )
    dropped = list(below)
    for item in kept:
        dropped.remove(item)
    lost = query.lost + tuple(grade for grade in dropped if grade is not None)
    elsewhere = query.elsewhere + dropped.count(None)
    np.testing.assert_allclose(
        value(measure, Query((*above, *kept), lost, elsewhere)),
        value(measure, query),
        rtol=1e-14,
        atol=0,
        equal_nan=True,
    )


def perfect_is_best(measure: Measure, query: Query, data: st.DataObject) -> None:
    """Everything judged, best grades first, scores 1, and no list scores more."""
    perfect = replace(query, shown=tuple(sorted(query.pool, reverse=True)), lost=())
    best = value(measure, perfect)
    if not np.isnan(best):  # such as RankAUC, where nothing irrelevant was retrieved
        assert best == 1.0
        assert is_no_worse(measure, perfect, query)


LAWS: dict[str, Callable[[Measure, Query, st.DataObject], None]] = {
    law.__name__: law
    for law in (
        swap_up_never_hurts,
        append_unjudged_is_neutral,
        below_k_is_ignored,
        perfect_is_best,
    )
}

# -- where a variant gives a law up, with a case that shows it

Variant = tuple[Callable[[Measure], bool], dict[str, Any]]
"""Which variants of a measure are excepted, and the parameters that lead back to one that is not.
"""

NO_GAINS: Variant = (lambda m: m.params["gains"] is not None, {"gains": None})

EXCEPTIONS: dict[str, dict[str, Variant]] = {
    "swap_up_never_hurts": {
        "AP": (lambda m: m.params["norm"] == "retrieved", {"norm": "relevant"}),
        "DCG": NO_GAINS,
    },
    "append_unjudged_is_neutral": {
        "R": (lambda m: m.params["k"] is None and m.params["norm"] == "capped", {"k": 4}),
        "P": (
            lambda m: m.params["k"] is None or m.params["short"] == "shrink",
            {"k": 4, "short": "pad"},
        ),
        "F": (
            lambda m: m.params["k"] is None or m.params["short"] == "shrink",
            {"k": 4, "short": "pad"},
        ),
        "nDCG": (lambda m: m.params["ideal"] == "shown", {"ideal": "judged"}),
    },
    "perfect_is_best": {
        **dict.fromkeys(("nDCGRel", "Q"), NO_GAINS),
        "nDCG": (
            lambda m: m.params["gains"] is not None or m.params["ideal"] == "cutoff",
            {"gains": None, "ideal": "judged"},
        ),
        "Compat": (lambda m: m.params["normalize"] == "false", {"normalize": "true"}),
        "Success": (
            lambda m: m.params["of"] == "all" and isinstance(m.params["k"], int),
            {"of": "any"},
        ),
    },
}


def is_excepted(law: str, measure: Measure) -> bool:
    name = measure.spec.name
    return name in EXCEPTIONS.get(law, {}) and EXCEPTIONS[law][name][0](measure)


@for_each(
    ("measure", "before", "after"),
    [
        # One more relevant item comes above the cutoff, and the divisor grows: (1/1) / 1 = 1, then
        # (1 + 2/3) / 2 = 5/6.
        ("AP(norm=retrieved)@3", (1, 0, 0, 1), (1, 0, 1, 0)),
        # The table of gains says that grade 1 is worth more than grade 2.
        ("DCG(gains={1:9})", (1, 2), (2, 1)),
        # A longer list without a cutoff has a lower precision.
        ("P", (1,), (1, None)),
        ("P(short=shrink)@5", (1,), (1, None)),
        ("F", (1,), (1, None)),
        # Two relevant items, one found: 1/1, then 1/2.
        ("R(norm=capped)", (1,), (1, None)),
        ("nDCG(gains={1:9})", (1, 2), (2, 1)),
        # Three items of the best grade would score 1; of the two that there are, both first is the
        # best order.
        ("nDCG(ideal=cutoff)@3", (1, 1), (0, 1)),
        # The ideal list grows with the list: 1/1, then 1/(1 + 1/log2(3)).
        ("nDCG(ideal=shown)@5", (1,), (1, None)),
        ("nDCGRel(gains={1:9})", (1, 2), (2, 1)),
        ("Q(gains={1:9})", (1, 2), (2, 1)),
        # Without normalisation even a perfect list scores less than 1, and the less the shorter it
        # is.
        ("Compat(normalize=false)", (1, 1), (1,)),
        # Two items are relevant, and only one place counts; the item of grade 1 is not.
        ("Success(of=all, rel=2)@1", (2,), (2, 2)),
    ],
)
def test_the_exceptions_are_real(
    measure: str, before: tuple[float, ...], after: tuple[float | None, ...]
) -> None:
    assert any(is_excepted(law, parse_measure(measure)) for law in EXCEPTIONS)
    assert value(parse_measure(measure), Query(after, lost=(1,))) < value(
        parse_measure(measure), Query(before, lost=(1,))
    )


# -- the tests

PROMISED = [(law, name) for name, spec in PLAIN.items() for law in sorted(spec.laws)]


def test_every_promised_law_is_a_test_and_every_test_is_promised() -> None:
    assert {law for law, _ in PROMISED} == set(LAWS)
    for law, by_name in EXCEPTIONS.items():
        assert set(by_name) <= {name for promised, name in PROMISED if promised == law}


COUNT_OR_LENGTH = {"P", "F", "Judged", "Accuracy", "Specificity", "FP", "TN", "NumRet"} | {
    "R", "RankAUC", "RnDCG", "Unjudged", "SetAP", "Utility", "FallOut"
}  # fmt: skip
"""What these divide by or count is the length of the list."""


@for_each("name", PLAIN)
@given(data=st.data(), query=queries())
def test_laws(name: str, data: st.DataObject, query: Query) -> None:
    drawn = data.draw(settings_of(REGISTRY[name]))
    for law in sorted(REGISTRY[name].laws):
        measure = drawn
        if law == "below_k_is_ignored":
            measure = measure @ data.draw(st.integers(1, 8))
        if is_excepted(law, measure):
            measure = measure(**EXCEPTIONS[law][name][1])
            assert not is_excepted(law, measure)
        LAWS[law](measure, query, data)
    # The one idea: what is at the end and unjudged is filler, for every measure but those that say
    # how much was shown, and those whose ideal list is as long as the list.
    if name not in COUNT_OR_LENGTH and drawn.params.get("ideal") != "shown":
        append_unjudged_is_neutral(drawn, query, data)


@for_each("name", PLAIN)
def test_all_queries_at_once_equal_one_at_a_time(name: str) -> None:
    """To the last digit, in any order and company, and again after a caller changed its copy."""
    draw = Random(name)
    batch = random_queries(draw, 15)
    together = rankings_of(batch)
    computed = []
    for _ in range(10):
        measure = random_measure(REGISTRY[name], draw)
        values = measure.compute(together)
        assert values.dtype == np.float64
        alone = [measure.compute(together.take([place]))[0] for place in range(len(batch))]
        np.testing.assert_array_equal(alone, values, err_msg=str(measure))
        some = draw.sample(range(len(batch)), 9)
        part = measure.compute(together.take(some))
        np.testing.assert_array_equal(part, values[some], err_msg=str(measure))
        computed.append((measure, values.copy()))
        values += 1
    for measure, values in reversed(computed):
        np.testing.assert_array_equal(measure.compute(together), values)


@for_each("name", [name for name, spec in PLAIN.items() if not spec.tells_unjudged])
def test_only_measures_that_say_so_tell_irrelevant_items_from_unjudged_ones(name: str) -> None:
    """Rankings by embeddings know the relevant items only; all other measures may be computed from
    these."""
    spec, draw = PLAIN[name], Random(name)
    # Not with parameters by which grade 0 counts for something.
    usual = {
        param.name: param.default
        for param in spec.params
        if param.name in ("rel", "gains", "min_rel")
    }
    for _ in range(settings.default.max_examples):
        batch = random_queries(draw, 4, grades=(0, 0, 1, 2))
        measure = random_measure(spec, draw)(**usual)
        forgotten = []
        for query in batch:
            shown = tuple(grade or None for grade in query.shown)
            lost = tuple(filter(None, query.lost))
            # The collection is as large as before.
            forgotten.append(Query(shown, lost, query.collection - len(shown) - len(lost)))
        values, others = (measure.compute(rankings_of(each)) for each in (batch, forgotten))
        np.testing.assert_allclose(values, others, rtol=1e-12, atol=1e-12, err_msg=str(measure))


def test_measures_that_tell_irrelevant_items_from_unjudged_ones_do() -> None:
    known, unknown = (
        Rankings.from_relevance([[irrelevant, 1, irrelevant]], relevant=2)
        for irrelevant in (0, None)
    )
    for spec in REGISTRY.values():
        if spec.tells_unjudged:
            assert (
                bind(spec, {}).compute(known).tolist() != bind(spec, {}).compute(unknown).tolist()
            ), spec.name
