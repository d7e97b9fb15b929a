"""What is looked for among the items, and among their grades."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from judged.judgements.check.collection import Collection
from judged.judgements.check.kinds import EXAMPLES
from judged.judgements.check.near import Near
from judged.judgements.check.numbers import Numbers
from judged.judgements.check.result import Finding
from judged.judgements.check.twins import MOST
from judged.matching.faults import identity
from judged.text import counted, quote

PAIR = ["query", "item"]


def item_twins(
    collection: Collection, numbers: Numbers, near: Near
) -> tuple[Finding | None, list[str]]:
    """Items that are the same as a relevant one, or nearly, and not judged for its query; and what
    could not be looked for."""
    relevant, pairs = collection.relevant, near.pairs
    each = (
        relevant.group_by("item")
        .len()
        .join(pairs.group_by("one").len("twins"), left_on="item", right_on="one")
    )
    if each.select((pl.col("len").cast(pl.Int64) * pl.col("twins")).sum()).item() > MOST:
        return None, [
            f"unjudged twins of relevant items: there are more than {MOST:,} of them; are all "
            "items alike?"
        ]
    twins = (
        relevant.join(pairs.rename({"one": "item"}), on="item", maintain_order="left_right")
        .rename({"item": "twin", "other": "item"})
        .join(collection.graded, on=PAIR, how="anti", maintain_order="left")
    )
    if twins.is_empty():
        return None, []
    found = twins.unique(PAIR, keep="first", maintain_order=True)
    about = [
        {
            "query": row["query"],
            "item": row["item"],
            "twin": row["twin"],
            "grade": row["grade"],
            "texts": near.texts(row["item"], row["twin"]),
            "nearness": row["near"],
            "by": row["by"],
        }
        for row in found.head(EXAMPLES).iter_rows(named=True)
    ]
    examples = [
        f"query {row['query']!r}: {row['item']!r} is like {row['twin']!r} "
        f"({near.how(row['by'], row['nearness'])}), which has grade {row['grade']:g}"
        + ("" if row["texts"] is None else f": {quote(row['texts'][0], 60)}")
        for row in about
    ]
    # Each twin gets what its relevant twins have, the best of it.
    own = [name for name in identity(collection.judgements) if name not in PAIR]
    kept = [*PAIR, "grade", *own]
    given = (
        twins.select("query", "item", "twin")
        .join(
            collection.judgements.frame.rename({"item": "twin"}),
            on=["query", "twin"],
            maintain_order="left_right",
        )
        .group_by(*PAIR, *own, maintain_order=True)
        .agg(pl.col("grade").max())
        .select(kept)
    )
    judgements = collection.edited(pl.concat([collection.judgements.frame.select(kept), given]))
    queries = counted(found["query"].n_unique(), "query", "queries")
    are = "item is like a relevant one", "items are like a relevant one"
    says = (
        f"{counted(found.height, *are)} of the same query and not judged for it, in {queries}: "
        "whoever returns it gets nothing for it."
    )
    otherwise = (
        "with it judged as its twin" if found.height == 1 else "with each judged as its twin"
    )
    effect = numbers.effect(otherwise, judgements)
    return Finding("item-twins", found.height, says, tuple(examples), tuple(about), effect), []


def two_grades(collection: Collection, numbers: Numbers) -> Finding | None:
    """Items that the judgements have twice for a query, with different grades."""
    raw = collection.raw
    own = identity(raw)
    frame = raw.frame.with_row_index("row")
    twice = frame.filter(pl.struct(own).is_duplicated())
    first = twice.group_by(own, maintain_order=True).agg(
        pl.col("row").first(),
        grades=pl.col("grade"),
        rows=pl.col("row"),
    )
    other = first.with_columns(
        other=pl.col("grades")
        .list.eval(pl.element().filter(pl.element() != pl.element().first()).last())
        .list.first()
    ).filter(pl.col("other").is_not_null())
    if other.is_empty():
        return None
    about = [
        {
            **{name: row[name] for name in own},
            "grades": row["grades"],
            "places": raw.where(row["rows"]) if raw.locate or raw.rows is not None else None,
        }
        for row in other.head(EXAMPLES).iter_rows(named=True)
    ]
    examples = [
        f"item {row['item']!r} of query {row['query']!r}"
        + (f", subtopic {row['subtopic']!r}" if "subtopic" in row else "")
        + f": {' and '.join(f'{grade:g}' for grade in row['grades'][:4])}"
        + (f" ({row['places']})" if row["places"] else "")
        for row in about
    ]
    changed = frame.join(other.select("row", "other"), on="row", how="left", maintain_order="left")
    changed = changed.with_columns(pl.coalesce("other", "grade").alias("grade"))
    kept = changed.unique(own, keep="first", maintain_order=True)
    frame = kept.select(raw.frame.columns)
    judgements = replace(raw, frame=frame, rows=None, locate=None)
    says = (
        f"{counted(other.height, 'item is', 'items are')} judged twice or more for a query, with "
        "different grades."
    )
    otherwise = (
        "with the other grade, the last that differs from the first"
        if other.height == 1
        else "with the other grade of each, the last that differs from the first"
    )
    return Finding(
        "two-grades",
        other.height,
        says,
        tuple(examples),
        tuple(about),
        numbers.effect_of_raw(otherwise, judgements),
    )


def unreachable(collection: Collection, numbers: Numbers) -> Finding | None:
    """Relevant items that are neither in the collection, where there is one, nor in any run."""
    lost = _nowhere(collection, collection.relevant)
    are = "is of an item that is" if lost.height == 1 else "are of items that are"
    every = counted(collection.relevant.height, "relevant judgement")
    means = (
        "no run can return what is not there."
        if collection.items.given
        else "missed by all, or not there; the items (--items) would tell."
    )
    says = f"{lost.height:,} of {every} {are} {_where(collection)}: {means}"
    return _about_pairs("unreachable", collection, numbers, lost, says)


def unknown_items(collection: Collection, numbers: Numbers) -> Finding | None:
    """Judged items that are neither in the collection nor in any run."""
    lost = _nowhere(collection, collection.graded)
    items = lost["item"].n_unique()
    every = counted(collection.graded["item"].n_unique(), "judged item")
    says = f"{items:,} of {every} {'is' if items == 1 else 'are'} {_where(collection)}."
    return _about_pairs("unknown-items", collection, numbers, lost, says, items)


def _nowhere(collection: Collection, judged: pl.DataFrame) -> pl.DataFrame:
    """Those of some judgements whose item is neither in the collection nor in any run."""
    known = pl.concat([collection.items.ids, collection.run_items.rename("id")])
    return judged.filter(~judged["item"].is_in(known.unique().implode()))


def _where(collection: Collection) -> str:
    places = [
        *(["among the items given"] if collection.items.given else []),
        *(["in any run"] if collection.runs else []),
    ]
    return f"not {' or '.join(places)}"


def _about_pairs(
    name: str,
    collection: Collection,
    numbers: Numbers,
    lost: pl.DataFrame,
    says: str,
    count: int | None = None,
) -> Finding | None:
    """A finding about judgements, which are left out."""
    if lost.is_empty():
        return None
    shown = lost if count is None else lost.unique("item", keep="first", maintain_order=True)
    about = tuple(shown.head(EXAMPLES).select(*PAIR, "grade").iter_rows(named=True))
    examples = [
        f"item {row['item']!r} of query {row['query']!r}, grade {row['grade']:g}" for row in about
    ]
    number = lost.height
    which = "this judgement" if number == 1 else f"these {number:,} judgements"
    otherwise = f"without {which} and the queries to which nothing else is relevant"
    effect = numbers.effect(otherwise, collection.without_pairs(lost.select(PAIR)))
    return Finding(name, count or number, says, tuple(examples), about, effect)
