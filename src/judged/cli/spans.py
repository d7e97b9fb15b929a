"""`judged spans`: evaluate retrieved chunks by the evidence that they cover."""

from __future__ import annotations

from typing import Any

import click

from judged.cli import _options as opt
from judged.cli._command import READS, command


def _by_run(texts: tuple[str, ...]) -> Any:
    """Return one file, or the file of each run from RUN=FILE."""
    from judged.inputs.formats import named_file

    named = dict(map(named_file, texts))
    if len(named) < len(texts) or (None in named and len(named) > 1):
        raise click.UsageError("--chunks: give one FILE for all runs, or RUN=FILE for each run.")
    return named.get(None) or named or None


@command(example="judged spans golden.csv bm25.csv dense.csv -k 1,5,10")
@click.argument("judgements", metavar="SPANS", type=READS)
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=READS)
@opt.numbers("-k", int, "N,…", "Count the first N chunks.", default="1,5,10", show_default=True)
@opt.text(
    "--chunks",
    "[RUN=]FILE",
    "Read spans of chunk ids in runs: item, doc, start, end.",
    multiple=True,
    type=READS,
)
@opt.file("--judged-chunks", "Read spans of chunk ids in SPANS, which are judgements then.")
@opt.number("--rel", float, "GRADE", "Take spans of this grade or above as evidence.", 1)
@opt.policy_options("missing")
@opt.per_query_option
@opt.result_options()
def spans(judgements: str, runs: tuple[str, ...], chunks: tuple[str, ...], **options: Any) -> Any:
    """Evaluate retrieved chunks by the characters of evidence that they cover.

    SPANS has the columns query, doc, start and end, and RUNs have a score too. Offsets are
    half-open, [start, end). One golden set evaluates every chunking. NAME=FILE names a run.
    """
    from judged.cli._terminal import working
    from judged.runs.spans import evaluate_spans

    with working("Reading spans"):
        policy = opt.take_policy(options)
        return evaluate_spans(
            judgements, list(runs), chunks=_by_run(chunks), policy=policy, **options
        )
