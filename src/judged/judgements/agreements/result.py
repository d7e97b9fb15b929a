"""Agreement: how far judges agree, what they differ on, and what it does to runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from judged import __version__
from judged.checks import checked_methods
from judged.errors import InputError, quoted
from judged.inputs.agreement import agreement as would_agree
from judged.judgements.agreements import sentences
from judged.judgements.agreements.judges import Grades
from judged.judgements.agreements.leaderboards import Leaderboards
from judged.judgements.agreements.pairs import JudgePair, Settings
from judged.judgements.agreements.pairs import Table as GradeTable
from judged.results import Part, Result, Table
from judged.statistics.intervals import Interval
from judged.text import Left, Warned, counted, listed, plain, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl


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
        """Everything but the single differences, as plain Python values that JSON can hold.

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

    def to_frame(self) -> pl.DataFrame:
        """The numbers of every two judges, as a polars table; alpha of more than two has no names.

        Returns
        -------
        polars.DataFrame

        >>> import judged
        >>> found = judged.agreement({"q": {"a": 1, "b": 0}}, {"q": {"a": 0, "b": 0}})
        >>> found.to_frame()["number"].to_list()[:2]
        ['agreement', 'kappa']
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
                (None, None, f"alpha, {name}", *_cells(each)) for name, each in self.alphas.items()
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
        ['first and second have 1 query in common: there are no intervals.']
        """
        noted = [note for note in self.grades.notes if isinstance(note, Warned)]
        return [*noted, *sentences.warned(self)]

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
        return [*self.warnings(), *self._brief(), *sentences.details(self)]

    def _brief(self) -> list[str]:
        alone = list(sentences.judged_alone(self.grades))
        left = [f"judged by nobody else, and left out: {listed(alone)}."] if alone else []
        return [*sentences.findings(self), *left]

    def _parts(
        self, numbers: Iterable[Part], warned: Iterable[Warned], *, verbose: bool, quiet: bool
    ) -> list[Part]:
        """Sentences first."""
        parts = super()._parts([], warned, verbose=verbose, quiet=quiet)
        return [*parts, *([""] if parts else []), *numbers]

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
        level = f"{self.settings.level * 100:g} % interval"
        if len(self.pairs) == 1:
            pair = self.pairs[0]
            rows = [
                [name, shown(each.estimate), _ends(each)] for name, each in pair.numbers().items()
            ]
            found: list[Table] = [(["number", "value", level], rows), _grade_table(pair)]
        else:
            rows = [
                [f"alpha, {name}", shown(each.estimate), _ends(each)]
                for name, each in self.alphas.items()
            ]
            found = [(["number", "value", level], rows), self._pair_table()]
        return [*found, *self._run_tables()]

    def _pair_table(self) -> Table:
        header = ["judges", "items", "agreement", "kappa", "linear", "quadratic", "stricter"]
        rows = [
            [
                f"{pair.first}, {pair.second}",
                f"{pair.items:,}",
                shown(pair.agreement.estimate),
                *(shown(each.estimate) for each in pair.kappas.values()),
                pair.stricter or "–",
            ]
            for pair in self.pairs
        ]
        return header, rows

    def _run_tables(self) -> list[Table]:
        if self.boards is None:
            return []
        values = [
            [measure, run, *(shown(under[judge][run]) for judge in self.judges)]
            for measure, under in self.boards.values.items()
            for run in self.boards.runs
        ]
        found: list[Table] = [(["measure", "run", *self.judges], values)]
        if self.boards.verdicts:
            words = [
                [row.measure, row.run, row.against, *row.verdicts.values()]
                for row in self.boards.verdicts
            ]
            heads = [Left(f"under {name}") for name in self.judges]
            found.append((["measure", "run", "against", *heads], words))
        return found


def _cells(each: Interval) -> tuple[float, float, float, str]:
    return each.estimate, each.low, each.high, each.note


def _ends(each: Interval) -> str:
    return f"{shown(each.low)} … {shown(each.high)}" if each.known else "–"


def _grade_table(pair: JudgePair) -> Table:
    """Rows are the grades of the first judge, columns those of the second."""
    names = [f"{grade:g}" for grade in pair.table.grades]
    header = [Left(f"{pair.first} \\ {pair.second}"), *names]
    rows = [
        [name, *(f"{count:,}" for count in row)]
        for name, row in zip(names, pair.table.counts, strict=True)
    ]
    return header, rows


def refuse_nothing_shared(grades: Grades) -> None:
    """Refuse judges of whom no two judged the same."""
    if (grades.times > 1).any():
        return
    said = [f"{name} judged {_some(grades, at)}" for at, name in enumerate(grades.judges)]
    raise InputError(
        f"nothing was judged by two of {listed(grades.judges)}: {'; '.join(said)}." + _hint(grades)
    )


def _some(grades: Grades, at: int) -> str:
    rows = np.flatnonzero(grades.there[:, at])
    if not len(rows):
        return "nothing"
    query, item = grades.frame.row(int(rows[0]))[:2]
    return f"{counted(len(rows), grades.unit)}, such as {item!r} for query {query!r}"


def _hint(grades: Grades) -> str:
    """What would make ids of the first two judges meet."""
    for name in ("query", "item"):
        ours, theirs = (
            grades.frame[name].filter(grades.there[:, at]).unique(maintain_order=True).to_list()
            for at in (0, 1)
        )
        if set(ours).isdisjoint(theirs):
            whose = [f"the {name} ids of {judge}" for judge in grades.judges[:2]]
            like = would_agree(ours[:1000], theirs, (whose[0], whose[1]))
            return f" {like}" if like else f" They have no {name} in common."
    return ""
