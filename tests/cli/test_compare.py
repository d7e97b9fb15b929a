"""`judged compare`: whole outputs of a small example, every format, and every refusal."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

RUNS = ("qrels", "a.run", "b.run", "--missing", "zero")


@pytest.fixture
def values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with eight queries of two runs, long and wide, and of each run a file."""
    monkeypatch.chdir(tmp_path)
    old = [0.50, 0.40, 0.30, 0.60, 0.20, 0.70, 0.10, 0.50]
    new = [0.70, 0.60, 0.40, 0.90, 0.40, 0.80, 0.40, 0.60]
    pairs = [(f"q{at}", *pair) for at, pair in enumerate(zip(old, new, strict=True))]
    rows = [f"old,{q},AP,{o}\nnew,{q},AP,{n}\n" for q, o, n in pairs]
    Path("long.csv").write_text("run,query,measure,value\n" + "".join(rows))
    rows = [f"{q},{o},{n}\n" for q, o, n in pairs]
    Path("wide.csv").write_text("query,old,new\n" + "".join(rows))
    for at, name in ((1, "old"), (2, "new")):
        lines = [f"map\t{pair[0]}\t{pair[at]}\n" for pair in pairs]
        Path(f"{name}.txt").write_text("".join(lines))
    return tmp_path


BLOCK = (
    "AP: new is significantly better than old by 0.188 (95 % CI 0.118 to 0.257).\n"
    "\n"
    "AP    value  against old  95 % CI                 p  verdict\n"
    "old  0.4125\n"
    "new  0.6000      +0.1875  +0.1177 … +0.2573  0.0004  better\n"
    "\n"
    "Test: paired t; correction: none needed for 1 comparison of AP; confidence level: 95 %.\n"
)


def test_the_same_values_by_every_way_in(judged: Any, values: Path) -> None:
    assert judged("compare --values long.csv").out == BLOCK
    assert judged("compare --values wide.csv -m AP").out == BLOCK
    of_map = BLOCK.replace("AP    v", "map   v").replace("AP:", "map:").replace("of AP;", "of map;")
    assert judged("compare --values old.txt new.txt").out == of_map


def test_runs_and_judgements(judged: Any, files: Path) -> None:
    # a has 1/2, 1 and nothing, b always 1: Wilson's interval of 3 of 3 begins at 0.4385.
    found = judged("compare", *RUNS, "-m", "RR")
    assert found.code == 0
    assert found.out == (
        "RR: only 2 of 3 queries differ between b and a: too few to test.\n"
        "\n"
        "RR   value  against a  95 % CI       p  verdict\n"
        "a   0.5000\n"
        "b   1.0000    +0.5000  –        0.5000  too few\n"
        "\n"
        "Test: paired t; correction: none needed for 1 comparison of RR; confidence level: 95 %.\n"
    )
    assert (
        "warning: a: The run has no results for 1 of 3 judged queries (q3), which count"
        in found.err
    )


def test_verbose_says_everything(judged: Any, files: Path) -> None:
    said = judged("compare", *RUNS, "-m", "RR", "-v").out
    assert "policy: ties=id, missing=zero, empty=zero, unjudged=nonrelevant\n" in said
    assert "Each system has one run, so the variation between runs of a system is unknown" in said
    assert "measure: RR is Reciprocal rank with k=none, rel=1, aggregate=mean" in said


def test_a_name_for_a_run_and_a_baseline(judged: Any, files: Path) -> None:
    found = judged(
        "compare qrels A=a.run B=b.run C=b.run --missing zero --baseline B -m RR --format json"
    )
    pairs = json.loads(found.out)["pairs"]
    assert [(pair["run"], pair["against"]) for pair in pairs] == [("A", "B"), ("C", "B")]
    assert pairs[1]["verdict"] == "identical"


def test_lower_is_better(judged: Any, values: Path) -> None:
    options = ("--values", "wide.csv", "-m", "ms", "--lower-is-better", "ms")
    found = json.loads(judged("compare", *options, "--format", "json").out)
    assert found["pairs"][0]["verdict"] == "worse"
    assert found["measures"] == {"ms": {"higher_is_better": False}}


