"""The cases, their contenders and what is claimed about them, as data."""

from __future__ import annotations

from dataclasses import replace

from bench.case import BEFORE, TREC_EVAL, Case, Claim, Contender, at_most, faster, within
from bench.comparison_cases import comparison_cases
from bench.contenders import MEASURES
from bench.data import Embedded, Size
from bench.explorer_cases import explorer_cases
from bench.judgement_cases import judgement_cases
from bench.scale_cases import scale_cases
from bench.statistics_cases import statistics_cases

EVALUATE = ("-m", "judged", "evaluate", "{qrels}", "{run}")
ASKED = (*(word for measure in MEASURES for word in ("-m", measure)), "--format", "json")
JUDGED = (*EVALUATE, *ASKED)
SAVED = ("-m", "judged", "evaluate", "{run}", *ASKED)


def cases(*, quick: bool = False) -> dict[str, Case]:
    """All cases by name; quick ones are small enough to try the benchmark itself, too small to
    believe."""
    long, wide = (
        (Size(700, 1_000), Size(10_000, 100)) if quick else (Size(7_000, 1_000), Size(100_000, 100))
    )
    found = (
        _files(long, quick),
        _dicts(long, quick),
        _queries(long, wide, quick),
        _all_trec(long, quick),
        _startup(quick),
        _embeddings(quick),
        _torchmetrics(quick),
        _many_relevant(quick),
        _mapped(quick),
        _temperature(quick),
        *statistics_cases(quick),
        *comparison_cases(quick),
        *judgement_cases(quick),
        *explorer_cases(quick),
        *scale_cases(quick),
    )
    return {case.name: case for case in found}


def _files(size: Size, quick: bool) -> Case:
    kept = replace(size, form="rankings")
    return Case(
        name="files",
        title=f"Files to numbers, whole process, {size} results",
        contenders=(
            Contender("judged", JUDGED, size),
            Contender("judged, rankings file", SAVED, kept, reads_qrels=False),
            Contender("polars scan", _script("scan"), size, reads_qrels=False),
            Contender("trec_eval", _many("trec_eval"), size, elsewhere=TREC_EVAL),
            Contender("pytrec_eval", _script("pytrec_eval-files"), size, rounds=3),
            Contender("ir_measures", _script("ir_measures-files"), size, rounds=1),
            Contender("ranx", _script("ranx-files"), size, rounds=1),
            Contender("judged, before", JUDGED, size, elsewhere=BEFORE),
        ),
        claims=(
            faster("at least 6 times faster than trec_eval", "trec_eval", "judged", 6),
            at_most("at most 1.6 times a bare polars scan", "wall", "judged", "polars scan", 1.6),
            at_most("peak memory below pytrec_eval's", "memory", "judged", "pytrec_eval", 1),
            Claim("a rankings file, s", "wall", "judged, rankings file", "-", "", "at most", 0.6),
            at_most("CPU, beside that before", "cpu", "judged", "judged, before", 1.05),
        ),
        repeat=2 if quick else 5,
        reference="pytrec_eval",
    )


def _dicts(size: Size, quick: bool) -> Case:
    return Case(
        name="dicts",
        title=f"Dict of dicts to numbers, the call only, {size} results",
        contenders=(
            Contender("judged", _script("judged-dicts"), size),
            Contender("pytrec_eval", _script("pytrec_eval-dicts"), size),
            Contender("ir_measures", _script("ir_measures-dicts"), size, rounds=1),
            Contender("ranx", _script("ranx-dicts"), size, rounds=1),
        ),
        claims=(faster("at least 7 times faster than pytrec_eval", "pytrec_eval", "judged", 7),),
        repeat=1 if quick else 3,
        reference="pytrec_eval",
    )


def _queries(long: Size, wide: Size, quick: bool) -> Case:
    named_long, named_wide = f"judged, {long}", f"judged, {wide}"
    return Case(
        name="queries",
        title=f"Many queries, files, whole process, {wide} beside {long} results",
        contenders=(
            Contender(named_long, JUDGED, long),
            Contender(named_wide, JUDGED, wide),
            Contender(f"polars scan, {long}", _script("scan"), long, reads_qrels=False),
            Contender(f"polars scan, {wide}", _script("scan"), wide, reads_qrels=False),
            Contender(f"pytrec_eval, {wide}", _script("pytrec_eval-files"), wide, rounds=1),
        ),
        claims=(at_most("time per line does not grow", "per line", named_wide, named_long, 1.1),),
        repeat=2 if quick else 5,
        reference=f"pytrec_eval, {wide}",
    )


def _all_trec(size: Size, quick: bool) -> Case:
    return Case(
        name="all_trec",
        title=f"All measures of trec_eval's all_trec, the call only, {size} results",
        contenders=(
            Contender("judged, all_trec", _script("judged-all_trec"), size),
            Contender("judged, reading the run", _script("judged-reading"), size),
            Contender("pytrec_eval, all_trec", _script("pytrec_eval-all_trec"), size, rounds=1),
        ),
        claims=(
            within(
                "all measures cost no more than reading",
                "judged, all_trec",
                "/",
                "judged, reading the run",
                1.0,
            ),
        ),
        repeat=2 if quick else 5,
    )


