"""What every result can do: be a dict, JSON, a table, sentences, text, a page, a file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from judged.errors import OutputError
from judged.outputs import check_target, replacing, write_text
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
    """The endings that `save` knows besides .parquet, and the method that gives the text of each."""
    WORDS: ClassVar[frozenset[str]] = frozenset()
    """Columns of tables that hold words, not numbers; these begin at the left."""
    BETWEEN: ClassVar[str] = "\n"
    """What stands in plain text between two tables, and before the sentences."""

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
        return self.BETWEEN.join([*parts, "\n".join(self.sentences())])

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
        ending = target.suffix.lower()
        if ending == ".parquet":
            with replacing(target) as temporary:
                self.to_frame().write_parquet(temporary)
        elif ending in self.SAVED_AS:
            write_text(target, getattr(self, self.SAVED_AS[ending])())
        else:
            known = listed([*self.SAVED_AS, ".parquet"], "or")
            raise OutputError(f"{target}: the ending says the format, and must be {known}.")

    def _right(self, header: Sequence[str]) -> list[int]:
        return [at for at, name in enumerate(header) if name not in self.WORDS]

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html()
