"""Which category each item is of, or which document it belongs to: a dict, a frame or a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judged.errors import InputError
from judged.inputs.columns import candidates
from judged.inputs.dicts import as_id
from judged.inputs.formats import printable
from judged.inputs.objects import from_arrow
from judged.inputs.tables import Kind, texts
from judged.text import quote

if TYPE_CHECKING:
    import polars as pl

    from judged.inputs.source import Source

CATEGORIES = Kind("categories", "category", "item, category")
DOCUMENTS = Kind("documents of items", "document", "item, document")

_NAMES = {
    CATEGORIES: ("category", "category_id", "class", "label", "group", "unique"),
    DOCUMENTS: (
        *("document", "document_id", "doc_id", "docid", "docno", "doc", "parent", "parent_id"),
        *("file", "source"),
    ),
}
"""What the second column may be called."""
_PARTS = ("chunk_id", "chunk", "segment_id", "segment", "node_id", "id")
"""What the items of a table of documents may be called beside the names of items."""


@dataclass(frozen=True, eq=False)
class Categories:
    """A table of items, each once, with the category or document of each."""

    frame: pl.DataFrame
    source: str = "the categories"
    kind: Kind = CATEGORIES

    @cached_property
    def by_item(self) -> dict[str, str]:
        """The category of each item."""
        return dict(self.frame.select("item", "category").iter_rows())

    @cached_property
    def all(self) -> frozenset[str]:
        """Every category."""
        return frozenset(self.frame["category"].to_list())

    def of(self, names: Sequence[str], source: str) -> list[str]:
        """The categories of some items; one that is a category is its own."""
        lost = [name for name in names if name not in self.by_item and name not in self.all]
        if lost:
            raise InputError(self._lost(lost, source))
        return [self.by_item.get(name, name) for name in names]

    def _lost(self, lost: list[str], source: str) -> str:
        names = ", ".join(map(repr, lost[:3])) + (", …" if len(lost) > 3 else "")
        which = "1 item has" if len(lost) == 1 else f"{len(lost):,} items have"
        return (
            f"{source}: {which} no {self.kind.value} in {self.source} ({names}); give every item "
            "one, if need be its own id."
        )


def read_categories(given: Any, kind: Kind = CATEGORIES) -> Categories:
    """Which category each item is of: {item: category}, a frame or a file with the columns item and
    category; or the same with documents.

    A file is Parquet, JSON, comma- or tab-separated with or without a header, or has an item and a
    category per line.
    """

    if isinstance(given, Categories):
        return given
    source = f"the {kind.phrase}"
    if isinstance(given, Mapping):
        frame = _from_pairs(given, source)
    elif isinstance(given, (str, PathLike)):
        source = printable(given)
        frame = _from_file(Path(given), kind)
    else:
        frame = _from_frame(given, source, kind)
    return Categories(_checked(frame, source, kind), source, kind)


def _checked(frame: pl.DataFrame, source: str, kind: Kind) -> pl.DataFrame:
    import polars as pl

    if not frame.height:
        raise InputError(f"{source}: holds no rows.")
    for column, word in (("item", "item"), ("category", kind.value)):
        missing = (frame[column].is_null() | (frame[column] == "")).arg_true()
        if len(missing):
            raise InputError(f"{source}, row {missing[0] + 1}: the {word} is missing.")
    frame = frame.unique(maintain_order=True)
    again = frame.filter(pl.col("item").is_duplicated())
    if again.height:
        item = again["item"][0]
        two = again.filter(pl.col("item") == item)["category"].to_list()
        many = "categories" if kind is CATEGORIES else "documents"
        raise InputError(
            f"{source}: item {item!r} has the {many} {two[0]!r} and {two[1]!r}; an item has one."
        )
    return frame


def is_frame(given: Any) -> bool:
    # A lazy frame warns when it is asked for its columns.
    return type(given).__name__ == "LazyFrame" or hasattr(given, "columns")


def _item_columns(header: Sequence[str], kind: Kind) -> list[int]:
    """Columns that may name items, the surest first."""
    plain = [name.lower() for name in header]
    parts = _PARTS if kind is DOCUMENTS else ()
    return [*(plain.index(name) for name in parts if name in plain), *candidates("item", header)]


def _from_frame(given: Any, source: str, kind: Kind) -> pl.DataFrame:
    import polars as pl

    if not is_frame(given):
        many = "categories" if kind is CATEGORIES else "documents"
        raise InputError(
            f"{many} are a dict {{item: {kind.value}}}, a frame or a file; got "
            f"{type(given).__name__}."
        )
    of_pandas = type(given).__module__.partition(".")[0] == "pandas"
    if not of_pandas and not isinstance(given, pl.DataFrame):
        given = given.collect() if isinstance(given, pl.LazyFrame) else from_arrow(given, source)
    header = list(given.columns)
    plain = [name.lower() for name in header]
    found = [plain.index(name) for name in _NAMES[kind] if name in plain]
    items = [at for at in _item_columns(header, kind) if [at] != found[:1]]
    if not items or not found:
        raise InputError(
            f"{source}: the columns item and {kind.value} are needed; the columns are "
            f"{', '.join(map(repr, header))}. "
            f"Names understood for the {kind.value}: {', '.join(_NAMES[kind])}."
        )
    columns = [
        pl.Series(list(given[header[at]])) if of_pandas else given[header[at]]
        for at in (items[0], found[0])
    ]
    for name, column in zip(("item", kind.value), columns, strict=True):
        if column.dtype.is_float():
            raise InputError(
                f"{source}: the {name} is a floating-point number; ids must be texts or whole "
                "numbers."
            )
    return pl.DataFrame(
        [
            each.cast(pl.String).alias(name)
            for name, each in zip(("item", "category"), columns, strict=True)
        ]
    )


def _from_file(path: Path, kind: Kind) -> pl.DataFrame:
    import polars as pl

    from judged.inputs.polars_errors import POLARS_ERRORS, reading_parquet
    from judged.inputs.source import open_source

    source = open_source(path, kind)
    try:
        if path.suffix.lower() in (".parquet", ".pq"):
            with reading_parquet(source.label):
                table = pl.read_parquet(source.for_polars())
            return _from_frame(table, source.label, kind)
        text = source.read().decode("utf-8")
        if text.lstrip().startswith("{"):
            return _from_json(source, kind)
    except UnicodeDecodeError:
        raise InputError(f"{source.label}: is not UTF-8 text.") from None
    except POLARS_ERRORS as error:
        raise InputError(
            f"{source.label}: cannot be read ({str(error).partition(chr(10))[0]})."
        ) from None
    first = text.partition("\n")[0]
    separator = next((each for each in ("\t", ",") if each in first), None)
    cells = [cell.strip('" \r') for cell in first.split(separator)]
    if separator and _item_columns(cells, kind):
        try:
            table = pl.read_csv(text.encode(), separator=separator, infer_schema=False)
            return _from_frame(table, source.label, kind)
        except POLARS_ERRORS as error:
            raise InputError(
                f"{source.label}: cannot be read ({str(error).partition(chr(10))[0]})."
            ) from None
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        parts = [
            part.strip() for part in line.strip().split(separator, 1 if separator is None else -1)
        ]
        if len(parts) != 2:
            raise InputError(
                f"{source.label}, line {number}: expected an item and its {kind.value}, found "
                f"{len(parts)} fields: {quote(line)}."
            )
        rows.append(tuple(parts))
    return pl.DataFrame(rows, schema={"item": pl.String, "category": pl.String}, orient="row")


def _from_json(source: Source, kind: Kind) -> pl.DataFrame:
    from judged.inputs.json import parse

    expected = f"JSON should be {{item: {kind.value}}}."
    given = parse(source, source.read(), 1, expected, whole=True)
    for item, category in given.items():
        if isinstance(category, bool | list | dict):
            raise InputError(
                f"{source.label}, item {quote(item, 30)}: a {kind.value} is a text or a whole "
                f"number. {expected}"
            )
    return _from_pairs(given, source.label)


def _from_pairs(given: Mapping[Any, Any], source: str) -> pl.DataFrame:
    """Of two items that are the same as texts, both stay, for their categories to be compared."""
    import polars as pl

    def ids(values: Iterable[Any]) -> list[str | None]:
        return [
            each if each is None or (isinstance(each, str) and not each) else as_id(each, source)
            for each in values
        ]

    return pl.DataFrame([texts("item", ids(given)), texts("category", ids(given.values()))])
