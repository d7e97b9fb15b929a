"""Runs and judgements with categories for items: each category's best result stands for it."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.errors import InputError
from judged.inputs import read_judgements, read_run
from judged.inputs.categories import read_categories
from judged.inputs.tables import Judgements, Lookup, Run, texts
from judged.judging.faults import nan_message, refuse_repeated, without_repeats
from judged.judging.join import distinct, numbers

if TYPE_CHECKING:
    import polars as pl


BASIS = ("the best result of each category stands for it, and categories are ranked",)
"""What rankings of categories are, in words."""


def unique_results(run: Any, categories: Any, *, duplicates: str = "error") -> Run:
    """A run whose results are categories, each with its best score, where its best result stood.

    >>> run, categories = {"q": {"a1": 3, "a2": 2, "b": 1}}, {"a1": "A", "a2": "A", "b": "B"}
    >>> unique_results(run, categories).frame["item"].to_list()
    ['A', 'B']
    """
    given = read_run(run)
    if isinstance(given, Lookup):
        refuse_repeated(given, duplicates)
        named = tuple(given.lists)
        given = Run(
            _flat(given, "score"), given.source, given.notes, queries=named, name=given.name
        )
    whole = distinct(given, duplicates).table
    nan = whole.frame["score"].is_nan().arg_true().to_numpy().astype(np.int64)
    if len(nan):
        raise InputError(nan_message(whole, nan))
    frame = read_categories(categories).replacing_items(whole.frame, whole.source)
    kept = without_repeats(replace(whole, frame=frame), np.zeros(0, np.int64), "first")
    return replace(
        kept,
        notes=(
            *kept.notes,
            f"{frame.height:,} results were reduced to {kept.frame.height:,} categories.",
        ),
    )


def unique_judgements(judgements: Any, categories: Any, *, duplicates: str = "error") -> Judgements:
    """Judgements of categories: the best grade of each category's judged items."""
    import polars as pl

    given = read_judgements(judgements)
    if isinstance(given, Lookup):
        refuse_repeated(given, duplicates)
        named = tuple(given.lists)
        given = Judgements(_flat(given, "grade"), given.source, given.notes, queries=named)
    whole = distinct(given, duplicates).table
    frame = read_categories(categories).replacing_items(whole.frame, whole.source)
    best = frame.group_by("query", "item", maintain_order=True).agg(pl.col("grade").max())
    return Judgements(best, whole.source, whole.notes, queries=whole.queries)


def _flat(given: Lookup, value: str) -> pl.DataFrame:
    import polars as pl

    lists = given.lists
    lengths = np.fromiter(map(len, lists.values()), np.int64, len(lists))
    values = numbers(lists, lengths, f"a {value}")
    query = texts("query", lists).gather(np.repeat(np.arange(len(lists)), lengths))
    item = texts("item", chain.from_iterable(lists.values()))
    return pl.DataFrame([query, item, pl.Series(value, values, dtype=pl.Float64)])
