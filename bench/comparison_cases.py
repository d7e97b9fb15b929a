"""The cases of comparing runs: beside ranx, and beside evaluating them."""

from __future__ import annotations

from bench.case import Case, Contender, faster, within
from bench.data import Size


def comparison_cases(quick: bool) -> tuple[Case, ...]:
    return _compare(quick), _compare_files(quick), _compare_startup(quick)


def _compare(quick: bool) -> Case:
    size = Size(700 if quick else 7_000, 10, 10, runs=3)
    return Case(
        name="compare",
        title=f"Randomisation tests of 5 measures, 999 resamples, the call only, {size} results",
        contenders=(
            Contender("judged, from values", _script("judged-values"), size),
            Contender("judged, from dicts", _script("judged-compare"), size),
            Contender("ranx, fisher", _script("ranx-compare"), size, rounds=1),
        ),
        claims=(faster("50 times faster than ranx", "ranx, fisher", "judged, from values", 50),),
        repeat=1 if quick else 3,
        one_job=False,
    )


def _compare_files(quick: bool) -> Case:
    size = Size(700 if quick else 7_000, 1_000, runs=3)
    return Case(
        name="compare_files",
        title=f"Comparing beside evaluating, whole process, {size} results",
        contenders=_both(size),
        claims=(
            within(
                "comparing runs costs little more than evaluating them",
                *("judged compare", "/", "judged evaluate", 1.15),
            ),
        ),
        repeat=2 if quick else 5,
        one_job=False,
    )


def _compare_startup(quick: bool) -> Case:
    size = Size(50, 100, runs=2)
    return Case(
        name="compare_startup",
        title=f"Comparing beside evaluating few results, whole process, {size} results",
        contenders=_both(size),
        claims=(
            within(
                "a small comparison takes little longer than an evaluation",
                *("judged compare", "/", "judged evaluate", 1.3),
            ),
        ),
        repeat=5 if quick else 15,
        one_job=False,
    )


def _both(size: Size) -> tuple[Contender, ...]:
    files = ("{qrels}", *(f"{{run{at}}}" for at in range(1, size.runs + 1)))
    return tuple(
        Contender(f"judged {name}", ("-m", "judged", name, *files), size, prints_json=False)
        for name in ("compare", "evaluate")
    )


def _script(name: str) -> tuple[str, ...]:
    return ("-m", "bench.comparison", name, "{qrels}", "{run1}", "{run2}", "{run3}")
