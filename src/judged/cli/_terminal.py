"""Results on standard output, and progress on standard error if it is a terminal."""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from judged.inputs.blocks import watched
from judged.results import Table, terminal_width, text_lines, wrap_words
from judged.text import Dim, WarningLine, html_page, readable, spelled, to_json, visible

if TYPE_CHECKING:
    from judged.results import Display, Document, Result


Advance = Callable[[int], None]
STYLES = {"warning": "33", "dim": "2"}
"""Codes of yellow and dim text; headers and the best values are bold."""
# fmt: off
_SUBSTITUTES = {
    "–": "-", "…": "...", "×": "x", "·": ".", "∞": "inf", "≥": ">=", "≤": "<=", "≈": "~",
    "→": "->", "✓": "+", "✗": "x", "Σ": "sum", "√": "sqrt", "−": "-", "’": "'",
}
# fmt: on
"""Substitutes for signs that a terminal's encoding lacks; names are spelled out."""


def prepare_streams() -> None:
    """Let standard streams print any text, and keep files from taking the place of a closed one."""
    codecs.register_error("judged", _substituted)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="judged")
    while (opened := os.open(os.devnull, os.O_RDWR)) < 3:
        pass
    os.close(opened)


def _substituted(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_SUBSTITUTES.get(each) or spelled(each) for each in lacking), error.end


def say(text: str, *, err: bool = False) -> None:
    """Print lines for people, with everything visible and long ids shortened."""
    _write(readable(text, keep="\n") + "\n", sys.stderr if err else sys.stdout)


def hand_over(text: str) -> None:
    """Print text for programs as it is; with everything visible on a terminal."""
    _write(visible(text, keep="\n\t") if _watched(sys.stdout) else text, sys.stdout)


def _write(text: str, stream: TextIO | None) -> None:
    """Write at once, and go on if the reader of a pipe has gone: files may still be written."""
    if stream is not None:
        try:
            stream.write(text)
            stream.flush()
        except BrokenPipeError:
            abandon(stream)


def abandon(stream: TextIO) -> None:
    """Discard the rest, so that what is buffered does not fail again at the end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _watched(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


@contextmanager
def working(what: str, total: int | None = None, unit: str = "queries") -> Iterator[Advance | None]:
    """Show on a terminal that something takes long, and how much of a `total` is done.

    Yield a function of how many more are done, or None without a terminal.
    """
    if not _watched(sys.stderr):
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    # Without markup, because names of files may look like it.
    columns: list[Any] = [TextColumn("{task.description}", markup=False), BarColumn()]
    if total is not None:
        columns += [MofNCompleteColumn(), TextColumn(unit), TimeRemainingColumn()]
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(visible(what), total=total)

        @contextmanager
        def shown(name: str, size: int | None) -> Iterator[Callable[[int], None]]:
            phase = bar.add_task(f"{visible(name)} (MB)", total=size and size / 10**6)
            yield lambda done: bar.update(phase, completed=done // 10**6)
            bar.remove_task(phase)

        with watched(shown):
            yield lambda done: bar.advance(task, done)


DISPLAY = "judged.display"
"""Key under which click's context keeps the display options of the running command."""


def display_options() -> dict[str, Any]:
    """Return the display options of the running command that were given."""
    import click

    options = click.get_current_context().meta.get(DISPLAY, {})
    if options.get("verbose") and options.get("quiet"):
        raise click.UsageError("--verbose and --quiet exclude each other; give one of them.")
    return dict(options)


def deliver(result: Result, form: str | None, output: str | None, **options: Any) -> None:
    """Print a result, or write it to a file, in the requested format or that of the file extension.

    Without a terminal, standard output gets the numbers and standard error the warnings.
    """
    from judged.outputs import write_text

    options |= display_options()
    if output is not None and form is None and Path(output).suffix:
        result._save(output, **options)
        say_warnings(result, **options)
        return
    method = f"to_{form or 'text'}"
    if output is not None:
        text = _text(result._render(method, options, form or "text"))
        text = html_page(text) if form == "html" else text
        write_text(output, text.removesuffix("\n") + "\n")
        say_warnings(result, **options)
    elif method != "to_text":
        hand_over(_text(result._render(method, options, form or "text")).removesuffix("\n") + "\n")
        if not _watched(sys.stdout):
            say_warnings(result, **options)
    else:
        print_document(*result._document("to_text", options))


def print_document(document: Document, display: Display) -> None:
    """Print a document, as wide as the terminal, or 80 columns without one.

    Without a terminal, warnings go to standard error, and sentences are not wrapped, so that
    programs such as grep find them.
    """
    terminal = _watched(sys.stdout)
    is_plain = not terminal or "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"

    def style(text: str, kind: str) -> str:
        return f"\x1b[{STYLES.get(kind, '1')}m{text}\x1b[0m"

    parts = document.parts(display, hint=terminal and _has_verbose())
    width = terminal_width()
    lines: list[str] = []
    apart: list[str] = []
    for part in parts:
        if isinstance(part, Table):
            lines += text_lines(part, width, None if is_plain else style)
        elif terminal:
            kind = {WarningLine: "warning", Dim: "dim"}.get(type(part), "")
            wrapped = wrap_words(readable(part), width)
            lines += [style(line, kind) for line in wrapped] if kind and not is_plain else wrapped
        elif isinstance(part, WarningLine):
            apart.append(part)
        else:
            lines.append(readable(part))
    warnings = "\n".join([*map(partial(readable, keep="\n"), apart), ""])
    _write("\n".join(lines).rstrip("\n") + "\n", sys.stdout)
    _write(warnings, sys.stderr)


def _has_verbose() -> bool:
    """Return whether the running command takes --verbose, which shows the details."""
    import click

    context = click.get_current_context(silent=True)
    return context is None or any(param.name == "verbose" for param in context.command.params)


def _text(made: Any) -> str:
    return made if isinstance(made, str) else to_json(made)


def say_warnings(result: Result, *, quiet: bool = False, **options: Any) -> None:
    """Print the warnings on standard error."""
    for text in [] if quiet else result.warnings():
        say(f"warning: {text}", err=True)
