"""Ids that do not meet: what would make them meet is said, and nothing where nothing would."""

from __future__ import annotations

import unicodedata
from functools import partial
from typing import Any

import polars as pl
import pytest

from judged import InputError, Rankings

N = 30


def both(ours: Any, theirs: Any) -> tuple[Any, Any]:
    judgements = {f"q{at}": {theirs(at): 1} for at in range(N)}
    run = {f"q{at}": {"none": 2.0, ours(at): 1.0} for at in range(N)}
    return judgements, run


def warnings(judgements: Any, run: Any, **options: Any) -> tuple[str, ...]:
    audit = Rankings.from_run(judgements, run, **options).audit
    assert audit is not None
    return audit.warnings


CASES = [
    (lambda at: f"d{at}#3", lambda at: f"d{at}", "the run's ids cut at the last '#'", "doc:#"),
    (lambda at: f"d_{at}_3", lambda at: f"d_{at}", "the run's ids cut at the last '_'", "doc:_"),
    (lambda at: f"d{at}:3", lambda at: f"d{at}", "the run's ids cut at the last ':'", "doc::"),
    (
        lambda at: f"d{at}",
        lambda at: f"d{at}-7",
        "the judgements' ids cut at the last '-'",
        "doc:-",
    ),
    (lambda at: f"{at}.jpg", str, "the run's ids cut at the last '.'", "doc:."),
    (
        lambda at: f"d{at}#3#4",
        lambda at: f"d{at}",
        "the run's ids cut at the first '#'",
        r"pattern:^(.+?)\#",
    ),
    (
        lambda at: f"photos/{at}x",
        lambda at: f"{at}x",
        "the run's ids cut after the last '/'",
        "pattern:([^/]+)$",
    ),
    (
        lambda at: f"000{at + 1}",
        lambda at: f"{at + 1}",
        "the run's ids without leading zeros",
        "pattern:^0+(.+)$",
    ),
    (
        lambda at: f"{at} ",
        str,
        "the run's ids without white space at the ends",
        r"pattern:^\s*(.*?)\s*$",
    ),
    (
        lambda at: f"wiki_en_{at}_x y",
        lambda at: f"en_{at}_x y",
        "the run's ids without 'wiki_' at the start",
        "pattern:^wiki_(.+)$",
    ),
    (
        lambda at: f"MED{at}",
        str,
        "the run's ids without the letters before the number",
        r"pattern:^\D+(\d+)$",
    ),
]


@pytest.mark.parametrize("as_frame", [False, True])
@pytest.mark.parametrize(("ours", "theirs", "words", "item_to"), CASES)
def test_what_would_make_them_meet_is_said_and_does(
    ours: Any, theirs: Any, words: str, item_to: str, as_frame: bool
) -> None:
    judgements, run = both(ours, theirs)
    given: Any = run
    if as_frame:
        rows = [(query, item, x) for query, each in run.items() for item, x in each.items()]
        given = pl.DataFrame(rows, schema=["query", "item", "score"], orient="row")
    (said,) = warnings(judgements, given)
    assert said.startswith(
        f"No result is judged. With {words}, 100% of the queries would have one: "
        f"item_to={item_to!r} (--item-to "
    )
    found = Rankings.from_run(judgements, given, item_to=item_to)
    assert found.hit_rank.tolist() == [2] * N
    assert found.audit is not None
    assert not found.audit.warnings


def test_the_command_line_is_quoted() -> None:
    (said,) = warnings(*both(lambda at: f"d{at}#3", lambda at: f"d{at}"))
    assert said == (
        "No result is judged. With the run's ids cut at the last '#', 100% of the queries would "
        "have one: item_to='doc:#' (--item-to 'doc:#')."
    )


def test_case_needs_a_function() -> None:
    judgements, run = both(lambda at: f"DOC{at}", lambda at: f"doc{at}")
    (said,) = warnings(judgements, run)
    assert said == (
        "No result is judged. With the run's ids in lower case, 100% of the queries would have "
        "one: item_to=str.lower."
    )
    assert not warnings(judgements, run, item_to=str.lower)


