"""The cases of what needs no judgements, or asks for more of them: fusion and the queue."""

from __future__ import annotations

from bench.case import Case, Contender, faster, within
from bench.data import Size


def judgement_cases(quick: bool) -> tuple[Case, ...]:
    return _fuse(quick), _queue(quick)


def _fuse(quick: bool) -> Case:
    size = Size(100 if quick else 1_000, 1_000, runs=2)
    files = ("{run1}", "{run2}")
    judged = ("-m", "judged", "fuse", *files, "-o", "{out}")
    return Case(
        name="fuse",
        title=f"Reciprocal rank fusion, files to a file, {size} results",
        contenders=(
            Contender("judged fuse", judged, size, prints_json=False),
            Contender("ranx", _fusion("ranx"), size, rounds=2),
            Contender("judged, the call only", _fusion("judged-call"), size),
            Contender("ranx, the call only", _fusion("ranx-call"), size, rounds=2),
        ),
        claims=(
            faster("at least 3 times faster, whole process", "ranx", "judged fuse", 3),
            faster(
                "at least 3 times faster, once all is loaded",
                *("ranx, the call only", "judged, the call only", 3),
            ),
        ),
        repeat=1 if quick else 5,
        one_job=False,
    )


def _queue(quick: bool) -> Case:
    size = Size(200, 100 if quick else 1_000, runs=3)
    files = ("{qrels}", "{run1}", "{run2}", "{run3}")
    queue = ("-m", "judged", "queue", *files, "--depth", "20", "-m", "nDCG@10", "-o", "{queue}")
    evaluate = ("-m", "judged", "evaluate", *files, "-m", "nDCG@10", "--per-query")
    return Case(
        name="queue",
        title=f"What to judge next, depth 20, beside evaluating, whole process, {size} results",
        contenders=(
            Contender("judged queue", queue, size, prints_json=False),
            Contender("judged evaluate --per-query", evaluate, size, prints_json=False),
        ),
        claims=(
            within(
                "a queue costs little more than an evaluation",
                *("judged queue", "/", "judged evaluate --per-query", 3),
            ),
        ),
        repeat=2 if quick else 5,
        one_job=False,
    )


def _fusion(name: str) -> tuple[str, ...]:
    return ("-m", "bench.fusion", name, "{run1}", "{run2}", "{out}")
