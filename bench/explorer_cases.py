"""The cases of the explorer and the report, beside evaluating the same files."""

from __future__ import annotations

import os
from tempfile import gettempdir

from bench.case import Case, Claim, Contender, within
from bench.data import Size


def explorer_cases(quick: bool) -> tuple[Case, ...]:
    size = Size(700 if quick else 7_000, 100, 20, runs=10)
    return _views(size, quick), _first_page(size, quick), _report(quick)


def _views(size: Size, quick: bool) -> Case:
    parts = {
        "evaluate_rankings": "rankings",
        "a change of terms": "terms",
        "the same view again": "again",
        "a sort or filter of queries": "sort",
        "a change in the playground": "playground",
        "a chart": "chart",
        "200 requests at once": "at-once",
    }
    bounds = {
        "the same view again": 0.03,
        "a sort or filter of queries": 0.05,
        "a change in the playground": 0.08,
        "a chart": 0.15,
    }
    return Case(
        name="explorer",
        title=f"Answers of the explorer, 10 measures, files read, {size} results",
        contenders=tuple(
            Contender(name, _script(script, size), size) for name, script in parts.items()
        ),
        claims=(
            Claim(
                "a change of terms costs 0.2 s more than evaluating the same rankings, at most",
                *("cpu", "a change of terms", "-", "evaluate_rankings", "at most", 0.2),
            ),
            *(
                Claim(f"{name}: {bound} s of CPU", "cpu", name, "-", "", "at most", bound)
                for name, bound in bounds.items()
            ),
            Claim(
                "all under a gigabyte", "gigabytes", "200 requests at once", "-", "", "at most", 1
            ),
        ),
        repeat=1 if quick else 3,
        one_job=False,
    )


def _first_page(size: Size, quick: bool) -> Case:
    return Case(
        name="explorer_start",
        title=f"From files to the first page, whole process, {size} results",
        contenders=(
            Contender("explorer, first page", _script("first", size), size),
            Contender("judged evaluate", _command("evaluate", size), size, prints_json=False),
        ),
        claims=(
            within(
                "the first page is there in twice the time of an evaluation",
                *("explorer, first page", "/", "judged evaluate", 2),
            ),
        ),
        repeat=1 if quick else 5,
        one_job=False,
    )


REPORT = os.path.join(gettempdir(), "judged-bench-report.html")
CHARTS = 8
"""So many charts a report of several systems has."""


def _report(quick: bool) -> Case:
    size = Size(100 if quick else 1_000, 100, 20, runs=5)
    evaluate = _command("evaluate", size, "--per-query", "--format", "csv")
    return Case(
        name="report",
        title=f"A report beside an evaluation, whole process, {size} results",
        contenders=(
            Contender(
                *("judged report", _command("report", size, "-o", REPORT), size),
                prints_json=False,
            ),
            Contender("judged evaluate --per-query", evaluate, size, prints_json=False),
        ),
        claims=(
            Claim(
                f"an evaluation and 0.15 s for each of {CHARTS} charts, at most",
                *("cpu", "judged report", "-", "judged evaluate --per-query", "at most"),
                0.15 * CHARTS,
            ),
        ),
        repeat=1 if quick else 5,
        one_job=False,
    )


def _files(size: Size) -> tuple[str, ...]:
    return ("{qrels}", *(f"{{run{at}}}" for at in range(1, size.runs + 1)))


def _script(name: str, size: Size) -> tuple[str, ...]:
    return ("-m", "bench.explorer", name, *_files(size))


def _command(name: str, size: Size, *options: str) -> tuple[str, ...]:
    return ("-m", "judged", name, *_files(size), *options)
