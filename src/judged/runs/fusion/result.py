"""The fused run: a run that every function takes, and a result that says how it came about."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from judged.inputs.tables import Run
from judged.results import Display, Document, RunResult, Table
from judged.runs.fusion.settings import written
from judged.text import Warned, to_json

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class FusedRun:
    """What one run gave to a fusion."""

    name: str
    weight: float
    queries: int
    """How many queries it has results for."""
    results: int
    """How many of its results count, down to the depth."""
    alone: int
    """How many of these no other run has."""


@dataclass(frozen=True, eq=False, repr=False)
class Fusion(RunResult, Run):
    """Several runs made one, as `judged.fuse` returns it: a run that every function takes.

    >>> import judged
    >>> fused = judged.fuse({"one": {"q": ["a", "b"]}, "other": {"q": ["c", "a"]}})
    >>> fused.frame["item"].to_list()
    ['a', 'c', 'b']
    >>> judged.evaluate({"q": {"a": 1}}, fused, "RR").value()
    1.0
    """

    runs: tuple[FusedRun, ...] = ()
    """What each run gave."""
    settings: tuple[tuple[str, Any], ...] = ()
    """How they were fused: method, k or normalise, depth, ties."""
    weights: tuple[float, ...] | None = None
    """The weights that were given by hand, in the order of the runs; None where none were."""

    SAVED_AS: ClassVar[dict[str, str]] = {".json": "to_json", ".csv": "to_csv"}

    @property
    def method(self) -> str:
        """The method: rrf, combsum, combmnz or weighted."""
        return str(dict(self.settings)["method"])

    def to_dict(self) -> dict[str, dict[str, float]]:
        """{query: {item: score}}, the best item first.

        Returns
        -------
        dict

        >>> import judged
        >>> fused = judged.fuse({"one": {"q": ["a"]}, "other": {"q": ["a"]}}, method="combsum")
        >>> fused.to_dict()
        {'q': {'a': 2.0}}
        """
        lists = self.frame.group_by("query", maintain_order=True).agg("item", "score")
        return {
            query: dict(zip(items, scores, strict=True))
            for query, items, scores in lists.iter_rows()
        }

    def to_frame(self) -> pl.DataFrame:
        """One row per result: query, item, score and rank from 1.

        Returns
        -------
        polars.DataFrame

        >>> import judged
        >>> fused = judged.fuse({"one": {"q": ["a", "b"]}, "other": {"q": ["c", "a"]}})
        >>> fused.to_frame().select("item", "rank").rows()
        [('a', 1), ('c', 2), ('b', 3)]
        """
        import polars as pl

        return self.frame.with_columns(rank=pl.int_range(1, pl.len() + 1).over("query"))

    def document(self, display: Display) -> Document:
        """Return a row per run: weight, queries, results, and results that no other run has.

        Parameters
        ----------
        display : Display
            How it is shown.

        Returns
        -------
        Document

        >>> import judged
        >>> fused = judged.fuse({"one": {"q": ["a"]}, "other": {"q": ["a", "b"]}})
        >>> fused.tables()[0].rows[0]
        ['one', '1', '1', '1', '0']
        >>> fused.sentences()[0]
        "rrf of one and other: an item's score is the sum over the lists that have it of \
1 / (60 + rank)."
        """
        header = ["run", "weight", "queries", "results", "only here"]
        rows = [
            [
                run.name,
                written(run.weight),
                *map("{:,}".format, (run.queries, run.results, run.alone)),
            ]
            for run in self.runs
        ]
        return Document(
            tables=[Table(header, rows, words={"run"})],
            warnings=[note for note in self.notes if isinstance(note, Warned)],
            notes=[note for note in self.notes if not isinstance(note, Warned)],
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the run to a file, whole or not at all; scores keep all their digits.

        Parameters
        ----------
        path : str or os.PathLike
            Where to write; the ending says the format: TREC text (.run, .trec, .txt or none),
            .parquet, .csv or .json. It is read back as the same run; the tag of TREC text says the
            method.

        >>> import judged
        >>> judged.fuse({"one": {"q": ["a"]}, "other": {"q": ["a"]}}).save("/dev/null")
        """
        self._save_run(path, self.tag or self.method)

    def _metadata(self) -> dict[str, str]:
        weights = {run.name: run.weight for run in self.runs}
        told = {**dict(self.settings), "weights": weights, "by_hand": self.weights is not None}
        return {**super()._metadata(), "fusion": to_json(told)}
