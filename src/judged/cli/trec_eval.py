"""`judged trec-eval`: the output of trec_eval 10.0, byte for byte."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from judged.cli import _options as opt
from judged.cli._command import READS, command
from judged.cli._options import Decorator
from judged.conventions.libraries.trec_eval import NAMES, as_long

VERSION = "10.0"
EPILOG = """\b
Measures: names such as map, P.5,10, ndcg_cut.10, ndcg.1=3,2=9, or the groups
official (the default), all_trec and set. judged measures explains them.
"""


def _whole(least: int) -> Callable[[str], int]:
    """Return a type of option: a number as trec_eval reads it, from the leading digits."""

    def number(text: str) -> int:
        try:
            value = as_long(str(text))
        except ValueError as error:
            raise click.BadParameter(f"{error}.") from None
        if not least <= value < 2**63:
            raise click.BadParameter(f"{text!r} is not a whole number from {least}.")
        return value

    return number


def _number(name: str, help: str, default: int | None = None, least: int = 0) -> Decorator[Any]:
    return opt.number(name, _whole(least), "N", help, default)


trec_eval_options = opt.together(
    opt.flag("-v --version version_wanted", "Print the version of trec_eval."),
    opt.flag("-q --query_eval_wanted queries", "Print the values of every query too."),
    opt.text(
        "-m --measure measures",
        "NAME[.PARAMETERS]",
        "Print this measure or group; may be repeated.",
        multiple=True,
    ),
    opt.flag(
        "-c --complete_rel_info_wanted complete",
        "Average over all judged queries; missing ones count as 0.",
    ),
    _number("-l --level_for_rel level", "Count grades from this one as relevant.", 1),
    opt.flag("-n --nosummary no_summary", "Print no summary."),
    opt.flag("-J --Judged_docs_only judged_only", "Remove unjudged items first."),
    _number("-N --Number_docs_in_coll collection", "Set the size of the collection.", 0),
    _number("-M --Max_retrieved_per_topic depth", "Count only the first N results.", least=1),
)


@command("trec-eval", example="judged trec-eval -q -m map qrels.txt bm25.run", epilog=EPILOG)
@click.argument("judgements", metavar="QRELS", type=READS, required=False)
@click.argument("run", metavar="RUN", type=READS, required=False)
@trec_eval_options
@click.pass_context
def trec_eval(
    ctx: click.Context,
    /,
    judgements: str | None,
    run: str | None,
    version_wanted: bool,
    measures: tuple[str, ...],
    no_summary: bool,
    **options: Any,
) -> None:
    """Print what trec_eval 10.0 prints, for scripts that call it: RUN scored against QRELS."""
    from judged.cli._terminal import hand_over, say
    from judged.cli._trec_eval import TrecEvalOptions, printed

    if version_wanted:
        say(f"trec_eval version {VERSION} (the output of judged trec-eval)", err=True)
        return
    if judgements is None or run is None:
        raise click.UsageError(
            "Give the judgements and the run: judged trec-eval [OPTIONS] QRELS RUN.", ctx
        )
    chosen = TrecEvalOptions(measures or ("official",), summary=not no_summary, **options)
    for text in measures:
        root, _, parameters = text.partition(".")
        if parameters and root in NAMES and NAMES[root].takes_nothing:
            say(f"warning: trec_eval ignores the parameters of {text!r}.", err=True)
    for line in printed(judgements, run, chosen):
        hand_over(f"{line}\n")
