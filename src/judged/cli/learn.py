"""`judged learn`: a similarity learned from vectors of queries and items."""

from __future__ import annotations

from typing import Any

import click

from judged.cli._embedding_options import (
    memory_option,
    read_sides,
    sides,
    vector_options,
)
from judged.cli._files import WRITES, command
from judged.cli._learning_options import learning, learning_options
from judged.cli._options import print_option
from judged.options import LEARNING_TEMPERATURE


@command(short_help="Learn a similarity from vectors and what is relevant.")
@sides
@click.option(
    "-t",
    "--temperature",
    type=float,
    default=LEARNING_TEMPERATURE,
    show_default=True,
    metavar="T",
    help="Scores are divided by it in the loss.",
)
@learning_options("bilinear")
@vector_options
@memory_option
@print_option()
@click.option(
    "-o",
    "--output",
    type=WRITES,
    metavar="FILE",
    required=True,
    help="Where the similarity is written: .npz or .safetensors.",
)
def learn(
    queries: str, items: str, temperature: float, form: str | None, output: str, **given: Any
) -> None:
    """Learn a similarity from QUERIES and ITEMS, two files of vectors, and from what is relevant.

    Queries are split: most are trained on, by the contrastive loss at a temperature, some choose
    when to stop, and some are held out, to say what was gained. The file is then a --similarity for
    'judged embeddings', which refuses queries that training saw.
    """
    from judged.cli._terminal import counting, deliver
    from judged.embeddings.similarity.learned_files import check_model_target
    from judged.learning.learn import fit

    check_model_target(output)
    embeddings, relevance = read_sides(queries, items, given)
    with counting("Learning", given["iterations"], "iterations") as progress:
        learned = fit(
            embeddings, relevance, temperature=temperature, progress=progress, **learning(given)
        )
    learned.save(output)
    deliver(learned.training, form, None)
