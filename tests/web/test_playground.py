"""What the playground says is what the library says: every number, every library, every refusal."""

from __future__ import annotations

import contextlib
import io
import json
import shlex
from math import isnan, log2
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import judged
from judged import errors
from judged.cli import main
from judged.errors import JudgedError, PolicyError
from judged.web.app import render_page
from judged.web.views import playground
from judged.web.views.playground import (
    CARDS,
    EXAMPLES,
    PLAYGROUND_PARAMS,
    PlaygroundAnswer,
    PlaygroundState,
)
from judged.web.visit import Page, Params, Visit
from support.loops import for_each
from support.served import visit_of


def answer(query: str) -> PlaygroundAnswer:
    return PlaygroundAnswer(PlaygroundState.of(Params.read(query)))


def values(query: str) -> dict[str, float]:
    return {str(card["measure"]): card["value"] for card in answer(query).cards}


def libraries(query: str) -> dict[str, Any]:
    found = answer(query).libraries
    assert isinstance(found, dict)
    return found


def asked(query: str) -> Visit:
    return visit_of(None, query, "/playground")


def page(query: str) -> Page:
    return playground.page(asked(query))


def html(query: str) -> str:
    found = page(query)
    context = {
        "asked": asked(query),
        "title": found.title,
        "bar": None,
        "changed": None,
        "command": found.command,
        "workspace_words": "",
        "left_out": (),
        "noticed": [],
        **found.context,
    }
    return render_page(found.template, "main", context)


# -- the examples of the texts; where a text slips, the right value


@pytest.mark.parametrize(
    ("example", "measure", "value"),
    [
        ("four-relevant", "AP@10", (1 / 2 + 2 / 5 + 3 / 7 + 4 / 9) / 4),  # 0.443254
        ("image-search", "AP@10", (1 / 3 + 2 / 5 + 3 / 8) / 3),  # 0.369444
        ("eight-predictions", "P@4", 3 / 4),
        ("eight-predictions", "R@4", 3 / 4),
        ("eight-predictions", "F@4", 3 / 4),
        ("eight-predictions", "AP", 37 / 48),  # printed 0.8
        ("eight-predictions-dcg", "DCG(gain=exp)@8", 1 + 1 / 2 + 1 / log2(5) + 1 / log2(7)),
        (
            "eight-predictions-dcg",
            "nDCG(gain=exp)@8",
            (1 + 1 / 2 + 1 / log2(5) + 1 / log2(7)) / (1 + 1 / log2(3) + 1 / 2 + 1 / log2(5)),
        ),
        ("search-phone", "AP@10", 13 / 15),
        ("search-watch", "AP@10", 47 / 84),
    ],
)
def test_the_examples_give_the_right_numbers(example: str, measure: str, value: float) -> None:
    assert values(f"example={example}")[measure] == pytest.approx(value, abs=1e-12)


def test_the_interpolated_curve_has_another_area() -> None:
    from judged.charts.kinds.curves import areas_under, precision_recall

    steps, interpolated = areas_under(precision_recall(answer("example=image-search").curve).data)
    assert (steps, interpolated) == (
        pytest.approx(0.369444, abs=1e-6),
        pytest.approx(0.391667, abs=1e-6),
    )


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_has_a_page(example: str) -> None:
    text = html(f"example={example}")
    assert EXAMPLES[example][0] in text
    assert "The same list" in text


# -- numbers are the library's

QUERIES = [
    "list=0+1+0+0+1+0+1+0+1+0&relevant=6",
    "list=3+-+2+1+-+0+0+1+3+0+0+0&relevant=7&k=5&list_unjudged=removed",
    "list=0+(0+1+2)+0+(1+-)&pool=2+2+1+1+0+0&list_ties=best",
    "list=0+(0+1+2)+0+(1+-)&list_ties=worst&k=3",
    "list=0+0+0&relevant=0&list_empty=one",
    "list=1+0+-1+2.5&collection=40&add=Accuracy@3&add=Bpref&k=all",
]


@pytest.mark.parametrize("query", QUERIES)
def test_cards_are_explanations(query: str) -> None:
    found = answer(query)
    state = found.state
    options = {"relevant": state.relevant, "pool": state.pool or None}
    for card in found.cards:
        told = judged.explain(
            str(state.listed),
            measure=card["measure"],
            policy=state.policy,
            collection=state.collection,
            **options,
        )
        assert card["value"] == told.settled or (isnan(card["value"]) and isnan(told.settled))
        assert card["arithmetic"].removeprefix("undefined: ") in told.arithmetic.replace(
            " is undefined: ", " "
        )


def test_ties_may_be_means_over_all_orders() -> None:
    # RR of (0 1) is 1 or 1/2.
    assert values("list=(0+1)&list_ties=expected")["RR"] == 0.75


