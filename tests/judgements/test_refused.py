"""What no agreement can be of."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import judged
from judged.errors import InputError


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (
            {"q": {"a": 1}},
            {"q": {"b": 1}},
            "no item was judged by two of first and second: first judged 1 item, such as 'a' for "
            "query 'q'; second judged 1 item, such as 'b' for query 'q'. They have no item in "
            "common.",
        ),
        (
            {"001": {"a": 1}},
            {"1": {"a": 1}},
            "no item was judged by two of first and second: first judged 1 item, such as 'a' for "
            "query '001'; second judged 1 item, such as 'a' for query '1'. They would agree with "
            "the query ids of first without leading zeros: ids are compared as exact texts.",
        ),
        (
            {"q": {"a": -1}},
            {"q": {"a": 1}},
            "no item was judged by two of first and second: first judged nothing (a negative grade "
            "means in the pool, but not judged); second judged 1 item, such as 'a' for query 'q'.",
        ),
        (
            {"q": {}},
            {"q": {"a": 1}},
            "no item was judged by two of first and second: first judged nothing; second judged 1 "
            "item, such as 'a' for query 'q'.",
        ),
        (
            {"q": {"a": 1}, "r": {"a": 0}},
            None,
            "agreement needs two or more assessors: give {name: judgements}, or a list of files; "
            "got only the judgements of one.",
        ),
        ({"ann": {"q": {"a": 1}}}, None, "agreement needs two or more assessors; got 1."),
        (
            "ann.qrels",
            None,
            "agreement needs two or more assessors: give {name: judgements}, or a list of files; "
            "got only 'ann.qrels'.",
        ),
        (
            ["A=ann.qrels", "A=bob.qrels"],
            None,
            "two assessors have the name 'A'; give each its own name.",
        ),
        (
            {"q": {str(at): at for at in range(80)}},
            {"q": {str(at): at + 0.5 for at in range(80)}},
            "first and second gave 160 different grades, but a scale has at most 101. Round them "
            "first, for example to whole numbers.",
        ),
        (
            {"q": {"a": 1e300}},
            {"q": {"a": 0}},
            "first and second gave a grade of 1e+300; grades may be at most 9,007,199,254,740,992.",
        ),
        (
            pl.DataFrame({"query": ["q", "q"], "item": ["a", "a"], "grade": [0, 1]}),
            {"q": {"a": 1}},
            "a data frame, rows 1 and 2: query 'q' has item 'a' more than once. Remove the "
            "repetitions, or keep the best-ranked of each with duplicates='first' (--duplicates "
            "first).",
        ),
    ],
)
def test_what_is_refused(first: Any, second: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        judged.agreement(first, second)
    assert str(caught.value) == message


def test_columns_of_documents_are_refused() -> None:
    own = {"q": {"a": 1, "b": 0}}
    for options in ({"columns": {"document": "doc"}}, {"item_to": "column:doc"}):
        with pytest.raises(InputError) as caught:
            judged.agreement(own, own, **options)
        assert str(caught.value) == (
            "agreement takes no column of documents; give the document of an item by item_to "
            "(--item-to) as doc:SEPARATOR, pattern:REGEX or table:FILE."
        )


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"measures": "P@5"}, "measures (-m)"),
        ({"measures": ["nDCG@10"]}, "measures (-m)"),
        ({"policy": {"ties": "best"}}, "policy (--ties, --missing, --empty, --unjudged, --depth)"),
        ({"exclude_same_id": True}, "exclude_same_id (--exclude-same-id)"),
        ({"weights": {"q": 1}}, "weights (--weights)"),
    ],
)
def test_what_is_for_runs_is_refused_without_runs(options: dict[str, Any], named: str) -> None:
    own = {"q": {"a": 1, "b": 0}}
    with pytest.raises(judged.InputError) as refused:
        judged.agreement({"ann": own, "bob": own}, **options)
    assert str(refused.value) == (
        f"{named} applies to runs, but none were given; give runs, or leave it out."
    )
