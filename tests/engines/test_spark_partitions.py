"""What a worker makes of a partition, without Spark: any cut into partitions of whole queries gives
the rankings and the audit of the whole, and what is wrong has one message."""

from __future__ import annotations

import pickle
import re
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

import judged
from judged.engines.spark.partitions import MatchPartition, TableDescription
from judged.engines.spark.tables import pool_rows
from judged.errors import InputError, JudgedError
from judged.inputs import read_judgements
from judged.inputs.tables import JUDGEMENTS, RUN, Lookup
from judged.matching.checks import run_of_others
from judged.matching.matcher import match_with
from judged.policy import Policy
from judged.rankings.audit import Findings
from judged.rankings.rankings import Rankings

pytestmark = pytest.mark.full

COLUMNS = (
    *("retrieved", "missing", "hit_query", "hit_rank", "hit_grade", "hit_tie_first"),
    *("hit_tie_last", "hit_item", "pool_query", "pool_grade", "collection"),
)


def in_partitions(
    judgements: Any, run: pl.DataFrame, number: int, *, seed: int = 0, **options: Any
) -> Rankings:
    """What the workers of so many partitions make of a run, put together."""
    policy = Policy.of(options.pop("policy", None))
    of_run = options.pop("of_run", None)
    judge = match_with(read_judgements(judgements), policy=policy, **options)
    judged_rows = pool_rows(judge.pool, judge.own_weights)
    sides = [run.with_columns(side=0), judged_rows.with_columns(side=1)]
    rows = pl.concat(sides, how="diagonal").filter(pl.col("query").is_in(list(judge.queries)))
    rows = rows.sample(fraction=1, shuffle=True, seed=seed)
    work = MatchPartition(
        TableDescription(RUN, "a Spark frame", "run", (), False, tuple(run.columns)),
        TableDescription(JUDGEMENTS, judge.pool.name, "run", (), False, tuple(judged_rows.columns)),
        policy,
        judge.collection,
        change_run=of_run,
    )
    part = rows["query"].hash(seed) % number
    cut = [rows.filter(part == each) for each in range(number)]
    there = pickle.loads(pickle.dumps(work))
    found = [pickle.loads(pickle.dumps(made)) for own in cut if own.height for made in there(own)]
    if errors := [each for each in found if isinstance(each, JudgedError)]:
        raise min(errors, key=str)
    names = run["query"].unique()
    passed = int((~names.is_in(list(judge.queries))).sum())
    once = Findings(passed, duplicates_dropped=judge.pool.dropped, notes=judge.pool.notes)
    once = replace(once, judged_queries=0, run_queries=passed)
    nothing = judge.block(Lookup({}), np.zeros(0, np.int64))
    return Rankings.concat([*found, replace(nothing, findings=once)], judge.queries)


def tables(seed: int = 1) -> tuple[dict[str, dict[str, float]], pl.DataFrame]:
    """Judgements, and a run with ties, missing queries and queries that nobody judged."""
    rng = np.random.default_rng(seed)
    judgements = {
        f"q{query}": {f"d{item}": float(rng.integers(-1, 4)) for item in rng.choice(40, 8, False)}
        for query in range(12)
    }
    rows = [
        (f"q{query}", f"d{item}", float(rng.integers(0, 6)))
        for query in range(2, 15)
        for item in rng.choice(40, 30, False)
    ]
    return judgements, pl.DataFrame(rows, schema=["query", "item", "score"], orient="row")


def assert_same(found: Rankings, wanted: Rankings) -> None:
    assert found.queries == wanted.queries
    for name in COLUMNS:
        one, other = getattr(found, name), getattr(wanted, name)
        assert (one is None and other is None) or np.array_equal(one, other), name
    assert found.audit == wanted.audit


@pytest.mark.parametrize("number", [1, 3, 7])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"policy": {"ties": "best"}},
        {"policy": {"ties": "expected", "depth": 7}},
        {"policy": {"unjudged": "removed", "ties": "worst"}, "collection": 40},
    ],
    ids=str,
)
def test_partitions_add_up(number: int, options: dict[str, Any]) -> None:
    judgements, run = tables()
    wanted = judged.Rankings.from_run(judgements, run, **options)
    assert_same(in_partitions(judgements, run, number, **options), wanted)


