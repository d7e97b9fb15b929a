"""`judged demo`: the main job on bundled data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judged.cli._command import command

if TYPE_CHECKING:
    from judged.cli.demo_data import DemoFiles, TextFiles


@command(example="judged demo")
@click.argument(
    "folder", type=click.Path(file_okay=False, path_type=Path), default=Path("judged-demo")
)
def demo(folder: Path) -> None:
    """Search images and texts with three systems each, evaluate and compare them.

    Images are handwritten digits. Texts are passages that answer questions, searched by BM25, by
    MiniLM vectors, and by both. Vectors, judgements, runs and a report are written into FOLDER
    (default: judged-demo) and its folder `text`. With --verbose the tables of the comparisons are
    shown, too.
    """
    from judged.cli._terminal import say, working
    from judged.cli.demo_data import (
        TEXT_FOLDER,
        planned_text_demo,
        write_demo,
        write_gallery,
        write_report,
        write_text_demo,
    )

    planned_text_demo(folder / TEXT_FOLDER)  # refused before anything is written
    with working("Searching"):
        files = write_demo(folder)
        texts = write_text_demo(folder / TEXT_FOLDER)
        gallery = write_gallery(files)
        report = write_report(files)
    say(
        "Image search among 1,797 handwritten digits: relevant = the same digit (UCI, Alpaydin & "
        "Kaynak 1998, CC BY 4.0)."
    )
    _show(files)
    say("\nText search: 60 questions, 300 passages, grades from 0 to 3 by how well they answer.")
    _show(texts)
    _say_next(files, texts, report, gallery)


def _show(files: DemoFiles | TextFiles) -> None:
    """Print a table of all measures, and the sentences of the comparison."""
    from judged.cli._terminal import deliver, display_options, say
    from judged.evaluation.evaluate import evaluate

    runs = list(map(str, files.runs))
    evaluation = evaluate(files.judgements, runs, files.measures)
    deliver(evaluation, None, None)
    options = display_options()
    if options.get("quiet"):
        return
    say(
        f"\nIs the difference real? The systems on the same "
        f"{len(evaluation.runs[0].rankings)} queries, {' and '.join(files.compared)}:\n"
    )
    compared = evaluate(files.judgements, runs, files.compared)
    # Without the evaluation, for its warnings stand above.
    comparison = replace(compared.compare(), evaluation=None)
    if options.get("verbose"):
        deliver(comparison, None, None)
    else:
        _say_sentences(comparison.parts())


def _say_sentences(parts: Iterable[object]) -> None:
    """Print the sentences of a result without its tables."""
    from judged.cli._terminal import console, say
    from judged.text import Dim, visible

    out = console()
    for part in parts:
        if not isinstance(part, str) or isinstance(part, Dim) or not part:
            continue
        if out is None:
            say(part)
        else:
            out.print(visible(part), markup=False)


def _say_next(files: DemoFiles, texts: TextFiles, report: Path, gallery: Path | None) -> None:
    """Print where the files are, and commands to try."""
    from judged.cli._terminal import say

    folder, text = files.folder, texts.folder
    runs = " ".join(map(str, texts.runs))
    page = report if gallery is None else f"{report} and {gallery.name}"
    say(f"\nThe files are in {folder} and {text}; README.txt says what they are. Try next:")
    say(f"  open {page} in a browser")
    say(f"  judged serve {text}")
    say(f"  judged compare {texts.judgements} {runs}")
