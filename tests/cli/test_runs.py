"""Commands about runs: overlap, fuse, funnel, abstain, spans, bench and identify."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

# -- overlap


def test_overlap(judged: Any, files: Path) -> None:
    found = judged("overlap a.run b.run --depth 2")
    assert found.code == 0
    # q1: y x against x, overlaps 0 and 1: 0.1·0.9/2 + 0.81/2 = 0.45; q2: u n against v u, the same.
    assert found.out == (
        "a and b: RBO 0.4500 over 2 queries (at least 0.1558, at most 0.8775); 1.0 shared items "
        "on average.\n"
        "\n"
        "run  against  queries     RBO  95 % CI  Jaccard@2  shared  tau-b\n"
        "a    b              2  0.4500  –           0.4167     1.0      –\n"
    )
    assert found.err == (
        "warning: a and b are compared on the 2 queries for which both have results. Left out: 1 "
        "query only in a (q9), 1 query only in b (q3).\n"
    )


def test_overlap_of_every_query(judged: Any, files: Path) -> None:
    told = judged("overlap a.run B=b.run --depth 2 --per-query").out
    assert (
        "run  against  query     RBO   least  residual  Jaccard@2  shared  tau-b\n"
        "a    B        q1     0.4500  0.1558    0.7442     0.5000     1.0      –\n"
        "a    B        q2     0.4500  0.1558    0.6992     0.3333     1.0      –\n"
    ) in told


# -- fuse


def test_fuse(judged, files):
    done = judged("fuse a.run b.run -o fused.run")
    assert done.code == 0
    # x: 1/62 + 1/61; u: 1/61 + 1/62; v: 1/63 + 1/61; n: 1/62.
    assert Path("fused.run").read_text().splitlines() == [
        f"q1 Q0 x 1 {1 / 62 + 1 / 61} rrf(k=60)",
        f"q1 Q0 y 2 {1 / 61} rrf(k=60)",
        f"q1 Q0 z 3 {1 / 63} rrf(k=60)",
        f"q2 Q0 u 1 {1 / 61 + 1 / 62} rrf(k=60)",
        f"q2 Q0 v 2 {1 / 63 + 1 / 61} rrf(k=60)",
        f"q2 Q0 n 3 {1 / 62} rrf(k=60)",
        f"q9 Q0 u 1 {1 / 61} rrf(k=60)",
        f"q3 Q0 w 1 {1 / 61} rrf(k=60)",
    ]
    assert done.out == (
        "run  weight  queries  results  only here\n"
        "a         1        3        7          4\n"
        "b         1        3        4          1\n"
        "\n"
        "rrf of a and b: an item's score is the sum over the lists that have it of 1 / (60 + rank)."
        "\n"
        "Ties in the runs and in the fused lists: tied results are ordered by item id, descending "
        "on bytes (trec_eval's rule).\n"
    )
    assert done.err == (
        "warning: a lacks 1 of 4 queries (q3) and contributes nothing there.\n"
        "warning: b lacks 1 of 4 queries (q9) and contributes nothing there.\n"
        f"wrote fused.run ({Path('fused.run').stat().st_size} bytes)\n"
    )
    assert judged("evaluate qrels fused.run -m RR -q").out.split()[-1] == "1.0000"


def test_fuse_with_all_options(judged, files):
    Path("c.csv").write_text("question,doc,score\nq1,x,1\nq1,x,2\n")
    options = "--method weighted --run-weights 2,1 --normalize rank"
    done = judged(
        "fuse first=a.run c.csv -o fused.csv", *options.split(), "--columns",
        "query=question,item=doc",
    )  # fmt: skip
    assert done.code == 2
    assert "has no header with names of columns" in done.err
    done = judged(
        "fuse first=a.run b.run -o fused.csv", *options.split(),
    )  # fmt: skip
    assert (done.code, Path("fused.csv").read_text().splitlines()[:3]) == (
        0,
        ["query,item,score,rank", f"q1,x,{2 * (1 - 1 / 3) + 1},1", "q1,y,2.0,2"],
    )


def test_a_run_twice(judged, files):
    done = judged("fuse a.run a.run -o fused.run")
    assert done.code == 0
    assert "warning: a.run and a.run (2) are identical, so their lists count twice." in done.err


def test_a_pipe_gets_the_run_alone(judged, files):
    """And not the table, as the next command reads it."""
    done = judged("fuse a.run b.run -o /dev/stdout")
    assert done.out == ""
    assert [line.split()[0] for line in done.err.splitlines()][:2] == ["warning:", "warning:"]
    assert "warning" not in judged("fuse a.run b.run -o /dev/stdout -q").err


def test_what_is_refused(refuses, files):
    refuses("""
    overlap a.run b.run --p 2
        judged: --p must be a number between 0 and 1, such as 0.9; got 2.0.
    overlap a.run qrels
        judged: qrels looks like judgements (4 columns: query, iteration, item, grade), not a
        run. Overlap takes only runs.
    fuse a.run b.run
        Error: Missing option '-o' / '--output'.
    fuse a.run b.run -o f.run --run-weights '2;1'
        Error: Invalid value for '--run-weights': '2;1' is not a list of numbers, such as 2,1.
    fuse a.run b.run -o f.run --run-weights 2,nan
        judged: the weight of b must be a finite number from 1e-09 to 1e+09; got nan.
    fuse a.run b.run -o f.run --rrf-k 0
        judged: --rrf-k must be a whole number from 1; got 0.
    fuse qrels b.run -o f.run
        judged: qrels looks like judgements (4 columns: query, iteration, item, grade), not a
        run. Only runs can be fused.
    """)


# -- funnel


def test_funnel(judged, write):
    write("q.txt", "1 0 a 1\n1 0 b 1\n")
    write("first.run", "1 Q0 a 1 2 r\n1 Q0 b 2 1 r\n")
    write("last.run", "1 Q0 b 1 2 r\n1 Q0 a 2 1 r\n")
    shown = judged("funnel q.txt first.run last.run -k 1")
    assert shown.code == 0
    assert shown.out.startswith("1 of 2 relevant items (50.0 %) is in the top 1 of last.\n")
    failed = judged("funnel q.txt first.run last.run -k 1 --max-loss last=0.1")
    assert failed.code == 1
    first, *_ = failed.out.splitlines()
    assert first == "FAILED: last lost 1 of 2 relevant items (50.0 %; allowed: 10 %)."
    assert judged("funnel q.txt first.run last.run -k 1 --max-loss 0.5").code == 0
    assert judged("funnel q.txt first.run").code == 2


# -- abstain


def test_abstain(judged, write):
    lines = [(q, "a" if q % 10 else "b", 100 - q) for q in range(100)]
    write("q.txt", "".join(f"{q} 0 a 1\n" for q, _, _ in lines))
    write("r.run", "".join(f"{q} Q0 {d} 1 {s} r\n" for q, d, s in lines))
    chosen = judged("abstain q.txt r.run --risk 0.3")
    assert chosen.code == 0
    assert chosen.out.startswith("Answer from a best score of 1.0 on: r then answers 100.0 %")
    failed = judged("abstain q.txt r.run --risk 0.1 --threshold 1")
    assert failed.code == 1
    assert failed.out.startswith("FAILED: ")
    assert judged("abstain q.txt r.run --risk 0.3 --threshold 1").code == 0


def test_two_runs_are_an_error(judged, write):
    write("q.txt", "1 0 a 1\n")
    for name in ("r.run", "s.run"):
        write(name, "1 Q0 a 1 2 r\n")
    refused = judged("abstain q.txt r.run s.run")
    assert refused.code == 2
    assert refused.err == "judged: say which run: r, s.\n"


# -- spans

GOLDEN = "query,doc,start,end\n1,d,10,20\n"


def test_spans(judged, write):
    write("golden.csv", GOLDEN)
    write("large.csv", "query,doc,start,end,score\n1,d,0,5,2\n1,d,0,40,1\n")
    write("small.run", "1 Q0 c1 1 2 r\n")
    write("small.csv", "item,doc,start,end\nc1,d,10,15\n")
    write("qrels.txt", "1 0 g 1\n")
    write("old.csv", "id,source,start_index,end_index\ng,d,10,20\n")
    shown = judged(
        "spans golden.csv large.csv small.run --chunks small=small.csv -k 1,2 --per-query"
    )
    assert shown.code == 0
    assert [line.split()[:3] for line in shown.out.splitlines()[1:5]] == [
        ["SpanRecall@1", "large", "0.0000"],
        ["SpanRecall@1", "small", "0.5000"],
        ["SpanRecall@2", "large", "1.0000"],
        ["SpanRecall@2", "small", "0.5000"],
    ]
    rebased = judged(
        "spans qrels.txt large.csv small.run --chunks small=small.csv -k 1,2 --per-query "
        "--judged-chunks old.csv"
    )
    assert rebased.out == shown.out
    for chunks in ("--chunks small.csv --chunks old.csv", "--chunks a=small.csv --chunks old.csv"):
        refused = judged(f"spans golden.csv small.run {chunks}")
        assert refused.code == 2
        assert "--chunks: give one FILE for all runs, or RUN=FILE for each run." in refused.err


def test_errors_of_spans(judged, write):
    write("golden.csv", GOLDEN)
    write("empty.csv", "")
    write("odd.csv", "query,doc,start,end\n1,d,0,5\n1,d,2.5,9\n")
    for call, message in (
        ("golden.csv empty.csv", "judged: empty.csv: the file is empty.\n"),
        (
            "golden.csv odd.csv",
            "judged: odd.csv, line 3: the start is '2.5'; an offset is a whole number from 0.\n",
        ),
    ):
        refused = judged(f"spans {call}")
        assert (refused.code, refused.err) == (2, message)
    assert "'x' is not a list of numbers" in judged("spans golden.csv odd.csv -k x").err


# -- bench

QRELS, RUN = "q1 0 a 1\nq2 0 b 1\n", "q1 Q0 a 1 2 r\nq2 Q0 c 1 2 r\nq2 Q0 b 2 1 r\n"


def test_bench(judged, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, system in (("x", "bm25"), ("x", "dense"), ("y", "bm25")):
        Path(f"all/{name}").mkdir(parents=True, exist_ok=True)
        Path(f"all/{name}/qrels.txt").write_text(QRELS)
        Path(f"all/{name}/{system}.run").write_text(RUN)
    shown = judged("bench all -m RR")
    assert shown.code == 0
    assert shown.out.splitlines()[:4] == [
        "RR            bm25   dense",
        "x           0.7500  0.7500",
        "y           0.7500       –",
        "macro mean  0.7500       –",
    ]
    assert "dense has no value for y" in " ".join((shown.out + shown.err).split())
    found = json.loads(judged("bench all -m RR --common --format json").out)
    assert found["missing"] == {"RR": {"dense": ["y"]}}
    assert "shared mean & 0.7500 & 0.7500" in judged("bench all -m RR --common --format latex").out
    assert judged("bench all -o all/x/bm25.run").code == 2
    assert Path("all/x/bm25.run").read_text() == RUN
    assert judged("bench nowhere").code == 2


# -- identify

# AP of a.run: q1 finds x at rank 2, q2 finds u and v at ranks 1 and 3, q3 is missing: (1/2 + 5/6) /
# 3 and (1/2 + 5/6) / 2.


def test_identify(judged, files):
    done = judged("identify 0.6667 qrels a.run -m AP -v")
    assert (done.code, done.err) == (0, "")
    row = next(line for line in done.out.splitlines() if "0.666667" in line)
    assert row.split()[:3] == ["0.666667", "AP,", "missing=skip"]
    assert "pytrec_eval" in row
    assert "No effect here: ties (no judged results are tied)." in done.out
