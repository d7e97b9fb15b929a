"""What each contender does in its own process: `python -m bench.contenders NAME QRELS RUN` prints
one line of JSON.

`{"scores": …}` are the means, to be compared with the others. A contender that starts from dicts
times its calls itself and adds `"calls": [{"wall": …, "cpu": …}, …]`. Imports are inside the
functions: each process pays for its own library only.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

MEASURES = ("AP", "nDCG@10", "RR", "P@10", "R@100")
PYTREC_EVAL = {
    "map": "AP",
    "ndcg_cut_10": "nDCG@10",
    "recip_rank": "RR",
    "P_10": "P@10",
    "recall_100": "R@100",
}
RANX = {
    "map": "AP",
    "ndcg@10": "nDCG@10",
    "mrr": "RR",
    "precision@10": "P@10",
    "recall@100": "R@100",
}
CALLS = 3
"""Timed calls per process in the cases that start from dicts: building the dicts takes longer than
using them."""

Report = dict[str, Any]
Scores = dict[str, float]
Dicts = dict[str, dict[str, Any]]


def scan(_: str, run: str) -> Report:
    """The floor: polars reads the three columns of the run that an evaluation needs, and nothing is
    done with them."""
    import polars as pl

    names = ("query", "q0", "item", "rank", "score", "system")
    schema = {name: pl.Float64 if name == "score" else pl.String for name in names}
    lines = pl.scan_csv(run, separator=" ", has_header=False, schema=schema, quote_char=None)
    return {"rows": lines.select("query", "item", "score").collect(engine="streaming").height}


def stream(_: str, run: str) -> Report:
    """The floor where lines do not fit into memory: the same columns are read and added up."""
    import polars as pl

    names = ("query", "q0", "item", "rank", "score", "system")
    schema = {name: pl.Float64 if name == "score" else pl.String for name in names}
    lines = pl.scan_csv(run, separator=" ", has_header=False, schema=schema, quote_char=None)
    sums = [pl.col("query", "item").str.len_bytes().sum(), pl.col("score").sum()]
    return {"sums": lines.select(sums).collect(engine="streaming").row(0)}


def pytrec_eval_files(qrels: str, run: str) -> Report:
    import pytrec_eval

    with open(qrels) as qrels_file, open(run) as run_file:
        return {
            "scores": _pytrec_eval(
                pytrec_eval.parse_qrel(qrels_file), pytrec_eval.parse_run(run_file)
            )
        }


def ir_measures_files(qrels: str, run: str) -> Report:
    import ir_measures

    library: Any = ir_measures
    return {"scores": _ir_measures(library.read_trec_qrels(qrels), library.read_trec_run(run))}


def ranx_files(qrels: str, run: str) -> Report:
    from ranx import Qrels, Run

    return {"scores": _ranx(Qrels.from_file(qrels, kind="trec"), Run.from_file(run, kind="trec"))}


def judged_dicts(qrels: str, run: str) -> Report:
    import judged

    judged.evaluate(
        {"q": {"a": 1}}, {"q": {"a": 1.0}}, MEASURES
    )  # its modules load on first use; the peers' are loaded now

    def call(judgements: Dicts, results: Dicts) -> Scores:
        scores: Scores = judged.evaluate(judgements, results, MEASURES).to_dict()["runs"][0][
            "scores"
        ]
        return scores

    return _timed(call, qrels, run)


def judged_reading(_: str, run: str) -> Report:
    """Reading the run, the call only: what measures are set beside."""
    import judged

    return {"calls": clocked(lambda: judged.read_run(run))}


def judged_all_trec(qrels: str, run: str) -> Report:
    """All measures of trec_eval's all_trec for rankings that are made already, the call only."""
    import judged
    from judged.cli._trec_eval import chosen_lines

    measures = [line.measure for line in chosen_lines(("all_trec",)) if line.measure]
    rankings = judged.Rankings.from_run(qrels, run)
    return {"calls": clocked(lambda: rankings.evaluate(measures))}


