"""Evaluation: per-query values, summary, definition, audit. The one place where policy is applied to values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.audit import Audit
from judged.errors import InputError, MeasureError, PolicyError
from judged.inputs import as_runs, read_judgements, read_run
from judged.judging import Collection, condensed, judging, rearranged
from judged.measures import DEFAULT, Measure, parse, parse_all
from judged.measures.bibliography import BIBLIOGRAPHY
from judged.measures.spec import Mask, Settled
from judged.policy import Policy
from judged.rankings import Rankings
from judged.segments import Floats

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Measures = str | Measure | Iterable[str | Measure]


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
) -> Evaluation:
    """Score one run, or several given as {name: run} or a list of paths, against judgements.

    With `unique`, a table from item to category, each category's best result stands for it and categories are ranked:
    `Success@5` is then whether a relevant category is among the first five.

    >>> judgements = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}
    >>> run = {"q1": {"a": 0.9, "b": 0.8}, "q2": {"b": 0.7, "c": 0.1}}
    >>> evaluate(judgements, run, ["RR", "P@1"]).to_dict()["runs"][0]["scores"]
    {'RR': 0.75, 'P@1': 0.5}
    """
    wanted = parse_all(DEFAULT if measures is None else measures)
    assumed = Policy.of(policy)
    judge_run = judging(
        read_judgements(judgements),
        policy=assumed,
        depth=depth,
        duplicates=duplicates,
        collection=collection,
        unique=unique,
    )
    rankings = [judge_run(read_run(source, name=name)) for name, source in as_runs(run).items()]
    return evaluate_rankings(rankings, wanted, policy=assumed)


def evaluate_rankings(
    rankings: Sequence[Rankings], measures: Measures | None = None, *, policy: Policy | dict[str, Any] | None = None
) -> Evaluation:
    """Score rankings that are made already; ties and unjudged items stay as they were then, unless the policy says."""
    wanted = tuple(parse_all(DEFAULT if measures is None else measures))
    assumed = Policy.of(policy, ties=rankings[0].ties, unjudged=rankings[0].unjudged)
    return Evaluation(tuple(_scored(_under(r, assumed), wanted, assumed) for r in rankings), wanted, assumed)


def _under(r: Rankings, policy: Policy) -> Rankings:
    """The rankings with ties and unjudged items as the policy wants them."""
    arranged = rearranged(r, policy.ties)
    if policy.unjudged == arranged.unjudged:
        return arranged
    if policy.unjudged == "nonrelevant":
        raise PolicyError("the unjudged items of these rankings were removed, which cannot be undone; make them again.")
    return condensed(arranged)


@dataclass(frozen=True, eq=False)
class Scored:
    """One run's values: for each measure one number a query (NaN for a query that does not count) and the summary."""

    rankings: Rankings
    values: dict[Measure, Floats]
    summary: dict[Measure, float]

    @property
    def name(self) -> str:
        return self.rankings.name

    @property
    def audit(self) -> Audit:
        return self.rankings.audit or Audit(judged_queries=len(self.rankings), run_queries=len(self.rankings))


def _scored(r: Rankings, measures: tuple[Measure, ...], policy: Policy) -> Scored:
    if policy.missing == "error" and r.missing.any():
        raise PolicyError(
            f"{r.name} lacks {_some(r, r.missing)}, and missing=error says to stop; "
            "missing=zero counts them as empty, missing=skip leaves them out."
        )
    values, summary = {}, {}
    for measure in measures:
        if r.complete and measure.spec.tells_unjudged:
            raise MeasureError(
                f"{measure} tells irrelevant items from unjudged ones; in {r.name} every item is judged, and only relevant "
                "ones are listed. Leave it out."
            )
        values[measure], summary[measure] = _settled(measure, r, policy)
    return Scored(r, values, summary)


def _some(r: Rankings, which: Mask) -> str:
    """How many of the judged queries, and the first few of them."""
    names = [r.queries[i] for i in np.flatnonzero(which)]
    return f"{len(names):,} of {len(r):,} judged queries ({', '.join(names[:3])}{', …' if len(names) > 3 else ''})"


