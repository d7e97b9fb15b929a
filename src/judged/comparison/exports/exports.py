"""A comparison for people: text, Markdown, LaTeX, HTML. What programs get is in `records`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, ClassVar

from judged.comparison.exports import definition
from judged.comparison.exports.sentences import Sentences
from judged.comparison.exports.table import bold_rule, in_order
from judged.comparison.exports.tables import tables
from judged.comparison.settings import SAVED_AS
from judged.evaluation.table import Look
from judged.options import checked_methods
from judged.results import Part, Table
from judged.text import html, html_folded, markdown

if TYPE_CHECKING:
    from judged.measures import Measure


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
        from judged.comparison.exports.latex import latex_of

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
        from judged.evaluation.sentences import notes

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
