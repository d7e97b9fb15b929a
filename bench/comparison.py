"""Contenders that compare runs: `python -m bench.comparison NAME QRELS RUN RUN RUN` prints one line
of JSON.

Only the call is timed. Everything is in memory before, and every contender has compared once, on
few queries.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from typing import Any

from bench.contenders import MEASURES, RANX, clocked, nested

Report = dict[str, Any]
Dicts = dict[str, dict[str, Any]]
RESAMPLES = 999
FEW = 12
"""Queries of the first call, which nobody times."""


def judged_values(qrels: str, runs: Sequence[str]) -> Report:
    """From values of queries that are there already."""
    import judged

    _draw_as_many_as_ranx()
    evaluation = judged.evaluate(qrels, list(runs), MEASURES)
    return _timed(lambda: evaluation.compare(test="randomisation"), 1)


def judged_compare(qrels: str, runs: Sequence[str]) -> Report:
    """From results, as ranx.compare does it."""
    import judged

    _draw_as_many_as_ranx()
    judgements, results = _read(qrels, runs)
    options = {"test": "randomisation"}
    few = {name: dict(list(run.items())[:FEW]) for name, run in results.items()}
    judged.compare({query: judgements[query] for query in few["1"]}, few, MEASURES, **options)
    return _timed(lambda: judged.compare(judgements, results, MEASURES, **options))


def ranx_compare(qrels: str, runs: Sequence[str]) -> Report:
    import ranx

    judgements, results = _read(qrels, runs)
    given = [ranx.Run(run, name=name) for name, run in results.items()]
    few = [ranx.Run(dict(list(run.items())[:FEW]), name=name) for name, run in results.items()]
    known = ranx.Qrels({query: judgements[query] for query in list(judgements)[:FEW]})
    options = {"metrics": list(RANX), "stat_test": "fisher", "n_permutations": RESAMPLES}
    ranx.compare(known, few, **options)
    everything = ranx.Qrels(judgements)
    return _timed(lambda: ranx.compare(everything, given, **options))


CONTENDERS: dict[str, Callable[[str, Sequence[str]], Report]] = {
    "judged-values": judged_values,
    "judged-compare": judged_compare,
    "ranx-compare": ranx_compare,
}


def _read(qrels: str, runs: Sequence[str]) -> tuple[Dicts, dict[str, Dicts]]:
    """Dicts of judgements, and of each run by its number."""
    results = {str(at): nested(run, 6, "Float64", value=4) for at, run in enumerate(runs, 1)}
    return nested(qrels, 4, "Int64"), results


def _draw_as_many_as_ranx() -> None:
    from judged.comparison.settings import ComparisonSettings

    ComparisonSettings.__init__.__kwdefaults__["resamples"] = RESAMPLES


def _timed(call: Callable[[], Any], untimed: int = 0) -> Report:
    for _ in range(untimed):
        call()
    return {"calls": clocked(call, 1)}


if __name__ == "__main__":
    print(json.dumps(CONTENDERS[sys.argv[1]](sys.argv[2], sys.argv[3:])))
