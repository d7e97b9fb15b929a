"""`judged demo`: the main job on bundled data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judged.cli._files import command
from judged.cli._options import amount_options

if TYPE_CHECKING:
    from judged.cli.demo_data import DemoFiles, TextFiles
    from judged.evaluation.evaluation import Evaluation


@command(example="judged demo")
@click.argument(
    "folder", type=click.Path(file_okay=False, path_type=Path), default=Path("judged-demo")
)
@amount_options
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
    from judged.evaluation.evaluate import evaluate
    from judged.evaluation.evaluation import evaluate_rankings

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
    _show(
        evaluate_rankings(files.rankings, files.measures),
        evaluate_rankings(files.rankings, files.compared),
        files.compared,
    )
    say("\nText search: 60 questions, 300 passages, grades from 0 to 3 by how well they answer.")
    runs = list(map(str, texts.runs))
    _show(
        evaluate(texts.judgements, runs, texts.measures),
        evaluate(texts.judgements, runs, texts.compared),
        texts.compared,
    )
    _say_next(files, texts, report, gallery)


def _show(found: Evaluation, compared: Evaluation, measures: Sequence[str]) -> None:
    """Print a table of all measures, and the sentences of the comparison."""
    from judged.cli._terminal import deliver, display_options, say

    deliver(found, None, None)
    options = display_options()
    if options.get("quiet"):
        return
    say(
        f"\nIs the difference real? The systems on the same {len(found.runs[0].rankings)} queries, "
        f"{' and '.join(measures)}:\n"
    )
    # Without the evaluation, for its warnings stand above.
    comparison = replace(compared.compare(), evaluation=None)
    if options.get("verbose"):
        deliver(comparison, None, None)
    else:
        _say_sentences(comparison.parts())


def _say_sentences(parts: Sequence[object]) -> None:
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
    vectors, labels = (" ".join(map(str, pair)) for pair in (files.vectors, files.labels))
    runs = " ".join(map(str, texts.runs))
    say(f"\nThe files are in {folder} and {text}; README.txt says what they are. Try next:")
    say(f"  open {report} in a browser: everything about the three image searches")
    say(f"  judged serve {folder}: the same to ask questions in, in a browser")
    if gallery is not None:
        say(f"  open {gallery} in a browser: queries and their first results, right and wrong")
    say(f"  judged serve {text}: questions, and the passages that each system finds, to read")
    say(f"  judged compare {texts.judgements} {runs} -m nDCG@10")
    say(f"  judged agreement {texts.judgements} {texts.judges[1]} {runs}")
    say(f"  judged explain {texts.judgements} {texts.runs[-1]} --query q09 -m nDCG@10")
    say(f"  judged embeddings {vectors} --labels {labels} --diagnose")
    say(f"  judged temperature {vectors} --labels {labels}")
    say(f"  judged evaluate {files.judgements} {files.runs[0]} -m AP -m 'P(rel=1)@5' --per-query")
    say(f"  judged compare {files.judgements} {' '.join(map(str, files.runs))}")
    say("  judged measures AP")
