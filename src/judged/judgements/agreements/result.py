"""Agreement: how far judges agree, what they differ on, and what it does to runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from judged import __version__
from judged.errors import InputError, quoted
from judged.judgements.agreements import sentences
from judged.judgements.agreements.judges import Grades
from judged.judgements.agreements.leaderboards import Leaderboards, Swap, Verdicts
from judged.judgements.agreements.pairs import GradeTable, JudgePair, Settings
from judged.judgements.agreements.tables import tables_of
from judged.options import checked_methods
from judged.results import Part, Result, Table
from judged.statistics.intervals import Interval
from judged.text import Warned, html_folded, listed, markdown, plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from judged.statistics.orders import OrderAgreement


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Result):
    """What `agreement` returns: every two judges on what both judged, and the runs under each.

    >>> import judged
    >>> ann = {"q1": {"a": 1, "b": 0, "c": 0}, "q2": {"a": 2, "d": 0}}
    >>> bob = {"q1": {"a": 1, "b": 0, "c": 1}, "q2": {"a": 1, "d": 0}}
    >>> judged.agreement({"ann": ann, "bob": bob}).pair("ann", "bob").items
    5
    """

    WORDS: ClassVar[frozenset[str]] = frozenset(
        {"number", "judges", "stricter", "run", "against", "measure", "judge"}
    )
    BETWEEN: ClassVar[str] = "\n\n"

    grades: Grades
    """Who gave which grade to what."""
    pairs: tuple[JudgePair, ...]
    """Every two judges."""
    alphas: Mapping[str, Interval]
    """Krippendorff's alpha of all judges: nominal, ordinal and interval."""
    settings: Settings
    """How the judges were compared."""
    boards: Leaderboards | None = None
    """The runs under each judge, where there are runs."""
    notes: tuple[str, ...] = ()
    """What was noticed on the way."""

    @property
    def judges(self) -> tuple[str, ...]:
        """What the judges are called."""
        return self.grades.judges

    def pair(self, first: str | None = None, second: str | None = None) -> JudgePair:
        """Two of the judges.

        Parameters
        ----------
        first, second : str, optional
            Their names, in any order; needed only where there are more than two judges.

        Returns
        -------
        JudgePair

        >>> import judged
        >>> judged.agreement({"q": {"a": 1}}, {"q": {"a": 0}}).pair().items
        1
        """
        for given in (first, second):
            known = isinstance(given, str) and given in self.judges
            if given is not None and not known:
                raise InputError(
                    f"there is no judge {quoted(given)}; the judges are {listed(self.judges)}."
                )
        found = [
            pair
            for pair in self.pairs
            if {each for each in (first, second) if each is not None} <= {pair.first, pair.second}
        ]
        if len(found) != 1 or (first is not None and first == second):
            there = ", ".join(f"{pair.first} and {pair.second}" for pair in self.pairs)
            raise InputError(f"say which two judges: {there}.")
        return found[0]

    @property
    def agreement(self) -> Interval:
        """Of two judges, the share of items with the same grade from both."""
        return self.pair().agreement

    @property
    def kappas(self) -> Mapping[str, Interval]:
        """Of two judges, Cohen's kappa: plain, linear and quadratic."""
        return self.pair().kappas

    @property
    def kappa(self) -> Interval:
        """Of two judges, Cohen's kappa without weights."""
        return self.pair().kappa

    @property
    def alpha(self) -> Interval:
        """Krippendorff's alpha of all judges, nominal."""
        return self.alphas["nominal"]

    @property
    def table(self) -> GradeTable:
        """Of two judges, grades against grades."""
        return self.pair().table

    @property
    def only_first(self) -> int:
        """Of two judges, how many items only the first judged."""
        return self.pair().only_first

    @property
    def only_second(self) -> int:
        """Of two judges, how many items only the second judged."""
        return self.pair().only_second

    @property
    def values(self) -> Mapping[str, Mapping[str, Mapping[str, float]]]:
        """Of each measure, under each judge, the number of each run; empty without runs."""
        return {} if self.boards is None else self.boards.values

    @property
    def verdicts(self) -> tuple[Verdicts, ...]:
        """Every two runs on every measure, with the verdict under each judge; empty without."""
        return () if self.boards is None else self.boards.verdicts

    @property
    def orders(self) -> Mapping[str, Mapping[tuple[str, str], OrderAgreement]]:
        """Of each measure, how far the orders of runs under every two judges agree; empty where
        there are fewer than three runs."""
        return {} if self.boards is None else self.boards.orders

    @property
    def swaps(self) -> tuple[Swap, ...]:
        """Of each measure and every two judges the largest swap of two runs."""
        return () if self.boards is None else self.boards.swaps

    @cached_property
    def differences(self) -> pl.DataFrame:
        """The items on which judges differ, those that differ most first: query and item, and the
        grade of each judge."""
        import polars as pl

        values = self.grades.values
        most = np.where(self.grades.there, values, -np.inf).max(axis=1, initial=-np.inf)
        least = np.where(self.grades.there, values, np.inf).min(axis=1, initial=np.inf)
        rows = np.flatnonzero(most > least)
        rows = rows[np.argsort(-(most - least)[rows], kind="stable")]
        own = [
            pl.Series(f"grade of {name}", column, nan_to_null=True)
            for name, column in zip(self.judges, values[rows].T, strict=True)
        ]
        return self.grades.frame[rows].with_columns(own)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values that JSON can hold.

        Returns
        -------
        dict

        >>> import judged
        >>> found = judged.agreement({"q": {"a": 1, "b": 0}}, {"q": {"a": 0, "b": 0}})
        >>> found.to_dict()["pairs"][0]["kappa"]["plain"]["estimate"]
        0.0
        """
        return {
            "judges": [
                {
                    "name": name,
                    "judged": int(self.grades.there[:, at].sum()),
                    "queries": int(self.grades.judged[:, at].sum()),
                    "alone": int((self.grades.there[:, at] & (self.grades.times == 1)).sum()),
                    "negative": int((~np.isnan(self.grades.negative[:, at])).sum()),
                }
                for at, name in enumerate(self.judges)
            ],
            "alpha": {name: each.to_dict() for name, each in self.alphas.items()},
            "pairs": [pair.to_dict() for pair in self.pairs],
            "differences": self._differences(),
            "runs": None if self.boards is None else self.boards.to_dict(),
            "rel": plain(self.settings.rel),
            "level": self.settings.level,
            "resamples": self.settings.resamples,
            "seed": self.settings.seed,
            "says": list(sentences.findings(self)),
            "warnings": [str(text) for text in self.warnings()],
            "definitions": list(sentences.DEFINITIONS),
            "judged": __version__,
        }

    def _differences(self) -> list[dict[str, Any]]:
        """The items on which judges differ, with the grades of those who judged them."""
        ids = self.grades.frame.columns
        return [
            {
                **dict(zip(ids, row, strict=False)),
                "grades": {
                    name: grade
                    for name, grade in zip(self.judges, row[len(ids) :], strict=True)
                    if grade is not None
                },
            }
            for row in self.differences.iter_rows()
        ]

    def to_frame(self) -> pl.DataFrame:
        """The numbers of every two judges, as a polars table; alpha of more than two has no names.

        Returns
        -------
        polars.DataFrame

        >>> import judged
        >>> found = judged.agreement({"q": {"a": 1, "b": 0}}, {"q": {"a": 0, "b": 0}})
        >>> found.to_frame()["number"].to_list()[:2]
        ['agreement', 'kappa_plain']
        """
        import polars as pl

        schema = {
            **dict.fromkeys(("first", "second", "number"), pl.String),
            **dict.fromkeys(("value", "low", "high"), pl.Float64),
            "note": pl.String,
        }
        rows: list[tuple[str | float | None, ...]] = [
            (pair.first, pair.second, name, *_cells(each))
            for pair in self.pairs
            for name, each in pair.numbers().items()
        ]
        if len(self.pairs) > 1:
            rows += [
                (None, None, f"alpha_{name}", *_cells(each)) for name, each in self.alphas.items()
            ]
        return pl.DataFrame(rows, schema=schema, orient="row").with_columns(
            pl.col(pl.Float64).fill_nan(None)
        )

    def warnings(self) -> list[str]:
        """What could mislead whoever overlooks it.

        Returns
        -------
        list of str

        >>> import judged
        >>> judged.agreement({"q": {"a": 1}}, {"q": {"a": 1}}).warnings()
        ['one query alone has items that both judged, so there is no interval: first and second.', \
'first and second found everything relevant. If a file lists relevant items alone, what is not in \
it was found not relevant, and numbers of what both judged say little.']
        """
        return [*super().warnings(), *sentences.warned(self)]

    def sentences(self) -> list[str]:
        """The warnings, what was found, and what numbers mean.

        Returns
        -------
        list of str

        >>> import judged
        >>> found = judged.agreement({"q": {"a": 1, "b": 0}}, {"q": {"a": 0, "b": 0}})
        >>> found.sentences()[1]
        "first and second gave the same grade to 50.0 % of the 2 items that both judged; chance \
alone would give 50.0 %, so that Cohen's kappa is 0.000."
        """
        return [*self._warned(), *self._brief(), *sentences.details(self)]

    def _brief(self) -> list[str]:
        alone = list(sentences.judged_alone(self.grades))
        left = [f"judged by nobody else, and left out: {listed(alone)}."] if alone else []
        return [*sentences.findings(self), *left, *sentences.lacking(self)]

    def _parts(
        self, numbers: Iterable[Part], warned: Iterable[Warned], *, verbose: bool, quiet: bool
    ) -> list[Part]:
        """Sentences first."""
        return [*super()._parts([], warned, verbose=verbose, quiet=quiet), *numbers]

    def _text(self, parts: Iterable[Part]) -> str:
        """With an empty line between the sentences and the tables; a terminal has it by itself."""
        spaced: list[Part] = []
        for part in parts:
            if spaced and isinstance(spaced[-1], str) and not isinstance(part, str):
                spaced.append("")
            spaced.append(part)
        return super()._text(spaced)

    def tables(self) -> list[Table]:
        """The numbers, grades against grades, and the runs under each judge.

        Returns
        -------
        list of (header, rows)

        >>> import judged
        >>> found = judged.agreement({"q": {"a": 1, "b": 0}}, {"q": {"a": 0, "b": 0}})
        >>> found.tables()[0][1][0]
        ['agreement', '0.5000', '–']
        """
        return tables_of(self)

    def to_markdown(self) -> str:
        """The sentences and tables in Markdown.

        Returns
        -------
        str

        >>> import judged
        >>> found = judged.agreement({"q": {"a": 1, "b": 0}}, {"q": {"a": 0, "b": 0}})
        >>> found.to_markdown().splitlines()[1][:38]
        '- first and second gave the same grade'
        """
        said = "\n".join(f"- {markdown(text)}" for text in self.sentences())
        return "\n\n".join([said, *(self._markdown(*table) for table in self.tables())]) + "\n"

    def to_html(self) -> str:
        """The sentences and tables in HTML, as a notebook shows them.

        Returns
        -------
        str

        >>> import judged
        >>> found = judged.agreement({"q": {"a": 1, "b": 0}}, {"q": {"a": 0, "b": 0}})
        >>> found.to_html().startswith("<p><b>warning: one query alone")
        True
        """
        return (
            self._html_warnings()
            + self._html_listed()
            + self._html_tables()
            + html_folded("definitions and notes", self._folded())
        )


def _cells(each: Interval) -> tuple[float, float, float, str | None]:
    return each.estimate, each.low, each.high, each.note or None
