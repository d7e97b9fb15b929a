"""What is said of a comparison: warnings, what each pair says, what was done, noticed, assumed."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from judged.comparison.exports import definition
from judged.comparison.exports.records import Records
from judged.comparison.sentences import by_importance
from judged.options import checked_methods
from judged.statistics.units import about_few_units
from judged.text import Dim, Warned

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison

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
        from judged.evaluation.table import Look
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
        from judged.evaluation.sentences import brief

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