def pytrec_eval_all_trec(qrels: str, run: str) -> Report:
    """The same for dicts that are made already."""
    import pytrec_eval

    with open(qrels) as qrels_file, open(run) as run_file:
        judgements, results = pytrec_eval.parse_qrel(qrels_file), pytrec_eval.parse_run(run_file)
    return {
        "calls": clocked(
            lambda: pytrec_eval.RelevanceEvaluator(judgements, {"all_trec"}).evaluate(results)
        )
    }


def pytrec_eval_dicts(qrels: str, run: str) -> Report:
    import pytrec_eval  # noqa: F401  (imported before the clock starts, as the others are)

    return _timed(_pytrec_eval, qrels, run)


def ir_measures_dicts(qrels: str, run: str) -> Report:
    import ir_measures  # noqa: F401

    return _timed(_ir_measures, qrels, run)


def ranx_dicts(qrels: str, run: str) -> Report:
    from ranx import Qrels, Run

    return _timed(lambda judgements, results: _ranx(Qrels(judgements), Run(results)), qrels, run)


CONTENDERS: dict[str, Callable[[str, str], Report]] = {
    "scan": scan,
    "stream": stream,
    "pytrec_eval-files": pytrec_eval_files,
    "ir_measures-files": ir_measures_files,
    "ranx-files": ranx_files,
    "judged-dicts": judged_dicts,
    "pytrec_eval-dicts": pytrec_eval_dicts,
    "ir_measures-dicts": ir_measures_dicts,
    "judged-reading": judged_reading,
    "judged-all_trec": judged_all_trec,
    "pytrec_eval-all_trec": pytrec_eval_all_trec,
    "ranx-dicts": ranx_dicts,
}


def _pytrec_eval(qrels: Dicts, run: Dicts) -> Scores:
    import pytrec_eval

    values = pytrec_eval.RelevanceEvaluator(qrels, set(PYTREC_EVAL)).evaluate(run)
    return {
        ours: sum(of[theirs] for of in values.values()) / len(values)
        for theirs, ours in PYTREC_EVAL.items()
    }


def _ir_measures(qrels: Any, run: Any) -> Scores:
    import ir_measures

    measures = [ir_measures.parse_measure(name) for name in MEASURES]
    return {
        str(measure): float(mean)
        for measure, mean in ir_measures.calc_aggregate(measures, qrels, run).items()
    }


def _ranx(qrels: Any, run: Any) -> Scores:
    import ranx

    means = ranx.evaluate(qrels, run, list(RANX))
    return {ours: float(means[theirs]) for theirs, ours in RANX.items()}


def _timed(call: Callable[[Dicts, Dicts], Scores], qrels: str, run: str) -> Report:
    """Only the call from dicts to means is timed; the first one counts too, with whatever it
    imports."""
    judgements, results = nested(qrels, 4, "Int64"), nested(run, 6, "Float64", value=4)
    scores: list[Scores] = []
    calls = clocked(lambda: scores.append(call(judgements, results)))
    return {"scores": scores[-1], "calls": calls}


def clocked(call: Callable[[], Any], times: int = CALLS) -> list[dict[str, float]]:
    """How long each of some calls takes."""
    calls: list[dict[str, float]] = []
    for _ in range(times):
        wall, cpu = time.perf_counter(), time.process_time()
        call()
        calls.append({"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu})
    return calls


def nested(path: str, fields: int, kind: str, value: int = 3) -> Dicts:
    """{query: {item: number}} in the order of the file, with a string of its own for every row, as
    from a parser."""
    import polars as pl

    schema = {
        str(field): getattr(pl, kind) if field == value else pl.String for field in range(fields)
    }
    frame = pl.read_csv(path, separator=" ", has_header=False, schema=schema, quote_char=None)
    groups = frame.group_by("0", maintain_order=True).agg("2", str(value))
    return {
        query: dict(zip(items, numbers, strict=True))
        for query, items, numbers in groups.iter_rows()
    }


if __name__ == "__main__":
    print(json.dumps(CONTENDERS[sys.argv[1]](*sys.argv[2:])))
