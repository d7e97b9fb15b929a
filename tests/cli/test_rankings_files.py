"""Rankings files instead of judgements and runs, for every command that reads those."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _rankings(files: Path, judged) -> None:
    judgements = [f"q{at} 0 d{item} {item % 3}" for at in range(12) for item in range(5)]
    Path("qrels").write_text("\n".join(judgements) + "\n")
    for name, step in (("a", 1), ("b", 3)):
        results = [
            f"q{at} Q0 d{(rank * step + at) % 7} {rank + 1} {9 - rank} {name}"
            for at in range(12)
            for rank in range(6)
        ]
        Path(f"{name}.run").write_text("\n".join(results) + "\n")
        made = judged("evaluate qrels", f"{name}.run", "-o", f"{name}.rankings", "-q")
        assert made.code == 0, made.err


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("evaluate", ("-m", "nDCG@10,AP", "--per-query")),
        ("compare", ("-m", "nDCG@10")),
        ("advise", ()),
    ],
)
def test_the_same_is_printed_as_for_judgements_and_runs(judged, command, options) -> None:
    by_runs = judged(command, "qrels", "a.run", "b.run", *options)
    by_rankings = judged(command, "a.rankings", "b.rankings", *options)
    assert by_rankings.code == by_runs.code == 0
    assert by_rankings.out == by_runs.out


def test_a_gate_compares_with_the_rankings_of_another_run(judged) -> None:
    by_runs = judged("gate qrels b.run --baseline a.run -m AP")
    by_rankings = judged("gate b.rankings --baseline a.rankings -m AP")
    assert (by_rankings.code, by_rankings.out) == (by_runs.code, by_runs.out)
    by_runs = judged("gate qrels b.run --baseline old=a.run -m AP")
    by_rankings = judged("gate b.rankings --baseline old=a.rankings -m AP")
    assert (by_rankings.code, by_rankings.out) == (by_runs.code, by_runs.out)
    assert judged("gate b.rankings --min AP=0.1").code == 0
    assert judged("gate b.rankings --min AP=0.99").code == 1


def test_a_gate_needs_judgements_for_a_baseline_file(judged) -> None:
    outcome = judged("gate a.rankings -m AP --baseline a.json --update-baseline")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == (
        "judged: a baseline file needs the judgements, and rankings do not hold them. Give the "
        "judgements and the run, or compare with the rankings of another run.\n"
    )
    assert not Path("a.json").exists()
    missing = judged("gate a.rankings -m AP --baseline old.rankings")
    assert (missing.code, missing.err) == (2, "judged: old.rankings: no such file.\n")


def test_a_report_has_the_values_of_rankings(judged) -> None:
    by_runs = judged("report qrels a.run b.run -m AP -o runs.html")
    by_rankings = judged("report a.rankings b.rankings -m AP -o rankings.html")
    assert (by_rankings.code, by_rankings.out) == (0, by_runs.out)
    page = Path("rankings.html").read_text()
    assert "judged report a.rankings b.rankings" in page
    assert "judged explain" not in page


def test_a_value_is_explained_without_ids(judged) -> None:
    outcome = judged("explain a.rankings --query q1 -m AP")
    assert outcome.code == 0
    first = judged("explain qrels a.run --query q1 -m AP").out.splitlines()[0]
    assert first.split()[-1] == outcome.out.splitlines()[0].split()[-1]


@pytest.mark.parametrize(
    ("kind", "runs"),
    [
        ("precision-recall", "ab"),
        ("precision-recall", "a"),
        ("scatter", "ab"),
        ("forest", "ab"),
        ("systems", "ab"),
        ("systems", "a"),
    ],
)
def test_charts_have_the_same_data(judged, kind: str, runs: str) -> None:
    of_runs = [f"{name}.run" for name in runs]
    of_rankings = [f"{name}.rankings" for name in runs]
    assert judged("plot", kind, "qrels", *of_runs, "-o", "runs.csv").code == 0
    assert judged("plot", kind, *of_rankings, "-o", "rankings.csv").code == 0
    assert Path("rankings.csv").read_text() == Path("runs.csv").read_text()


NO_IDS = """
    judged: a.rankings: a rankings file holds ranks and grades, but no ids of items, which are
    needed here. Give the judgements and the runs that it was made from.
"""
NOT_BESIDE = """
    judged: a.rankings: a rankings file replaces judgements and a run. Give rankings files alone,
    or judgements and runs.
"""


def test_what_is_refused(refuses):
    for command in (
        *("queue a.rankings", "check a.rankings", "plot scores a.rankings -o chart.svg"),
        *("overlap a.rankings b.run", "agreement qrels a.rankings"),
        *("merge qrels a.rankings -o merged.qrels", "fuse a.rankings b.run -o fused.run"),
        "compare a.rankings b.rankings -m AP --unjudged-range",
    ):
        refuses(command + NO_IDS)
    for command in (
        *("evaluate qrels a.rankings", "compare qrels b.run a.rankings"),
        *("queue qrels a.rankings", "gate qrels b.run --baseline a.rankings"),
    ):
        refuses(command + NOT_BESIDE)
    refuses("""
    plot rank-histogram a.rankings b.rankings -o chart.svg
        judged: rank-histogram needs judgements and one run; got 2 runs.
    """)
