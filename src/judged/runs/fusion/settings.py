"""How runs are fused: the methods, the normalisations, and the options that belong to each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judged.errors import InputError, PolicyError, quoted
from judged.options import choice, number
from judged.policy import CHOICES
from judged.text import listed

METHODS = {
    "rrf": "an item gets 1 / (k + rank) from each list that has it, and the sum counts",
    "combsum": "an item gets its normalised score from each list that has it, and the sum counts",
    "combmnz": "the sum of combsum, times the number of lists that have the item",
    "weighted": "the sum of combsum, with weights that have to be given",
}
"""Each method and its sentence."""
NORMALISATIONS = {
    "minmax": "(score - lowest) / (highest - lowest) of its list",
    "zscore": "(score - mean) / standard deviation of its list",
    "max": "score / highest of its list",
    "sum": "(score - lowest) / the sum of these differences in its list",
    "rank": "1 - (rank - 1) / length of its list",
    "none": "the score as it is",
}
"""What may be done to scores before they are added."""
TIES = {
    "id": CHOICES["ties"]["id"],
    "input": CHOICES["ties"]["input"],
    "expected": "tied results all get the mean of what the ranks of their tie give",
}
"""The rules for ties that need no judgements."""
K = 60
"""The constant of reciprocal rank fusion in the paper that it is from."""
DEPTH = 1_000
"""How many results of each list count by default, and are kept."""
LEAST, MOST = 1e-9, 1e9
"""Weights beyond these would leave nothing of a list, or of all others."""


@dataclass(frozen=True)
class Settings:
    """What was asked for, checked."""

    method: str
    k: int
    normalise: str | None
    """None where ranks are added and not scores."""
    depth: int
    ties: str
    weights: tuple[float, ...]
    """One for each run."""
    by_hand: bool
    """Whether somebody gave the weights."""

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        *,
        method: Any,
        k: int,
        weights: Any,
        normalise: Any,
        depth: int,
        ties: Any,
    ) -> Settings:
        """The settings that a caller may pass, for runs of these names."""
        method = choice("method", method, METHODS)
        if method == "rrf" and normalise is not None:
            raise InputError(
                "normalise is for methods that add scores, and rrf adds ranks; leave it out, or "
                "choose another method, as combsum."
            )
        if method != "rrf" and k != K:
            raise InputError(f"k is for the method rrf; {method} has no use for it. Leave it out.")
        if method == "weighted" and weights is None:
            raise InputError("the method weighted needs weights, one for each run.")
        if method != "rrf":
            normalise = choice("normalise", normalise or "minmax", NORMALISATIONS)
        found = (1.0,) * len(names) if weights is None else _weights(weights, names)
        return cls(method, k, normalise, depth, _ties(ties), found, weights is not None)

    @property
    def tag(self) -> str:
        """The method and its options in one word, as the last column of TREC text has it."""
        parts = [f"k={self.k}" if self.normalise is None else self.normalise]
        if self.by_hand:
            parts.append("weights=" + ",".join(map(written, self.weights)))
        return f"{self.method}({','.join(parts)})"

    @property
    def adds_ranks(self) -> bool:
        """Whether only the order of a list counts."""
        return self.normalise in (None, "rank")

    def formula(self) -> str:
        """What an item's score is, in words."""
        each = NORMALISATIONS.get(str(self.normalise), f"1 / ({self.k} + rank)")
        weighted = "the list's weight times " if self.by_hand else ""
        times = ", times the number of these lists" if self.method == "combmnz" else ""
        return f"the sum over the lists that have it of {weighted}{each}{times}"

    def to_dict(self) -> dict[str, Any]:
        """Those of the settings that count, as plain values."""
        by = {"k": self.k} if self.normalise is None else {"normalise": self.normalise}
        return {"method": self.method, **by, "depth": self.depth, "ties": self.ties}


def written(weight: float) -> str:
    """A weight with all its digits.

    >>> written(2.0), written(0.1)
    ('2', '0.1')
    """
    return repr(weight).removesuffix(".0")


def _ties(given: Any) -> str:
    if isinstance(given, str) and given in CHOICES["ties"] and given not in TIES:
        raise PolicyError(
            f"runs are fused with ties={listed([*TIES], 'or')}; {given} needs judgements, which "
            "fusion has none of."
        )
    return choice("ties", given, TIES, error=PolicyError)


def _weights(given: Any, names: Sequence[str]) -> tuple[float, ...]:
    """A weight for each run, by its name or in the order of the runs."""
    if isinstance(given, Mapping):
        if set(given) != set(names):
            raise InputError(
                f"weights must have a number for each run ({listed(list(names))}); got "
                f"{quoted(given)}."
            )
        given = [given[name] for name in names]
    elif not isinstance(given, (list, tuple)) or len(given) != len(names):
        raise InputError(
            f"weights must be a list with a number for each of the {len(names)} runs, or "
            f"{{name: number}}; got {quoted(given)}."
        )
    return tuple(
        number(f"the weight of {name}", each, at_least=LEAST, at_most=MOST)
        for name, each in zip(names, given, strict=True)
    )
