"""Comparison: pairs of runs with their verdicts, and how these came about."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from judged import __version__
from judged.comparison import export
from judged.comparison.numbers import Compared, Numbers, measure_noise, own_intervals
from judged.comparison.settings import SAVED_AS, ComparisonSettings
from judged.comparison.slices import Slices
from judged.comparison.verdicts import (
    Pair,
    Place,
    by_importance,
    decide_pairs,
    leaderboard,
    make_frame,
)
from judged.errors import InputError, MeasureError, did_you_mean, quoted
from judged.evaluation.export import Look
from judged.evaluation.warnings import warnings
from judged.evaluation.wording import brief
from judged.options import later
from judged.results import (
    Display,
    DisplayOptions,
    Document,
    Frame,
    Result,
    plain_value,
    render_latex,
)
from judged.statistics.intervals import Interval
from judged.statistics.samples import about_few_units
from judged.text import Warned

if TYPE_CHECKING:
    import polars as pl

    from judged.comparison.orders import Orders
    from judged.evaluation.evaluation import Evaluation
    from judged.measures import Measure
    from judged.web.report.report import Report
else:  # loaded by `typing.get_type_hints` only
    Measure = later("judged.measures:Measure")
    Orders = later("judged.results:Orders")
    Report = later("judged.results:Report")

MAX_SENTENCES = 20
"""Sentences, and notes, that are shown without verbose."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """Result of `compare`: every pair of runs on every measure, with its verdict.

    >>> from judged import compare_values
    >>> found = compare_values({"a": {"1": 0.5, "2": 0.25}, "b": {"1": 0.5, "2": 0.25}})
    >>> found.pair().verdict
    'identical'
    """

    SAVED_AS: ClassVar = SAVED_AS
    DISPLAY: ClassVar = frozenset({"sort", "decimals", "percent"})

    numbers: Numbers
    """Per-query values of all runs, aligned by query id."""
    settings: ComparisonSettings
    """Test, correction, confidence level and margin."""
    rows: tuple[Pair, ...]
    """A row for each measure and pair of runs."""
    baseline: str | None = None
    """The run that all others were compared with, if one was named."""
    evaluation: Evaluation | None = None
    """Evaluation that the values come from, if judged computed them."""
    notes: tuple[str, ...] = ()
    """Warnings and notes."""
    slices: Slices = field(default_factory=Slices)
    """Comparisons in slices of the queries."""
    corrected_among: tuple[str, ...] = ()
    """Runs whose comparisons p values are corrected for, if they are more than `runs`."""

    @property
    def runs(self) -> tuple[str, ...]:
        return self.numbers.runs

    @property
    def measures(self) -> tuple[str, ...]:
        return tuple(measure.name for measure in self.numbers.measures)

    @property
    def reference(self) -> str | None:
        """The run that every other run is compared with; None if all pairs are compared."""
        if self.baseline is not None:
            return self.baseline
        return self.rows[0].against if len(self.runs) == 2 else None

    def measure(self, measure: object = None) -> Compared:
        """Return one of the measures.

        Parameters
        ----------
        measure : str or Measure, optional
            The measure, by any of its names; needed only if there are several.
        """
        known = {compared.name: compared for compared in self.numbers.measures}
        if measure is None:
            if len(known) > 1:
                raise MeasureError(f"name one of the measures: {', '.join(known)}.")
            return self.numbers.measures[0]
        if isinstance(measure, str) and measure in known:
            return known[measure]
        if self.evaluation is not None:
            return known[self.evaluation.label(self.evaluation.measure(measure))]  # type: ignore[arg-type]
        hint = did_you_mean(str(measure), list(known))
        raise MeasureError(f"there is no measure {quoted(measure)} in this comparison{hint}")

    def pair(
        self, run: str | None = None, against: str | None = None, measure: object = None
    ) -> Pair:
        """Return one pair of runs on one measure.

        Parameters
        ----------
        run : str, optional
            The run that is compared; needed only if there are several pairs.
        against : str, optional
            The run that it is compared with.
        measure
            As for `value`.

        >>> from judged import compare_values
        >>> compare_values({"a": {"1": 0.5}, "b": {"1": 0.25}}).pair("b", "a").difference
        -0.25
        """
        for name in (run, against):
            if name is not None:
                self._run(name)
        label = self.measure(measure).name
        on_measure = [row for row in self.rows if row.measure == label]
        rows = [
            row for row in on_measure if run in (None, row.run) and against in (None, row.against)
        ]
        if len(rows) != 1:
            there = ", ".join(f"{row.run} against {row.against}" for row in on_measure)
            what = "name one pair" if rows else "there is no such pair"
            raise InputError(f"{what}; the pairs are {there}.")
        return rows[0]

    def among(self, *runs: str) -> Comparison:
        """Keep the pairs of some runs, with the verdicts that they have among all runs.

        Parameters
        ----------
        *runs : str
            Two runs or more. A named baseline must be one of them.

        Returns
        -------
        Comparison
            Its p values stay corrected for the comparisons of all runs.

        >>> from judged import compare_values
        >>> values = {"a": {"1": 0.5}, "b": {"1": 0.2}, "c": {"1": 0.1}}
        >>> [(row.run, row.against) for row in compare_values(values).among("a", "c").rows]
        [('c', 'a')]
        """
        chosen = tuple(run for run in self.runs if run in runs)
        for run in runs:
            self._run(run)
        if len(chosen) < 2 or self.baseline not in (None, *chosen):
            needed = "two runs or more" if len(chosen) < 2 else f"the baseline {self.baseline}"
            raise InputError(f"among needs {needed}; got {', '.join(runs) or 'none'}.")
        numbers = replace(
            self.numbers,
            runs=chosen,
            entries={key: entry for key, entry in self.numbers.entries.items() if key[1] in chosen},
            repeated={run: names for run, names in self.numbers.repeated.items() if run in chosen},
        )
        return replace(
            self,
            numbers=numbers,
            rows=tuple(row for row in self.rows if {row.run, row.against} <= set(chosen)),
            slices=Slices(),
            corrected_among=self.corrected_among or self.runs,
        )

    def value(self, measure: object = None, run: str | None = None) -> float:
        """Return a run's value on all its queries.

        Parameters
        ----------
        measure : str or Measure, optional
            One of the comparison's measures; needed only if there are several.
        run : str, optional
            The name of a run.

        >>> from judged import compare_values
        >>> compare_values({"a": {"1": 0.5}, "b": {"1": 0.25}}).value(run="b")
        0.25
        """
        return self.values[self.measure(measure).name][self._run(run)]

    def interval(self, measure: object = None, run: str | None = None) -> Interval:
        """Return a run's value with its confidence interval, which says nothing about differences.

        Parameters
        ----------
        measure, run
            As for `value`.

        >>> from judged import compare_values
        >>> compare_values({"a": {"1": 0.5, "2": 0.4}, "b": {"1": 0.25, "2": 0}}).interval(run="a")
        Interval(estimate=0.45, low=-0.18..., high=1.08..., method='t', note='')
        """
        return self.intervals[self.measure(measure).name, self._run(run)]

    def _run(self, run: str | None) -> str:
        if not isinstance(run, str) or run not in self.runs:
            names = ", ".join(self.runs)
            raise InputError(f"there is no run {quoted(run)}; the runs are {names}.")
        return run

    @cached_property
    def values(self) -> dict[str, dict[str, float]]:
        """Value of each run on all its queries, by measure and run."""
        entries = self.numbers.entries
        return {
            measure: {run: entries[measure, run].number for run in self.runs}
            for measure in self.measures
        }

    @cached_property
    def intervals(self) -> dict[tuple[str, str], Interval]:
        """Value of each run with its confidence interval, by measure and run."""
        return own_intervals(self.numbers, self.settings)

    @cached_property
    def every_pair(self) -> tuple[Pair, ...]:
        """Rows of all pairs, even with a baseline.

        The best run is known only from the data, so it is tested against all others.
        """
        if len(self.rows) == math.comb(len(self.runs), 2) * len(self.measures):
            return self.rows
        return decide_pairs(self.numbers, self.settings)

    @cached_property
    def noise(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Variation of each repeated run between its repeats, by measure and run."""
        return measure_noise(self.numbers)

    def leaderboard(self, measure: object = None) -> tuple[Place, ...]:
        """Return the runs by a measure, best first, each with the range of its rank.

        Parameters
        ----------
        measure
            As for `value`.

        >>> from judged import compare_values
        >>> compare_values({"a": {"1": 0.5}, "b": {"1": 0.25}}).leaderboard()[0]
        Place(run='a', value=0.5, rank_low=1, rank_high=2)
        """
        known = self.measure(measure)
        return leaderboard(known, self.values[known.name], self.rows)

    def orders(self) -> Orders:
        """Compare how every two measures order the runs, which must be at least three.

        >>> from judged import compare_values
        >>> values = {run: {"AP": {"q": x}, "RR": {"q": 1 - x}} for run, x in zip("abc", (0, 1, 2))}
        >>> compare_values(values).orders().pairs[0].agreement.tau
        -1.0
        """
        from judged.comparison.orders import orders_of

        return orders_of(self)

    def report(self, *, measure: object = None, **options: Any) -> Report:
        """Make an HTML report of these runs, compared as they are here.

        Parameters
        ----------
        measure : str or Measure, optional
            Measure that ranks the runs; by default the first.
        **options : Any
            `title`, `texts`, `queries` and `pictures` of `judged.report`.

        >>> from judged import compare
        >>> judgements = {str(q): {"a": 1} for q in range(8)}
        >>> runs = {"up": {str(q): ["a"] for q in range(8)}, "down": {"0": ["b", "a"]}}
        >>> found = compare(judgements, runs, "RR", policy={"missing": "zero"})
        >>> found.report().sentences()[0]
        'up leads on RR'
        """
        from judged.web.report.report import report_of

        return report_of(self, measure=measure, **options)

    # -- for programs

    def to_dict(self, *, sort: str | Measure | None = None) -> dict[str, Any]:
        """Return everything as plain Python values that JSON can hold.

        Parameters
        ----------
        sort : str or Measure, optional
            Measure that orders the runs, best first.

        >>> from judged import compare_values
        >>> compare_values({"a": {"1": 0.5}, "b": {"1": 0.25}}).to_dict()["pairs"][0]["verdict"]
        'too few'
        """
        if sort is not None:
            return self._sorted(sort).to_dict()
        evaluation, measures = self.evaluation, self.numbers.measures
        trusted = None if evaluation is None else evaluation.trusted
        return {
            "runs": [self._run_dict(run) for run in self.runs],
            "pairs": plain_value(self.rows),
            "leaderboard": {m.name: plain_value(self.leaderboard(m.name)) for m in measures},
            **(self.slices.to_dict() if len(self.slices) else {}),
            **({"trusted": dict(trusted)} if trusted else {}),
            "settings": {**self.settings.to_dict(), "baseline": self.baseline},
            "warnings": self.warnings(),
            "notes": self.remarks(),
            "measures": {
                m.name: {"higher_is_better": m.higher_is_better}
                if m.measure is None
                else m.measure.definition()
                for m in measures
            },
            "policy": {} if evaluation is None else evaluation.policy.to_dict(),
            "definition": self.methods(),
            "judged": __version__,
        }

    def _run_dict(self, run: str) -> dict[str, Any]:
        values: dict[str, Any] = {
            "name": run,
            "scores": {name: self.values[name][run] for name in self.measures},
            "intervals": {name: self.intervals[name, run] for name in self.measures},
        }
        if run in self.numbers.repeated:
            noise = {measure: of for (measure, name), of in self.noise.items() if name == run}
            values["repeats"] = {"number": len(self.numbers.repeated[run]), "noise": noise}
        if self.evaluation is not None and self.evaluation.trusted is not None:
            scored = self.evaluation.scored(run)
            values["trusted"] = {scored.label(m): fix for m, fix in scored.corrections.items()}
        plain: dict[str, Any] = plain_value(values)
        return plain

    @cached_property
    def pairs(self) -> pl.DataFrame:
        """A row for each measure and pair."""
        return make_frame(self.rows)

    def to_frame(self, *, sort: str | Measure | None = None) -> Frame:
        """Return the pairs as a polars table: a row for each measure and pair, also in slices.

        Parameters
        ----------
        sort
            As for `to_dict`.

        Returns
        -------
        polars.DataFrame
            With slices, it has the columns `attribute` and `slice`, which are null for all queries.

        >>> from judged import compare_values
        >>> found = compare_values({"a": {"1": 0.5}, "b": {"1": 0.25}})
        >>> found.to_frame().select("run", "against", "difference", "verdict").rows()
        [('b', 'a', -0.25, 'too few')]
        """
        return make_frame([*self._sorted(sort).rows, *self.slices.rows])

    def _metadata(self) -> dict[str, str]:
        return {"definition": self.methods(), **super()._metadata()}

    def _sorted(self, sort: str | Measure | None) -> Comparison:
        """Return the comparison with runs ordered by a measure, best first, and pairs likewise."""
        if sort is None:
            return self
        order = {place.run: number for number, place in enumerate(self.leaderboard(sort))}
        measures = {name: number for number, name in enumerate(self.measures)}
        rows = sorted(
            self.rows, key=lambda row: (measures[row.measure], order[row.against], order[row.run])
        )
        runs = tuple(sorted(self.runs, key=order.__getitem__))
        return replace(self, numbers=replace(self.numbers, runs=runs), rows=tuple(rows))

    # -- for people

    def document(self, display: Display) -> Document:
        ordered = self._sorted(display.sort)
        shown = export.tables(ordered, Look(display.decimals, display.percent))
        findings = [*by_importance(ordered.rows), *ordered.slices.sentences()]
        remarks = ordered.remarks()
        hidden = [*findings[MAX_SENTENCES:], *remarks[MAX_SENTENCES:]]
        evaluation = self.evaluation
        one_run = not export.has_repeats(self)

        def details() -> list[str]:
            measured = [] if evaluation is None else evaluation.sentences()
            return [
                *hidden,
                *([export.ONE_RUN] if one_run else []),
                *(text for text in measured if not isinstance(text, Warned)),
                self.methods(),
            ]

        more = [f"{len(hidden):,} more sentences: to_text(verbose=True)."] if hidden else []
        hint = brief(evaluation) if evaluation else "notes: to_text(verbose=True)"
        return Document(
            answer=() if display.quiet else findings[:MAX_SENTENCES],
            tables=shown,
            warnings=self._all_warnings(),
            notes=[
                export.method_line(ordered),
                *remarks[:MAX_SENTENCES],
                *(() if display.verbose else more),
            ],
            details=details,
            hint=("one run of each system; " if one_run else "") + hint,
        )

    def warnings(self, **display: Unpack[DisplayOptions]) -> list[str]:
        self._display("to_text", display)
        return self._all_warnings()

    def to_latex(self, **display: Unpack[DisplayOptions]) -> str:
        r"""Return a table of runs and measures in LaTeX (booktabs).

        Raised letters name the runs that a run is significantly better than. The best run and those
        that are not significantly worse are bold; for that all pairs are tested, even with a
        baseline.

        Parameters
        ----------
        **display : Unpack[DisplayOptions]
            Options of `Display`, such as `caption` and `label`.

        >>> from judged import compare_values
        >>> found = compare_values({"a": {"1": 0.5}, "b": {"1": 0.5}})
        >>> found.to_latex(quiet=True).splitlines()[4]
        'a & a & \\textbf{0.5000} \\\\'
        """
        document, options = self._document("to_latex", display)
        table = export.latex_summary(
            self._sorted(options.sort), Look(options.decimals, options.percent)
        )
        only = f", compared with {self.reference} only" if self.reference else ""
        legend = (
            "Raised letters: the runs that this one is significantly better than"
            f"{only} ({export.method_line(self).rstrip('.')}). Bold: {export.bold_rule(self)}."
        )
        footnotes = [legend, *(f"Warning: {text}" for text in self._grave())]
        return render_latex(replace(document, tables=[table]), options, footnotes)

    def _grave(self) -> list[str]:
        evaluation = self.evaluation
        return [*self._own_warnings(), *(evaluation._grave() if evaluation else [])]

    def _all_warnings(self) -> list[str]:
        evaluation, warned = self.evaluation, self._own_warnings()
        if evaluation is not None:
            # The effect of ties on a verdict is in `depends_on`, except with trusted judgements.
            warned += warnings(evaluation, Look(), ties=evaluation.trusted is not None)
        return warned

    def _own_warnings(self) -> list[str]:
        units = [
            (row.measure, row.queries, row.groups, row.units)
            for row in self.rows
            if row.verdict != "identical"
        ]
        noticed = [*self.numbers.notes, *self.notes, *map(Warned, about_few_units(units))]
        return list(dict.fromkeys(note for note in noticed if isinstance(note, Warned)))

    def remarks(self) -> list[str]:
        """Return notes that are not warnings, such as on which queries pairs were compared."""
        return export.notes(self)

    def methods(self) -> str:
        """Return how the runs were compared, as a paragraph for a paper."""
        return export.methods(self)
