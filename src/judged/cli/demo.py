"""`judged demo`: the main job on bundled data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judged.cli._command import command

if TYPE_CHECKING:
    from judged.cli.demo_data import DemoFiles


@command(example="judged demo")
@click.argument(
    "folder", type=click.Path(file_okay=False, path_type=Path), default=Path("judged-demo")
)
def demo(folder: Path) -> None:
    """Search images and texts with three systems each, evaluate and compare them.

    Images are handwritten digits. Texts are passages that answer questions, searched by BM25, by
    MiniLM vectors, and by both. Vectors, judgements, runs and a report are written into FOLDER
    (default: judged-demo) and its folder `text`.
    """
    from judged.cli._terminal import say, working
    from judged.cli.demo_data import (
        TEXT_FOLDER,
        check_places,
        write_demo,
        write_gallery,
        write_report,
        write_text_demo,
    )

    check_places(folder)
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


def _show(files: DemoFiles) -> None:
    """Print a table of all measures, and the sentences of the comparison."""
    from judged.cli._terminal import deliver, say
    from judged.evaluation.evaluate import evaluate
    from judged.text import Dim

    runs = list(map(str, files.runs))
    evaluation = evaluate(files.judgements, runs, files.measures)
    deliver(evaluation, None, None)
    queries = len(evaluation.runs[0].rankings)
    measures = " and ".join(files.compared)
    say(f"\nIs the difference real? The systems on the same {queries} queries, {measures}:\n")
    compared = evaluate(files.judgements, runs, files.compared)
    # Without the evaluation, because its warnings are above.
    for part in replace(compared.compare(), evaluation=None).parts():
        if isinstance(part, str) and part and not isinstance(part, Dim):
            say(part)


def _say_next(files: DemoFiles, texts: DemoFiles, report: Path, gallery: Path | None) -> None:
    """Print where the files are, and commands to try."""
    from judged.cli._terminal import say

    folder, text = files.folder, texts.folder
    runs = " ".join(map(str, texts.runs))
    page = report if gallery is None else f"{report} and {gallery.name}"
    say(f"\nThe files are in {folder} and {text}; README.txt says what they are. Try next:")
    say(f"  open {page} in a browser")
    say(f"  judged serve {text}")
    say(f"  judged compare {texts.judgements} {runs}")
