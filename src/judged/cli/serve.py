"""`judged serve`: the explorer, a local web app."""

from __future__ import annotations

from typing import Any

import click

from judged.cli._files import READS, command
from judged.judgements.worklist import OVERLAP
from judged.web.settings import HOST, PORT, RESULT_MEMORY, UPLOAD_LIMIT


@command(short_help="Explore files in the browser.")
@click.argument("paths", metavar="[FILES or FOLDER]", nargs=-1, type=READS)
@click.option("--port", type=int, default=PORT, show_default=True, help="Where it listens.")
@click.option(
    "--host",
    default=HOST,
    show_default=True,
    help="The address it listens on; another one than this machine's lets others in who have the "
    "key.",
)
@click.option(
    "--open/--no-open", "open_browser", default=True, help="Whether the browser is opened."
)
@click.option(
    "--key/--no-key",
    default=True,
    help="Whether only those may look who have the address with its key; --no-key only on this "
    "machine.",
)
@click.option(
    "--memory",
    default=RESULT_MEMORY,
    show_default=True,
    metavar="SIZE",
    help="What results may take.",
)
@click.option(
    "--upload-limit",
    default=UPLOAD_LIMIT,
    show_default=True,
    metavar="SIZE",
    help="How much a browser may send, and what a packed file may unpack to.",
)
@click.option(
    "--annotator",
    metavar="NAME",
    help="Who judges on the judging page; by default the page asks.",
)
@click.option(
    "--grades",
    metavar="TEXT",
    help='The grades to judge with and what they mean, as "0 not relevant, 1 on topic, 2 partly, '
    '3 fully"; by default those of the judgements.',
)
@click.option(
    "--overlap",
    type=float,
    default=OVERLAP,
    show_default=True,
    metavar="SHARE",
    help="The share of items that every annotator judges, as 0.1; the others are for whoever "
    "grades them first.",
)
@click.option(
    "--queue",
    type=READS,
    metavar="FILE",
    help="What is to be judged, as judged queue writes it; by default it follows from the runs.",
)
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="The seed of the order in which items are judged, and of which everybody judges.",
)
def serve(paths: tuple[str, ...], **options: Any) -> None:
    """Open the explorer in the browser: leaderboard, comparison, queries, judging, embeddings,
    playground.

    FOLDER is looked through, and FILES are taken as they are: judgements, runs, texts, vectors and
    studies are told apart by their content. What is judged on the judging page goes into the folder
    `judgements` inside FOLDER; nothing else is written, and nothing leaves this machine.
    """
    from judged.cli._terminal import say
    from judged.cli.demo_data import write_demo
    from judged.web import serve as run

    run(paths, say=say, demo=write_demo, **options)
