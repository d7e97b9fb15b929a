"""Interactions and recommendations as recommenders hold them: the same numbers by every way in, or
a refusal that says what to do."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import judged
from judged.errors import InputError

_DRAW = random.Random(3).random
TEST = pd.DataFrame(
    [
        (user, movie, 1 + int(5 * _DRAW()), 978300000 + movie)
        for user in range(1, 13)
        for movie in range(1, 41)
        if _DRAW() < 0.2
    ],
    columns=["userId", "movieId", "rating", "timestamp"],
)
RECS = pd.DataFrame(
    [(user, movie, _DRAW()) for user in range(1, 13) for movie in range(1, 41)],
    columns=["user_id", "item_id", "prediction"],
).sort_values(["user_id", "prediction"], ascending=[True, False], ignore_index=True)
MEASURES = ["R@10", "RR", "nDCG@10"]


def values(test: Any, recs: Any, **options: Any) -> list[float]:
    found = judged.evaluate(test, {"als": recs}, MEASURES, **options)
    return [found.value(measure) for measure in MEASURES]


def message(test: Any, recs: Any, **options: Any) -> str:
    with pytest.raises(InputError) as error:
        judged.evaluate(test, {"als": recs}, MEASURES, **options)
    return str(error.value)


WAYS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "an index of two levels": lambda frame: frame.set_index(list(frame.columns[:2])),
    "an index of one level": lambda frame: frame.set_index(frame.columns[0]),
    "an index that is a column too": lambda frame: frame.set_index(frame.columns[0], drop=False),
    "a series by two levels": lambda frame: frame.set_index(list(frame.columns[:2])).iloc[:, 0],
    "categories": lambda frame: frame.astype(dict.fromkeys(frame.columns[:2], "category")),
    "nullable": lambda frame: frame.convert_dtypes(),
    "of pyarrow": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "objects": lambda frame: frame.astype(object),
    "lazy": lambda frame: pl.DataFrame(frame.to_dict("list")).lazy(),
    "a stream": lambda frame: pa.Table.from_pandas(frame).to_reader(),
    "rows": lambda frame: frame.to_dict("records"),
    "RecBole's names": lambda frame: frame.rename(
        columns={name: f"{name}:{kind}" for name, kind in zip(frame, _TYPES, strict=False)}
    ),
}
_TYPES = ("token", "token", "float", "float")


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_the_same_numbers_by_every_way_in(way: Callable[[pd.DataFrame], Any]) -> None:
    assert values(way(TEST), way(RECS)) == values(TEST, RECS)


def test_lists_by_user() -> None:
    lists = RECS.groupby("user_id").item_id.apply(list)
    assert values(TEST, lists) == values(TEST, RECS)
    found = judged.evaluate(TEST, lists, MEASURES)  # alone, not by name
    assert [found.value(measure) for measure in MEASURES] == values(TEST, RECS)
    again = pd.concat([lists, lists.tail(1)])
    assert message(TEST, again) == (
        "a Series: query '12' has more than one list; give each query one."
    )


def test_a_series_of_ranks_is_no_series_of_scores() -> None:
    ranks = RECS.assign(rank=RECS.groupby("user_id").cumcount() + 1)
    assert values(TEST, ranks.set_index(["user_id", "item_id"])["rank"]) == values(TEST, RECS)


def test_predictions_that_are_called_as_grades_are() -> None:
    spark = RECS.rename(columns={"prediction": "rating"})
    assert message(TEST, spark) == (
        "data frame 'als' looks like judgements (column \"rating\" is a grade), not a run. Were "
        "the two files given in the wrong order? If it is what orders the run, say so: "
        "columns={'score': 'rating'}."
    )
    assert values(TEST, spark, columns={"score": "rating"}) == values(TEST, RECS)


def test_no_grade_may_be_said_by_a_number() -> None:
    plays = TEST.rename(columns={"rating": "plays"})
    bare = TEST[["userId", "movieId"]]
    assert values(plays, RECS, columns={"grade": 1}) == values(bare, RECS)
    assert message(plays, RECS, columns={"grade": True}) == (
        "columns: grade must name one column; got True."
    )


@pytest.mark.parametrize("first", [0, 1, 7])
def test_ranks_may_begin_anywhere(first: int) -> None:
    ranks = RECS.drop(columns="prediction").assign(rank=RECS.groupby("user_id").cumcount() + first)
    assert values(TEST, ranks.iloc[::-1]) == values(TEST, RECS)


@pytest.mark.parametrize("rank", [-1.5, -1.0, 0.0607927])
def test_ranks_that_are_no_ranks(rank: float) -> None:
    """Postgres calls the score of a text search `ts_rank`: the greatest is the best."""
    ranks = RECS.rename(columns={"prediction": "rank"}).assign(rank=rank)
    assert message(TEST, ranks) == (
        f"data frame 'als', row 1: the rank is {rank:g}, but ranks are whole numbers from 0 or 1, "
        "the best first. If the greatest value is the best, the column is a score: "
        "columns={'score': COLUMN}. If tied results share an average "
        "rank, give them whole ranks."
    )


def rises(warnings: Iterable[str]) -> bool:
    return any(text.startswith("The scores rise from line to line in") for text in warnings)


def warned(run: pd.DataFrame) -> bool:
    return rises(judged.evaluate(TEST, run, "RR").warnings())


def test_scores_that_rise_down_the_rows_are_distances() -> None:
    distances = RECS.assign(prediction=-RECS.prediction)
    assert warned(distances)
    assert not warned(RECS)
    assert not warned(RECS.assign(prediction=1.0))
    assert not warned(distances[distances.user_id < 3])  # too few lists to be sure
    ranks = RECS.drop(columns="prediction").assign(rank=RECS.groupby("user_id").cumcount())
    assert not warned(ranks.iloc[::-1])  # ranks have their order, whatever that of the rows


def test_distances_are_found_below_many_lists_of_one(write: Callable[[str, str], Any]) -> None:
    single = "".join(f"s{number} Q0 a 1 1 x\n" for number in range(2000))
    rising = "".join(f"t{number} Q0 {item} 1 {item} x\n" for number in range(9) for item in "123")
    judgements = {f"{name}{number}": {"2": 1} for name in "st" for number in range(9)}
    assert rises(
        judged.Rankings.from_run(judgements, write("a.run", single + rising)).audit.warnings
    )
    few = judged.Rankings.from_run(
        judgements, write("b.run", single + rising[: 6 * len("t0 Q0 1 1 1 x\n")])
    )
    assert not rises(few.audit.warnings)


def test_ratings_with_times_are_no_judgements(write: Callable[[str, str], Any]) -> None:
    path = write("u.data", TEST.to_csv(sep="\t", header=False, index=False))
    least = TEST.timestamp.min()
    assert message(path, RECS) == (
        f"{path}: every grade is 100,000,000 or more, as {least}: a time, not a grade. A line of "
        "judgements is: query 0 item grade. If a line is user, item, rating and time, put a line "
        "with these names above the others (user_id, item_id, rating, timestamp), with tabs "
        "between them."
    )
    header = "user_id\titem_id\trating\ttimestamp\n"
    named = write("named.tsv", header + TEST.to_csv(sep="\t", header=False, index=False))
    assert values(named, RECS) == values(TEST, RECS)


def test_low_ratings_are_said_to_count() -> None:
    def said(test: pd.DataFrame, measures: list[str]) -> list[str]:
        found = judged.evaluate(test, RECS, measures).warnings()
        return [text for text in found if text.startswith("Grades go")]

    (sentence,) = said(TEST, ["P@10", "nDCG@10", "RR", "R@10"])
    assert sentence == (
        "Grades go from 1 to 5, and low grades count as relevant (P@10, RR, …). If they mean "
        "dislike, set the lowest relevant grade, such as P(rel=4)@10."
    )
    (half,) = said(TEST.assign(rating=TEST.rating - 0.5), ["RR"])
    assert half.startswith("Grades go from 0.5 to 4.5, and low grades count as relevant (RR). ")
    (binary,) = said(TEST, ["RR(rel=4)", "nDCG(gain=binary)@10"])
    assert "(nDCG(gain=binary)@10)" in binary
    assert said(TEST, ["RR(rel=4)", "nDCG@10"]) == []
    assert said(TEST[TEST.rating >= 4], ["RR"]) == []
    assert said(TEST.assign(rating=TEST.rating - 1), ["RR"]) == []  # 0 says what is not relevant
