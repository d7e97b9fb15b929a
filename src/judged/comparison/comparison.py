"""Comparison: pairs of runs with their verdicts, and what was done to reach them."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, cast

from judged import __version__
from judged.comparison import methods as definition
from judged.comparison.numbers import Compared, Noise, Numbers, noises
from judged.comparison.settings import SAVED_AS, Settings
from judged.comparison.slices import Slices
from judged.comparison.tables import bold_rule, in_order, tables
from judged.comparison.verdicts import Pair, Place, by_importance, frame_of, leaderboard
from judged.errors import InputError, MeasureError, MissingExtraError, did_you_mean, quoted
from judged.evaluation.export import Look
from judged.options import checked_methods
from judged.results import Part, Result, Table, csv_of
from judged.statistics.intervals import Interval
from judged.statistics.units import about_few_units
from judged.text import Dim, Warned, html, html_folded, markdown, plain, to_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    import polars as pl

    from judged.comparison.numbers import Numbers
    from judged.comparison.orders import Orders
    from judged.comparison.settings import Settings
    from judged.comparison.slices import Slices
    from judged.comparison.verdicts import Pair
    from judged.evaluation.evaluation import Evaluation
    from judged.measures import Measure
    from judged.web.report.report import Report


@checked_methods
class Records(Result):
    """What programs get of a comparison; `Comparison` holds what is in it.

    Every method takes `sort`: the measure that runs are ordered by, the best first.
    """

    numbers: Numbers
    settings: Settings
    rows: tuple[Pair, ...]
    baseline: str | None
    evaluation: Evaluation | None
    notes: tuple[str, ...]
    slices: Slices
    if TYPE_CHECKING:

        @property
        def runs(self) -> tuple[str, ...]: ...
        @property
        def measures(self) -> tuple[str, ...]: ...
        def methods(self) -> str: ...
        def remarks(self) -> list[str]: ...

    def to_dict(self, *, sort: str | Measure | None = None) -> dict[str, Any]:
        """Everything, as plain Python values that JSON can hold.

        Parameters
        ----------
        sort : str or Measure, optional
            The measure that runs are ordered by, the best first.

        Returns
        -------
        dict

        >>> from judged import compare_values
        >>> found = compare_values({"a": {"1": 0.5, "2": 0.25}, "b": {"1": 0.5, "2": 0.25}})
        >>> found.to_dict()["pairs"][0]["verdict"]
        'identical'
        """
        return _record(in_order(self, sort))

    def to_json(self, *, sort: str | Measure | None = None) -> str:
        """`to_dict` as JSON.

        Parameters
        ----------
        sort : str or Measure, optional
            The measure that runs are ordered by, the best first.

        Returns
        -------
        str

        >>> from judged import compare_values
        >>> found = compare_values({"a": {"1": 0.5, "2": 0.25}, "b": {"1": 0.5, "2": 0.25}})
        >>> found.to_json().startswith("{")
        True
        """
        return to_json(self.to_dict(sort=sort))

    @cached_property
    def pairs(self) -> pl.DataFrame:
        """One row per measure and pair, everything that is known of it in columns."""
        return frame_of(self.rows)

    def to_frame(self, *, sort: str | Measure | None = None) -> pl.DataFrame:
        """The pairs as a polars table: one row per measure and pair, and with slices one more in
        each of them; `attribute` and `slice` then say which, and are null of all queries.

        Parameters
        ----------
        sort : str or Measure, optional
            The measure that runs are ordered by, the best first.

        Returns
        -------
        polars.DataFrame

        >>> from judged import compare_values
        >>> found = compare_values({"a": {"1": 0.5, "2": 0.25}, "b": {"1": 0.5, "2": 0.25}})
        >>> found.to_frame().select("run", "against", "difference", "verdict").rows()
        [('b', 'a', 0.0, 'identical')]
        """
        found = in_order(self, sort)
        return found.slices.below(found.pairs) if len(found.slices) else found.pairs

    def to_csv(self, *, sort: str | Measure | None = None, quiet: bool = False) -> str:
        """`to_frame` as CSV; warnings stand below it as comments, lines that begin with "#".

        Parameters
        ----------
        sort : str or Measure, optional
            The measure that runs are ordered by, the best first.
        quiet : bool, optional
            Whether warnings are left out.

        Returns
        -------
        str

        >>> from judged import compare_values
        >>> found = compare_values({"a": {"1": 0.5, "2": 0.25}, "b": {"1": 0.5, "2": 0.25}})
        >>> found.to_csv().splitlines()[0][:29]
        'measure,run,against,queries,g'
        """
        numbers = csv_of(self.to_frame(sort=sort))
        return numbers if quiet else numbers + self._comments()

    def to_pandas(self, *, sort: str | Measure | None = None) -> pd.DataFrame:
        """`to_frame` for pandas, with the definition and the warnings in its `attrs`.

        Parameters
        ----------
        sort : str or Measure, optional
            The measure that runs are ordered by, the best first.

        Returns
        -------
        pandas.DataFrame

        >>> from judged import compare_values
        >>> found = compare_values({"a": {"1": 0.5, "2": 0.25}, "b": {"1": 0.5, "2": 0.25}})
        >>> found.to_pandas()["verdict"].tolist()
        ['identical']
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingExtraError("to_pandas needs pandas: pip install pandas.") from error
        frame = pd.DataFrame(self.to_frame(sort=sort).to_dict(as_series=False))
        frame.attrs.update(definition=self.methods(), warnings=self.warnings())
        return frame

    def _metadata(self) -> dict[str, str]:
        return {"definition": self.methods(), **super()._metadata()}


