"""`judged demo`: the main job on bundled data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from judged.cli._files import command
from judged.cli._options import amount_options


@command(short_help="Search bundled images, evaluate and compare that.")
@click.argument(
    "folder", type=click.Path(file_okay=False, path_type=Path), default=Path("judged-demo")
)
@amount_options
def demo(folder: Path) -> None:
    """Search handwritten digits with three systems, evaluate and compare them.

    Every image of the collection is ranked for every query. Writes vectors, judgements, runs and a
    report into FOLDER (default: judged-demo), so that you can go on from there.
    """
    from judged.cli._terminal import deliver, fitted, say, working
    from judged.demo import write_demo, write_gallery, write_report
    from judged.evaluation.evaluation import evaluate_rankings

    with working("Searching"):
        files = write_demo(folder)
        gallery = write_gallery(files)
        report = write_report(files)
    say(
        "Image search among 1,797 handwritten digits: relevant = the same digit (UCI, Alpaydin & "
        "Kaynak 1998, CC BY 4.0)."
    )
    found = evaluate_rankings(files.rankings, files.measures)
    deliver(found, None, None)
    say(
        f"\nIs the difference real? The systems on the same {len(found.runs[0].about)} queries, "
        f"{files.compared[0]} and {files.compared[1]}:\n"
    )
    compared = evaluate_rankings(files.rankings, files.compared)
    baseline = compared.runs[0].name
    # Without the evaluation, for its warnings stand above.
    deliver(replace(compared.compare(baseline=baseline), evaluation=None), None, None, show=fitted)
    vectors, labels = (" ".join(map(str, pair)) for pair in (files.vectors, files.labels))
    say(f"\nThe files are in {folder}; {folder / 'README.txt'} says what they are. Try next:")
    say(f"  open {report} in a browser: everything about the three systems")
    say(f"  judged serve {folder}: the same to ask questions in, in a browser")
    if gallery is not None:
        say(f"  open {gallery} in a browser: queries and their first results, right and wrong")
    say(f"  judged embeddings {vectors} --labels {labels} --diagnose")
    say(f"  judged temperature {vectors} --labels {labels}")
    say(f"  judged evaluate {files.judgements} {files.runs[0]} -m AP -m 'P(rel=1)@5' --per-query")
    say(f"  judged compare {files.judgements} {' '.join(map(str, files.runs))}")
    say("  judged measures AP")
