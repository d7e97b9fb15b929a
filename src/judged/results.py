"""Results and how they look: tables and sentences, rendered to text, Markdown, LaTeX, HTML and CSV.

A result builds one `Document` of tables and sentences. This module renders it in every format.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypedDict, TypeVar, Unpack

from judged.errors import InputError, OutputError, did_you_mean, for_caller, quoted
from judged.options import OPTIONS, later
from judged.outputs import check_target, checked_ending, replacing
from judged.text import (
    Bold,
    Dim,
    Formula,
    Left,
    Warned,
    WarningLine,
    html,
    html_cell,
    html_folded,
    html_page,
    latex_table,
    listed,
    markdown,
    markdown_table,
    plain,
    readable,
    to_json,
    visible,
)

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from judged.measures import Measure

    Frame: TypeAlias = pl.DataFrame
    PandasFrame: TypeAlias = pd.DataFrame
else:  # loaded by `typing.get_type_hints` only
    Frame, PandasFrame = later("polars:DataFrame"), later("pandas:DataFrame")
    Measure = later("judged.measures:Measure")

_CLASSES = {
    "Abstention": "evaluation.abstention",
    "Advice": "evaluation.advice",
    "Agreement": "judgements.agreement",
    "Audit": "rankings.audit",
    "Benchmark": "comparison.benchmark",
    "CollectionCheck": "judgements.check",
    "Diagnosis": "embeddings.diagnosis",
    "Disagreement": "conventions.disagreement",
    "Explanation": "explanation.explanation",
    "Funnel": "runs.funnel",
    "Fusion": "runs.fusion",
    "Gate": "comparison.gate",
    "Identification": "conventions.identification",
    "IndexEvaluation": "embeddings.index",
    "Judgements": "inputs",
    "Lookup": "inputs",
    "MergedJudgements": "judgements.merge",
    "Orders": "comparison.orders",
    "Overlap": "runs.overlap",
    "Plan": "comparison.plan",
    "Queue": "judgements.queue",
    "Report": "web.report.report",
    "Run": "inputs",
    "SpanEvaluation": "runs.spans",
    "TopK": "embeddings.top_k",
}
"""Classes that public functions return, with their modules; they are names of this one, too."""

__all__ = [*_CLASSES]


def __getattr__(name: str) -> Any:
    """Load a class when it is first used; their modules import this one."""
    if name not in _CLASSES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"judged.{_CLASSES[name]}"), name)


# -- what a result consists of, and how it is displayed


@dataclass(frozen=True)
class Table:
    """A table as people see it: every cell is text."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: Collection[str] = frozenset()
    """Columns that hold words: left-aligned, and wrapped at spaces where the table is too wide.
    A header of type `text.Left` is left-aligned but its cells are never wrapped."""
    title: str = ""
    folded: bool = False
    """True to fold the table under its title in HTML and Markdown."""
    tips: Mapping[str, Callable[[], str]] = field(default_factory=dict)
    """Functions that return tooltips for HTML, of headers and of cells in word columns."""
    details: Collection[int] = frozenset()
    """Positions of the columns that text shows only with `verbose`."""

    @property
    def right(self) -> list[int]:
        """Positions of the right-aligned columns."""
        return [
            at
            for at, name in enumerate(self.header)
            if name not in self.words and not isinstance(name, Left)
        ]

    def brief(self) -> Table:
        """Return the table without its details."""
        kept = [at for at in range(len(self.header)) if at not in self.details]
        header, *rows = ([row[at] for at in kept] for row in (self.header, *self.rows))
        return replace(self, header=header, rows=rows, details=frozenset())

    def __iter__(self) -> Iterator[Any]:
        """Yield header and rows, so that a table can be unpacked."""
        return iter((self.header, self.rows))


Part = str | Table
"""One element of a rendered text: a line or a table."""


