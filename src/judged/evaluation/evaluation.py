"""Evaluation: per-query values, summary, definition, audit. The one place where policy is applied
to values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.conventions import Convention
from judged.errors import InputError, MeasureError, PolicyError
from judged.evaluation.ranges import (
    TIE_ORDERS,
    UNJUDGED_ENDS,
    TieRange,
    UnjudgedRange,
    tie_orders,
    unjudged_ends,
)
from judged.evaluation.request import Conventional, Measures, Request
from judged.evaluation.settlement import Settling, nothing_relevant
from judged.inputs import as_runs, read_judgements, read_run
from judged.judging import Collection, condensed, judging, rearranged, uncondensed
from judged.measures import Measure, parse_measure
from judged.measures.expected import Expected, expectations
from judged.measures.spec import Mask, Settled
from judged.policy import Policy
from judged.rankings.audit import Audit
from judged.rankings.rankings import Rankings
from judged.segments import Floats

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


def evaluate(
    judgements: Any,
    run: Any,
    measures: Measures | None = None,
    *,
    policy: Policy | dict[str, Any] | None = None,
    depth: int | None = None,
    duplicates: str = "error",
    collection: Collection = None,
    unique: Any = None,
    convention: str | Convention | None = None,
    tie_range: bool = False,
    unjudged_range: bool = False,
) -> Evaluation:
    """Score one run, or several given as {name: run} or a list of paths, against judgements.

    With `unique`, a table from item to category, each category's best result stands for it and
    categories are ranked: `Success@5` is then whether a relevant category is among the first five.
    With a convention, as another library does: its names for measures are understood, ours mean its
    variants of them, and the policy is its own where none is given. `tie_range` adds the value of
    every number when ties fall against the system, on average and in its favour; `unjudged_range`
    adds its two values if all unjudged results had been judged: irrelevant, or of the top grade.

    >>> judgements = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}
    >>> run = {"q1": {"a": 0.9, "b": 0.8}, "q2": {"b": 0.7, "c": 0.1}}
    >>> evaluate(judgements, run, ["RR", "P@1"]).to_dict()["runs"][0]["scores"]
    {'RR': 0.75, 'P@1': 0.5}
    >>> evaluate(judgements, run, "hit_rate@1, mrr", convention="ranx").to_dict()["runs"][0]["scores"]
    {'Success@1': 0.5, 'RR': 0.75}
    >>> tied = evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, "RR", tie_range=True, unjudged_range=True)
    >>> tied.tie_range()
    TieRange(worst=0.5, expected=0.75, best=1.0)
    >>> tied.unjudged_range()
    UnjudgedRange(irrelevant=0.5, relevant=1.0)
    """
    request = Request.of(measures, policy, convention)
    judge_run = judging(
        read_judgements(judgements),
        policy=request.policy,
        depth=depth,
        duplicates=duplicates,
        collection=collection,
        unique=unique,
    )
    rankings = [judge_run(read_run(source, name=name)) for name, source in as_runs(run).items()]
    return evaluate_rankings(rankings, request, tie_range=tie_range, unjudged_range=unjudged_range)


def evaluate_rankings(
    rankings: Sequence[Rankings],
    measures: Measures | Request | None = None,
    *,
    policy: Policy | dict[str, Any] | None = None,
    convention: str | Convention | None = None,
    tie_range: bool = False,
    unjudged_range: bool = False,
) -> Evaluation:
    """Score rankings that are made already; ties and unjudged items stay as they were then, unless
    the policy says."""
    if isinstance(measures, Request):
        request = measures
    else:
        request = Request.of(
            measures, policy, convention, ties=rankings[0].ties, unjudged=rankings[0].unjudged
        )
    wanted, assumed = request.measures, request.policy
    runs = []
    for given in rankings:
        r = _under(given, assumed)
        if unjudged_range and r.complete:
            raise PolicyError(
                f"unjudged_range has no meaning for {r.name}, where every item is judged and "
                "relevant ones are listed."
            )
        if unjudged_range:
            r = replace(r, audit=_judged_at(r, wanted))
        others = (tie_orders(r) if tie_range else {}) | (unjudged_ends(r) if unjudged_range else {})
        scored = _scored(r, wanted, assumed)
        runs.append(
            replace(
                scored,
                others={name: _scored(make(), wanted, assumed) for name, make in others.items()},
            )
        )
    return Evaluation(tuple(runs), wanted, assumed, request.convention)


def _under(r: Rankings, policy: Policy) -> Rankings:
    """The rankings with ties and unjudged items as the policy wants them."""
    arranged = rearranged(r, policy.ties)
    if policy.unjudged == arranged.unjudged:
        return arranged
    if policy.unjudged == "nonrelevant":
        raise PolicyError(
            "the unjudged items of these rankings were removed, which cannot be undone; make them "
            "again."
        )
    return condensed(arranged)


def _judged_at(r: Rankings, measures: tuple[Measure, ...]) -> Audit:
    """The audit, with the share of judged results down to where the measures look."""
    known = r.audit or Audit(judged_queries=len(r), run_queries=len(r))
    cutoffs = dict.fromkeys(
        measure.params[str(measure.spec.at)] for measure in measures if measure.spec.at == "k"
    )
    seen = [parse_measure("Judged") if k is None else parse_measure("Judged")(k=k) for k in cutoffs]
    listed = uncondensed(r)
    shares = {str(share).lower(): share.compute(listed) for share in seen}
    return replace(
        known,
        judged_at={
            name: float(np.nanmean(each))
            for name, each in shares.items()
            if not np.isnan(each).all()
        },
    )


@dataclass(frozen=True, eq=False)
class Scored:
    """One run's values: for each measure one number a query (NaN for a query that does not count)
    and the summary."""

    rankings: Rankings
    values: dict[Measure, Floats]
    summary: dict[Measure, float]
    errors: dict[Measure, Floats] = field(default_factory=dict)
    """Standard errors of the values, for measures whose expected value was estimated from random
    orders of ties."""
    summary_errors: dict[Measure, float] = field(default_factory=dict)
    others: dict[str, Scored] = field(default_factory=dict)
    """The same run under other assumptions, by their names: worst, expected, best; unjudged
    irrelevant, unjudged relevant."""

    @property
    def name(self) -> str:
        return self.rankings.name

    @property
    def audit(self) -> Audit:
        return self.rankings.audit or Audit(
            judged_queries=len(self.rankings), run_queries=len(self.rankings)
        )


def _scored(r: Rankings, measures: tuple[Measure, ...], policy: Policy) -> Scored:
    if policy.missing == "error" and r.missing.any():
        raise PolicyError(
            f"{r.name} lacks {_some(r, r.missing)}, and missing=error says to stop; "
            "missing=zero counts them as empty, missing=skip leaves them out."
        )
    scored = Scored(r, {}, {})
    estimates = expectations(measures, r) if r.ties == "expected" else {}
    for measure in measures:
        if r.complete and measure.spec.tells_unjudged:
            raise MeasureError(
                f"{measure} tells irrelevant items from unjudged ones; in {r.name} every item is "
                "judged, and only relevant "
                "ones are listed. Leave it out."
            )
        estimate = estimates.get(measure) or Expected(measure.compute(r))
        values, scored.summary[measure] = _settled(measure, r, policy, estimate.values)
        scored.values[measure] = values
        if estimate.errors is not None:
            counted = ~np.isnan(values)
            scored.errors[measure] = np.where(counted, estimate.errors, np.nan)
            error = measure.summarise_error(values[counted], estimate.errors[counted])
            if error is not None:
                scored.summary_errors[measure] = error
    return scored


def _some(r: Rankings, which: Mask) -> str:
    """How many of the judged queries, and the first few of them."""
    names = [r.queries[i] for i in np.flatnonzero(which)]
    return (
        f"{len(names):,} of {len(r):,} judged queries "
        f"({', '.join(names[:3])}{', …' if len(names) > 3 else ''})"
    )


def _settled(measure: Measure, r: Rankings, policy: Policy, raw: Floats) -> tuple[Floats, float]:
    """A measure's values with the policy applied (NaN: does not count), and its summary."""
    nothing = nothing_relevant(measure, r)
    if policy.empty == "error" and nothing.any():
        raise PolicyError(
            f"nothing is relevant for {_some(r, nothing)}, and empty=error says to stop; "
            "empty=zero gives them the worst value, empty=skip leaves them out."
        )
    settling = Settling(measure.spec, policy, nothing, r.missing)
    counted, values = settling.counted, settling.settle(raw)
    shown = np.full(len(r), np.nan)
    shown[counted] = values
    return shown, measure.summarise(r, Settled(values, counted, settling.settle))


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What `evaluate` returns, always: one row a run, one column a measure, and what the numbers
    mean.

    >>> evaluation = evaluate({"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}, ["RR", "nDCG@10"])
    >>> evaluation.value("RR")
    0.5
    """

    runs: tuple[Scored, ...]
    measures: tuple[Measure, ...]
    policy: Policy
    convention: Conventional | None = None
    """The library whose numbers these are, where one was named."""

    def value(self, measure: str | Measure | None = None, run: str | None = None) -> float:
        """One summary number; the run and the measure need a name only where there are several."""
        return self.scored(run).summary[self.measure(measure)]

    def measure(self, measure: str | Measure | None = None) -> Measure:
        """One of this evaluation's measures, from its text."""
        if measure is None:
            if len(self.measures) > 1:
                raise MeasureError(f"say which measure: {', '.join(map(str, self.measures))}.")
            return self.measures[0]
        wanted = self.convention.read(measure) if self.convention else parse_measure(measure)
        if wanted not in self.measures:
            raise MeasureError(
                f"{wanted} was not evaluated; there is {', '.join(map(str, self.measures))}."
            )
        return wanted

    def scored(self, run: str | None = None) -> Scored:
        """One run's values, by its name."""
        names = [each.name for each in self.runs]
        if run is None:
            if len(names) > 1:
                raise InputError(f"say which run: {', '.join(names)}.")
            return self.runs[0]
        if run not in names:
            raise InputError(f"there is no run {run!r}; there is {', '.join(names)}.")
        return self.runs[names.index(run)]

    def tie_range(self, measure: str | Measure | None = None, run: str | None = None) -> TieRange:
        """A summary number with ties ordered against the system, on average over all orders, and in
        its favour."""
        return TieRange(*self._under_others(TIE_ORDERS, "tie_range", measure, run))

    def unjudged_range(
        self, measure: str | Measure | None = None, run: str | None = None
    ) -> UnjudgedRange:
        """A summary number if all unjudged results had been judged and found irrelevant, or of the
        top grade."""
        return UnjudgedRange(*self._under_others(UNJUDGED_ENDS, "unjudged_range", measure, run))

    def _under_others(
        self, names: Iterable[str], option: str, measure: str | Measure | None, run: str | None
    ) -> list[float]:
        others = self.scored(run).others
        if not set(names) <= set(others):
            raise PolicyError(
                f"this evaluation was made without {option}; evaluate again with {option}=True."
            )
        return [others[name].summary[self.measure(measure)] for name in names]

    @property
    def others(self) -> tuple[str, ...]:
        """The other assumptions under which every number was computed too."""
        return tuple(self.runs[0].others)

    @cached_property
    def summary(self) -> pl.DataFrame:
        """One row a run, one column a measure; each measure's ranges, where asked for, in columns
        after its own."""
        import polars as pl

        columns = {name: [run.summary[m] for run in runs] for name, m, runs in self._columns()}
        return pl.DataFrame({"run": [run.name for run in self.runs], **columns})

    def _columns(self) -> Iterator[tuple[str, Measure, tuple[Scored, ...]]]:
        """The name of each column of numbers, its measure, and the values of all runs."""
        for measure in self.measures:
            yield str(measure), measure, self.runs
            for name in self.others:
                yield f"{measure} {name}", measure, tuple(run.others[name] for run in self.runs)

    @cached_property
    def per_query(self) -> pl.DataFrame:
        """One row a run and query, columns as in the summary; null where a query does not count."""
        import polars as pl

        frames = [
            pl.DataFrame(
                {
                    "run": pl.Series([run.name]).new_from_index(0, len(run.rankings)),
                    "query": pl.Series(run.rankings.queries, dtype=pl.String),
                    **{
                        name: pl.Series(runs[at].values[m]).fill_nan(None)
                        for name, m, runs in self._columns()
                    },
                }
            )
            for at, run in enumerate(self.runs)
        ]
        return pl.concat(frames)

    @property
    def audit(self) -> dict[str, Audit]:
        """What was found in each run's data."""
        return {run.name: run.audit for run in self.runs}

    @property
    def basis(self) -> list[str]:
        """What was ranked and how, each once, where rankings say so: those of embeddings, and of
        categories."""
        said = dict.fromkeys(
            "; ".join(run.rankings.basis) for run in self.runs if run.rankings.basis
        )
        return list(said)

    def definition(self, measure: str | Measure | None = None) -> str:
        """What a number of this evaluation means: in plain words, with its formula, its policy and
        where it comes from.

        Without a measure, where there are several, a paragraph about all of them: see `methods`.
        """
        if measure is None and len(self.measures) > 1:
            return self.methods()
        from judged.evaluation.definition import definition

        return definition(self, self.measure(measure))

    def methods(self) -> str:
        """What all numbers of this evaluation mean, as a paragraph for the methods section of a
        paper.

        >>> evaluation = evaluate({"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}, ["RR", "P@1"])
        >>> print(evaluation.methods().partition(". ")[0])
        Rankings were evaluated with judged 0.1.0
        """
        from judged.evaluation.definition import methods

        return methods(self)

    # -- exports: what each looks like is decided in judged.evaluation.exports
    # ---------------------------------------------

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        from judged.evaluation.exports import to_dict

        return to_dict(self, per_query=per_query)

    def to_json(self, *, per_query: bool = False) -> str:
        from judged.evaluation.exports import to_json

        return to_json(self, per_query=per_query)

    def to_csv(self, *, per_query: bool = False) -> str:
        from judged.evaluation.exports import to_csv

        return to_csv(self, per_query=per_query)

    def to_markdown(self, *, per_query: bool = False) -> str:
        from judged.evaluation.exports import to_markdown

        return to_markdown(self, per_query=per_query)

    def to_latex(self, *, per_query: bool = False) -> str:
        from judged.evaluation.exports import to_latex

        return to_latex(self, per_query=per_query)

    def to_trec(self, *, per_query: bool = False) -> str:
        from judged.evaluation.exports import to_trec

        return to_trec(self, per_query=per_query)

    def to_pandas(self, *, per_query: bool = False) -> pd.DataFrame:
        from judged.evaluation.exports import to_pandas

        return to_pandas(self, per_query=per_query)

    def to_parquet(self, path: Any, *, per_query: bool = True) -> None:
        from judged.evaluation.exports import to_parquet

        to_parquet(self, path, per_query=per_query)

    def __repr__(self) -> str:
        from judged.evaluation.exports import to_text

        return to_text(self)

    def _repr_html_(self) -> str:
        from judged.evaluation.exports import to_html

        return to_html(self)
