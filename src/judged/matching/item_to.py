"""What `item_to` and `unique` say: which document an item belongs to, or which category."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from os.path import isfile
from typing import TYPE_CHECKING, Any

from judged.errors import InputError, quoted
from judged.inputs.dicts import as_id
from judged.inputs.keyed import CATEGORIES, DOCUMENTS, Categories, is_frame, read_categories
from judged.inputs.tables import AnyTable, Kind, texts

if TYPE_CHECKING:
    import polars as pl

    from judged.options import CategoriesLike, ItemToLike

_MANY = {CATEGORIES: "categories", DOCUMENTS: "documents"}
BASIS = {
    kind: f"the best result of each {kind.value} stands for it, and {many} are ranked"
    for kind, many in _MANY.items()
}
"""What rankings of documents or of categories are, in words."""

OfIds = Callable[[Sequence[str], str], "list[str | None]"]
"""(ids, what messages call their table) -> the document of each; None: it is one itself."""


@dataclass(frozen=True, eq=False)
class Documents:
    """Which document an item belongs to, as `item_to` or `unique` says it."""

    of: OfIds | None = None
    """None where each table says it itself, in a column."""
    says: str = ""
    """What of an id is its document, in words."""
    unlike: str = ""
    """What is said of ids that are documents themselves."""
    table: Categories | None = None
    column: str = ""
    known: dict[str, str | None] = field(default_factory=dict)
    """What was found so far: each id is looked at once."""

    @property
    def kind(self) -> Kind:
        """Documents or categories."""
        return DOCUMENTS if self.table is None else self.table.kind

    @property
    def one(self) -> str:
        """What one of the things is called that are ranked."""
        return self.kind.value

    @property
    def many(self) -> str:
        """What they are called."""
        return _MANY[self.kind]

    @property
    def basis(self) -> tuple[str, ...]:
        """What is ranked, in words."""
        return (BASIS[self.kind], *([f"an item's document is {self.says}"] if self.says else []))

    def documents(self, ids: Sequence[str], source: str) -> list[str]:
        """The document of each id."""
        assert self.of is not None
        if new := [each for each in ids if each not in self.known]:
            self.known.update(zip(new, self.of(new, source), strict=True))
        return [self.known[each] or each for each in ids]

    def replacing_items(self, table: AnyTable) -> tuple[pl.DataFrame, int]:
        """A table's rows with documents for items, and how many of its ids are documents
        themselves."""
        import polars as pl

        frame = table.frame
        if self.of is None:
            if "document" not in frame.columns:
                raise InputError(self._no_column(table.source))
            return frame.with_columns(item="document").drop("document"), 0
        items = frame["item"].unique(maintain_order=True)
        found = texts("document", self.documents(items.to_list(), table.source))
        alone = int((found == items).sum())
        pairs = pl.DataFrame([items, found])
        joined = frame.join(pairs, on="item", how="left", maintain_order="left")
        return joined.with_columns(item="document").select(frame.columns), alone

    def _no_column(self, source: str) -> str:
        return (
            f"{source}: there is no column {self.column!r} for item_to; a dict, a TREC file and a "
            "table without it need item_to as a separator, a pattern, a table or a function."
        )


def item_to_document(given: ItemToLike) -> Documents:
    """What `item_to` says: a text such as "doc:#", a pattern, a table or a function.

    >>> item_to_document("doc:#").documents(["a#1", "b#c#2", "d"], "run")
    ['a', 'b#c', 'd']
    >>> item_to_document(r"pattern:^(.*?)_\\d+$").documents(["a_1", "b"], "run")
    ['a', 'b']
    """
    if isinstance(given, str):
        kind, colon, what = given.partition(":")
        if colon and what and kind in _KINDS:
            return _KINDS[kind](what)
        table = f" For the table in that file: table:{given}." if isfile(given) else ""
        raise InputError(
            "item_to must be doc:SEPARATOR, such as doc:#, pattern:REGEX, column:NAME or "
            f"table:FILE; got {quoted(given)}.{table}"
        )
    if isinstance(given, re.Pattern):
        return _pattern(given)
    if isinstance(given, (Mapping, PathLike, Categories)) or is_frame(given):
        return _table(given)
    if callable(given):
        return _function(given)
    raise InputError(
        "item_to must be a text such as 'doc:#', a compiled pattern, a dict {item: document}, a "
        f"table or a function; got {quoted(given)}."
    )


def _cut(separator: str) -> Documents:
    def of(ids: Sequence[str], source: str) -> list[str | None]:
        return [each.rpartition(separator)[0] or None for each in ids]

    return Documents(
        of,
        f"what stands before the last {separator!r} of its id",
        f"without a {separator!r} to cut at",
    )


def _pattern(given: str | re.Pattern[str]) -> Documents:
    try:
        pattern = re.compile(given)
        if isinstance(pattern.pattern, bytes):
            raise InputError(f"item_to: the pattern {pattern.pattern!r} must be one of texts.")
    except re.error as error:
        raise InputError(f"item_to: {given!r} is no pattern ({error}).") from None
    if not pattern.groups:
        raise InputError(
            f"item_to: the pattern {pattern.pattern!r} has no group; put the document in "
            "parentheses, as in ^(.*?)_\\d+$."
        )

    def of(ids: Sequence[str], source: str) -> list[str | None]:
        found = map(pattern.search, ids)
        return [(each and each.group(1)) or None for each in found]

    return Documents(
        of,
        f"the first group of {pattern.pattern!r} in its id",
        f"in which {pattern.pattern!r} finds nothing",
    )


def item_to_category(given: CategoriesLike) -> Documents:
    """What `unique` says: a table from item to category."""
    return _table(given, CATEGORIES)


def _table(given: Any, kind: Kind = DOCUMENTS) -> Documents:
    table = read_categories(given, kind)
    return Documents(lambda ids, source: list(table.of(ids, source)), table=table)


def _function(function: Callable[[str], Any]) -> Documents:
    def one(item: str) -> str:
        try:
            found = function(item)
        except Exception as error:
            raise InputError(
                f"item_to: the function failed for item {item!r}: {type(error).__name__}: {error}."
            ) from error
        if found is None or found == "":
            raise InputError(
                f"item_to: the function gives {found!r} for item {item!r}; it must give an id, if "
                "need be the item's own."
            )
        return as_id(found, f"item_to, item {item!r}")

    name = getattr(function, "__name__", type(function).__name__)
    return Documents(
        lambda ids, source: [one(each) for each in ids], f"what {name} makes of its id"
    )


_KINDS: dict[str, Callable[[str], Documents]] = {
    "doc": _cut,
    "pattern": _pattern,
    "column": lambda name: Documents(says=f"in column {name!r}", column=name),
    "table": _table,
}
