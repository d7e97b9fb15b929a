"""Terms of an address, and what a change of them did."""

from __future__ import annotations

from pathlib import Path

import pytest

import judged
from judged.errors import JudgedError
from judged.policy import CHOICES
from judged.web.changes import bar_of, change_of
from judged.web.visit import Params, ScoringSettings
from support.served import visit_of as ask
from support.served import write_judgements, write_run

TERMS = "measure=AP&measure=P@5&ties=best&convention=ranx&depth=7&duplicates=first&level=0.9"


def test_terms_survive_the_address() -> None:
    terms = ScoringSettings.of(Params.read(TERMS))
    pairs = terms.to_params()
    assert [name for name, _ in pairs] == [
        *("measure", "measure", "ties", "depth", "duplicates", "convention", "level")
    ]
    assert ScoringSettings.of(Params(tuple(pairs))) == terms


def test_only_what_was_chosen_is_there() -> None:
    assert ScoringSettings.of(Params.read("ties=&depth=&measure=")).to_params() == []
    assert ScoringSettings.of(Params.read("missing=zero")).scoring() == {
        "policy": {"missing": "zero"}
    }


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "ties=bset",
            "ties must be one of id, input, best, worst, expected; got 'bset'; did you mean "
            "'best'?",
        ),
        ("depth=0", "depth must be a whole number from 1; got 0."),
        ("depth=1.5", "depth must be a whole number from 1; got '1.5'."),
        ("level=1", "level must be a number between 0 and 1, as 0.95; got 1.0."),
        ("level=x", "level must be a number between 0 and 1, as 0.95; got 'x'."),
        ("duplicates=last", "duplicates must be one of error, first; got 'last'."),
        ("ties=id&ties=best", "ties occurs 2 times; give it once."),
    ],
)
def test_what_is_wrong_is_said_as_elsewhere(query: str, message: str) -> None:
    with pytest.raises(JudgedError) as refused:
        ScoringSettings.of(Params.read(query))
    assert str(refused.value) == message


def test_a_wrong_measure_is_put_apart() -> None:
    terms = ScoringSettings.of(Params.read("measure=AP&measure=nDCH"))
    assert terms.measures == ("AP",)
    assert terms.refused == (
        (
            "nDCH",
            "There is no measure 'nDCH'; did you mean 'nDCG'? 'judged measures' lists them all.",
        ),
    )


@pytest.fixture
def tied(tmp_path: Path) -> Path:
    """Two systems, of which ties decide: "a" has one tie with the relevant item at its end."""
    write_judgements(tmp_path / "qrels.txt", {"q": {"d1": 1, "d2": 0}})
    write_run(tmp_path / "a.run", {"q": {"d2": 1.0, "d1": 1.0}})
    write_run(tmp_path / "b.run", {"q": {"d1": 2.0, "d2": 1.0}})
    return tmp_path


def test_what_a_change_did(tied: Path) -> None:
    # By id, descending, d2 stands before d1: RR of a is 1/2; in its favour it is 1. b has 1.
    asked = ask(tied, "measure=RR&ties=best&was=measure%3DRR&sort=x")
    change = change_of(asked)
    assert change is not None
    assert change["what"] == [("Ties are broken", "by item id", "in the system's favour")]
    assert change["sentences"] == [
        "1 of 2 numbers moved, most of all a RR: 0.5000 → 1.0000.",
        "The order changed by RR.",
    ]
    assert change["way_back"] == "Back to “by item id”"
    assert change["back"] == "/?measure=RR&sort=x"


def test_a_change_that_moves_nothing(tied: Path) -> None:
    change = change_of(ask(tied, "measure=RR&depth=5&was=measure%3DRR"))
    assert change is not None
    assert change["sentences"] == ["None of 2 numbers moved."]


@pytest.mark.parametrize("was", ["measure%3DRR", "%00", "ties%3Dnonsense", ""])
def test_no_change_no_band(tied: Path, was: str) -> None:
    assert change_of(ask(tied, f"measure=RR&was={was}")) is None


def test_the_usual_terms_before(tied: Path) -> None:
    change = change_of(ask(tied, "unjudged=removed&was=usual"))
    assert change is not None
    assert change["back"] == "/"


@pytest.mark.parametrize("convention", ["", "ranx", "torchmetrics"])
def test_the_bar_shows_what_a_convention_implies(tied: Path, convention: str) -> None:
    asked = ask(tied, f"convention={convention}")
    bar = bar_of(asked, asked.scoring)
    assert [part["name"] for part in bar["policy"]] == list(CHOICES)
    policy = asked.scoring.policy.to_dict()
    for part in bar["policy"]:
        assert part["chosen"] == ""
        words = part["choices"][0][1]
        short = judged.policy.SHORT[part["name"]][1][policy[part["name"]]]
        assert words.startswith(short)
        assert (", as " in words) == bool(convention)


def test_choosing_nothing_chooses_nothing(tied: Path) -> None:
    """The form sends no value for what nobody chose: it makes a difference to a comparison."""
    bar = bar_of(ask(tied, ""), ScoringSettings())
    assert all(part["choices"][0][0] == "" for part in bar["policy"])
    assert ("was", "usual") in bar["hidden"]
