"""Evaluations as tables, dicts, TREC lines, and names for experiment trackers and model cards."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from judged import __version__
from judged.errors import InputError, MissingExtraError, did_you_mean, quoted
from judged.results import Table
from judged.text import DECIMALS, Best, counted, listed, percent, shown, visible

if TYPE_CHECKING:
    import pandas as pd

    from judged.evaluation.evaluation import Evaluation
    from judged.evaluation.scores import Scored
    from judged.measures import Measure

WORDS = frozenset({"run", "query", "measure"})
"""Columns of tables that hold words."""


@dataclass(frozen=True)
class Look:
    """How the numbers of a table are shown.

    >>> Look(percent=True).decimals_of(True), Look(decimals=3).decimals_of(True)
    (2, 3)
    """

    decimals: int | None = None
    """How many; by default four, and two of a percentage."""
    percent: bool = False
    """Whether shares are shown in percent."""

    def decimals_of(self, share: bool) -> int:
        """Return the number of decimals of a share, or of another number."""
        if self.decimals is not None:
            return self.decimals
        return DECIMALS - 2 if share and self.percent else DECIMALS

    def number(self, value: float | None, measure: Measure) -> str:
        """Return a value of a measure as tables show it."""
        return self.digits(value, is_share(measure))

    def digits(self, value: float | None, share: bool) -> str:
        """Return a share, or another number, as tables show it."""
        form = percent if share and self.percent else shown
        return form(value, self.decimals_of(share))

    def amount(self, by: float, measure: Measure) -> str:
        """Return a difference of two values, which is never shown as zero."""
        return self.number(max(by, self._digit(measure)), measure)

    def _digit(self, measure: Measure) -> float:
        share = is_share(measure)
        return 10.0 ** -(self.decimals_of(share) + 2 * (share and self.percent))

    def name(self, label: str, measure: Measure) -> str:
        """Return the name of a measure in the table, with % for percentages."""
        return f"{label} %" if self.percent and is_share(measure) else label


def is_share(measure: Measure) -> bool:
    """Whether the values of a measure go from 0 to 1, so that they may be percentages."""
    return tuple(measure.spec.range) == (0, 1)


def table(evaluation: Evaluation, look: Look, *, per_query: bool = False) -> Table:
    """Return the table of an evaluation, with the best of several runs in bold."""
    from judged.rankings.rankings import OTHER_WAY

    frame = _with_queries(evaluation) if per_query else evaluation.summary_columns()
    header = list(frame)
    beside = evaluation.columns_beside
    width = 1 + len(beside)
    words = len(header) - width * len(evaluation.measures)  # run, query and its weight
    names = [look.name(evaluation.label(measure), measure) for measure in evaluation.measures]
    tips = dict(zip(names, (m.describe() for m in evaluation.measures), strict=True))
    both_ways = len({OTHER_WAY in run.rankings.basis for run in evaluation.runs}) > 1
    columns: list[list[str]] = []
    for at, name in enumerate(header[words:]):
        measure, column = evaluation.measures[at // width], frame[name]
        cells = [look.number(value, measure) for value in column]
        alike = not (per_query or both_ways or at % width)  # intervals and ranges are no values
        standing_out = best(column, cells, measure) if alike else []
        columns.append([Best(cell) if cell in standing_out else cell for cell in cells])
    rows = [
        [*(each if isinstance(each, str) else shown(each) for each in said), *numbers]
        for said, numbers in zip(
            zip(*(frame[name] for name in header[:words]), strict=True),
            zip(*columns, strict=True),
            strict=True,
        )
    ]
    if not beside:
        return Table([*header[:words], *names], rows, WORDS, tips=tips)
    split = [
        [*row[:words], name, *row[words + at * width :][:width]]
        for row in rows
        for at, name in enumerate(names)
    ]
    number = "corrected" if evaluation.trusted else "value"
    return Table([*header[:words], "measure", number, *beside], split, WORDS, tips=tips)


def _with_queries(evaluation: Evaluation) -> dict[str, list[Any]]:
    """Return the values of every query, followed by the summary."""
    import polars as pl

    summary = evaluation.summary.select("run", pl.lit("all").alias("query"), pl.exclude("run"))
    known = evaluation.per_query().columns
    said = [name for name in known if name not in evaluation.summary.columns or name == "run"]
    frame = pl.concat([evaluation.per_query(), summary], how="diagonal")
    return frame.select(*said, *summary.columns[2:]).to_dict(as_series=False)


def tables(evaluation: Evaluation, look: Look, *, per_query: bool = False) -> list[Table]:
    """Return the table of values, and that of queries without relevant items if shown."""
    found = [table(evaluation, look, per_query=per_query)]
    if evaluation.runs and evaluation.runs[0].unanswerable is not None:
        from judged.evaluation.unanswerable import block

        found += block(evaluation, look)
    return found


def best(values: Iterable[float | None], cells: Sequence[str], measure: Measure) -> list[str]:
    """Return the cell of the best of several values; none if all look alike or none is better.

    Which is best is decided by the exact values. What is shown alike stands out alike, for a table
    cannot tell it apart.
    """
    known = {
        value: cell
        for value, cell in zip(values, cells, strict=True)
        if value is not None and not math.isnan(value)
    }
    if not measure.spec.rates_relevance or len(set(known.values())) < 2:
        return []
    return [known[max(known) if measure.spec.higher_is_better else min(known)]]


def in_order(evaluation: Evaluation, sort: str | Measure | None) -> Evaluation:
    """Return the evaluation with its runs ordered by a measure, best first."""
    if sort is None:
        return evaluation
    measure = evaluation.measure(sort)
    sign = -1 if measure.spec.higher_is_better else 1

    def place(run: Scored) -> tuple[bool, float]:
        value = run.summary[measure]
        return math.isnan(value), 0.0 if math.isnan(value) else sign * value

    return replace(evaluation, runs=tuple(sorted(evaluation.runs, key=place)))


def as_dict(
    evaluation: Evaluation, *, per_query: bool = False, sort: str | Measure | None = None
) -> dict[str, Any]:
    """Return an evaluation as plain values."""
    latency, trusted = evaluation.latency, evaluation.trusted
    return {
        "runs": [run.to_dict(per_query=per_query) for run in in_order(evaluation, sort).runs],
        **({"latency": latency.to_dict(per_query=per_query)} if latency else {}),
        **_confidence(evaluation),
        **({"trusted": trusted.to_dict()} if trusted else {}),
        **({"skipped": dict(evaluation.skipped)} if evaluation.skipped else {}),
        "warnings": evaluation.warnings(),
        "measures": {evaluation.label(m): m.definition() for m in evaluation.measures},
        "policy": evaluation.policy.to_dict(),
        "convention": evaluation.convention.to_dict() if evaluation.convention else None,
        "definition": evaluation.methods(),
        "judged": __version__,
    }


def _confidence(evaluation: Evaluation) -> dict[str, Any]:
    if evaluation.level is None:
        return {}
    groups = None if evaluation.groups is None else len(set(evaluation.groups.values()))
    return {"level": evaluation.level, "groups": groups}


def as_pandas(
    evaluation: Evaluation, *, per_query: bool = False, sort: str | Measure | None = None
) -> pd.DataFrame:
    """Return the values as a table of pandas."""
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError("to_pandas needs pandas: pip install pandas.") from error
    columns = evaluation.to_frame(per_query=per_query, sort=sort).to_dict(as_series=False)
    frame = pd.DataFrame(columns)
    frame.attrs.update(definition=evaluation.methods(), warnings=evaluation.warnings())
    return frame


def as_trec(
    evaluation: Evaluation,
    *,
    per_query: bool = False,
    sort: str | Measure | None = None,
    quiet: bool = False,
) -> str:
    """Return the values as lines of trec_eval."""
    if per_query and evaluation.trusted:
        raise InputError(
            "TREC text has one value for each query, and there are two, by the cheap and by the "
            "trusted judgements; leave per_query (--per-query) out, or choose another format, "
            "such as CSV."
        )
    measures = evaluation.measures
    lines: list[str] = []
    for run in in_order(evaluation, sort).runs:
        if len(evaluation.runs) > 1:
            lines.append(f"runid\tall\t{run.name}")
        if per_query:
            columns = [run.values[measure].tolist() for measure in measures]
            for query, *values in zip(run.rankings.queries, *columns, strict=True):
                lines += [
                    f"{evaluation.label(measure)}\t{query}\t{value!r}"
                    for measure, value in zip(measures, values, strict=True)
                    if not math.isnan(value)
                ]
        lines += [f"{evaluation.label(m)}\tall\t{run.summary[m]!r}" for m in measures]
    if not quiet:
        lines += [f"warning\tall\t{visible(text)}" for text in evaluation._grave()]
    return "\n".join(lines) + "\n"


# -- names for experiment trackers and model cards

NAMES = {
    "judged": "as tables have them: nDCG(gain=exp)@10",
    "mlflow": "of letters, digits and _ - . / alone: nDCG.gain-exp_at_10",
}
"""How numbers can be called, and what that looks like."""
TASK = "information-retrieval"
_AT = "_at_"
_INFINITE = {"Infinity": ".inf", "-Infinity": "-.inf"}
_KEPT = re.compile(r"[A-Za-z0-9_-]")


def as_metrics(evaluation: Evaluation, names: str) -> dict[str, float]:
    """Return one flat name for each value."""
    if not isinstance(names, str) or names not in NAMES:
        near = did_you_mean(names, NAMES)
        raise InputError(f"names must be {listed([*NAMES], 'or')}; got {quoted(names)}{near}")
    flat = names == "mlflow"
    metrics: dict[str, float] = {}
    for run in evaluation.runs:
        run_name = escaped(run.name) if flat else run.name
        before = f"{run_name}/" if len(evaluation.runs) > 1 else ""
        for measure in evaluation.measures:
            name = before + (metric_name(measure) if flat else evaluation.label(measure))
            metrics[name] = float(run.summary[measure])
            for end in evaluation.ends:
                value = float(getattr(run.intervals[measure], end))
                if value == value:
                    metrics[f"{name}{'_' if flat else ' '}{end}"] = value
    return metrics


def as_huggingface(
    evaluation: Evaluation, dataset: str, dataset_name: str | None
) -> list[dict[str, Any]]:
    """Return the rows of a model card."""
    about = {
        "task": {"type": TASK, "name": TASK.replace("-", " ").capitalize()},
        "dataset": {"type": dataset, "name": dataset_name or dataset},
    }
    return [
        {
            "name": run.name,
            "results": [
                {
                    **about,
                    "metrics": [
                        {
                            "type": metric_name(measure),
                            "value": float(run.summary[measure]),
                            "name": evaluation.label(measure),
                        }
                        for measure in evaluation.measures
                    ],
                }
            ],
        }
        for run in evaluation.runs
    ]


def as_yaml(model_index: list[dict[str, Any]]) -> str:
    """Return the head of a model card."""
    return "\n".join(_yaml({"model-index": model_index}, "")) + "\n"


def metric_name(measure: Measure) -> str:
    """Write a measure in letters, digits and ``_ - .`` alone.

    >>> from judged import parse_measure
    >>> metric_name(parse_measure("RBP(p=0.95)")), metric_name(parse_measure("AP(rel=2)@100"))
    ('RBP.p-0.95', 'AP.rel-2_at_100')
    """
    text, at, cutoff = str(measure).rpartition("@")
    name, _, inside = (text if at else cutoff).removesuffix(")").partition("(")
    pairs = (each.partition("=") for each in re.split(r", (?=[A-Za-z_]+=)", inside) if inside)
    shown = [f"{key}-{escaped(value)}" for key, _, value in pairs]
    return ".".join([name, *shown]) + (f"{_AT}{cutoff}" if at else "")


def escaped(text: str) -> str:
    """Write any text in letters, digits and ``_ - .``, different texts differently.

    >>> escaped("my run/2"), escaped("v1.5")
    ('my..20.run..2f.2', 'v1.5')
    """

    def kept(at: int) -> bool:
        if text[at] != ".":
            return bool(_KEPT.match(text[at]))
        beside = text[max(at - 1, 0) : at] + text[at + 1 : at + 2]
        return len(beside) == 2 and all(map(_KEPT.match, beside))

    return "".join(each if kept(at) else f"..{ord(each):x}." for at, each in enumerate(text))


def _yaml(value: Any, indent: str) -> Iterator[str]:
    """Dicts and lists of plain values as lines of YAML, texts between quotation marks."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if isinstance(inner, (Mapping, list)):
                yield f"{indent}{key}:"
                yield from _yaml(inner, indent if isinstance(inner, list) else f"{indent}  ")
            else:
                shown = json.dumps(inner)
                yield f"{indent}{key}: {_INFINITE.get(shown, shown)}"
    else:
        for inner in value:
            first, *rest = _yaml(inner, f"{indent}  ")
            yield f"{indent}- {first.removeprefix(indent + '  ')}"
            yield from rest


