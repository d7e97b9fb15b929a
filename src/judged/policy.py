"""The policy for ties, missing queries, queries without relevant items and unjudged items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from operator import index
from typing import TYPE_CHECKING, Any

from judged.errors import InputError, PolicyError, did_you_mean, quoted

if TYPE_CHECKING:
    from judged.options import Duplicates, Empty, Missing, PolicyLike, Ties, Unjudged

CHOICES: dict[str, dict[str, str]] = {
    "ties": {
        "id": "tied results are ordered by item id, descending on bytes (trec_eval's rule)",
        "input": "tied results keep the order of the input",
        "best": "tied results are ordered in the system's favour: better grades first",
        "worst": "tied results are ordered against the system: better grades last",
        "expected": (
            "a query's value is its mean over all orders of the tied results, each equally likely"
        ),
    },
    "missing": {
        "zero": "a judged query that the run lacks counts as an empty list",
        "skip": "judged queries that the run lacks are left out",
        "error": "a judged query that the run lacks is an error",
    },
    "empty": {
        "zero": "a query with nothing relevant gets the worst value",
        "one": "a query with nothing relevant counts as perfect: 1, or rank 1",
        "skip": "queries with nothing relevant are left out",
        "error": "a query with nothing relevant is an error",
    },
    "unjudged": {
        "nonrelevant": "unjudged items count as not relevant",
        "removed": "unjudged items are removed from the lists before anything is counted",
    },
}
"""Each choice and its sentence: the validation, the command line's options and every definition
read this."""

SHORT: dict[str, tuple[str, dict[str, str]]] = {
    "ties": (
        "Ties are broken",
        {
            "id": "by item id",
            "input": "as in the input",
            "best": "in the system's favour",
            "worst": "against the system",
            "expected": "in no order: the mean of all",
        },
    ),
    "missing": (
        "a missing query",
        {"zero": "counts 0", "skip": "is left out", "error": "is an error"},
    ),
    "empty": (
        "nothing relevant",
        {
            "zero": "counts 0",
            "one": "counts as perfect",
            "skip": "is left out",
            "error": "is an error",
        },
    ),
    "unjudged": (
        "unjudged results are",
        {"nonrelevant": "not relevant", "removed": "removed first"},
    ),
}
"""The policy as one sentence that can be edited: the beginning of each part, and
the words of each value."""

DUPLICATES = {
    "error": "an item that occurs twice for a query is an error",
    "first": "of an item that occurs twice for a query, the best-ranked row is kept",
}
"""Rules for an item that occurs twice for a query."""
SHORT_DUPLICATES = ("duplicates", {"error": "are an error", "first": "count once, the best-ranked"})
"""The same in the sentence that can be edited."""

POSITIVES = {
    "each": (
        "each positive against all candidates, other positives among them, and the mean over a "
        "query's positives"
    ),
    "any": (
        "all positives together against all candidates: the probability that any of them is drawn"
    ),
    "apart": (
        "each positive against the negatives alone, other positives left out, and the mean "
        "over a query's positives"
    ),
}
"""Ways to combine several positives of a query in a contrastive loss; with one positive all are the
same."""


def checked_positives(given: Any) -> str:
    """Check a rule of POSITIVES."""
    if not isinstance(given, str) or given not in POSITIVES:
        raise InputError(f"positives must be one of {', '.join(POSITIVES)}; got {quoted(given)}.")
    return given


def _check_depth(value: Any) -> int:
    try:
        depth = 0 if isinstance(value, bool) else index(value)
    except TypeError:
        depth = 0
    if not 1 <= depth <= 2**53:
        raise PolicyError(f"depth must be a whole number from 1; got {quoted(value)}.")
    return depth


@dataclass(frozen=True)
class Policy:
    """The assumptions under which numbers are computed; printed with every result.

    Parameters
    ----------
    ties : {"id", "input", "best", "worst", "expected"}, optional
        In which order results with equal scores stand: by item id, descending on bytes
        (trec_eval's rule); as in the input; in the system's favour, or against it; or no order at
        all, and a query's value is its mean over all orders.
    missing : {"zero", "skip", "error"}, optional
        Whether a judged query that the run lacks counts as an empty list, is left out, or is an
        error.
    empty : {"zero", "one", "skip", "error"}, optional
        Whether a query with nothing relevant gets the worst value, counts as perfect, is left out,
        or is an error.
    unjudged : {"nonrelevant", "removed"}, optional
        Whether unjudged items count as not relevant, or are removed from the lists first.
    duplicates : {"error", "first"}, optional
        Whether an item that occurs twice for a query is an error, or its best-ranked row is kept.
    depth : int, optional
        The rank at which every list is cut first; None for whole lists.

    >>> print(Policy(missing="skip"))
    ties=id, missing=skip, empty=zero, unjudged=nonrelevant
    >>> print(Policy(depth=100))
    ties=id, missing=zero, empty=zero, unjudged=nonrelevant, depth=100
    """

    ties: Ties = "id"
    missing: Missing = "zero"
    empty: Empty = "zero"
    unjudged: Unjudged = "nonrelevant"
    duplicates: Duplicates = "error"
    depth: int | None = None

    def __post_init__(self) -> None:
        for name, known in {**CHOICES, "duplicates": DUPLICATES}.items():
            value = getattr(self, name)
            if not isinstance(value, str) or value not in known:
                raise PolicyError(
                    f"{name} must be one of {', '.join(known)}; got {quoted(value)}"
                    f"{did_you_mean(value, known)}"
                )
        if self.depth is not None:
            object.__setattr__(self, "depth", _check_depth(self.depth))

    def to_dict(self) -> dict[str, Any]:
        """Return each choice by name; duplicates and depth only where they are not the default.

        >>> Policy(depth=10).to_dict()
        {'ties': 'id', 'missing': 'zero', 'empty': 'zero', 'unjudged': 'nonrelevant', 'depth': 10}
        """
        chosen = {field.name: getattr(self, field.name) for field in fields(self)}
        usual = {"duplicates": "error", "depth": None}
        return {name: value for name, value in chosen.items() if usual.get(name, ...) != value}

    def sentences(self) -> dict[str, str]:
        """Return the meaning of each choice, by its name.

        >>> Policy().sentences()["unjudged"]
        'unjudged items count as not relevant'
        """
        return {name: known[getattr(self, name)] for name, known in CHOICES.items()}

    def __str__(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.to_dict().items())

    @classmethod
    def of(cls, given: PolicyLike | None, **otherwise: Any) -> Policy:
        """Return a policy from what callers pass, with defaults for the rest.

        Parameters
        ----------
        given : PolicyLike or None
            A policy, or a dict of some choices.
        **otherwise : str
            Choices that take the place of the defaults.

        >>> print(Policy.of({"ties": "input"}, missing="skip"))
        ties=input, missing=skip, empty=zero, unjudged=nonrelevant
        """
        if given is None:
            given = {}
        if isinstance(given, cls):
            return given
        if not isinstance(given, Mapping):
            raise PolicyError(
                "policy must be a judged.Policy or a dict of its choices; got "
                f"{type(given).__name__}."
            )
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                raise PolicyError(
                    f"Policy takes no {quoted(name)}{did_you_mean(name, known)} It takes "
                    f"{', '.join(known)}."
                )
        chosen: dict[str, Any] = {**otherwise, **given}
        return cls(**chosen)


DEFAULT_POLICY = Policy()
DEFAULTS = DEFAULT_POLICY.to_dict()
