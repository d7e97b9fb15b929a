"""`judged retriever`: send the judged queries to a retriever and score its results."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from inspect import signature
from typing import Any

import click

from judged.cli._files import READS, WRITES, command, imported
from judged.cli._options import check_format, default_of, file, flag, number, split_options, text
from judged.cli.evaluate import evaluation_options
from judged.inputs.retriever import evaluate_retriever
from judged.results import EVALUATION_SAVED_AS

KEYWORDS = [
    name
    for name, parameter in signature(evaluate_retriever).parameters.items()
    if parameter.kind is parameter.KEYWORD_ONLY and name != "item"
]
NAMED = ("a retriever", "search.bm25:ask")


def _default(name: str) -> Any:
    return default_of(evaluate_retriever, name)


@command(example="judged retriever qrels.txt search.bm25:ask --queries queries.tsv -m nDCG@10")
@click.argument("judgements", metavar="QRELS", type=READS)
@click.argument("retriever", metavar="MODULE:NAME")
@file("--queries", "Read the queries' ids and texts; without it, ids are sent.")
@number("-k", int, "K", "Keep K results of each query.", _default("k"))
@text(
    "--item", "PATH", "Find a result's id here, as metadata.doc_id, or by a function MODULE:NAME."
)
@number("--workers", int, "N", "Send N queries at once.", _default("workers"))
@number("--retries", int, "N", "Repeat a failed query N times.", _default("retries"))
@number("--wait", float, "SECONDS", "Wait before the first repetition.", _default("wait"))
@text("--save", "FILE", "Write results to a .jsonl file as they come, and resume.", type=WRITES)
@flag("--all-queries", "Send queries without judgements, too.")
@text("--name", "TEXT", "Name the run.")
@evaluation_options
def retriever(
    judgements: str,
    retriever: str,
    queries: str | None,
    measures: tuple[str, ...],
    item: str | None,
    form: str | None,
    output: str | None,
    **options: Any,
) -> None:
    """Send the judged queries to a retriever and score its results against QRELS.

    MODULE:NAME is a function of a query or an object with .invoke, .retrieve or .run, in a module
    that can be imported from the current folder. It returns ids, best first, (id, score) pairs,
    mappings or objects. Its output goes to standard error.
    """
    from judged.cli._terminal import counting, deliver
    from judged.inputs.retriever import RetrieverOptions, RetrieverTask

    check_format(form, output, EVALUATION_SAVED_AS)
    asking = {name: options.pop(name) for name in KEYWORDS if name in options}
    per_query = options.pop("per_query")
    scoring, shown, _ = split_options(options)
    with redirect_stdout(sys.stderr):
        asked = RetrieverOptions(
            item=imported(item, *NAMED) if item and ":" in item else item, **asking
        )
        task = RetrieverTask.of(
            imported(retriever, *NAMED), queries, judgements, measures or None, asked, scoring
        )
        with counting("Asking", len(task.todo)) as advance:
            evaluation = task.evaluate(advance)
    deliver(evaluation.showing(**shown), form, output, per_query=per_query)