@pytest.mark.parametrize("number", [1, 3, N])
def test_accents_and_case_on_both_sides(number: int) -> None:
    """A Mac writes é as e and an accent; catalogues write ids in capitals, or begin with one."""
    composed, decomposed = "caf\u00e9 {}", "cafe\u0301 {}"
    nfc = 'lambda id: unicodedata.normalize("NFC", id)'
    for ours, theirs, cause, given, item_to in (
        (decomposed, composed, "the run's ids in Unicode form NFC", nfc, "NFC"),
        (composed, decomposed, "the judgements' ids in Unicode form NFC", nfc, "NFC"),
        ("Doc {}", "DOC {}", "all ids in lower case", "str.lower", str.lower),
    ):
        judgements = {f"q{at}": {theirs.format(at): 1} for at in range(number)}
        run = {f"q{at}": {"none": 2.0, ours.format(at): 1.0} for at in range(number)}
        (said,) = warnings(judgements, run)
        assert said == (
            f"No result is judged. With {cause}, 100% of the queries would have one: "
            f"item_to={given}."
        )
        function = partial(unicodedata.normalize, "NFC") if item_to == "NFC" else item_to
        found = Rankings.from_run(judgements, run, item_to=function)
        assert found.hit_rank.tolist() == [2] * number


@pytest.mark.parametrize(("number", "warns"), [(1, False), (2, False), (3, True), (9, True)])
def test_few_queries_without_a_judged_result(number: int, warns: bool) -> None:
    judgements = {f"q{at}": {f"a{at}": 1} for at in range(number)}
    run = {f"q{at}": [f"b{at}"] for at in range(number)}
    expected = (
        "No result is judged: 'b0' of the run, 'a0' of the judgements. Do the two belong to the "
        "same collection?"
    )
    assert warnings(judgements, run) == (expected,) * warns


def test_ids_that_have_only_their_beginning_in_common_do_not_meet() -> None:
    (said,) = warnings(*both(lambda at: f"doc_{at}", lambda at: f"doc_{at + 1000}"))
    assert said == (
        "No result is judged: 'none', 'doc_0' of the run, 'doc_1000' of the judgements. Do the "
        "two belong to the same collection?"
    )


def test_a_few_hits_by_chance_hide_nothing() -> None:
    judgements, run = both(lambda at: f"d{at}#3", lambda at: f"d{at}")
    run["q7"]["d7"] = 0.0
    (said,) = warnings(judgements, run)
    assert said == (
        "Only 1 of 30 queries have a judged result. With the run's ids cut at the last '#', 100% "
        "of the queries would have one: item_to='doc:#' (--item-to 'doc:#')."
    )


def test_runs_that_found_little_are_left_in_peace() -> None:
    judgements, run = both(lambda at: f"d{at}#3" if at % 5 else f"d{at}", lambda at: f"d{at}")
    assert not warnings(judgements, run)
    assert not warnings({"q": {"a": 1}}, {"q": ["b", "c"]})  # one query may well find nothing


def test_queries_that_would_meet() -> None:
    for queries, words in (
        (("t1_a", "t2_a"), "the run's ids cut at the last '_'"),
        (("x/t1", "x/t2"), "the run's ids cut after the last '/'"),
    ):
        with pytest.raises(InputError) as error:
            Rankings.from_run({"t1": {"a": 1}, "t2": {"a": 1}}, {query: ["a"] for query in queries})
        assert str(error.value) == (
            "a dict and the judgements have no query in common. "
            f"The run has {queries[0]!r}, {queries[1]!r}; the judgements have 't1', 't2'. "
            f"They would agree with {words}: ids are compared as exact texts."
        )


def test_rankings_know_no_ids() -> None:
    assert Rankings.from_relevance([[None, None]]).audit is None


@pytest.mark.parametrize("table", [False, True])
def test_results_that_are_judged_for_other_queries(table: bool) -> None:
    """A bad system, or other ids of queries; the collection is the same."""
    judgements = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}
    run = {"q1": {"b": 2.0, "c": 1.0}, "q2": {"a": 1.0}, "q3": {"a": 2.0, "b": 1.0}}
    rows = [(query, item, score) for query, of in run.items() for item, score in of.items()]
    frame = pl.DataFrame(rows, schema=["query", "item", "score"], orient="row")
    assert warnings(judgements, frame if table else run) == (
        "No result is judged: 'b', 'c' of the run, 'a' of the judgements. The results are judged "
        "for other queries: are the ids of the queries right?",
    )
