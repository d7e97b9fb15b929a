"""Advice on measures: findings against each, a cutoff, and what to report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from judged import __version__
from judged.arrays import Floats, ordinals
from judged.errors import InputError
from judged.evaluation.evaluate import evaluate
from judged.evaluation.evaluation import Evaluation, evaluate_rankings
from judged.evaluation.scores import Scored, score_run
from judged.evaluation.settings import EvaluationSettings
from judged.measures import Measure, parse_measure
from judged.measures.measure import read_all
from judged.options import (
    LEVEL,
    JudgementsLike,
    MeasuresLike,
    RunsLike,
    Scoring,
    checked,
    takes_scoring,
)
from judged.policy import Policy
from judged.rankings.rankings import Rankings
from judged.results import Display, Document, Frame, Result, Table
from judged.text import counted, few, listed

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison

USUAL_MEASURES = (
    "Success@1, Success@5, Success@10, P@1, P@5, P@10, P@20, R@5, R@10, R@20, R@100, RR, nDCG@5, "
    "nDCG@10, nDCG@20, nDCG@100, nDCG, AP@10, AP@100, AP, Rprec"
)
SAME = 1e-9
"""Values that differ by no more are the same."""
SATURATED, HARD, CAPPED, UNJUDGED, BEYOND = "saturated", "hard", "capped", "unjudged", "beyond"
MOST_QUERIES, FEW_JUDGED, HALF = 0.9, 0.8, 0.5
"""Limits of the findings; docs/choosing.md explains them."""
ALL_JUDGED = ("nDCG", "AP")
"""Families that use everything that was judged; the first suits several grades better."""
FIRST_HIT = ("RR", "Success")


@dataclass(frozen=True)
class AdviceRow:
    """One measure on these data."""

    measure: str
    """Its name."""
    k: int | None
    """Its cutoff, if that is a number."""
    queries: int
    """The number of queries with relevant items."""
    lowest: float
    """The lowest value of a run."""
    highest: float
    """The highest value of a run."""
    at_best: float
    """Share of the queries in which every run has the best value that the query can have."""
    at_worst: float
    """Share of the queries in which every run has the worst value."""
    half_width: float | None
    """Half the width of the widest confidence interval; None without intervals."""
    judged: float | None
    """The share of the top-k results that are judged, of the run with the least; None if the
    judgements list relevant items only."""
    ceiling: float
    """The value of a perfect system on these queries, under the same policy."""
    reachable: float
    """The mean of the best values of the queries with relevant items."""
    length: float
    """The median length of lists over all runs."""
    differ: float | None = None
    """Share of the queries in which two runs differ; None for a single run."""
    pairs: int = 0
    """The number of pairs of runs."""
    separated: int = 0
    """The number of pairs that differ significantly, corrected for the number of pairs."""
    effect: float | None = None
    """The median of the pairs' effect sizes (d_z without its sign). A measure with large effects
    needs few queries."""
    detectable: float | None = None
    """The median of the differences that these queries detect with 80 % power."""

    @property
    def findings(self) -> tuple[str, ...]:
        """Reasons against the measure."""
        reasons = {
            SATURATED: self.at_best >= MOST_QUERIES,
            HARD: self.at_worst >= MOST_QUERIES,
            CAPPED: self.ceiling < HALF,
            UNJUDGED: self.judged is not None and self.judged < FEW_JUDGED,
            BEYOND: self.k is not None and self.k > self.length,
        }
        return tuple(name for name, holds in reasons.items() if holds)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        values = {**vars(self), "findings": list(self.findings)}
        del values["length"], values["reachable"]  # they describe the data, not the measure
        return values


@dataclass(frozen=True, eq=False, repr=False)
class Advice(Result):
    """The result of `advise`: a row for each measure, and what to report.

    >>> from judged import advise
    >>> advise({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").rows[0].highest
    0.5
    """

    rows: tuple[AdviceRow, ...]
    """One for each measure."""
    lists: Mapping[str, Any]
    """Sizes of the judgements and the lists: queries, relevant and most_relevant items of a query,
    length, graded (more than one grade above 0), and known (the best possible values are known)."""
    runs: tuple[str, ...]
    """The names of the systems."""
    level: float
    """The confidence level of intervals and tests."""

    def report(self) -> tuple[AdviceRow, ...]:
        """Return the measures to report, among those without findings.

        These are one measure that uses everything that was judged, one of recall, and one of the
        first hit if queries have one relevant item.

        >>> from judged import advise
        >>> judgements = {f"q{n}": {"a": 1} for n in range(20)}
        >>> run = {f"q{n}": ["b"] * (n % 3 > 0) + ["a"] for n in range(20)}
        >>> [row.measure for row in advise(judgements, run, "RR, P@10").report()]
        ['RR']
        """
        sound = [row for row in self.rows if not row.findings]
        whole = ALL_JUDGED if self.lists["graded"] else ALL_JUDGED[::-1]
        kinds = [FIRST_HIT, whole] if self.lists["relevant"] <= 1 else [whole, ("R",)]
        chosen = [row for families in kinds if (row := _best_of(sound, families)) is not None]
        return tuple(dict.fromkeys(chosen)) or tuple(sorted(sound, key=_worth)[-1:])

    def document(self, display: Display) -> Document:
        *findings, reported = _sentences(self)
        hint = "more columns: to_text(verbose=True)"
        return Document([reported], [_table(self)], _warnings(self), findings, hint=hint)

    def to_dict(self) -> dict[str, Any]:
        return {
            "runs": list(self.runs),
            "lists": dict(self.lists),
            "rows": [row.to_dict() for row in self.rows],
            "report": [row.measure for row in self.report()],
            "level": self.level,
            "warnings": self.warnings(),
            "sentences": _sentences(self),
            "judged": __version__,
        }

    def to_frame(self) -> Frame:
        """Return one row for each measure, with all numbers.

        >>> from judged import advise
        >>> advise({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").to_frame()["highest"].to_list()
        [0.5]
        """
        import polars as pl

        rows = [{**row.to_dict(), "findings": ", ".join(row.findings)} for row in self.rows]
        return pl.DataFrame(rows, infer_schema_length=None)


@takes_scoring
@checked
def advise(
    judgements: JudgementsLike | Evaluation,
    runs: RunsLike | None = None,
    measures: MeasuresLike | None = None,
    *,
    level: float = LEVEL,
    **scoring: Unpack[Scoring],
) -> Advice:
    """Recommend the measures and cutoffs that these data can support.

    Parameters
    ----------
    judgements : JudgementsLike or Evaluation
        A file, a dict {query: {item: grade}}, or a table; or an evaluation, whose runs are used.
    runs : RunsLike, optional
        The systems, as `judged.evaluate` takes them. With two or more, measures are also tested
        for how well they separate the systems.
    measures : MeasuresLike, optional
        The measures to examine; by default the usual ones at the usual cutoffs.
    level : float, optional
        The confidence level of intervals and tests.
    **scoring

    Returns
    -------
    Advice
        A row for each measure with the numbers behind it, and sentences.

    Examples
    --------
    >>> import judged
    >>> judgements = {f"q{n}": {"a": 1} for n in range(20)}
    >>> run = {f"q{n}": ["a", "b"] if n else ["b", "a"] for n in range(20)}
    >>> [row] = judged.advise(judgements, run, "Success@1").rows
    >>> row.at_best, row.findings
    (0.95, ('saturated',))
    """
    labels = read_all(USUAL_MEASURES if measures is None else measures)
    for measure in labels:
        if not measure.spec.rates_relevance or not all(map(np.isfinite, measure.spec.range)):
            raise InputError(
                f"{measure} has no best value that a query could reach, so there is nothing to "
                "advise on; leave it out."
            )
    computed = list(labels.values())
    if isinstance(judgements, Evaluation):
        rankings = [run.rankings for run in judgements.runs]
        evaluation = evaluate_rankings(rankings, computed, policy=judgements.policy)
    else:
        evaluation = evaluate(judgements, runs, computed, **scoring)
    return _advice_of(evaluation, tuple(labels), level)


def _scored(run: Scored, measure: Measure, policy: Policy) -> Scored:
    """Score a run by a measure about lists, whatever convention and weights were chosen."""
    r = replace(run.rankings, weights=None)
    return score_run(r, EvaluationSettings.of_rankings([r], [measure], policy))


def _advice_of(evaluation: Evaluation, measures: tuple[Measure, ...], level: float) -> Advice:
    best = _best_first(evaluation)
    if best is None:
        size = len(evaluation.runs[0].rankings)
        ceilings = {m: float(m.spec.range[m.spec.higher_is_better]) for m in measures}
        ideal = {m: np.full(size, ceilings[m]) for m in measures}
    else:
        # Everything in the ideal lists is judged, and nothing in them ties.
        policy = replace(evaluation.policy, ties=best.ties, unjudged=best.unjudged)
        ceilings = evaluate_rankings([best], list(measures), policy=policy).runs[0].summary
        ideal = {m: m.compute(best) for m in measures}
    alone = replace(evaluation, measures=measures)
    comparison = alone.compare(level=level, missing="zero") if len(evaluation.runs) > 1 else None
    lists = _lists(evaluation, best)
    rows = []
    for measure in measures:
        row = _row(
            evaluation, measure, ideal[measure], float(ceilings[measure]), lists["length"], level
        )
        rows.append(row if comparison is None else _with_pairs(row, comparison))
    return Advice(tuple(rows), lists, tuple(run.name for run in evaluation.runs), level)


def _best_first(evaluation: Evaluation) -> Rankings | None:
    """Return the judged items of each query, best grade first; None for judgements by subtopic."""
    r = evaluation.runs[0].rankings
    if r.subtopics is not None:
        return None
    count = len(r)
    # A query that no run has is left out of the values under missing=skip, so also of the ceiling.
    skipped = evaluation.policy.missing == "skip"
    lacking = np.logical_and.reduce([run.rankings.missing for run in evaluation.runs])
    return Rankings(
        queries=r.queries,
        retrieved=np.maximum(np.bincount(r.pool_query, minlength=count), r.retrieved),
        hit_query=r.pool_query,
        hit_rank=ordinals(r.pool_query, count),
        hit_grade=r.pool_grade,
        pool_query=r.pool_query,
        pool_grade=r.pool_grade,
        missing=lacking if skipped else np.zeros(count, bool),
        collection=r.collection,
    )


def _row(
    evaluation: Evaluation,
    measure: Measure,
    ideal: Floats,
    ceiling: float,
    length: float,
    level: float,
) -> AdviceRow:
    runs, k = evaluation.runs, measure.cutoff
    k = k if isinstance(k, int) else None
    values = np.array([run.values[measure] for run in runs])
    worst = measure.spec.range[not measure.spec.higher_is_better]
    # A query without relevant items has one value whatever a system does.
    counts = ~np.isnan(values).any(axis=0) & ~np.isnan(ideal) & (np.abs(ideal - worst) > SAME)
    values, ideal = values[:, counts], ideal[counts]
    size = max(values.shape[1], 1)
    summaries = [run.summary[measure] for run in runs]
    intervals = [evaluation.interval(measure, run.name, level=level) for run in runs]
    widths = [interval.high - interval.low for interval in intervals if interval.known]
    share = None if k is None else parse_measure(f"Judged@{k}")
    r = runs[0].rankings
    # Without irrelevant items in the judgements, unlisted items are irrelevant, not unjudged.
    judged = None
    if share is not None and not r.complete and bool((r.grades <= 0).any()):
        judged = min(_scored(run, share, evaluation.policy).summary[share] for run in runs)
    return AdviceRow(
        measure=evaluation.label(measure),
        k=k,
        queries=values.shape[1],
        lowest=min(summaries),
        highest=max(summaries),
        at_best=float((np.abs(values - ideal) <= SAME).all(axis=0).sum() / size),
        at_worst=float((np.abs(values - worst) <= SAME).all(axis=0).sum() / size),
        half_width=max(widths) / 2 if widths else None,
        judged=judged,
        ceiling=ceiling,
        reachable=float(ideal.mean()) if len(ideal) else float("nan"),
        length=length,
        differ=float((np.ptp(values, axis=0) > SAME).sum() / size) if len(runs) > 1 else None,
    )


def _with_pairs(row: AdviceRow, comparison: Comparison) -> AdviceRow:
    pairs = [pair for pair in comparison.rows if pair.measure == row.measure]
    effects = [abs(pair.effect) for pair in pairs if pair.effect is not None]
    detectable = [pair.detectable for pair in pairs if pair.detectable is not None]
    return replace(
        row,
        pairs=len(pairs),
        separated=sum(pair.verdict in ("better", "worse") for pair in pairs),
        effect=float(np.median(effects)) if effects else None,
        detectable=float(np.median(detectable)) if detectable else None,
    )


def _lists(evaluation: Evaluation, best: Rankings | None) -> dict[str, Any]:
    policy, first = evaluation.policy, evaluation.runs[0]
    of, returned = parse_measure("NumRel"), parse_measure("NumRet")
    relevant = _scored(first, of, policy).values[of]
    lengths = np.concatenate(
        [_scored(run, returned, policy).values[returned] for run in evaluation.runs]
    )
    relevant = relevant[~np.isnan(relevant)]
    return {
        "queries": len(relevant),
        "relevant": float(np.median(relevant)) if len(relevant) else 0.0,
        "most_relevant": float(relevant.max(initial=0)),
        "length": float(np.nanmedian(lengths)) if len(lengths) else 0.0,
        "graded": best is not None and len(np.unique(best.pool_grade[best.pool_grade > 0])) > 1,
        "known": best is not None,
    }


def _best_of(rows: list[AdviceRow], families: tuple[str, ...]) -> AdviceRow | None:
    for family in families:
        members = [row for row in rows if row.measure.split("@")[0].split("(")[0] == family]
        if members:
            return max(members, key=_worth)
    return None


def _worth(row: AdviceRow) -> tuple[int, bool, float]:
    return row.separated, row.k is not None, row.effect or 0.0


# -- words

DETAILS = ("at best", "at worst", "±", "differ", "d_z")
"""Columns that text shows only with `verbose`."""


def _table(advice: Advice) -> Table:
    several = len(advice.runs) > 1
    header = ["measure", "value", "ceiling", "at best", "at worst", "±"]
    header += ["differ", "separates", "d_z"] if several else []
    rows = []
    for row in advice.rows:
        value = f"{row.highest:.4f}"
        if several and row.lowest != row.highest:
            value = f"{row.lowest:.4f} … {row.highest:.4f}"
        cells = [row.measure, value, f"{row.ceiling:.4f}"]
        cells += [_share(row.at_best), _share(row.at_worst)]
        cells.append("–" if row.half_width is None else f"{row.half_width:.4f}")
        if several:
            effect = "–" if row.effect is None else f"{row.effect:.2f}"
            cells += [_share(row.differ), f"{row.separated} of {row.pairs}", effect]
        rows.append([*cells, _share(row.judged), listed(row.findings) if row.findings else ""])
    header += ["judged", "findings"]
    details = [at for at, head in enumerate(header) if head in DETAILS]
    return Table(header, rows, words={"measure", "findings"}, details=details)


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}".replace("%", " %")


def _warnings(advice: Advice) -> list[str]:
    warnings = []
    if len(advice.runs) < 2:
        warnings.append(
            "There is only 1 run. Give two or more to test how well measures separate systems."
        )
    if advice.lists["queries"] < 25:
        queries = counted(advice.lists["queries"], "judged query", "judged queries")
        warnings.append(f"There are only {queries}, so shares of queries are imprecise.")
    if not advice.lists["known"]:
        warnings.append(
            "The best value that each query can reach is not known for judgements by subtopic. "
            "Ceilings are those of the measures, so capped or saturated measures may be missed."
        )
    if len(advice.runs) > 1:
        warnings.append(
            "A measure chosen because it separates these systems overstates their differences on "
            "the same queries. Choose it now, and compare on other queries."
        )
    return warnings


def _sentences(advice: Advice) -> list[str]:
    sentences = []
    for finding, describe in DESCRIPTIONS.items():
        rows = [row for row in advice.rows if finding in row.findings]
        if len(rows) > 2:
            others = few([row.measure for row in rows[1:]], 6)
            sentences.append(f"{describe(advice, rows[0])} The same holds for {others}.")
        else:
            sentences += [describe(advice, row) for row in rows]
    return [*sentences, *_separation(advice), _depth(advice), _reported(advice)]


DESCRIPTIONS: dict[str, Callable[[Advice, AdviceRow], str]] = {
    SATURATED: lambda advice, row: (
        f"{row.measure} has the best value for {_share(row.at_best)} of the queries, so it can "
        "hardly separate systems."
    ),
    HARD: lambda advice, row: (
        f"{row.measure} has the worst value for {_share(row.at_worst)} of the queries, so few "
        "queries can show a difference."
    ),
    CAPPED: lambda advice, row: (
        f"{row.measure} cannot exceed {row.ceiling:.2f} for any system, because "
        f"{_cap(advice, row)}."
    ),
    UNJUDGED: lambda advice, row: (
        f"Only {_share(row.judged)} of the top-{row.k} results are judged, so {row.measure} "
        "favours systems similar to those whose results were judged."
    ),
    BEYOND: lambda advice, row: (
        f"{row.measure} uses {row.k} results, but half of the lists have {row.length:g} or fewer."
    ),
}


def _cap(advice: Advice, row: AdviceRow) -> str:
    queries, relevant = advice.lists["queries"], advice.lists["relevant"]
    empty = queries - row.queries
    if row.reachable >= HALF:
        has = "has" if empty == 1 else "have"
        return f"{empty:,} of {queries:,} queries {has} no relevant items and score 0"
    return f"queries have too {'few' if row.k and row.k > relevant else 'many'} relevant items"


def _separation(advice: Advice) -> list[str]:
    """Name the measures that separate most pairs, and the one that needs fewest queries."""
    if len(advice.runs) < 2:
        return []
    sound = [row for row in advice.rows if not row.findings and row.effect is not None]
    if not sound:
        return ["No measure without findings has differences to test."]
    top = max(sound, key=lambda row: row.separated)
    best = [row for row in sound if row.separated == top.separated]
    best.sort(key=lambda row: -(row.effect or 0.0))
    sentences = [
        f"{few([row.measure for row in best], 4)} {'shows' if len(best) == 1 else 'show'} the most "
        f"significant differences: {top.separated} of {counted(top.pairs, 'pair')} of runs, "
        "corrected for multiple comparisons."
    ]
    largest = max(sound, key=lambda row: row.effect or 0.0)
    if largest.effect and largest.detectable is not None:
        sentences.append(
            f"{largest.measure} has the largest effects (median d_z {largest.effect:.2f}), so it "
            "needs the fewest queries. With these queries a true difference of "
            f"{largest.detectable:.3f} is detected with 80 % power."
        )
    return sentences


def _depth(advice: Advice) -> str:
    length, relevant = advice.lists["length"], advice.lists["relevant"]
    sizes = f"Lists have {length:g} results and queries {relevant:g} relevant items (medians)"
    depths = sorted({row.k for row in advice.rows if row.k is not None})
    shares = {row.k: row.judged for row in advice.rows if row.judged is not None}
    if not depths:
        return f"{sizes}."
    within = [k for k in depths if k <= length]
    if not shares:
        only = "The judgements list relevant items only, so all other results count as irrelevant."
        choice = f"choose K up to {within[-1]}" if within else "no K tried lies within the lists"
        return f"{sizes}: {choice}. {only}"
    sound = [k for k in within if (shares.get(k) or 0) >= FEW_JUDGED]
    if not sound:
        return f"{sizes}: no K tried lies within lists that were judged. Judge deeper."
    share = shares[sound[-1]] or 0.0
    part = "all" if share == 1 else f"at least {_share(share)} of the"
    return f"{sizes}: choose K up to {sound[-1]}, where {part} results are judged."


def _reported(advice: Advice) -> str:
    rows = advice.report()
    if not rows:
        return "Report none of these measures: each has findings against it."
    parts = [
        f"{row.measure} ({row.highest:.4f}"
        + ("" if row.half_width is None else f" ± {row.half_width:.4f}")
        + (f", {row.separated} of {row.pairs} pairs significant)" if row.pairs else ")")
        for row in rows
    ]
    return f"Report {listed(parts)}, with confidence intervals and the number of queries."
