"""A comparison for programs: dict, JSON, frames and CSV. Numbers are exact here."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from judged import __version__
from judged.comparison.exports.frames import frame_of
from judged.comparison.exports.table import in_order
from judged.errors import MissingExtraError
from judged.options import checked_methods
from judged.results import Result, csv_of
from judged.text import plain, to_json

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from judged.comparison.comparison import Comparison
    from judged.comparison.numbers import Numbers
    from judged.comparison.pair import Pair
    from judged.comparison.settings import Settings
    from judged.comparison.slices.slices import Slices
    from judged.evaluation.evaluation import Evaluation
    from judged.measures import Measure


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
