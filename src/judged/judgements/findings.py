"""Problems of a collection: every kind of finding, and its effect on the values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from judged.errors import InputError, for_caller
from judged.inputs import read_judgements
from judged.inputs.tables import AnyTable, texts
from judged.inputs.texts import read_texts
from judged.judgements.collection import (
    NO_RUNS,
    PAIR,
    CheckedCollection,
    FindingEffect,
    as_table,
    first_of_each,
)
from judged.judgements.twins import MAX_PAIRS, find_twins, nearness, plain_ids, unlike, words_of
from judged.matching.checks import identity
from judged.text import counted, few, quote

if TYPE_CHECKING:
    from judged.options import JudgementsLike, TextsLike

EXAMPLES = 3  # number of examples of each finding


@dataclass(frozen=True)
class CollectionFinding:
    """One kind of problem that was found."""

    name: str  # kind of the finding, such as "query-twins"
    count: int  # number of occurrences
    says: str
    examples: tuple[str, ...]  # the first three occurrences, in words
    about: tuple[Mapping[str, Any], ...]  # the same as data: ids, texts, grades
    effect: FindingEffect

    def sentences(self) -> list[str]:
        """Return the finding, its examples and, if there are runs, its effect."""
        more = self.count - len(self.examples)
        return [
            f"{self.name}: {self.says}",
            *(f"  {text}" for text in self.examples),
            *([f"  … and {more:,} more"] if more > 0 else []),
            *([f"  {self.effect}"] if self.effect.reason != NO_RUNS else []),
        ]


Found = Iterator[CollectionFinding | str]
"""A finding, if there is one, and why something could not be checked, a sentence each."""


# -- queries


def find_query_twins(collection: CheckedCollection) -> Found:
    """Find queries that are the same as another, or nearly, with other relevant items."""
    near, unchecked = find_twins(collection.queries, collection.names)
    yield from unchecked
    relevant = collection.relevant.sort("query", "item").group_by("query").agg("item")
    sets = pl.DataFrame({"one": collection.names}).with_row_index("place")
    sets = sets.join(relevant.rename({"query": "one"}), on="one", how="left")
    sets = sets.with_columns(pl.col("item").fill_null([]))
    # Number each set of items, so that pairs are compared by numbers.
    number = sets.group_by("item").agg("one", "place").with_row_index("set")
    number = number.select("one", "place", "set").explode("one", "place")
    others = number.select(pl.all().name.prefix("other_")).rename({"other_one": "other"})
    # Keep each pair once, in the order of the judgements.
    pairs = (
        near.join(number, on="one")
        .join(others, on="other")
        .filter((pl.col("set") != pl.col("other_set")) & (pl.col("place") < pl.col("other_place")))
        .sort("place", "other_place")
    )
    if pairs.is_empty():
        return
    names = collection.judged_queries(pl.concat([pairs["one"], pairs["other"]]), inside=True)
    first = pairs.head(EXAMPLES)
    known = sets.filter(sets["one"].is_in(pl.concat([first["one"], first["other"]]).implode()))
    items = dict(known.select("one", "item").iter_rows())
    about, examples = [], []
    for row in first.iter_rows(named=True):
        both = [row["one"], row["other"]]
        words = collection.queries.texts_of(*both)
        named = [
            repr(query) if words is None else f"{query!r} {quote(text, 60)}"
            for query, text in zip(both, words or both, strict=True)
        ]
        relevant_items = [items[query][:EXAMPLES] for query in both]
        lists = [few(list(map(repr, own)), EXAMPLES - 1) or "none" for own in relevant_items]
        examples.append(
            f"{' and '.join(named)} ({nearness(row['by'], row['near'])}): relevant are "
            f"{' and '.join(lists)}"
        )
        about.append(
            {
                "queries": both,
                "texts": words,
                "nearness": row["near"],
                "by": row["by"],
                "relevant": relevant_items,
            }
        )
    says = (
        f"{counted(pairs.height, 'pair')} of identical or nearly identical queries with different "
        f"relevant items ({len(names):,} of {counted(len(collection.names), 'query', 'queries')})."
    )
    effect = collection.effect(_without(len(names)), collection.without_queries(names))
    yield CollectionFinding(
        "query-twins", pairs.height, says, tuple(examples), tuple(about), effect
    )


def _without(number: int) -> str:
    return "without this query" if number == 1 else f"without these {number:,} queries"


def _queries_finding(
    name: str, queries: pl.Series, says: str, effect: FindingEffect
) -> CollectionFinding:
    first = queries.head(EXAMPLES).to_list()
    about = tuple({"query": query} for query in first)
    return CollectionFinding(name, len(queries), says, tuple(map(repr, first)), about, effect)


def _judged_queries_finding(
    name: str,
    collection: CheckedCollection,
    queries: pl.Series,
    verbs: tuple[str, str],
    rest: str,
) -> Found:
    """Yield a finding on judged queries, corrected by leaving them out."""
    if not len(queries):
        return
    total = counted(len(collection.names), "judged query", "judged queries")
    says = f"{len(queries):,} of {total} {verbs[len(queries) > 1]} {rest}."
    effect = collection.effect(_without(len(queries)), collection.without_queries(queries))
    yield _queries_finding(name, queries, says, effect)


IS, HAS = ("is", "are"), ("has", "have")


def find_all_relevant(collection: CheckedCollection) -> Found:
    """Find queries with only relevant judgements."""
    # If all judgements are relevant, only queries to which the whole collection is relevant count.
    graded = collection.graded
    relevant = pl.col("relevant")
    by_query = graded.group_by("query").agg(relevant.all(), number=relevant.sum())
    only = by_query.filter("relevant")
    if graded["relevant"].all():
        every = len(collection.items.ids) or graded.height + 1
        only = only.filter(pl.col("number") >= every)
    names = collection.judged_queries(only["query"], inside=True)
    rest = "only relevant judgements"
    return _judged_queries_finding("all-relevant", collection, names, HAS, rest)


def find_nothing_relevant(collection: CheckedCollection) -> Found:
    """Find queries without relevant items."""
    names = collection.judged_queries(collection.relevant["query"], inside=False)
    rest = "no relevant items"
    return _judged_queries_finding("nothing-relevant", collection, names, HAS, rest)


def find_missing_queries(collection: CheckedCollection) -> Found:
    """Find judged queries that are in no run."""
    if not collection.runs:
        return
    names = collection.judged_queries(collection.run_queries, inside=False)
    runs = "the run" if len(collection.runs) == 1 else f"any of {len(collection.runs):,} runs"
    yield from _judged_queries_finding("missing-queries", collection, names, IS, f"not in {runs}")


def find_unknown_queries(collection: CheckedCollection) -> Found:
    """Find judged queries that are not among the given queries."""
    if not collection.queries.given:
        return
    names = collection.judged_queries(collection.queries.ids, inside=False)
    rest = "not among the given queries"
    yield from _judged_queries_finding("unknown-queries", collection, names, IS, rest)


def find_unjudged_queries(collection: CheckedCollection) -> Found:
    """Find queries of runs that have no judgements."""
    queries = collection.run_queries
    unjudged = queries.filter(~queries.is_in(collection.names.implode()))
    if not len(unjudged):
        return
    total = counted(len(queries), "query of the runs", "queries of the runs")
    verb = "has" if len(unjudged) == 1 else "have"
    reason = "Queries without judgements do not count in any value."
    says = f"{len(unjudged):,} of {total} {verb} no judgements."
    effect = FindingEffect("left out", reason=reason)
    yield _queries_finding("unjudged-queries", unjudged, says, effect)


# -- items and grades


def find_item_twins(collection: CheckedCollection) -> Found:
    """Find unjudged items that are the same as a relevant one, or nearly."""
    relevant = collection.relevant
    pairs, unchecked = find_twins(collection.items, relevant["item"].unique())
    yield from unchecked
    counts = (
        relevant.group_by("item")
        .len()
        .join(pairs.group_by("one").len("twins"), left_on="item", right_on="one")
    )
    if counts.select((pl.col("len").cast(pl.Int64) * pl.col("twins")).sum()).item() > MAX_PAIRS:
        yield (
            f"unjudged twins of relevant items: there are more than {MAX_PAIRS:,}. Are all items "
            "alike?"
        )
        return
    twins = (
        relevant.join(pairs.rename({"one": "item"}), on="item", maintain_order="left_right")
        .rename({"item": "twin", "other": "item"})
        .join(collection.graded, on=PAIR, how="anti", maintain_order="left")
    )
    if twins.is_empty():
        return
    unjudged = twins.unique(PAIR, keep="first", maintain_order=True)
    about, examples = [], []
    for row in unjudged.head(EXAMPLES).iter_rows(named=True):
        words = collection.items.texts_of(row["item"], row["twin"])
        about.append(
            {
                **{name: row[name] for name in ("query", "item", "twin", "grade")},
                "texts": words,
                "nearness": row["near"],
                "by": row["by"],
            }
        )
        examples.append(
            f"query {row['query']!r}: {row['item']!r} is like {row['twin']!r} "
            f"({nearness(row['by'], row['near'])}), which has grade {row['grade']:g}"
            + ("" if words is None else f": {quote(words[0], 60)}")
        )
    # Each twin gets the best grade of its relevant twins, by subtopic if there are any.
    more = [name for name in identity(collection.judgements) if name not in PAIR]
    columns = [*PAIR, "grade", *more]
    added = (
        twins.select("query", "item", "twin")
        .join(
            collection.judgements.frame.rename({"item": "twin"}),
            on=["query", "twin"],
            maintain_order="left_right",
        )
        .group_by(*PAIR, *more, maintain_order=True)
        .agg(pl.col("grade").max())
        .select(columns)
    )
    judgements = collection.edited(pl.concat([collection.judgements.frame.select(columns), added]))
    queries = counted(unjudged["query"].n_unique(), "query", "queries")
    verb = counted(unjudged.height, "unjudged item is", "unjudged items are")
    says = (
        f"{verb} identical or nearly identical to a relevant item of the same query ({queries}). "
        "Runs that return them get no credit."
    )
    otherwise = f"with {'it' if unjudged.height == 1 else 'each'} judged as its twin"
    effect = collection.effect(otherwise, judgements)
    yield CollectionFinding(
        "item-twins", unjudged.height, says, tuple(examples), tuple(about), effect
    )


def find_two_grades(collection: CheckedCollection) -> Found:
    """Find items that are judged twice for a query, with different grades."""
    raw = collection.raw
    keys = identity(raw)
    frame = raw.frame.with_row_index("row")
    first = (
        frame.filter(pl.struct(keys).is_duplicated())
        .group_by(keys, maintain_order=True)
        .agg(pl.col("row").first(), grades=pl.col("grade"), rows=pl.col("row"))
    )
    different = first.with_columns(
        other=pl.col("grades")
        .list.eval(pl.element().filter(pl.element() != pl.element().first()).last())
        .list.first()
    ).filter(pl.col("other").is_not_null())
    if different.is_empty():
        return
    about, examples = [], []
    for row in different.head(EXAMPLES).iter_rows(named=True):
        places = raw.where(row["rows"]) if raw.locate or raw.rows is not None else None
        about.append(
            {**{name: row[name] for name in keys}, "grades": row["grades"], "places": places}
        )
        examples.append(
            f"item {row['item']!r} of query {row['query']!r}"
            + (f", subtopic {row['subtopic']!r}" if "subtopic" in row else "")
            + f": {' and '.join(f'{grade:g}' for grade in row['grades'][:4])}"
            + (f" ({places})" if places else "")
        )
    changed = frame.join(
        different.select("row", "other"), on="row", how="left", maintain_order="left"
    )
    changed = changed.with_columns(pl.coalesce("other", "grade").alias("grade"))
    first_rows = changed.unique(keys, keep="first", maintain_order=True).select(raw.frame.columns)
    judgements = replace(raw, frame=first_rows, rows=None, locate=None)
    says = (
        f"{counted(different.height, 'item is', 'items are')} judged more than once for a query, "
        "with different grades."
    )
    of_each = "" if different.height == 1 else " of each"
    otherwise = f"with the other grade{of_each}, the last that differs from the first"
    effect = collection.effect(otherwise, judgements, raw=True)
    yield CollectionFinding(
        "two-grades", different.height, says, tuple(examples), tuple(about), effect
    )


def find_unreachable(collection: CheckedCollection) -> Found:
    """Find relevant items that are neither among the items nor in any run."""
    if not (collection.items.given or collection.runs):
        return
    lost = _nowhere(collection, collection.relevant)
    verb = "is of an item that is" if lost.height == 1 else "are of items that are"
    total = counted(collection.relevant.height, "relevant judgement")
    reason = (
        "No run can return them."
        if collection.items.given
        else "Either all runs missed them or they do not exist; give "
        + for_caller("items (--items) to know.")
    )
    says = f"{lost.height:,} of {total} {verb} {_where(collection)}. {reason}"
    yield from _pairs_finding("unreachable", collection, lost, says)


def find_unknown_items(collection: CheckedCollection) -> Found:
    """Find judged items that are neither among the items nor in any run."""
    if not collection.items.given:
        return
    lost = _nowhere(collection, collection.graded)
    items = lost["item"].n_unique()
    total = counted(collection.graded["item"].n_unique(), "judged item")
    says = f"{items:,} of {total} {'is' if items == 1 else 'are'} {_where(collection)}."
    yield from _pairs_finding("unknown-items", collection, lost, says, items)


def _nowhere(collection: CheckedCollection, judged: pl.DataFrame) -> pl.DataFrame:
    known = pl.concat([collection.items.ids, collection.run_items.rename("id")])
    return judged.filter(~judged["item"].is_in(known.unique().implode()))


def _where(collection: CheckedCollection) -> str:
    places = [
        *(["among the given items"] if collection.items.given else []),
        *(["in any run"] if collection.runs else []),
    ]
    return f"not {' or '.join(places)}"


def _pairs_finding(
    name: str,
    collection: CheckedCollection,
    lost: pl.DataFrame,
    says: str,
    items: int | None = None,
) -> Found:
    """Yield a finding on judgements, or on their items, corrected by leaving them out."""
    if lost.is_empty():
        return
    shown_rows = lost if items is None else lost.unique("item", keep="first", maintain_order=True)
    about = tuple(shown_rows.head(EXAMPLES).select(*PAIR, "grade").iter_rows(named=True))
    examples = [
        f"item {row['item']!r} of query {row['query']!r}, grade {row['grade']:g}" for row in about
    ]
    which = "this judgement" if lost.height == 1 else f"these {lost.height:,} judgements"
    otherwise = f"without {which} and queries that have no other relevant items"
    effect = collection.effect(otherwise, collection.without_pairs(lost.select(PAIR)))
    yield CollectionFinding(name, items or lost.height, says, tuple(examples), about, effect)


# -- spellings of ids


def find_spellings(name: str, collection: CheckedCollection) -> Found:
    """Find ids of queries or of items that differ only in spelling."""
    side = collection.items
    judged = collection.judgements.frame["item"].unique(maintain_order=True)
    runs = [run.frame["item"].unique(maintain_order=True) for run in collection.runs]
    if name == "query":
        side, judged = collection.queries, collection.names
        runs = [texts("query", run.names()) for run in collection.runs]
    groups = _spelling_groups(judged, [*([side.ids] if side.given else []), *runs], side.ids)
    if groups.is_empty():
        return
    about = [
        {"ids": row["id"], "where": row["where"]}
        for row in groups.head(EXAMPLES).iter_rows(named=True)
    ]
    examples = []
    for row in about:
        named = [f"{id!r} ({where})" for id, where in zip(row["ids"], row["where"], strict=True)]
        examples.append(f"{' and '.join(named[:3])}: {unlike(*row['ids'][:2])}")
    says = (
        f"{counted(groups.height, f'{name} id has', f'{name} ids have')} more than one spelling. "
        "Ids are compared as exact texts, so each spelling is a different id."
    )
    to = groups.select(pl.col("id"), one=pl.col("id").list.first()).explode("id")
    effect = collection.effect(
        "with one spelling of each, in judgements and runs",
        first_of_each(_rename_ids(collection.judgements, name, to)),
        [_rename_ids(run, name, to) for run in collection.runs],
    )
    yield CollectionFinding(
        f"{name}-ids", groups.height, says, tuple(examples), tuple(about), effect
    )


def _spelling_groups(
    judged: pl.Series, elsewhere: list[pl.Series], known: pl.Series
) -> pl.DataFrame:
    """Return judged ids that are spelled otherwise elsewhere, unless texts or vectors have both."""
    ours = pl.DataFrame({"id": judged, "plain": plain_ids(judged)})
    several = [ours.filter(pl.col("plain").is_duplicated())["plain"]]
    places = [pl.DataFrame({"id": ids, "plain": plain_ids(ids)}) for ids in elsewhere]
    for place in places:
        lacking = ours.join(place, on="id", how="anti")
        several.append(lacking.join(place, on="plain", how="semi")["plain"])
    every = pl.concat([ours, *places]).unique("id", keep="first", maintain_order=True)
    there = pl.concat([place["id"] for place in places]) if places else judged.head(0)
    is_judged, is_there = (pl.col("id").is_in(ids.implode()) for ids in (judged, there))
    groups = (
        every.filter(every["plain"].is_in(pl.concat(several).unique().implode()))
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


def _rename_ids(table: AnyTable, name: str, to: pl.DataFrame) -> AnyTable:
    def rename(frame: pl.DataFrame) -> pl.DataFrame:
        joined = frame.join(to.rename({"id": name}), on=name, how="left", maintain_order="left")
        return joined.with_columns(pl.coalesce("one", name).alias(name)).drop("one")

    names = texts("query", table.names())
    if name == "query":
        names = rename(names.to_frame())["query"].unique(maintain_order=True)
    frame, queries = rename(table.frame), tuple(names.to_list())
    return replace(table, frame=frame, rows=None, locate=None, queries=queries)


# -- training sets


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Queries that a model was trained on."""

    ids: pl.Series
    pairs: pl.DataFrame | None = None  # query and item of relevant items, if the set is judgements
    words: pl.Series | None = None  # normalised texts of the queries, if the set is texts

    @classmethod
    def of(cls, training: JudgementsLike | TextsLike, rel: float | None) -> TrainingSet:
        """Read a training set from judgements, or from a table of queries."""
        try:
            judgements = as_table(read_judgements(training))
        except InputError as error:
            return cls._of_texts(training, error)
        grade = pl.col("grade")
        relevant = judgements.frame.filter(grade > 0 if rel is None else grade >= rel)
        return cls(texts("query", judgements.names()), relevant.select("query", "item").unique())

    @classmethod
    def _of_texts(cls, training: Any, error: InputError) -> TrainingSet:
        try:
            read = read_texts(training, of="queries")
        except InputError as other:
            if str(other) == str(error):
                raise error from None
            raise InputError(
                "the training set is neither judgements nor a table of queries. As judgements: "
                f"{error} As texts: {other}"
            ) from None
        whole = texts("text", [f"{text.title} {text.text}" for text in read.values()])
        return cls(texts("query", read), words=words_of(whole).list.join(" "))

    def known_users(self, collection: CheckedCollection) -> int:
        """Return how many queries are users of a recommender, which a training set contains."""
        # They are if most of them are in judgements used for training, and have no texts. Then only
        # items that they share with the training set are a problem.
        if self.pairs is None or collection.queries.texts is not None:
            return 0
        known = int(collection.names.is_in(self.ids.implode()).sum())
        return known if 2 * known > len(collection.names) else 0


