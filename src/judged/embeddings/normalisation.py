"""What every normalisation of scores has: a name, parameters, what it looks at, and scores that
change once it is fitted."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats
from judged.embeddings.product import Product
from judged.embeddings.streams import pieces
from judged.errors import InputError, did_you_mean
from judged.inputs.vectors.vectors import Matrix, Vectors
from judged.options import HIGHEST, LOWEST

Kind = Literal["inductive", "transductive", "per query"]
LOOKS_AT: dict[Kind, str] = {
    "inductive": "a bank of other queries, never at other test queries",
    "transductive": "all test queries",
    "per query": "one query at a time",
}
"""What a normalisation of each kind sees beside the items."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """A normalisation that has seen what it needs of the scores."""

    normalisation: Normalisation
    change: Callable[[Floats, slice, slice], Floats] | None = None
    """Scores of some queries (first slice) and items (second) -> the normalised ones."""
    shift: Floats = field(default_factory=lambda: np.zeros((0, 1)))
    queries: Vectors | None = None
    """What the queries became, where they and not the scores are changed."""

    @property
    def note(self) -> str:
        return self.normalisation.note

    def apply(self, scores: Matrix, row: int, column: int) -> None:
        """Normalise in place a tile of scores whose first query and item these are; items are to be
        excluded after that."""
        if self.change is None:
            return
        rows = slice(row, row + len(scores))
        for at in pieces(scores):
            columns = slice(column + at.start, column + at.stop)
            with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused
                scores[:, at] = self.change(scores[:, at] + self.shift[rows], rows, columns)
            if not np.isfinite(scores[:, at]).all():
                raise InputError(
                    f"scores normalised by {self.normalisation} overflow; divide all vectors by "
                    "the same number."
                )

    def of_lists(self, scores: NDArray[Any]) -> Floats:
        """The scores of lists, one per query, by a normalisation that looks at nothing but the
        query's own."""
        assert self.change is not None
        there = np.isfinite(scores)
        # Scores in double precision are whole already.
        whole = scores if scores.dtype == np.float64 else scores + self.shift
        return np.where(
            there, self.change(np.where(there, whole, 0.0), slice(None), slice(None)), -np.inf
        )


def _is(given: Any, kind: type) -> bool:
    return isinstance(given, kind) and not isinstance(given, bool)


def whole(default: int) -> Any:
    return field(
        default=default,
        metadata={
            "must": "a whole number from 1",
            "fits": lambda given: _is(given, Integral) and given >= 1,
        },
    )


def positive(default: float) -> Any:
    return field(
        default=default,
        metadata={
            "must": f"a number above 0, from {LOWEST:g} to {HIGHEST:g}",
            "fits": lambda given: _is(given, Real) and LOWEST <= given <= HIGHEST,
        },
    )


@dataclass(frozen=True, kw_only=True)
class Normalisation(ABC):
    """What all have: a name, what they do, the kind of what they look at, and parameters, which are
    their fields."""

    name: ClassVar[str]
    says: ClassVar[str]
    keeps_order: ClassVar[bool] = False
    """It gives every query the same ranking as before, so that ranks can be counted without it."""

    def __post_init__(self) -> None:
        for each in fields(self):
            given = getattr(self, each.name)
            if "must" in each.metadata and not each.metadata["fits"](given):
                raise InputError(
                    f"{each.name} of {self.name} must be {each.metadata['must']}; got {given!r}."
                )

    @property
    def kind(self) -> Kind:
        return "per query"

    @property
    def note(self) -> str:
        """A sentence for the reader of numbers that came from it."""
        unchanged = "; it cannot change any ranking" if self.keeps_order else ""
        return (
            f"scores were normalised by {self}, which looks at {LOOKS_AT[self.kind]} "
            f"({self.kind}){unchanged}."
        )

    def __str__(self) -> str:
        """As it is written in text: `csls(k=10)`."""
        given = [(each.name, getattr(self, each.name)) for each in fields(self)]
        said = ", ".join(f"{name}={_brief(value)}" for name, value in given if value is not None)
        return f"{self.name}({said})" if said else self.name

    @abstractmethod
    def fit(self, product: Product, *, dims: int | None = None) -> Fitted:
        """Ready to change the scores of this product; `dims` cuts a bank as the other vectors were
        cut."""

    def _fitted(self, product: Product, change: Callable[[Floats, slice, slice], Floats]) -> Fitted:
        shifts = [
            product.similarity.shift(product.query_block(begin, end))
            for begin, end in product.blocks()
        ]
        return Fitted(self, change, np.concatenate(shifts))

    def _at_most(self, k: int, count: int, what: str) -> None:
        if k > count:
            raise InputError(
                f"k of {self.name} must be at most the number of {what}, {count}; got {k}."
            )


def _brief(value: Any) -> str:
    return (
        str(value)
        if isinstance(value, (int, float, str)) or hasattr(value, "__fspath__")
        else f"{len(value)} vectors"
    )


_PARAMETER = re.compile(r"""\s*(\w+)\s*=\s*("[^"]*"|'[^']*'|[^,]*[^,\s])\s*(?:,|$)""")


def with_parameters(kind: type[Normalisation], text: str, given: str) -> Normalisation:
    """One of a kind from what stands between the brackets of its text."""
    known = [each.name for each in fields(kind)]
    parameters: dict[str, Any] = {}
    at = 0
    while at < len(text.rstrip()):
        match = _PARAMETER.match(text, at)
        if match is None:
            raise InputError(
                f"parameters are written name=value, with commas between; got {given!r}."
            )
        name, at = match[1], match.end()
        if name not in known:
            raise InputError(
                f"{kind.name} takes no {name!r}{did_you_mean(name, known)} It takes "
                f"{', '.join(known) or 'no parameters'}."
            )
        if name in parameters:
            raise InputError(f"{name} of {kind.name} is given twice: {given!r}.")
        parameters[name] = _value(match[2])
    return kind(**parameters)


def _value(text: str) -> int | float | str:
    """A whole number, a number, or else a text, as a file's name is."""
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text.strip("\"'")
