"""What cannot be learned from, and what cannot be asked for: the whole message."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import judged
from judged.errors import JudgedError
from judged.learning.learn import fit
from support.errors import error_of
from support.learnable import behind_a_map, behind_noise
from support.loops import for_each

DATA = behind_noise(queries=30)
KINDS = "bilinear, low-rank, diagonal, two-tower-linear"


def refused(*given: Any, **options: Any) -> str:
    """The message of the error; some options are those of the embeddings."""
    queries, items, relevance = given or DATA.both
    names = ("exclude", "memory", "dims", "normalise", "unique", "similarity")
    of_embeddings = {name: options.pop(name) for name in names if name in options}
    with pytest.raises(JudgedError) as error:
        fit(judged.Embeddings(queries, items, **of_embeddings), relevance, **options)
    return str(error.value)


@pytest.mark.parametrize(
    "temperature", [0, -0.1, math.nan, math.inf, "0.05", None, True, 1e-7, 1e7]
)
def test_temperatures(temperature: Any) -> None:
    assert refused(temperature=temperature) == (
        f"a temperature must be a number above 0, from 1e-06 to 1e+06; got {temperature!r}."
    )


RANK = "rank must be a whole number from 1 to 11, the dimensions of the vectors; got {}."
VALIDATION = "validation must be a share of the queries, a number above 0 and below 1; got {}."
HELD_OUT = "held_out must be a share of the queries, a number from 0 and below 1; got {}."
DECAY = "decay must be a finite number from 0 to 1e+12; got {}."


@for_each(
    ("options", "said"),
    [
        (
            {"kind": "bilinar"},
            "Unknown kind of learned similarity: 'bilinar'; did you mean 'bilinear'? Choose one of "
            f"{KINDS}.",
        ),
        ({"kind": 7}, f"Unknown kind of learned similarity: 7. Choose one of {KINDS}."),
        *(({"kind": "low-rank", "rank": rank}, RANK.format(rank)) for rank in (0, 12, 2.0)),
        (
            {"kind": "diagonal", "rank": 3},
            "diagonal takes no rank; leave it out, or choose a kind that does (low-rank and "
            "two-tower-linear).",
        ),
        ({"positives": "all"}, "positives must be one of each, any, apart; got 'all'."),
        *(({"validation": share}, VALIDATION.format(repr(share))) for share in (0, 1.0, "some")),
        *(({"held_out": share}, HELD_OUT.format(share)) for share in (-0.1, math.nan)),
        (
            {"validation": 0.5, "held_out": 0.5},
            "validation (0.5) and held_out (0.5) leave no queries for training; together they "
            "must be below 1.",
        ),
        ({"patience": 0}, "patience must be a whole number from 1; got 0."),
        ({"iterations": 1.5}, "iterations must be a whole number from 1; got 1.5."),
        ({"seed": -1}, "seed must be a whole number from 0; got -1."),
        ({"seed": "a"}, "seed must be a whole number from 0; got 'a'."),
        *(({"decay": decay}, DECAY.format(decay)) for decay in (-1, math.inf, 1e308)),
        ({"rel": math.nan}, "rel must be a finite number; got nan."),
        ({"memory": "little"}, "memory must be a size such as '500MB' or '2GB'; got 'little'."),
        ({"dims": 12}, "the queries: dims must be a whole number from 1 to 11; got 12."),
        (
            {"measure": "APP"},
            "There is no measure 'APP'; did you mean 'AP'? 'judged measures' lists them all.",
        ),
        (
            {"measure": "NumRel"},
            "NumRel does not say how good a ranking is; stop by another measure, such as AP.",
        ),
        (
            {"measure": "Bpref"},
            "Bpref tells irrelevant items from unjudged ones; in embeddings every item is judged, "
            "and only relevant ones are listed. Leave it out.",
        ),
        (
            {"normalise": "csls(k=5)"},
            "learn.fit takes scores as they are; leave normalise out of the Embeddings, which have "
            "'csls(k=5)'.",
        ),
        (
            {"unique": ["a"] * 80},
            "learn.fit looks at single items, not at their categories; leave unique out of the "
            "Embeddings.",
        ),
        (
            {"similarity": "dot"},
            "learn.fit learns the similarity, beginning at the cosine; leave similarity out of the "
            "Embeddings, which have 'dot'.",
        ),
    ],
)
def test_options(options: dict[str, Any], said: str) -> None:
    told: list[int] = []
    assert refused(**options, progress=told.append) == said
    assert told == []


def test_a_diagonal_of_different_dimensions() -> None:
    assert refused(*behind_a_map(item_dims=6).both, kind="diagonal") == (
        "diagonal compares dimension with dimension, but queries have 8 dimensions and items 6; "
        "choose another kind, such as bilinear."
    )


def test_one_item() -> None:
    assert refused(DATA.queries, DATA.items[:1], {"0": {"0": 1}}) == (
        "there is one item only; learning needs others to tell it from."
    )


@pytest.mark.parametrize("options", [{}, {"rel": 3}])
def test_nothing_relevant(options: dict[str, Any]) -> None:
    relevance = {"0": {"0": 2}} if options else {"0": {"0": 0}}
    assert refused(DATA.queries, DATA.items, relevance, **options) == (
        f"no item with a vector is relevant to any query (grade {options.get('rel', 1)} or more, "
        "not excluded); "
        "check the relevance that was given."
    )


def test_too_few_queries() -> None:
    assert refused(DATA.queries, DATA.items, {"0": {"0": 1}, "1": {"1": 1}}) == (
        "there are too few queries to split: 2 with different vectors and something relevant, and "
        "training, validation and "
        "held-out queries need at least one each (3 with these shares)."
    )
    assert refused(DATA.queries, DATA.items, {"0": {"0": 1}}, held_out=0) == (
        "there are too few queries to split: 1 with different vectors and something relevant, and "
        "training and validation "
        "queries need at least one each (2 with these shares)."
    )
    same = np.repeat(DATA.queries[:1], 30, axis=0)
    assert refused(same, DATA.items, DATA.relevance).startswith(
        "there are too few queries to split: 1 with different vectors"
    )


@for_each("row", range(0, 30, 3))
@for_each("side", ["queries", "items"])
@for_each("bad", [math.nan, math.inf])
def test_numbers_that_are_none(side: str, row: int, bad: float) -> None:
    """Wherever the split puts the query, and before any training."""
    vectors = {"queries": DATA.queries.copy(), "items": DATA.items.copy()}
    vectors[side][row, 2] = bad
    told: list[int] = []
    said = refused(vectors["queries"], vectors["items"], DATA.relevance, progress=told.append)
    assert said == f"the {side}: vectors {row} hold NaN or infinite numbers; remove or fix them."
    assert told == []


def test_relevance_that_does_not_fit_and_vectors_alone() -> None:
    assert refused(DATA.queries, DATA.items, judged.relevance.pairs()) == (
        "pairs need as many queries as items, but there are 30 queries and 80 items. For several "
        "queries per item, use labels."
    )
    assert error_of(fit, DATA.queries, DATA.relevance) == (
        "learn.fit takes judged.Embeddings(queries, items) first, then what is relevant; got "
        "ndarray."
    )
