"""`judged learn`: learn a similarity from vectors of queries and items."""

from __future__ import annotations

from typing import Any

from judged.cli import _options as opt
from judged.cli._command import command
from judged.cli._vectors import exclude_self_option, read_sides, sides
from judged.options import LEARNING_TEMPERATURE


@command(example="judged learn queries.npy items.npy --pairs -o model.npz")
@sides
@opt.option(
    "-t",
    "--temperature",
    type=float,
    default=LEARNING_TEMPERATURE,
    show_default=True,
    metavar="T",
    help="Divide scores by this temperature in the loss.",
    common=True,
)
@opt.training_options("bilinear")
@exclude_self_option
@opt.result_options(written=False)
@opt.output_option("Write the similarity to a .npz file.")
def learn(queries: str, items: str, temperature: float, output: str, **options: Any) -> Any:
    """Learn a similarity from QUERIES and ITEMS, two files of vectors, and from relevance.

    Most queries are trained on with a contrastive loss. Some decide when to stop, and some are held
    out to measure the gain. The file is then a --similarity for 'judged embeddings', which does not
    accept queries of the training.
    """
    from judged.cli._terminal import working
    from judged.embeddings.learned import check_model_target
    from judged.learning.learn import fit

    check_model_target(output)
    embeddings, relevance = read_sides(queries, items, options)
    training = opt.take_training(options)
    with working("Learning", training["iterations"], "iterations") as progress:
        learned = fit(embeddings, relevance, temperature=temperature, progress=progress, **training)
    learned.save(output)
    return learned.training
