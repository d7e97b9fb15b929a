"""`judged identify`: find the definitions that give a number."""

from __future__ import annotations

from typing import Any

import click

from judged.cli import _options as opt
from judged.cli._command import READS, command


@command(example="judged identify 0.4433 qrels.txt bm25.run")
@click.argument("value", metavar="VALUE")
@opt.judgements_argument
@click.argument("run", metavar="[RUN]", required=False, type=READS)
@opt.measures_option
@opt.columns_option
@opt.result_options(verbose=True)
def identify(value: str, judgements: str, run: str | None, **options: Any) -> Any:
    """Find the measure, parameters and policy that give VALUE for RUN and QRELS.

    VALUE is the number as it was printed, such as 0.4433, 44.33 or 44.33%. Its digits determine the
    precision. With -m only that measure is searched, with all values of parameters that it leaves
    open. Without RUN, QRELS is a rankings file, or holds rows with a query, relevant ids and
    retrieved ids.
    """
    from judged.cli._terminal import working
    from judged.conventions.identification import identify as find_definitions

    with working(f"Searching for {value}"):
        return opt.call_scoring(find_definitions, value, judgements, run, **options)