@dataclass(frozen=True)
class Latency:
    """How long the call took that answered each query, in seconds.

    >>> Latency({"q1": 0.1, "q2": 0.3}).mean
    0.2
    """

    seconds: Mapping[str, float]
    """The time of each query that was answered."""
    workers: int = 1
    """How many queries were asked at once, at most."""
    retried: tuple[str, ...] = ()
    """Queries that failed before they were answered; their failed calls and waits do not count."""

    @property
    def mean(self) -> float:
        """The mean over queries."""
        return float(np.mean(list(self.seconds.values())))

    @property
    def p50(self) -> float:
        """The median."""
        return self.percentile(50)

    @property
    def p95(self) -> float:
        """The time within which 95 % of the queries were answered."""
        return self.percentile(95)

    def percentile(self, share: float) -> float:
        """Return a percentile, with linear interpolation between queries.

        Parameters
        ----------
        share : float
            From 0, the fastest query, to 100, the slowest.

        >>> Latency({"q1": 0.1, "q2": 0.3}).percentile(100)
        0.3
        """
        return float(np.percentile(list(self.seconds.values()), share))

    def sentence(self) -> str:
        """Return the latencies as one phrase.

        >>> Latency({"q1": 0.1, "q2": 0.3}, workers=4).sentence()
        'mean 200 ms, p50 200 ms, p95 290 ms (2 queries, up to 4 at once)'
        """
        together = f", up to {self.workers:,} at once" if self.workers > 1 else ""
        again = len(self.retried)
        more = f"; {again:,} answered only when asked again" if again else ""
        return (
            f"mean {_show_seconds(self.mean)}, p50 {_show_seconds(self.p50)}, "
            f"p95 {_show_seconds(self.p95)} "
            f"({counted(len(self.seconds), 'query', 'queries')}{together}{more})"
        )

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Return the numbers in seconds, as plain Python values that JSON can hold.

        Parameters
        ----------
        per_query : bool, optional
            Whether the time of every query is there too.

        >>> Latency({"q1": 0.5}).to_dict()["p95"]
        0.5
        """
        found = {
            "unit": "seconds",
            "mean": self.mean,
            "p50": self.p50,
            "p95": self.p95,
            "queries": len(self.seconds),
            "workers": self.workers,
            "retried": list(self.retried),
        }
        return {**found, "per_query": dict(self.seconds)} if per_query else found


def _show_seconds(seconds: float) -> str:
    """Three digits that count, in milliseconds below a second."""
    if seconds >= 0.9995:
        return f"{seconds:.3g} s" if seconds < 1000 else f"{seconds:,.0f} s"
    return f"{seconds * 1000:.3g} ms"
