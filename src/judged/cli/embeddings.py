"""`judged embeddings`: vectors of queries and items in, numbers out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from judged.cli.options import (
    FILE,
    convention_option,
    deliver,
    measures_option,
    output_options,
    policy_options,
    tie_range_option,
)

PAIR = (str, str)
RELEVANCE: dict[str, tuple[Any, str]] = {
    "qrels": (FILE, "Judgements, in any format that 'judged evaluate' reads; ids are those of the vectors, or row numbers."),
    "labels": (PAIR, "One label a vector, for queries and for items: relevant is the same label."),
    "shared-labels": (PAIR, "Several labels a vector: relevant is a label in common."),
    "groups": (PAIR, "One group a vector: relevant is the same group, as with several captions for each clip."),
    "diagonal": (None, "Relevant is the item in the query's own row: pairs."),
    "revisited": (FILE, "JSON of the revisited Oxford and Paris benchmarks: for each query the item rows easy, hard and junk."),
}
"""The ways to say what is relevant: option, what it takes, help."""


def relevance_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for name, (takes, words) in reversed(RELEVANCE.items()):
        if takes is None:
            option = click.option(f"--{name}", is_flag=True, help=words)
        elif takes is PAIR:
            option = click.option(f"--{name}", type=PAIR, metavar="QFILE IFILE", help=words)
        else:
            option = click.option(f"--{name}", type=takes, metavar="FILE", help=words)
        function = option(function)
    return function


@click.command()
@click.argument("queries", metavar="QUERIES")
@click.argument("items", metavar="ITEMS")
@relevance_options
@click.option(
    "--protocol",
    type=click.Choice(["easy", "medium", "hard"]),
    default="medium",
    show_default=True,
    help="Which images --revisited asks for.",
)
@click.option(
    "--similarity",
    default="cosine",
    show_default=True,
    metavar="NAME|FILE",
    help="cosine, dot, euclidean, manhattan or hamming; or a file with the matrix W of a learned similarity q W x.",
)
@click.option("--dims", type=int, metavar="N", help="Only the first N dimensions of the vectors (Matryoshka).")
@click.option("--query-ids", type=FILE, metavar="FILE", help="Ids of the queries, one a line, where their file has none.")
@click.option("--item-ids", type=FILE, metavar="FILE", help="Ids of the items, one a line, where their file has none.")
@click.option("--exclude-self", is_flag=True, help="Leave the item in the query's own row out of its ranking.")
@click.option("--exclude-same-id", is_flag=True, help="Leave the item with the query's own id out of its ranking.")
@click.option(
    "--exclude-groups",
    type=PAIR,
    metavar="QFILE IFILE",
    help="Leave items of the query's own group out of its ranking, as pictures of one burst.",
)
@click.option("--junk", type=FILE, metavar="FILE", help="Items to leave out of a query's ranking, in any format of judgements.")
@click.option("--both", is_flag=True, help="Also search the other way: every item among the queries.")
@click.option(
    "--normalise",
    metavar="NAME",
    help="Normalise scores first: min-max, z-score, softmax(temperature=0.05), csls(k=10), inverted-softmax, "
    "qb-norm(bank=FILE), dual-softmax, mutual-proximity, alpha-query-expansion.",
)
@click.option(
    "--unique",
    type=FILE,
    metavar="FILE",
    help="The items' categories, one a line or a table of items and categories: each category's best item stands for it, "
    "and categories are ranked.",
)
@click.option("--memory", default="1GB", show_default=True, metavar="SIZE", help="How much memory the scores may take.")
@click.option(
    "--save-run", type=click.Path(), metavar="FILE", help="Write the first items of each query: TREC text, or .parquet."
)
@click.option(
    "--top", type=int, metavar="K", help="How many items of each query --save-run and --index look at; 100 if not said."
)
@click.option(
    "--index", type=FILE, metavar="FILE", help="A faiss or usearch index of the items, to compare with the exact search."
)
@click.option("--diagnose", is_flag=True, help="Say what may be wrong with the vectors instead of scoring them.")
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
    """Score the search of QUERIES among ITEMS, two files of vectors, by the exact rank of every relevant item.

    Files may be .npy, .npz, .h5, .parquet, .fvecs, .bvecs, .fbin, .safetensors, .csv, .tsv, .ndjson or text;
    FILE::NAME means one array or column of a file that has several. Say what is relevant by one of --qrels, --labels,
    --shared-labels, --groups, --diagonal and --revisited.
    """
    from judged.cli.terminal import counting, working
    from judged.outputs import check_target
    from judged.vectors.embeddings import Embeddings

    _check_options(both, save_run, top, index, diagnose, tie_range, given)
    for target in filter(None, (output, save_run)):
        check_target(target)
    with working("Reading vectors"):
        relevance, excluded = _relations(given, optional=diagnose)
        compared = Embeddings.of(
            queries,
            items,
            similarity=given["similarity"],
            exclude=excluded or None,
            memory=given["memory"],
            query_ids=_labels(given["query_ids"]),
            item_ids=_labels(given["item_ids"]),
            dims=given["dims"],
            normalise=given["normalise"],
            unique=_categories(given["unique"]),
        )
    if diagnose:
        from judged.vectors.diagnosing import diagnose as look

        with working("Looking at the vectors"):
            looked = look(
                compared.queries,
                compared.items,
                relevance,
                similarity=compared.similarity,
                exclude=excluded or None,
                memory=given["memory"],
            )
        deliver(looked.to_dict, looked.__repr__, form, output)
        return

    from judged.cli.terminal import deliver_evaluation
    from judged.evaluation import evaluate_rankings
    from judged.request import Request

    request = Request.of(measures or None, policy, convention)
    if index is not None:
        from judged.vectors.index import compare_index

        with counting("Searching", len(compared.queries)) as progress:
            found = compare_index(index, compared, relevance, request, k=top or TOP, progress=progress)
        deliver(lambda: found.to_dict(per_query=per_query), found.__repr__, form, output)
        return
    if both:
        with counting("Searching", len(compared.queries) + len(compared.items)) as progress:
            rankings = list(compared.rank_both_ways(relevance, request.policy, progress=progress))
    else:
        with counting("Searching", len(compared.queries)) as progress:
            ranked, results = compared.rank(
                relevance, request.policy, top=(top or TOP) if save_run else None, progress=progress
            )
        rankings = [ranked]
        if results is not None and save_run is not None:
            results.to_run(save_run)
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
        raise click.UsageError("--top says how many items --save-run and --index look at; give one of them.")
    if top is not None and top < 1:
        raise click.BadParameter(f"must be a whole number from 1; got {top}.", param_hint="--top")
    doing = {"--both": both, "--save-run": save_run, "--index": index, "--diagnose": diagnose}
    chosen = [name for name, value in doing.items() if value]
    if len(chosen) > 1:
        raise click.UsageError(f"{' and '.join(chosen)} cannot be had in one call; leave one out.")
    for name, value in {"--normalise": given["normalise"], "--unique": given["unique"], "--tie-range": tie_range}.items():
        if value and (index or diagnose):
            raise click.UsageError(f"{name} has no meaning with {'--index' if index else '--diagnose'}; leave it out.")


def _relations(given: dict[str, Any], *, optional: bool) -> tuple[Any, list[Any]]:
    """What is relevant, and what is to be excluded, from the options."""
    from judged.vectors import diagonal, groups, junk, revisited, same_group, same_id, same_index, same_label, shared_label
    from judged.vectors.files import labels_lists_from
    from judged.vectors.labels import revisited_from

    chosen = [name for name in RELEVANCE if given[name.replace("-", "_")]]
    if len(chosen) > 1 or not (chosen or optional):
        listed = ", ".join(f"--{name}" for name in RELEVANCE)
        got = f"; got {' and '.join(f'--{name}' for name in chosen)}" if chosen else ""
        raise click.UsageError(f"say what is relevant by one of {listed}{got}.")
    excluded: list[Any] = []
    if given["exclude_self"]:
        excluded.append(same_index())
    if given["exclude_same_id"]:
        excluded.append(same_id())
    if given["exclude_groups"]:
        excluded.append(same_group(*map(_labels, given["exclude_groups"])))
    if given["junk"]:
        excluded.append(junk(given["junk"]))
    relevance: Any = None
    match chosen:
        case ["qrels"]:
            relevance = given["qrels"]
        case ["labels"]:
            relevance = same_label(*map(_labels, given["labels"]))
        case ["shared-labels"]:
            relevance = shared_label(*map(labels_lists_from, given["shared_labels"]))
        case ["groups"]:
            relevance = groups(*map(_labels, given["groups"]))
        case ["diagonal"]:
            relevance = diagonal()
        case ["revisited"]:
            relevance, passed = revisited(revisited_from(given["revisited"]), given["protocol"])
            excluded.append(passed)
    return relevance, excluded


def _labels(path: str | None) -> Any:
    from judged.vectors.files import labels_from

    return None if path is None else labels_from(path)


def _categories(path: str | None) -> Any:
    from judged.vectors.labels import categories_from

    return None if path is None else categories_from(path)