def test_two_runs_load_neither_scipy_stats_nor_pandas(files: Path) -> None:
    code = (
        "import sys\nfrom judged.cli import main\n"
        f"try:\n    main(['compare', *{RUNS!r}])\nexcept SystemExit:\n    pass\n"
        "print([m for m in ('scipy.stats', 'pandas', 'rich') if m in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=files
    )
    assert done.stdout.splitlines()[-1] == "[]"


ORDERS = (
    "P@1 and R@3: the same order of all 3 runs.\n"
    "\n"
    "run   P@1, rank   R@3, rank\n"
    "a    0.5000 (2)  0.6667 (2)\n"
    "b    1.0000 (1)  1.0000 (1)\n"
    "c    0.0000 (3)  0.0000 (3)\n"
    "\n"
    "measure  against   tau-b  tau-AP  reversed  weighted   swaps  tied\n"
    "P@1      R@3      1.0000  1.0000    1.0000    1.0000  0 of 3     0\n"
)


@pytest.fixture
def third(files: Path) -> tuple[str, ...]:
    """a and b with a third run, which finds nothing; a has all but one of its queries."""
    (files / "c.run").write_text("q1 Q0 y 1 1 c\nq2 Q0 y 1 1 c\nq3 Q0 y 1 1 c\n")
    return ("qrels", "a.run", "b.run", "c.run", "--missing", "zero")


def test_orders(judged: Any, third: tuple[str, ...]) -> None:
    found = judged("compare", *third, "-m", "P@1,R@3", "--orders")
    assert found.code == 0
    # P@1: a has q2 of three right, 1/3; R@3 is (1 + 1 + 0)/3.
    assert found.out == ORDERS.replace("0.5000", "0.3333")
    told = json.loads(judged("compare", *third, "-m", "P@1,R@3", "--orders", "--format=json").out)
    assert told["pairs"][0]["tau"] == 1
    judged("compare", *third, "-m", "P@1,R@3", "--orders", "-o", "orders.csv")
    assert Path("orders.csv").read_text("utf-8").splitlines()[1].startswith("P@1,R@3,1.0,1.0")


def test_what_is_refused(refuses, third):
    refuses("""
    compare qrels a.run b.run --missing zero --margin 0
        judged: --margin must be a number above 0; got 0.0.
    compare qrels a.run b.run --missing zero -m RR --margin RR=-1
        judged: the margin of RR must be a number above 0; got -1.0.
    compare qrels a.run b.run --missing zero -m RR,AP --margin PR=0.1
        judged: margin names 'PR', which is not one of the measures: RR, AP.
    compare qrels a.run b.run --margin RR=x
        Error: Invalid value for '--margin': 'RR=x' is neither a number nor MEASURE=NUMBER, such
        as nDCG@10=0.01.
    compare qrels a.run b.run --margin 0.1 --margin RR=0.2
        Error: Invalid value for '--margin': '0.1' must say for which measure, as in
        nDCG@10=0.01.
    compare
        Error: give QRELS and at least two RUN, or --values FILE.
    compare qrels a.run b.run --lower-is-better AP
        Error: --lower-is-better is for --values.
    compare --values a.run --depth 3
        Error: --depth is not for --values.
    compare --values a.run --ties id
        Error: --ties is not for --values.
    compare qrels a.run b.run --test tt
        Error: Invalid value for '--test': 'tt' is not one of 'auto', 't', 'randomisation',
        'bootstrap', 'bca', 'wilcoxon', 'sign'.
    compare qrels a.run b.run c.run --orders --slices relevant
        Error: --slices is not for --orders.
    compare qrels a.run b.run c.run --orders --format latex
        Error: this result is printed as text, json, csv, markdown or html, not as latex.
    compare qrels a.run b.run c.run --values x.csv --convention ranx
        Error: --convention is not for --values.
    """)
