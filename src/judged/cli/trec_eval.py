"""`judged trec-eval`: trec_eval's arguments in, trec_eval's lines out."""

from __future__ import annotations

from collections.abc import Callable

import click

from judged.cli._files import READS, command
from judged.cli._room_options import room_options

VERSION = "10.0"

EPILOG = """\b
Measures: names such as map, P.5,10, ndcg_cut.10, ndcg.1=3,2=9, or the groups
official (the default), all_trec and set. -h -m NAME explains one.
"""


def _whole(least: int) -> Callable[[str], int]:
    """A type of option: a number as trec_eval reads it, the digits that the text begins with."""

    def number(text: str) -> int:
        from judged.conventions.libraries.trec_eval import as_long

        try:
            found = as_long(str(text))
        except ValueError as error:
            raise click.BadParameter(f"{error}.") from None
        if not least <= found < 2**63:
            raise click.BadParameter(f"{text!r} is not a whole number from {least}.")
        return found

    return number


@command(
    "trec-eval",
    short_help="Print what trec_eval 10.0 prints.",
    epilog=EPILOG,
    context_settings={"help_option_names": []},
    options_metavar="[OPTIONS]",
)
@click.argument("judgements", metavar="QRELS", type=READS, required=False)
@click.argument("run", metavar="RUN", type=READS, required=False)
@click.option(
    "-h",
    "--help",
    "help_wanted",
    is_flag=True,
    help="Explain the options and the measures named by -m.",
)
@click.option(
    "-v", "--version", "version_wanted", is_flag=True, help="Say which version's output this is."
)
@click.option(
    "-q",
    "--query_eval_wanted",
    "queries",
    is_flag=True,
    help="Print the values of every query too.",
)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="NAME[.PARAMETERS]",
    help="A measure or a group; may be repeated.",
)
@click.option(
    "-c",
    "--complete_rel_info_wanted",
    "complete",
    is_flag=True,
    help="Average over all judged queries; those that the run lacks count as 0.",
)
@click.option(
    "-l",
    "--level_for_rel",
    "level",
    type=_whole(0),
    default=1,
    show_default=True,
    metavar="N",
    help="The lowest relevant grade.",
)
@click.option("-n", "--nosummary", "no_summary", is_flag=True, help="Print no summary.")
@click.option(
    "-D", "--Debug_level", "debug", metavar="N", help="Refused: judged has no debug output."
)
@click.option(
    "-J", "--Judged_docs_only", "judged_only", is_flag=True, help="Remove unjudged items first."
)
@click.option(
    "-N",
    "--Number_docs_in_coll",
    "collection",
    type=_whole(0),
    default=0,
    metavar="N",
    help="The size of the collection.",
)
@click.option(
    "-M",
    "--Max_retrieved_per_topic",
    "depth",
    type=_whole(1),
    metavar="N",
    help="Only the first N results count.",
)
@click.option(
    "-R",
    "--Rel_info_format",
    "judgements_format",
    default="qrels",
    show_default=True,
    help="Only qrels is known.",
)
@click.option(
    "-T",
    "--Results_format",
    "run_format",
    default="trec_results",
    show_default=True,
    help="Only trec_results is known.",
)
@click.option(
    "-Z",
    "--Zscore",
    "zscores",
    metavar="FILE",
    type=READS,
    help=(
        "Print distances from the mean in standard deviations, both from FILE: query, measure, "
        "mean, deviation."
    ),
)
@room_options
@click.option("-o", "obsolete", is_flag=True, help="Obsolete: does nothing.")
@click.pass_context
def trec_eval(
    ctx: click.Context,
    judgements: str | None,
    run: str | None,
    help_wanted: bool,
    version_wanted: bool,
    queries: bool,
    measures: tuple[str, ...],
    complete: bool,
    level: int,
    no_summary: bool,
    debug: str | None,
    judged_only: bool,
    collection: int,
    depth: int | None,
    judgements_format: str,
    run_format: str,
    zscores: str | None,
    memory: str,
    temporary: str | None,
    obsolete: bool,
) -> None:
    """Print what trec_eval 10.0 prints, for scripts that call it: RUN scored against QRELS."""
    from judged.cli._terminal import hand_over, say
    from judged.conventions.libraries.trec_eval import NAMES, REFUSED
    from judged.errors import InputError, PolicyError
    from judged.trec_eval import Request, explained, printed

    if version_wanted:
        say(f"trec_eval version {VERSION} (the output of judged trec-eval)", err=True)
        return
    if help_wanted:
        say(ctx.get_help())
        if measures:
            say("\n".join(explained(measures)))
        return
    if debug is not None:
        raise PolicyError("judged trec-eval has no -D: it prints no debug output.")
    for flag, given, known in (
        ("-R", judgements_format, "qrels"),
        ("-T", run_format, "trec_results"),
    ):
        if given in REFUSED:
            raise InputError(
                f"judged trec-eval does not read {REFUSED[given]} ({flag} {given}); it reads "
                f"{known}."
            )
        if given != known:
            raise InputError(f"judged trec-eval knows no format {given!r}; {flag} takes {known}.")
    if judgements is None or run is None:
        raise click.UsageError(
            "Give the judgements and the run: judged trec-eval [OPTIONS] QRELS RUN.", ctx
        )
    request = Request(
        measures=measures or ("official",),
        queries=queries,
        summary=not no_summary,
        complete=complete,
        level=level,
        depth=depth,
        judged_only=judged_only,
        collection=collection,
        zscores=zscores,
        memory=memory,
        temporary=temporary,
    )
    for text in measures:
        root, _, parameters = text.partition(".")
        if parameters and root in NAMES and NAMES[root].takes_nothing:
            say(f"warning: trec_eval ignores the parameters of {text!r}.", err=True)
    for line in printed(judgements, run, request):
        hand_over(f"{line}\n")
