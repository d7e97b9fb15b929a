"""An evaluation for people: text, Markdown, LaTeX, HTML. What programs get is in `records`."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from judged.evaluation.metrics import Metrics
from judged.evaluation.table import Look, in_order, tables
from judged.options import checked_methods
from judged.results import Part, Result, Table
from judged.text import (
    Dim,
    Warned,
    html,
    html_cell,
    html_folded,
    latex_table,
    markdown,
    visible,
)

if TYPE_CHECKING:
    from judged.measures import Measure


@checked_methods
class Exports(Metrics):
    """What an evaluation looks like; `Evaluation` holds what is in it.

    Every method for people takes `per_query`, `sort`, `decimals` and `percent`: whether every query
    has a row, which measure orders the runs, and how numbers are shown. Of several runs the best
    value of each measure is bold. Exact values decide which it is; what is shown alike is bold
    alike.
    """

    SAVED_AS: ClassVar = {
        **Result.SAVED_AS,
        ".tex": "to_latex",
        ".trec": "to_trec",
        ".yaml": "to_yaml",
        "metrics": "to_metrics",
    }
    WORDS: ClassVar = frozenset({"run", "query", "measure"})

    def warnings(self) -> list[str]:
        """What could mislead whoever reads the numbers and nothing else, the worst first.

        Returns
        -------
        list of str

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").warnings()
        []
        """
        return self._warnings(Look())

    def _warnings(self, look: Look) -> list[str]:
        if look not in self._warnings_by_look:
            from judged.evaluation.warnings import warnings

            self._warnings_by_look[look] = tuple(warnings(self, look))
        return list(self._warnings_by_look[look])

    @cached_property
    def _warnings_by_look(self) -> dict[Look, tuple[str, ...]]:
        """What was said of it once: to look into the ties of many runs again takes long."""
        return {}

    def _grave(self) -> list[str]:
        from judged.evaluation.warnings import grave

        return grave(self)

    def sentences(self) -> list[str]:
        """What was assumed, what was ranked, what was found, and what each measure is.

        Returns
        -------
        list of str
            Lines that begin with warning:, policy:, convention:, ranking:, note: or measure:.

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").sentences()[0]
        'policy: ties=id, missing=zero, empty=zero, unjudged=nonrelevant'
        """
        return [*self._warned(), *self._said()]

    def _said(self) -> list[str]:
        from judged.evaluation.sentences import sentences

        return sentences(self)

    def _brief(self) -> list[str]:
        from judged.evaluation.definition import latency
        from judged.evaluation.sentences import brief
        from judged.evaluation.trusted_sentences import brief_trusted

        return [*latency(self), *brief_trusted(self), Dim(brief(self))]

    def tables(
        self,
        *,
        per_query: bool = False,
        sort: str | Measure | None = None,
        decimals: int | None = None,
        percent: bool = False,
    ) -> list[Table]:
        """The table that people see; with intervals or ranges, a row for each measure.

        Parameters
        ----------
        per_query : bool, optional
            Whether each query has a row; the summary comes last, as `all`.
        sort : str or Measure, optional
            The measure that runs are ordered by, the best first.
        decimals : int, optional
            How many decimals numbers have; by default four, and two of percentages.
        percent : bool, optional
            Whether measures from 0 to 1 are shown in percent, which their names then say.

        Returns
        -------
        list of (header, rows)

        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> found.tables()
        [(['run', 'RR'], [['run', '0.5000']])]
        >>> found.tables(percent=True, decimals=1)
        [(['run', 'RR %'], [['run', '50.0']])]
        """
        return tables(in_order(self, sort), Look(decimals, percent), per_query)

    def parts(
        self,
        *,
        verbose: bool = False,
        quiet: bool = False,
        per_query: bool = False,
        sort: str | Measure | None = None,
        decimals: int | None = None,
        percent: bool = False,
    ) -> list[Part]:
        """The table, the warnings under it, and a line that names what is not as by default.

        Parameters
        ----------
        verbose : bool, optional
            Whether all sentences stand there.
        quiet : bool, optional
            Whether the table stands alone.
        per_query : bool, optional
            Whether each query has a row.
        sort : str or Measure, optional
            The measure that runs are ordered by, the best first.
        decimals : int, optional
            How many decimals numbers have; by default four, and two of percentages.
        percent : bool, optional
            Whether measures from 0 to 1 are shown in percent, which their names then say.

        Returns
        -------
        list of str or (header, rows)
        """
        found, look = in_order(self, sort), Look(decimals, percent)
        return found._parts(
            [part for each in tables(found, look, per_query) for part in ("", each)][1:],
            [] if quiet else [Warned(f"warning: {text}") for text in found._warnings(look)],
            verbose=verbose,
            quiet=quiet,
        )

    def to_text(
        self,
        *,
        verbose: bool = False,
        quiet: bool = False,
        per_query: bool = False,
        sort: str | Measure | None = None,
        decimals: int | None = None,
        percent: bool = False,
    ) -> str:
        """An aligned table, the warnings under it, and a line that names what is not as by default.

        Parameters
        ----------
        verbose : bool, optional
            Whether all sentences stand there: policy, notes, and what each measure is.
        quiet : bool, optional
            Whether the table stands alone.
        per_query : bool, optional
            Whether each query has a row.
        sort : str or Measure, optional
            The measure that runs are ordered by, the best first.
        decimals : int, optional
            How many decimals numbers have; by default four, and two of percentages.
        percent : bool, optional
            Whether measures from 0 to 1 are shown in percent, which their names then say.

        Returns
        -------
        str

        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> print(found.to_text(per_query=True, quiet=True))
        run  query      RR
        run  q      0.5000
        run  all    0.5000
        """
        return self._text(
            self.parts(
                verbose=verbose,
                quiet=quiet,
                per_query=per_query,
                sort=sort,
                decimals=decimals,
                percent=percent,
            )
        )

    def to_markdown(
        self,
        *,
        quiet: bool = False,
        per_query: bool = False,
        sort: str | Measure | None = None,
        decimals: int | None = None,
        percent: bool = False,
    ) -> str:
        """A table with warnings, what was assumed and the `methods`, folded, ready to paste.

        Parameters
        ----------
        quiet : bool, optional
            Whether the table stands alone.
        per_query : bool, optional
            Whether each query has a row.
        sort : str or Measure, optional
            The measure that runs are ordered by, the best first.
        decimals : int, optional
            How many decimals numbers have; by default four, and two of percentages.
        percent : bool, optional
            Whether measures from 0 to 1 are shown in percent, which their names then say.

        Returns
        -------
        str

        >>> from judged import evaluate
        >>> print(evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").to_markdown(quiet=True))
        | run | RR |
        | --- | ---: |
        | run | 0.5000 |
        <BLANKLINE>
        """
        from judged.evaluation.definition import assumptions

        found, look = in_order(self, sort), Look(decimals, percent)
        said = [self._markdown(*each) for each in tables(found, look, per_query)]
        if not quiet:
            said += [f"**Warning: {markdown(text)}**" for text in found._warnings(look)]
            said += [f"{line[0].upper()}{markdown(line[1:])}." for line in assumptions(found)]
            folded = "<details><summary>Definitions</summary>"
            said += [folded, markdown(found.methods()), "</details>"]
        return "\n\n".join(said) + "\n"

    def to_latex(
        self,
        *,
        quiet: bool = False,
        per_query: bool = False,
        sort: str | Measure | None = None,
        decimals: int | None = None,
        percent: bool = False,
        caption: str | None = None,
        label: str | None = None,
    ) -> str:
        r"""A booktabs tabular, with the warnings under it and the definition in comments above.

        Parameters
        ----------
        quiet : bool, optional
            Whether the table stands alone.
        per_query : bool, optional
            Whether each query has a row.
        sort : str or Measure, optional
            The measure that runs are ordered by, the best first.
        decimals : int, optional
            How many decimals numbers have; by default four, and two of percentages.
        percent : bool, optional
            Whether measures from 0 to 1 are shown in percent, which their names then say.
        caption : str, optional
            Plain text above the table; a caption or a label makes it a floating table.
        label : str, optional
            The key that the document refers to the table by.

        Returns
        -------
        str

        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> found.to_latex().splitlines()[-1]
        '\\end{tabular}'
        >>> print(found.to_latex(quiet=True, caption="My run", label="tab:run")[:57])
        \begin{table}
        \centering
        \caption{My run}
        \label{tab:run}
        """
        from textwrap import wrap

        from judged.evaluation.definition import assumptions

        found, look = in_order(self, sort), Look(decimals, percent)
        (header, rows), *blocks = tables(found, look, per_query)
        above = []
        if not quiet:
            warned = (f"warning: {text}" for text in found._warnings(look))
            methods = wrap(found.methods(), 118, break_long_words=False, break_on_hyphens=False)
            above = [f"% {visible(text)}" for text in (*warned, *assumptions(found), *methods)]
        tabular = latex_table(
            header,
            rows,
            right=self._right(header),
            notes=[] if quiet else [f"Warning: {text}" for text in found._grave()],
            caption=caption,
            label=label,
        )
        more = [f"\n{latex_table(*each, right=self._right(each[0]))}" for each in blocks]
        return "\n".join([*above, tabular, *more]) + "\n"

    def to_html(
        self,
        *,
        quiet: bool = False,
        per_query: bool = False,
        sort: str | Measure | None = None,
        decimals: int | None = None,
        percent: bool = False,
    ) -> str:
        """A table for notebooks, each measure with its definition as a tooltip.

        Parameters
        ----------
        quiet : bool, optional
            Whether the table stands alone.
        per_query : bool, optional
            Whether each query has a row.
        sort : str or Measure, optional
            The measure that runs are ordered by, the best first.
        decimals : int, optional
            How many decimals numbers have; by default four, and two of percentages.
        percent : bool, optional
            Whether measures from 0 to 1 are shown in percent, which their names then say.

        Returns
        -------
        str

        >>> from judged import evaluate
        >>> "<td>0.5000</td>" in evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").to_html()
        True
        """
        from judged.evaluation.definition import assumptions
        from judged.evaluation.sentences import notes

        found, look = in_order(self, sort), Look(decimals, percent)
        (header, rows), *blocks = tables(found, look, per_query)
        said = {look.name(self.label(m), m): m.describe() for m in self.measures}
        right = {header[at] for at in self._right(header)}

        head = "".join(
            html_cell(name, "th", left=name not in right, title=said.get(name, ""))
            for name in header
        )

        def cell_of(name: str, cell: str) -> str:
            title = said[cell] if name == "measure" else ""
            return html_cell(cell, left=name not in right, title=title)

        body = "".join("<tr>" + "".join(map(cell_of, header, row)) + "</tr>" for row in rows)
        shown = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        shown += "".join(self._html(*each) for each in blocks)
        if quiet:
            return shown
        return (
            shown
            + "".join(f"<p><b>{html(f'warning: {t}')}</b></p>" for t in found._warnings(look))
            + "".join(f"<p><small>{html(line)}</small></p>" for line in assumptions(found))
            + html_folded("what was found in the data", notes(found))
            + html_folded("definitions", [found.methods()])
        )

    def save(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the evaluation to a file, whole or not at all.

        Parameters
        ----------
        path : str or os.PathLike
            Where to write; the ending says the format: .json, .csv, .md, .html, .txt, .tex, .trec
            or .parquet, which keeps the definition among its metadata.
        **options : Any
            Those of the method that makes the format, such as `per_query` and `sort` of all,
            `decimals` and `percent` of what people read, `caption` and `label` of LaTeX; what a
            format cannot do is refused.

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").save("/dev/null.xlsx")
        Traceback (most recent call last):
        ...
        judged.errors.OutputError: /dev/null.xlsx: the ending says the format, and must be ...
        """
        self._save(path, **options)
