"""Lists of one query side by side: what moved, what is shown, and how it is written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from judged.explanation.question import RankedQuery
from judged.inputs.texts import read_texts
from judged.rankings.rankings import Rankings
from judged.web.pages.lists import RankedList, side_by_side
from judged.web.pages.templating import environment

GRADES = {"q": {"a": 3, "b": 2, "c": 0, "d": 1, "x": -1}}
LEFT = ["c", "a", "e", "b", "d"]
RIGHT = ["a", "b", "f", "c"]


def given(system: str, items: list[str], place: int = 0) -> RankedList:
    scores = {item: float(-at) for at, item in enumerate(items)}
    rankings = Rankings.from_run(GRADES, {"q": scores})
    return RankedList(system, rankings, dict(enumerate(items, 1)), place)


def shown(view: dict[str, Any], **options: object) -> str:
    template = environment().from_string(
        '{% from "parts/lists.html" import lists, ideal %}{{ lists(view, "AP") }}{{ ideal(view) }}'
    )
    return template.render(view=view, **options)


def test_moves_against_the_list_to_the_left() -> None:
    view = side_by_side([given("bm25", LEFT), given("dense", RIGHT, 1)])
    left, right = view["lists"]
    assert [entry["item"] for entry in left["entries"]] == LEFT
    assert [entry["came"] for entry in left["entries"]] == [None] * 5
    assert [entry["left"] and entry["left"]["text"] for entry in left["entries"]] == [
        *(None, None, "gone", None, "gone")
    ]
    assert [entry["came"]["text"] for entry in right["entries"] if entry["came"]] == [
        "▲ 1",
        "▲ 2",
        "new",
        "▼ 3",
    ]
    assert [entry["came"]["look"] for entry in right["entries"] if entry["came"]] == [
        *("better", "better", "soft", "soft")
    ]
    assert [entry["came"]["words"] for entry in right["entries"] if entry["came"]] == [
        "1 rank higher than in bm25, where it is at 2",
        "2 ranks higher than in bm25, where it is at 4",
        "not in the list of bm25",
        "3 ranks lower than in bm25, where it is at 1",
    ]


def test_what_is_not_in_sight_is_not_gone() -> None:
    view = side_by_side([given("bm25", LEFT), given("dense", RIGHT)], k=2)
    first = view["lists"][0]["entries"][0]
    assert first["item"] == "c"
    assert first["left"] is not None
    assert (first["left"]["text"], first["left"]["words"]) == (
        "to 4",
        "rank 4 in the list of dense",
    )
    # b stands at rank 4 of bm25, which is not in sight either: it still rose.
    assert [entry["came"]["text"] for entry in view["lists"][1]["entries"] if entry["came"]] == [
        "▲ 1",
        "▲ 2",
    ]
    assert [each["more"] for each in view["lists"]] == [3, 2]


def test_lines_follow_the_ranks() -> None:
    view = side_by_side([given("bm25", LEFT), given("dense", RIGHT)])
    assert [(line["path"], line["look"]) for line in view["lists"][1]["lines"]] == [
        ("M0 0.5C5 0.5 5 3.5 10 3.5", "soft"),
        ("M0 1.5C5 1.5 5 0.5 10 0.5", "better relevant"),
        ("M0 3.5C5 3.5 5 1.5 10 1.5", "better relevant"),
    ]
    assert view["rows"] == 5


def test_a_relevant_item_that_fell_or_stayed() -> None:
    view = side_by_side([given("one", ["a", "b", "d"]), given("two", ["a", "d", "b"])])
    assert [
        (entry["came"]["text"], entry["came"]["look"])
        for entry in view["lists"][1]["entries"]
        if entry["came"]
    ] == [*(("=", "soft"), ("▲ 1", "better"), ("▼ 1", "worse"))]


def test_cells_ideal_order_and_sentence() -> None:
    view = side_by_side([given("bm25", LEFT)], k=3)
    assert [cell.kind for cell in view["lists"][0]["cells"]] == [
        "irrelevant",
        "relevant",
        "unjudged",
    ]
    assert [cell.grade for cell in view["ideal"]] == [3, 2, 1]
    assert view["sentence"] == "3 of 4 judged items are relevant"
    assert view["top"] == 3
    assert side_by_side([given("bm25", LEFT)], top=4)["lists"][0]["cells"][1].top == 4


@pytest.mark.parametrize(
    ("grades", "sentence"),
    [
        ([1], "the one judged item is relevant"),
        ([0], "the one judged item is not relevant"),
        ([0, 0], "0 of 2 judged items are relevant"),
        ([1, 0], "1 of 2 judged items is relevant"),
    ],
)
def test_sentences(grades: list[float], sentence: str) -> None:
    view = side_by_side([RankedList("run", Rankings.from_relevance([grades]))])
    assert view["sentence"] == sentence


def test_texts_where_there_are_some() -> None:
    texts = read_texts({"a": {"title": "Colds", "text": "A virus."}, "b": "x" * 9000, "c": ""})
    view = side_by_side([given("bm25", ["a", "b", "c", "e"])], texts=texts)
    entries = view["lists"][0]["entries"]
    assert [(entry["heading"], entry["line"], entry["has_text"]) for entry in entries] == [
        ("Colds", "A virus.", True),
        ("x" * 240, "b", True),
        ("c", "", False),
        ("e", "", False),
    ]


def test_pictures() -> None:
    view = side_by_side([given("bm25", ["a", "b"])], pictures={"a": "/picture?item=a"})
    assert [entry["picture"] for entry in view["lists"][0]["entries"]] == ["/picture?item=a", ""]
    assert '<img src="/picture?item=a" alt=""' in shown(view)


def test_lists_without_ids_have_no_moves() -> None:
    lists = [RankedList(name, Rankings.from_relevance([[1, 0, None]])) for name in ("a", "b")]
    view = side_by_side(lists)
    assert view["lists"][1]["lines"] == []
    assert [entry["came"] for entry in view["lists"][1]["entries"]] == [None] * 3
    assert "▲" not in shown(view)


def test_four_lists() -> None:
    lists = [given(name, RIGHT if at % 2 else LEFT, at) for at, name in enumerate("abcd")]
    view = side_by_side(lists)
    assert [len(each["lines"]) for each in view["lists"]] == [0, 3, 3, 3]
    # The second list is between two: d came from nowhere and goes nowhere.
    assert [
        (entry["came"], entry["left"] and entry["left"]["text"])
        for entry in view["lists"][1]["entries"]
    ][2] == (view["lists"][1]["entries"][2]["came"], "gone")
    assert shown(view).count('class="list"') == 4


def test_a_run_that_lacks_the_query() -> None:
    rankings = Rankings.from_run({**GRADES, "p": {"a": 1}}, {"p": {"a": 1.0}})
    lacking = RankedList("short", rankings.take([rankings.queries.index("q")]))
    html = shown(side_by_side([given("bm25", LEFT), lacking]))
    assert "The run has no results for this query." in html


def test_ranks_are_those_of_the_library() -> None:
    """Random lists: every move is the difference of two ranks, by a slow look at both."""
    generator = np.random.default_rng(5)
    names = [f"i{at}" for at in range(30)]
    for _ in range(30):
        one = generator.permutation(names)[: generator.integers(1, 30)].tolist()
        two = generator.permutation(names)[: generator.integers(1, 30)].tolist()
        view = side_by_side([given("one", one), given("two", two)], k=12)
        for entry in view["lists"][1]["entries"]:
            assert entry["item"] == two[entry["rank"] - 1]
            assert entry["came"] is not None
            if entry["item"] not in one:
                assert entry["came"]["text"] == "new"
            elif before := one.index(entry["item"]) + 1 - entry["rank"]:
                assert entry["came"]["text"] == f"{'▲' if before > 0 else '▼'} {abs(before)}"
                assert entry["came"]["words"].endswith(f"at {before + entry['rank']}")
            else:
                assert entry["came"]["text"] == "="
        both = set(one[:12]) & set(two[:12])
        assert len(view["lists"][1]["lines"]) == len(both)


def test_what_an_explanation_reads_fits() -> None:
    read = RankedQuery(Rankings.from_relevance([[1, 0]]), {1: "a", 2: "b"})
    view = side_by_side([RankedList("run", read.rankings, read.items, value=0.5)])
    assert "0.500" in shown(view)
