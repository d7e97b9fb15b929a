"""A measure with its parameters set: computed, summarised and described."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Lock
from types import MappingProxyType
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from judged.arrays import Floats
from judged.errors import MeasureError
from judged.measures.params import as_given, show
from judged.measures.reference import BIBLIOGRAPHY
from judged.measures.registry import AGGREGATIONS, REGISTRY, Mask, Settled, Spec, accepted
from judged.measures.ties import Closed, Worth, expectations
from judged.rankings.rankings import Rankings
from judged.statistics.samples import Rows, Sample

_INTERNED: WeakValueDictionary[tuple[Spec, tuple[tuple[str, Any], ...]], Measure] = (
    WeakValueDictionary()
)
_INTERNING = Lock()


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Measure:
    """A measure with its parameters set, equivalent to its text.

    Get one by its name (`judged.nDCG`), change parameters by calling it, and set the cutoff with @.
    The same definition is always the same object, so that comparing and hashing cost nothing.

    >>> from judged import nDCG
    >>> nDCG(gain="exp") @ 10
    nDCG(gain=exp)@10
    >>> nDCG @ 10 is nDCG(k=10)
    True
    """

    spec: Spec
    """The declaration: title, formula, range, parameters."""
    items: tuple[tuple[str, Any], ...]
    """Every parameter with its value, in the order of declaration."""
    params: Mapping[str, Any]
    """All parameters as {parameter: value}, defaults included."""
    label: str
    """The measure in our notation, as `str` returns it."""

    def __new__(cls, spec: Spec, items: tuple[tuple[str, Any], ...]) -> Measure:
        with _INTERNING:
            measure = _INTERNED.get((spec, items))
            if measure is None:
                measure = object.__new__(cls)
                params = MappingProxyType(dict(items))
                for name, value in (
                    ("spec", spec),
                    ("items", items),
                    ("params", params),
                    ("label", _notation(spec, params)),
                ):
                    object.__setattr__(measure, name, value)
                _INTERNED[spec, items] = measure
        return measure

    def __call__(self, **params: Any) -> Measure:
        """Return the same measure with some parameters changed.

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
        """Return the same measure with another cutoff, or whatever else `@` sets.

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
        return self.label

    __repr__ = __str__

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.spec.name, self.items)

    def compute(self, rankings: Rankings) -> Floats:
        """Compute one value per query before any policy: the mean over orders if ties are unbroken.

        Parameters
        ----------
        rankings : Rankings
            From `Rankings.from_run`, `Rankings.from_relevance` or embeddings.

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
        """Compute one value per query for the order that the rankings have, ignoring ties.

        Parameters
        ----------
        rankings : Rankings
            Rankings of judged results.

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
        """Compute the means over all orders of ties that have a closed form.

        Parameters
        ----------
        rankings : Rankings
            Rankings with unbroken ties (`ties="expected"`).

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
        """Call a function of this measure; raise an error if numbers overflow on the way."""
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
        """Return what tied results are worth; None if that does not determine their best order.

        Parameters
        ----------
        rankings : Rankings
            Rankings with unbroken ties (`ties="expected"`).

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

    def gives(self, rankings: Rankings) -> Rows | None:
        """Return what each query contributes to the summary, if that is not one value.

        Parameters
        ----------
        rankings : Rankings
            Rankings of all or some queries.

        Returns
        -------
        Rows or None
            None if the summary aggregates the queries' values.

        >>> import judged
        >>> rankings = judged.Rankings.from_relevance([[0, 1], [1, 1]])
        >>> judged.Rank(of="all").gives(rankings).columns.tolist()
        [[2.0], [1.0], [2.0]]
        """
        form = self.spec.gives
        return None if form is None else form(rankings, **accepted(form, self.params))

    def summarise(self, rows: Rows | None, settled: Settled) -> float:
        """Compute the summary over all queries.

        Parameters
        ----------
        rows : Rows or None
            The result of `gives`.
        settled : Settled
            The queries' values after policy.

        Returns
        -------
        float
            NaN if no query counts.

        >>> import judged, numpy as np
        >>> from judged.measures import Settled
        >>> settled = Settled(np.array([0.5, 1.0]), np.ones(2, bool), lambda values: values)
        >>> judged.RR.summarise(None, settled)
        0.75
        """
        if not settled.counted.any():
            return float("nan")
        sample = self.made_of(rows, settled)
        if sample is not None:
            return sample.value()
        return AGGREGATIONS[self.params["aggregate"]](settled.values, settled.weights)

    def made_of(self, rows: Rows | None, settled: Settled) -> Sample | None:
        """Return the sample behind the summary, if that is not one value per query.

        Parameters
        ----------
        rows : Rows or None
            The result of `gives`.
        settled : Settled
            The queries' values after policy.

        Returns
        -------
        Sample or None
            One row per query that counts.

        >>> import judged, numpy as np
        >>> from judged.measures import Settled
        >>> rankings = judged.Rankings.from_relevance([[0, 1], [1, 1]])
        >>> settled = Settled(np.array([2.0, 1.5]), np.ones(2, bool), lambda values: values)
        >>> pooled = judged.Rank(of="all")
        >>> pooled.made_of(pooled.gives(rankings), settled).columns.tolist()
        [[2.0, 1.0], [3.0, 2.0]]
        """
        form = self.spec.made_of
        if form is None or rows is None:
            return None
        return form(rows, settled, **accepted(form, self.params))

    def summarise_error(
        self, values: Floats, errors: Floats, weights: Floats | None = None
    ) -> float | None:
        """Compute the standard error of the summary from those of the values.

        Parameters
        ----------
        values, errors : numpy.ndarray
            The values of the queries that count, and their standard errors.
        weights : numpy.ndarray, optional
            The weights of the queries; equal by default.

        Returns
        -------
        float or None
            None if the summary is not an aggregate of the queries' values.

        >>> import judged, numpy as np
        >>> judged.RR.summarise_error(np.array([0.5, 0.5]), np.array([0.03, 0.04]))
        0.025
        """
        if self.spec.made_of is not None or not len(values):
            return None
        return AGGREGATIONS[self.params["aggregate"]].standard_error(values, errors, weights)

    @property
    def formula(self) -> str:
        """The definition in LaTeX, for variants with a formula of their own that of the variant."""
        written = (f"{name}={show(value)}" for name, value in self.items)
        own = (self.spec.formulas[each] for each in written if each in self.spec.formulas)
        return next(own, self.spec.formula)

    @property
    def monotone(self) -> bool:
        """Whether the value moves in one direction only when retrieved items get better grades."""
        return self.spec.monotone is not None and self.spec.monotone(self.params)

    def undefined(self, rankings: Rankings) -> Mask:
        """Return a mask of the queries without a value.

        Parameters
        ----------
        rankings : Rankings
            Rankings of judged results.

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
        """Return the definition as plain values for JSON: words, formula, parameters, reference.

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
        """Describe the definition with its parameters, in sentences or in one line.

        Parameters
        ----------
        brief : bool, optional
            Return one line: the name, its title and every parameter.

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
    """Set parameters of a declared measure, after checking them.

    Parameters
    ----------
    spec : Spec
        The measure, such as `REGISTRY["P"]`.
    given : Mapping
        {parameter: value}; the others keep their defaults.

    Returns
    -------
    Measure

    >>> from judged.measures import REGISTRY
    >>> bind(REGISTRY["P"], {"k": 5})
    P@5
    """
    return Measure(spec, spec.bound(given))


def _notation(spec: Spec, params: Mapping[str, Any]) -> str:
    """Return a measure as text: its name, the parameters that are not defaults, the cutoff."""
    changed = {p.name: params[p.name] for p in spec.params if params[p.name] != p.default}
    cutoff = f"@{show(changed.pop(spec.at))}" if spec.at in changed else ""
    inside = ", ".join(f"{name}={show(value)}" for name, value in changed.items())
    return f"{spec.name}{f'({inside})' if inside else ''}{cutoff}"


def _restore(name: str, items: tuple[tuple[str, Any], ...]) -> Measure:
    return Measure(REGISTRY[name], items)