LISTS = ["0 1 0 0 1 0 1 0 1 0", "3 - 2 1 - 0 0 1 3 0 0 0", "0 (0 1 2) 0 (1 -)", "0 0 0", "1 1 1"]


@for_each("listed", LISTS)
@for_each("card", CARDS)
def test_every_library_has_the_value_of_its_convention(listed: str, card: str) -> None:
    """The list as a run with scores and ids whose order is that of the list."""
    query = str(Params((("list", listed), ("card", card))))
    found = answer(query)
    grades = found.state.listed.grades
    tied = {
        rank: first for first, last in found.state.listed.tied for rank in range(first, last + 1)
    }
    ids = [f"{len(grades) - at:03}" for at in range(len(grades))]
    judgements = {
        "q": {id: grade for id, grade in zip(ids, grades, strict=True) if grade is not None}
    }
    run = {"q": {id: -float(tied.get(at, at)) for at, id in enumerate(ids, 1)}}
    users = [
        (group, user["name"], theirs)
        for group in libraries(query)["groups"]
        for line in group["lines"]
        for user in line["users"]
        if user["name"] != "judged"
        for theirs in user["theirs"]
    ]
    assert users
    for group, name, theirs in users:
        value: float | None = None
        with contextlib.suppress(PolicyError):
            value = judged.evaluate(judgements, run, theirs, convention=name).value()
        same = None if value is None else pytest.approx(value, abs=1e-12, nan_ok=True)
        assert group["value"] == same, (name, theirs)


def test_equal_values_stand_together_and_the_card_s_own_is_marked() -> None:
    found = libraries("list=0+1+0+0+1+0+1+0+1+0&relevant=6")
    shown = [round(group["value"] or 0, 4) for group in found["groups"]]
    assert shown == [0.5, 0.4433, 0.2955, 0.2276, 0.1773, 0.15]
    assert [group["own"] for group in found["groups"]] == [False, False, True, False, False, False]
    (asked_for, *_) = found["groups"][2]["lines"]
    assert (asked_for["notations"], asked_for["reasons"]) == (("AP@10",), ("as requested",))
    assert [user["name"] for user in asked_for["users"]][:2] == ["judged", "ir_measures"]
    assert found["groups"][4]["lines"][0]["reasons"] == ("divided by k",)
    assert found["numbers"] == 6


def test_choices_that_no_library_makes_have_a_row_of_their_own() -> None:
    found = libraries("list=(0+1+0+1)&list_ties=worst")
    (own,) = [group for group in found["groups"] if group["own"]]
    assert own["lines"][0]["reasons"] == (
        "tied results are ordered against the system: better grades last",
    )
    assert found["differs"]


# -- what the last change did


def test_what_the_last_change_did() -> None:
    before = PlaygroundState.of(Params.read("list=0+0+1&relevant=2"))
    after = PlaygroundState.of(before.parameters(list="0 1 0"))
    found = {str(card["measure"]): card["effect"] for card in PlaygroundAnswer(after).cards}
    effect = found["RR"]
    assert effect is not None
    assert (effect.before, effect.after, effect.better) == (1 / 3, 1 / 2, True)
    same = found["P@10"]
    assert same is not None
    assert (same.moved, same.better) == (False, None)
    # Looking at another card is no change of the list.
    looked = PlaygroundState.of(after.parameters(card="RR"))
    assert looked.was is not None
    assert str(looked.was.listed) == "0 0 1"


def test_a_change_of_k_is_a_change_of_every_card_that_has_it() -> None:
    before = PlaygroundState.of(Params.read("list=0+1+1"))
    effects = {
        card["key"]: card["effect"]
        for card in PlaygroundAnswer(PlaygroundState.of(before.parameters(k=2))).cards
    }
    assert effects["P@k"] is not None
    assert (effects["P@k"].before, effects["P@k"].after) == (0.2, 0.5)


def test_a_measure_without_k_stands_beside_the_one_with_it() -> None:
    found = values("list=0+1+1&k=2&add=AP&add=AP@2")
    assert (found["AP@2"], found["AP"]) == (1 / 4, pytest.approx(7 / 12))
    assert str(answer("list=0+1+1&k=2&add=AP&add=AP@2").state.chosen) == "AP@2"


def test_nonsense_before_is_nothing_before() -> None:
    assert PlaygroundState.of(Params.read("list=0+1&before=list%3Dx")).was is None


def test_a_screen_reader_is_told_the_number() -> None:
    after = PlaygroundState.of(Params.read("list=0+0+1&card=RR")).parameters(list="0 1 0")
    assert playground.announced(PlaygroundAnswer(PlaygroundState.of(after)).chosen) == (
        "RR is 0.5000, 0.1667 more than before."
    )


# -- addresses


@pytest.mark.parametrize("query", QUERIES)
def test_an_address_gives_its_state_again(query: str) -> None:
    state = PlaygroundState.of(Params.read(query))
    assert PlaygroundState.of(state.parameters()) == state


