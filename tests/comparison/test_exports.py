"""What people and programs see of a comparison: every format, whole."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

import judged
from judged.comparison.export import notes
from judged.text import WarningLine, visible
from support.hostile import HIDDEN, NAMES

QUERIES = "abcdefgh"
OLD = [0.50, 0.40, 0.30, 0.60, 0.20, 0.70, 0.10, 0.50]
NEW = [0.70, 0.60, 0.40, 0.90, 0.40, 0.80, 0.40, 0.60]  # better by 0.1 to 0.3 on every query
ODD = [0.60, 0.30, 0.40, 0.50, 0.30, 0.60, 0.20, 0.40]  # up and down by 0.1: no difference


def per_query(values: list[float]) -> dict[str, float]:
    return dict(zip(QUERIES, values, strict=True))


def compared(*, runs: str = "old new odd", **options: Any) -> judged.Comparison:
    every = {"old": per_query(OLD), "new": per_query(NEW), "odd": per_query(ODD)}
    given = {run: every[run] for run in runs.split()}
    return judged.compare_values(given, measure_name="AP", **options)


def test_a_block_has_every_column_and_sizes_stand_before_p() -> None:
    # By scipy and statsmodels: new - old has the mean 0.1875 and the deviation 0.083452, so d_z is
    # 2.2468, p 0.00038343 and what 8 queries show 8 times in 10, at 0.05/2, is 0.111757; odd - old
    # is ±0.1, whose deviation is 0.106904, and shows 0.143163.
    found = compared(baseline="old")
    assert found.tables()[0].rows == [
        ["old", "0.4125", "0.2427 … 0.5823", *[""] * 8],
        [
            *("new", "0.6000", "0.4389 … 0.7611", "+0.1875", "+0.1177 … +0.2573"),
            *("+2.25", "8/0/0", "0.0004", "0.0008", "0.1118", "better"),
        ],
        [
            *("odd", "0.4125", "0.2906 … 0.5344", "0.0000", "−0.0894 … +0.0894"),
            *("0.00", "4/0/4", "1.0000", "1.0000", "0.1432", "not significant"),
        ],
    ]
    assert found.to_text() == (
        "AP: new is significantly better than old by 0.188 (95 % CI 0.118 to 0.257).\n"
        "AP: no significant difference between odd and old. With 8 queries, a true difference of "
        "0.143 would be detected with 80 % power.\n\n"
        "AP    value  against old  95 % CI            corrected p  verdict\n"
        "old  0.4125\n"
        "new  0.6000      +0.1875  +0.1177 … +0.2573       0.0008  better\n"
        "odd  0.4125       0.0000  −0.0894 … +0.0894       1.0000  not significant\n\n"
        "Test: paired t; correction: Holm over 2 comparisons of AP; confidence level: 95 %.\n"
        "one run of each system; notes: to_text(verbose=True)"
    )


def test_all_pairs_have_a_leaderboard_and_a_table_of_pairs() -> None:
    # By scipy, p of odd against new is 0.00377064; Holm makes it twice, and that of new three
    # times what it was.
    found = compared()
    assert [row[5:10] for row in found.tables()[1].rows] == [
        ["8/0/0", "0.0004", "0.0012", "0.1210", "better"],
        ["4/0/4", "1.0000", "1.0000", "0.1550", "not significant"],
        ["0/1/7", "0.0038", "0.0075", "0.1808", "worse"],
    ]
    assert found.to_text(quiet=True) == (
        "AP    rank   value  95 % CI          behind the first\n"
        "new      1  0.6000  0.4389 … 0.7611\n"
        "old  2 … 3  0.4125  0.2427 … 0.5823  significant\n"
        "odd  2 … 3  0.4125  0.2906 … 0.5344  significant\n\n"
        "AP   against  difference  95 % CI            corrected p  verdict\n"
        "new  old         +0.1875  +0.1177 … +0.2573       0.0012  better\n"
        "odd  old          0.0000  −0.0894 … +0.0894       1.0000  not significant\n"
        "odd  new         −0.1875  −0.2917 … −0.0833       0.0075  worse"
    )


def test_lower_is_better_turns_the_verdict_and_not_the_numbers() -> None:
    given = {"old": per_query(OLD), "new": per_query(NEW)}
    up = judged.compare_values(given, measure_name="ms")
    down = judged.compare_values(given, measure_name="ms", lower_is_better="ms")
    assert (up.pair().verdict, down.pair().verdict) == ("better", "worse")
    assert up.pair().difference == down.pair().difference
    assert (down.pair().wins, down.pair().losses) == (0, 8)
    assert down.leaderboard()[0].run == "old"


def test_percent_and_decimals() -> None:
    head, rows = compared(baseline="old").tables(percent=True, decimals=1)[0]
    assert head[0] == "AP %"
    assert rows[1][:6] == ["new", "60.0", "43.9 … 76.1", "+18.8", "+11.8 … +25.7", "+2.25"]
    head, rows = judged.compare_values(
        {"a": per_query(OLD), "b": per_query(NEW)}, measure_name="clicks"
    ).tables(percent=True)[0]
    assert head[0] == "clicks"  # nobody knows that it is a share
    assert rows[1][1] == "0.6000"


def test_sort_orders_runs_and_pairs() -> None:
    found = compared(baseline="old")
    assert [row[0] for row in found.tables(sort="AP")[0].rows] == ["new", "old", "odd"]
    assert found.to_frame(sort="AP")["run"].to_list() == ["new", "odd"]
    assert [run["name"] for run in found.to_dict(sort="AP")["runs"]] == ["new", "old", "odd"]


def test_json_has_the_stable_keys_in_order() -> None:
    found = json.loads(compared(baseline="old", margin=0.2).to_json())
    assert list(found) == [
        *("runs", "pairs", "leaderboard", "settings", "warnings", "notes", "measures"),
        *("policy", "definition", "judged"),
    ]
    assert list(found["runs"][0]) == ["name", "scores", "intervals"]
    assert list(found["runs"][0]["intervals"]["AP"]) == ["estimate", "low", "high", "method"]
    stable = [
        *("measure", "run", "against", "queries", "groups", "difference", "relative", "interval"),
        *("effect", "wins", "ties", "losses", "p", "corrected_p", "smallest_p", "detectable"),
        *("verdict", "negligible", "depends_on", "says"),
    ]
    first = found["pairs"][0]
    assert [key for key in first if key in stable] == stable
    assert list(first["interval"])[:3] == ["low", "high", "method"]
    assert list(found["leaderboard"]["AP"][0]) == ["run", "value", "rank_low", "rank_high"]
    stable = ["test", "correction", "level", "power", "margin", "resamples", "seed"]
    assert [key for key in found["settings"] if key in stable] == stable
    assert found["settings"]["margin"] == {"AP": 0.2}
    assert found["settings"]["baseline"] == "old"


def test_the_frame_has_the_same_types_whatever_is_in_it() -> None:
    usual = compared(baseline="old").pairs
    bare = judged.compare_values({"a": {"1": 0.5}, "b": {"1": 0.5}}).pairs
    assert usual.schema == bare.schema
    assert bare["low"].to_list() == [None]
    assert bare["note"].to_list() == ["no query differs"]
    infinite = {"a": {"1": math.inf, "2": 2.0}, "b": {"1": 1.0, "2": math.inf}}
    with_sign = judged.compare_values(infinite, test="sign", lower_is_better="value").pairs
    assert with_sign.schema == usual.schema


def test_files_of_every_kind(tmp_path: Path) -> None:
    found = compared(baseline="old")
    for ending in (*found.SAVED_AS, ".parquet"):
        path = tmp_path / f"found{ending}"
        found.save(path)
        assert path.stat().st_size
    assert pl.read_parquet(tmp_path / "found.parquet").equals(found.pairs)
    assert pl.read_parquet_metadata(tmp_path / "found.parquet")["definition"] == found.methods()
    rows = list(csv.DictReader(io.StringIO((tmp_path / "found.csv").read_text())))
    assert [row["verdict"] for row in rows] == ["better", "not significant"]
    assert json.loads((tmp_path / "found.json").read_text()) == found.to_dict()


def test_latex_has_letters_and_bold() -> None:
    assert compared().to_latex(quiet=True) == (
        "\\begin{tabular}{llr}\n\\toprule\n & run & AP \\\\\n\\midrule\n"
        "a & old & 0.4125 \\\\\n"
        "b & new & \\textbf{0.6000}$^{\\mathrm{ac}}$ \\\\\n"
        "c & odd & 0.4125 \\\\\n"
        "\\bottomrule\n\\end{tabular}\n"
    )
    text = compared(baseline="old").to_latex(caption="Runs", label="tab:runs")
    assert "\\caption{Runs}\n\\label{tab:runs}\n" in text
    assert "significantly better than, compared with old only (" in text
    assert "Bold: the best run, and those not significantly worse than it (all 3 pairs" in text
    assert "c & odd & 0.4125 \\\\" in text  # not compared with the best, and worse than it


def test_bold_are_the_best_and_those_not_significantly_worse() -> None:
    # Against the baseline: far is no better than it, near and best are; near is as good as best.
    spread = [((q * 7) % 11) / 100 for q in range(24)]
    values = {
        "base": [0.30 + x for x in spread],
        "far": [0.30 + x for x in reversed(spread)],
        "near": [0.70 + x for x in reversed(spread)],
        "best": [0.701 + x for x in spread],
    }
    asked = {run: {str(q): x for q, x in enumerate(own)} for run, own in values.items()}
    bold = {}
    for baseline in (None, "base", "best", "far"):
        text = judged.compare_values(asked, baseline=baseline).to_latex(quiet=True)
        rows = [line for line in text.splitlines() if " & " in line][1:]
        bold[baseline] = [row.split(" & ")[1] for row in rows if "textbf" in row]
    assert bold == {baseline: ["near", "best"] for baseline in bold}


def test_nothing_is_bold_where_no_test_is_possible() -> None:
    """Few queries, or few effective ones; the caption says so."""
    values = {
        "a": [0.3 + (q * 7 % 11) / 100 for q in range(40)],
        "b": [0.7 + (q * 5 % 13) / 100 for q in range(40)],
        "c": [0.1 + (q * 3 % 7) / 100 for q in range(40)],
    }

    def latex(size: int, **options: Any) -> str:
        own = {run: {str(q): x for q, x in enumerate(v[:size])} for run, v in values.items()}
        return judged.compare_values(own, **options).to_latex()

    uneven = {str(q): 1000.0 if q == 0 else 1.0 for q in range(40)}
    for baseline in (None, "a", "b"):
        for text in (latex(3, baseline=baseline), latex(40, baseline=baseline, weights=uneven)):
            assert "textbf" not in text
            assert "Bold: none, because there are too few queries to test." in text
        assert latex(40, baseline=baseline).count("textbf") == 1


def test_methods_say_what_a_paper_needs() -> None:
    said = compared(baseline="old", test="randomisation", margin=0.05).methods()
    assert said == (
        f"Runs were compared with judged {judged.__version__}: new and odd with old, query by "
        "query on the queries that count in both (8 queries). Test: paired randomisation; "
        "correction: Holm over 2 comparisons of AP; confidence level: 95 %; 9,999 resamples, seed "
        "0. A difference is significant if its corrected two-sided p is below 0.05. Runs are "
        "equivalent if two one-sided tests put the difference inside a margin of 0.05 (AP), at "
        "0.025 by Bonferroni. The detectable difference is the true difference that would be "
        "detected with 80 % power (noncentral t, at 0.025 by Bonferroni). The values of AP were "
        "computed elsewhere."
    )
    evaluated = judged.compare({"q": {"a": 1}}, {"x": {"q": ["a"]}, "y": {"q": ["b"]}}, "RR")
    assert "RR (Reciprocal rank): 1 divided by" in evaluated.methods()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "paired t; correction: Holm over 3 comparisons of AP; confidence level: 95 %."),
        (
            {"runs": "old new"},
            "paired t; correction: none needed for 1 comparison of AP; confidence level: ",
        ),
        ({"correction": "none"}, "paired t; correction: none for 3 comparisons of AP; "),
        ({"correction": "bh"}, "correction: Benjamini-Hochberg (false discovery rate) over 3 "),
        ({"correction": "tukey"}, "correction: Tukey (two-way) over all 3 pairs of runs of each "),
        ({"test": "randomisation", "seed": 7}, "level: 95 %; 9,999 resamples, seed 7."),
        ({"test": "bca"}, "Test: paired bootstrap (BCa); "),
        ({"level": 0.999}, "level: 99.9 %."),
    ],
)
def test_what_was_done(options: dict[str, Any], said: str) -> None:
    [line] = [text for text in compared(**options).sentences() if text.startswith("Test: ")]
    assert said in line


def test_tests_of_something_else_say_so() -> None:
    found = compared(test="wilcoxon", baseline="old")
    head = found.tables()[0].header
    assert "95 % CI (t)" in head
    assert [text for text in notes(found) if "Wilcoxon" in text] == [
        "Wilcoxon's test is about the ranks of the differences, not about the mean. The "
        "confidence interval is that of t, for the mean difference."
    ]


def test_a_pair_on_other_queries_says_how_many_and_what_that_does() -> None:
    judgements = {f"q{n}": {"a": 1} for n in range(8)} | {"none": {"a": 0}}
    full = {q: ["a"] if n % 2 else ["b", "a"] for n, q in enumerate(judgements)}
    part = {q: ["b", "c", "a"] for q in list(judgements)[1:]}
    policy = {"missing": "skip", "empty": "skip"}
    found = judged.compare(judgements, {"full": full, "part": part}, "RR", policy=policy)
    assert found.pair().queries == 7
    assert "queries" in found.tables()[0].header
    assert (
        "RR: part and full are compared on 7 common queries; full has 0.786 there, and 0.750 on "
        "its 8 queries." in found.remarks()
    )


def test_warnings_of_the_evaluation_travel_along() -> None:
    tied = {"q": {"a": 0.5, "b": 0.5}}
    with pytest.warns(judged.errors.JudgedWarning):
        found = judged.compare(
            {"q": {"a": 1}, "r": {"b": 1}},
            {"x": tied, "y": {"q": ["a"], "r": ["b"]}},
            "RR",
            policy={"missing": "zero"},
        )
    assert found.warnings()
    # What ties do to the numbers is said by what verdicts depend on.
    others = {text for text in found.evaluation.warnings() if not text.startswith("Another order")}
    assert others <= set(found.warnings())
    assert "tie-range" not in " ".join(found.warnings())
    text = found.to_text()
    for warned in found.warnings():
        assert f"warning: {warned}" in text
        assert f"warning: {warned}" not in found.to_text(quiet=True)
    assert found.to_dict()["warnings"] == found.warnings()
    assert [part for part in found.parts() if isinstance(part, WarningLine)]


def test_many_sentences_are_cut_and_verbose_has_all() -> None:
    many = {f"run{n}": {q: n + v for q, v in per_query(OLD).items()} for n in range(8)}
    found = judged.compare_values(many)
    assert len(found.rows) == 28
    assert "8 more sentences: to_text(verbose=True)." in found.to_text().splitlines()
    verbose = found.to_text(verbose=True)
    assert all(row.says in verbose for row in found.rows)


def test_names_stay_names() -> None:
    given = {name: per_query([v + n / 1000 for v in OLD]) for n, name in enumerate(NAMES)}
    for baseline in (None, NAMES[0]):
        found = judged.compare_values(given, baseline=baseline, test="sign")
        page, text = found.to_html(), found.to_text()
        assert not re.search(r"<(script|img|svg|a |!--)", page)
        hidden = {letter for letter in "".join(HIDDEN) if visible(letter) != letter}
        assert not set(text) & (hidden - {"\n"})
        for line in found.to_latex().splitlines():
            assert line.startswith("%") or not re.search(r"(?<!\\)[#%]", line)
        tables = [
            line for line in found.to_markdown(quiet=True).splitlines() if line.startswith("|")
        ]
        assert {len(re.findall(r"(?<!\\)\|", line)) for line in tables} <= {6, 11, 12}
        rows = list(csv.DictReader(io.StringIO(found.to_csv(quiet=True), newline="")))
        back = [re.sub(r"^'(?='*[=+\-@\t\r])", "", row["run"]) for row in rows]
        assert back == [row.run for row in found.rows]
        assert [each["name"] for each in json.loads(found.to_json())["runs"]] == list(NAMES)


def test_ranks_decide_the_order_where_values_are_of_other_queries() -> None:
    def at(rank: int) -> list[str]:
        return [f"x{number}" for number in range(rank - 1)] + ["a"]

    judgements = {f"q{number:02}": {"a": 1} for number in range(60)}
    easy = list(judgements)[:30]
    # On the 30 queries of both, "all" is better; on its own 60 it has the lower value.
    runs = {
        "easy": {query: at(1 + (number % 3 < 2)) for number, query in enumerate(easy)},
        "all": {
            query: at(1) if query in easy else at(20 + number % 2)
            for number, query in enumerate(judgements)
        },
        "last": {query: at(40 + number % 3) for number, query in enumerate(judgements)},
    }
    found = judged.compare(judgements, runs, "RR", policy={"missing": "skip"})
    assert found.value(run="easy") > found.value(run="all")
    assert found.pair("all", "easy").verdict == "better"
    places = found.leaderboard()
    assert [place.run for place in places] == ["all", "easy", "last"]
    assert [place.rank_low for place in places] == [1, 2, 3]
    assert found.to_text(quiet=True).splitlines()[1].split()[0] == "all"
    from judged.web.pages.boards import board

    shown = board(found.evaluation, found)
    assert [row["name"] for row in shown["rows"]] == ["all", "easy", "last"]
    # Where all have the same queries, values decide as before.
    whole = judged.compare(judgements, {**runs, "easy": runs["last"]}, "RR")
    assert whole.leaderboard()[0].run == "all"


MEASURES = [
    *("AP", "AP(aggregate=sum)", "GMAP", "AP(aggregate=median)", "NumRelRet@3", "Success@1"),
    *("F(average=means)@3", "MedR", "ERR", "ERR(aggregate=sum)", "ERR(aggregate=geometric)"),
]


@pytest.mark.filterwarnings("ignore::judged.errors.JudgedWarning")
@pytest.mark.parametrize("ties", ["id", "expected"])
@pytest.mark.parametrize("weighted", [False, True])
def test_intervals_are_those_of_an_evaluation(ties: str, weighted: bool) -> None:
    draw = Random(3)
    queries = [f"q{number}" for number in range(20)]
    judgements = {q: {f"d{item}": draw.choice([1, 2]) for item in range(4)} for q in queries}
    runs = {
        name: {q: {f"d{item}": draw.randint(1, 2) for item in range(12)} for q in queries}
        for name in ("a", "b")
    }
    sums = ("sum", "NumRelRet")
    asked = [each for each in MEASURES if not (weighted and any(word in each for word in sums))]
    given: dict[str, Any] = {
        "policy": {"ties": ties},
        "weights": {q: draw.uniform(1, 2) for q in queries} if weighted else None,
    }
    compared = judged.compare(judgements, runs, asked, **given)
    evaluation = judged.evaluate(judgements, runs, asked, **given)
    if ties == "expected":
        assert evaluation.scored("a").summary_errors
    for measure in asked:
        one, other = compared.interval(measure, "a"), evaluation.interval(measure, "a")
        assert (one.method, one.note) == (other.method, other.note)
        assert one.low <= one.estimate <= one.high
        assert (one.estimate, one.low, one.high) == pytest.approx(
            (other.estimate, other.low, other.high), rel=1e-9, nan_ok=True
        )