@dataclass(eq=False, repr=False)
class Document:
    """Everything a result shows, independent of format."""

    answer: Sequence[str] = ()
    """Sentences that come first, even with `quiet`."""
    tables: Sequence[Table] = ()
    warnings: Sequence[str] = ()
    """Warnings, without the word "warning" in front."""
    notes: Sequence[str] = ()
    """Sentences that are shown below the tables unless `quiet`; those that are `Warned` count as
    warnings."""
    details: Sequence[str] | Callable[[], Sequence[str]] = ()
    """Sentences that are shown with `verbose`, and folded in HTML and Markdown; or a function that
    returns them."""
    hint: str | Callable[[], str] = "More: to_text(verbose=True)."
    """A line that replaces the details on terminals and in text without `verbose`; or a function
    that returns it."""
    methods: Callable[[], str] | None = None
    """Function that returns a paragraph for the methods section of a paper; Markdown, LaTeX and
    HTML include it."""

    def __post_init__(self) -> None:
        warned = [note for note in self.notes if isinstance(note, Warned)]
        self.warnings = [for_caller(text) for text in (*self.warnings, *warned)]
        if warned:
            self.notes = [note for note in self.notes if not isinstance(note, Warned)]

    def sentences(self) -> list[str]:
        """Return all sentences, warnings first."""
        return [*self.warning_lines(), *self.answer, *self.notes, *self.all_details()]

    def warning_lines(self) -> list[WarningLine]:
        """Return the warnings as lines of text."""
        return [WarningLine(f"warning: {text}") for text in self.warnings]

    def parts(self, display: Display, *, hint: bool = True) -> list[Part]:
        """Return lines and tables in the order of text, with an empty line between blocks."""
        blocks: list[list[Part]] = [list(self.answer)]
        blocks += [[table if display.verbose else table.brief()] for table in self.tables]
        if not display.quiet:
            lines: list[Part] = [*self.warning_lines(), *self.notes]
            if display.verbose:
                lines += self.all_details()
            elif hint and (self.details or any(table.details for table in self.tables)):
                lines.append(Dim(for_caller(self.hint() if callable(self.hint) else self.hint)))
            blocks.append(lines)
        return [part for block in blocks if block for part in ("", *block)][1:]

    def all_details(self) -> Sequence[str]:
        """Return the details, computed if need be."""
        return self.details() if callable(self.details) else self.details

    def definitions(self) -> list[str]:
        """Return the details and the methods paragraph, for formats that go into papers."""
        return [*self.all_details(), *([self.methods()] if self.methods else [])]


class DisplayOptions(TypedDict, total=False):
    """Keyword arguments of the methods that show a result; `Display` explains each."""

    verbose: bool
    quiet: bool
    per_query: bool
    sort: str | Measure | None
    decimals: int | None
    percent: bool
    caption: str | None
    label: str | None
    width: int | None


def _help(text: str) -> dict[str, str]:
    """Return the metadata of an option, whose help the command line shows too."""
    return {"help": text}


@dataclass(frozen=True)
class Display:
    """Options for showing a result."""

    verbose: bool = field(
        default=False, metadata=_help("Show all columns and sentences, such as definitions.")
    )
    quiet: bool = field(
        default=False, metadata=_help("Show only the answer and the tables, without warnings.")
    )
    per_query: bool = field(default=False, metadata=_help("Show the value of every query."))
    sort: str | Measure | None = field(
        default=None, metadata=_help("Order runs by this measure, best first.")
    )
    decimals: int | None = field(
        default=None, metadata=_help("Show N decimals, by default 4, or 2 in percentages.")
    )
    percent: bool = field(
        default=False, metadata=_help("Show measures between 0 and 1 in percent.")
    )
    caption: str | None = field(default=None, metadata=_help("Set the caption of a LaTeX table."))
    label: str | None = field(
        default=None, metadata=_help("Set the key that LaTeX refers to the table by.")
    )
    width: int | None = field(default=None, metadata=_help("Wrap text to N columns."))

    def __post_init__(self) -> None:
        for option in fields(self):
            value = getattr(self, option.name)
            if value is not option.default and option.name in OPTIONS:
                object.__setattr__(self, option.name, OPTIONS[option.name](option.name, value))
        if self.verbose and self.quiet:
            raise InputError("verbose and quiet exclude each other; give one of them.")


