"""The cases of scale: larger than memory, many runs, Spark, very many relevant items.

The large ones are run by name."""

from __future__ import annotations

from bench.case import BEFORE, TREC_EVAL, Case, Claim, Contender, Elsewhere, at_most, faster
from bench.contenders import MEASURES
from bench.data import Embedded, Size

ASKED = (*(word for measure in MEASURES for word in ("-m", measure)), "--format", "json")
JUDGED = ("-m", "judged", "evaluate", "{qrels}", "{run}", *ASKED)
NO_ISAL = (
    "-c",
    "import sys; sys.modules['isal'] = None; from judged.__main__ import main; main()",
    *JUDGED[2:],
)
RECOMMENDERS = Elsewhere("JUDGED_BENCH_RECOMMENDERS", "interpreter")
REPLAY = Elsewhere("JUDGED_BENCH_REPLAY", "interpreter")
LIBRARIES = ("-c", "import judged, polars; judged.evaluate")


def scale_cases(quick: bool) -> tuple[Case, ...]:
    return (
        _large(quick),
        _random_order(quick),
        _gz(quick),
        _many_runs(quick),
        _hundreds_of_runs(quick),
        _judgements(quick),
        _spark(quick),
        _many_positives(quick),
        _spark_embeddings(quick),
    )


def _large(quick: bool) -> Case:
    size, usual = (
        (Size(2_000, 1_000), Size(700, 1_000))
        if quick
        else (Size(100_000, 1_000), Size(7_000, 1_000))
    )
    ours, shorter, floor = f"judged, {size}", f"judged, {usual}", f"polars stream, {size}"
    return Case(
        name="large",
        title=f"Larger than memory, whole process, {size} results",
        contenders=(
            Contender(ours, JUDGED, size),
            Contender(floor, _script("stream"), size, reads_qrels=False),
            Contender(shorter, JUDGED, usual),
        ),
        claims=(
            Claim("peak memory, GB", "gigabytes", ours, "-", "", "at most", 1),
            at_most("at most 2.2 times a bare streaming scan", "wall", ours, floor, 2.2),
            at_most("time per line does not grow", "per line", ours, shorter, 1.15),
        ),
        repeat=2 if quick else 3,
        by_name=not quick,
    )


def _random_order(quick: bool) -> Case:
    queries = 700 if quick else 30_000
    size, grouped = Size(queries, 1_000, form="random"), Size(queries, 1_000)
    return Case(
        name="random_order",
        title=f"Lines in random order, whole process, {size} results",
        contenders=(
            Contender("judged, random order", JUDGED, size),
            Contender("judged, grouped by query", JUDGED, grouped),
        ),
        claims=(
            Claim("peak memory, GB", "gigabytes", "judged, random order", "-", "", "at most", 1),
            at_most(
                "at most 3.5 times the CPU of grouped lines",
                *("cpu", "judged, random order", "judged, grouped by query", 3.5),
            ),
        ),
        repeat=2 if quick else 3,
        by_name=not quick,
    )


def _gz(quick: bool) -> Case:
    queries = 700 if quick else 7_000
    packed, plain = Size(queries, 1_000, form="gz"), Size(queries, 1_000)
    return Case(
        name="gz",
        title=f"A compressed run, whole process, {packed} results",
        contenders=(
            Contender("judged, gz", NO_ISAL, packed),
            Contender("judged, gz by isal", JUDGED, packed),
            Contender("judged, plain text", JUDGED, plain),
        ),
        claims=(
            at_most("CPU", "cpu", "judged, gz", "judged, plain text", 1.6),
            at_most("CPU, with isal", "cpu", "judged, gz by isal", "judged, plain text", 1.6),
            at_most("peak memory", "memory", "judged, gz", "judged, plain text", 1.1),
        ),
        repeat=2 if quick else 5,
        by_name=not quick,
    )


def _many_runs(quick: bool) -> Case:
    size = Size(50, 1_000, runs=10 if quick else 200)
    every = ("-m", "judged", "evaluate", "{qrels}", "{runs}", *ASKED)
    alone, one_by_one = "pytrec_eval, one process", "trec_eval, one by one"
    return Case(
        name="many_runs",
        title=f"Many runs, whole process, {size} results",
        contenders=(
            Contender("judged", every, size),
            Contender("judged, before", every, size, elsewhere=BEFORE),
            Contender(alone, _many("pytrec_eval"), size),
            Contender(one_by_one, _many("trec_eval"), size, elsewhere=TREC_EVAL),
            Contender("pytrec_eval, one by one", _many("pytrec_eval-processes"), size, rounds=1),
        ),
        claims=(
            faster("at least 3 times faster than pytrec_eval", alone, "judged", 3),
            faster("at least 3 times faster than trec_eval", one_by_one, "judged", 3),
        ),
        repeat=1 if quick else 3,
        reference=alone,
        by_name=not quick,
    )


