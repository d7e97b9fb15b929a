"""What of the collection is in a training set, too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from judged.errors import InputError
from judged.inputs import read_judgements
from judged.inputs.tables import texts
from judged.inputs.texts import read_texts
from judged.judgements.check.collection import Collection, as_table
from judged.judgements.check.kinds import EXAMPLES
from judged.judgements.check.numbers import Numbers
from judged.judgements.check.queries import without
from judged.judgements.check.result import Finding
from judged.judgements.check.words import words_of
from judged.text import counted

if TYPE_CHECKING:
    from judged.options import JudgementsLike, TextsLike


@dataclass(frozen=True, eq=False)
class Training:
    """Queries that something was trained on."""

    ids: pl.Series
    pairs: pl.DataFrame | None = None
    """Query and item of what is relevant, where it is judgements."""
    said: pl.Series | None = None
    """What the queries say, where it is texts."""

    @classmethod
    def of(cls, given: JudgementsLike | TextsLike, rel: float | None) -> Training:
        """A training set from judgements, or from a table of queries."""
        try:
            judgements = as_table(read_judgements(given))
        except InputError as error:
            return cls._of_texts(given, error)
        grade = pl.col("grade")
        relevant = judgements.frame.filter(grade > 0 if rel is None else grade >= rel)
        return cls(texts("query", judgements.names()), relevant.select("query", "item").unique())

    @classmethod
    def _of_texts(cls, given: Any, error: InputError) -> Training:
        try:
            read = read_texts(given, of="queries")
        except InputError as other:
            if str(other) == str(error):
                raise error from None
            raise InputError(
                "the training set is neither judgements nor a table of queries. As judgements: "
                f"{error} As texts: {other}"
            ) from None
        whole = texts("said", [f"{text.title} {text.text}" for text in read.values()])
        return cls(texts("query", read), said=words_of(whole).list.join(" "))


def users_known_to(collection: Collection, training: Training) -> int:
    """Return how many queries are users of a recommender, who are in its training set by design.

    They are if most of them are in judgements that something was trained on, and have no texts.
    Then only items that they share with the training set are a fault of the collection.
    """
    if training.pairs is None or collection.queries.texts is not None:
        return 0
    known = int(collection.names.is_in(training.ids.implode()).sum())
    return known if 2 * known > len(collection.names) else 0


def training_queries(
    collection: Collection, numbers: Numbers, training: Training
) -> Finding | None:
    """Judged queries that the training set has, by their ids or by their texts."""
    if users_known_to(collection, training):
        return None
    names = collection.names
    same = names.is_in(training.ids.implode())
    if training.said is not None and collection.queries.texts is not None:
        frame = collection.queries.texts
        said = words_of(frame["text"]).list.join(" ")
        trained = said.is_in(training.said.unique().implode()) & (said != "")
        same = same | names.is_in(frame["id"].filter(trained).implode())
    by = " or text" if training.said is not None and collection.queries.texts is not None else ""
    are = (
        f"is in the training set, by its id{by}",
        f"are in the training set, by their id{by}",
    )
    return without("training-queries", collection, numbers, names.filter(same), are)


def training_pairs(collection: Collection, numbers: Numbers, training: Training) -> Finding | None:
    """Relevant items that are relevant to the same query in the training set."""
    if training.pairs is None:
        return None
    on = ["query", "item"]
    found = collection.relevant.join(training.pairs, on=on, how="semi", maintain_order="left")
    if found.is_empty():
        return None
    queries = found["query"].unique(maintain_order=True)
    about = tuple(found.head(EXAMPLES).iter_rows(named=True))
    examples = [f"item {row['item']!r} of query {row['query']!r}" for row in about]
    number = len(queries)
    of = counted(collection.relevant.height, "relevant judgement")
    are = "is" if found.height == 1 else "are"
    which = "query" if number == 1 else "queries"
    says = f"{found.height:,} of {of} {are} in the training set too, of {number:,} {which}."
    otherwise = (
        "without its query" if number == 1 else f"without the {number:,} queries they are of"
    )
    effect = numbers.effect(otherwise, collection.without_queries(queries))
    return Finding("training-pairs", found.height, says, tuple(examples), about, effect)
