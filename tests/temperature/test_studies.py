"""Learning at several temperatures: what is compared with what, and what bundled digits show."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import judged
from judged.cli.demo_data import load_digits
from judged.learning.temperature import Study
from judged.options import STUDIED_TEMPERATURES
from judged.statistics.intervals import mean_interval
from support import softmaxes
from support.errors import error_of
from support.learnable import study
from support.loops import for_each

pytestmark = pytest.mark.slow
DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE, RECORD = DOCS / "temperature.md", DOCS / "temperature-study.json"


def conclusions(found: Study) -> list[str]:
    """The sentences before those on what the numbers rest on, which are three, and the notes."""
    warned = len(found.warnings())
    return found.sentences()[warned : -3 - len(found.notes) + warned]


def vectors() -> tuple[Any, Any]:
    """Labels that four of eight dimensions tell, under the noise of the others."""
    random = np.random.default_rng(0)
    label = np.arange(100) % 4
    noise = 2 * random.normal(size=(100, 4))
    return np.hstack([np.eye(4)[label] + 0.4 * random.normal(size=(100, 4)), noise]), label


DATA, LABEL = vectors()
SAME, SAME_ROW = judged.relevance.same_label(LABEL, LABEL), judged.relevance.same_row()


def learned(
    *temperatures: float, queries: Any = DATA, by: Any = SAME, exclude: Any = None, **options: Any
) -> Study:
    return study(judged.Embeddings(queries, DATA, exclude=exclude), by, temperatures, **options)


@pytest.fixture(scope="module")
def small() -> Study:
    return learned(0.1, 5.0, exclude=SAME_ROW, seed=3)


def test_every_temperature_learns_from_the_same_queries(small: Study) -> None:
    seen = [row.learned.seen for row in small.trained if row.learned is not None]
    assert len(seen) == 2
    assert np.array_equal(seen[0].training, seen[1].training)
    assert np.array_equal(seen[0].validation, seen[1].validation)
    assert (small.training, small.validation, small.held_out) == (60, 20, 20)


def test_numbers_are_those_of_the_held_out_queries(small: Study) -> None:
    for row, own in zip(small.trained, small.values, strict=True):
        assert row.learned is not None
        held_out = row.learned.unseen(DATA)
        assert len(held_out) == 20
        # Four labels: held-out queries are ranked among held-out items.
        own_labels = LABEL[held_out]
        evaluation = judged.evaluate_embeddings(
            DATA[held_out],
            DATA[held_out],
            judged.relevance.same_label(own_labels, own_labels),
            similarity=row.learned,
            measures=["AP", "nDCG@10", "RR"],
            exclude=judged.relevance.same_row(),
        )
        for name in ("AP", "nDCG@10", "RR"):
            assert row.measures[name].estimate == pytest.approx(evaluation.value(name))
            assert own[name].mean() == pytest.approx(evaluation.value(name))
            assert row.measures[name].low < evaluation.value(name) < row.measures[name].high
        left, right = (
            row.learned.kind.left.forward(_unit(DATA[held_out]), row.learned.weights),
            row.learned.kind.right.forward(_unit(DATA[held_out]), row.learned.weights),
        )
        parts = (
            left @ right.T,
            own_labels[:, None] == own_labels,
            ~np.eye(20, dtype=bool),
        )
        expected = softmaxes.described(*parts, float(row.temperature or 0), "each", 10)
        for name in ("loss", "confidence", "entropy", "accuracy"):
            assert getattr(row, name) == pytest.approx(expected[name], rel=1e-4)
        positive = parts[1] & parts[2]
        apart = ((_unit(left)[:, None] - _unit(right)[None]) ** 2).sum(axis=2)
        assert row.alignment == pytest.approx(apart[positive].mean(), rel=1e-4)
        among = ((_unit(right)[:, None] - _unit(right)[None]) ** 2).sum(axis=2)[
            ~np.eye(20, dtype=bool)
        ]
        assert row.uniformity == pytest.approx(np.log(np.exp(-2 * among).mean()), rel=1e-4)


def _unit(values: Any) -> Any:
    return values / np.linalg.norm(values, axis=1, keepdims=True)


def test_differences_are_paired(small: Study) -> None:
    assert small.untrained is not None
    for row in small.trained:
        assert row.differences is not None
        for name, difference in row.differences.items():
            assert difference.estimate == pytest.approx(
                row.measures[name].estimate - small.untrained.measures[name].estimate
            )


def test_the_untrained_row_has_nothing_that_needs_a_temperature(small: Study) -> None:
    row = small.untrained
    assert row is not None
    absent = ("temperature", "loss", "confidence", "entropy", "iterations", "differences")
    assert [getattr(row, name) for name in absent] == [None] * 6
    assert small.rows == (row, *small.trained)


def test_different_dimensions_have_no_untrained_row() -> None:
    found = learned(0.1, queries=DATA[:, :6], iterations=3)
    assert found.untrained is None
    assert found.trained[0].differences is None
    assert (
        "Queries and items have different dimensions: the start is random, drawn by the seed."
        in found.notes
    )
    chart = judged.charts.temperature_study(json.loads(json.dumps(found.to_dict())))
    assert chart.data.filter(panel="AP")["differs"].to_list() == [None]


def test_what_a_study_says(small: Study) -> None:
    cool, warm = small.trained
    best = max(small.trained, key=lambda row: row.measures["AP"].estimate)
    said = conclusions(small)
    assert said[0].startswith(
        f"AP is highest at temperature {best.temperature:g}: {best.measures['AP'].estimate:.4f} ["
    )
    assert said[2] == (
        f"From temperature 0.1 to 5 the entropy of probabilities goes from {cool.entropy:.4f} to "
        f"{warm.entropy:.4f}, rising at "
        f"every step, the confidence in the top item from {cool.confidence:.4f} to "
        f"{warm.confidence:.4f}."
    )
    heads, untrained, *rows = small.to_text().split("\n\n")[1].splitlines()
    assert heads.split()[:3] == ["temperature", "training", "loss"]
    assert untrained.split()[:3] == ["untrained", "-", "-"]
    assert [row.split()[0] for row in rows] == ["0.1", "5"]


def test_json_and_frame(small: Study) -> None:
    record = json.loads(json.dumps(small.to_dict(), allow_nan=False))
    assert record["what"] == "temperature study"
    assert [row["temperature"] for row in record["rows"]] == [None, 0.1, 5.0]
    assert record["rows"][1]["history"][0]["iteration"] == 0
    assert record["queries"] == {"training": 60, "validation": 20, "held_out": 20}
    frame = small.to_frame()
    assert frame["AP"].to_list() == [row.measures["AP"].estimate for row in small.rows]
    assert frame["temperature"].to_list() == [None, 0.1, 5.0]


def test_the_same_seed_finds_the_same_and_progress_counts_all_iterations(small: Study) -> None:
    told: list[int] = []
    again = learned(0.1, 5.0, exclude=SAME_ROW, seed=3, iterations=200, progress=told.append)
    assert again.to_frame().equals(small.to_frame())
    assert sum(told) == 400


QUICK: dict[str, Any] = {"iterations": 3}


def test_one_held_out_query_tells_nothing_apart() -> None:
    by = judged.relevance.same_label(LABEL[:3], LABEL)
    found = learned(0.1, 5.0, queries=DATA[:3], by=by, seed=5, iterations=10)
    assert found.held_out == 1
    assert found.sentences()[1] == "One held-out query cannot tell temperatures apart."
    assert "nan" not in repr(found)
    judged.charts.temperature_study(json.loads(json.dumps(found.to_dict(), allow_nan=False)))


def test_temperatures_that_are_all_alike() -> None:
    """So strong a pull keeps every training at its start."""
    found = learned(0.1, 1.0, exclude=SAME_ROW, decay=1e12, **QUICK)
    said, value = found.sentences(), found.trained[0].measures["AP"]
    assert said[0] == (
        f"AP at all temperatures alike: {value.estimate:.4f} [{value.low:.4f}, {value.high:.4f}], "
        "+0.0000 to the untrained similarity."
    )


def test_the_best_of_a_measure_that_is_better_the_lower_it_is() -> None:
    found = learned(0.1, 5.0, exclude=SAME_ROW, measures="Rank", seed=4)
    least = min(found.trained, key=lambda row: row.measures["Rank"].estimate)
    assert found.sentences()[0].startswith(f"Rank is lowest at temperature {least.temperature:g}: ")


def test_losses_over_different_candidates_are_not_compared() -> None:
    found = learned(0.1, 5.0, both=True, **QUICK)
    assert not any("loss" in sentence for sentence in conclusions(found))
    assert found.notes[-1] == (
        "Losses of training and of held-out queries go over different numbers of candidates, and "
        "are not to be compared."
    )


def test_a_measure_that_embeddings_do_not_have_is_refused_before_training() -> None:
    told: list[int] = []
    with pytest.raises(judged.JudgedError, match=r"^Bpref tells irrelevant items from unjudged"):
        learned(0.1, measures=["AP", "Bpref"], progress=told.append)
    assert told == []


@for_each(
    ("given", "message"),
    [
        ({"rel": "a"}, "rel must be a finite number; got 'a'."),
        ({"iterations": "a"}, "iterations must be a whole number from 1; got 'a'."),
        ({"held_out": 0}, "train needs held-out queries; held_out must be above 0."),
        (
            {"kind": "two-towers-linear"},
            "Unknown kind of learned similarity: 'two-towers-linear'; did you mean "
            "'two-tower-linear'?",
        ),
    ],
)
def test_bad_input(given: dict[str, Any], message: str) -> None:
    assert error_of(learned, 0.1, **given).startswith(message)


@pytest.fixture(scope="module")
def digits() -> Study:
    loaded = load_digits()
    labels = loaded.labels[loaded.queries], loaded.labels[loaded.collection]
    embeddings = judged.Embeddings(loaded.images[loaded.queries], loaded.images[loaded.collection])
    # So small products cost several times as much where threads of a BLAS wait for each other.
    with threadpool_limits(1, user_api="blas"):
        return study(embeddings, judged.relevance.same_label(*labels))


@pytest.mark.full
def test_what_the_digits_show(digits: Study) -> None:
    """The conclusions of docs/temperature.md, each as a comparison of numbers."""
    rows = {row.temperature: row for row in digits.trained}
    assert list(rows) == list(STUDIED_TEMPERATURES)
    best = max(digits.trained, key=lambda row: row.measures["AP"].estimate)
    place = digits.trained.index(best)
    # Learning helps, most of all at low and middle temperatures.
    assert best.temperature is not None
    assert best.temperature <= 1
    assert all(rows[each].differences["AP"].low > 0 for each in (0.01, 0.03, 0.1, 0.3, 1.0))  # type: ignore[index]
    # At high ones it tells relevant items from others less well.
    for warm in (3.0, 10.0):
        apart = digits.values[place]["AP"] - digits.values[list(rows).index(warm)]["AP"]
        assert mean_interval(apart).low > 0
    # Probabilities get flatter and confidence falls.
    warming = [rows[each] for each in (0.1, 0.3, 1.0, 3.0, 10.0)]
    assert all((cool.entropy or 0) < (warm.entropy or 0) for cool, warm in pairwise(warming))
    assert all((cool.confidence or 0) > (warm.confidence or 0) for cool, warm in pairwise(warming))
    # Low temperatures take longer.
    assert (rows[0.01].best_iteration or 0) > (rows[10.0].best_iteration or 0)
    # At the lowest, relevant pairs are closest and items least spread out.
    assert min(digits.trained, key=lambda row: row.alignment).temperature == 0.01
    assert max(digits.trained, key=lambda row: row.uniformity).temperature == 0.01
    assert conclusions(digits)[-1] == "Nowhere more confident than right."
    # What gains on the whole list gains nothing that 60 queries show at its top.
    assert all(row.differences["RR"].low < 0 < row.differences["RR"].high for row in digits.trained)  # type: ignore[index]


@pytest.mark.full
def test_the_record_of_the_guide(digits: Study) -> None:
    """What the guide's picture and table are made from. Machines round differently, so training
    ends a little elsewhere."""
    record, found = json.loads(RECORD.read_text(encoding="utf-8")), digits.to_dict()
    assert {name: record[name] for name in ("what", "kind", "queries", "measures", "notes")} == {
        name: found[name] for name in ("what", "kind", "queries", "measures", "notes")
    }
    assert record["sentences"][-3:] == found["sentences"][-3:]
    near = {
        "loss": 0.1,
        "confidence": 0.01,
        "entropy": 0.2,
        "alignment": 0.2,
        "uniformity": 0.4,
        "accuracy": 0.05,
    }
    for kept, new in zip(record["rows"], found["rows"], strict=True):
        assert set(kept) == set(new)
        assert kept["temperature"] == new["temperature"]
        for name, within in near.items():
            assert kept[name] == (
                None if new[name] is None else pytest.approx(new[name], abs=within)
            )
        for name, interval in new["measures"].items():
            assert kept["measures"][name] == pytest.approx(interval, abs=0.03)


def test_the_table_of_the_guide() -> None:
    shown = re.findall(
        r"^\| (untrained|[\d.]+) \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    rows = json.loads(RECORD.read_text(encoding="utf-8"))["rows"]
    places = {"loss": 2, "confidence": 3, "entropy": 2, "alignment": 2, "uniformity": 2}
    expected = [
        (
            "untrained" if row["temperature"] is None else f"{row['temperature']:g}",
            " | ".join(
                [
                    *(
                        "-" if row[name] is None else f"{row[name]:.{digits}f}"
                        for name, digits in places.items()
                    ),
                    *(
                        f"{row['measures'][name]['estimate']:.3f}"
                        for name in ("AP", "nDCG@10", "RR")
                    ),
                ]
            ),
        )
        for row in rows
    ]
    assert shown == expected
