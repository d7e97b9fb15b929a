"""A gate whose rule goes by differences that trusted judgements correct."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import judged
from judged.errors import InputError
from judged.evaluation.trusted import WITHOUT
from support.cheap_judges import judged_twice
from support.errors import error_of

pytestmark = pytest.mark.filterwarnings("ignore:.*errors that rare")
DATA = judged_twice()
BETTER, WORSE = DATA.runs["two"], DATA.runs["one"]


def held(run: Any = WORSE, baseline: Any = BETTER, **options: Any) -> judged.results.Gate:
    given = {"measures": "nDCG@10", "trusted": DATA.people, **options}
    return judged.gate(DATA.cheap, run, baseline=baseline, **given)


def test_the_rule_goes_by_the_corrected_difference() -> None:
    found = held()
    (row,) = found.rows
    pair = judged.compare(
        DATA.cheap, {"two": BETTER, "one": WORSE}, "nDCG@10", trusted=DATA.people, level=0.9
    ).pair()
    assert row.test == "prediction-powered"
    assert row.difference == pytest.approx(pair.difference)
    assert (row.low, row.high) == pytest.approx((pair.interval.low, pair.interval.high))
    assert row.p == pytest.approx(pair.p / 2)
    assert row.trusted is not None
    assert row.trusted.trusted == pair.trusted.trusted  # type: ignore[union-attr]
    assert (found.passed, row.word) == (False, "regression")
    assert held(BETTER, WORSE).passed


@pytest.mark.parametrize("rule", ["loss", "safe", "point"])
def test_every_rule_allows_a_drop_that_is_large_enough(rule: str) -> None:
    assert held(rule=rule, max_drop=0.5).passed
    assert not held(rule=rule, max_drop=0.001).passed
    assert held(WORSE, WORSE, rule=rule, max_drop=0.1).rows[0].word == "identical"


def test_a_cheap_judge_who_is_taken_in_does_not_decide() -> None:
    """The cheap judge likes everything that the run puts first; people do not."""
    cheap = {str(at): {"a": 1, "b": int(at % 3 == 0)} for at in range(200)}
    people = {str(at): {"a": int(at % 8 == 0), "b": 1} for at in range(0, 200, 4)}
    new, old = ({str(at): items for at in range(200)} for items in (["a", "b"], ["b", "a"]))
    assert judged.gate(cheap, new, "P@1", baseline=old).passed
    found = judged.gate(cheap, new, "P@1", baseline=old, trusted=people)
    assert (found.passed, found.rows[0].word) == (False, "regression")


def test_a_value_that_must_be_reached_is_corrected_too() -> None:
    evaluated = judged.evaluate(DATA.cheap, WORSE, "nDCG@10", trusted=DATA.people).showing(
        level=0.9
    )
    value, low = evaluated.value(), evaluated.interval().low
    (reached,) = held(minimum=0.1).minima
    assert reached.value == pytest.approx(value)
    (safe,) = held(minimum=0.1, rule="safe", max_drop=0.1).minima
    assert safe.bound == pytest.approx(low)
    assert evaluated.correction().cheap != pytest.approx(value, abs=0.01)
    between = (value + evaluated.correction().cheap) / 2
    assert held(minimum=between, max_drop=0.9).passed == (value > between)


def test_it_is_in_everything_that_is_shown(tmp_path: Path) -> None:
    found = held()
    own = found.rows[0].trusted
    assert own is not None
    record = json.loads(found.to_json())
    assert record["trusted"] == {"source": "the trusted judgements", "queries": 30}
    assert record["measures"][0]["trusted"] == own.to_dict()
    row = found.to_frame().row(0, named=True)
    assert (row["trusted_difference"], row["weight"]) == (own.trusted.estimate, own.weight)
    assert "Change by trusted judgements" in found.to_text()
    assert f"nDCG@10: the change is {own.says()}." in found.sentences()
    assert "30 trusted ones" in found.rows[0].sees
    assert "trusted" in found.to_markdown()
    assert "trusted" in found.to_junit()
    assert "trusted_difference" not in held(trusted=None).to_frame().columns


def test_a_baseline_file_has_no_trusted_values(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    message = (
        f"{path}: a baseline file holds values by one set of judgements, so trusted "
        "needs a run as the baseline."
    )
    for _ in range(2):
        assert error_of(held, baseline=path) == (message)
        held(baseline=path, trusted=None, update=True)


GIVEN = {"golden": ["q001"], "groups": {"q001": 1}, "update": True, "slices": True}


@pytest.mark.parametrize("name", GIVEN)
def test_what_it_does_not_go_with(name: str) -> None:
    assert error_of(held, **{name: GIVEN[name]}) == (
        f"trusted does not go with {name}: {WITHOUT[name]}. Leave one of both out."
    )
    with pytest.raises(InputError, match="does not go with repeats"):
        held(run={"a": WORSE, "b": BETTER})


def test_what_only_cheap_judgements_tell_apart_is_not_shown_to_be_safe() -> None:
    alike = {query: dict.fromkeys(DATA.cheap[query], 1) for query in DATA.people}
    found = held(measures="P@5", trusted=alike, rule="safe", max_drop=0.05)
    assert not found.passed
    assert found.rows[0].says == (
        "P@5: unchanged at 1.000. It is not proven to be below the allowed 0.05: all "
        "differ by the same amount."
    )
    assert found.rows[0].sees == (
        "P@5: the drop that 80 queries with 30 trusted ones would detect is unknown: "
        "no trusted query differs."
    )


def test_few_trusted_queries_that_differ_are_counted_among_them() -> None:
    alike = {query: dict.fromkeys(DATA.cheap[query], 1) for query in DATA.people}
    run = {query: ["d1"] for query in DATA.cheap}
    people = {**alike, **{query: {"d1": 0, "d2": 1} for query in list(DATA.people)[:3]}}
    baseline = {query: ["d2"] for query in run}
    found = held(run, baseline, measures="P@1", trusted=people)
    assert found.rows[0].says.endswith(
        ". Only 3 of 30 trusted queries differ, too few for a significant drop."
    )