DISPLAY_NAMES = tuple(option.name for option in fields(Display))
DATA_OPTIONS = frozenset({"per_query", "sort"})
"""Options that select and order numbers, so that `to_dict` and `to_frame` take them too."""
NUMBER_OPTIONS = DATA_OPTIONS | {"decimals", "percent"}
"""Options that only some results have: those named in their `DISPLAY`."""
AMOUNT_OPTIONS = frozenset({"verbose", "quiet"})
"""Options that every result and every format accepts."""
FORMAT_OPTIONS: dict[str, frozenset[str]] = {
    "to_text": NUMBER_OPTIONS | {"width"},
    "to_markdown": NUMBER_OPTIONS,
    "to_html": NUMBER_OPTIONS,
    "to_latex": NUMBER_OPTIONS | {"caption", "label"},
    "to_csv": DATA_OPTIONS,
    "to_json": DATA_OPTIONS,
    "to_trec": DATA_OPTIONS,
    "to_frame": DATA_OPTIONS,
}
"""Options of each format, by the method that makes it; other formats take none."""


# -- text


GAP = 2
"""Spaces between columns."""
NARROWEST = 16
"""A column of words is not made narrower than this many characters."""
ABBREVIATIONS = {
    "wins/ties/losses": "W/T/L",
    "confidence interval": "CI",
    "interval": "CI",
    "simultaneous": "sim.",
    "difference": "diff.",
    "differences": "diffs",
    "corrected": "corr.",
    "detectable": "detect.",
    "against": "vs",
    "baseline": "base",
    "allowed": "allow.",
    "judgements": "judgem.",
    "relevant": "rel.",
    "equivalent": "equiv.",
}
"""Short forms of words in headers, used where a table is too wide."""
_ABBREVIATED = re.compile(rf"(?<!\S)({'|'.join(map(re.escape, ABBREVIATIONS))})(?!\S)")


def text_width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    return sum(
        2 if east_asian_width(letter) in "WF" else 1
        for letter in text
        if category(letter) not in ("Mn", "Me", "Cf")
    )


_WORDS = re.compile(r"[^\s(]+\([^()]*\)\S*|\S+")
"""Words; the parameters of a measure, such as nDCG(gain=exp, rel=2)@10, belong to its name."""


