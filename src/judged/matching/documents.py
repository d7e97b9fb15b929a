"""Rankings of items, or of their documents or categories."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from os import PathLike
from os.path import isfile
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.errors import InputError, quoted
from judged.inputs.dicts import as_id
from judged.inputs.tables import (
    CATEGORIES,
    DOCUMENTS,
    AnyTable,
    Categories,
    Judgements,
    Kind,
    Lookup,
    Run,
    is_frame,
    texts,
)
from judged.matching.checks import (
    excluding_same_id,
    identity,
    nan_message,
    refuse_repeated,
    without_repeats,
)
from judged.matching.join import distinct, numbers
from judged.matching.pool import subtopic_table
from judged.text import Warned, counted

if TYPE_CHECKING:
    import polars as pl

    from judged.inputs.data import Data
    from judged.options import CategoriesLike, ItemToLike


_MANY = {CATEGORIES: "categories", DOCUMENTS: "documents"}
BASIS = {
    kind: f"the best result of each {kind.value} stands for it, and {many} are ranked"
    for kind, many in _MANY.items()
}

OfIds = Callable[[Sequence[str], str], "list[str | None]"]
"""(ids, the name of their table) -> the document of each; None if it is a document itself."""


@dataclass(frozen=True, eq=False)
class Documents:
    """The document of each item, by `item_to` or `unique`."""

    of: OfIds | None = None  # None if each table has a column of documents
    says: str = ""  # the part of an id that is its document, in words
    unlike: str = ""  # words for ids that are documents themselves
    table: Categories | None = None
    column: str = ""
    known: dict[str, str | None] = field(default_factory=dict)  # documents found so far

    @property
    def kind(self) -> Kind:
        return DOCUMENTS if self.table is None else self.table.kind

    @property
    def many(self) -> str:
        return _MANY[self.kind]

    def documents(self, ids: Sequence[str], source: str) -> list[str]:
        """Return the document of each id."""
        assert self.of is not None
        if new := [item for item in ids if item not in self.known]:
            self.known.update(zip(new, self.of(new, source), strict=True))
        return [self.known[item] or item for item in ids]

    def replacing_items(self, table: AnyTable) -> tuple[pl.DataFrame, int]:
        """Replace items by documents, and count the ids that are documents themselves."""
        import polars as pl

        frame = table.frame
        if self.of is None:
            if "document" not in frame.columns:
                raise InputError(
                    f"{table.source}: there is no column {self.column!r} for item_to; a dict, a "
                    "TREC file and a table without it need item_to as a separator, a pattern, a "
                    "table or a function."
                )
            return frame.with_columns(item="document").drop("document"), 0
        items = frame["item"].unique(maintain_order=True)
        documents = texts("document", self.documents(items.to_list(), table.source))
        alone = int((documents == items).sum())
        pairs = pl.DataFrame([items, documents])
        joined = frame.join(pairs, on="item", how="left", maintain_order="left")
        return joined.with_columns(item="document").select(frame.columns), alone


def item_to_document(item_to: ItemToLike) -> Documents:
    """Parse `item_to`: a text such as "doc:#", a pattern, a table or a function."""
    if isinstance(item_to, str):
        kind, colon, what = item_to.partition(":")
        if colon and what and kind in _KINDS:
            return _KINDS[kind](what)
        table = f" For the table in that file: table:{item_to}." if isfile(item_to) else ""
        raise InputError(
            "item_to must be doc:SEPARATOR, such as doc:#, pattern:REGEX, column:NAME or "
            f"table:FILE; got {quoted(item_to)}.{table}"
        )
    if isinstance(item_to, re.Pattern):
        return _pattern(item_to)
    if isinstance(item_to, (Mapping, PathLike, Categories)) or is_frame(item_to):
        return _table(item_to)
    if callable(item_to):
        return _function(item_to)
    raise InputError(
        "item_to must be a text such as 'doc:#', a compiled pattern, a dict {item: document}, a "
        f"table or a function; got {quoted(item_to)}."
    )


def _cut(separator: str) -> Documents:
    def of(ids: Sequence[str], source: str) -> list[str | None]:
        return [item.rpartition(separator)[0] or None for item in ids]

    return Documents(
        of,
        f"what stands before the last {separator!r} of its id",
        f"without a {separator!r} to cut at",
    )


def _pattern(expression: str | re.Pattern[str]) -> Documents:
    try:
        pattern = re.compile(expression)
        if isinstance(pattern.pattern, bytes):
            raise InputError(f"item_to: the pattern {pattern.pattern!r} must be one of texts.")
    except re.error as error:
        raise InputError(f"item_to: {expression!r} is not a valid pattern ({error}).") from None
    if not pattern.groups:
        raise InputError(
            f"item_to: the pattern {pattern.pattern!r} has no group; put the document in "
            "parentheses, as in ^(.*?)_\\d+$."
        )

    def of(ids: Sequence[str], source: str) -> list[str | None]:
        matches = map(pattern.search, ids)
        return [(match and match.group(1)) or None for match in matches]

    return Documents(
        of,
        f"the first group of {pattern.pattern!r} in its id",
        f"in which {pattern.pattern!r} finds nothing",
    )


def item_to_category(categories: CategoriesLike) -> Documents:
    """Parse `unique`: a table from item to category."""
    return _table(categories, CATEGORIES)


def _table(categories: Any, kind: Kind = DOCUMENTS) -> Documents:
    from judged.inputs.keyed import read_categories  # loads polars

    table = read_categories(categories, kind)
    return Documents(lambda ids, source: list(table.of(ids, source)), table=table)


def _function(function: Callable[[str], Any]) -> Documents:
    def one(item: str) -> str:
        try:
            document = function(item)
        except Exception as error:
            raise InputError(
                f"item_to: the function failed for item {item!r}: {type(error).__name__}: {error}."
            ) from error
        if document is None or document == "":
            raise InputError(
                f"item_to: the function gives {document!r} for item {item!r}; it must give an id, "
                "if need be the item's own."
            )
        return as_id(document, f"item_to, item {item!r}")

    name = getattr(function, "__name__", type(function).__name__)
    return Documents(
        lambda ids, source: [one(item) for item in ids], f"what {name} makes of its id"
    )


_KINDS: dict[str, Callable[[str], Documents]] = {
    "doc": _cut,
    "pattern": _pattern,
    "column": lambda name: Documents(says=f"in column {name!r}", column=name),
    "table": _table,
}


def by_document(data: Data, to: Documents, *, duplicates: str) -> Data:
    """Replace items by documents; judgements and all runs tell which of them judgements name."""
    if to.column:
        columns = data.columns.with_document(to.column)
        data = data if columns == data.columns else replace(data, columns=columns)
    data = data.kept()
    judged: set[str] = set()

    def change_judgements(judgements: Judgements | Lookup) -> Judgements | Lookup:
        judged.update(judgements.names())
        of_documents, notes = level_of(judgements, data.readable_runs(), to)
        if of_documents:
            return replace(judgements, notes=(*judgements.notes, *notes))
        return judgements_by_document(judgements, to, notes=notes, duplicates=duplicates)

    def change_run(run: Run | Lookup) -> Run:
        return run_by_document(run, to, duplicates=duplicates, judged=judged)

    return data.then(judgements=change_judgements, run=change_run)


def level_of(
    judgements: Judgements | Lookup, runs: Iterable[Run | Lookup], to: Documents
) -> tuple[bool, tuple[str, ...]]:
    """Decide whether judgements name documents, with notes; runs tell if ids do not."""
    if to.table is not None:
        # An id that the table has only as a document is one.
        judged_ids, of_item = _ids(judgements), to.table.by_item
        items = [item for item in judged_ids if of_item.get(item, item) != item]
        doubtful = items and all(item in to.table.all for item in judged_ids)
        return False, (_doubtful(items[0], to),) if doubtful else ()
    if to.of is None:
        return _level_by_column(judgements, runs, to)
    judged = list(_ids(judgements))
    pairs = zip(judged, to.documents(judged, judgements.source), strict=True)
    changed = [pair for pair in pairs if pair[0] != pair[1]]
    as_items: dict[str, str] = {}
    as_documents: dict[str, str] = {}
    both: list[str] = []
    for run in runs if changed else ():
        there = set(to.documents(list(_ids(run)), run.source))
        for item, document in changed:
            if document in there and item not in there:
                as_items.setdefault(item, run.name)
            elif item in there and document not in there:
                as_documents.setdefault(item, run.name)
            elif item in there:
                both.append(item)
    if as_items and as_documents:
        (item, one), (document, other) = min(as_items.items()), min(as_documents.items())
        raise InputError(
            f"{judgements.source}: some judged ids are those of items, such as {item!r} by run "
            f"{one!r}, and some those of documents, such as {document!r} by run {other!r}; item_to "
            "would change both. Give a pattern that finds nothing in the ids of documents, or a "
            "table, or evaluate such runs one by one."
        )
    if as_documents:
        ids = counted(len(changed), "judged id is", "judged ids are")
        says = f"such as {next(iter(as_documents))!r}, and stay as they are"
        return True, (f"{ids} taken for documents of the run, {says}.",)
    if both and not as_items:
        return False, (_doubtful(both[0], to),)
    return False, ()


def _doubtful(item: str, to: Documents) -> Warned:
    return Warned(
        f"The judgements' ids, such as {item!r}, may be items or {to.many}: they are taken for "
        f"items. Give {to.many} ids that no item has."
    )


def _level_by_column(
    judgements: Judgements | Lookup, runs: Iterable[Run | Lookup], to: Documents
) -> tuple[bool, tuple[str, ...]]:
    if isinstance(judgements, Judgements) and "document" in judgements.frame.columns:
        return False, ()
    judged = _ids(judgements)
    items: set[str] = set()
    documents: set[str] = set()
    for run in runs:
        if isinstance(run, Run) and "document" in run.frame.columns:
            items |= judged & set(run.frame["item"].unique().to_list())
            documents |= judged & set(run.frame["document"].unique().to_list())
        # A run without the column is an error when it is matched.
    if items and not documents:
        raise InputError(
            f"{judgements.source}: the ids are those of items, such as {min(items)!r}, but the "
            f"column {to.column!r} with their documents is missing. Add it, or give a table from "
            "item to document."
        )
    return True, ()


def _ids(table: Judgements | Run | Lookup) -> set[str]:
    if isinstance(table, Lookup):
        return set(chain.from_iterable(table.lists.values()))
    return set(table.frame["item"].unique().to_list())


def run_by_document(
    run: Run | Lookup, to: Documents, *, duplicates: str = "error", judged: Collection[str] = ()
) -> Run:
    """Rank documents, each at the place and with the score of its best result.

    Only the judged queries, if these are known, keep their lists.
    """
    table = _of_judged(run, duplicates, judged) if judged else as_table(run, duplicates)
    whole = distinct(table, duplicates).table
    nan = whole.frame["score"].is_nan().arg_true().to_numpy().astype(np.int64)
    if len(nan):
        raise InputError(nan_message(whole, nan))
    frame, alone = to.replacing_items(whole)
    best = without_repeats(replace(whole, frame=frame), np.arange(frame.height), "first")
    notes = [f"{frame.height:,} results were reduced to {best.frame.height:,} {to.many}."]
    if alone and to.unlike:
        notes.append(
            f"{counted(alone, 'id')} of the run {to.unlike}: taken for "
            f"{'a document' if alone == 1 else 'documents'}."
        )
    basis = (BASIS[to.kind], *([f"an item's document is {to.says}"] if to.says else []))
    return replace(
        best, notes=(*best.notes, *notes), basis=(*best.basis, *basis), dropped=whole.dropped
    )


def _of_judged(run: Run | Lookup, duplicates: str, judged: Collection[str]) -> Run:
    """Return a run as a table of the judged queries' results; other queries are only named."""
    if isinstance(run, Lookup):
        lists = {query: results for query, results in run.lists.items() if query in judged}
        again = tuple(pair for pair in run.repeated if pair[0] in judged)
        table = as_table(replace(run, lists=lists, repeated=again), duplicates)
        return replace(table, queries=tuple(run.lists))
    import polars as pl

    known = pl.Series(list(judged), dtype=pl.String)
    rows = run.frame["query"].is_in(known.implode()).arg_true().to_numpy()
    if len(rows) == run.frame.height:
        return run
    return replace(
        run,
        frame=run.frame[rows],
        rows=rows if run.rows is None else run.rows[rows],
        queries=tuple(run.names()),
    )


