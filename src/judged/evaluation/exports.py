"""An evaluation as text, table and file. Numbers meant for programs are exact; those meant for
people have four decimals."""

from __future__ import annotations

import math
import os
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from judged import __version__
from judged.checks import checked_methods
from judged.errors import MissingExtraError
from judged.results import Part, Result, Table, csv_of
from judged.text import html, latex_table, markdown, shown, to_json, visible

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from judged.evaluation.latency import Latency
    from judged.evaluation.request import Conventional
    from judged.evaluation.settlement import Scored
    from judged.measures import Measure
    from judged.policy import Policy


@checked_methods
class Exports(Result):
    """What an evaluation looks like; `Evaluation` holds what is in it.

    Every method takes `per_query`: whether the values of every query are given too, or instead of
    the summary where a table has room for one kind of rows only.
    """

    SAVED_AS: ClassVar = {**Result.SAVED_AS, ".tex": "to_latex", ".trec": "to_trec"}
    WORDS: ClassVar = frozenset({"run", "query", "measure"})

    runs: tuple[Scored, ...]
    measures: tuple[Measure, ...]
    policy: Policy
    convention: Conventional | None
    latency: Latency | None
    if TYPE_CHECKING:

        @property
        def others(self) -> tuple[str, ...]: ...
        @cached_property
        def summary(self) -> pl.DataFrame: ...
        @cached_property
        def per_query(self) -> pl.DataFrame: ...
        def methods(self) -> str: ...

    def warnings(self) -> list[str]:
        """What could mislead whoever reads the numbers and nothing else.

        Returns
        -------
        list of str

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").warnings()
        []
        """
        from judged.evaluation.warnings import warnings

        return warnings(self)

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
        from judged.evaluation.definition import sentences

        return sentences(self)

    def tables(self, *, per_query: bool = False) -> list[Table]:
        """The table that people see; with ranges, a row for each measure.

        Parameters
        ----------
        per_query : bool, optional
            Whether each query has a row; the summary comes last, as `all`.

        Returns
        -------
        list of (header, rows)

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").tables()
        [(['run', 'RR'], [['run', '0.5000']])]
        """
        import polars as pl

        frame = self.summary
        if per_query:
            summary = frame.select("run", pl.lit("all").alias("query"), pl.exclude("run"))
            frame = pl.concat([self.per_query, summary])
        words = 2 if per_query else 1
        rows = [[*row[:words], *map(shown, row[words:])] for row in frame.rows()]
        if not self.others:
            return [(frame.columns, rows)]
        width = 1 + len(self.others)
        split = [
            [*row[:words], str(measure), *row[words + at * width :][:width]]
            for row in rows
            for at, measure in enumerate(self.measures)
        ]
        return [([*frame.columns[:words], "measure", "value", *self.others], split)]

    def parts(self, *, per_query: bool = False) -> list[Part]:
        """The table and the sentences under it.

        Parameters
        ----------
        per_query : bool, optional
            Whether each query has a row.

        Returns
        -------
        list of str or (header, rows)
        """
        return [*self.tables(per_query=per_query), *self.sentences()]

    def to_text(self, *, per_query: bool = False) -> str:
        """An aligned table with the sentences under it.

        Parameters
        ----------
        per_query : bool, optional
            Whether each query has a row.

        Returns
        -------
        str

        >>> from judged import evaluate
        >>> print(evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").to_text(per_query=True)[:44])
        run  query      RR
        run  q      0.5000
        run  a
        """
        return self._text(self.parts(per_query=per_query))

    def to_markdown(self, *, per_query: bool = False) -> str:
        """A table with what was assumed and the `methods` under it, ready to paste.

        Parameters
        ----------
        per_query : bool, optional
            Whether each query has a row.

        Returns
        -------
        str

        >>> from judged import evaluate
        >>> print(evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").to_markdown()[:44])
        | run | RR |
        | --- | ---: |
        | run | 0.5000 |
        """
        [(header, rows)] = self.tables(per_query=per_query)
        from judged.evaluation.definition import assumptions

        said = [
            *(f"**Warning: {markdown(text)}**" for text in self.warnings()),
            *(f"{line[0].upper()}{markdown(line[1:])}." for line in assumptions(self)),
        ]
        table = self._markdown(header, rows)
        return "\n\n".join([table, *said, markdown(self.methods())]) + "\n"

    def to_latex(self, *, per_query: bool = False) -> str:
        """A booktabs tabular, with the definition in comments above it.

        Parameters
        ----------
        per_query : bool, optional
            Whether each query has a row.

        Returns
        -------
        str

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").to_latex().splitlines()[-1]
        '\\\\end{tabular}'
        """
        from textwrap import wrap

        from judged.evaluation.definition import assumptions

        [(header, rows)] = self.tables(per_query=per_query)
        methods = wrap(self.methods(), 118, break_long_words=False, break_on_hyphens=False)
        warned = (f"warning: {text}" for text in self.warnings())
        above = [f"% {visible(text)}" for text in (*warned, *assumptions(self), *methods)]
        return "\n".join([*above, latex_table(header, rows, right=self._right(header))]) + "\n"

    def to_html(self, *, per_query: bool = False) -> str:
        """A table for notebooks, each measure with its definition as a tooltip.

        Parameters
        ----------
        per_query : bool, optional
            Whether each query has a row.

        Returns
        -------
        str

        >>> from judged import evaluate
        >>> "<td>0.5000</td>" in evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").to_html()
        True
        """
        from judged.evaluation.definition import assumptions, notes

        [(header, rows)] = self.tables(per_query=per_query)
        said = {str(m): m.describe() for m in self.measures}
        head = "".join(
            f'<th title="{html(said.get(name, ""))}">{html(name)}</th>' for name in header
        )

        def cell_of(name: str, cell: str) -> str:
            title = f' title="{html(said[cell])}"' if name == "measure" else ""
            return f"<td{title}>{html(cell)}</td>"

        body = "".join("<tr>" + "".join(map(cell_of, header, row)) + "</tr>" for row in rows)
        listed = "".join(f"<li>{html(text)}</li>" for text in notes(self))
        return (
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            + "".join(f"<p><b>{html(f'warning: {text}')}</b></p>" for text in self.warnings())
            + "".join(f"<p><small>{html(line)}</small></p>" for line in assumptions(self))
            + (f"<ul><small>{listed}</small></ul>" if listed else "")
            + "<details><summary><small>definition</small></summary><p><small>"
            + f"{html(self.methods())}</small></p></details>"
        )

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Everything, as plain Python values that JSON can hold.

        Parameters
        ----------
        per_query : bool, optional
            Whether the values of every query are there too.

        Returns
        -------
        dict

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").to_dict()["runs"][0]["scores"]
        {'RR': 0.5}
        """
        took = {"latency": self.latency.to_dict(per_query=per_query)} if self.latency else {}
        return {
            "runs": [run.to_dict(per_query=per_query) for run in self.runs],
            **took,
            "warnings": self.warnings(),
            "measures": {str(m): m.definition() for m in self.measures},
            "policy": self.policy.to_dict(),
            "convention": self.convention.to_dict() if self.convention else None,
            "definition": self.methods(),
            "judged": __version__,
        }

    def to_json(self, *, per_query: bool = False) -> str:
        """`to_dict` as JSON.

        Parameters
        ----------
        per_query : bool, optional
            Whether the values of every query are there too.

        Returns
        -------
        str

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").to_json().startswith("{")
        True
        """
        return to_json(self.to_dict(per_query=per_query))

    def to_frame(self, *, per_query: bool = False) -> pl.DataFrame:
        """The numbers as a polars table: one row per run, one column per measure.

        Parameters
        ----------
        per_query : bool, optional
            Whether there is one row per run and query instead.

        Returns
        -------
        polars.DataFrame

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").to_frame(per_query=True).rows()
        [('run', 'q', 0.5)]
        """
        return self.per_query if per_query else self.summary

    def to_csv(self, *, per_query: bool = False) -> str:
        """`to_frame` as CSV.

        Parameters
        ----------
        per_query : bool, optional
            Whether there is one row per run and query.

        Returns
        -------
        str

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").to_csv()
        'run,RR\\nrun,0.5\\n'
        """
        return csv_of(self.to_frame(per_query=per_query))

    def to_pandas(self, *, per_query: bool = False) -> pd.DataFrame:
        """`to_frame` for pandas, with the definition in its `attrs`.

        Parameters
        ----------
        per_query : bool, optional
            Whether there is one row per run and query.

        Returns
        -------
        pandas.DataFrame

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").to_pandas()["RR"].tolist()
        [0.5]
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingExtraError("to_pandas needs pandas: pip install pandas.") from error
        frame = pd.DataFrame(self.to_frame(per_query=per_query).to_dict(as_series=False))
        frame.attrs["definition"] = self.methods()
        return frame

    def to_trec(self, *, per_query: bool = False) -> str:
        """`measure⇥query⇥value` at full precision, the summary as `all`; a line names each of runs.

        Parameters
        ----------
        per_query : bool, optional
            Whether the values of every query are there too.

        Returns
        -------
        str

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").to_trec()
        'RR\\tall\\t0.5\\n'
        """
        lines: list[str] = []
        for run in self.runs:
            if len(self.runs) > 1:
                lines.append(f"runid\tall\t{run.name}")
            if per_query:
                columns = [run.values[m].tolist() for m in self.measures]
                for query, *values in zip(run.rankings.queries, *columns, strict=True):
                    pairs = zip(self.measures, values, strict=True)
                    lines += [
                        f"{measure}\t{query}\t{value!r}"
                        for measure, value in pairs
                        if not math.isnan(value)
                    ]
            lines += [f"{measure}\tall\t{run.summary[measure]!r}" for measure in self.measures]
        return "\n".join(lines) + "\n"

    def save(self, path: str | os.PathLike[str], *, per_query: bool = False) -> None:
        """Write the evaluation to a file, whole or not at all.

        Parameters
        ----------
        path : str or os.PathLike
            Where to write; the ending says the format: .json, .csv, .md, .html, .txt, .tex, .trec
            or .parquet, which keeps the definition among its metadata.
        per_query : bool, optional
            Whether the values of every query are written.

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").save("/dev/null.xlsx")
        Traceback (most recent call last):
        ...
        judged.errors.OutputError: /dev/null.xlsx: the ending says the format, and must be ...
        """
        self._save(path, per_query=per_query)

    def _metadata(self) -> dict[str, str]:
        return {"definition": self.methods()}
