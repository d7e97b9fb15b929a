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
    "AP                            old                new\n"
    "value                      0.4125             0.6000\n"
    "95 % CI           0.2427 … 0.5823    0.4389 … 0.7611\n"
    "against old                                  +0.1875\n"
    "95 % CI                            +0.1177 … +0.2573\n"
    "d_z                                            +2.25\n"
    "wins/ties/losses                               8/0/0\n"
    "p                                             0.0004\n"
    "corrected                                     0.0004\n"
    "detectable                                    0.0965\n"
    "verdict                                       better\n"
    "\n"
    "Test: paired t; correction: none needed for 1 comparison of AP; confidence level: 95 %.\n"
)


def test_the_same_values_by_every_way_in(judged: Any, values: Path) -> None:
    assert judged("compare", "--values", "long.csv").out == BLOCK
    assert judged("compare", "--values", "wide.csv", "--measure-name", "AP").out == BLOCK
    assert judged("compare", "--values", "old.txt", "new.txt").out == BLOCK.replace(
        "AP   ", "map  "
    ).replace("AP:", "map:").replace("of AP;", "of map;")


def test_weights_of_values(judged: Any, values: Path) -> None:
    """Two queries weigh as much as all others together."""
    lines = (values / "wide.csv").read_text("utf-8").splitlines()
    header = lines[0].split(",")
    rows = [dict(zip(header, line.split(","), strict=True)) for line in lines[1:]]
    weights = [(len(rows) - 2) / 2 if at < 2 else 1.0 for at in range(len(rows))]
    told = "".join(f"{row[header[0]]},{w}\n" for row, w in zip(rows, weights, strict=True))
    (values / "traffic.csv").write_text(f"query,traffic\n{told}", "utf-8")
    found = judged("compare", "--values", "wide.csv", "--weights", "traffic.csv", "--format=json")
    assert found.code == 0
    pair = json.loads(found.out)["pairs"][0]
    run, against = ([float(row[pair[side]]) for row in rows] for side in ("run", "against"))
    by_hand = sum(w * (x - y) for w, x, y in zip(weights, run, against, strict=True))
    assert pair["difference"] == pytest.approx(by_hand / sum(weights))


def test_runs_and_judgements(judged: Any, files: Path) -> None:
    # a has 1/2, 1 and nothing, b always 1: Wilson's interval of 3 of 3 begins at 0.4385.
    found = judged("compare", *RUNS, "-m", "RR")
    assert found.code == 0
    assert found.out == (
        "RR: only 2 of 3 queries differ between b and a: too few to test.\n"
        "\n"
        "RR                              a                b\n"
        "value                      0.5000           1.0000\n"
        "95 % CI           0.0000 … 1.0000  0.4385 … 1.0000\n"
        "against a                                  +0.5000\n"
        "95 % CI                                          –\n"
        "d_z                                          +1.00\n"
        "wins/ties/losses                             2/1/0\n"
        "p                                           0.5000\n"
        "corrected                                   0.5000\n"
        "detectable                                       –\n"
        "verdict                                    too few\n"
        "\n"
        "Test: paired t; correction: none needed for 1 comparison of RR; confidence level: 95 %.\n"
    )
    assert (
        "warning: a: The run has no results for 1 of 3 judged queries (q3), which count"
        in found.err
    )


def test_every_format(judged: Any, files: Path) -> None:
    assert json.loads(judged("compare", *RUNS, "--format", "json").out)["pairs"]
    assert judged("compare", *RUNS, "--format", "csv").out.startswith("measure,run,against,")
    assert judged("compare", *RUNS, "--format", "markdown").out.startswith("AP: only 3 of")
    assert judged("compare", *RUNS, "--format", "html").out.startswith("<p><b>AP: only 3 of")
    latex = judged("compare", *RUNS, "--format", "latex", "--caption", "Runs", "--label", "tab:a")
    assert "\\caption{Runs}\n\\label{tab:a}\n" in latex.out
    for ending in ("json", "csv", "md", "html", "txt", "tex", "parquet"):
        assert judged("compare", *RUNS, "-o", f"found.{ending}").code == 0
        assert Path(f"found.{ending}").stat().st_size
    percent = judged("compare", *RUNS, "-m", "RR", "--percent", "--decimals", "1", "-q")
    assert percent.out.splitlines()[1].split()[:2] == ["value", "50.0"]
    assert percent.err == ""
    assert judged("compare", *RUNS, "--sort", "RR", "-q").out.splitlines()[0].split()[1] == "b"


