"""`judged serve`: the explorer, a local web app."""

from __future__ import annotations

from typing import Any

import click

from judged.cli._command import READS, command
from judged.cli._options import file, number, option, text
from judged.judgements import OVERLAP


@command(example="judged serve judged-demo")
@click.argument("paths", metavar="[FILES or FOLDER]", nargs=-1, type=READS)
@number("--port", int, "N", "Listen on this port.", 8686)
@text("--host", "ADDRESS", "Listen on this address.", default="127.0.0.1", show_default=True)
@option("--open/--no-open", "open_browser", default=True, help="Open the browser.")
@option("--key/--no-key", default=True, help="Require the key in the address.")
@text("--memory", "SIZE", "Limit memory for results.", default="1GB", show_default=True)
@text(
    "--upload-limit",
    "SIZE",
    "Limit uploads and unpacked files.",
    default="500MB",
    show_default=True,
)
@text("--annotator", "NAME", "Judge under this name; by default the page asks.")
@text("--grades", "TEXT", 'Judge with these grades, as "0 not relevant, 1 partly, 2 fully".')
@number("--overlap", float, "SHARE", "Let every annotator judge this share of items.", OVERLAP)
@file("--queue", "Judge the items of this file of 'judged queue'.")
def serve(paths: tuple[str, ...], **options: Any) -> None:
    """Open the explorer in the browser: leaderboard, comparison, queries, judging, playground.

    FILES and all files in FOLDER are recognised by content: judgements, runs, texts and vectors.
    Grades of the judging page go into the folder `judgements` inside FOLDER. Nothing else is
    written, and nothing leaves this machine. --no-key is possible only on this machine.
    """
    from judged.cli._terminal import say
    from judged.cli.demo_data import write_demo
    from judged.web import serve as run

    run(paths, say=say, demo=write_demo, **options)
