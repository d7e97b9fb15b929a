"""`judged bench`: evaluate systems on several collections."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from judged.cli import _options as opt
from judged.cli._command import Reads, command
from judged.comparison.settings import SAVED_AS


def _files(folder: str) -> list[str]:
    """Return the files of all collections, which -o must not overwrite."""
    return [str(path) for path in Path(folder).glob("*/*")]


@command(example="judged bench collections -m nDCG@10 --format latex")
@click.argument("folder", metavar="FOLDER", type=Reads(_files))
@opt.measures_option
@opt.convention_option
@opt.policy_options("missing")
@opt.flag(
    "--common",
    "Add the mean over the collections that all systems have.",
    group="comparison",
)
@opt.exclude_same_id_option
@opt.result_options(SAVED_AS)
def bench(folder: str, measures: Any, **options: Any) -> Any:
    """Evaluate systems on several collections, with macro means and ranks.

    FOLDER holds a folder per collection, each with one file of judgements (qrels.txt,
    judgements.csv) and a run per system: bm25.run, dense.rankings. Runs of one system have the same
    name in all folders. A system that lacks a collection has no macro mean.
    """
    from judged.cli._terminal import working
    from judged.comparison.benchmark import evaluate_many

    with working("Reading runs"):
        return opt.call_scoring(evaluate_many, folder, measures or "nDCG@10", **options)