def test_verbose_says_everything(judged: Any, files: Path) -> None:
    said = judged("compare", *RUNS, "-m", "RR", "-v").out
    assert "policy: ties=id, missing=zero, empty=zero, unjudged=nonrelevant\n" in said
    assert "Each system has one run, so the variation between runs of a system is unknown" in said
    assert "measure: RR is Reciprocal rank with k=none, rel=1, aggregate=mean" in said


def test_a_name_for_a_run_and_a_baseline(judged: Any, files: Path) -> None:
    found = judged(
        *("compare", "qrels", "A=a.run", "B=b.run", "C=b.run", "--missing", "zero"),
        *("--baseline", "B", "-m", "RR", "--format", "json"),
    )
    pairs = json.loads(found.out)["pairs"]
    assert [(pair["run"], pair["against"]) for pair in pairs] == [("A", "B"), ("C", "B")]
    assert pairs[1]["verdict"] == "identical"


def test_margins(judged: Any, values: Path) -> None:
    for given in ("0.3", "AP=0.3"):
        found = judged("compare", "--values", "long.csv", "--margin", given, "--format", "json")
        pair = json.loads(found.out)["pairs"][0]
        assert (pair["verdict"], pair["negligible"]) == ("better", True)
        assert pair["says"].endswith(". The difference is smaller than the margin of 0.3.")


def test_lower_is_better(judged: Any, values: Path) -> None:
    options = ("--values", "wide.csv", "--measure-name", "ms", "--lower-is-better", "ms")
    found = json.loads(judged("compare", *options, "--format", "json").out)
    assert found["pairs"][0]["verdict"] == "worse"
    assert found["measures"] == {"ms": {"higher_is_better": False}}


