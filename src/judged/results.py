"""What every result can do: be a dict, JSON, a table, sentences, text, a page, a file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from judged.errors import OutputError
from judged.outputs import check_target, replacing
from judged.text import aligned, html_table, listed, markdown_table, to_json

if TYPE_CHECKING:
    import polars as pl

Table = tuple[Sequence[str], Sequence[Sequence[str]]]
"""Header and rows, as people see them."""


class Result:
    """The base of all results; each has these methods, and they mean the same everywhere."""

    SAVED_AS: ClassVar[dict[str, str]] = {
        ".json": "to_json",
        ".csv": "to_csv",
        ".md": "to_markdown",
        ".html": "to_html",
        ".txt": "to_text",
    }
    """The endings that `save` knows besides .parquet, and the method that makes each, as text or
    bytes."""
    WORDS: ClassVar[frozenset[str]] = frozenset()
    """Columns of tables that hold words, not numbers; these begin at the left."""

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values that JSON can hold."""
        raise NotImplementedError

    def to_frame(self) -> pl.DataFrame:
        """The numbers, as a polars table."""
        raise NotImplementedError

    def sentences(self) -> list[str]:
        """What was found and what was assumed, in words."""
        raise NotImplementedError

    def tables(self) -> list[Table]:
        """The tables that people see, header and rows of text each."""
        raise NotImplementedError

    def to_json(self) -> str:
        """`to_dict` as JSON."""
        return to_json(self.to_dict())

    def to_csv(self) -> str:
        """`to_frame` as CSV."""
        return self.to_frame().write_csv()

    def to_text(self) -> str:
        """The tables and sentences in plain text."""
        parts = [
            "\n".join(aligned([header, *rows], right=self._right(header)))
            for header, rows in self.tables()
        ]
        return "\n".join([*parts, *self.sentences()])

    def to_markdown(self) -> str:
        """The tables and sentences in Markdown."""
        parts = [
            markdown_table(header, rows, right=self._right(header))
            for header, rows in self.tables()
        ]
        return "\n\n".join([*parts, "\n".join(f"- {text}" for text in self.sentences())]) + "\n"

    def to_html(self) -> str:
        """The tables and sentences in HTML, as a notebook shows them."""
        said = "".join(f"<li>{escape(text)}</li>" for text in self.sentences())
        return "".join(html_table(*table) for table in self.tables()) + f"<ul>{said}</ul>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result to a file, whole or not at all.

        Parameters
        ----------
        path : str or os.PathLike
            Where to write; the ending says the format.
        """
        target = Path(path)
        check_target(target)
        ending = checked_ending(target, [*self.SAVED_AS, ".parquet"])
        if ending == ".parquet":
            with replacing(target) as temporary:
                self.to_frame().write_parquet(temporary)
            return
        content = getattr(self, self.SAVED_AS[ending])()
        with replacing(target) as temporary:
            temporary.write_bytes(content if isinstance(content, bytes) else content.encode())

    def _right(self, header: Sequence[str]) -> list[int]:
        return [at for at, name in enumerate(header) if name not in self.WORDS]

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html()


def checked_ending(path: str | os.PathLike[str], endings: Sequence[str]) -> str:
    """The ending of a file to write, where it is one of those that can be written."""
    ending = Path(path).suffix.lower()
    if ending not in endings:
        raise OutputError(
            f"{path}: the ending says the format, and must be {listed(endings, 'or')}."
        )
    return ending
