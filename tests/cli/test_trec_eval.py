"""`judged trec-eval`: byte for byte what trec_eval 10.0 prints, and what it refuses."""

import json
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[1] / "golden" / "trec_eval"
FLAGS = json.loads((GOLDEN / "flags.json").read_text())
CASES = sorted(
    (path.parent.name, path.stem)
    for path in GOLDEN.glob("*/*.out")
    if path.stem in FLAGS and (path.parent / "run").exists()
)


def test_the_golden_files_are_here():
    assert len(CASES) == 81


@pytest.mark.parametrize(("case", "flags"), CASES)
def test_every_line_is_the_same(judged, case, flags):
    folder = GOLDEN / case
    result = judged("trec-eval", *FLAGS[flags], folder / "qrels", folder / "run")
    # trec_eval 10.0 reads uninitialised memory for rbp, so its output was kept without those lines.
    lines = [line for line in result.out.splitlines(keepends=True) if not line.startswith("rbp")]
    assert "".join(lines) == (folder / f"{flags}.out").read_text(encoding="utf-8")
    assert (result.code, result.err) == (0, "")


@pytest.fixture
def small(files):
    """The files of conftest: a finds x (q1) at rank 2 of 3, u and v (q2) at ranks 1 and 3, and
    lacks q3."""
    return files


def test_queries_that_the_run_lacks_are_left_out_unless_complete(judged, small):
    # RR: q1 1/2, q2 1, and 0 for q3 with -c.
    assert (
        judged("trec-eval", "-m", "recip_rank", "qrels", "a.run").out
        == "recip_rank            \tall\t0.7500\n"
    )
    assert (
        judged("trec-eval", "-c", "-m", "recip_rank", "qrels", "a.run").out
        == "recip_rank            \tall\t0.5000\n"
    )


def test_flags_may_be_written_together_and_long(judged, small):
    short = judged("trec-eval", "-qn", "-M2", "-l2", "-mP.1,2", "qrels", "a.run")
    long = judged(
        "trec-eval",
        "--query_eval_wanted",
        "--nosummary",
        "--Max_retrieved_per_topic=2",
        "--level_for_rel",
        "2",
        "--measure",
        "P.1,2",
        "qrels",
        "a.run",
    )
    assert short.out == long.out
    # Only u (q2, grade 2, rank 1) is relevant at level 2.
    assert [line.split("\t")[1:] for line in short.out.splitlines()] == [
        ["q1", "0.0000"],
        ["q1", "0.0000"],
        ["q2", "1.0000"],
        ["q2", "0.5000"],
    ]


def test_rbp_and_its_residual(judged, small):
    out = judged(
        "trec-eval", "-q", "-n", "-m", "rbp", "-m", "rbp_resid", "-m", "yaap", "qrels", "a.run"
    ).out
    values = {tuple(line.split("\t")[:2]): line.split("\t")[2] for line in out.splitlines()}
    # q1: relevant at rank 2, unjudged at rank 1, judged at rank 3: 0.1 * 0.9 and 0.1 + 0.9^3.
    assert values["rbp                   ", "q1"] == "0.0900"
    assert values["rbp_resid             ", "q1"] == "0.8290"
    # q1: log((1 + 1/2) / (1 + 1 - 1/2)) = 0
    assert values["yaap                  ", "q1"] == "0.0000"


def test_dcg_and_its_ideal(judged, small):
    out = judged(
        "trec-eval", "-q", "-n", "-m", "dcg", "-m", "ideal_dcg", "-m", "ndcg", "qrels", "a.run"
    ).out
    # q2: grades 2 - 1: 2 + 1/2 = 2.5; ideal 2 + 1/log2(3) = 2.6309
    assert [line.split("\t")[2] for line in out.splitlines() if "\tq2\t" in line] == [
        "2.5000",
        "2.6309",
        "0.9502",
    ]


def test_z_scores(judged, small):
    (small / "z").write_text("q1 recip_rank 0.25 0.5\nq2 recip_rank 1.0 0\n")
    out = judged(
        "trec-eval", "-q", "-Z", "z", "-m", "recip_rank", "-m", "map", "qrels", "a.run"
    ).out.splitlines()
    assert [line.split("\t")[1:] for line in out] == [
        ["q1", "-1000000.0000"],
        ["q1", "0.5000"],
        ["q2", "-1000000.0000"],
        ["q2", "0.0000"],
        ["all", "-1000000.0000"],
        ["all", "0.2500"],
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-D", "1", "qrels", "a.run"], "judged trec-eval has no -D: it prints no debug output."),
        (
            ["-R", "prefs", "qrels", "a.run"],
            "judged trec-eval does not read preference judgements (-R prefs); it reads qrels.",
        ),
        (
            ["-R", "qrels_jg", "qrels", "a.run"],
            "judged trec-eval does not read judgement groups (-R qrels_jg); it reads qrels.",
        ),
        (
            ["-T", "odd", "qrels", "a.run"],
            "judged trec-eval knows no format 'odd'; -T takes trec_results.",
        ),
        (
            ["-m", "prefs", "qrels", "a.run"],
            "judged trec-eval has no 'prefs': it needs preference judgements, which judged does "
            "not read.",
        ),
        (
            ["-m", "recip_rnk", "qrels", "a.run"],
            "trec_eval has no measure 'recip_rnk'; did you mean 'recip_rank'? "
            "Its groups are official, set and all_trec.",
        ),
        (["-m", "P.five", "qrels", "a.run"], "trec_eval's P cannot take the parameters 'five'."),
        (["-m", "P.0", "qrels", "a.run"], "k of P must be a whole number from 1, or R; got 0."),
        (["-m", "map.3", "qrels", "a.run"], "trec_eval's map cannot take the parameters '3'."),
        (["-Z", "none", "qrels", "a.run"], "none: cannot be read (No such file or directory)."),
    ],
)
def test_refusals(judged, small, arguments, message):
    result = judged("trec-eval", *arguments)
    assert (result.code, result.out, result.err) == (1, "", f"judged: {message}\n")


def test_a_bad_line_of_a_z_score_file_is_named(judged, small):
    (small / "z").write_text("q1 map 0.25 0.5\nq1 map\n")
    result = judged("trec-eval", "-Z", "z", "qrels", "a.run")
    assert (
        result.err
        == "judged: z, line 2: expected query, measure, mean and standard deviation: 'q1 map'.\n"
    )


def test_help_explains_measures_and_version_says_which(judged):
    text = judged("trec-eval", "-h", "-m", "map").out
    assert text.startswith("Usage: judged trec-eval")
    assert "\nmap\n    Average precision: Precision at the rank of each relevant item" in text
    assert (
        judged("trec-eval", "-v").err == "trec_eval version 10.0 (the output of judged trec-eval)\n"
    )


def test_missing_files_are_a_usage_error(judged):
    result = judged("trec-eval", "qrels")
    assert result.code == 2
    assert result.err.endswith(
        "Error: Give the judgements and the run: judged trec-eval [OPTIONS] QRELS RUN.\n"
    )
