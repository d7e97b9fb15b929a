"""More than two judges: alpha of all, every pair, and gaps."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest

import judged
from judged.errors import InputError


def three(seed: int = 0) -> dict[str, dict[str, dict[str, float]]]:
    """Three judges, each of whom left out a quarter of the items."""
    generator = np.random.default_rng(seed)
    true = generator.integers(0, 4, (12, 10))
    found: dict[str, dict[str, dict[str, float]]] = {}
    for judge in ("ann", "bob", "carl"):
        own = np.where(
            generator.random(true.shape) < 0.3, generator.integers(0, 4, true.shape), true
        )
        there = generator.random(true.shape) < 0.75
        found[judge] = {
            f"q{query}": {
                f"d{item}": float(own[query, item]) for item in range(10) if there[query, item]
            }
            for query in range(12)
        }
    return found


@pytest.mark.parametrize("metric", ["nominal", "ordinal", "interval"])
def test_alpha_of_all_is_that_of_krippendorff(metric: str) -> None:
    judges = three()
    found = judged.agreement(judges, resamples=999)
    table = [
        [
            own.get(f"q{query}", {}).get(f"d{item}", np.nan)
            for query in range(12)
            for item in range(10)
        ]
        for own in judges.values()
    ]
    wanted = krippendorff.alpha(reliability_data=np.array(table), level_of_measurement=metric)
    each = found.alphas[metric]
    assert each.estimate == pytest.approx(wanted)
    assert each.low < each.estimate < each.high


def test_every_pair_is_as_if_it_were_alone() -> None:
    judges = three()
    found = judged.agreement(judges, resamples=999)
    assert [(pair.first, pair.second) for pair in found.pairs] == [
        ("ann", "bob"),
        ("ann", "carl"),
        ("bob", "carl"),
    ]
    alone = judged.agreement({name: judges[name] for name in ("ann", "carl")}, resamples=999)
    assert found.pair("carl", "ann").to_dict() == alone.pair().to_dict()


def test_what_is_said_of_several() -> None:
    found = judged.agreement(three(), resamples=999)
    alpha = found.alphas["nominal"]
    items = int((found.grades.times > 1).sum())
    assert found.sentences()[0].startswith(
        f"3 assessors, {items} items judged by two or more: Krippendorff's alpha is nominal "
        f"{alpha.estimate:.3f} ({alpha.low:.3f} to {alpha.high:.3f}), ordinal "
    )
    assert found.tables()[1].header == [
        *("assessors", "items", "agreement", "kappa", "linear", "quadratic", "stricter")
    ]
    frame = found.to_frame()
    assert frame.filter(frame["first"].is_null())["number"].to_list() == [
        *("alpha_nominal", "alpha_ordinal", "alpha_interval")
    ]


def test_numbers_of_two_ask_which_two() -> None:
    found = judged.agreement(three(), resamples=999)
    for ask in (lambda: found.kappa, lambda: found.pair("ann"), lambda: found.pair("bob", "bob")):
        with pytest.raises(InputError) as caught:
            ask()
        assert str(caught.value) == ("name two assessors: ann and bob, ann and carl, bob and carl.")
    with pytest.raises(InputError) as caught:
        found.pair("dora")
    assert str(caught.value) == "there is no assessor 'dora'; the assessors are ann, bob and carl."


def test_two_of_three_who_share_nothing() -> None:
    judges = {
        "ann": {"q": {"a": 1, "b": 0}, "r": {"a": 1}},
        "bob": {"q": {"a": 1}},
        "carl": {"q": {"b": 1}, "r": {"a": 1}},
    }
    found = judged.agreement(judges)
    pair = found.pair("bob", "carl")
    assert (pair.items, pair.queries, pair.kappa.note) == (0, 0, "no item was judged by both")
    assert found.warnings()[0] == "No item was judged by both: bob and carl."
    assert found.to_json()


def test_sets_of_relevant_items_by_judge() -> None:
    found = judged.agreement({"ann": {"q": {"a", "b"}}, "bob": {"q": {"b"}}})
    assert found.assessors == ("ann", "bob")
    assert found.pair().items == 1
