"""Sources of charts: systems, evaluations and comparisons."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.charts.kinds import COMPARING, NEEDS, OF_JSON, OF_RANKINGS, ChartKind
from judged.comparison import compare, compare_evaluation
from judged.comparison.comparison import Comparison
from judged.comparison.export import TEST_EXPLANATIONS, method_line
from judged.comparison.outcomes import match_pair
from judged.comparison.settings import ComparisonSettings
from judged.comparison.wording import percent_of, with_sign
from judged.configuration import config
from judged.errors import InputError, did_you_mean
from judged.evaluation.evaluate import evaluate
from judged.evaluation.evaluation import Evaluation, evaluate_rankings
from judged.evaluation.trusted import refuse_corrected
from judged.evaluation.warnings import about_missing
from judged.inputs.blocks import Room, RunBlocks
from judged.inputs.data import NO_RELEVANT, Data, typed_lists
from judged.inputs.formats import is_rankings_file
from judged.inputs.repeated import apart
from judged.inputs.source import open_source
from judged.inputs.tables import Kind as Input
from judged.matching.documents import with_items
from judged.matching.ties import Variants
from judged.measures import parse_measure
from judged.options import formats_of, whole
from judged.policy import Policy
from judged.rankings.rankings import Rankings
from judged.runs.funnel import funnel
from judged.text import Warned, counted, few, listed, shown

if TYPE_CHECKING:
    import polars as pl

    from judged.charts.chart import Figure
    from judged.measures import Measure
    from judged.measures.registry import Mask
    from judged.options import MeasuresLike


@dataclass(frozen=True, eq=False)
class Systems:
    """Rankings under distinct names, and the policy that their numbers are computed with."""

    rankings: tuple[Rankings, ...]
    policy: Policy

    @classmethod
    def of(cls, source: Source) -> Systems:
        """Return the systems of an evaluation or of rankings; equal names are made distinct."""
        if isinstance(source, Systems):
            return source
        if isinstance(source, Evaluation):
            refuse_corrected(source, "charts")
            kept = [source.scored(run.name).rankings for run in source.runs]
            return cls(_named(kept), source.policy)
        several = isinstance(source, (list, tuple))
        rankings = [source] if isinstance(source, Rankings) else list(source) if several else []
        if not rankings or not all(isinstance(ranked, Rankings) for ranked in rankings):
            raise InputError(
                "a chart is made from an evaluation, from rankings or from a list of rankings; got "
                "something else."
            )
        known = Policy.of(None, ties=rankings[0].ties, unjudged=rankings[0].unjudged)
        return cls(_named([Variants(r).under(known.ties, known.unjudged) for r in rankings]), known)

    @property
    def names(self) -> list[str]:
        return [ranked.name for ranked in self.rankings]

    @property
    def longest(self) -> int:
        return max(int(ranked.retrieved.max(initial=0)) for ranked in self.rankings)

    def one(self, query: str | None = None) -> Systems:
        """Return the only system, or one query of it; several systems are an error."""
        if len(self.rankings) != 1:
            raise InputError(
                f"this chart shows one system; got {len(self.rankings)}: {', '.join(self.names)}."
            )
        return self.about(query)

    def about(self, query: str | None) -> Systems:
        """Return the same systems with one query only; None keeps all queries."""
        if query is None:
            return self
        alone = (ranked.take([place_of(query, ranked.queries)]) for ranked in self.rankings)
        return replace(self, rankings=tuple(replace(ranked, weights=None) for ranked in alone))

    def evaluate(self, measures: MeasuresLike) -> Evaluation:
        return evaluate_rankings(self.rankings, measures, policy=self.policy)

    def sentences(self, query: str | None = None) -> list[str]:
        """Return warnings and assumptions that every chart of these systems mentions."""
        audits = (ranked.audit for ranked in self.rankings if ranked.audit is not None)
        warned = dict.fromkeys(text for audit in audits for text in audit.warnings)
        for ranked in self.rankings:
            name = f"{ranked.name}: " if len(self.rankings) > 1 else ""
            missing = [ranked.queries[place] for place in np.flatnonzero(ranked.missing).tolist()]
            missing = [name for name in missing if query in (None, name)]
            about = about_missing(missing, len(ranked), self.policy)
            warned |= {f"{name}{text}": None for text in about}
        notes = [f"Warning: {text}" for text in warned]
        if self.policy.ties == "expected":
            notes.append(
                "Ties are not broken (ties=expected): numbers are means over their orders, curves "
                "show one order."
            )
        if (weights := self.rankings[0].weights) is not None:
            notes.append(f"Queries are weighted by {weights.source}.")
        if len(self.rankings[0]) > 1 and self.policy.empty == "skip":
            notes.append("Queries without relevant items are left out.")
        return notes


Source = Evaluation | Rankings | Sequence[Rankings] | Systems


def unweighted(systems: Systems) -> Systems:
    """Fail if queries are weighted, for charts that count every query once."""
    for each in systems.rankings:
        if each.weights is not None:
            raise InputError(
                f"this chart counts every query once, and those of {each.name} are weighted by "
                f"{each.weights.source}; draw one of a measure (measure_at_k, cmc, eleven_point, "
                "ranges), or evaluate without weights."
            )
    return systems


def kept(systems: Systems, r: Rankings, rel: float) -> tuple[Mask, Mask]:
    """Return the queries that the policy keeps, and those that score 1 with nothing relevant."""
    nothing = r.relevant(rel) == 0
    skipped = (r.missing & (systems.policy.missing == "skip")) | (
        nothing & (systems.policy.empty == "skip")
    )
    return ~skipped, nothing & (systems.policy.empty == "one")


def place_of(query: str, queries: Sequence[str]) -> int:
    if not isinstance(query, str) or query not in queries:
        raise InputError(
            f"query {query!r} does not exist{did_you_mean(query, queries)} The queries are "
            f"{few(queries)}."
        )
    return queries.index(query)


def cutoffs(last: int, most: int = 40) -> list[int]:
    """Return every rank from 1, or at most `most` of them, evenly spaced by their logarithm."""
    if last <= most:
        return list(range(1, last + 1))
    return sorted({int(k) for k in np.unique(np.rint(np.geomspace(1, last, most)))})


def checked_k(k: int | None, longest: int, default: int) -> int:
    """Return the last rank of a curve: `k`, or that of the longest list, at most a default."""
    if k is None:
        return max(1, min(longest, default))
    return whole("k", k)


def values_at_cutoffs(
    systems: Systems, measures: Iterable[str], k: int | None, rel: float
) -> pl.DataFrame:
    """Return a row per measure of one system and cutoff down to k, by default at most 100."""
    import polars as pl

    depths = cutoffs(checked_k(k, systems.longest, 100))
    pairs = [(name, depth) for name in measures for depth in depths]
    wanted = [parse_measure(name)(k=depth, rel=rel) for name, depth in pairs]
    [run] = systems.evaluate(wanted).runs
    query = run.rankings.queries[0] if len(run.rankings) == 1 else None
    about = (run.name, query, len(run.rankings))
    rows = [
        (*about, *pair, run.summary[measure]) for pair, measure in zip(pairs, wanted, strict=True)
    ]
    names = ("run", "query", "queries", "name", "k", "value")
    types = (pl.String, pl.String, pl.Int64, pl.String, pl.Int64, pl.Float64)
    return pl.DataFrame(rows, schema=dict(zip(names, types, strict=True)), orient="row")


def _named(rankings: Sequence[Rankings]) -> tuple[Rankings, ...]:
    names = [each.name for each in rankings]
    again = [names[:at].count(name) for at, name in enumerate(names)]
    return tuple(
        replace(each, name=f"{each.name} ({before + 1})") if before else each
        for each, before in zip(rankings, again, strict=True)
    )


def asked(table: pl.DataFrame) -> tuple[str, str]:
    """Return the number of queries in words, and the numbers of each run if they differ."""
    counts = dict(table.select("run", "queries").unique(maintain_order=True).rows())
    if len(set(counts.values())) == 1:
        return counted(next(iter(counts.values())), "query", "queries"), ""
    return "queries", f": {listed([f'{count:,} ({name})' for name, count in counts.items()])}"


DEFAULT = "nDCG@10"  # the measure that two systems are compared by
PairSource = Source | Comparison
"""Two systems: an evaluation of two runs, two rankings, systems, or a comparison of two runs."""
SAID = ("says", "note")  # columns of sentences, which stand above a chart and not in it
NAMED = 3  # how many queries are named on each side of two systems


def comparison_of(source: Any) -> Comparison:
    """Return a comparison, or fail."""
    if not isinstance(source, Comparison):
        raise InputError(
            "this chart is made from a comparison, as judged.compare and Evaluation.compare make "
            "it; got something else."
        )
    return source


def terms(comparison: Comparison) -> list[str]:
    """Return what any chart of a comparison has to mention: warnings, tests and groups."""
    noticed = (*comparison.numbers.notes, *comparison.notes)
    said = [f"Warning: {note}" for note in noticed if isinstance(note, Warned)]
    if comparison.numbers.groups is not None:
        known = comparison.numbers.grouped(comparison.numbers.counting)
        said.append(in_groups(int(known.max()) + 1) if known is not None else "")
    tests = {row.test for row in comparison.rows}
    said += [
        f"{words[0].upper()}{words[1:]}."
        for test, words in TEST_EXPLANATIONS.items()
        if test in tests
    ]
    if comparison.evaluation is not None:
        said += Systems.of(comparison.evaluation).sentences()
    return list(dict.fromkeys(said))


def in_groups(groups: int) -> str:
    return f"Queries of a group count together: {counted(groups, 'group')}."


def signed(value: float | None) -> str:
    return with_sign(number(value), value)


def number(value: float | None) -> str:
    return shown(value).replace("-", "−")


def paired(
    source: PairSource, measure: str | Measure | None
) -> tuple[pl.DataFrame, list[pl.Expr], list[str]]:
    """Return a row per query with a finite value in two systems, further columns, and notes."""
    import polars as pl

    comparison = _compared(source, measure)
    if len(comparison.runs) != 2:
        raise _not_two(comparison.runs)
    chosen = comparison.measure(_measure_of(comparison, measure))
    pair = comparison.pair(measure=chosen.name)
    match = match_pair(comparison.numbers, chosen, pair.run, pair.against)
    a, b, place = match.theirs.values, match.ours.values, match.ours.place
    finite = np.isfinite(a) & np.isfinite(b)
    if not finite.any():
        raise InputError("no query counts in both systems, so there is nothing to compare.")
    left_out = len(place) - int(finite.sum())
    names = pl.Series(comparison.numbers.queries, dtype=pl.String)
    queries = pl.DataFrame(
        {
            "query": names.gather(place[finite]),
            "a": a[finite],
            "b": b[finite],
            "difference": match.differences[finite],
        }
    )
    interval = pair.interval
    facts = {
        "measure": pair.measure,
        "run_a": pair.against,
        "run_b": pair.run,
        "higher_is_better": chosen.higher_is_better,
        "is_share": tuple(chosen.range) == (0, 1),
        "wins": pair.wins,
        "ties": pair.ties,
        "losses": pair.losses,
        "overall": _finite(pair.difference),
        "low": _finite(interval.low),
        "high": _finite(interval.high),
        "level": comparison.settings.level,
        "is_mean": match.ours.sample.aggregate == "mean" and not left_out,
        "verdict": pair.verdict,
        "says": pair.says,
        "note": interval.note,
    }
    notes = [
        f"{counted(left_out, 'query', 'queries')} with an infinite value cannot be shown."
        if left_out
        else "",
        "" if chosen.higher_is_better else f"Lower values of {pair.measure} are better.",
        method_line(comparison) if comparison.settings != ComparisonSettings() else "",
        *terms(comparison),
    ]
    columns = [
        pl.lit(value, pl.Float64 if value is None or isinstance(value, float) else None).alias(name)
        for name, value in facts.items()
    ]
    return queries, columns, [note for note in notes if note]


def _compared(source: PairSource, measure: str | Measure | None) -> Comparison:
    if isinstance(source, Comparison):
        if source.evaluation is not None:
            unweighted(Systems.of(source.evaluation))
        return source
    systems = unweighted(Systems.of(source))
    if len(systems.rankings) != 2:
        raise _not_two(systems.names)
    if systems.rankings[0].queries != systems.rankings[1].queries:
        raise InputError(
            "the two systems have different queries; judge both with the same judgements."
        )
    return compare_evaluation(systems.evaluate([DEFAULT if measure is None else measure]))


def _measure_of(comparison: Comparison, measure: str | Measure | None) -> str | Measure | None:
    several = measure is None and len(comparison.measures) > 1
    return DEFAULT if several and DEFAULT in comparison.measures else measure


def _not_two(names: Any) -> InputError:
    return InputError(f"this chart compares two systems; got {len(names)}: {', '.join(names)}.")


def _finite(value: float) -> float | None:
    return None if math.isnan(value) else value


def said_of(table: pl.DataFrame) -> list[str]:
    """Return sentences about the two systems of a table: the difference and the verdict."""
    overall, low, high, level, note = (
        table[name][0] for name in ("overall", "low", "high", "level", "note")
    )
    what = "mean difference" if table["is_mean"][0] else "difference"
    if low is None or high is None:
        why = f": {note}" if note else ""
        bounds = f"; it has no interval{why}"
    else:
        bounds = f", its {percent_of(level)} interval {signed(low)} to {signed(high)}"
    return [f"The {what} is {signed(overall)}{bounds}.", table["says"][0]]


# -- files of `judged plot`


def chart_of_files(
    kind: ChartKind,
    files: Sequence[str],
    *,
    scoring: Mapping[str, Any],
    made_by: Mapping[str, Any],
    **options: Any,
) -> Figure:
    """Draw a chart of files; `scoring` are options of `evaluate`, `made_by` those of `compare`."""
    are_lists = typed_lists(files[0], list(files[1:])) is not None
    if are_lists and (kind.needs not in OF_RANKINGS and kind.needs != "values"):
        needs = NEEDS[kind.needs].says
        raise InputError(f"{kind.name} cannot be drawn from relevance lists; it needs {needs}.")
    if scoring.get("relevant") is not None and not are_lists:
        raise InputError(NO_RELEVANT)
    if kind.needs in OF_JSON:
        read = _json(files[0], kind)
        try:
            return kind.function(read, **options)
        except InputError as error:  # what is plain JSON does not know its file
            raise InputError(f"{files[0]}: {error}") from None
    if kind.needs == "stages":
        lost = funnel(files[0], list(files[1:]), columns=scoring.get("columns"), **made_by)
        return kind.function(lost, **options)
    if NEEDS[kind.needs].made_by:
        return kind.function(_compare_files(kind, files, options, scoring, made_by), **options)
    if kind.needs in OF_RANKINGS:
        evaluation = evaluate(files[0], files[1:] or None, DEFAULT, **scoring)
        _check_runs(kind, len(evaluation.runs))
        return kind.function(Systems.of(evaluation), **options)
    judgements_format, run_format = formats_of(scoring.get("format"))
    data = with_items(
        Data.of(
            files[0],
            files[1:] or None,
            columns=scoring.get("columns"),
            judgements_format=judgements_format,
            run_format=run_format,
            room=Room(config.current.memory, config.current.temporary),
        ),
        item_to=scoring.get("item_to"),
        exclude_same_id=scoring.get("exclude_same_id", False),
    )
    judgements, runs = data.judgements(), _runs(data, options.get("query"))
    _check_runs(kind, len(runs))
    return kind.function(judgements, runs[0], **options)


def _check_runs(kind: ChartKind, runs: int) -> None:
    needs = NEEDS[kind.needs]
    fewest, most = needs.files
    if runs < fewest - 1 or (most is not None and runs > most - 1):
        raise InputError(f"{kind.name} needs {needs.says}; got {counted(runs, 'run')}.")


def _runs(data: Data, query: str | None) -> list[Any]:
    """Read runs, or only the named query of large ones."""
    if query is not None:
        runs = [run.only(query) if isinstance(run, RunBlocks) else run for run in data.runs()]
        if None not in runs:
            return runs
    return list(data.whole().runs())


def _compare_files(
    kind: ChartKind,
    files: Sequence[str],
    options: Mapping[str, Any],
    scoring: Mapping[str, Any],
    made_by: Mapping[str, Any],
) -> Comparison | Evaluation:
    settings = dict(made_by)
    measures = settings.pop("measures", None)
    if kind.needs == "pair":
        measures = options.get("measure", DEFAULT)
    runs = list(files[1:]) or None
    if is_rankings_file(files[0]):
        alone = runs is None
    elif typed_lists(files[0], runs):
        alone = True
    else:
        alone = len(files) <= 2 and len(apart(runs)[0] or [0]) == 1
    if kind.needs == "values" and alone and not {*settings} & {*COMPARING} - {"level", "groups"}:
        return evaluate(files[0], runs, measures, **scoring).showing(intervals=True, **settings)
    return compare(files[0], runs, measures, **settings, **scoring)


def _json(path: str, kind: ChartKind) -> Any:
    says = NEEDS[kind.needs].says
    source = open_source(path, Input(f"a {kind.needs}", "score", says))
    try:
        return json.loads(source.read())
    except ValueError as error:
        raise InputError(
            f"{source.label}: cannot be read as JSON ({error}); {kind.name} needs {says}."
        ) from None
    except RecursionError:
        raise InputError(f"{source.label}: the JSON is nested too deeply.") from None
