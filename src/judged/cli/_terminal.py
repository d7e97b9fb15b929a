"""What people see: rich tables on standard output, progress on standard error and only on a
terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, TextIO

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from judged.disagreement import Disagreement
    from judged.evaluation.evaluation import Evaluation
    from judged.explanation import Explanation
    from judged.identification import Identification
    from judged.similarity.record import Training
    from judged.temperature import Study, Sweep


def console() -> Console:
    """Standard output; where it is no terminal, lines are as long as they need to be and hold no
    colours."""
    from rich.console import Console

    watched = _watched(sys.stdout)
    return Console(
        highlight=False, emoji=False, width=None if watched else 10_000, soft_wrap=not watched
    )


def _watched(stream: TextIO | None) -> bool:
    """Whether somebody looks at what is printed there; Python has None for a stream that was closed
    from the start."""
    return stream is not None and stream.isatty()


@contextmanager
def working(what: str) -> Iterator[None]:
    """A spinner while something takes long; silent where nobody watches."""
    if not _watched(sys.stderr):
        yield
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(what)):  # plain: names of files may look like markup
        yield


@contextmanager
def counting(
    what: str, total: int, unit: str = "queries"
) -> Iterator[Callable[[int], None] | None]:
    """A progress bar: a function to be told of each few that are done. None where nobody watches."""
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

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.advance(task, done)


def deliver_evaluation(
    evaluation: Evaluation, form: str | None, output: str | None, *, per_query: bool
) -> None:
    """Print an evaluation, or write it to a file, in the format that was asked for."""
    import click

    from judged.cli._options import chosen_format
    from judged.evaluation.exports import FORMATS
    from judged.outputs import write_text

    chosen = chosen_format(form, output)
    if output is None and chosen == "table":
        show_evaluation(evaluation, per_query=per_query)
        return
    text = getattr(evaluation, FORMATS[chosen])(per_query=per_query).removesuffix("\n") + "\n"
    if output is not None:
        write_text(output, text)
    else:
        click.echo(text, nl=False)


def show_evaluation(evaluation: Evaluation, *, per_query: bool) -> None:
    """The table of an evaluation and the sentences about it."""
    from rich.text import Text

    [(header, rows)] = evaluation.tables(per_query=per_query)
    best = {} if per_query or evaluation.others else _best(evaluation)
    marked = [
        [
            Text(cell, style="bold" if best.get(name) == number else "")
            for name, cell in zip(header, row, strict=True)
        ]
        for number, row in enumerate(rows)
    ]
    names = sum(name in evaluation.WORDS for name in header)
    show_tables([[list(map(Text, header)), *marked]], evaluation.sentences(), names=names)


def show_comparison(comparison: Disagreement) -> None:
    """The definitions of each measure, and what makes them differ."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from judged.disagreement.result import HEADER, assumed, cells, heading, notes

    out = console()
    for compared in comparison.measures:
        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        for name in HEADER:
            table.add_column(name, justify="right" if name == "value" else "left", overflow="fold")
        for row in cells(compared):
            table.add_row(*map(Text, row))
        out.print(heading(compared), markup=False)
        out.print(table)
        for text in notes(compared):
            out.print(text, markup=False)
        out.print()
    out.print(assumed(), markup=False)


def deliver_tables(found: Sweep | Study, form: str | None, output: str | None) -> None:
    """Print a result that is tables and sentences, or write it to a file, in the format that was
    asked for."""
    from judged.cli._options import deliver

    deliver(
        found.to_dict,
        found.__repr__,
        form,
        output,
        as_csv=found.to_csv,
        show=lambda: show_tables(
            [[header, *rows] for header, rows in found.tables()], found.sentences()
        ),
    )


def show_tables(
    tables: Iterable[Sequence[Sequence[str | Text]]],
    sentences: Iterable[str] = (),
    *,
    names: int = 0,
    justify: Literal["left", "right"] = "right",
) -> None:
    """Tables of numbers, heads first in each, and what there is to say about them; a number is
    never broken into two lines.

    The first `names` columns are names, which may be broken. What stands in a cell is plain text,
    never rich's markup: people have brackets in the names of their runs and queries.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    out = console()
    for whole in tables:
        texts = [[cell if isinstance(cell, Text) else Text(cell) for cell in row] for row in whole]
        for heads, *rows in _fitting(texts, out.width, max(names, 1)):
            table = Table(box=SIMPLE_HEAD, pad_edge=False)
            for at, (head, least) in enumerate(zip(heads, _widths([heads, *rows]), strict=True)):
                if at < names:
                    table.add_column(head, justify="left", overflow="fold")
                else:
                    table.add_column(head, justify=justify, min_width=least)
            for row in rows:
                table.add_row(*row)
            out.print(table)
    for sentence in sentences:
        out.print(sentence, markup=False)


def _fitting(table: list[list[Text]], width: int, first: int) -> Iterator[list[list[Text]]]:
    """A table, or several below each other where it is too wide, each with the first columns."""
    needs = [least + 3 for least in _widths(table)]
    always = min(sum(needs[:first]), width // 2)
    kept = range(first)
    columns: list[int] = []
    for at in range(first, len(needs)):
        if columns and always + sum(needs[each] for each in (*columns, at)) > width:
            yield [[row[each] for each in (*kept, *columns)] for row in table]
            columns = []
        columns.append(at)
    yield [[row[each] for each in (*kept, *columns)] for row in table]


def _widths(table: Sequence[Sequence[Text]]) -> list[int]:
    """What each column needs: its heads may be broken between words, its numbers not at all."""
    from rich.cells import cell_len

    heads, *rows = table
    return [
        max(0, *map(cell_len, name.plain.split()), *(row[at].cell_len for row in rows))
        for at, name in enumerate(heads)
    ]


def show_training(training: Training) -> None:
    """How a similarity was learned, and how the held-out queries fare."""
    out = console()
    for sentence in training.sentences():
        out.print(sentence, markup=False)
    for header, rows in training.tables():
        out.print(training.heading(), markup=False)
        show_tables([[header, *rows]], justify="left")


def _best(evaluation: Evaluation) -> dict[str, int]:
    """For each measure the run with the best value, where one stands out."""
    result = {}
    for measure in evaluation.measures:
        values = [run.summary[measure] for run in evaluation.runs]
        top = max(values) if measure.spec.higher_is_better else min(values)
        if len(values) > 1 and values.count(top) == 1 and measure.spec.rates_relevance:
            result[str(measure)] = values.index(top)
    return result


def show_identification(found: Identification, limit: int) -> None:
    """The table of explanations, and under it what they are worth."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from judged.identification.result import HEADER

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in HEADER:
        table.add_column(name, justify="right" if name == "value" else "left", overflow="fold")
    for row in found.rows(limit):
        table.add_row(
            *(Text(cell, style="bold" if at == 1 and row[0] else "") for at, cell in enumerate(row))
        )
    out = console()
    out.print(table)
    for sentence in found.sentences(limit):
        out.print(sentence, markup=False)


def show_explanation(explanation: Explanation) -> None:
    """The text of an explanation; on a terminal, relevant results stand out and what does not count
    is dim."""
    from rich.text import Text

    from judged.explanation.text import marked_lines

    out = console()
    for text, style in marked_lines(explanation):
        out.print(Text(text, style=style), soft_wrap=True)