def find_training_queries(collection: CheckedCollection) -> Found:
    """Find judged queries that the training set has, by id or by text."""
    training = collection.training
    if training is None or training.known_users(collection):
        return
    names, frame = collection.names, collection.queries.texts
    same = names.is_in(training.ids.implode())
    by_text = training.words is not None and frame is not None
    if training.words is not None and frame is not None:
        words = words_of(frame["text"]).list.join(" ")
        trained = words.is_in(training.words.unique().implode()) & (words != "")
        same = same | names.is_in(frame["id"].filter(trained).implode())
    rest = f"in the training set (same id{' or text' if by_text else ''})"
    yield from _judged_queries_finding("training-queries", collection, names.filter(same), IS, rest)


def find_training_pairs(collection: CheckedCollection) -> Found:
    """Find relevant items that are relevant to the same query in the training set."""
    training = collection.training
    if training is None or training.pairs is None:
        return
    shared = collection.relevant.join(training.pairs, on=PAIR, how="semi", maintain_order="left")
    if shared.is_empty():
        return
    queries = shared["query"].unique(maintain_order=True)
    about = tuple(shared.head(EXAMPLES).iter_rows(named=True))
    examples = [f"item {row['item']!r} of query {row['query']!r}" for row in about]
    total = counted(collection.relevant.height, "relevant judgement")
    verb = "is" if shared.height == 1 else "are"
    says = (
        f"{shared.height:,} of {total} {verb} in the training set too "
        f"({counted(len(queries), 'query', 'queries')})."
    )
    otherwise = (
        "without its query" if len(queries) == 1 else f"without their {len(queries):,} queries"
    )
    effect = collection.effect(otherwise, collection.without_queries(queries))
    yield CollectionFinding("training-pairs", shared.height, says, tuple(examples), about, effect)


FINDERS: dict[str, Callable[[CheckedCollection], Found]] = {
    "query-twins": find_query_twins,
    "item-twins": find_item_twins,
    "two-grades": find_two_grades,
    "unreachable": find_unreachable,
    "unknown-items": find_unknown_items,
    "unknown-queries": find_unknown_queries,
    "missing-queries": find_missing_queries,
    "unjudged-queries": find_unjudged_queries,
    "all-relevant": find_all_relevant,
    "nothing-relevant": find_nothing_relevant,
    "query-ids": partial(find_spellings, "query"),
    "item-ids": partial(find_spellings, "item"),
    "training-queries": find_training_queries,
    "training-pairs": find_training_pairs,
}
"""The function that finds each kind; it finds nothing without the data that it needs."""