def test_subtopics_and_queries_without_judgements() -> None:
    judgements = {
        "q1": {"a": {"s2": 1, "s1": 2}, "b": {"s1": 0, "s10": 1}},
        "q0": {"c": {"x": 1}},
        "q9": {},
    }
    items, scores = ["a", "b", "c", "z"], [1.0, 1.0, 2.0, 3.0]
    run = pl.DataFrame({"query": ["q1", "q1", "q0", "q1"], "item": items, "score": scores})
    found = in_partitions(judgements, run, 2)
    wanted = judged.Rankings.from_run(judgements, run)
    assert_same(found, wanted)
    for name in ("query", "item", "subtopic", "grade"):
        one, other = getattr(found.subtopics, name), getattr(wanted.subtopics, name)
        assert one.tolist() == other.tolist()


def test_duplicates_are_dropped_and_counted() -> None:
    judgements, run = tables()
    twice = pl.concat([run, run.head(50).with_columns(score=pl.col("score") - 1)])
    wanted = judged.Rankings.from_run(judgements, twice, policy={"duplicates": "first"})
    assert wanted.audit is not None
    assert wanted.audit.duplicates_dropped == 50
    assert_same(in_partitions(judgements, twice, 3, policy={"duplicates": "first"}), wanted)


def test_a_partition_with_nothing_but_own_ids() -> None:
    judgements, run = tables()
    own = run.with_columns(item=pl.when(pl.col("query") == "q4").then("query").otherwise("item"))
    run = own.unique(["query", "item"], maintain_order=True)
    wanted = judged.Rankings.from_run(judgements, run, exclude_same_id=True)
    assert_same(in_partitions(judgements, run, 300, of_run=run_of_others), wanted)


def test_what_was_taken_out_or_is_allowed_is_not_what_is_wrong() -> None:
    judgements, run = tables()
    own = pl.DataFrame({"query": ["q3"] * 2, "item": ["q3"] * 2, "score": [1.0, 2.0]})
    bad = pl.DataFrame({"query": ["q4"] * 2, "item": ["x"] * 2, "score": [1.0, float("nan")]})
    message = "a Spark frame, query 'q4': the score of item 'x' for query 'q4' is NaN. A NaN "
    with pytest.raises(InputError) as caught:
        in_partitions(judgements, pl.concat([run, bad]), 1, policy={"duplicates": "first"})
    assert str(caught.value).startswith(message)
    rows = pl.concat([run, own, bad[1:]])
    with pytest.raises(InputError) as taken:
        in_partitions(judgements, rows, 1, of_run=run_of_others)
    assert str(taken.value).startswith(message)


NAN = pl.when(pl.col("item").is_in(["d1", "d2"])).then(float("nan")).otherwise(pl.col("score"))
WRONG = {
    "twice": (
        lambda run: pl.concat([run, run.filter(pl.col("query").is_in(["q3", "q5"]))]),
        "a Spark frame, query 'q3': query 'q3' has item 'd0' more than once. Remove the "
        "repetitions, or keep the best-ranked of each with duplicates='first'.",
    ),
    "nan": (
        lambda run: run.with_columns(score=NAN),
        "a Spark frame, query 'q10': the score of item 'd2' for query 'q10' is NaN. A NaN cannot "
        "be ranked; give it a number or remove it.",
    ),
    "no item": (
        lambda run: run.with_columns(
            item=pl.when(pl.col("query") == "q4").then(pl.lit("")).otherwise("item")
        ),
        "a Spark frame, query 'q4': the item is missing.",
    ),
    "no score": (
        lambda run: run.with_columns(
            score=pl.when(pl.col("query") != "q4").then("score").otherwise(None)
        ),
        "a Spark frame, query 'q4': the score is missing.",
    ),
    "no number": (
        lambda run: run.with_columns(score=pl.lit("high")),
        "a Spark frame, query 'q10': the score is not a number: \"high\".",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_has_one_message(what: str) -> None:
    judgements, run = tables()
    change, message = WRONG[what]
    for seed, number in product(range(3), (1, 5)):
        with pytest.raises(InputError) as caught:
            in_partitions(judgements, change(run), number, seed=seed)
        # A partition counts its own.
        assert re.sub(r" \(and at least [^)]*\)", "", str(caught.value)) == message


def test_rows_of_queries_that_nobody_judged_stop_nothing() -> None:
    judgements, run = tables()
    unjudged = run.filter(pl.col("query") == "q13")
    nan = unjudged.with_columns(score=pl.lit(float("nan")))
    whole = pl.concat([run, unjudged, nan])
    wanted = judged.Rankings.from_run(judgements, whole)
    assert_same(in_partitions(judgements, whole, 3), wanted)
