"""Warnings about a run: ids that do not meet, queries among their own results, distances."""

from __future__ import annotations

import random
import unicodedata
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pytest

from judged import Rankings, evaluate
from support.errors import error_of
from support.loops import for_each

N = 30


def both(ours: Any, theirs: Any) -> tuple[Any, Any]:
    judgements = {f"q{at}": {theirs(at): 1} for at in range(N)}
    run = {f"q{at}": {"none": 2.0, ours(at): 1.0} for at in range(N)}
    return judgements, run


def warnings(judgements: Any, run: Any, **options: Any) -> tuple[str, ...]:
    return Rankings.from_run(judgements, run, **options).audit.warnings


CASES = [
    (lambda at: f"d{at}#3", lambda at: f"d{at}", "the run's ids cut at the last '#'", "doc:#"),
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
    given: Any = frame(run, "score") if as_frame else run
    (said,) = warnings(judgements, given)
    assert said.startswith(
        f"No result is judged. With {words}, 100% of the queries would have one: "
        f"item_to={item_to!r}."
    )
    found = Rankings.from_run(judgements, given, item_to=item_to)
    assert found.hit_rank.tolist() == [2] * N
    assert not found.audit.warnings


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


def test_a_few_hits_by_chance_hide_nothing() -> None:
    judgements, run = both(lambda at: f"d{at}#3", lambda at: f"d{at}")
    run["q7"]["d7"] = 0.0
    (said,) = warnings(judgements, run)
    assert not warnings(*both(lambda at: f"d{at}#3" if at % 5 else f"d{at}", lambda at: f"d{at}"))
    assert said == (
        "Only 1 of 30 queries have a judged result. With the run's ids cut at the last '#', 100% "
        "of the queries would have one: item_to='doc:#'."
    )


def test_queries_that_would_meet() -> None:
    for queries, words in (
        (("t1_a", "t2_a"), "the run's ids cut at the last '_'"),
        (("x/t1", "x/t2"), "the run's ids cut after the last '/'"),
    ):
        assert error_of(
            Rankings.from_run, {"t1": {"a": 1}, "t2": {"a": 1}}, {query: ["a"] for query in queries}
        ) == (
            "a dict and the judgements have no query in common. "
            f"The run has {queries[0]!r}, {queries[1]!r}; the judgements have 't1', 't2'. "
            f"They would agree with {words}: ids are compared as exact texts."
        )


@pytest.mark.parametrize("table", [False, True])
def test_results_that_are_judged_for_other_queries(table: bool) -> None:
    """A bad system, or other ids of queries; the collection is the same."""
    judgements = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}
    run = {"q1": {"b": 2.0, "c": 1.0}, "q2": {"a": 1.0}, "q3": {"a": 2.0, "b": 1.0}}
    assert warnings(judgements, frame(run, "score") if table else run) == (
        "No result is judged: 'b', 'c' of the run, 'a' of the judgements. The results are judged "
        "for other queries: are the ids of the queries right?",
    )


Lists = dict[str, dict[str, Any]]


def generate(seed: int) -> tuple[Lists, Lists]:
    """Queries that are items too; some are all that they find, some are judged for themselves."""
    draw = random.Random(seed)
    names = [f"x{number}" for number in range(12)]
    judgements: Lists = {}
    run: Lists = {}
    for query in names[:8]:
        judgements[query] = {item: draw.choice([0, 1, 2]) for item in draw.sample(names, 4)}
        found = draw.sample(names, draw.randint(1, 8))
        run[query] = {item: draw.choice([1.0, 2.0, 3.0]) for item in found}
    run["x3"] = {"x3": 1.0}
    return judgements, run


def without(lists: Lists) -> Lists:
    return {
        query: {item: value for item, value in items.items() if item != query}
        for query, items in lists.items()
    }


def frame(lists: Lists, value: str) -> pl.DataFrame:
    rows = [(query, item, float(x)) for query, each in lists.items() for item, x in each.items()]
    return pl.DataFrame(rows, schema=["query", "item", value], orient="row")


@pytest.mark.parametrize("way", ["dict", "frame"])
def test_they_are_taken_out_of_both(way: str) -> None:
    for seed in range(10):
        judgements, run = generate(seed)
        given: tuple[Any, Any] = judgements, run
        if way == "frame":
            scores = frame(run, "score").sample(fraction=1, shuffle=True, seed=1)
            given = frame(judgements, "grade"), scores
        found = Rankings.from_run(*given, exclude_same_id=True)
        expected = Rankings.from_run(without(judgements), without(run))
        assert found.queries == expected.queries
        for part in ("retrieved", "missing", "hit_query", "hit_rank", "hit_grade", "pool_grade"):
            assert np.array_equal(getattr(found, part), getattr(expected, part)), part
        assert found.basis == ("results with the id of their query are left out",)
        assert not [note for note in found.audit.warnings if "own id" in note]


def test_what_was_taken_out_is_said() -> None:
    judgements, run = {"a": {"a": 1, "b": 1}, "b": {"b": 1, "a": 1}}, {"a": ["a", "b"], "b": ["a"]}
    audit = Rankings.from_run(judgements, run, exclude_same_id=True).audit
    assert audit.notes == (
        "2 judgements of queries for themselves were taken out.",
        "There are no scores: the order of each list is the ranking.",
        "1 result has the id of its query: taken out.",
    )