def _settled(measure: Measure, r: Rankings, policy: Policy) -> tuple[Floats, float]:
    """A measure's values with the policy applied (NaN: does not count), and its summary."""
    spec = measure.spec
    raw = measure.compute(r)
    rel: float = measure.params.get("rel", float(np.nextafter(0, 1)))
    nothing = r.relevant(rel) == 0
    if policy.empty == "error" and nothing.any():
        raise PolicyError(
            f"nothing is relevant for {_some(r, nothing)}, and empty=error says to stop; "
            "empty=zero gives them the worst value, empty=skip leaves them out."
        )
    counted = np.ones(len(r), bool)
    if policy.missing == "skip":
        counted &= ~r.missing
    if policy.empty == "skip":
        counted &= ~nothing
    upwards = spec.higher_is_better or not spec.rates_relevance
    worst, best = (spec.range[0], 1.0) if upwards else (spec.range[1], spec.range[0])

    def settle(values: Floats) -> Floats:
        filled = values
        if spec.rates_relevance and policy.empty == "one":
            filled = np.where(nothing, best, filled)
        return np.where(np.isnan(filled), worst, filled)[counted]

    values = settle(raw)
    shown = np.full(len(r), np.nan)
    shown[counted] = values
    return shown, measure.summarise(r, Settled(values, counted, settle))


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What `evaluate` returns, always: one row a run, one column a measure, and what the numbers mean.

    >>> evaluation = evaluate({"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}, ["RR", "nDCG@10"])
    >>> evaluation.value("RR")
    0.5
    """

    runs: tuple[Scored, ...]
    measures: tuple[Measure, ...]
    policy: Policy

    def value(self, measure: str | Measure | None = None, run: str | None = None) -> float:
        """One summary number; the run and the measure need a name only where there are several."""
        return self.scored(run).summary[self.measure(measure)]

    def measure(self, measure: str | Measure | None = None) -> Measure:
        """One of this evaluation's measures, from its text."""
        if measure is None:
            if len(self.measures) > 1:
                raise MeasureError(f"say which measure: {', '.join(map(str, self.measures))}.")
            return self.measures[0]
        wanted = parse(measure)
        if wanted not in self.measures:
            raise MeasureError(f"{wanted} was not evaluated; there is {', '.join(map(str, self.measures))}.")
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

    @cached_property
    def summary(self) -> pl.DataFrame:
        """One row a run, one column a measure."""
        import polars as pl

        columns = {str(m): [run.summary[m] for run in self.runs] for m in self.measures}
        return pl.DataFrame({"run": [run.name for run in self.runs], **columns})

    @cached_property
    def per_query(self) -> pl.DataFrame:
        """One row a run and query, one column a measure; null where a query does not count."""
        import polars as pl

        frames = [
            pl.DataFrame(
                {
                    "run": pl.Series([run.name]).new_from_index(0, len(run.rankings)),
                    "query": pl.Series(run.rankings.queries, dtype=pl.String),
                    **{str(m): pl.Series(run.values[m]).fill_nan(None) for m in self.measures},
                }
            )
            for run in self.runs
        ]
        return pl.concat(frames)

    @property
    def audit(self) -> dict[str, Audit]:
        """What was found in each run's data."""
        return {run.name: run.audit for run in self.runs}

    @property
    def basis(self) -> list[str]:
        """What was ranked and how, each once, where rankings say so: those of embeddings, and of categories."""
        said = dict.fromkeys("; ".join(run.rankings.basis) for run in self.runs if run.rankings.basis)
        return list(said)

    def definition(self, measure: str | Measure | None = None) -> str:
        """What a number of this evaluation means: in plain words, with its formula, its policy and where it comes from."""
        chosen = self.measure(measure)
        spec = chosen.spec
        policy = "; ".join(self.policy.sentences().values())
        return (
            f"{chosen} ({spec.title}). {chosen.words()}\n"
            f"Formula: {spec.formula}\n"
            f"Undefined when: {spec.undefined.text}.\n"
            f"Policy: {policy}.\n"
            f"{''.join(f'Ranking: {text}.{chr(10)}' for text in self.basis)}"
            f"Reference: {BIBLIOGRAPHY[spec.reference]}"
        )

    # -- exports: what each looks like is decided in judged.exports ---------------------------------------------

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        from judged.exports import to_dict

        return to_dict(self, per_query=per_query)

    def to_json(self, *, per_query: bool = False) -> str:
        from judged.exports import to_json

        return to_json(self, per_query=per_query)

    def to_csv(self, *, per_query: bool = False) -> str:
        from judged.exports import to_csv

        return to_csv(self, per_query=per_query)

    def to_markdown(self, *, per_query: bool = False) -> str:
        from judged.exports import to_markdown

        return to_markdown(self, per_query=per_query)

    def to_latex(self, *, per_query: bool = False) -> str:
        from judged.exports import to_latex

        return to_latex(self, per_query=per_query)

    def to_trec(self, *, per_query: bool = False) -> str:
        from judged.exports import to_trec

        return to_trec(self, per_query=per_query)

    def to_pandas(self, *, per_query: bool = False) -> pd.DataFrame:
        from judged.exports import to_pandas

        return to_pandas(self, per_query=per_query)

    def to_parquet(self, path: Any, *, per_query: bool = True) -> None:
        from judged.exports import to_parquet

        to_parquet(self, path, per_query=per_query)

    def __repr__(self) -> str:
        from judged.exports import to_text

        return to_text(self)

    def _repr_html_(self) -> str:
        from judged.exports import to_html

        return to_html(self)
