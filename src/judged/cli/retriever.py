"""`judged retriever`: send the judged queries to a retriever and score its results."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import Any

import click

from judged.cli import _options as opt
from judged.cli._command import WRITES, command, imported
from judged.results import EVALUATION_SAVED_AS

KEYWORDS = ("k", "workers", "retries", "save")
"""Options of `evaluate_retriever` itself."""
NAMED = ("a retriever", "search.bm25:ask")


@command(example="judged retriever qrels.txt search.bm25:ask --queries queries.tsv -m nDCG@10")
@opt.judgements_argument
@click.argument("retriever", metavar="MODULE:NAME")
@opt.file("--queries", "Read the queries' ids and texts; without it, ids are sent.", common=True)
@opt.number("-k", int, "K", "Keep K results of each query.", 100, common=True)
@opt.text(
    "--item",
    "PATH",
    "Find a result's id here, as metadata.doc_id, or by a function MODULE:NAME.",
    common=True,
)
@opt.number("--workers", int, "N", "Send N queries at once.", 1, common=True)
@opt.number("--retries", int, "N", "Repeat a failed query N times.", 0)
@opt.text(
    "--save",
    "FILE",
    "Write results to a .jsonl file as they come, and resume.",
    type=WRITES,
    common=True,
)
@opt.measures_option
@opt.columns_option
@opt.per_query_option
@opt.result_options(EVALUATION_SAVED_AS, verbose=True, quiet=True)
def retriever(
    judgements: str,
    retriever: str,
    queries: str | None,
    item: str | None,
    **options: Any,
) -> Any:
    """Send the judged queries to a retriever and score its results against QRELS.

    MODULE:NAME is a function of a query or an object with .invoke, .retrieve or .run, in a module
    that can be imported from the current folder. It returns ids, best first, (id, score) pairs,
    mappings or objects. Its output goes to standard error.
    """
    from judged.cli._terminal import working
    from judged.inputs.retriever import RetrieverTask

    asking = {name: options.pop(name) for name in KEYWORDS}
    asking |= {"all_queries": False, "name": None, "wait": 1.0}
    measures = options.pop("measures")
    with redirect_stdout(sys.stderr):
        asking["item"] = imported(item, *NAMED) if item and ":" in item else item
        task = RetrieverTask(
            imported(retriever, *NAMED),
            queries,
            judgements,
            measures,
            opt.as_scoring(options),
            **asking,
        )
        with working("Asking", len(task.todo)) as advance:
            return task.evaluate(advance)