def as_table(run: Run | Lookup, duplicates: str) -> Run:
    """Return a run as a table, also if it is a dict."""
    if isinstance(run, Run):
        return run
    refuse_repeated(run, duplicates)
    dropped, queries = len(run.repeated), tuple(run.lists)
    table = Run(_flat(run, "score"), run.source, run.notes, queries=queries, dropped=dropped)
    return replace(table, basis=run.basis, name=run.name)


def judgements_by_document(
    judgements: Judgements | Lookup,
    to: Documents,
    *,
    notes: tuple[str, ...] = (),
    duplicates: str = "error",
) -> Judgements:
    """Judge documents by the best grade of their items, by subtopic if there are subtopics."""
    import polars as pl

    if isinstance(judgements, Lookup):
        if judgements.by_subtopic:
            judgements = subtopic_table(judgements, duplicates)
        else:
            dropped = len(refuse_repeated(judgements, duplicates))
            frame, names = _flat(judgements, "grade"), tuple(judgements.lists)
            source, told = judgements.source, judgements.notes
            judgements = Judgements(frame, source, told, queries=names, dropped=dropped)
    whole = distinct(judgements, duplicates).table
    frame, _ = to.replacing_items(whole)
    about = identity(whole)
    best = frame.group_by(about, maintain_order=True).agg(pl.col("grade").max())
    all_notes = [*whole.notes, *notes]
    if best.height < frame.height:
        all_notes.append(
            f"{frame.height:,} judgements were reduced to {best.height:,} of {to.many}, with the "
            "best grade of each."
        )
    return replace(
        whole,
        frame=best.select("query", "item", "grade", *about[2:]),
        notes=tuple(all_notes),
        locate=None,
        rows=None,
    )


