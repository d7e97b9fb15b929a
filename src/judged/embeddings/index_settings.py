"""What an index is told before it searches: `ef`, `nprobe` and their like, whatever the library
calls them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from judged.errors import InputError, quoted
from judged.options import real

OF_FAISS = {"ef": "efSearch"}
OF_USEARCH = {"ef": "expansion_search"}
"""What the libraries call it."""


@dataclass(frozen=True)
class Setting:
    """A parameter of an index with one of its values."""

    name: str
    value: int | float
    assign: Callable[[int | float], None] | None = field(repr=False)
    """None where the index is a function, which takes it by name."""

    def of(self, index: Any) -> Any:
        """The index to ask: a function with the value in it, anything else as it is."""
        return partial(index, **{self.name: self.value}) if self.assign is None else index

    def apply(self) -> None:
        if self.assign is not None:
            self.assign(self.value)


@contextmanager
def settings_of(index: Any, name: str, values: Sequence[int | float]) -> Iterator[list[Setting]]:
    """One setting for each value; the index is as it was afterwards."""
    if not isinstance(name, str) or not name.isidentifier():
        raise InputError(f"parameter must be a name, as ef; got {quoted(name)}.")
    if not isinstance(values, Sequence) or isinstance(values, (str, bytes)):
        raise InputError(f"values must be numbers in a list, as [16, 32]; got {quoted(values)}.")
    if not values:
        raise InputError("values holds nothing to try; give some, as [16, 32, 64].")
    for value in values:
        if (number := real(value)) is None or number <= 0:
            raise InputError(f"values of {name} must be numbers above 0; got {quoted(value)}.")
    if len({*values}) < len(values):
        raise InputError(f"values of {name} must differ from each other.")
    if callable(index) and not hasattr(index, "search"):
        yield [Setting(name, value, None) for value in values]
        return
    assign, before = _assigning(index, name)
    try:
        yield [Setting(name, value, assign) for value in values]
    finally:
        if before is not None:
            assign(before)


def _assigning(index: Any, name: str) -> tuple[Callable[[Any], None], Any]:
    """How the parameter is set, and what it was; None where it cannot be read."""
    package = type(index).__module__.partition(".")[0]
    if package == "faiss":
        return _of_faiss(index, OF_FAISS.get(name, name))
    known = OF_USEARCH.get(name, name) if package == "usearch" else name
    if hasattr(index, known):
        return partial(setattr, index, known), getattr(index, known)
    if hasattr(index, f"set_{name}"):  # hnswlib
        return getattr(index, f"set_{name}"), None
    raise InputError(
        f"{type(index).__name__} has no {name} and no set_{name}; name another parameter, or give "
        f"a function (vectors, k, {name}) that returns (items, scores)."
    )


def _of_faiss(index: Any, name: str) -> tuple[Callable[[Any], None], Any]:
    import faiss

    if not isinstance(index, faiss.Index):
        raise InputError(
            f"{type(index).__name__}: parameters of binary indexes are not swept; set them, and "
            "evaluate the index for each."
        )
    space = faiss.ParameterSpace()

    def assign(value: Any) -> None:
        try:
            space.set_index_parameter(index, name, value)
        except RuntimeError:
            raise InputError(
                f"{type(index).__name__} has no parameter {name}; HNSW has ef, inverted lists have "
                "nprobe."
            ) from None

    return assign, _known(faiss, index, name)


def _known(faiss: Any, index: Any, name: str) -> Any:
    """What a parameter of a faiss index is: its own, or that of the index inside it."""
    inner = faiss.downcast_index(index)
    if name == "efSearch" and hasattr(inner, "hnsw"):
        return inner.hnsw.efSearch
    if isinstance(getattr(inner, name, None), (int, float)):
        return getattr(inner, name)
    within = getattr(inner, "index", None) or getattr(inner, "base_index", None)
    return None if within is None else _known(faiss, within, name)
