"""An evaluation for programs: dict, JSON, frames, CSV and lines. Numbers are exact here."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from judged import __version__
from judged.errors import InputError, MissingExtraError
from judged.evaluation.table import in_order
from judged.options import checked_methods
from judged.results import Result, csv_of
from judged.text import to_json, visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    import polars as pl

    from judged.evaluation.intervals import Groups
    from judged.evaluation.latency import Latency
    from judged.evaluation.scores import Scored
    from judged.evaluation.settings import Conventional
    from judged.evaluation.trusted import Trusted
    from judged.measures import Measure
    from judged.policy import Policy


@checked_methods
class Records(Result):
    """What programs get of an evaluation; `Evaluation` holds what is in it.

    Every method takes `per_query`: whether the values of every query are given too, or instead of
    the summary where a table has room for one kind of rows only. And `sort`: the measure that runs
    are ordered by.
    """

    runs: tuple[Scored, ...]
    measures: tuple[Measure, ...]
    policy: Policy
    convention: Conventional | None
    latency: Latency | None
    level: float | None
    groups: Groups | None
    trusted: Trusted | None
    skipped: Mapping[str, str]
    if TYPE_CHECKING:

        @property
        def others(self) -> tuple[str, ...]: ...
        @property
        def ends(self) -> tuple[str, ...]: ...
        @property
        def columns_beside(self) -> tuple[str, ...]: ...
        @cached_property
        def summary(self) -> pl.DataFrame: ...
        @cached_property
        def per_query(self) -> pl.DataFrame: ...
        def summary_columns(self) -> dict[str, list[Any]]: ...
        def methods(self) -> str: ...
        def label(self, measure: str | Measure) -> str: ...

    def to_dict(
        self, *, per_query: bool = False, sort: str | Measure | None = None
    ) -> dict[str, Any]:
        """Everything, as plain Python values that JSON can hold.

        Parameters
        ----------
        per_query : bool, optional
            Whether the values of every query are there too.
        sort : str or Measure, optional
            The measure that runs are ordered by, the best first.

        Returns
        -------
        dict

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").to_dict()["runs"][0]["scores"]
        {'RR': 0.5}
        """
        took = {"latency": self.latency.to_dict(per_query=per_query)} if self.latency else {}
        return {
            "runs": [run.to_dict(per_query=per_query) for run in in_order(self, sort).runs],
            **took,
            **self._confidence(),
            **({"trusted": self.trusted.to_dict()} if self.trusted else {}),
            **({"skipped": dict(self.skipped)} if self.skipped else {}),
            "warnings": self.warnings(),
            "measures": {self.label(m): m.definition() for m in self.measures},
            "policy": self.policy.to_dict(),
            "convention": self.convention.to_dict() if self.convention else None,
            "definition": self.methods(),
            "judged": __version__,
        }

    def _confidence(self) -> dict[str, Any]:
        """The level of the intervals and the number of groups, where intervals were asked for."""
        if self.level is None:
            return {}
        groups = None if self.groups is None else len(set(self.groups.values()))
        return {"level": self.level, "groups": groups}

    def to_json(self, *, per_query: bool = False, sort: str | Measure | None = None) -> str:
        """`to_dict` as JSON.

        Parameters
        ----------
        per_query : bool, optional
            Whether the values of every query are there too.
        sort : str or Measure, optional
            The measure that runs are ordered by, the best first.

        Returns
        -------
        str

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").to_json().startswith("{")
        True
        """
        return to_json(self.to_dict(per_query=per_query, sort=sort))

    def to_frame(
        self, *, per_query: bool = False, sort: str | Measure | None = None
    ) -> pl.DataFrame:
        """The numbers as a polars table: one row per run, one column per measure.

        Parameters
        ----------
        per_query : bool, optional
            Whether there is one row per run and query instead.
        sort : str or Measure, optional
            The measure that runs are ordered by, the best first.

        Returns
        -------
        polars.DataFrame

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").to_frame(per_query=True).rows()
        [('run', 'q', 0.5)]
        """
        found = in_order(self, sort)
        return found.per_query if per_query else found.summary

    def to_csv(
        self, *, per_query: bool = False, sort: str | Measure | None = None, quiet: bool = False
    ) -> str:
        """`to_frame` as CSV; warnings stand below it as comments, lines that begin with "#".

        Parameters
        ----------
        per_query : bool, optional
            Whether there is one row per run and query.
        sort : str or Measure, optional
            The measure that runs are ordered by, the best first.
        quiet : bool, optional
            Whether warnings are left out.

        Returns
        -------
        str

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").to_csv()
        'run,RR\\nrun,0.5\\n'
        """
        numbers = csv_of(self.to_frame(per_query=per_query, sort=sort))
        return numbers if quiet else numbers + self._comments()

    def to_pandas(
        self, *, per_query: bool = False, sort: str | Measure | None = None
    ) -> pd.DataFrame:
        """`to_frame` for pandas, with the definition and the warnings in its `attrs`.

        Parameters
        ----------
        per_query : bool, optional
            Whether there is one row per run and query.
        sort : str or Measure, optional
            The measure that runs are ordered by, the best first.

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
        frame = pd.DataFrame(self.to_frame(per_query=per_query, sort=sort).to_dict(as_series=False))
        frame.attrs.update(definition=self.methods(), warnings=self.warnings())
        return frame

    def to_trec(
        self, *, per_query: bool = False, sort: str | Measure | None = None, quiet: bool = False
    ) -> str:
        """`measure⇥query⇥value` at full precision, the summary as `all`; each of several runs has a
        line with its name, and each warning has one.

        Parameters
        ----------
        per_query : bool, optional
            Whether the values of every query are there too.
        sort : str or Measure, optional
            The measure that runs are ordered by, the best first.
        quiet : bool, optional
            Whether warnings are left out.

        Returns
        -------
        str

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").to_trec()
        'RR\\tall\\t0.5\\n'
        """
        if per_query and self.trusted:
            raise InputError(
                "TREC text has one value for each query, and there are two, by the cheap and by "
                "the trusted judgements; leave per_query (--per-query) out, or choose another "
                "format, as CSV."
            )
        lines: list[str] = []
        for run in in_order(self, sort).runs:
            if len(self.runs) > 1:
                lines.append(f"runid\tall\t{run.name}")
            if per_query:
                columns = [run.values[m].tolist() for m in self.measures]
                for query, *values in zip(run.rankings.queries, *columns, strict=True):
                    pairs = zip(self.measures, values, strict=True)
                    lines += [
                        f"{self.label(measure)}\t{query}\t{value!r}"
                        for measure, value in pairs
                        if not math.isnan(value)
                    ]
            lines += [
                f"{self.label(measure)}\tall\t{run.summary[measure]!r}" for measure in self.measures
            ]
        if not quiet:
            lines += [f"warning\tall\t{visible(text)}" for text in self._grave()]
        return "\n".join(lines) + "\n"

    def _metadata(self) -> dict[str, str]:
        return {"definition": self.methods(), **super()._metadata()}