def _flat(lookup: Lookup, value: str) -> pl.DataFrame:
    import polars as pl

    lists = lookup.lists
    lengths = np.fromiter(map(len, lists.values()), np.int64, len(lists))
    values = numbers(lists, lengths, f"a {value}")
    query = texts("query", lists).gather(np.repeat(np.arange(len(lists)), lengths))
    item = texts("item", chain.from_iterable(lists.values()))
    return pl.DataFrame([query, item, pl.Series(value, values, dtype=pl.Float64)])


def with_items(
    data: Data,
    *,
    item_to: ItemToLike | None = None,
    unique: CategoriesLike | None = None,
    exclude_same_id: bool = False,
    duplicates: str = "error",
) -> Data:
    """Apply `item_to`, `unique` and `exclude_same_id` to the data."""
    if exclude_same_id:
        data = excluding_same_id(data)
    to = _documents(data, item_to, unique)
    if to is None:
        return data
    data = by_document(data.whole(), to, duplicates=duplicates)
    return excluding_same_id(data, one=to.kind.value) if exclude_same_id else data


def _documents(
    data: Data, item_to: ItemToLike | None, unique: CategoriesLike | None
) -> Documents | None:
    """Return what is ranked instead of items; a column named for documents tells it too."""
    if item_to is None and unique is None and "document" not in data.columns:
        return None
    if item_to is not None and unique is not None:
        raise InputError("item_to and unique both say what is ranked; give one of them.")
    if unique is not None:
        return item_to_category(unique)
    if item_to is None:
        item_to = f"column:{'+'.join(data.columns['document'])}"
    return item_to_document(item_to)
