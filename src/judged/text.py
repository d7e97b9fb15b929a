"""Text for people and for programs: numbers, counts, tables in plain text and Markdown, JSON."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from typing import Any, Self

from judged.errors import MAX_WORD, for_caller, shortened


class Dim(str):
    """A line that says where to find more; a terminal shows it dim, and programs never get it."""

    __slots__ = ()


class WarningLine(str):
    """A line with a warning; a terminal shows it in yellow."""

    __slots__ = ()


class Bold(str):
    """A cell that stands out in its column, in bold wherever there is bold."""

    __slots__ = ()


class Left(str):
    """The head of a column that begins at the left, as words do, and is never broken into lines."""

    __slots__ = ()


class Formula(str):
    """A formula in plain text that carries its LaTeX, which Markdown shows."""

    latex: str

    def __new__(cls, text: str, latex: str) -> Self:
        made = super().__new__(cls, text)
        made.latex = latex
        return made


class Latex(str):
    """Text that is LaTeX already."""

    __slots__ = ()


DECIMALS = 4
"""Default number of decimals."""


def shown(value: float | None, decimals: int = DECIMALS) -> str:
    """Format a number with four decimals, or as many as given; counts have none.

    >>> shown(0.25), shown(1234.0), shown(None), shown(math.inf), shown(2 / 3, 2), shown(-1e-9)
    ('0.2500', '1,234', '–', '∞', '0.67', '0.0000')
    """
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if abs(value) >= 100 and float(value).is_integer():
        return f"{value:,.0f}"
    text = f"{value:.{decimals}f}"
    return text if text.strip("-0.") else text.removeprefix("-")


def percent(value: float | None, decimals: int = DECIMALS - 2) -> str:
    """Format a share in percent, without the sign.

    >>> percent(2 / 3), percent(1.0), percent(None), percent(0.125, 0)
    ('66.67', '100.00', '–', '12')
    """
    from decimal import Decimal  # a product of floats would round once more

    if value is None or not math.isfinite(value):
        return shown(value)
    return f"{Decimal(value).scaleb(2):.{decimals}f}"


def plain(value: float | None) -> float | str | None:
    """Return a number for JSON, which has neither NaN nor infinity."""
    if value is None or math.isnan(value):
        return None
    return value if math.isfinite(value) else ("Infinity" if value > 0 else "-Infinity")


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun.

    >>> counted(1, "query", "queries"), counted(2500, "query", "queries"), counted(2, "line")
    ('1 query', '2,500 queries', '2 lines')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def few(names: Sequence[str], most: int = 3) -> str:
    """Return the first of some names.

    >>> few(["a", "b", "c", "d"]), few(["a"])
    ('a, b, c, …', 'a')
    """
    shown = [name if len(name) <= 80 else f"{name[:80]}…" for name in names[:most]]
    return ", ".join(shown) + (", …" if len(names) > most else "")


def listed(words: Sequence[str], last: str = "and") -> str:
    """Return words as an enumeration.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"], "or")
    ('a', 'a and b', 'a, b or c')
    """
    *most, end = words
    return f"{', '.join(most)} {last} {end}" if most else end


_HIDDEN = (
    # Controls of C0 and C1, what cannot be seen, what turns the direction of text around, line and
    # paragraph separators, halves of pairs, and what is no character at all.
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str, *, keep: str = "") -> str:
    r"""Spell out characters that steer terminals or hide text, except those in `keep`.

    >>> print(visible("a\x1b[2Jb\n"), visible("\u202eb\n", keep="\n"), end="")
    a\x1b[2Jb\n \u202eb
    """
    if text.isprintable():  # which nothing hidden is
        return str(text)
    return re.sub(_HIDDEN, lambda found: found[0] if found[0] in keep else spelled(found[0]), text)


def readable(text: str, *, keep: str = "") -> str:
    """Return `visible` text with very long ids cut.

    >>> len(readable("x" * 10**5))
    81
    """
    if len(text) <= MAX_WORD and text.isprintable():
        return str(text)
    return visible(shortened(text), keep=keep)


def spelled(letter: str) -> str:
    """Spell out a character as in source code; a byte that is not text as a byte."""
    byte = ord(letter) - 0xDC00
    return f"\\x{byte:02x}" if 0x80 <= byte <= 0xFF else letter.encode("unicode_escape").decode()


def quote(text: str | bytes, limit: int = 80) -> str:
    """Quote text from a file, made visible and shortened to one line.

    >>> print(quote(b"a\\nb"), quote("a long line", 6))
    "a\\nb" "a lon…"
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8", "backslashreplace")
    text = visible(text[: limit + 1], keep="\t")
    return f'"{text}"' if len(text) <= limit else f'"{text[: limit - 1]}…"'


_MARKDOWN = r"[\\`*<&|~]|(?<![^\W_])_|_(?![^\W_])|](?=[\[(:])"


def markdown(text: str) -> str:
    r"""Escape text for one line of Markdown.

    >>> print(markdown("a|b <i> [x](y) num_rel"))
    a\|b \<i> [x\](y) num_rel
    """
    found = re.sub(_MARKDOWN, r"\\\g<0>", readable(text))
    return f"**{found}**" if isinstance(text, Bold) else found


_LATEX = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "–": r"\textendash{}",
    "−": r"$-$",
    "…": r"\dots{}",
    "∞": r"$\infty$",
    # After the end of a row these would be taken for what it may be followed by.
    **{sign: f"{{{sign}}}" for sign in "[]*"},
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


_LIGATURE = "-(?=-)|`(?=`)|'(?=')|[?!](?=`)"
"""Signs that LaTeX would make one with the next."""


def latex(text: str) -> str:
    r"""Escape text for one line of LaTeX.

    >>> print(latex("a_b^^5c --sort"))
    a\_b\textasciicircum{}\textasciicircum{}5c -{}-sort
    """
    if isinstance(text, Latex):
        return str(text)
    found = "".join(_LATEX.get(letter, letter) for letter in visible(text))
    found = re.sub(_LIGATURE, r"\g<0>{}", found)
    return rf"\textbf{{{found}}}" if isinstance(text, Bold) else found


def html(text: str) -> str:
    """Escape text for elements and attributes of HTML.

    >>> html("<i>'a' & b")
    '&lt;i&gt;&#x27;a&#x27; &amp; b'
    """
    from html import escape  # its table of entities takes longer to load than all of this

    found = escape(visible(text, keep="\n\t"))
    return f"<b>{found}</b>" if isinstance(text, Bold) else found


def script(given: Any) -> str:
    r"""Return a value as JSON that is safe inside the script of a page.

    >>> print(script(["</script>", "<!--"]))
    ["\u003c/script\u003e", "\u003c!--"]
    """
    import json

    found = json.dumps(given, ensure_ascii=False, allow_nan=False)
    return _escaped(found).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _escaped(found: str) -> str:
    """Escape hidden characters of JSON."""
    if found.replace("\n", "").isprintable():
        return found
    return re.sub(_HIDDEN, lambda each: each[0] if each[0] == "\n" else _utf16(each[0]), found)


def _utf16(letter: str) -> str:
    units = letter.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def aligned(rows: Sequence[Sequence[str]], *, right: Collection[int] = ()) -> list[str]:
    """Align cells in columns; those in `right` to the right.

    >>> aligned([("run", "AP"), ("mine", "0.5")], right=[1])
    ['run    AP', 'mine  0.5']
    """
    rows = [[readable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(
            cell.rjust(width) if at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
    return [line.rstrip() for line in lines]


_BAR = r"(?<!\\)\|"


def markdown_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, right: Collection[int] = ()
) -> str:
    r"""Return a table of Markdown cells; columns in `right` are right-aligned.

    >>> print(markdown_table(["run", "AP"], [["`a|b`", "0.5"]], right=[1]))
    | run | AP |
    | --- | ---: |
    | `a\|b` | 0.5 |
    """
    marks = ["---:" if at in right else "---" for at in range(len(header))]
    return "\n".join(
        "| " + " | ".join(re.sub(_BAR, r"\\|", readable(cell)) for cell in row) + " |"
        for row in [header, marks, *rows]
    )


def latex_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Collection[int] = (),
    notes: Sequence[str] = (),
    caption: str | None = None,
    label: str | None = None,
) -> str:
    r"""Return a booktabs tabular with notes; a caption or a label makes it a float.

    >>> print(latex_table(["run", "AP"], [["a_b", "0.5"]], right=[1]).splitlines()[4])
    a\_b & 0.5 \\
    """

    def line(row: Sequence[str]) -> str:
        return " & ".join(map(latex, row)) + r" \\"

    columns = "".join("r" if at in right else "l" for at in range(len(header)))
    body = [r"\toprule", line(header), r"\midrule", *map(line, rows), r"\bottomrule"]
    lines = [rf"\begin{{tabular}}{{{columns}}}", *body, r"\end{tabular}"]
    lines += [
        rf"\par\smallskip\parbox{{\linewidth}}{{\footnotesize {latex(note)}}}" for note in notes
    ]
    if caption is None and label is None:
        return "\n".join(lines)
    above = [
        *([] if caption is None else [rf"\caption{{{latex(caption)}}}"]),
        *([] if label is None else [rf"\label{{{label}}}"]),
    ]
    return "\n".join([r"\begin{table}", r"\centering", *above, *lines, r"\end{table}"])


SHORT = 24
"""Length up to which a cell is never wrapped, such as a name or a number with its interval.
What is longer is text."""


def html_cell(text: str, tag: str = "td", *, left: bool = False, title: str = "") -> str:
    """Return an HTML cell for notebooks, which right-align and break cells by default.

    >>> html_cell("0.5000"), html_cell("AP", "th", left=True)
    ('<td>0.5000</td>', '<th style="text-align:left">AP</th>')
    >>> html_cell("0.1 … 0.9", title="where it may lie")
    '<td title="where it may lie" style="white-space:nowrap">0.1 … 0.9</td>'
    """
    whole = tag == "td" and len(text) <= SHORT and re.search(r"[\s/-]", text)
    style = ";".join(["text-align:left"] * left + ["white-space:nowrap"] * bool(whole))
    said = f' title="{html(title)}"' if title else ""
    said += f' style="{style}"' if style else ""
    shown = type(text)(shortened(text))
    return f"<{tag}{said}>{html(shown)}</{tag}>"


def html_folded(summary: str, lines: Sequence[str]) -> str:
    """Return folded lines in HTML; an empty string without lines.

    >>> html_folded("notes", ["a & b"])
    '<details><summary>notes</summary><ul><li>a &amp; b</li></ul></details>'
    """
    listed = "".join(f"<li>{html(text)}</li>" for text in lines)
    folded = f"<details><summary>{html(summary)}</summary><ul>{listed}</ul></details>"
    return folded if lines else ""


_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>judged</title>
<style>
body { font: 16px/1.4 system-ui, sans-serif; margin: 2em; max-width: 60em; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin-bottom: 1em; }
th, td { padding: 0.2em 1.2em 0.2em 0; text-align: right; }
thead tr { border-bottom: 1px solid; }
</style>
</head>
<body>
"""


def html_page(shown: str) -> str:
    """Return a whole HTML page with its encoding and style."""
    if shown[:15].lower() == "<!doctype html>":
        return shown
    return f"{_PAGE}{shown}\n</body>\n</html>\n"


def to_json(given: Any) -> str:
    """Return indented JSON without NaN, with a final line feed."""
    import json

    return _escaped(json.dumps(given, indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


class Warned(str):
    """A note that could mislead if overlooked; notes of this kind come first."""

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        return super().__new__(cls, for_caller(text))


class WarnedOnce(Warned):
    """A warning with an example; of several such warnings, `merged` keeps the first."""

    __slots__ = ()


class Tallied(str):
    """A note that counts something; `merged` adds up such notes that say the same."""

    number: int
    one: str
    many: str

    def __new__(cls, number: int, one: str, many: str) -> Self:
        words = (one if number == 1 else many).replace("{}", f"{number:,}", 1)
        made = super().__new__(cls, words)
        made.number, made.one, made.many = number, one, many
        return made

    def __getnewargs__(self) -> tuple[int, str, str]:  # type: ignore[override]
        return self.number, self.one, self.many


class TalliedWarning(Tallied, Warned):
    """A warning that counts something."""


def merged(parts: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """Merge the notes of several parts: each once, counts added up.

    >>> skipped = "{} line was skipped.", "{} lines were skipped."
    >>> merged([["A note.", Tallied(1, *skipped)], [Tallied(2, *skipped), "A note."]])
    ('A note.', '3 lines were skipped.')
    """
    found: dict[object, str] = {}
    for part in parts:
        seen: set[object] = set()
        for note in part:
            key: object = note
            if isinstance(note, Tallied):
                key = (type(note), note.one, note.many)
            elif isinstance(note, WarnedOnce):
                key = type(note)
            if key in found and isinstance(note, Tallied) and key not in seen:
                before = found[key]
                assert isinstance(before, Tallied)
                note = type(note)(before.number + note.number, note.one, note.many)
                found[key] = note
            found.setdefault(key, note)
            seen.add(key)
    return tuple(found.values())


def with_source(name: str, notes: Iterable[str]) -> tuple[str, ...]:
    """Put the name of a run or a file before each of its notes; a warning stays one.

    >>> with_source("run", [Tallied(1, "{} line was skipped.", "{} lines were skipped.")])
    ('run: 1 line was skipped.',)
    """
    return tuple(
        Warned(f"{name}: {note}") if isinstance(note, Warned) else f"{name}: {note}"
        for note in notes
    )


def without_counts(notes: Iterable[str]) -> tuple[str, ...]:
    """Return notes with their counts set to 0, because another part brings them.

    >>> skipped = Tallied(2, "{} line was skipped.", "{} lines were skipped.")
    >>> merged([without_counts([skipped]), without_counts([skipped]), [skipped]])
    ('2 lines were skipped.',)
    """
    return tuple(
        type(note)(0, note.one, note.many) if isinstance(note, Tallied) else note for note in notes
    )


@cache
def palette() -> dict[str, tuple[str, str]]:
    """Return the light and the dark colour of each token of pages and charts."""
    from importlib import resources  # loaded by charts and pages only

    styles = resources.files("judged").joinpath("web", "pages", "assets", "styles")
    tokens = styles.joinpath("tokens.css").read_text(encoding="utf-8")
    colours = re.findall(r"--([\w-]+): light-dark\((#\w+), (#\w+)\);", tokens)
    return {name: (light, dark) for name, light, dark in colours}
