"""`judged trec-eval`: byte for byte what trec_eval 10.0 prints, and what it refuses."""

import gzip
import io
import json
from pathlib import Path

import pytest

from support.loops import for_each

GOLDEN = Path(__file__).parents[1] / "golden" / "trec_eval"
FLAGS = json.loads((GOLDEN / "flags.json").read_text())
CASES = sorted(
    (path.parent.name, path.stem)
    for path in GOLDEN.glob("*/*.out")
    if path.stem in FLAGS and (path.parent / "run").exists()
)


def test_the_golden_files_are_here():
    assert len(CASES) == 81


@for_each(("case", "flags"), CASES)
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
        judged("trec-eval -m recip_rank qrels a.run").out == "recip_rank            \tall\t0.7500\n"
    )
    assert (
        judged("trec-eval -c -m recip_rank qrels a.run").out
        == "recip_rank            \tall\t0.5000\n"
    )


def test_flags_may_be_written_together_and_long(judged, small):
    short = judged("trec-eval -qn -M2 -l2 -mP.1,2 qrels a.run")
    long = judged(
        "trec-eval --query_eval_wanted --nosummary --Max_retrieved_per_topic=2 "
        "--level_for_rel 2 --measure P.1,2 qrels a.run"
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
    out = judged("trec-eval -q -n -m rbp -m rbp_resid -m yaap qrels a.run").out
    values = {tuple(line.split("\t")[:2]): line.split("\t")[2] for line in out.splitlines()}
    # q1: relevant at rank 2, unjudged at rank 1, judged at rank 3: 0.1 * 0.9 and 0.1 + 0.9^3.
    assert values["rbp                   ", "q1"] == "0.0900"
    assert values["rbp_resid             ", "q1"] == "0.8290"
    # q1: log((1 + 1/2) / (1 + 1 - 1/2)) = 0
    assert values["yaap                  ", "q1"] == "0.0000"


def test_dcg_and_its_ideal(judged, small):
    out = judged("trec-eval -q -n -m dcg -m ideal_dcg -m ndcg qrels a.run").out
    # q2: grades 2 - 1: 2 + 1/2 = 2.5; ideal 2 + 1/log2(3) = 2.6309
    assert [line.split("\t")[2] for line in out.splitlines() if "\tq2\t" in line] == [
        "2.5000",
        "2.6309",
        "0.9502",
    ]


def test_cutoffs_are_read_as_c_reads_them(judged, small):
    found = judged("trec-eval -m ndcg_cut.10,20,23.4 -m P.+2x qrels a.run")
    assert [line.split()[0] for line in found.out.splitlines()] == [
        "P_2",
        "ndcg_cut_10",
        "ndcg_cut_20",
        "ndcg_cut_23",
    ]
    assert judged("trec-eval -l 2.9 -m num_rel qrels a.run").out.endswith("\t1\n")


def test_parameters_of_a_name_that_takes_none_are_ignored_and_said(judged, small):
    found = judged("trec-eval -m map.3 qrels a.run")
    assert found.out == judged("trec-eval -m map qrels a.run").out
    assert found.err == "warning: trec_eval ignores the parameters of 'map.3'.\n"


def test_complete_counts_relevant_items_of_any_grade(judged, small):
    """With -c, trec_eval sums up all grades above 0, whatever -l says; single queries have -l."""
    out = judged("trec-eval -q -c -l 2 -m num_rel qrels a.run").out
    *queries, total = [int(line.split()[2]) for line in out.splitlines()]
    assert sum(queries) == 1
    above_zero = [line.split()[3] for line in (small / "qrels").read_text().splitlines()]
    assert total == sum(int(grade) > 0 for grade in above_zero) > 1


def test_nothing_left_to_divide(judged, tmp_path, monkeypatch):
    """0 of 0 where -J removed all results; other recall points ask for an item and have 0."""
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text("q1 0 a 1\nq2 0 b 1\n")
    Path("run").write_text("q1 Q0 x 1 2.0 r\nq2 Q0 b 1 2.0 r\n")
    names = ("-m", "iprec_at_recall.0,0.4,1", "-m", "11pt_avg", "-m", "map")
    out = judged("trec-eval -q -J", *names, "qrels", "run").out
    found = [line.split("\t")[1:] for line in out.splitlines()]
    assert found[:5] == [
        ["q1", value] for value in ("0.0000", "  -nan", "  -nan", "0.0000", "  -nan")
    ]
    assert [value for query, value in found if query == "all"] == (
        ["0.5000", "  -nan", "  -nan", "0.5000", "  -nan"]
    )


def test_nothing_gained_at_level_0(judged, tmp_path, monkeypatch):
    """Rndcg counts its levels of gain above 0, and divides by their number: q1 and q3 have none."""
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text("q1 0 a 0\nq1 0 b 0\nq2 0 a 1\nq2 0 b 0\nq3 0 a 0\nq4 0 a -1\n")
    Path("run").write_text("q1 Q0 a 1 2 t\nq2 Q0 a 1 2 t\nq4 Q0 a 1 2 t\n")

    def values(*options):
        out = judged("trec-eval -q", *options, "-m", "Rndcg", "qrels", "run").out
        return [line.split("\t")[2] for line in out.splitlines()]

    assert values("-l", "0") == ["  -nan", "1.0000", "0.0000", "  -nan"]
    assert values("-l", "0", "-c") == ["  -nan", "1.0000", "  -nan", "0.0000", "  -nan"]
    assert values() == ["0.0000", "1.0000", "0.0000", "0.3333"]
    assert values("-l", "2") == ["0.0000"] * 4


@pytest.mark.parametrize("end", ["", "\n", "\r\n\n", "\n# made by x y 1 2 z\n"])
@pytest.mark.parametrize("way", ["file", "large", "gz", "pipe"])
def test_the_run_is_called_by_the_tag_of_its_last_line(judged, tmp_path, monkeypatch, way, end):
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text("q1 0 a 1\n")
    lines = (f"q{at} Q0 a 1 2 first\n" for at in range(9))
    text = "".join(lines) + f"q9\tQ0 a 1 2  last more{end}"
    if way == "large":
        monkeypatch.setattr("judged.inputs.source.SMALL", 1)
        monkeypatch.setattr("judged.inputs.blocks.Room.block", 30)
    if way == "gz":
        Path("run").write_bytes(gzip.compress(text.encode()))
    else:
        Path("run").write_text(text)
    if way == "pipe":
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    run = "-" if way == "pipe" else "run"
    assert judged("trec-eval -m runid qrels", run).out == "runid                 \tall\tlast\n"


def test_fractional_grades_lose_what_follows_the_point(judged, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text("q 0 a 2.9\nq 0 b 0.9\nq 0 c -0.5\n")
    Path("run").write_text("q Q0 b 1 3 r\nq Q0 a 2 2 r\nq Q0 c 3 1 r\n")
    assert "'020'" in judged("trec-eval -q -m relstring qrels run").out
    assert judged("trec-eval -m dcg qrels run").out.endswith("\t1.2619\n")


def test_a_value_half_way_between_two_decimals(judged, tmp_path, monkeypatch):
    """trec_eval multiplies and then divides once; many of these end in a five."""
    monkeypatch.chdir(tmp_path)
    for found in range(1, 41):
        Path("qrels").write_text("".join(f"q 0 a{at} 1\n" for at in range(40)))
        results = [f"a{at}" for at in range(found)] + [f"x{at}" for at in range(80 - found)]
        Path("run").write_text(
            "".join(f"q Q0 {item} {at} {99 - at} r\n" for at, item in enumerate(results))
        )
        out = judged("trec-eval -m set_map qrels run").out
        assert out.endswith(f"\t{found * found / (80 * 40):6.4f}\n"), found


def test_refusals(refuses, small):
    (small / "z").write_text("q1 map 0.25 0.5\nq1 map\n")
    refuses("""
    trec-eval -m prefs qrels a.run
        judged: judged trec-eval has no 'prefs': it needs preference judgements, which judged
        does not read.
    trec-eval -m recip_rnk qrels a.run
        judged: trec_eval has no measure 'recip_rnk'; did you mean 'recip_rank'? Its groups are
        official, set and all_trec.
    trec-eval -m P.five qrels a.run
        judged: trec_eval's P cannot take the parameters 'five': 'five' does not begin with a
        whole number.
    trec-eval -m P.5,5.9 qrels a.run
        judged: trec_eval's P cannot take the parameters '5,5.9': P has a cutoff twice.
    trec-eval -m P. qrels a.run
        judged: there are no parameters behind the dot of 'P.'.
    trec-eval -m P.0 qrels a.run
        judged: k of P must be a whole number from 1, or R; got 0.
    trec-eval qrels
        Error: Give the judgements and the run: judged trec-eval [OPTIONS] QRELS RUN.
    """)
