"""What is looked for among the queries."""

from __future__ import annotations

from typing import Any

import polars as pl

from judged.judgements.check.collection import Collection
from judged.judgements.check.kinds import EXAMPLES
from judged.judgements.check.near import Near
from judged.judgements.check.numbers import Numbers
from judged.judgements.check.result import Effect, Finding
from judged.text import counted, few, quote


def query_twins(collection: Collection, numbers: Numbers, near: Near) -> Finding | None:
    """Queries that are the same as another one, or nearly, with other relevant items."""
    relevant = collection.relevant.sort("query", "item").group_by("query").agg("item")
    sets = pl.DataFrame({"one": collection.names})
    sets = sets.join(relevant.rename({"query": "one"}), on="one", how="left", maintain_order="left")
    sets = sets.with_columns(pl.col("item").fill_null([]))
    # A number for each set of items: of all pairs only numbers are compared.
    number = (
        sets.group_by("item").agg("one").with_row_index("set").select("set", "one").explode("one")
    )
    pairs = (
        near.pairs.join(number, on="one")
        .join(number.rename({"one": "other", "set": "other_set"}), on="other")
        .filter(pl.col("set") != pl.col("other_set"))
    )
    if pairs.is_empty():
        return None
    names = collection.names.filter(collection.names.is_in(pairs["one"].implode()))
    # Each pair once, in the order of the judgements.
    place = pl.DataFrame({"one": names, "at": range(len(names))})
    pairs = (
        pairs.join(place, on="one")
        .join(place.rename({"one": "other", "at": "to"}), on="other")
        .filter(pl.col("at") < pl.col("to"))
        .sort("at", "to")
    )
    shown = pairs.head(EXAMPLES)
    known = sets.filter(sets["one"].is_in(pl.concat([shown["one"], shown["other"]]).implode()))
    items = dict(known.iter_rows())
    about = [
        {
            "queries": [row["one"], row["other"]],
            "texts": near.texts(row["one"], row["other"]),
            "nearness": row["near"],
            "by": row["by"],
            "relevant": [items[row[name]][:EXAMPLES] for name in ("one", "other")],
        }
        for row in shown.iter_rows(named=True)
    ]
    examples = [
        f"{_both(each, near)}: relevant are {_items(each['relevant'][0])} and "
        f"{_items(each['relevant'][1])}"
        for each in about
    ]
    says = (
        f"{counted(pairs.height, 'pair')} of queries that are the same or nearly so, with other "
        f"relevant items: {len(names):,} of {counted(len(collection.names), 'query', 'queries')}."
    )
    effect = numbers.effect(_without(len(names)), collection.without_queries(names))
    return Finding("query-twins", pairs.height, says, tuple(examples), tuple(about), effect)


def _both(each: dict[str, Any], near: Near) -> str:
    one, other = each["queries"]
    said = each["texts"]
    named = (
        f"{one!r} and {other!r}"
        if said is None
        else f"{one!r} {quote(said[0], 60)} and {other!r} {quote(said[1], 60)}"
    )
    return f"{named} ({near.how(each['by'], each['nearness'])})"


def _items(items: list[str]) -> str:
    return few([repr(item) for item in items], EXAMPLES - 1) if items else "none"


def _without(number: int) -> str:
    return "without this query" if number == 1 else f"without these {number:,} queries"


def _about_queries(name: str, queries: pl.Series, says: str, effect: Effect) -> Finding | None:
    """A finding that is a list of queries."""
    if not len(queries):
        return None
    first = queries.head(EXAMPLES).to_list()
    about = tuple({"query": query} for query in first)
    return Finding(name, len(queries), says, tuple(map(repr, first)), about, effect)


def without(
    name: str, collection: Collection, numbers: Numbers, queries: pl.Series, are: tuple[str, str]
) -> Finding | None:
    """A finding about judged queries, which are left out; `are` says what one is, and several."""
    if not len(queries):
        return None
    of = counted(len(collection.names), "judged query", "judged queries")
    says = f"{len(queries):,} of {of} {are[len(queries) > 1]}."
    effect = numbers.effect(_without(len(queries)), collection.without_queries(queries))
    return _about_queries(name, queries, says, effect)


def all_relevant(collection: Collection, numbers: Numbers) -> Finding | None:
    """Queries whose judged items are all relevant, where others have irrelevant ones; or to which
    every item of the collection is."""
    graded = collection.graded
    relevant = pl.col("relevant")
    by_query = graded.group_by("query").agg(relevant.all(), number=relevant.sum())
    found = by_query.filter("relevant")
    if graded["relevant"].all():  # then they say nothing of what is irrelevant
        every = len(collection.items.ids) or graded.height + 1
        found = found.filter(pl.col("number") >= every)
    names = collection.names.filter(collection.names.is_in(found["query"].implode()))
    are = "has nothing but relevant items judged", "have nothing but relevant items judged"
    return without("all-relevant", collection, numbers, names, are)


def only_relevant(collection: Collection) -> list[str]:
    """What is said where judgements list what is relevant."""
    if not collection.graded["relevant"].all():
        return []
    return [
        "queries with everything relevant: every judgement is relevant, as where relevant items "
        "alone are listed."
    ]


def nothing_relevant(collection: Collection, numbers: Numbers) -> Finding | None:
    """Queries to which nothing is relevant."""
    names = collection.names.filter(
        ~collection.names.is_in(collection.relevant["query"].unique().implode())
    )
    are = "has nothing relevant", "have nothing relevant"
    return without("nothing-relevant", collection, numbers, names, are)


def missing_queries(collection: Collection, numbers: Numbers) -> Finding | None:
    """Judged queries that are in no run."""
    names = collection.names.filter(~collection.names.is_in(collection.run_queries.implode()))
    runs = "the run" if len(collection.runs) == 1 else f"any of {len(collection.runs):,} runs"
    are = f"is not in {runs}", f"are not in {runs}"
    return without("missing-queries", collection, numbers, names, are)


def unknown_queries(collection: Collection, numbers: Numbers) -> Finding | None:
    """Judged queries that are not among the queries given."""
    names = collection.names.filter(~collection.names.is_in(collection.queries.ids.implode()))
    are = "is not among the queries given", "are not among the queries given"
    return without("unknown-queries", collection, numbers, names, are)


def unjudged_queries(collection: Collection) -> Finding | None:
    """Queries of runs that nobody judged."""
    lost = collection.run_queries
    lost = lost.filter(~lost.is_in(collection.names.implode()))
    of = counted(len(collection.run_queries), "query of the runs", "queries of the runs")
    are = "has no judgements" if len(lost) == 1 else "have no judgements"
    effect = Effect("left out", reason="Queries without judgements are in no number.")
    return _about_queries("unjudged-queries", lost, f"{len(lost):,} of {of} {are}.", effect)