def _hundreds_of_runs(quick: bool) -> Case:
    size = Size(50, 200, runs=10 if quick else 300)
    files = ("{qrels}", "{runs}")
    commands = {
        "compare": ("compare", *files),
        "report": ("report", *files, "-o", "{report}"),
        "overlap": ("overlap", "{runs}"),
        "queue": ("queue", *files, "-o", "{queue}"),
    }
    return Case(
        name="hundreds_of_runs",
        title=f"Hundreds of runs, whole process, {size} results",
        contenders=tuple(
            Contender(f"judged {name}", ("-m", "judged", *words), size, prints_json=False)
            for name, words in commands.items()
        ),
        claims=tuple(
            Claim(f"CPU of {name}, s", "cpu", f"judged {name}", "-", "", "at most", 25)
            for name in commands
        ),
        repeat=1,
        one_job=False,
        by_name=not quick,
    )


def _judgements(quick: bool) -> Case:
    size = Size(1_000 if quick else 100_000, 20, judgements=200)
    return Case(
        name="judgements",
        title=f"{size.queries * size.judgements:,} judgements, whole process, {size} results",
        contenders=(
            Contender("judged", JUDGED, size),
            Contender("trec_eval", _many("trec_eval"), size, elsewhere=TREC_EVAL),
        ),
        claims=(at_most("peak memory", "memory", "judged", "trec_eval", 1.3),),
        repeat=1,
        by_name=not quick,
    )


def _spark(quick: bool) -> Case:
    size = Size(200 if quick else 20_000, 1_000, form="parquet")
    floor = "repartition, hand-over"
    return Case(
        name="spark",
        title=f"Spark in local mode, whole process, {size} rows",
        contenders=(
            Contender("judged, Spark", _spark_script("judged"), size),
            Contender(floor, _spark_script("hand-over"), size, reads_qrels=False),
            Contender("MLlib RankingMetrics", _spark_script("mllib"), size),
            Contender("recommenders", _spark_script("recommenders"), size, elsewhere=RECOMMENDERS),
            Contender("RePlay", _spark_script("replay"), size, elsewhere=REPLAY),
            Contender("judged, in memory", _spark_script("memory"), size),
        ),
        claims=(
            at_most("CPU, beside handing rows over", "cpu", "judged, Spark", floor, 2),
            faster("at least twice as fast as MLlib", "MLlib RankingMetrics", "judged, Spark", 2),
        ),
        repeat=1 if quick else 3,
        reference="judged, in memory",
        by_name=not quick,
    )


def _many_positives(quick: bool) -> Case:
    size = Embedded(100, 10_000, 64, 1_000) if quick else Embedded(4_000, 100_000, 64, 10_000)
    capped = ("-m", "bench.embeddings", "judged-capped", "{folder}")
    return Case(
        name="many_positives",
        title=f"Very many relevant items under a cap of 500 MB, the call only, {size}",
        contenders=(
            Contender("judged", capped, size),
            Contender("judged, before", capped, size, elsewhere=BEFORE),
            Contender("import judged, polars", LIBRARIES, size, prints_json=False),
        ),
        claims=(
            Claim(
                "memory beyond the libraries, GB",
                *("gigabytes", "judged", "-", "import judged, polars", "at most", 0.5),
            ),
            at_most("CPU, beside that before", "cpu", "judged", "judged, before", 0.75),
        ),
        repeat=1,
        reference="judged",
        one_job=False,
        by_name=not quick,
    )


def _spark_embeddings(quick: bool) -> Case:
    size = (
        Embedded(100, 10_000, 64, 5, table=True)
        if quick
        else Embedded(2_000, 1_000_000, 64, 5, table=True)
    )
    return Case(
        name="spark_embeddings",
        title=f"Vectors in Spark, local mode, the call only, {size}",
        contenders=(
            Contender("judged, Spark", _spark_vectors("judged"), size),
            Contender("judged, in memory", _spark_vectors("memory"), size),
        ),
        claims=(),
        repeat=1 if quick else 3,
        reference="judged, in memory",
        by_name=not quick,
    )


def _script(name: str) -> tuple[str, ...]:
    return ("-m", "bench.contenders", name, "{qrels}", "{run}")


def _many(name: str) -> tuple[str, ...]:
    return ("-m", "bench.many_runs", name, "{qrels}", "{runs}")


def _spark_script(name: str) -> tuple[str, ...]:
    return ("-m", "bench.spark", name, "{qrels}", "{run}")


def _spark_vectors(name: str) -> tuple[str, ...]:
    return ("-m", "bench.spark_embeddings", name, "{folder}")
