"""Contenders that score many runs: `python -m bench.many_runs NAME QRELS RUN...` prints one line of
JSON, with the means of the first run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from bench.contenders import PYTREC_EVAL

Report = dict[str, Any]
TREC_EVAL = "JUDGED_BENCH_TREC_EVAL"
"""The variable that says where trec_eval is."""


def trec_eval(qrels: str, *runs: str) -> Report:
    """The program, one process for each run."""
    asked = [
        word
        for name in ("map", "ndcg_cut.10", "recip_rank", "P.10", "recall.100")
        for word in ("-m", name)
    ]
    found = [_output([os.environ[TREC_EVAL], *asked, qrels, run]) for run in runs]
    rows = [line.split() for line in found[0].splitlines()]
    return {"printed": {PYTREC_EVAL[name]: float(value) for name, _, value in rows}}


def pytrec_eval_processes(qrels: str, *runs: str) -> Report:
    """A new Python for each run."""
    command = [sys.executable, "-m", "bench.contenders", "pytrec_eval-files", qrels]
    found = [_output([*command, run]) for run in runs]
    return {"scores": json.loads(found[0])["scores"]}


def pytrec_eval(qrels: str, *runs: str) -> Report:
    """One process, in which the judgements are made ready once."""
    import pytrec_eval as library

    with open(qrels) as file:
        evaluator = library.RelevanceEvaluator(library.parse_qrel(file), set(PYTREC_EVAL))
    found = []
    for run in runs:
        with open(run) as file:
            values = evaluator.evaluate(library.parse_run(file))
        found.append(
            {
                ours: sum(of[theirs] for of in values.values()) / len(values)
                for theirs, ours in PYTREC_EVAL.items()
            }
        )
    return {"scores": found[0]}


def _output(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


CONTENDERS: dict[str, Callable[..., Report]] = {
    "trec_eval": trec_eval,
    "pytrec_eval-processes": pytrec_eval_processes,
    "pytrec_eval": pytrec_eval,
}


if __name__ == "__main__":
    print(json.dumps(CONTENDERS[sys.argv[1]](*sys.argv[2:])))