def test_more_relevant_than_were_said_are_counted_and_said() -> None:
    found = answer("list=1+1+1&relevant=2")
    assert (found.relevant, found.state.raised) == (3, 2)
    assert "The list holds more relevant results than the 2 that were stated" in html(
        "list=1+1+1&relevant=2"
    )


def test_the_list_of_a_query_opens_in_the_playground() -> None:
    judgements = {"q": {"a": 2, "b": 0, "c": 1, "lost": 3}}
    run = {"q": {"x": 4.0, "a": 3.0, "b": 3.0, "c": 1.0}}
    for ties in ("id", "input", "best"):
        r = judged.Rankings.from_run(judgements, run, policy={"ties": ties})
        link = playground.link_of(r, judged.nDCG @ 3)
        assert link is not None
        found = answer(str(Params(tuple(link.items()))))
        assert str(found.state.chosen) == "nDCG@3"
        assert found.chosen["value"] == r.evaluate("nDCG@3").value()
    assert playground.link_of(judged.Rankings.from_relevance([[]])) is None


# -- as a command, as Python


def printed(line: str) -> dict[str, Any]:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), pytest.raises(SystemExit) as ended:
        main([*shlex.split(line)[1:], "--format", "json"])
    assert ended.value.code in (0, None)
    told: dict[str, Any] = json.loads(said.getvalue())
    return told


@pytest.mark.parametrize("query", [*QUERIES, "list=-+1+(0+1)&list_ties=expected"])
def test_the_commands_give_the_numbers_of_the_page(
    query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = answer(query)
    lines = playground.shell_commands(found.state).splitlines()
    assert lines
    for line in lines:
        told = printed(line)
        if line.startswith("judged explain"):
            assert told["settled"] == pytest.approx(found.chosen["value"], nan_ok=True)
        else:
            monkeypatch.setattr(errors, "in_shell", True)  # a command sets it back when it ends
            theirs = libraries(query)["disagreement"].to_dict()
            assert told["measures"][0]["definitions"] == theirs["measures"][0]["definitions"]


# -- what is refused


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "list=0+x",
            "'0 x' is not a relevance list: 'x' is neither a grade nor - (not judged). Write the "
            'grades in rank order, such as "0 1 0 0 1".',
        ),
        (
            "list=" + "+".join("0" * 101),
            "the list has 101 results; the playground takes 100. judged explain takes longer ones.",
        ),
        ("list=" + "0" * 5000, "the list has 5,000 characters; the playground takes 4,000."),
        (
            "list=0+(1",
            "'0 (1' is not a relevance list: a bracket is not closed. Results that share a score "
            'stand in brackets, such as "0 (1 0) 1".',
        ),
        ("list=0&k=0", "k must be a whole number from 1 to 1,000; got 0."),
        ("list=0&k=x", "k must be a whole number from 1 to 1,000; got 'x'."),
        (
            "list=0&list_ties=bets",
            "ties must be one of id, input, best, worst, expected; got 'bets'; did you mean "
            "'best'?",
        ),
        ("example=nix", "Unknown example 'nix'; the examples are " + ", ".join(EXAMPLES) + "."),
        ("list=0&list=1", "list occurs 2 times; give it once."),
    ],
)
def test_what_is_refused(query: str, message: str) -> None:
    with pytest.raises(JudgedError) as refused:
        answer(query).cards  # noqa: B018
    assert str(refused.value) == message


def test_a_measure_that_does_not_exist_leaves_the_rest_alone() -> None:
    query = "list=0+1&add=APP@10&add=TN&add=Bpref"
    found = answer(query)
    assert found.state.refused[0][0] == "APP@10"
    assert found.state.refused[0][1].startswith("There is no measure 'APP'; did you mean 'AP'?")
    cards = {str(card["measure"]): card for card in found.cards}
    assert cards["TN"]["refused"] == (
        "TN counts the items that were not retrieved and needs the size of the collection; give "
        "it as collection."
    )
    assert cards["RR"]["value"] == 0.5
    assert answer("list=0+1&add=TN").libraries == cards["TN"]["refused"]
    assert "did you mean &#39;AP&#39;?" in html(query)


TEXTS = st.one_of(
    st.text(max_size=30),
    st.text(alphabet='0123456789 -().,{}:"ae', max_size=30),
    st.sampled_from(
        ["0 1 0", "1", "-", "best", "AP@5", "nDCG", "10", "1e308 1", "-1 2", "skip", "TN", "9 9"]
    ),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.sampled_from([*PLAYGROUND_PARAMS, "example"]), TEXTS), max_size=5))
def test_random_texts_give_pages_or_sentences(pairs: list[tuple[str, str]]) -> None:
    try:
        text = html(str(Params(tuple(pairs))))
    except JudgedError as error:
        text = f"The same list: refused: {error}"
    assert "The same list" in text
