"""Dicts and lists from Python: what they may hold, and what is refused by query and position."""

from __future__ import annotations

import enum
from collections import OrderedDict, deque
from decimal import Decimal
from fractions import Fraction
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from judged import evaluate, read_judgements, read_run
from judged.errors import InputError
from judged.inputs.dicts import IDS_NOTE, ORDER_NOTE, only_texts
from judged.rankings.rankings import Rankings
from support.errors import error_of
from support.loops import for_each

QRELS = {"q": {"a": 1, "b": 0}}


class Name(str):
    __slots__ = ()


class Colour(str, enum.Enum):  # noqa: UP042 - its str() is not its text
    RED = "a"
    BLUE = "b"


class Number(enum.IntEnum):
    ONE = 1
    TWO = 2


class Plain(enum.Enum):
    ONE = 1


SCORED = {
    "pairs": [("b", 0.9), ("a", 0.5)],
    "pairs in any order": [("a", 0.5), ("b", 0.9)],
    "lists": [["b", 0.9], ["a", 0.5]],
    "tuples in a tuple": (("b", 0.9), ["a", 0.5]),
    "id and score": [{"id": "b", "score": 0.9}, {"id": "a", "score": 0.5}],
    "other names": [{"doc_id": "a", "score": 0.5, "text": "…"}, {"doc_id": "b", "score": 0.9}],
    "items": ["b", "a"],
    "a tuple": ("b", "a"),
    "a deque": deque(["b", "a"]),
    "an array": np.array(["b", "a"]),
    "an array of objects": np.array(["b", "a"], dtype=object),
    "a series of pandas": pd.Series(["b", "a"]),
    "a series of polars": pl.Series(["b", "a"]),
    "a dict": {"b": 0.9, "a": 0.5},
    "a view": MappingProxyType({"b": 0.9, "a": 0.5}),
    "names": [Name("b"), Name("a")],
    "texts of numpy": [np.str_("b"), np.str_("a")],
    "an enumeration of texts": [Colour.BLUE, Colour.RED],
    "keys of an enumeration": {Colour.BLUE: 2, Colour.RED: 1},
}


@pytest.mark.parametrize("results", SCORED.values(), ids=SCORED)
def test_results(results: Any) -> None:
    assert Rankings.from_run(QRELS, {"q": results}).hit_grade.tolist() == [0, 1]
    assert evaluate(QRELS, {"one": {"q": results}}, "RR").value() == 0.5


def test_equal_scores_of_pairs_are_ties() -> None:
    run = {"q": [("a", 1.0), ("b", 1.0)]}
    assert evaluate(QRELS, run, "RR").value() == 0.5
    assert evaluate(QRELS, run, "RR", policy={"ties": "input"}).value() == 1.0


def test_notes() -> None:
    assert read_run({"q": ["a"], "p": []}).notes == (ORDER_NOTE,)
    assert read_run({"q": [("a", 1)], "p": {}}).notes == ()
    assert read_run({"q": [7, 8]}).notes == (ORDER_NOTE, IDS_NOTE)
    assert read_run({"q": [(7, 1.0)]}).notes == (IDS_NOTE,)
    assert read_run({"q": {"a": 1}, "p": {7: 1}}).notes == (IDS_NOTE,)


WRONG = {
    "None": (["a", None], "query 'q': the id None of result 2 is of type NoneType; "),
    "a float": ([1.5], "query 'q': the id 1.5 of result 1 is of type float; "),
    "a truth value": ([True], "query 'q': the id True of result 1 is of type bool; "),
    "bytes": (["a", b"b"], "query 'q': the id b'b' of result 2 is of type bytes; "),
    "an empty text": (["a", ""], "query 'q': the id '' of result 2 is an empty text; "),
    "a set": ([{"a"}], "query 'q': the id {'a'} of result 1 is of type set; "),
    "an enumeration": ([Plain.ONE], "query 'q': the id <Plain.ONE: 1> of result 1 is of type "),
    "texts and pairs": (["a", ("b", 1)], "query 'q': result 2 is ('b', 1), but result 1 is 'a'; "),
    "pairs and texts": ([("b", 1), "a"], "query 'q': result 2 is 'a', but result 1 is ('b', 1); "),
    "three of them": ([("a", 1, 2)], "query 'q': result 1 is ('a', 1, 2); give it as (item, "),
    "one of them": ([("a", 1), ("b",)], "query 'q': result 2 is ('b',); give it as (item, score)"),
    "other names": ([{"x": 1}], "query 'q': the results have no id; their fields"),
    "the wrong way round": ([(0.5, "a")], "query 'q': the id 0.5 of result 1 is of type float"),
    "a text for a score": ([("a", "1")], "item 'a' of query 'q' has '1' where a score should be; "),
    "no score": ([{"id": "a", "score": None}], "query 'q': result 1 has no "),
}


@pytest.mark.parametrize(("results", "said"), WRONG.values(), ids=WRONG)
def test_results_that_are_none(results: Any, said: str) -> None:
    assert error_of(Rankings.from_run, QRELS, {"q": results}).startswith(said)


