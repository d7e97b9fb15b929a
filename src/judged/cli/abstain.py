"""`judged abstain`: find the score from which on a run should answer."""

from __future__ import annotations

from typing import Any

from judged.cli import _options as opt
from judged.cli._command import command


@command(example="judged abstain qrels.txt dense.run --risk 0.1")
@opt.data_arguments
@opt.measure_option("Success@1", "Call an answer right if this is 1.")
@opt.number("--risk", float, "SHARE", "Allow this share of wrong answers.", 0.1)
@opt.number("--threshold", float, "SCORE", "Test this threshold instead of choosing one.")
@opt.level_option()
@opt.columns_option
@opt.result_options()
def abstain(judgements: str, runs: tuple[str, ...], measure: str, **options: Any) -> Any:
    """Find the least best score from which on RUN should answer, so that few answers are wrong.

    The share of wrong answers is bounded with finite-sample confidence. The exit code is 1 if no
    score keeps the bound within --risk, or if that of --threshold does not. A rankings file
    (*.rankings) can replace QRELS and RUN.
    """
    from judged.cli import DONE, NO
    from judged.evaluation.evaluate import evaluate

    asked = {name: options.pop(name) for name in ("risk", "threshold", "level")}
    found = opt.score_runs(evaluate, judgements, runs, measures=[measure], **options)
    result = found.abstention(measure, **asked)
    return result, DONE if result.passed else NO