def _startup(quick: bool) -> Case:
    size = Size(50, 1_000)
    evaluate = (*EVALUATE, "--format", "json")
    lines = ("-m", "judged", "trec-eval", "{qrels}", "{run}")
    return Case(
        name="startup",
        title=f"Start-up, whole process; evaluate on {size} results",
        contenders=(
            Contender("judged --help", ("-m", "judged", "--help"), size, prints_json=False),
            Contender("import click", ("-c", "import click"), size, prints_json=False),
            Contender("import judged", ("-c", "import judged"), size, prints_json=False),
            Contender("import numpy", ("-c", "import numpy"), size, prints_json=False),
            Contender("judged evaluate", evaluate, size),
            Contender("judged trec-eval", lines, size, prints_json=False),
        ),
        claims=(
            within("judged --help beyond click, s", "judged --help", "-", "import click", 0.15),
            within("a small evaluation", "judged evaluate", "/", "import numpy", 2.5),
            within("trec_eval's lines", "judged trec-eval", "/", "import numpy", 2.5),
        ),
        repeat=5 if quick else 15,
        one_job=False,
    )


def _embeddings(quick: bool) -> Case:
    size = Embedded(500, 10_000, 64, 5) if quick else Embedded(10_000, 100_000, 256, 5)
    return Case(
        name="embeddings",
        title=f"Vectors to numbers and to lists, the call only, {size}",
        contenders=(
            Contender("bare product", _vectors("gemm"), size),
            Contender("judged, all ranks", _vectors("judged"), size),
            Contender("judged, random ranks", _vectors("judged-random"), size),
            Contender("judged, top-100", _vectors("judged-top"), size),
            Contender("faiss, top-100", _vectors("faiss-top"), size, rounds=2),
            Contender("pytorch-metric-learning", _vectors("metric_learning"), size, rounds=1),
        ),
        claims=(
            at_most("all ranks, near the top", "cpu", "judged, all ranks", "bare product", 1.35),
            at_most("all ranks, anywhere", "cpu", "judged, random ranks", "bare product", 1.5),
            at_most("top-100 lists", "cpu", "judged, top-100", "faiss, top-100", 1),
            faster(
                "at least 5 times faster than its own",
                "pytorch-metric-learning",
                "judged, all ranks",
                5,
            ),
        ),
        repeat=1 if quick else 3,
        reference="judged, all ranks",
    )


def _torchmetrics(quick: bool) -> Case:
    size = Embedded(100, 10_000, 64, 5) if quick else Embedded(1_000, 100_000, 256, 5)
    return Case(
        name="torchmetrics",
        title=f"Vectors to numbers, the call only, {size}",
        contenders=(
            Contender("judged, all ranks", _vectors("judged"), size),
            Contender("torchmetrics", _vectors("torchmetrics"), size, rounds=2),
        ),
        claims=(
            faster("at least 5 times faster than its own", "torchmetrics", "judged, all ranks", 5),
        ),
        repeat=1 if quick else 3,
        reference="judged, all ranks",
    )


def _many_relevant(quick: bool) -> Case:
    size = Embedded(200, 10_000, 64, 200) if quick else Embedded(2_000, 100_000, 256, 200)
    return Case(
        name="many_relevant",
        title=f"Vectors to numbers, many relevant items, the call only, {size}",
        contenders=(
            Contender("bare product", _vectors("gemm"), size),
            Contender("judged, all ranks", _vectors("judged"), size),
        ),
        claims=(
            within(
                "all ranks of 200 relevant items", "judged, all ranks", "/", "bare product", 2.6
            ),
        ),
        repeat=1 if quick else 5,
    )


def _mapped(quick: bool) -> Case:
    size = Embedded(200, 100_000, 64, 5) if quick else Embedded(20_000, 1_000_000, 64, 5)
    return Case(
        name="mapped",
        title=f"Vectors on disk to numbers under a cap of 1 GB, {size}",
        contenders=(
            Contender("judged, mapped", _vectors("judged-mapped"), size),
            Contender(
                "import judged, polars",
                ("-c", "import judged, polars; judged.evaluate"),
                size,
                prints_json=False,
            ),
        ),
        claims=(
            Claim(
                "memory beyond the libraries, GB",
                "gigabytes",
                "judged, mapped",
                "-",
                "import judged, polars",
                "at most",
                1,
            ),
        ),
        repeat=1,
        one_job=False,
    )


def _temperature(quick: bool) -> Case:
    size = Embedded(500, 1_000, 64, 5) if quick else Embedded(10_000, 10_000, 256, 5)
    floor = "bare product and exponentials"
    return Case(
        name="temperature",
        title=f"A sweep of 20 temperatures, the call only, {size}",
        contenders=(
            Contender(floor, _vectors("exponentials"), size),
            Contender("judged, sweep", _vectors("judged-sweep-only"), size),
            Contender("judged, sweep and search", _vectors("judged-sweep"), size),
            Contender("bare product", _vectors("gemm"), size),
        ),
        claims=(
            within(
                "one product, and one exponential pass a temperature",
                "judged, sweep",
                "/",
                floor,
                3,
            ),
            within(
                "the same with the best temperatures", "judged, sweep and search", "/", floor, 3
            ),
        ),
        repeat=1 if quick else 3,
    )


def _vectors(name: str) -> tuple[str, ...]:
    return ("-m", "bench.embeddings", name, "{folder}")


def _script(name: str) -> tuple[str, ...]:
    return ("-m", "bench.contenders", name, "{qrels}", "{run}")


def _many(name: str) -> tuple[str, ...]:
    return ("-m", "bench.many_runs", name, "{qrels}", "{run}")
