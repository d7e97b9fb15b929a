"""`judged embeddings`: vectors of queries and items in, numbers out."""

from __future__ import annotations

from typing import Any

import click

from judged.cli._embedding_options import (
    check_targets,
    memory_option,
    read_options,
    relations,
    sides,
    similarity_option,
    vector_options,
)
from judged.cli._options import (
    FILE,
    convention_option,
    deliver,
    measures_option,
    output_options,
    policy_options,
    tie_range_option,
)


@click.command(short_help="Score the search of vectors among vectors, exactly.")
@sides
@similarity_option
@vector_options
@click.option(
    "--both", is_flag=True, help="Also search the other way: every item among the queries."
)
@click.option(
    "--normalise",
    metavar="NAME",
    help="Normalise scores first: min-max, z-score, softmax(temperature=0.05), csls(k=10), "
    "inverted-softmax, "
    "qb-norm(bank=FILE), dual-softmax, mutual-proximity, alpha-query-expansion.",
)
@click.option(
    "--unique",
    type=FILE,
    metavar="FILE",
    help="The items' categories, one a line or a table of items and categories: each category's "
    "best item stands for it, "
    "and categories are ranked.",
)
@memory_option
@click.option(
    "--save-run",
    type=click.Path(),
    metavar="FILE",
    help="Write the first items of each query: TREC text, or .parquet.",
)
@click.option(
    "--top",
    type=int,
    metavar="K",
    help="How many items of each query --save-run and --index look at; 100 if not said.",
)
@click.option(
    "--index",
    type=FILE,
    metavar="FILE",
    help="A faiss or usearch index of the items, to compare with the exact search.",
)
@click.option(
    "--diagnose",
    is_flag=True,
    help="Say what may be wrong with the vectors instead of scoring them.",
)
@measures_option
@convention_option
@policy_options
@tie_range_option
@output_options
def embeddings(
    queries: str,
    items: str,
    measures: tuple[str, ...],
    convention: str | None,
    policy: dict[str, str],
    tie_range: bool,
    save_run: str | None,
    top: int | None,
    index: str | None,
    diagnose: bool,
    both: bool,
    per_query: bool,
    form: str | None,
    output: str | None,
    **given: Any,
) -> None:
    """Score the search of QUERIES among ITEMS, two files of vectors, by the exact rank of every
    relevant item.

    Files may be .npy, .npz, .h5, .parquet, .fvecs, .bvecs, .fbin, .safetensors, .csv, .tsv, .ndjson
    or text; FILE::NAME means one array or column of a file that has several. Say what is relevant
    by one of --qrels, --labels, --shared-labels, --groups, --diagonal and --revisited.
    """
    from judged.cli._terminal import counting, working
    from judged.embeddings.embeddings import Embeddings

    _check_options(both, save_run, top, index, diagnose, tie_range, given)
    check_targets((output, save_run), queries, items, {**given, "index": index})
    with working("Reading vectors"):
        relevance, excluded = relations(given, optional=diagnose)
        compared = Embeddings(
            queries,
            items,
            similarity=given["similarity"],
            exclude=excluded or None,
            **read_options(given),
            normalise=given["normalise"],
            unique=_categories(given["unique"]),
        )
    if diagnose:
        with working("Looking at the vectors"):
            looked = compared.diagnose(relevance)
        deliver(looked.to_dict, looked.__repr__, form, output)
        return

    from judged.cli._terminal import deliver_evaluation
    from judged.evaluation.evaluation import evaluate_rankings
    from judged.evaluation.request import Request

    request = Request.of(measures or None, policy, convention)
    if index is not None:
        with counting("Searching", len(compared.queries)) as progress:
            found = compared.evaluate_index(
                index,
                relevance,
                measures or None,
                k=top or TOP,
                policy=policy,
                convention=convention,
                progress=progress,
            )
        deliver(lambda: found.to_dict(per_query=per_query), found.__repr__, form, output)
        return
    if both:
        with counting("Searching", len(compared.queries) + len(compared.items)) as progress:
            rankings = list(compared.rank_both(relevance, policy=request.policy, progress=progress))
    elif save_run is not None:
        with counting("Searching", len(compared.queries)) as progress:
            ranked, results = compared.rank_and_top_k(
                relevance, top or TOP, policy=request.policy, progress=progress
            )
        rankings = [ranked]
        results.save(save_run)
    else:
        with counting("Searching", len(compared.queries)) as progress:
            rankings = [compared.rank(relevance, policy=request.policy, progress=progress)]
    evaluation = evaluate_rankings(rankings, request, tie_range=tie_range)
    deliver_evaluation(evaluation, form, output, per_query=per_query)


TOP = 100


def _check_options(
    both: bool,
    save_run: str | None,
    top: int | None,
    index: str | None,
    diagnose: bool,
    tie_range: bool,
    given: dict[str, Any],
) -> None:
    """Refuse options that say nothing together."""
    if top is not None and not (save_run or index):
        raise click.UsageError(
            "--top says how many items --save-run and --index look at; give one of them."
        )
    if top is not None and top < 1:
        raise click.BadParameter(f"must be a whole number from 1; got {top}.", param_hint="--top")
    doing = {"--both": both, "--save-run": save_run, "--index": index, "--diagnose": diagnose}
    chosen = [name for name, value in doing.items() if value]
    if len(chosen) > 1:
        raise click.UsageError(f"{' and '.join(chosen)} cannot be had in one call; leave one out.")
    for name, value in {
        "--normalise": given["normalise"],
        "--unique": given["unique"],
        "--tie-range": tie_range,
    }.items():
        if value and (index or diagnose):
            raise click.UsageError(
                f"{name} has no meaning with {'--index' if index else '--diagnose'}; leave it out."
            )


def _categories(path: str | None) -> Any:
    from judged.inputs.vectors.labels import categories_from

    return None if path is None else categories_from(path)
