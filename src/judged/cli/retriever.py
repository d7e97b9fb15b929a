"""`judged retriever`: send the judged queries to a retriever and score its results."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import Any

import click

from judged.cli import _options as opt
from judged.cli._files import READS, WRITES, command, imported
from judged.cli.evaluate import evaluation_options
from judged.results import EVALUATION_SAVED_AS

KEYWORDS = ("k", "workers", "retries", "wait", "save", "all_queries", "name")
"""Options of `evaluate_retriever` itself."""
NAMED = ("a retriever", "search.bm25:ask")


@command(example="judged retriever qrels.txt search.bm25:ask --queries queries.tsv -m nDCG@10")
@click.argument("judgements", metavar="QRELS", type=READS)
@click.argument("retriever", metavar="MODULE:NAME")
@opt.file("--queries", "Read the queries' ids and texts; without it, ids are sent.")
@opt.number("-k", int, "K", "Keep K results of each query.", 100)
@opt.text(
    "--item", "PATH", "Find a result's id here, as metadata.doc_id, or by a function MODULE:NAME."
)
@opt.number("--workers", int, "N", "Send N queries at once.", 1)
@opt.number("--retries", int, "N", "Repeat a failed query N times.", 0)
@opt.number("--wait", float, "SECONDS", "Wait before the first repetition.", 1.0)
@opt.text("--save", "FILE", "Write results to a .jsonl file as they come, and resume.", type=WRITES)
@opt.flag("--all-queries", "Send queries without judgements, too.")
@opt.text("--name", "TEXT", "Name the run.")
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

    opt.check_format(form, output, EVALUATION_SAVED_AS)
    asking = {name: options.pop(name) for name in KEYWORDS}
    per_query = options.pop("per_query")
    shown = opt.take_shown(options)
    with redirect_stdout(sys.stderr):
        asking["item"] = imported(item, *NAMED) if item and ":" in item else item
        task = RetrieverTask.of(
            imported(retriever, *NAMED),
            queries,
            judgements,
            measures or None,
            RetrieverOptions(**asking),
            opt.as_scoring(options),
        )
        with counting("Asking", len(task.todo)) as advance:
            evaluation = task.evaluate(advance)
    evaluation = evaluation.showing(**shown) if shown else evaluation
    deliver(evaluation, form, output, per_query=per_query)