def wrap_words(text: str, width: int) -> list[str]:
    """Break a text at spaces only; the lines after an indented first line are indented further."""
    if text_width(text) <= width:
        return [text]
    words = _WORDS.findall(text)
    start = text[: len(text) - len(text.lstrip())]
    lines = [start + words[0]] if words else [""]
    further = start + " " * 2 if start else ""
    for word in words[1:]:
        if text_width(lines[-1]) + 1 + text_width(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(further + word)
    return lines


def text_lines(
    table: Table, width: int | None = None, style: Callable[[str, str], str] | None = None
) -> list[str]:
    """Lay a table out in lines of at most `width` columns.

    Names are never cut and columns never dropped. A table that is too wide has its headers and
    words wrapped at spaces, then its headers abbreviated. If that does not suffice it is turned on
    its side: a line for each column.
    Only a name that is longer than the width exceeds it. `style` marks a text, given its kind
    ("header" or "best"), for a terminal.
    """
    header, *rows = [list(map(readable, row)) for row in (table.header, *table.rows)]
    layout = _Layout(table, header, rows, style)
    title = readable(table.title)
    lines = [] if not title else [title] if width is None else wrap_words(title, width)
    if width is None or layout.natural_width() <= width:
        return lines + layout.lines(layout.natural())
    short = _Layout(table, [_abbreviate(name) for name in header], rows, layout.style)
    for attempt in (layout, short):
        widths = attempt.squeezed(width)
        if widths is not None:
            return lines + attempt.lines(widths)
    return lines + (layout if layout.fits_sideways(width) else short).sideways(width)


def _abbreviate(name: str) -> str:
    return _ABBREVIATED.sub(lambda match: ABBREVIATIONS[match[0]], name)


@dataclass(eq=False, repr=False)
class _Layout:
    """Cells of a table, ready to be measured and set."""

    table: Table
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    style: Callable[[str, str], str] | None

    def natural(self) -> list[int]:
        columns = zip(self.header, *self.rows, strict=True)
        return [max(map(text_width, column)) for column in columns]

    def natural_width(self) -> int:
        return _total(self.natural())

    def squeezed(self, width: int) -> list[int] | None:
        """Return column widths that fit, with words wrapped at spaces; None if nothing fits."""
        natural, least = self.natural(), []
        for at, name in enumerate(self.header):
            cells = [row[at] for row in self.rows]
            narrow = _longest_word([name])
            if self.table.header[at] in self.table.words:
                narrow = max(narrow, _longest_word(cells), NARROWEST)
            else:
                narrow = max([narrow, *map(text_width, cells)])
            least.append(min(natural[at], narrow))
        spare = width - _total(least)
        if spare < 0:
            return None
        wanting = [wide - narrow for wide, narrow in zip(natural, least, strict=True)]
        order = sorted(range(len(least)), key=wanting.__getitem__)
        for place, at in enumerate(order):  # columns that want little get all of it
            more = min(wanting[at], spare // (len(order) - place))
            least[at] += more
            spare -= more
        return least

    def lines(self, widths: Sequence[int]) -> list[str]:
        right = set(self.table.right)
        heads = [wrap_words(name, wide) for name, wide in zip(self.header, widths, strict=True)]
        lines = self._wrapped(heads, widths, right, ["header"] * len(widths))
        for cells, source in zip(self.rows, self.table.rows, strict=True):
            kinds = ["best" if isinstance(cell, Bold) else "" for cell in source]
            if all(text_width(cell) <= wide for cell, wide in zip(cells, widths, strict=True)):
                lines.append(self._line(cells, widths, right, kinds))
                continue
            wrapped = [wrap_words(cell, wide) for cell, wide in zip(cells, widths, strict=True)]
            lines += self._wrapped(wrapped, widths, right, kinds)
        return lines

    def _wrapped(
        self,
        cells: Sequence[Sequence[str]],
        widths: Sequence[int],
        right: Collection[int],
        kinds: Sequence[str],
    ) -> list[str]:
        """Return the lines of a row whose cells are lists of lines."""
        return [
            self._line(line, widths, right, kinds) for line in zip_longest(*cells, fillvalue="")
        ]

    def _line(
        self,
        cells: Sequence[str],
        widths: Sequence[int],
        right: Collection[int],
        kinds: Sequence[str],
    ) -> str:
        texts = []
        for at, (cell, wide, kind) in enumerate(zip(cells, widths, kinds, strict=True)):
            padding = " " * (wide - text_width(cell))
            shown = self.style(cell, kind) if self.style and kind and cell else cell
            texts.append(padding + shown if at in right else shown + padding)
        return (" " * GAP).join(texts).rstrip()

    def _sides(self) -> tuple[int, int]:
        """Return the widths of the longest header and of the longest cell."""
        cells = (text_width(cell) for row in self.rows for cell in row)
        return max(map(text_width, self.header)), max(cells, default=0)

    def fits_sideways(self, width: int) -> bool:
        return sum(self._sides()) + GAP <= width

    def sideways(self, width: int) -> list[str]:
        """Return a line for each column; as many rows side by side as fit."""
        names, cells = self._sides()
        beside = (width - names) // (cells + GAP)
        if beside < 1:
            beside, names = 1, min(names, max(_longest_word(self.header), width // 3))
        lines: list[str] = []
        for start in range(0, len(self.rows), beside):
            lines += [""] if lines else []
            rows = self.rows[start : start + beside]
            originals = self.table.rows[start : start + beside]
            space = [max(map(text_width, row)) for row in rows]
            if beside == 1:
                space = [max(min(space[0], width - names - GAP), 1)]
            right = range(1, 1 + len(rows)) if beside > 1 else ()
            for at, name in enumerate(self.header):
                kinds = ["header", *("best" * isinstance(row[at], Bold) for row in originals)]
                values = [wrap_words(row[at], wide) for row, wide in zip(rows, space, strict=True)]
                lines += self._wrapped(
                    [wrap_words(name, names), *values], [names, *space], right, kinds
                )
        return lines


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _longest_word(texts: Iterable[str]) -> int:
    return max((text_width(word) for text in texts for word in _WORDS.findall(text)), default=0)


def terminal_width() -> int:
    """Return the width of the terminal, 80 without one."""
    stdout = sys.__stdout__
    if "COLUMNS" not in os.environ and not (stdout and stdout.isatty()):
        return 80  # shutil loads compression libraries, 5 % of the time of `import numpy`
    from shutil import get_terminal_size

    return get_terminal_size().columns


def render_text(document: Document, display: Display) -> str:
    """Return a document in plain text."""
    lines: list[str] = []
    for part in document.parts(display):
        if isinstance(part, Table):
            lines += text_lines(part, display.width)
        else:
            line = readable(part)
            lines += [line] if display.width is None else wrap_words(line, display.width)
    return "\n".join(lines)


# -- Markdown, LaTeX, HTML, CSV

DETAILS = "Definitions and notes"


def render_markdown(document: Document, display: Display) -> str:
    r"""Return a document in Markdown: the answer, tables, warnings, notes; details folded."""
    blocks = [
        f"```math\n{text.latex}\n```" if isinstance(text, Formula) else markdown(text)
        for text in document.answer
    ]
    for table in document.tables:
        header, *rows = ([markdown(cell) for cell in row] for row in (table.header, *table.rows))
        lines = markdown_table(header, rows, right=table.right)
        if table.folded:
            summary = f"<details><summary>{html(table.title)}</summary>"
            blocks += [summary, lines, "</details>"]
        else:
            blocks += [f"**{markdown(table.title)}**", lines] if table.title else [lines]
    if not display.quiet:
        blocks += [f"**Warning: {markdown(text)}**" for text in document.warnings]
        blocks.append(_bullets(document.notes))
        details = _bullets(document.definitions())
        if details and not display.verbose:
            blocks += [f"<details><summary>{DETAILS}</summary>", details, "</details>"]
        else:
            blocks.append(details)
    return "\n\n".join(filter(None, blocks)) + "\n"


def _bullets(texts: Iterable[str]) -> str:
    return "\n".join(f"- {markdown(text)}" for text in texts)


def render_latex(document: Document, display: Display, footnotes: Sequence[str] = ()) -> str:
    r"""Return booktabs tabulars, with sentences as comments and footnotes below the first."""
    lines = []
    if not display.quiet:
        for text in [*document.sentences(), *([document.methods()] if document.methods else [])]:
            lines += [f"% {line}" for line in wrap_words(visible(text), 118)]
    for at, table in enumerate(document.tables):
        tabular = latex_table(
            table.header,
            table.rows,
            right=table.right,
            notes=[] if at or display.quiet else footnotes,
            caption=None if at else display.caption,
            label=None if at else display.label,
        )
        lines.append(f"\n{tabular}" if at else tabular)
    return "\n".join(lines) + "\n"


def render_html(document: Document, display: Display) -> str:
    """Return a document in HTML for notebooks, with details folded."""
    blocks = [
        f"<p>{html(text) if at else f'<b>{html(text)}</b>'}</p>"
        for at, text in enumerate(document.answer)
    ]
    for table in document.tables:
        shown = html_table_of(table)
        if table.folded:
            shown = f"<details><summary>{html(table.title)}</summary>{shown}</details>"
        elif table.title:
            shown = f"<p><b>{html(table.title)}</b></p>{shown}"
        blocks.append(shown)
    if not display.quiet:
        blocks += [f"<p><b>{html(text)}</b></p>" for text in document.warning_lines()]
        items = "".join(f"<li>{html(text)}</li>" for text in document.notes)
        blocks += [f"<ul>{items}</ul>"] if items else []
        details = html_folded(DETAILS.lower(), document.definitions())
        blocks.append(
            details.replace("<details>", "<details open>") if display.verbose else details
        )
    return "".join(blocks)


def html_table_of(table: Table) -> str:
    """Return a table in HTML, with its tooltips."""
    right = set(table.right)

    def line(cells: Sequence[str], tag: str) -> str:
        shown = []
        for at, cell in enumerate(cells):
            tip = table.tips.get(cell, str)() if tag == "th" or at not in right else ""
            shown.append(html_cell(cell, tag, left=at not in right, title=tip))
        return f"<tr>{''.join(shown)}</tr>"

    body = "".join(line(row, "td") for row in table.rows)
    return f"<table><thead>{line(table.header, 'th')}</thead><tbody>{body}</tbody></table>"


FORMULA = "^'*[=+\\-@\t\r＝＋－＠]"
"""Start of a text that a spreadsheet computes, or that was made harmless before."""
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


def csv_of(frame: pl.DataFrame) -> str:
    """Return a table as CSV in which no text is taken for a formula: an apostrophe precedes it.

    Removing one apostrophe before ``= + - @`` gives the original texts. Ids that are numbers stay
    as they are.
    """
    import polars as pl

    text = pl.col(pl.String)
    harmless = ~text.str.contains(FORMULA) | text.str.contains(NUMBER)
    safe = frame.with_columns(pl.when(harmless).then(text).otherwise("'" + text))
    # To readers that know comments, an unquoted # would begin one.
    marked = safe.select(pl.any_horizontal(text.str.contains("#", literal=True).any()))
    return safe.write_csv(quote_style="non_numeric" if marked.item() else "necessary")


# -- results

Pair = TypeVar("Pair")


def plain_value(value: Any) -> Any:
    """Return a value as JSON can hold it, with everything inside it."""
    if isinstance(value, float):
        return plain(value)
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {key: plain_value(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list | frozenset):
        return [plain_value(inner) for inner in value]
    return value


def find_pair(
    pairs: Mapping[tuple[str, str], Pair], kind: str, one: str | None, other: str | None
) -> Pair:
    """Return the value of two names in any order; None for both if there is only one pair."""
    known = list(dict.fromkeys(name for names in pairs for name in names))
    wanted = [name for name in (one, other) if name is not None]
    for name in wanted:
        if not isinstance(name, str) or name not in known:
            raise InputError(f"unknown {kind} {quoted(name)}; the {kind}s are {listed(known)}.")
    found = [pair for names, pair in pairs.items() if {*wanted} <= {*names}]
    if len(found) != 1 or len({*wanted}) < len(wanted):
        choices = ", ".join(map(" and ".join, pairs))
        raise InputError(f"name two of the {kind}s: {choices}.")
    return found[0]


class ResultPart:
    """Base of dataclasses that are parts of results: `to_dict` holds all their fields."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {item.name: plain_value(getattr(self, item.name)) for item in fields(self)}  # type: ignore[arg-type]


class Result:
    """Base of all results. The methods mean the same for each of them.

    Methods take the options of `Display` as keyword arguments, such as `verbose`, `quiet`, `width`,
    and `caption` and `label` in LaTeX; one without a meaning in the format is an error.

    A subclass is a dataclass declared with `repr=False` and implements `to_dict`, `to_frame` and
    `document`. `DISPLAY` names the options of `Display` that it supports beside the common ones.
    """

    SAVED_AS: ClassVar[dict[str, str]] = {
        ".json": "to_json",
        ".csv": "to_csv",
        ".md": "to_markdown",
        ".html": "to_html",
        ".txt": "to_text",
    }
    """Method for each file extension that `save` knows besides .parquet. A name without a dot is
    a format of the command line without an extension."""
    DISPLAY: ClassVar[frozenset[str]] = frozenset()
    """The options among per_query, sort, decimals and percent that this result supports."""

    def document(self, display: Display) -> Document:
        """Return everything the result shows.

        Parameters
        ----------
        display : Display
            How it is shown.
        """
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values that JSON can hold.

        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> found.to_dict()["runs"][0]["scores"]
        {'RR': 0.5}
        """
        raise NotImplementedError

    def to_frame(self) -> Frame:
        """Return the numbers as a polars table.

        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> found.to_frame().rows()
        [('run', 0.5)]
        """
        raise NotImplementedError

    def tables(self, **display: Unpack[DisplayOptions]) -> list[Table]:
        """Return the tables that people see.

        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> found.tables()[0].rows
        [['run', '0.5000']]
        """
        return list(self._document("to_text", display)[0].tables)

    def sentences(self, **display: Unpack[DisplayOptions]) -> list[str]:
        """Return all sentences: warnings, the answer, notes and definitions.

        >>> from judged import evaluate
        >>> len(evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").sentences()) > 1
        True
        """
        return self._document("to_text", display)[0].sentences()

    def warnings(self, **display: Unpack[DisplayOptions]) -> list[str]:
        """Return what could mislead readers of the numbers, most serious first.

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").warnings()
        []
        """
        return list(self._document("to_text", display)[0].warnings)

    def _grave(self) -> list[str]:
        """Return the warnings that code must get even if it prints nothing."""
        return self.warnings()

    def parts(self, **display: Unpack[DisplayOptions]) -> list[Part]:
        """Return lines and tables in the order in which text shows them.

        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> len(found.parts(quiet=True))
        1
        """
        document, options = self._document("to_text", display)
        return document.parts(options)

    def to_text(self, **display: Unpack[DisplayOptions]) -> str:
        """Return the answer, the tables, the warnings and the notes in plain text.

        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> found.to_text().splitlines()[1]
        'run  0.5000'
        """
        return render_text(*self._document("to_text", display))

    def to_markdown(self, **display: Unpack[DisplayOptions]) -> str:
        """Return the answer, the tables and the sentences in Markdown.

        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> found.to_markdown().splitlines()[0]
        '| run | RR |'
        """
        return render_markdown(*self._document("to_markdown", display))

    def to_latex(self, **display: Unpack[DisplayOptions]) -> str:
        r"""Return the tables in LaTeX (booktabs), with serious warnings below the first.

        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> found.to_latex().splitlines()[-1]
        '\\end{tabular}'
        """
        footnotes = [f"Warning: {text}" for text in self._grave()]
        return render_latex(*self._document("to_latex", display), footnotes)

    def to_html(self, **display: Unpack[DisplayOptions]) -> str:
        """Return the tables and sentences in HTML, as a notebook shows them.

        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> found.to_html().startswith("<table>")
        True
        """
        return render_html(*self._document("to_html", display))

    def to_csv(self, **display: Unpack[DisplayOptions]) -> str:
        """Return `to_frame` as CSV that spreadsheets can open.

        An apostrophe precedes texts that a spreadsheet would take for a formula. Parquet and JSON
        hold them unchanged. Warnings stand below the table in lines that begin with "#", unless
        `quiet`.

        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> found.to_csv()
        'run,RR\\nrun,0.5\\n'
        """
        options = self._display("to_csv", display)
        numbers = csv_of(self.to_frame(**self._data_options(options)))
        return numbers if options.quiet else numbers + self._comments()

    def _comments(self) -> str:
        """Return serious warnings as comment lines, without commas and quotation marks."""
        lines = (f"# warning: {visible(text)}\n" for text in self._grave())
        return "".join(line.replace(",", ";").replace('"', "'") for line in lines)

    def to_json(self, **display: Unpack[DisplayOptions]) -> str:
        """Return `to_dict` as JSON.

        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> found.to_json().startswith("{")
        True
        """
        options = self._display("to_json", display)
        return to_json(self.to_dict(**self._data_options(options)))

    def save(self, path: str | os.PathLike[str], **display: Unpack[DisplayOptions]) -> None:
        """Write the result to a file, whole or not at all.

        Parameters
        ----------
        path : str or os.PathLike
            Where to write. The file extension decides the format: .json, .csv, .md, .html, .txt,
            .parquet, and others that the result has.
        **display : Unpack[DisplayOptions]
            Options of `Display` that have a meaning in the format.

        >>> import tempfile, pathlib
        >>> from judged import evaluate
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").save(path)
        >>> path.read_text()
        'run,RR\\nrun,0.5\\n'
        """
        self._save(path, **display)

    def _save(self, path: str | os.PathLike[str], **display: Any) -> None:
        check_target(path)
        extension = checked_ending(path, endings(self.SAVED_AS))
        content = self._render(self.SAVED_AS.get(extension, "to_frame"), display, str(path))
        if isinstance(content, str):
            content = html_page(content) if extension == ".html" else content
            content = (content.removesuffix("\n") + "\n").encode()
        with replacing(path) as temporary:
            if extension == ".parquet":
                content.write_parquet(temporary, metadata=self._metadata())
            else:
                temporary.write_bytes(content)

    def _render(self, method: str, display: Mapping[str, Any], where: str) -> Any:
        """Return what a method makes of its options; `where` names the format in errors."""
        make = getattr(self, method)
        options = self._display(method, display, where)
        if method == "to_frame":
            return make(**self._data_options(options))
        if method not in FORMAT_OPTIONS:
            return make()
        known = FORMAT_OPTIONS[method] | AMOUNT_OPTIONS
        return make(**{name: value for name, value in display.items() if name in known})

    def _display(self, method: str, display: Mapping[str, Any], where: str = "") -> Display:
        """Return the options as one object; an option without a meaning is an error."""
        for name, value in display.items():
            if name not in DISPLAY_NAMES:
                hint = did_you_mean(name, DISPLAY_NAMES)
                raise TypeError(f"{method}() got an unexpected keyword argument {name!r}{hint}")
            known = name in FORMAT_OPTIONS.get(method, ())
            known &= name in self.DISPLAY or name not in NUMBER_OPTIONS
            if not (known or name in AMOUNT_OPTIONS or value is None or value is False):
                place = where or method.removeprefix("to_")
                raise OutputError(f"{name} has no meaning in {place}; leave it out.")
        return Display(**display)

    def _document(self, method: str, display: Mapping[str, Any]) -> tuple[Document, Display]:
        options = self._display(method, display)
        return self.document(options), options

    def _data_options(self, display: Display) -> dict[str, Any]:
        return {name: getattr(display, name) for name in DATA_OPTIONS & self.DISPLAY}

    def _metadata(self) -> dict[str, str]:
        """Return what a Parquet file keeps beside the table."""
        warnings = self.warnings()
        return {"warnings": to_json(warnings)} if warnings else {}

    def __repr__(self) -> str:
        return self.to_text(width=terminal_width())

    def _repr_html_(self) -> str:
        return self.to_html()


EVALUATION_SAVED_AS = {
    **Result.SAVED_AS,
    ".tex": "to_latex",
    ".trec": "to_trec",
    ".rankings": "to_rankings",
    "metrics": "to_metrics",
}
"""Method for each file extension of an evaluation; the command line lists them before it loads
the class."""


def endings(saved_as: Mapping[str, str]) -> list[str]:
    """Return the file extensions that a result can be saved with."""
    return [*(name for name in saved_as if name.startswith(".")), ".parquet"]


class RunResult(Result):
    """Result whose `to_frame` is a run (query, item, score, rank), best item first."""

    SAVED_AS: ClassVar[dict[str, str]] = {
        ending: method for ending, method in Result.SAVED_AS.items() if ending != ".txt"
    }
    TREC: ClassVar[tuple[str, ...]] = ("", ".run", ".trec", ".txt")  # extensions of TREC text
    TREC_TEXT: ClassVar[str] = "a TREC run"

    @classmethod
    def endings(cls) -> list[str]:
        """Return the file extensions that `save` knows; a file without one is TREC text too."""
        return [*cls.TREC[1:], *cls.SAVED_AS, ".parquet"]

    def to_csv(self, **display: Unpack[DisplayOptions]) -> str:
        """Return `to_frame` as CSV. This is a run, so ids are written unchanged.

        >>> import judged
        >>> found = judged.Embeddings([[1.0]], [[2.0]], item_ids=["=a"]).top_k(1)
        >>> print(found.to_csv().splitlines()[1])
        0,=a,1.0,1
        """
        self._display("to_csv", display)
        return self.to_frame().write_csv()

    def _save_run(self, path: str | os.PathLike[str], tag: str) -> None:
        """Write the run; `tag` fills the last column of TREC text."""
        check_run_target(path, self.endings())
        target = Path(path)
        ending = target.suffix.lower()
        formats = {".csv": "CSV", ".parquet": "Parquet", ".json": "JSON"}
        formats |= dict.fromkeys(self.TREC, self.TREC_TEXT)
        if ending in formats:
            self._check_readable(formats[ending], target, tag if ending in self.TREC else None)
        if ending in self.TREC:
            with replacing(target) as temporary:
                self._trec_lines(tag).write_csv(
                    temporary, separator=" ", include_header=False, quote_style="never"
                )
        else:
            self._save(target)

    def _check_readable(self, format: str, target: Path, tag: str | None) -> None:
        """Raise an error if a format would not give back the same ids."""
        from judged.inputs.trec import refuse_ids

        refuse_ids(self.to_frame(), format, target, tag)

    def _trec_lines(self, tag: str) -> pl.DataFrame:
        import polars as pl

        return self.to_frame().select(
            "query", pl.lit("Q0").alias("Q0"), "item", "rank", "score", pl.lit(tag).alias("tag")
        )


def check_run_target(path: str | os.PathLike[str], endings: list[str]) -> None:
    """Check that a run can be written to a path, before any work is done."""
    check_target(path)
    target = Path(path)
    ending = target.suffix.lower()
    if ending and ending not in endings:
        raise OutputError(
            f"{target}: the ending says the format, and must be {listed(endings, 'or')}."
        )