def _record(comparison: Comparison) -> dict[str, Any]:
    evaluated = comparison.evaluation
    measures = comparison.numbers.measures
    return {
        "runs": [
            {
                "name": run,
                "scores": {m.name: plain(comparison.value(m.name, run)) for m in measures},
                "intervals": {m.name: comparison.interval(m.name, run).to_dict() for m in measures},
                **_repeats(comparison, run),
                **_corrected(evaluated, run),
            }
            for run in comparison.runs
        ],
        "pairs": [row.to_dict() for row in comparison.rows],
        "leaderboard": {
            m.name: [place.to_dict() for place in comparison.leaderboard(m.name)] for m in measures
        },
        **(comparison.slices.to_dict() if len(comparison.slices) else {}),
        **({"trusted": evaluated.trusted.to_dict()} if evaluated and evaluated.trusted else {}),
        "settings": {**comparison.settings.to_dict(), "baseline": comparison.baseline},
        "warnings": comparison.warnings(),
        "notes": comparison.remarks(),
        "measures": {
            m.name: {"higher_is_better": m.higher_is_better}
            if m.measure is None
            else m.measure.definition()
            for m in measures
        },
        "policy": {} if evaluated is None else evaluated.policy.to_dict(),
        "definition": comparison.methods(),
        "judged": __version__,
    }


def _repeats(comparison: Comparison, run: str) -> dict[str, Any]:
    """How many repeats a run has and how far they are apart, where it has some."""
    noise = {each.measure: each.to_dict() for each in comparison.noise if each.run == run}
    number = len(comparison.numbers.repeated.get(run, ()))
    return {"repeats": {"number": number, "noise": noise}} if number else {}


def _corrected(evaluated: Evaluation | None, run: str) -> dict[str, Any]:
    """How a run's numbers were corrected by trusted judgements, where there are some."""
    if evaluated is None or evaluated.trusted is None:
        return {}
    own = evaluated.scored(run)
    return {"trusted": {own.label(m): each.to_dict() for m, each in own.corrections.items()}}


MOST = 20
"""How many sentences, and how many notes, stand under tables where nobody asks for all."""


