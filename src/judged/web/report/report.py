"""Report: everything about an evaluation in one HTML file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from judged.errors import OutputError
from judged.results import Display, DisplayOptions, Document, Result
from judged.text import counted, listed
from judged.web.report.layout import OPTIONAL, ReportLayout

if TYPE_CHECKING:
    import polars as pl

    from judged.web.report.contents import ReportContents


@dataclass(frozen=True, eq=False, repr=False)
class Report(Result):
    """One file that needs no network; `judged.make_report` and `Evaluation.report` return it.

    >>> from judged import evaluate
    >>> found = evaluate({"q": {"a": 1}}, {"bm25": {"q": ["b", "a"]}}, "RR").report()
    >>> found.to_html().startswith("<!DOCTYPE html>")
    True
    """

    SAVED_AS: ClassVar[dict[str, str]] = {".html": "to_html"}

    contents: ReportContents
    """What it shows."""
    title: str | None = None
    """What stands above what came out."""
    date: str | None = None
    """When it was made, as somebody said it; nothing by default, so that the same input gives the
    same bytes."""
    max_size: int | None = None
    """How many bytes the file may have."""

    @cached_property
    def _layout(self) -> ReportLayout:
        return ReportLayout(self.contents, self.title, self.date)

    @cached_property
    def _made(self) -> tuple[str, frozenset[str]]:
        """The file, and what it is without."""
        without: frozenset[str] = frozenset()
        html = self._layout.html(without)
        for name in OPTIONAL if self.max_size is not None else ():
            if len(html.encode()) <= self.max_size:  # type: ignore[operator]
                break
            without |= {name}
            if name in self._layout.there:
                html = self._layout.html(without)
        size = len(html.encode())
        if self.max_size is not None and size > self.max_size:
            raise OutputError(
                f"max_size is {counted(self.max_size, 'byte')}, and the report has "
                f"{counted(size, 'byte')} without all that it could do without; allow more."
            )
        return html, without

    def to_html(self, **display: Unpack[DisplayOptions]) -> str:
        """Return the whole file.

        Parameters
        ----------
        **display : Unpack[DisplayOptions]
            Options of `Display`; none has an effect.

        Returns
        -------
        str

        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"bm25": {"q": ["b", "a"]}}, "RR").report()
        >>> "bm25" in found.to_html()
        True
        """
        return self._made[0]

    def left_out(self) -> list[str]:
        """What the file is without, as it would be too large or have too many values.

        Returns
        -------
        list of str

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").report().left_out()
        []
        """
        return self._layout.left_out(self._made[1])

    def sentences(self, **display: Unpack[DisplayOptions]) -> list[str]:
        """Return the outcome, and what the file is without.

        Parameters
        ----------
        **display : Unpack[DisplayOptions]
            Options of `Display`; none has an effect.

        Returns
        -------
        list of str

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"bm25": {"q": ["b", "a"]}}, "RR").report().sentences()[0]
        'bm25 has 0.500 on RR'
        """
        heading = self._layout.board.heading
        missing = self.left_out()
        said = [heading.title, *([heading.line] if heading.line else [])]
        if self.contents.refused:
            said.append(self.contents.refused)
        return said + ([f"Left out: {listed(missing)}."] if missing else [])

    def document(self, display: Display) -> Document:
        """Return the outcome and the summary table of the evaluation.

        Parameters
        ----------
        display : Display
            How it is shown.

        Returns
        -------
        Document
        """
        evaluation = self.contents.evaluation
        return Document(self.sentences(), evaluation.tables(), evaluation.warnings())

    def to_frame(self) -> pl.DataFrame:
        """The summary, as the evaluation has it.

        Returns
        -------
        polars.DataFrame
        """
        return self.contents.evaluation.to_frame()

    def to_dict(self) -> dict[str, Any]:
        """What it is made from, as plain values for JSON.

        Returns
        -------
        dict

        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").report()
        >>> list(found.to_dict())
        ['title', 'sentences', 'evaluation', 'comparison', 'files', 'command', 'left_out']
        """
        contents = self.contents
        compared = contents.comparison
        return {
            "title": self.title,
            "sentences": self.sentences(),
            "evaluation": contents.evaluation.to_dict(),
            "comparison": None if compared is None else compared.to_dict(),
            "files": [each.to_dict() for each in contents.files],
            "command": contents.again,
            "left_out": self.left_out(),
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file, whole or not at all.

        Parameters
        ----------
        path : str or os.PathLike
            Where to write; it ends in .html.

        >>> import tempfile, pathlib
        >>> from judged import evaluate
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.html"
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").report().save(path)
        >>> path.stat().st_size > 10_000
        True
        """
        from judged.outputs import check_target, checked_ending, write_text

        check_target(path)
        checked_ending(path, [*self.SAVED_AS])
        write_text(path, self.to_html())

    def __repr__(self) -> str:
        return f"<Report: {self.sentences()[0]}>"

    def _repr_html_(self) -> str:
        return self.contents.evaluation.to_html()
