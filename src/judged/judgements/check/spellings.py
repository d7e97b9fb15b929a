"""Ids that differ only in their spelling: within the judgements, and from those of runs, texts and
vectors."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from judged.inputs.tables import Run
from judged.judgements.check.collection import (
    Collection,
    as_run,
    first_of_each,
    item_ids,
    query_ids,
)
from judged.judgements.check.kinds import EXAMPLES
from judged.judgements.check.numbers import Numbers
from judged.judgements.check.result import Finding
from judged.judgements.check.words import plain_ids, unlike
from judged.text import counted


def spelled_queries(collection: Collection, numbers: Numbers) -> Finding | None:
    """Ids of queries."""
    runs = [query_ids(run) for run in collection.runs]
    return _spelled(collection, numbers, "query", collection.names, runs)


def spelled_items(collection: Collection, numbers: Numbers) -> Finding | None:
    """Ids of items."""
    judged = collection.judgements.frame["item"].unique(maintain_order=True)
    runs = [item_ids(run) for run in collection.runs]
    return _spelled(collection, numbers, "item", judged, runs)


def _spelled(
    collection: Collection, numbers: Numbers, name: str, judged: pl.Series, runs: list[pl.Series]
) -> Finding | None:
    side = collection.queries if name == "query" else collection.items
    groups = _groups(judged, [*([side.ids] if side.given else []), *runs], side.ids)
    if groups.is_empty():
        return None
    about = [
        {"ids": row["id"], "where": row["where"]}
        for row in groups.head(EXAMPLES).iter_rows(named=True)
    ]
    examples = [
        f"{' and '.join(map(_named, row['ids'][:3], row['where'][:3]))}: {unlike(*row['ids'][:2])}"
        for row in about
    ]
    many = {"query": "queries", "item": "items"}[name]
    says = (
        f"{counted(groups.height, f'id of {many} is', f'ids of {many} are')} spelled in more than "
        "one way; ids are compared as exact texts, so that each spelling is another one."
    )
    to = groups.select(pl.col("id"), one=pl.col("id").list.first()).explode("id")
    names = collection.names.to_frame()
    names = _renamed(names, name, to) if name == "query" else names
    judgements = collection.edited(
        _renamed(collection.judgements.frame, name, to),
        names["query"].unique(maintain_order=True).to_list(),
    )
    renamed = [_run(as_run(run), name, to) for run in collection.runs]
    effect = numbers.effect(
        "with one spelling of each, in judgements and runs", first_of_each(judgements), renamed
    )
    return Finding(f"{name}-ids", groups.height, says, tuple(examples), tuple(about), effect)


def _named(name: str, where: str) -> str:
    return f"{name!r} ({where})"


def _groups(judged: pl.Series, elsewhere: list[pl.Series], known: pl.Series) -> pl.DataFrame:
    """Ids of the same plain form: two that are judged, or one that is judged and is elsewhere only
    in another spelling. Two that the collection both has are two."""
    own = _with_plain(judged)
    found = [own.filter(pl.col("plain").is_duplicated())["plain"]]
    places = [_with_plain(ids) for ids in elsewhere]
    for place in places:
        lacking = own.join(place, on="id", how="anti")
        found.append(lacking.join(place, on="plain", how="semi")["plain"])
    every = pl.concat([own, *places]).unique("id", keep="first", maintain_order=True)
    there = pl.concat([place["id"] for place in places]) if places else judged.head(0)
    is_judged, is_there = (pl.col("id").is_in(ids.implode()) for ids in (judged, there))
    groups = (
        every.filter(every["plain"].is_in(pl.concat(found).unique().implode()))
        .with_columns(
            where=pl.when(is_judged & is_there)
            .then(pl.lit("judged, and elsewhere"))
            .when(is_judged)
            .then(pl.lit("judged"))
            .otherwise(pl.lit("elsewhere")),
            known=pl.col("id").is_in(known.implode()),
        )
        .group_by("plain", maintain_order=True)
        .agg("id", "where", pl.col("known").all())
    )
    return groups.filter(~groups["known"])


def _with_plain(ids: pl.Series) -> pl.DataFrame:
    return pl.DataFrame({"id": ids, "plain": plain_ids(ids)})


def _renamed(frame: pl.DataFrame, name: str, to: pl.DataFrame) -> pl.DataFrame:
    joined = frame.join(to.rename({"id": name}), on=name, how="left", maintain_order="left")
    return joined.with_columns(pl.coalesce("one", name).alias(name)).drop("one")


def _run(run: Run, name: str, to: pl.DataFrame) -> Run:
    names = pl.DataFrame({"query": pl.Series(run.names(), dtype=pl.String)})
    queries = _renamed(names, name, to)["query"] if name == "query" else names["query"]
    return replace(
        run,
        frame=_renamed(run.frame, name, to),
        rows=None,
        locate=None,
        queries=tuple(queries.unique(maintain_order=True).to_list()),
    )
