"""What is said of the definitions that fit: who uses them, which come first, and what does not
matter."""

from __future__ import annotations

import re

import pytest

from judged import evaluate, identify
from judged.conventions.candidates import (
    OPTIONS,
    PrintedNumber,
    all_rankings,
    compute,
    measures_in,
    spaces,
)
from judged.conventions.identification import NumberMatch, chance, number_values
from judged.inputs import read_judgements, read_run
from judged.matching.matcher import match_variants
from judged.policy import Policy
from judged.results import Identification

# The ranking 0 1 0 0 1 0 1 0 1 0; A has those four relevant items, B has two more that were not
# retrieved.
RUN = {"q": [f"d{rank}" for rank in range(1, 11)]}
FOUND = {f"d{rank}": int(rank in (2, 5, 7, 9)) for rank in range(1, 11)}
A = {"q": FOUND}
B = {"q": {**FOUND, "lost": 1, "missed": 1}}


def libraries(match: NumberMatch) -> dict[str, set[str]]:
    """Who uses each definition of a match, by its measure."""
    return {
        str(definition.measure): {practice.library for practice in definition.libraries}
        for definition in (match.definition, *match.same)
    }


def best(value: str, judgements: dict[str, dict[str, int]], measure: str) -> dict[str, set[str]]:
    return libraries(identify(value, judgements, RUN, measure).matches[0])


CLASSIC = {
    *("trec_eval", "pytrec_eval", "ir_measures", "ranx", "trectools", "rectools"),
    *("beir", "mteb", "evidently", "judged"),
}
CAPPED = {"spark", "replay", "recommenders", "sentence-transformers", "gldv2"}


@pytest.mark.parametrize(
    ("value", "judgements", "measure", "expected"),
    [
        # Divided by N.
        (".125", A, "AP@3", {"AP@3": CLASSIC}),
        (".083", B, "AP@3", {"AP@3": CLASSIC}),
        (".150", B, "AP@5", {"AP@5": CLASSIC}),
        # Four relevant items fit into five results, so min(N, k) is N.
        (".225", A, "AP@5", {"AP@5": CLASSIC, "AP(norm=capped)@5": CAPPED}),
        # Divided by min(N, k); at 3 that is k.
        (".167", A, "AP@3", {"AP(norm=capped)@3": CAPPED, "AP(norm=cutoff)@3": {"rectools"}}),
        (".180", B, "AP@5", {"AP(norm=capped)@5": CAPPED, "AP(norm=cutoff)@5": {"rectools"}}),
        # Divided by the relevant items among the first k.
        (".500", B, "AP@3", {"AP(norm=retrieved)@3": {"torchmetrics"}}),
        (".450", A, "AP@5", {"AP(norm=retrieved)@5": {"torchmetrics"}}),
        (".4433", B, "AP@10", {"AP(norm=retrieved)@10": {"torchmetrics"}}),
        # Divided by k.
        (".180", A, "AP@5", {"AP(norm=cutoff)@5": {"rectools"}}),
        (".177", B, "AP@10", {"AP(norm=cutoff)@10": {"rectools"}}),
        # All the same where everything relevant was found.
        (
            ".4433",
            A,
            "AP@10",
            {
                "AP@10": CLASSIC,
                "AP(norm=capped)@10": CAPPED,
                "AP(norm=retrieved)@10": {"torchmetrics"},
            },
        ),
        (".2955", B, "AP@10", {"AP@10": CLASSIC, "AP(norm=capped)@10": CAPPED}),
        # AP at R, and the area by trapezoids.
        (".1250", A, "AP@R", {"AP@R": {"judged", "pytorch-metric-learning"}}),
        (".3414", A, "AP", {"AP(area=trapezoid)": {"revisitop"}}),
    ],
)
def test_the_table_of_average_precision(
    value: str, judgements: dict[str, dict[str, int]], measure: str, expected: dict[str, set[str]]
) -> None:
    found = best(value, judgements, measure)
    assert set(found) >= set(expected)
    for name, users in expected.items():
        assert found[name] >= users, name
    # What a definition is not used by must not be claimed.
    assert "torchmetrics" not in found.get("AP@5", set()) | found.get("AP(norm=capped)@5", set())


GRADED = {
    "q1": {"a": 2, "b": 1, "c": 0},
    "q2": {"d": 1, "e": 2},
    "q3": {"f": 1},
    "q4": {"g": 0},
    "q5": {"i": 0},
}
TIED = {
    "q1": {"a": 0.5, "b": 0.5, "c": 0.5, "x": 0.4},
    "q2": {"y": 0.9, "e": 0.8, "d": 0.7},
    "q4": {"g": 1.0, "h": 0.5},
    "q5": {"i": 1.0},
}


def identified(measure: str, **policy: str) -> Identification:
    """What is found for the number that a definition gives, printed with ten decimals."""
    value = evaluate(GRADED, TIED, measure, policy=policy).value()
    return identify(f"{value:.10f}", GRADED, TIED, re.sub(r"\(.*\)", "", measure))


