"""`judged fuse`: several runs made one, from files to a file."""

from __future__ import annotations

from pathlib import Path


def test_a_file(judged, files):
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
        "warning: a lacks 1 of 4 queries (q3) and contributes nothing to its fused list.\n"
        "warning: b lacks 1 of 4 queries (q9) and contributes nothing to its fused list.\n"
        f"wrote fused.run ({Path('fused.run').stat().st_size} bytes)\n"
    )
    assert judged("evaluate qrels fused.run -m RR -q").out.split()[-1] == "1.0000"


def test_all_options(judged, files):
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
    fuse a.run b.run
        Error: Missing option '-o' / '--output'.
    fuse a.run b.run -o f.run --run-weights '2;1'
        Error: Invalid value for '--run-weights': '2;1' is no list of numbers, such as 2,1.
    fuse a.run b.run -o f.run --run-weights 2,nan
        judged: the weight of b must be a finite number from 1e-09 to 1e+09; got nan.
    fuse a.run b.run -o f.run --rrf-k 0
        judged: --rrf-k must be a whole number from 1; got 0.
    fuse qrels b.run -o f.run
        judged: qrels looks like judgements (4 columns: query, iteration, item, grade), not a
        run. Only runs can be fused.
    """)