@pytest.mark.parametrize(
    ("one", "other"), [(1, "1"), (np.int64(1), "1"), (Number.ONE, "1"), (2**70, str(2**70))]
)
@pytest.mark.parametrize("before", [0, 40, 20_000])
def test_keys_that_are_the_same_as_texts(one: Any, other: Any, before: int) -> None:
    """Wherever the two stand, among queries and items, of judgements and runs."""
    fill = {f"x{number}": 1 for number in range(before)}
    for keys in ((one, other), (other, one)):
        twice = {**fill, **dict.fromkeys(keys, 1)}
        assert len(twice) == before + 2
        said = f"such as {one!r}, are the same as texts as others; give each id once."
        for read in (read_run, read_judgements):
            assert error_of(read, {"q": twice}) == f"query 'q': some items, {said}"
            lists = {key: {"a": 1} for key in twice}
            assert error_of(read, lists) == f"some queries, {said}"
    with pytest.raises(InputError, match="are the same as texts"):
        evaluate(QRELS, {1: {"q": {"a": 1}}, "1": {"q": {"a": 1}}}, "RR")


@for_each("before", [0, 1, 40, 20_000])
@for_each(
    "wrong", [1.5, None, True, ("a",), b"a", Plain.ONE, Decimal(1), Fraction(1, 2), ""], ids=repr
)
def test_keys_that_are_no_ids(wrong: Any, before: int) -> None:
    fill: dict[Any, Any] = {f"x{number}": 1 for number in range(before)}
    for read in (read_run, read_judgements):
        assert "ids must be texts or whole numbers." in error_of(read, {"q": {**fill, wrong: 1}})
        assert "ids must be texts or whole numbers." in error_of(read, {**{"q": fill}, wrong: fill})


def test_whole_numbers_meet_texts() -> None:
    qrels = {"1": {"10": 1, "11": 0}}
    for number in (int, np.int32, np.uint64):
        run = {number(1): {"x": 2.0, number(10): 1.0}}
        assert evaluate(qrels, run, "RR").value() == 0.5
        assert evaluate({number(1): {number(10): 1}}, run, "RR").value() == 0.5
        assert evaluate(qrels, {number(1): [number(9), number(10)]}, "RR").value() == 0.5


def test_plain_texts_are_told_from_all_else() -> None:
    for length in (*range(40), 100, 683, 1366, 5000, 20_000):
        texts: dict[Any, int] = {str(number): number for number in range(length)}
        for each in (texts, dict(texts.items()), OrderedDict(texts), {**texts}):
            assert only_texts(each)
        for odd in (7, Name("x"), None, 1.5, ""):
            mixed = {**texts, odd: 1}
            assert not only_texts(mixed)
            del mixed[odd]
            assert only_texts(mixed)
            mixed = dict.fromkeys([odd, *texts])
            assert not only_texts(mixed)


def test_a_dict_is_not_copied() -> None:
    run = {"q": {"a": 1.0}}
    assert read_run(run).lists is run


def test_a_series_holds_ids_or_scores_by_id() -> None:
    """The values of {query: Series} were taken for ids, whatever the index held."""
    named = {"name": "item_id"}
    rows = pd.DataFrame({"item_id": [7, 5, 6], "score": [1, 3, 2]}, index=[4, 9, 2])
    expected: list[tuple[pd.Series, list[str]]] = [
        (pd.Series([1, 3], index=["a", "b"]), ["b", "a"]),
        (pd.Series([0.1, 0.3], index=["a", "b"]), ["b", "a"]),
        (pd.Series([0.1, 0.3], index=pd.Index([5, 3], **named)), ["3", "5"]),
        (pd.Series([1, 3], index=pd.Index([5, 3], **named)), ["3", "5"]),
        (pd.Series(["a", "b"], index=[8, 9]), ["a", "b"]),
        (pd.Series(["a", "b"], index=["x", "y"]), ["a", "b"]),
        (pd.Series([5, 3]), ["5", "3"]),
        (pd.Series([0.8, 0.9, 0.7], index=[5, 11, 20]), ["11", "5", "20"]),
        (pd.Series([0.8, 0.9, 0.7], index=[5, 11, 20]).nlargest(2), ["11", "5"]),
        (pd.Series([0.8, 0.9, 0.7]), ["1", "0", "2"]),
        (pd.Series({10: 1.5, 11: 3}), ["11", "10"]),
        (rows["item_id"], ["7", "5", "6"]),
        (rows.set_index("item_id")["score"], ["5", "6", "7"]),
        (pd.Series([], dtype=object), []),
        (pd.Series([], index=pd.Index([], dtype=int), dtype=int), []),
    ]
    for series, items in expected:
        scores = read_run({"q": series, "r": series}).lists["r"]
        assert sorted(scores, key=scores.__getitem__, reverse=True) == items, series
    grades = read_judgements({"q": pd.Series([0, 2], index=["a", "b"])}).lists
    assert grades == {"q": {"a": 0, "b": 2}}
    assert read_judgements({"q": pd.Series(["a", "b"])}).lists == {"q": {"a": 1, "b": 1}}
    flags = read_judgements({"q": pd.Series([True, False], index=["a", "b"])}).lists
    assert flags == {"q": {"a": True, "b": False}}
    by_number = [
        pd.Series([1, 3], index=[5, 3]),
        rows["score"],
        pd.Series([3, 1], name="score"),
        pd.Series({10: 3, 11: 1}),  # pandas gives these two a RangeIndex
        pd.Series([3, 1, 2]).nlargest(2),
        pd.Series([3.0, 1.0], index=[5, 11]),
    ]
    for series, read in product(by_number, (read_run, read_judgements)):
        if read is read_judgements and series.name == "score":
            continue
        assert error_of(read, {"q": series}) == (
            "query 'q': a pandas Series of numbers by numbers, of which either may be the ids. "
            "Give series.to_dict() if the index holds the ids, or series.tolist() if the values "
            "are ids, the best first."
        )