@checked_methods
class Sentences(Records):
    """The sentences of a comparison; `Comparison` holds what they are about."""

    def warnings(self) -> list[str]:
        """What could mislead whoever reads the numbers and nothing else: of the comparison, then of
        the evaluation.

        Returns
        -------
        list of str

        >>> from judged import compare_values
        >>> found = compare_values({"a": {"1": 0.5, "2": 0.25}, "b": {"1": 0.5, "2": 0.25}})
        >>> found.warnings()
        []
        """
        from judged.evaluation.export import Look
        from judged.evaluation.warnings import warnings

        # What ties do to a comparison stands in `depends_on` and in the sentence of its row.
        evaluated = self.evaluation
        # Where trusted judgements correct it, that is not looked into.
        ties = evaluated is not None and evaluated.trusted is not None
        about = warnings(evaluated, Look(), ties=ties) if evaluated else []
        return [*self._own_warnings(), *about]

    def _grave(self) -> list[str]:
        evaluated = self.evaluation
        return [*self._own_warnings(), *(evaluated._grave() if evaluated else [])]

    def _own_warnings(self) -> list[str]:
        noticed = (*self.numbers.notes, *self.notes)
        few = about_few_units(
            (row.measure, row.queries, row.groups, row.effective_units or row.groups or row.queries)
            for row in self._this.rows
            if row.verdict != "identical"
        )
        noticed = (*noticed, *map(Warned, few))
        return list(dict.fromkeys(note for note in noticed if isinstance(note, Warned)))

    def remarks(self) -> list[str]:
        """What was noticed that is no warning: on which queries pairs were compared, what a test is
        about.

        Returns
        -------
        list of str

        >>> from judged import compare_values
        >>> found = compare_values({"a": {"1": 0.5, "2": 0.25}, "b": {"1": 0.5, "2": 0.25}})
        >>> found.remarks()[0].partition(";")[0]
        'higher values of value are taken to be better'
        """
        return definition.notes(self._this)

    def methods(self) -> str:
        """How the runs were compared, as a paragraph for a paper.

        Returns
        -------
        str

        >>> from judged import compare_values
        >>> found = compare_values({"a": {"1": 0.5, "2": 0.25}, "b": {"1": 0.5, "2": 0.25}})
        >>> found.methods().partition(":")[2].partition(",")[0]
        ' b with a'
        """
        return definition.methods(self._this)

    @property
    def _this(self) -> Comparison:
        return cast("Comparison", self)

    def sentences(self) -> list[str]:
        """What was found, the shown differences first; what was done, noticed and assumed.

        Returns
        -------
        list of str

        >>> from judged import compare_values
        >>> found = compare_values({"a": {"1": 0.5, "2": 0.25}, "b": {"1": 0.5, "2": 0.25}})
        >>> found.sentences()[0]
        'value: b gives the same value as a on all 2 queries.'
        """
        return [*self._warned(), *self._said()]

    def _findings(self) -> list[str]:
        """What each pair says, of all queries and then of slices."""
        return [*by_importance(self.rows), *self.slices.sentences()]

    def _said(self) -> list[str]:
        evaluated = self.evaluation
        one_run = [f"{definition.ONE_RUN}."] if definition.one_run_each(self._this) else []
        return [
            *self._findings(),
            definition.done(self._this),
            *(f"note: {text}" for text in (*self.remarks(), *one_run)),
            *(evaluated._said() if evaluated else []),
        ]

    def _brief(self) -> list[str]:
        from judged.evaluation.wording import brief

        evaluated = self.evaluation
        one_run = "one run of each system; " if definition.one_run_each(self._this) else ""
        notes = [f"note: {text}" for text in self.remarks()]
        more = brief(evaluated) if evaluated else "notes: verbose (-v)"
        return [
            *_first(self._findings()),
            definition.done(self._this),
            *_first(notes),
            Dim(one_run + more),
        ]


def _first(lines: list[str]) -> list[str]:
    """Lines, or where these are many the first of them and how many more there are."""
    more = len(lines) - MOST
    return lines if more <= 0 else [*lines[:MOST], f"and {more:,} more: verbose (-v)"]


