"""The walk of an explanation as a page draws it: taken from its plain form, nothing computed."""

from __future__ import annotations

import re

from judged import explain
from judged.measures import REGISTRY
from judged.rankings.strips import Cell
from judged.web.pages.calculations import draw_walk, walk_of
from support.loops import for_each


def test_tiles_have_the_colour_of_their_grade() -> None:
    told = explain("3 0 1 -", measure="nDCG", pool="3 2 1").to_dict()["walk"]
    walk = walk_of(told, top=3.0)
    assert [tile["cell"] for tile in walk["tiles"]] == [
        Cell("relevant", 3.0, 3.0),
        Cell("irrelevant", 0.0, 3.0),
        Cell("relevant", 1.0, 3.0),
        Cell("unjudged", None, 3.0),
    ]
    assert [tile["mark"] for tile in walk["tiles"]] == ["3", "0", "1", "?"]


def test_it_stands_at_its_end() -> None:
    # (1/2 + 2/4) / 3
    walk = walk_of(explain("0 1 0 1", measure="AP", relevant=3).to_dict()["walk"])
    assert (walk["rank"], walk["score"], walk["last"]) == (4, "0.3333", 5)
    assert walk["readings"] == [
        ("relevant so far", "2"),
        ("precision", "2/4 = 0.5"),
        ("recall", "2/3 = 0.6667"),
    ]
    assert (walk["rest"], walk["says"]) == ("", "AP is the shaded area")


def test_what_is_not_stepped_through_is_one_piece() -> None:
    told = explain([1] * 40, measure="AP", rows=10).to_dict()["walk"]
    walk = walk_of(told)
    assert (walk["rest"], walk["rest_rank"]) == ("30 more", 40)
    assert walk["drawing"].count('class="piece"') == 10
    assert walk["drawing"].count('class="piece rest" data-rank="40"') == 1
    assert "<title>30 relevant results as one</title>" in walk["drawing"]


def test_a_sum_is_drawn_against_the_ideal() -> None:
    # DCG 2 + 0 + 3/2 = 3.5, of 3 + 2/log2(3) = 4.2619
    drawn = draw_walk(explain("2 0 3", measure="nDCG").to_dict()["walk"]["chart"])
    label = "How DCG adds up down the list, against IDCG: 3.5000 against 4.2619"
    assert f'aria-label="{label}"' in drawn
    assert drawn.count('class="way"') == drawn.count('class="ideal"') == 3
    # The outline of a gain of 3 of at most 5 stands behind the 1.5 that is left of it.
    assert drawn.count('class="whole"') == drawn.count('class="piece"') == 2


@for_each("name", REGISTRY)
def test_every_measure_can_be_drawn_without_styles_of_its_own(name: str) -> None:
    example = REGISTRY[name].example
    walk = walk_of(explain(example.rankings(), measure=example.measure).to_dict()["walk"])
    assert not re.search(r"style=|#[0-9a-f]{3}|\bnan\b|\binf\b", str(walk["drawing"]))
    assert all(len(frame["readings"]) == len(walk["readings"]) for frame in walk["frames"])
