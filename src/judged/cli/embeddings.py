"""`judged embeddings`: vectors of queries and items in, numbers out."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from judged.cli._embedding_options import (
    memory_option,
    precision_option,
    read_sides,
    sides,
    similarity_option,
    vector_options,
)
from judged.cli._encoder_options import Encoding, encoder_options
from judged.cli._files import NORMALISATION, READS, WRITES, command
from judged.cli._options import (
    check_format,
    convention_option,
    interval_options,
    measures_option,
    per_query_option,
    policy_options,
    result_options,
    said,
    table_options,
    tie_range_option,
    unanswerable_options,
    weights_option,
)
from judged.evaluation.evaluation import Evaluation
from judged.results import Result

if TYPE_CHECKING:
    from judged.embeddings.top_k import TopK

TOP = 100
"""How many items of each query --save-run and --index look at."""


@command(short_help="Score the search of vectors among vectors, exactly.")
@partial(sides, required=False)
@encoder_options
@similarity_option
@vector_options
@click.option(
    "--both", is_flag=True, help="Also search the other way: every item among the queries."
)
@click.option(
    "--normalise",
    type=NORMALISATION,
    metavar="NAME",
    help="Normalise scores first: min-max, z-score, softmax(temperature=0.05), csls(k=10), "
    "inverted-softmax, qb-norm(bank=FILE), dual-softmax, mutual-proximity, "
    "alpha-query-expansion.",
)
@click.option(
    "--unique",
    type=READS,
    metavar="FILE",
    help="The items' categories: one label per item, or a table of items and categories. Each "
    "category's best item stands for it, and categories are ranked.",
)
@precision_option
@memory_option
@click.option(
    "--save-run",
    type=WRITES,
    metavar="FILE",
    help="Write the first items of each query: TREC text, or .parquet.",
)
@click.option(
    "--top",
    type=int,
    metavar="K",
    help=f"How many items of each query --save-run and --index look at; {TOP} if not said.",
)
@click.option(
    "--index",
    type=READS,
    metavar="FILE",
    help="A faiss or usearch index of the items, to compare with the exact search.",
)
@click.option("--name", metavar="TEXT", help="What the row of the table is called.")
@click.option(
    "--report",
    type=WRITES,
    metavar="FILE",
    help="Write everything about the search into one HTML file, too.",
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
@interval_options
@weights_option
@unanswerable_options
@per_query_option
@table_options
@result_options(Evaluation.SAVED_AS)
def embeddings(
    queries: str | None,
    items: str | None,
    measures: tuple[str, ...],
    convention: str | None,
    policy: dict[str, str],
    tie_range: bool,
    interval: bool,
    level: float,
    groups: str | None,
    weights: str | None,
    unanswerable: bool,
    answer_threshold: float | None,
    save_run: str | None,
    top: int | None,
    index: str | None,
    name: str | None,
    report: str | None,
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
    by one of --qrels, --labels, --shared-labels, --pairs and --revisited.

    In place of QUERIES and ITEMS, texts or files can be encoded first: --encoder MODULE:NAME
    --queries FILE --items FILE.
    """
    from judged.cli._terminal import counting, deliver, working
    from judged.embeddings.scoring import request_of
    from judged.outputs import checked_ending

    if report is not None:
        checked_ending(report, [".html"])
    as_json = form == "json" or (form is None and (output or "").lower().endswith(".json"))
    unmeant = {
        "--name": name,
        "--report": report,
        "--normalise": given["normalise"],
        "--unique": given["unique"],
        "--tie-range": tie_range,
        "--interval": interval,
        "--level": said("level"),
        "--groups": groups,
        "--weights": weights,
        "--unanswerable": unanswerable,
        "--answer-threshold": answer_threshold is not None,
        "--per-query": per_query and not (index and as_json),
    }
    _check_options(both, save_run, top, index, diagnose, unmeant)
    check_format(form, output, Result.SAVED_AS if index or diagnose else Evaluation.SAVED_AS)
    encoding = Encoding.asked(queries, items, given)
    asked: dict[str, Any] = {
        "measures": measures or None,
        "policy": policy,
        "convention": convention,
    }
    if encoding is not None:
        request_of(**asked)  # what can be refused is, before anything is encoded
    embeddings, relevance = read_sides(
        queries,
        items,
        given,
        optional=diagnose,
        encode=None if encoding is None else encoding.vectors,
    )
    if diagnose:
        with working("Looking at the vectors"):
            looked = embeddings.diagnose(relevance)
        deliver(looked, form, output)
        return
    more: dict[str, Any] = {
        "tie_range": tie_range,
        "interval": interval,
        "level": level,
        "groups": groups,
        "weights": weights,
        "unanswerable": unanswerable,
        "answer_threshold": answer_threshold,
        **({"name": name} if name else {}),
    }
    searches = len(embeddings.queries) + (len(embeddings.items) if both else 0)
    first: TopK | None = None
    with counting("Searching", searches) as progress:
        if index is not None:
            compared = embeddings.evaluate_index(
                index, relevance, k=top or TOP, progress=progress, **asked
            )
        elif save_run is not None or (report is not None and not both):
            found, first = embeddings.evaluate_and_top_k(
                relevance, k=top or TOP, progress=progress, **asked, **more
            )
        else:
            found = embeddings.evaluate(relevance, both=both, progress=progress, **asked, **more)
    if index is not None:
        queries_too: dict[str, Any] = {"per_query": True} if per_query else {}
        deliver(compared, form, output, **queries_too)
        return
    if save_run is not None and first is not None:
        first.save(save_run)
    if report is not None:
        from judged.cli._again import again
        from judged.web.report.provenance import input_files

        sides_read = {"queries": queries, "items": items}
        if encoding is not None:
            sides_read = {"queries": encoding.queries, "items": encoding.items}
        read = {**sides_read, **given, "weights": weights, "groups": groups}
        found.report(
            top_k=None if both else first, groups=groups, files=input_files(read), again=again()
        ).save(report)
    deliver(found, form, output, per_query=per_query)


def _check_options(
    both: bool,
    save_run: str | None,
    top: int | None,
    index: str | None,
    diagnose: bool,
    unmeant: dict[str, Any],
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
    for name, value in unmeant.items():
        if value and (index or diagnose):
            raise click.UsageError(
                f"{name} has no meaning with {'--index' if index else '--diagnose'}; leave it out."
            )
