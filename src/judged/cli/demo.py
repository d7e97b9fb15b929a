"""`judged demo`: the main job on bundled data."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=Path("judged-demo"))
def demo(folder: Path) -> None:
    """Search handwritten digits with three systems and evaluate them.

    Writes the runs and judgements it evaluates into FOLDER (default: judged-demo), so that you can open them.
    """
    from judged.cli.terminal import show_evaluation, working
    from judged.demo import write_demo
    from judged.evaluation import evaluate

    with working("Searching"):
        files = write_demo(folder)
    evaluation = evaluate(files.judgements, list(files.runs), files.measures)
    click.echo(
        "Image search among 1,797 handwritten digits: relevant = the same digit (UCI, Alpaydin & Kaynak 1998, CC BY 4.0)."
    )
    show_evaluation(evaluation, per_query=False)
    click.echo(f"\nThe files are in {folder}; {folder / 'README.txt'} says what they are. Try next:")
    click.echo(f"  judged evaluate {files.judgements} {files.runs[0]} -m AP -m 'P(rel=1)@5' --per-query")
    click.echo("  judged measures AP")
