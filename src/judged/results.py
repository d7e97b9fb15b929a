"""What every result can do: be a dict, JSON, a table, sentences, text, a page, a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from judged.errors import InputError, OutputError
from judged.options import checked_methods
from judged.outputs import check_target, replacing
from judged.text import (
    Dim,
    Left,
    Warned,
    aligned,
    html,
    html_folded,
    html_page,
    html_table,
    listed,
    markdown,
    markdown_table,
    readable,
    to_json,
    visible,
)

if TYPE_CHECKING:
    import polars as pl

Table = tuple[Sequence[str], Sequence[Sequence[str]]]
"""Header and rows, as people see them."""
Part = str | Table
"""What text is made of: a line, or a table."""
AMOUNTS = ("verbose", "quiet")
"""Options that say how much is said beside the numbers."""


@checked_methods
class Result:
    """The base of all results; each has these methods, and they mean the same everywhere.

    A dataclass that derives from it is declared with `repr=False`, or it prints as a dataclass.
    """

    SAVED_AS: ClassVar[dict[str, str]] = {
        ".json": "to_json",
        ".csv": "to_csv",
        ".md": "to_markdown",
        ".html": "to_html",
        ".txt": "to_text",
    }
    """The endings that `save` knows besides .parquet, and the method that makes each, as text, as
    bytes, or as values that JSON can hold; a name without a dot is a format without an ending."""
    WORDS: ClassVar[frozenset[str]] = frozenset()
    """Columns of tables that hold words, not numbers; these begin at the left."""
    FOLDED: ClassVar[str] = ""
    """What the tables are, where they hold details that a notebook folds under the text."""
    BETWEEN: ClassVar[str] = "\n"
    """What stands in plain text behind a table."""

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values that JSON can hold.

        Returns
        -------
        dict

        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> found.to_dict()["runs"][0]["scores"]
        {'RR': 0.5}
        """
        raise NotImplementedError

    def to_frame(self) -> pl.DataFrame:
        """The numbers, as a polars table.

        Returns
        -------
        polars.DataFrame

        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> found.to_frame().rows()
        [('run', 0.5)]
        """
        raise NotImplementedError

    def sentences(self) -> list[str]:
        """What was found and what was assumed, in words.

        Returns
        -------
        list of str

        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> found.sentences()[0]
        'policy: ties=id, missing=zero, empty=zero, unjudged=nonrelevant'
        """
        raise NotImplementedError

    def warnings(self) -> list[str]:
        """What could mislead whoever overlooks it; among the sentences too, and first of them.

        Returns
        -------
        list of str

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").warnings()
        []
        """
        notes: Iterable[str] = getattr(self, "notes", ())
        return [note for note in notes if isinstance(note, Warned)]

    def _grave(self) -> list[str]:
        """The warnings that even code must get that prints nothing, and tables that hold only
        numbers."""
        return self.warnings()

    def _warned(self) -> list[Warned]:
        """The warnings as lines of text."""
        return [Warned(f"warning: {text}") for text in self.warnings()]

    def tables(self) -> list[Table]:
        """The tables that people see, header and rows of text each.

        Returns
        -------
        list of (header, rows)

        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> found.tables()
        [(['run', 'RR'], [['run', '0.5000']])]
        """
        raise NotImplementedError

    def parts(self, *, verbose: bool = False, quiet: bool = False) -> list[Part]:
        """What people see, in order: the tables, the warnings, and what else is worth a line.

        Parameters
        ----------
        verbose : bool, optional
            Whether all sentences stand there.
        quiet : bool, optional
            Whether the tables stand alone.

        Returns
        -------
        list of str or (header, rows)

        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> found.parts(verbose=True) == [*found.tables(), *found.sentences()]
        True
        """
        warned = [] if quiet else self._warned()
        return self._parts(self._numbers(), warned, verbose=verbose, quiet=quiet)

    def _parts(
        self, numbers: Iterable[Part], warned: Iterable[Warned], *, verbose: bool, quiet: bool
    ) -> list[Part]:
        """The one place where what people see is put together."""
        if verbose and quiet:
            raise InputError("verbose and quiet exclude each other; give one of them.")
        said = [] if quiet else self._said() if verbose else self._brief()
        return [*numbers, *warned, *said]

    def _numbers(self) -> list[Part]:
        """The tables, with what must stand beside them."""
        return [*self.tables()]

    def _said(self) -> list[str]:
        """The sentences that are no warnings."""
        return self.sentences()[len(self.warnings()) :]

    def _brief(self) -> list[str]:
        """Those of them that stand there where nobody asks for all."""
        return self._said()

    def to_json(self) -> str:
        """`to_dict` as JSON.

        Returns
        -------
        str

        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> found.to_json().startswith("{")
        True
        """
        return to_json(self.to_dict())

    def to_csv(self) -> str:
        """`to_frame` as CSV that spreadsheets can open: before texts that they would take for a
        formula stands an apostrophe. Parquet and JSON have them as they are.

        Warnings stand below the table, as comments: lines that begin with "#".

        Returns
        -------
        str

        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> found.to_csv()
        'run,RR\\nrun,0.5\\n'
        """
        return csv_of(self.to_frame()) + self._comments()

    def _comments(self) -> str:
        """The grave warnings as lines of comment, for readers that know comments. Without commas
        and quotation marks they are one text to others, and numbers stay numbers."""
        lines = (f"# warning: {visible(text)}\n" for text in self._grave())
        return "".join(line.replace(",", ";").replace('"', "'") for line in lines)

    def to_text(self, *, verbose: bool = False, quiet: bool = False) -> str:
        """The parts in plain text: the tables, the warnings under them, and a line of what else
        there is.

        Parameters
        ----------
        verbose : bool, optional
            Whether all sentences stand there: what was assumed, what was found, what it means.
        quiet : bool, optional
            Whether the tables stand alone.

        Returns
        -------
        str

        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> found.to_text().splitlines()[1]
        'run  0.5000'
        """
        return self._text(self.parts(verbose=verbose, quiet=quiet))

    def _text(self, parts: Iterable[Part]) -> str:
        return "\n".join(
            readable(part) if isinstance(part, str) else self._aligned(*part) for part in parts
        )

    def _aligned(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        lines = aligned([header, *rows], right=self._right(header))
        return "\n".join(lines) + self.BETWEEN.removesuffix("\n")

    def to_markdown(self) -> str:
        """The tables and sentences in Markdown.

        Returns
        -------
        str

        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> found.to_markdown().splitlines()[0]
        '| run | RR |'
        """
        parts = [self._markdown(*table) for table in self.tables()]
        said = "\n".join(f"- {markdown(text)}" for text in self.sentences())
        return "\n\n".join([*parts, said]) + "\n"

    def _markdown(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        texts = [[markdown(cell) for cell in row] for row in (header, *rows)]
        return markdown_table(texts[0], texts[1:], right=self._right(header))

    def to_html(self) -> str:
        """The tables and sentences in HTML, as a notebook shows them: what text says where nobody
        asks for all of it, and the rest folded.

        Returns
        -------
        str

        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> found.to_html().startswith("<table>")
        True
        """
        if self.FOLDED:
            folded = f"<summary>{html(self.FOLDED)}</summary>{self._html_tables()}"
            return f"<pre>{html(self.to_text())}</pre><details>{folded}</details>"
        return (
            self._html_answer()
            + self._html_tables()
            + self._html_warnings()
            + self._html_listed()
            + html_folded("definitions and notes", self._folded())
        )

    def _answer(self) -> list[str]:
        """What a notebook says before the tables, the first line of it in bold."""
        return []

    def _folded(self) -> list[str]:
        """What a notebook folds: the sentences that text has only where all are asked for."""
        brief = {*self._brief(), *self._answer()}
        return [text for text in self._said() if text not in brief]

    def _html_answer(self) -> str:
        return "".join(
            f"<p>{html(text) if at else f'<b>{html(text)}</b>'}</p>"
            for at, text in enumerate(self._answer())
        )

    def _html_tables(self) -> str:
        return "".join(self._html(*table) for table in self.tables())

    def _html_listed(self) -> str:
        """The sentences that are not folded; a line that tells how to get more is for text."""
        answer = self._answer()
        shown = [text for text in self._brief() if not isinstance(text, Dim) and text not in answer]
        listed = "".join(f"<li>{html(text)}</li>" for text in shown)
        return f"<ul>{listed}</ul>" if listed else ""

    def _html(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        """A table whose words begin at the left."""
        return html_table(header, rows, right=self._right(header))

    def _html_warnings(self) -> str:
        return "".join(f"<p><b>{html(text)}</b></p>" for text in self._warned())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result to a file, whole or not at all.

        Parameters
        ----------
        path : str or os.PathLike
            Where to write; the ending says the format: .json, .csv, .md, .html, .txt or .parquet,
            and what else the result has.

        >>> import tempfile, pathlib
        >>> from judged import evaluate
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").save(path)
        >>> path.read_text()
        'run,RR\\nrun,0.5\\n'
        """
        self._save(path)

    def _save(self, path: str | os.PathLike[str], **options: Any) -> None:
        from judged.outputs import check_target, checked_ending, replacing

        check_target(path)
        ending = checked_ending(path, endings(self.SAVED_AS))
        method = self.SAVED_AS.get(ending, "to_frame")
        content = getattr(self, method)(**self._taken(method, options, str(path)))
        if isinstance(content, str):
            content = html_page(content) if ending == ".html" else content
            content = (content.removesuffix("\n") + "\n").encode()
        with replacing(path) as temporary:
            if ending == ".parquet":
                content.write_parquet(temporary, metadata=self._metadata())
            else:
                temporary.write_bytes(content)

    def _taken(self, method: str, options: Mapping[str, Any], where: str) -> dict[str, Any]:
        """Those of the options that a method takes. What it cannot do is refused; but how much is
        said never matters where everything is."""
        from inspect import signature

        known = signature(getattr(self, method)).parameters
        for name, given in options.items():
            wanted = given is not None and given is not False and name not in AMOUNTS
            if wanted and name not in known:
                raise OutputError(f"{name} has no meaning in {where}; leave it out.")
        return {name: given for name, given in options.items() if name in known}

    def _metadata(self) -> dict[str, str]:
        """What a Parquet file keeps beside the table."""
        warned = self.warnings()
        return {"warnings": to_json(warned)} if warned else {}

    def _right(self, header: Sequence[str]) -> list[int]:
        return [
            at
            for at, name in enumerate(header)
            if name not in self.WORDS and not isinstance(name, Left)
        ]

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html()


def endings(saved_as: Mapping[str, str]) -> list[str]:
    """The endings of files that a result can be saved as."""
    return [*(each for each in saved_as if each.startswith(".")), ".parquet"]


FORMULA = "^'*[=+\\-@\t\r＝＋－＠]"
"""What a spreadsheet computes, or what was made harmless in such a text."""
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


def csv_of(frame: pl.DataFrame) -> str:
    """A table as CSV in which no text can be taken for a formula: an apostrophe stands before it.

    Whoever takes one apostrophe away before ``= + - @`` has the texts as they were; ids that are
    numbers stay as they are.
    """
    import polars as pl

    text = pl.col(pl.String)
    harmless = ~text.str.contains(FORMULA) | text.str.contains(NUMBER)
    safe = frame.with_columns(pl.when(harmless).then(text).otherwise("'" + text))
    # To readers that know comments, a sign in plain text would begin one.
    marked = safe.select(pl.any_horizontal(text.str.contains("#", literal=True).any()))
    return safe.write_csv(quote_style="non_numeric" if marked.item() else "necessary")


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
        from judged.inputs.trec import refuse_ids

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
