"""`judged advise`: recommend measures that suit the data."""

from __future__ import annotations

from typing import Any

from judged.cli import _options as opt
from judged.cli._command import command


@command(example="judged advise qrels.txt bm25.run dense.run")
@opt.data_arguments
@opt.measures_option
@opt.columns_option
@opt.result_options(verbose=True)
def advise(judgements: str, runs: tuple[str, ...], **options: Any) -> Any:
    """Recommend measures and cutoffs that suit these data and separate the systems.

    Without -m the usual measures are examined. With two RUN files or more, every pair is compared
    on every measure. Rankings files (*.rankings) can replace QRELS and RUN.
    """
    from judged.evaluation.advice import advise as advise_on

    return opt.score_runs(advise_on, judgements, runs, **options)