def test_only_choices_that_matter_are_named() -> None:
    # At rel=2 q1 finds a last of the tie, at rank 3, and q2 finds e at 2; q3 is missing, q4 and q5
    # have nothing relevant.
    (match, *_) = identified("RR(rel=2)", missing="skip").matches
    assert match.definition.measure.params["rel"] == 2
    assert match.definition.unusual() == {"missing": ("skip",)}
    assert match.definition.holds["ties"] == ("id", "worst")


def test_ties_that_do_not_exist_do_not_matter() -> None:
    found = identify("0.5", {"q": {"a": 1}}, {"q": {"b": 0.9, "a": 0.5}}, "RR")
    assert found.idle == {
        "ties": "no judged results are tied",
        "missing": "no judged query is missing",
        "empty": "every query has relevant items",
    }
    assert found.matches[0].definition.holds["ties"] == OPTIONS["ties"]
    assert found.matches[0].definition.unusual() == {}


def test_a_convention_comes_before_a_mixture() -> None:
    """Of two definitions that fit, one that a library has as it is comes first, however many others
    there are."""
    found = identify("0.4", GRADED, TIED)
    ranked = [match.definition.distance + 2 * match.cut for match in found.matches]
    assert len(found.matches) > 5
    assert ranked == sorted(ranked)
    first, last = found.matches[0].definition, found.matches[-1].definition
    assert first.distance == 0
    assert first.departures == ()
    assert first.libraries
    assert last.distance > 2
    assert last.departures
    assert not last.libraries


def test_a_mixture_says_what_it_departs_in() -> None:
    (match, *_) = identified("AP(norm=cutoff, area=interpolated)@3", empty="one").matches
    definition = match.definition
    assert (definition.nearest.library, definition.libraries) == ("rectools", ())
    assert definition.departures == ("area=interpolated", "empty=one")
    assert definition.distance == 5


def test_rounding_comes_before_cutting_off() -> None:
    # 2/3 is 0.6666… or 0.6667.
    judgements, run = {"q": {"a": 1, "b": 1, "c": 1}}, {"q": ["a", "b"]}
    rounded, cut = (
        identify(text, judgements, run, "R@2").matches[0] for text in ("0.6667", "0.6666")
    )
    assert (rounded.cut, cut.cut) == (False, True)
    assert rounded.value == cut.value == pytest.approx(2 / 3)


def test_few_digits_say_little() -> None:
    few, many = (
        identify(text, GRADED, TIED, ["AP", "nDCG", "P", "R"]) for text in ("0.4", "0.41234")
    )
    assert few.tried == many.tried
    assert few.distinct == many.distinct
    assert few.in_use_chance >= 1
    assert few.chance > few.in_use_chance
    assert many.in_use_chance < 0.1
    assert "So a fit is weak evidence" in repr(few)
    assert "So a fit is weak evidence" not in repr(many)


def test_the_estimate_of_chance_is_near_what_happens() -> None:
    """Over many numbers, as many fit as were expected: the estimate is neither far too low nor far
    too high."""
    rankings = all_rankings(match_variants(read_judgements(GRADED), read_run(TIED), Policy()))
    tried = spaces("AP, nDCG", rankings["id", "nonrelevant"])
    grid = compute((each for space in tried for each in measures_in(space)), rankings)
    numbers = number_values(grid.values)[1]
    every = [PrintedNumber.of(f"{thousandth / 1000:.3f}") for thousandth in range(200, 800)]
    fitted = sum(int(asked.readings[0].fits(numbers).sum()) for asked in every)
    assert sum(chance(numbers, asked) for asked in every) == pytest.approx(fitted, rel=0.2)


def test_a_measure_that_cannot_be_computed_says_why() -> None:
    from judged.errors import MeasureError

    with pytest.raises(MeasureError, match="needs the size of the collection"):
        identify("0.5", A, RUN, "FallOut@5")
    assert identify("0.03", A, RUN, "FallOut@5", collection=100).matches


def test_a_depth_is_kept() -> None:
    value = evaluate(A, RUN, "Rprec", policy={"depth": 3}).value()
    assert identify(f"{value:.4f}", A, RUN, "Rprec", policy={"depth": 3}).matches
    assert not identify(f"{value + 0.0011:.4f}", A, RUN, "Rprec", policy={"depth": 3}).matches


@pytest.mark.parametrize(
    ("measure", "policy", "named", "distance"),
    [
        # trec_eval and ranx stop where a query is missing, unless an option fills it in.
        ("AP", {}, "trec_eval with -c", 0),
        ("AP", {"ties": "input"}, "ranx with make_comparable=True", 0),
        ("AP(rel=2)", {"missing": "skip"}, "pytrec_eval with relevance_level=2", 1),
    ],
)
def test_an_option_of_a_library(
    measure: str, policy: dict[str, str], named: str, distance: int
) -> None:
    definition = identified(measure, **policy).matches[0].definition
    said = [practice.said for practice in definition.libraries]
    assert named in said
    assert named.partition(" ")[0] not in said
    assert definition.distance == distance
