"""`judged learn`: a similarity learned from vectors of queries and items."""

from __future__ import annotations

from typing import Any

import click

from judged.cli.options import FILE, complete_measure, deliver
from judged.cli.vectors import memory_option, read_options, relations, relevance_options, vector_options


@click.command()
@click.argument("queries", metavar="QUERIES")
@click.argument("items", metavar="ITEMS")
@relevance_options
@click.option(
    "--kind",
    default="bilinear",
    show_default=True,
    metavar="KIND",
    help="What is learned: bilinear (q W x), low-rank ((q U)·(x V)), diagonal (a weight for each dimension) or "
    "two-tower-linear (the cosine of q A and x B).",
)
@click.option(
    "--temperature", type=float, default=0.05, show_default=True, metavar="T", help="Scores are divided by it in the loss."
)
@click.option(
    "--rank", type=int, metavar="N", help="Of low-rank and two-tower-linear: how many dimensions vectors are mapped to."
)
@click.option(
    "--positives",
    default="each",
    show_default=True,
    metavar="RULE",
    help="How several relevant items of a query make one loss: each, any or apart.",
)
@click.option("--both", is_flag=True, help="Add the loss of the other way: every item among the queries.")
@click.option(
    "-m",
    "--measure",
    default="AP",
    show_default=True,
    metavar="MEASURE",
    shell_complete=complete_measure,
    help="What is computed on the validation queries after each iteration; the best weights are kept.",
)
@click.option(
    "--validation", type=float, default=0.2, show_default=True, metavar="SHARE", help="Of the queries, to choose when to stop."
)
@click.option(
    "--held-out",
    type=float,
    default=0.2,
    show_default=True,
    metavar="SHARE",
    help="Of the queries, never looked at in training; measured before and after it. 0 for none.",
)
@click.option(
    "--patience", type=int, default=10, show_default=True, metavar="N", help="Stop after so many iterations without gain."
)
@click.option("--iterations", type=int, default=200, show_default=True, metavar="N", help="Stop after so many at the latest.")
@click.option(
    "--decay",
    type=float,
    default=0.0,
    show_default=True,
    metavar="X",
    help="How strongly weights are pulled back to the start.",
)
@click.option(
    "--candidates",
    type=int,
    metavar="N",
    help="Set training queries against their relevant items and N others, drawn by the seed; without it, against all items.",
)
@click.option("--rel", type=float, default=1, show_default=True, metavar="GRADE", help="Items are relevant from this grade on.")
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Of the split and of all else that is drawn.")
@vector_options
@memory_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="How to print the record.",
)
@click.option(
    "-o", "--output", type=FILE, metavar="FILE", required=True, help="Where the similarity is written: .npz or .safetensors."
)
def learn(queries: str, items: str, form: str, output: str, **given: Any) -> None:
    """Learn a similarity from QUERIES and ITEMS, two files of vectors, and from what is relevant.

    Queries are split: most are trained on, by the contrastive loss at a temperature, some choose when to stop, and some are
    held out, to say what was gained. The file is then a --similarity for 'judged embeddings', which refuses queries that
    training saw.
    """
    from judged.cli.terminal import counting, show_training, working
    from judged.learn import fit
    from judged.vectors.arrays import as_vectors
    from judged.vectors.learned_files import check_model_target

    check_model_target(output)
    with working("Reading vectors"):
        relevance, excluded = relations(given)
        read = read_options(given)
        left = as_vectors(queries, ids=read.pop("query_ids"))
        right = as_vectors(items, ids=read.pop("item_ids"))
    chosen = ("kind", "temperature", "rank", "positives", "both", "measure", "validation", "held_out", "patience", "iterations")
    with counting("Learning", given["iterations"], "iterations") as progress:
        learned = fit(
            left,
            right,
            relevance,
            exclude=excluded or None,
            progress=progress,
            **read,
            **{name: given[name] for name in (*chosen, "decay", "candidates", "rel", "seed")},
        )
    learned.save(output)
    record = learned.training
    deliver(record.to_dict, record.__repr__, form, None, show=lambda: show_training(record))
