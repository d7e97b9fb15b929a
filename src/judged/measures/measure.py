"""A measure with its parameters set: what is computed, summarised and described."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from judged.arrays import Floats
from judged.errors import MeasureError
from judged.measures.bibliography import BIBLIOGRAPHY
from judged.measures.expected import expectations
from judged.measures.params import as_given, show
from judged.measures.spec import REGISTRY, Mask, Spec, accepted
from judged.measures.summarised import Summarised
from judged.measures.worth import Closed, Worth
from judged.rankings.rankings import Rankings


@dataclass(frozen=True)
class Measure(Summarised):
    """A measure with its parameters set; the same thing as its text.

    Get one by its name (`judged.nDCG`), change parameters by calling it, and set the cutoff with @.

    >>> from judged import nDCG
    >>> nDCG(gain="exp") @ 10
    nDCG(gain=exp)@10
    """

    spec: Spec = field(repr=False)
    """What was declared of it: title, formula, range, parameters."""
    items: tuple[tuple[str, Any], ...]
    """Every parameter with its value, in the order of declaration."""

    @property
    def params(self) -> dict[str, Any]:
        """{parameter: value}, the defaults included."""
        return dict(self.items)

    def __call__(self, **params: Any) -> Measure:
        """The same measure with some parameters changed.

        Parameters
        ----------
        **params
            The parameters to change, such as `rel=2`; `judged measures NAME` lists them.

        Returns
        -------
        Measure

        >>> from judged import AP
        >>> AP(rel=2)(norm="capped")
        AP(rel=2, norm=capped)
        """
        return bind(self.spec, {**self.params, **params})

    def __matmul__(self, cutoff: Any) -> Measure:
        """The same measure with another cutoff, or whatever else `@` sets.

        Parameters
        ----------
        cutoff : int or "R"
            How many results count; a recall point for `IPrec`.

        Returns
        -------
        Measure

        >>> from judged import P
        >>> P @ "R"
        P@R
        """
        if self.spec.at is None:
            raise MeasureError(f"{self.spec.name} takes no cutoff; got @{as_given(cutoff)}.")
        return self(**{self.spec.at: cutoff})

    def __str__(self) -> str:
        changed = {
            p.name: value
            for p, (_, value) in zip(self.spec.params, self.items, strict=True)
            if value != p.default
        }
        at = f"@{show(changed.pop(self.spec.at))}" if self.spec.at in changed else ""
        inside = ", ".join(f"{name}={show(value)}" for name, value in changed.items())
        return f"{self.spec.name}{f'({inside})' if inside else ''}{at}"

    __repr__ = __str__

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.spec.name, self.items)

    def __hash__(self) -> int:
        return hash((self.spec.name, self.items))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Measure) and (self.spec.name, self.items) == (
            other.spec.name,
            other.items,
        )

    def compute(self, rankings: Rankings) -> Floats:
        """One value per query, before any policy; means over all orders where ties are unbroken.

        Parameters
        ----------
        rankings : Rankings
            Judged lists, from `Rankings.from_run`, `Rankings.from_relevance` or embeddings.

        Returns
        -------
        numpy.ndarray
            NaN where the measure is undefined for a query.

        >>> import judged
        >>> judged.RR.compute(judged.Rankings.from_relevance([[0, 1], [0, 0]])).tolist()
        [0.5, nan]
        """
        if rankings.ties == "expected":
            return expectations((self,), rankings)[self].values
        return self.compute_as_ranked(rankings)

    def compute_as_ranked(self, rankings: Rankings) -> Floats:
        """One value per query for the order that the rankings have, as if it had no ties.

        Parameters
        ----------
        rankings : Rankings
            Judged lists.

        Returns
        -------
        numpy.ndarray
            NaN where the measure is undefined for a query.

        >>> import judged
        >>> rankings = judged.Rankings.from_relevance([[0, 1]])
        >>> (judged.P @ 2).compute_as_ranked(rankings).tolist()
        [0.5]
        """
        return self._values(self.spec.compute, rankings)

    def closed(self, rankings: Rankings) -> Closed:
        """The mean over all orders of tied results, and for which queries it has a closed form.

        Parameters
        ----------
        rankings : Rankings
            Judged lists with unbroken ties (`ties="expected"`).

        Returns
        -------
        Closed
            The means, and a mask of the queries for which they are known.

        >>> import judged
        >>> run = {"q": {"a": 1, "b": 1}}
        >>> tied = judged.Rankings.from_run({"q": {"a": 1}}, run, policy={"ties": "expected"})
        >>> closed = judged.RR.closed(tied)
        >>> closed.values.tolist(), closed.known.tolist()
        ([0.75], [True])
        """
        form = self.spec.expected
        found = None if form is None else self._values(form, rankings)
        if isinstance(found, Closed):
            return found
        if found is None:
            return Closed(np.full(len(rankings), np.nan), np.zeros(len(rankings), bool))
        return Closed(found, np.ones(len(rankings), bool))

    def _values(self, function: Callable[..., Any], rankings: Rankings) -> Any:
        """What a function of this measure computes; an error where numbers overflow on the way, as
        what has no value only for that must not count as undefined."""
        lost = False
        try:
            with np.errstate(over="raise", invalid="ignore"):
                found = function(rankings, **accepted(function, self.params))
        except FloatingPointError:
            lost = True
        else:
            known = isinstance(found, Closed)
            values = np.where(found.known, found.values, 0.0) if known else found
            if values is not None and not np.isfinite(values).all():
                infinite = self.spec.higher_is_better and bool(np.isinf(values).any())
                lost = infinite or bool((np.isnan(values) & ~self.undefined(rankings)).any())
        if lost:
            raise MeasureError(
                f"{self}: the sums for these grades exceed the largest float (1.8e308); use "
                "smaller grades, or other parameters."
            )
        return found

    def worth(self, rankings: Rankings) -> Worth | None:
        """What tied results are worth; None where that does not tell their best order.

        Parameters
        ----------
        rankings : Rankings
            Judged lists with unbroken ties (`ties="expected"`).

        Returns
        -------
        Worth or None

        >>> import judged
        >>> run = {"q": {"a": 1, "b": 1}}
        >>> tied = judged.Rankings.from_run({"q": {"a": 1}}, run, policy={"ties": "expected"})
        >>> judged.RR.worth(tied).hits.tolist()
        [1.0]
        """
        form = self.spec.worth
        return None if form is None else form(rankings, **accepted(form, self.params))

    @property
    def formula(self) -> str:
        """The definition with these parameters in LaTeX, where a variant has one of its own."""
        written = (f"{name}={show(value)}" for name, value in self.items)
        own = (self.spec.formulas[each] for each in written if each in self.spec.formulas)
        return next(own, self.spec.formula)

    @property
    def monotone(self) -> bool:
        """Whether the value only ever goes one way when retrieved items get better grades."""
        return self.spec.monotone is not None and self.spec.monotone(self.params)

    def undefined(self, rankings: Rankings) -> Mask:
        """Which queries have no value.

        Parameters
        ----------
        rankings : Rankings
            Judged lists.

        Returns
        -------
        numpy.ndarray
            A mask with one element per query.

        >>> import judged
        >>> judged.AP.undefined(judged.Rankings.from_relevance([[0, 1], [0, 0]])).tolist()
        [False, True]
        """
        return self.spec.undefined.where(rankings, self.params)

    def definition(self) -> dict[str, Any]:
        """What this number means, ready for JSON: words, formula, parameters, reference.

        Returns
        -------
        dict

        >>> from judged import RR
        >>> RR.definition()["undefined_when"]
        'the query has no relevant item'
        """
        return {
            "name": str(self),
            "title": self.spec.title,
            "definition": self.describe(),
            "formula": self.formula,
            "parameters": {
                name: show(value) if isinstance(value, (Mapping, tuple)) else value
                for name, value in self.items
            },
            "undefined_when": self.spec.undefined.text,
            "higher_is_better": self.spec.higher_is_better,
            "reference": BIBLIOGRAPHY[self.spec.reference],
        }

    def describe(self, *, brief: bool = False) -> str:
        """The definition with the parameters in force, as plain sentences or in one line.

        Parameters
        ----------
        brief : bool, optional
            In one line: the name, what it stands for, and every parameter.

        Returns
        -------
        str

        >>> from judged import RR
        >>> (RR @ 10).describe(brief=True)
        'RR@10 is Reciprocal rank with k=10, rel=1, aggregate=mean'
        """
        if brief:
            inside = ", ".join(
                f"{name}={'none' if value is None else show(value)}" for name, value in self.items
            )
            return f"{self} is {self.spec.title} with {inside}"
        parts = [
            p.describe(value)
            for p, (_, value) in zip(self.spec.params, self.items, strict=True)
            if value is not None
        ]
        return f"{self.spec.says} Here, {'; '.join(parts)}."


def bind(spec: Spec, given: Mapping[str, Any]) -> Measure:
    """A declared measure with these parameters, validated.

    Parameters
    ----------
    spec : Spec
        The measure, such as `REGISTRY["P"]`.
    given : Mapping
        {parameter: value}; those left out have their defaults.

    Returns
    -------
    Measure

    >>> from judged.measures import REGISTRY
    >>> bind(REGISTRY["P"], {"k": 5})
    P@5
    """
    return Measure(spec, spec.bound(given))


def _again(name: str, items: tuple[tuple[str, Any], ...]) -> Measure:
    """A measure that was sent to another process, by its name and parameters."""
    return Measure(REGISTRY[name], items)
