"""What is ranked: items as they are, or their documents or categories; with a query among its own
results, or without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judged.errors import InputError
from judged.matching.own_ids import excluding_same_id

if TYPE_CHECKING:
    from judged.inputs.data import Data
    from judged.matching.item_to import Documents
    from judged.options import CategoriesLike, ItemToLike


def with_items(
    data: Data,
    *,
    item_to: ItemToLike | None = None,
    unique: CategoriesLike | None = None,
    exclude_same_id: bool = False,
    duplicates: str = "error",
) -> Data:
    """Data whose items are what should be ranked.

    >>> from judged.inputs.data import Data
    >>> data = Data.of({"q": {"a": 1}}, {"q": ["b#1", "a#2", "a#1"]})
    >>> with_items(data, item_to="doc:#").run("one").frame["item"].to_list()
    ['b', 'a']
    """
    if exclude_same_id:
        data = excluding_same_id(data)
    to = _documents(data, item_to, unique)
    if to is None:
        return data
    from judged.matching.documents import by_document

    data = by_document(data.whole(), to, duplicates=duplicates)
    return excluding_same_id(data, one=to.one) if exclude_same_id else data


def _documents(
    data: Data, item_to: ItemToLike | None, unique: CategoriesLike | None
) -> Documents | None:
    """What is ranked in place of items; a column that was named for documents says it too."""
    if item_to is None and unique is None and "document" not in data.columns:
        return None
    from judged.matching.item_to import item_to_category, item_to_document

    if item_to is not None and unique is not None:
        raise InputError("item_to and unique both say what is ranked; give one of them.")
    if unique is not None:
        return item_to_category(unique)
    if item_to is None:
        item_to = f"column:{'+'.join(data.columns['document'])}"
    return item_to_document(item_to)
