"""Which category each item is of, from a dict, a frame or a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judged.checks import refuse_lost_polars
from judged.errors import InputError
from judged.inputs.dicts import as_id
from judged.inputs.formats import printable
from judged.inputs.tables import Kind, texts
from judged.text import quote

if TYPE_CHECKING:
    import polars as pl

    from judged.inputs.source import Source

CATEGORIES = Kind("categories", "category", "item, category")


@dataclass(frozen=True, eq=False)
class Categories:
    """A table of items, each once, with the category of each."""

    frame: pl.DataFrame
    source: str = "the categories"

    @cached_property
    def _by_item(self) -> dict[str, str]:
        return dict(self.frame.select("item", "category").iter_rows())

    def of(self, names: Sequence[str], source: str) -> list[str]:
        """The categories of some items."""
        lost = [name for name in names if name not in self._by_item]
        if lost:
            raise InputError(self._lost(lost, source))
        return [self._by_item[name] for name in names]

    def replacing_items(self, frame: pl.DataFrame, source: str) -> pl.DataFrame:
        """A run's or judgements' rows with categories for items."""
        import polars as pl

        joined = frame.join(self.frame, on="item", how="left", maintain_order="left")
        lost = joined.filter(pl.col("category").is_null())["item"].unique(maintain_order=True)
        if len(lost):
            raise InputError(self._lost(lost.to_list(), source))
        return joined.drop("item").rename({"category": "item"}).select(frame.columns)

    def _lost(self, lost: list[str], source: str) -> str:
        names = ", ".join(map(repr, lost[:3])) + (", …" if len(lost) > 3 else "")
        which = "1 item has" if len(lost) == 1 else f"{len(lost):,} items have"
        return (
            f"{source}: {which} no category in {self.source} ({names}); give every item one, "
            "if need be its own id."
        )


def read_categories(given: Any) -> Categories:
    """Which category each item is of: {item: category}, a frame or a file with the columns item and
    category.

    A file is Parquet, JSON, comma- or tab-separated with or without a header, or has an item and a
    category per line.
    """

    if isinstance(given, Categories):
        return given
    refuse_lost_polars()
    source = "the categories"
    if isinstance(given, Mapping):
        frame = _from_pairs(given)
    elif isinstance(given, (str, PathLike)):
        source = printable(given)
        frame = _from_file(Path(given))
    else:
        frame = _from_frame(given, source)
    return Categories(_checked(frame, source), source)


def _id(value: Any) -> str:
    return "" if isinstance(value, str) and not value else as_id(value, "the categories")


def _checked(frame: pl.DataFrame, source: str) -> pl.DataFrame:
    import polars as pl

    if not frame.height:
        raise InputError(f"{source}: holds no rows.")
    for column in ("item", "category"):
        missing = (frame[column].is_null() | (frame[column] == "")).arg_true()
        if len(missing):
            raise InputError(f"{source}, row {missing[0] + 1}: the {column} is missing.")
    frame = frame.unique(maintain_order=True)
    again = frame.filter(pl.col("item").is_duplicated())
    if again.height:
        item = again["item"][0]
        two = again.filter(pl.col("item") == item)["category"].to_list()
        raise InputError(
            f"{source}: item {item!r} has the categories {two[0]!r} and {two[1]!r}; an item has "
            "one."
        )
    return frame


_CATEGORY_NAMES = ("category", "category_id", "class", "label", "group", "unique")


def is_frame(given: Any) -> bool:
    # A lazy frame warns when it is asked for its columns.
    return type(given).__name__ == "LazyFrame" or hasattr(given, "columns")


def _from_frame(given: Any, source: str) -> pl.DataFrame:
    import polars as pl

    from judged.inputs.columns import candidates

    if not is_frame(given):
        raise InputError(
            "categories are a dict {item: category}, a frame or a file; got "
            f"{type(given).__name__}."
        )
    of_pandas = type(given).__module__.partition(".")[0] == "pandas"
    if not of_pandas and not isinstance(given, pl.DataFrame):
        given = given.collect() if isinstance(given, pl.LazyFrame) else pl.DataFrame(given)
    header = list(given.columns)
    items = candidates("item", header)
    plain = [name.lower() for name in header]
    found = [plain.index(name) for name in _CATEGORY_NAMES if name in plain]
    if not items or not found:
        raise InputError(
            f"{source}: the columns item and category are needed; the columns are "
            f"{', '.join(map(repr, header))}. "
            f"Names understood for the category: {', '.join(_CATEGORY_NAMES)}."
        )
    columns = [
        pl.Series(list(given[header[at]])) if of_pandas else given[header[at]]
        for at in (items[0], found[0])
    ]
    for name, column in zip(("item", "category"), columns, strict=True):
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


def _from_file(path: Path) -> pl.DataFrame:
    import polars as pl

    from judged.inputs.columns import candidates
    from judged.inputs.source import POLARS_ERRORS, open_source

    source = open_source(path, CATEGORIES)
    try:
        if path.suffix.lower() in (".parquet", ".pq"):
            return _from_frame(pl.read_parquet(source.for_polars()), source.label)
        text = source.read().decode("utf-8")
        if text.lstrip().startswith("{"):
            return _from_json(source)
    except UnicodeDecodeError:
        raise InputError(f"{source.label}: is not UTF-8 text.") from None
    except POLARS_ERRORS as error:
        raise InputError(
            f"{source.label}: cannot be read ({str(error).partition(chr(10))[0]})."
        ) from None
    first = text.partition("\n")[0]
    separator = next((each for each in ("\t", ",") if each in first), None)
    if separator and candidates("item", [cell.strip('" \r') for cell in first.split(separator)]):
        try:
            return _from_frame(
                pl.read_csv(text.encode(), separator=separator, infer_schema=False), source.label
            )
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
                f"{source.label}, line {number}: expected an item and its category, found "
                f"{len(parts)} fields: {quote(line)}."
            )
        rows.append(tuple(parts))
    return pl.DataFrame(rows, schema={"item": pl.String, "category": pl.String}, orient="row")


def _from_json(source: Source) -> pl.DataFrame:
    from judged.inputs.json import parse

    expected = "JSON should be {item: category}."
    given = parse(source, source.read(), 1, expected, whole=True)
    for item, category in given.items():
        if isinstance(category, bool | list | dict):
            raise InputError(
                f"{source.label}, item {quote(item, 30)}: a category is a text or a whole number. "
                f"{expected}"
            )
    return _from_pairs(given)


def _from_pairs(given: Mapping[Any, Any]) -> pl.DataFrame:
    """Of two items that are the same as texts, both stay, for their categories to be compared."""
    import polars as pl

    return pl.DataFrame(
        [
            texts("item", [None if item is None else _id(item) for item in given]),
            texts("category", [None if each is None else _id(each) for each in given.values()]),
        ]
    )