@checked_methods
class Exports(Sentences):
    """What a comparison looks like; `Comparison` holds what is in it.

    Every method for people takes `sort`, `decimals` and `percent`: which measure orders the runs,
    and how numbers are shown.
    """

    SAVED_AS: ClassVar = SAVED_AS
    WORDS: ClassVar = frozenset({"against"})

    def tables(
        self,
        *,
        sort: str | Measure | None = None,
        decimals: int | None = None,
        percent: bool = False,
        width: int | None = None,
    ) -> list[Table]:
        """The tables that people see: of each measure the runs with their values, and how they
        differ. With all pairs of several runs, a leaderboard and the pairs.

        Parameters
        ----------
        sort : str or Measure, optional
            The measure that runs are ordered by, the best first.
        decimals : int, optional
            How many decimals numbers have; by default four, and two of percentages.
        percent : bool, optional
            Whether measures from 0 to 1 are shown in percent, which their names then say; their
            differences are points.
        width : int, optional
            How many columns there are to fill; a wider table is split into several.

        Returns
        -------
        list of (header, rows)

        >>> from judged import compare_values
        >>> found = compare_values({"a": {"1": 0.5, "2": 0.25}, "b": {"1": 0.5, "2": 0.25}})
        >>> found.tables()[0][1][1][:2]
        ['b', '0.3750']
        """
        return tables(in_order(self, sort), Look(decimals, percent), width)

    def parts(
        self,
        *,
        verbose: bool = False,
        quiet: bool = False,
        sort: str | Measure | None = None,
        decimals: int | None = None,
        percent: bool = False,
        width: int | None = None,
    ) -> list[Part]:
        """The tables, the warnings, what each pair says, and what was done.

        Parameters
        ----------
        verbose : bool, optional
            Whether all sentences stand there.
        quiet : bool, optional
            Whether the tables stand alone.
        sort : str or Measure, optional
            The measure that runs are ordered by, the best first.
        decimals : int, optional
            How many decimals numbers have; by default four, and two of percentages.
        percent : bool, optional
            Whether measures from 0 to 1 are shown in percent, which their names then say; their
            differences are points.
        width : int, optional
            How many columns there are to fill; a wider table is split into several.

        Returns
        -------
        list of str or (header, rows)
        """
        found = in_order(self, sort)
        shown = tables(found, Look(decimals, percent), width)
        return found._parts(
            [part for each in shown for part in (each, "")][: -1 if quiet else None],
            [] if quiet else found._warned(),
            verbose=verbose,
            quiet=quiet,
        )

    def to_text(
        self,
        *,
        verbose: bool = False,
        quiet: bool = False,
        sort: str | Measure | None = None,
        decimals: int | None = None,
        percent: bool = False,
        width: int | None = None,
    ) -> str:
        """Aligned tables, the warnings under them, what each pair says, and what was done.

        Parameters
        ----------
        verbose : bool, optional
            Whether all sentences stand there: policy, notes, and what each measure is.
        quiet : bool, optional
            Whether the tables stand alone.
        sort : str or Measure, optional
            The measure that runs are ordered by, the best first.
        decimals : int, optional
            How many decimals numbers have; by default four, and two of percentages.
        percent : bool, optional
            Whether measures from 0 to 1 are shown in percent, which their names then say; their
            differences are points.
        width : int, optional
            How many columns there are to fill; a wider table is split into several.

        Returns
        -------
        str

        >>> from judged import compare_values
        >>> found = compare_values({"a": {"1": 0.5, "2": 0.25}, "b": {"1": 0.5, "2": 0.25}})
        >>> print(found.to_text(quiet=True, width=50))
        value   value  95 % interval
        a      0.3750  −1.2133 … 1.9633
        b      0.3750  −1.2133 … 1.9633
        <BLANKLINE>
        value  against a  95 % interval  d_z  verdict
        b         0.0000  –                –  identical
        <BLANKLINE>
        value  wins/ties/losses       p  corrected
        b                 0/2/0  1.0000     1.0000
        <BLANKLINE>
        value  detectable
        b               –
        """
        return self._text(
            self.parts(
                verbose=verbose,
                quiet=quiet,
                sort=sort,
                decimals=decimals,
                percent=percent,
                width=width,
            )
        )

    def to_markdown(
        self,
        *,
        quiet: bool = False,
        sort: str | Measure | None = None,
        decimals: int | None = None,
        percent: bool = False,
    ) -> str:
        """Tables with warnings, what each pair says, what was done, and the `methods`, folded.

        Parameters
        ----------
        quiet : bool, optional
            Whether the tables stand alone.
        sort : str or Measure, optional
            The measure that runs are ordered by, the best first.
        decimals : int, optional
            How many decimals numbers have; by default four, and two of percentages.
        percent : bool, optional
            Whether measures from 0 to 1 are shown in percent, which their names then say; their
            differences are points.

        Returns
        -------
        str

        >>> from judged import compare_values
        >>> found = compare_values({"a": {"1": 0.5, "2": 0.25}, "b": {"1": 0.5, "2": 0.25}})
        >>> found.to_markdown(quiet=True).splitlines()[2][:20]
        '| a | 0.3750 | −1.21'
        """
        found = in_order(self, sort)
        said = [self._markdown(*each) for each in tables(found, Look(decimals, percent))]
        if not quiet:
            said += [f"**Warning: {markdown(text)}**" for text in found.warnings()]
            listed = (*found._findings(), definition.done(found), *found.remarks())
            said.append("\n".join(f"- {markdown(text)}" for text in listed))
            folded = "<details><summary>Definitions</summary>"
            said += [folded, markdown(found.methods()), "</details>"]
        return "\n\n".join(said) + "\n"

    def to_latex(
        self,
        *,
        quiet: bool = False,
        sort: str | Measure | None = None,
        decimals: int | None = None,
        percent: bool = False,
        caption: str | None = None,
        label: str | None = None,
    ) -> str:
        r"""A booktabs tabular of runs and measures: each value carries the letters of the runs that
        it is significantly better than. The best run and those that are not significantly worse
        are bold; for that all pairs are tested, also beside a baseline.

        Parameters
        ----------
        quiet : bool, optional
            Whether the table stands alone.
        sort : str or Measure, optional
            The measure that runs are ordered by, the best first.
        decimals : int, optional
            How many decimals numbers have; by default four, and two of percentages.
        percent : bool, optional
            Whether measures from 0 to 1 are shown in percent, which their names then say; their
            differences are points.
        caption : str, optional
            Plain text above the table; a caption or a label makes it a floating table.
        label : str, optional
            The key that the document refers to the table by.

        Returns
        -------
        str

        >>> from judged import compare_values
        >>> found = compare_values({"a": {"1": 0.5, "2": 0.25}, "b": {"1": 0.5, "2": 0.25}})
        >>> found.to_latex(quiet=True).splitlines()[4]
        'a & a & \\textbf{0.3750} \\\\'
        """
        from judged.comparison.tables import latex_of

        found = in_order(self, sort)
        return latex_of(found, Look(decimals, percent), quiet=quiet, caption=caption, label=label)

    def to_html(
        self,
        *,
        quiet: bool = False,
        sort: str | Measure | None = None,
        decimals: int | None = None,
        percent: bool = False,
    ) -> str:
        """Return tables for notebooks, with what each pair says. The best run and those that are
        not significantly worse are bold, if any pair differs significantly.

        Parameters
        ----------
        quiet : bool, optional
            Whether the tables stand alone.
        sort : str or Measure, optional
            The measure that runs are ordered by, the best first.
        decimals : int, optional
            How many decimals numbers have; by default four, and two of percentages.
        percent : bool, optional
            Whether measures from 0 to 1 are shown in percent, which their names then say; their
            differences are points.

        Returns
        -------
        str

        >>> from judged import compare_values
        >>> found = compare_values({"a": {"1": 0.5, "2": 0.25}, "b": {"1": 0.5, "2": 0.25}})
        >>> ">identical</td>" in found.to_html()
        True
        """
        from judged.evaluation.wording import notes

        found = in_order(self, sort)
        blocks = tables(found, Look(decimals, percent), marked=True)
        shown = "".join(found._html(*each) for each in blocks)
        if quiet:
            return shown
        bold = f" Bold: {bold_rule(found)}." if "<b>" in shown else ""
        audited = notes(found.evaluation) if found.evaluation else []
        return (
            shown
            + "".join(f"<p><b>{html(f'warning: {t}')}</b></p>" for t in found.warnings())
            + "".join(f"<p>{html(text)}</p>" for text in found._findings())
            + f"<p><small>{html(definition.done(found) + bold)}</small></p>"
            + html_folded("notes", found.remarks())
            + html_folded("what was found in the data", audited)
            + html_folded("definitions", [found.methods()])
        )

    def save(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the comparison to a file, whole or not at all.

        Parameters
        ----------
        path : str or os.PathLike
            Where to write; the ending says the format: .json, .csv, .md, .html, .txt, .tex or
            .parquet, which keeps the definition among its metadata.
        **options : Any
            Those of the method that makes the format, such as `sort` of all, `decimals` and
            `percent` of what people read, `caption` and `label` of LaTeX; what a format cannot do
            is refused.

        >>> from judged import compare_values
        >>> found = compare_values({"a": {"1": 0.5, "2": 0.25}, "b": {"1": 0.5, "2": 0.25}})
        >>> found.save("/dev/null.xlsx")
        Traceback (most recent call last):
        ...
        judged.errors.OutputError: /dev/null.xlsx: the ending says the format, and must be ...
        """
        self._save(path, **options)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Exports):
    """What `compare` returns: every pair of runs on every measure, with its verdict.

    >>> from judged import compare_values
    >>> found = compare_values({"a": {"1": 0.5, "2": 0.25}, "b": {"1": 0.5, "2": 0.25}})
    >>> found.pair().verdict
    'identical'
    """

    numbers: Numbers
    """The per-query numbers of all runs, aligned by query id."""
    settings: Settings
    """How the runs were compared."""
    rows: tuple[Pair, ...]
    """One row per measure and pair of runs."""
    baseline: str | None = None
    """The run that all others were compared with, where one was named."""
    evaluation: Evaluation | None = None
    """Where the numbers come from, if judged computed them."""
    notes: tuple[str, ...] = ()
    """What was noticed on the way."""
    slices: Slices = field(default_factory=Slices)
    """The same in each slice of the queries, where some were asked for."""
    corrected_among: tuple[str, ...] = ()
    """The runs whose comparisons p values are corrected for, if they are more than `runs`."""

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of the runs."""
        return self.numbers.runs

    @property
    def measures(self) -> tuple[str, ...]:
        """What the measures are called."""
        return tuple(each.name for each in self.numbers.measures)

    @property
    def reference(self) -> str | None:
        """The run that every other run is compared with; None if all pairs are compared."""
        if self.baseline is not None:
            return self.baseline
        return self.rows[0].against if len(self.runs) == 2 else None

    def measure(self, measure: object = None) -> Compared:
        """One of the measures that runs are compared on.

        Parameters
        ----------
        measure : str or Measure, optional
            The measure, by any of its names; needed only where there are several.

        Returns
        -------
        Compared

        >>> from judged import compare_values
        >>> compare_values({"a": {"1": 0.5}, "b": {"1": 0.25}}).measure().name
        'value'
        """
        known = {each.name: each for each in self.numbers.measures}
        if measure is None:
            if len(known) > 1:
                raise MeasureError(f"say which measure: {', '.join(known)}.")
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
        """One row.

        Parameters
        ----------
        run : str, optional
            The run that is compared; needed only where there are several pairs.
        against : str, optional
            The run that it is compared with.
        measure : str or Measure, optional
            One of the comparison's measures; needed only where there are several.

        Returns
        -------
        Pair

        >>> from judged import compare_values
        >>> found = compare_values({"a": {"1": 0.5, "2": 0.25}, "b": {"1": 0.5, "2": 0.25}})
        >>> found.pair("b", "a").difference
        0.0
        """
        for given in (run, against):
            is_text = isinstance(given, str)
            if given is not None and not (is_text and given in self.runs):
                as_measure = is_text and given in self.measures
                hint = f"; give a measure as measure={given!r}" if as_measure else ""
                raise InputError(
                    f"there is no run {quoted(given)}{hint}; the runs are {', '.join(self.runs)}."
                )
        name = self.measure(measure).name
        rows = [
            row
            for row in self.rows
            if row.measure == name and run in (None, row.run) and against in (None, row.against)
        ]
        if len(rows) != 1:
            known = (row for row in self.rows if row.measure == name)
            there = ", ".join(f"{row.run} against {row.against}" for row in known)
            what = "say which pair" if rows else "there is no such pair"
            raise InputError(f"{what}: there is {there}.")
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
        kept = tuple(run for run in self.runs if run in runs)
        for run in runs:
            self._run(run)
        if len(kept) < 2 or self.baseline not in (None, *kept):
            needed = "two runs or more" if len(kept) < 2 else f"the baseline {self.baseline}"
            raise InputError(f"among needs {needed}; got {', '.join(runs) or 'none'}.")
        numbers = replace(
            self.numbers,
            runs=kept,
            entries={key: entry for key, entry in self.numbers.entries.items() if key[1] in kept},
            repeated={run: own for run, own in self.numbers.repeated.items() if run in kept},
        )
        return replace(
            self,
            numbers=numbers,
            rows=tuple(row for row in self.rows if {row.run, row.against} <= set(kept)),
            slices=Slices(),
            corrected_among=self.corrected_among or self.runs,
        )

    def value(self, measure: object = None, run: str | None = None) -> float:
        """A run's number on all its queries, as `evaluate` has it.

        Parameters
        ----------
        measure : str or Measure, optional
            One of the comparison's measures; needed only where there are several.
        run : str, optional
            The name of a run.

        Returns
        -------
        float

        >>> from judged import compare_values
        >>> compare_values({"a": {"1": 0.5}, "b": {"1": 0.25}}).value(run="b")
        0.25
        """
        return self._values(self.measure(measure))[self._run(run)]

    def interval(self, measure: object = None, run: str | None = None) -> Interval:
        """A run's number with its own interval, which says nothing of differences.

        Parameters
        ----------
        measure : str or Measure, optional
            One of the comparison's measures; needed only where there are several.
        run : str, optional
            The name of a run.

        Returns
        -------
        Interval

        >>> from judged import compare_values
        >>> compare_values({"a": {"1": 0.5, "2": 0.4}, "b": {"1": 0.25, "2": 0}}).interval(run="a")
        Interval(estimate=0.45, low=-0.18..., high=1.08..., method='t', note='')
        """
        return self._intervals[self.measure(measure).name, self._run(run)]

    def _run(self, run: str | None) -> str:
        if run not in self.runs:
            raise InputError(f"there is no run {quoted(run)}; there is {', '.join(self.runs)}.")
        return str(run)

    def _values(self, measure: Compared) -> dict[str, float]:
        """Each run's number on a measure."""
        known = {run: self.numbers.entry(measure, run).number for run in self.runs}
        if self.evaluation is not None and measure.measure is not None:
            for run in self.evaluation.runs:
                if run.name in known:
                    known[run.name] = run.summary[measure.measure]
        return known

    @cached_property
    def _intervals(self) -> dict[tuple[str, str], Interval]:
        from judged.comparison.numbers import own_interval

        return {
            (measure.name, run): own_interval(self.numbers, measure, run, self.settings)
            for measure in self.numbers.measures
            for run in self.runs
        }

    @cached_property
    def _every_pair(self) -> tuple[Pair, ...]:
        """The rows of all pairs, also if the runs were compared with a baseline: which run is best
        is seen in the data, so all others are tested against it as all pairs are."""
        if len(self.rows) == math.comb(len(self.runs), 2) * len(self.measures):
            return self.rows
        from judged.comparison.verdicts import decided

        return decided(self.numbers, self.settings)

    @cached_property
    def noise(self) -> tuple[Noise, ...]:
        """How far each run that was repeated moves from repeat to repeat, measure by measure."""
        return noises(self.numbers)

    def leaderboard(self, measure: object = None) -> tuple[Place, ...]:
        """The runs by a measure, best first, each with the ranks that the comparisons leave open.

        Parameters
        ----------
        measure : str or Measure, optional
            One of the comparison's measures; needed only where there are several.

        Returns
        -------
        tuple of Place

        >>> from judged import compare_values
        >>> found = compare_values({"a": {"1": 0.5, "2": 0.25}, "b": {"1": 0.5, "2": 0.25}})
        >>> found.leaderboard()[0]
        Place(run='a', value=0.375, rank_low=1, rank_high=2)
        """
        known = self.measure(measure)
        return leaderboard(known, self._values(known), self.rows)

    def orders(self, *, beside: Mapping[str, Comparison] | None = None) -> Orders:
        """Whether every two measures put the runs in the same order, and which runs swap.

        Parameters
        ----------
        beside : dict of Comparison, optional
            Comparisons of the same runs whose measures stand beside these, as {name: comparison}:
            the same measure under another convention, policy or judgements. The name follows those
            of its measures.

        Returns
        -------
        Orders
            Measures of which lower is better are turned. Fewer than three runs are refused.

        >>> from judged import compare_values
        >>> values = {"a": [3, 1], "b": [2, 2], "c": [1, 3]}
        >>> found = compare_values(
        ...     {run: {"AP": {"q": x / 4}, "RR": {"q": y / 4}} for run, (x, y) in values.items()}
        ... )
        >>> found.orders().sentences()[0]
        'AP and RR swap 3 of 3 pairs of runs (no verdict tells them apart on either measure, so \
it may be chance).'
        """
        from judged.comparison.orders import orders_of

        return orders_of(self, beside)

    def report(self, *, measure: object = None, **options: Any) -> Report:
        """Everything about these runs in one HTML file, compared as they are here.

        Parameters
        ----------
        measure : str or Measure, optional
            What the runs are ranked by; by default the first measure.
        **options : Any
            `title`, `date`, `texts`, `queries`, `pictures` and `max_size`, as
            `judged.make_report` has them.

        Returns
        -------
        Report

        >>> from judged import compare
        >>> judgements = {str(q): {"a": 1} for q in range(8)}
        >>> runs = {"up": {str(q): ["a"] for q in range(8)}, "down": {"0": ["b", "a"]}}
        >>> found = compare(judgements, runs, "RR", policy={"missing": "zero"})
        >>> found.report().sentences()[0]
        'up leads on RR'
        """
        from judged.web.report import report_of

        return report_of(self, measure=measure, **options)
