"""Results that are runs: what a run's table, text and file look like, in every format that can be
read back."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar

from judged.errors import OutputError
from judged.outputs import check_target, replacing
from judged.results import Result
from judged.text import listed

TREC = ("", ".run", ".trec", ".txt")
"""The endings of TREC text."""
_FORMATS = dict.fromkeys(TREC, "a TREC run") | {
    ".csv": "CSV",
    ".parquet": "Parquet",
    ".json": "JSON",
}
"""What can be read back as a run, and may not hold every id."""


class RunResult(Result):
    """A result whose `to_frame` is a run (query, item, score, rank), the best item of each query
    first."""

    SAVED_AS: ClassVar[dict[str, str]] = {
        ending: method for ending, method in Result.SAVED_AS.items() if ending != ".txt"
    }

    @classmethod
    def endings(cls) -> list[str]:
        """The endings that `save` knows; a file without one is TREC text too."""
        return [*TREC[1:], *cls.SAVED_AS, ".parquet"]

    def to_csv(self) -> str:
        """`to_frame` as CSV: a run, so ids stay as they are, whatever a spreadsheet makes of them.

        Returns
        -------
        str

        >>> import judged
        >>> found = judged.Embeddings([[1.0]], [[2.0]], item_ids=["=a"]).top_k(1)
        >>> print(found.to_csv().splitlines()[1])
        0,=a,1.0,1
        """
        return self.to_frame().write_csv()

    def _save_run(self, path: str | os.PathLike[str], tag: str) -> None:
        """Write the run; `tag` is what the last column of TREC text says."""
        from judged.inputs.ids import refuse_ids

        check_run_target(path, self.endings())
        target = Path(path)
        ending = target.suffix.lower()
        if ending in _FORMATS:
            refuse_ids(self.to_frame(), _FORMATS[ending], target, tag if ending in TREC else None)
        if ending in TREC:
            self._save_trec(target, tag)
        else:
            self._save(target)

    def _save_trec(self, target: Path, tag: str) -> None:
        import polars as pl

        lines = self.to_frame().select(
            "query", pl.lit("Q0").alias("Q0"), "item", "rank", "score", pl.lit(tag).alias("tag")
        )
        with replacing(target) as temporary:
            lines.write_csv(temporary, separator=" ", include_header=False, quote_style="never")


def check_run_target(path: str | os.PathLike[str], endings: list[str]) -> None:
    """Refuse a place or an ending that a run cannot be written to, before any work is done."""
    check_target(path)
    target = Path(path)
    ending = target.suffix.lower()
    if ending and ending not in endings:
        raise OutputError(
            f"{target}: the ending says the format, and must be {listed(endings, 'or')}."
        )