def test_documents_with_the_id_of_their_query_are_taken_out_too() -> None:
    run = {"a": {"a#1": 3, "b#1": 2, "a": 1}, "c#1": {"c#1": 3, "c#2": 2, "b#2": 1}}
    judgements = {"a": {"b": 1, "a#2": 1}, "c#1": {"c": 1, "b": 1}}
    found = Rankings.from_run(judgements, run, item_to="doc:#", exclude_same_id=True)
    assert found.hit_rank.tolist() == [1, 1, 2]
    assert found.pool_query.tolist() == [0, 1, 1]
    assert "1 document has the id of its query: taken out." in found.audit.notes


def test_nothing_else_is_left() -> None:
    for judgements, run, message in (
        (
            {"a": {"a": 1}},
            {"a": ["a", "b"]},
            "the judgements: every judgement is of a query for itself, so that nothing is left to "
            "find without them; leave exclude_same_id out.",
        ),
        (
            {"a": {"b": 1}},
            {"a": ["a"]},
            "a dict: every result has the id of its query, so that nothing is left to rank without "
            "them; leave exclude_same_id out.",
        ),
    ):
        assert error_of(Rankings.from_run, judgements, run, exclude_same_id=True) == message


def test_a_convention_that_drops_them_too_says_it_once() -> None:
    judgements, run = {"a": {"b": 1}}, {"a": {"a": 2.0, "b": 1.0}}
    beir = evaluate(judgements, run, "ndcg_cut_10", convention="beir")
    both = evaluate(judgements, run, "ndcg_cut_10", convention="beir", exclude_same_id=True)
    assert beir.value() == both.value() == 1.0
    said = "1 result has the id of its query: taken out"
    assert [note for note in beir.audit["run"].notes if "id of its query" in note] == [
        f"{said} first, as BEIR does."
    ]
    assert [note for note in both.audit["run"].notes if "id of its query" in note] == [f"{said}."]
    assert not beir.audit["run"].warnings


def warned(judgements: Any, run: Any) -> tuple[str, ...]:
    return tuple(note for note in warnings(judgements, run) if "own id" in note)


@for_each("way", ["dict", "frame", "judgements", "run"])
@for_each("rank", [0, 4, 15])
@for_each("share", [1, 3, 12])
def test_the_warning(way: str, rank: int, share: int) -> None:
    """Every `share`-th query of 36 has its own id at a rank; the worst score is the first row."""
    judgements: Lists = {}
    run: Lists = {}
    for at in range(36):
        items = [f"x{at}-{number}" for number in range(20)]
        if at % share == 0:
            items.insert(rank, f"x{at}")
        judgements[f"x{at}"] = {f"x{at}-1": 1, f"x{at}-2": 1}
        run[f"x{at}"] = {item: -float(place) for place, item in enumerate(items)}
        run[f"x{at}"] = dict(reversed(run[f"x{at}"].items()))
    found = warned(
        frame(judgements, "grade") if way in ("frame", "judgements") else judgements,
        frame(run, "score") if way in ("frame", "run") else run,
    )
    count = 36 // share
    if rank == 15 or share == 12 or (rank == 4 and share == 3):
        assert not found
    else:
        first = count if rank == 0 else 0
        assert found == (
            f"{count} of 36 queries have their own id among their results, {first} at rank 1. If "
            "queries are items too, take them out: exclude_same_id=True.",
        )


def test_a_caption_that_looks_for_its_own_image_is_no_such_query() -> None:
    run = {f"i{at}": [f"i{at}", "other"] for at in range(10)}
    assert not warned({f"i{at}": {f"i{at}": 1, "other": 0} for at in range(10)}, run)
    assert warned({f"i{at}": {f"i{at}": 1, "other": 1} for at in range(10)}, run)


WARNING = (
    "The scores rise from line to line in {} lists, as distances do; ranks are by score, the "
    "greatest first, so that such a list is read backwards. If they are distances, give them a "
    "minus sign, or give ranks."
)
JUDGEMENTS = {f"q{number}": {"a": 1} for number in range(10)}


def lists(rising: int, falling: int = 0, short: int = 0) -> dict[str, list[tuple[str, float]]]:
    kinds = [(1, 2, 2, 3)] * rising + [(3, 2, 2, 1)] * falling + [(1, 2)] * short
    return {
        f"q{number}": [(item, float(score)) for item, score in zip("abcd", scores, strict=False)]
        for number, scores in enumerate(kinds)
    }


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (lists(3), 3),
        (lists(9, 1), 9),
        (lists(8, 1), 0),
        (lists(2), 0),
        (lists(3, short=7), 3),  # lists of two rise by chance
        (lists(0, 10), 0),
    ],
)
def test_every_way_in_says_it_alike(run, said, tmp_path):
    dicts = {query: dict(results) for query, results in run.items()}
    frame(dicts, "score").write_csv(tmp_path / "x.csv")
    for given in (run, dicts, frame(dicts, "score"), tmp_path / "x.csv"):
        rising = [text for text in warnings(JUDGEMENTS, given) if "rise" in text]
        assert rising == ([WARNING.format(said)] if said else [])


def test_lists_in_no_order_are_not_suspected():
    random = np.random.default_rng(0)
    for _ in range(200):
        run = {query: dict(zip("abcde", random.random(5), strict=True)) for query in JUDGEMENTS}
        assert not Rankings.from_run(JUDGEMENTS, run).audit.warnings


def test_golden_sets_may_have_ids_in_another_column() -> None:
    golden = [{"id": "7", "question": "who is it", "relevant_ids": ["a"]}]
    assert error_of(evaluate, golden, {"7": ["a"]}) == (
        "a dict and a list of rows have no query in common. The run has '7'; the judgements have "
        "'who is it'. The judgements name queries by their texts. If a column holds their ids, "
        "name it: columns={'query': COLUMN}."
    )
    found = evaluate(golden, {"7": ["a"]}, "RR", columns={"query": "id"})
    assert found.value() == 1
