"""`judged retriever`: a retriever of one's own, asked the judged queries."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from inspect import signature
from typing import Any, TypeVar

import click

from judged.cli._engine_options import ENGINE
from judged.cli._files import READS, WRITES, command
from judged.cli._modules import imported
from judged.cli._options import check_format, default_of, policy_options, split_options
from judged.cli.evaluate import evaluate
from judged.evaluation.exports import Exports
from judged.inputs.retriever import evaluate_retriever
from judged.policy import CHOICES

KEYWORDS = [
    name
    for name, each in signature(evaluate_retriever).parameters.items()
    if each.kind is each.KEYWORD_ONLY and name != "item"
]
NAMED = ("a retriever", "search.bm25:ask")
Function = TypeVar("Function", bound=Callable[..., Any])


LEFT_OUT = ("run_format", "memory", "temporary", "jobs", "skip_bad", *ENGINE, *CHOICES)
"""Options of `judged evaluate` that are about files of runs, or are added by `policy_options`."""


def options_of_evaluate(function: Function) -> Function:
    """The options of `judged evaluate`, but for those about files of runs."""
    own = [
        param
        for param in evaluate.params
        if isinstance(param, click.Option) and param.name not in LEFT_OUT
    ]
    function.__click_params__ = own[::-1]  # type: ignore[attr-defined]
    return policy_options(function)


@command(short_help="Ask a retriever and score what it returns.")
@click.argument("judgements", metavar="QRELS", type=READS)
@click.argument("retriever", metavar="MODULE:NAME")
@click.option(
    "--queries",
    metavar="FILE",
    type=READS,
    help="The queries, with an id and a text each: NDJSON, JSON, CSV, TSV or Parquet. Without it "
    "the retriever is asked the ids of the judgements.",
)
@click.option(
    "-k",
    type=int,
    default=default_of(evaluate_retriever, "k"),
    show_default=True,
    help="How many results of each query are kept; how many it returns is up to the retriever.",
)
@click.option(
    "--item",
    metavar="PATH",
    help="Where the id of a result is, as metadata.doc_id; or MODULE:NAME, a function from a "
    "result to its id or to (id, score).",
)
@click.option(
    "--workers",
    type=int,
    default=default_of(evaluate_retriever, "workers"),
    show_default=True,
    help="How many queries are asked at once: in threads, or in an event loop.",
)
@click.option(
    "--retries",
    type=int,
    default=default_of(evaluate_retriever, "retries"),
    show_default=True,
    help="How often a query that failed is asked again.",
)
@click.option(
    "--wait",
    type=float,
    default=default_of(evaluate_retriever, "wait"),
    show_default=True,
    metavar="SECONDS",
    help="The wait before a query is asked again; twice as long each further time.",
)
@click.option(
    "--save",
    metavar="FILE",
    type=WRITES,
    help="Write the results to a file (.jsonl) as they come, and resume from it where it is there. "
    "It can be read as a run.",
)
@click.option("--all-queries", is_flag=True, help="Ask queries without judgements, too.")
@click.option(
    "--name", metavar="TEXT", help="What to call the run; by default what the retriever is called."
)
@options_of_evaluate
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
    """Ask a retriever the judged queries and score what it returns against the judgements in QRELS.

    MODULE:NAME is a function of a query or an object with .invoke, .retrieve or .run, in a module
    that can be imported from the current folder. It returns ids, the best first, (id, score) pairs,
    mappings or objects. What it prints goes to standard error.
    """
    from judged.cli._terminal import counting, deliver
    from judged.inputs.retriever import RetrieverTask

    check_format(form, output, Exports.SAVED_AS)
    given = {name: options.pop(name) for name in KEYWORDS if name in options}
    per_query = options.pop("per_query")
    scored, shown, _ = split_options(options)
    with redirect_stdout(sys.stderr):
        task = RetrieverTask.of(
            imported(retriever, *NAMED),
            queries,
            judgements,
            measures or None,
            item=imported(item, *NAMED) if item and ":" in item else item,
            **given,
            scoring=scored,
        )
        with counting("Asking", len(task.todo)) as advance:
            found = task.evaluate(advance)
    deliver(found.showing(**shown), form, output, per_query=per_query)