REFUSED = [
    ("qrels a.run", "judged: a comparison needs at least two runs; got one, a.\n"),
    (
        "qrels a.run b.run --baseline c --missing zero",
        "judged: the baseline 'c' is not one of the runs: a, b.\n",
    ),
    ("qrels A=a.run A=b.run", "judged: two runs are called 'A'; give each a name of its own.\n"),
    (
        "qrels a.run b.run --missing zero --level 1",
        "judged: --level must be a number between 0 and 1, as 0.95; got 1.0.\n",
    ),
    (
        "qrels a.run b.run --missing zero --margin 0",
        "judged: --margin must be a number above 0; got 0.0.\n",
    ),
    (
        "qrels a.run b.run --missing zero -m RR --margin RR=-1",
        "judged: the margin of RR must be a number above 0; got -1.0.\n",
    ),
    (
        "qrels a.run b.run --missing zero -m RR,AP --margin PR=0.1",
        "judged: margin names 'PR', which is not one of the measures: RR, AP.\n",
    ),
    (
        "qrels a.run b.run --margin RR=x",
        "'RR=x' is neither a number nor MEASURE=NUMBER, such as nDCG@10=0.01.\n",
    ),
    (
        "qrels a.run b.run --margin 0.1 --margin RR=0.2",
        "'0.1' must say for which measure, as in nDCG@10=0.01.\n",
    ),
    (
        "qrels a.run b.run --missing zero --margin 0.1 --level 0.5",
        "judged: with a margin the level must be above 0.5, such as 0.95; got 0.5.\n",
    ),
    (
        "qrels a.run b.run --missing zero --seed -1",
        "judged: --seed must be a whole number from 0; got -1.\n",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED, ids=[each for each, _ in REFUSED])
def test_what_cannot_be_right_is_refused(
    judged: Any, files: Path, arguments: str, message: str
) -> None:
    found = judged("compare", *arguments.split())
    assert (found.code, found.out) == (2, "")
    assert found.err.endswith(message)
    assert found.err.count("judged:") == message.count("judged:")


MISUSED = [
    ("", "Error: give QRELS and at least two RUN, or --values FILE."),
    ("qrels a.run b.run --measure-name AP", "Error: --measure-name is for --values."),
    ("qrels a.run b.run --lower-is-better AP", "Error: --lower-is-better is for --values."),
    ("--values a.run --depth 3", "Error: --depth is not for --values."),
    ("--values a.run --ties id", "Error: --ties is not for --values."),
    ("--values a.run -m AP", "Error: --measure is not for --values."),
    (
        "qrels a.run b.run --test tt",
        "Error: Invalid value for '--test': 'tt' is not one of 'auto', 't', 'randomisation', "
        "'bootstrap', 'bca', 'wilcoxon', 'sign'.",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), MISUSED, ids=[each for each, _ in MISUSED])
def test_a_wrong_call_is_refused(judged: Any, files: Path, arguments: str, message: str) -> None:
    found = judged("compare", *arguments.split())
    assert (found.code, found.out) == (2, "")
    assert found.err.splitlines()[-1] == message


@pytest.mark.parametrize(
    ("option", "given", "message"),
    [
        (
            "test",
            "wilcoxn",
            "test must be one of auto, t, randomisation, bootstrap, bca, wilcoxon, sign; got "
            "'wilcoxn'; did you mean 'wilcoxon'?",
        ),
        (
            "correction",
            "hom",
            "correction must be one of holm, bonferroni, bh, tukey, randomised-tukey, none; got "
            "'hom'; did you mean 'holm'?",
        ),
        (
            "lower_is_better",
            "PA",
            "lower_is_better names 'PA', which is not one of the measures: AP.",
        ),
        (
            "lower_is_better",
            ["AP"],
            "lower_is_better names AP, of which higher values are better; leave it "
            "out, or rename the values.",
        ),
        ("lower_is_better", 3, "lower_is_better must be names of measures; got 3."),
    ],
)
def test_unknown_words_have_the_nearest_known(option: str, given: Any, message: str) -> None:
    from judged import compare_values
    from judged.errors import InputError

    values = {"a": {"AP": {"1": 0.5}}, "b": {"AP": {"1": 0.25}}}
    with pytest.raises(InputError) as refused:
        compare_values(values, **{option: given})
    assert str(refused.value) == message


def test_values_beyond_the_range_of_their_name_are_said(values: Path) -> None:
    from judged import compare_values

    found = compare_values({"a": {"P@10": {"1": 50, "2": 20}}, "b": {"P@10": {"1": 40, "2": 30}}})
    assert found.warnings() == [
        "Values of P@10 go from 20 to 50, those of judged's P@10 from 0 to 1. They "
        "are compared unchanged."
    ]
    pooled = {"F(average=means)": {"1": 0.5, "2": 0.2}}
    assert compare_values({"a": pooled, "b": pooled}).warnings() == [
        "F(average=means) is not a mean of per-query values. The comparison uses the mean of "
        "these values, which is another number."
    ]


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


def test_orders_of_conventions(judged: Any, third: tuple[str, ...]) -> None:
    call = ("compare", *third, "-m", "P@2", "--orders", "--convention", "judged")
    found = judged(*call, "--convention", "ranx", "-q")
    assert found.out.splitlines()[0] == "run  P@2 (judged), rank  P@2 (ranx), rank"
    assert "P@2 (judged)  P@2 (ranx)  1.0000" in found.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--orders", "--sort", "AP"], "--sort is not for --orders."),
        (["--orders", "--slices", "relevant"], "--slices is not for --orders."),
        (
            ["--orders", "--format", "latex"],
            "this result is printed as text, json, csv, markdown or html, not as latex.",
        ),
        (
            ["--convention", "ranx", "--convention", "beir"],
            "several --convention are for --orders; give one of them.",
        ),
        (
            ["--orders", "--convention", "ranx", "--convention", "ranx"],
            "--convention names a library twice; name each once.",
        ),
        (["--values", "x.csv", "--convention", "ranx"], "--convention is not for --values."),
    ],
)
def test_wrong_orders(judged: Any, third: tuple[str, ...], options: list[str], said: str) -> None:
    found = judged("compare", *third[:4], *options)
    assert (found.code, found.err.splitlines()[-1]) == (2, f"Error: {said}")


def test_orders_of_two_runs(judged: Any, files: Path) -> None:
    found = judged("compare", *RUNS, "--orders")
    assert found.err == (
        "judged: orders need at least three runs; there are 2. For two runs, compare "
        "their values.\n"
    )
