"""`judged plot`: every kind from files, what it refuses, and its help."""

from __future__ import annotations

import json

import pytest

from judged.charts.kinds import KINDS, NEEDS


def test_a_chart_from_files(judged, files):
    result = judged("plot precision-recall qrels a.run --query q1 -o curve.json")
    assert result.code == 0
    assert result.out == "Precision and recall of a, query q1: AP 0.5000\n"
    assert result.err.startswith("wrote curve.json (")
    # y x z: the one relevant item stands at rank 2.
    rows = json.loads((files / "curve.json").read_text())["datasets"]["table"]
    assert [(row["rank"], row["precision"]) for row in rows] == [(1, 0.0), (2, 0.5), (3, 0.3333333)]


def test_options_and_policy_arrive(judged, files):
    call = "plot measure-at-k qrels a.run b.run -m P -k 2 --missing skip -o p.json"
    assert judged(call).code == 0
    rows = json.loads((files / "p.json").read_text())["datasets"]["table"]
    # a: q1 finds x at 2, q2 finds u at 1; q3 is missing and skipped. b: x, v and w at 1, u at 2.
    assert [(row["run"], row["k"], row["value"]) for row in rows] == [
        ("a", 1, 0.5),
        ("a", 2, 0.5),
        ("b", 1, 1.0),
        ("b", 2, 0.6666667),
    ]


def test_size_title_and_notes_of_a_picture(judged, files):
    arguments = ("cmc", "qrels", "a.run", "b.run", "--theme", "page", "--width", 420)
    assert judged("plot", *arguments, "-o", "c.svg").code == 0
    svg = (files / "c.svg").read_text()
    assert 'viewBox="0 0 420 ' in svg
    assert "var(--s1)" in svg
    titled = ("cmc", "qrels", "a.run", "--title", "Mine", "-o", "c.json")
    assert judged("plot", *titled).code == 0
    assert json.loads((files / "c.json").read_text())["title"]["text"] == "Mine"


def test_the_help_lists_every_kind(judged):
    text = judged("plot --help").out
    for kind in KINDS.values():
        assert f"  {kind.name} " in text
        assert kind.title in text
        assert NEEDS[kind.needs].usage in text


def test_charts_of_results_and_of_pairs(judged, files):
    (files / "p.run").write_text("q1 Q0 y 1 0.9 p\nq1 Q0 x 2 0.5 p\nq2 Q0 u 1 0.8 p\n")
    for arguments in (
        ("scores", "qrels", "p.run"),
        ("reliability", "qrels", "p.run"),
        ("differences", "qrels", "a.run", "b.run", "-m", "RR", "--missing", "zero"),
        ("scatter", "qrels", "a.run", "b.run", "-m", "RR", "--missing", "skip"),
        ("rank-histogram", "qrels", "a.run", "--of", "first"),
        ("ranges", "qrels", "a.run", "b.run", "-m", "RR", "-m", "AP"),
        ("roc", "qrels", "a.run", "--collection", 10),
        ("cmc", "qrels", "a.run", "b.run"),
        ("risk-coverage", "qrels", "p.run", "-m", "Success@2"),
        ("funnel", "qrels", "a.run", "p.run", "-k", 1, "--rel", 1),
    ):
        result = judged("plot", *arguments, "-o", f"{arguments[0]}.json")
        assert result.code == 0, result.err
        assert json.loads((files / f"{arguments[0]}.json").read_text())["datasets"]["table"]


@pytest.fixture
def runs(files):
    """Twelve queries with a relevant item x: at rank 1 in good, at 2 or 3 in bad, in middling at 1
    in some of them."""
    queries = [f"q{at:02}" for at in range(12)]
    (files / "q.txt").write_text("".join(f"{query} 0 x 1\n" for query in queries))
    lists = {
        "good": lambda at: "xyz",
        "bad": lambda at: "yxz" if at % 2 else "yzx",
        "middling": lambda at: "xyz" if at % 3 else "yxz",
    }
    for name, ranked in lists.items():
        lines = [
            f"{query} Q0 {item} {rank} {9 - rank} {name}\n"
            for at, query in enumerate(queries)
            for rank, item in enumerate(ranked(at), 1)
        ]
        (files / f"{name}.run").write_text("".join(lines))
    return files


def test_a_system_that_did_not_run_is_not_drawn_as_one_that_scored_zero(judged, files):
    for kind in ("forest", "systems", "differences", "scatter"):
        result = judged("plot", kind, "qrels", "a.run", "b.run", "-o", "x.svg")
        assert result.err == (
            "judged: a has no results for 1 (q3) of the 3 judged queries that b has. Did it run "
            "on all of them? To compare anyway, use --missing zero to "
            "score these queries 0, or --missing skip to leave them out.\n"
        )
        assert not (files / "x.svg").exists()


def test_a_chart_of_a_diagnosis(judged, files):
    (files / "q.csv").write_text("1,0\n0,1\n")
    made = judged("embeddings q.csv q.csv --pairs --diagnose -o found.json")
    assert made.code == 0, made.err
    assert judged("plot embedding-scores found.json -o x.svg").code == 0
    assert "relevant: 2" in (files / "x.svg").read_text()
    assert (
        judged("plot embedding-scores none.json -o x.svg").err
        == "judged: none.json: no such file.\n"
    )
    assert judged("plot embedding-scores qrels -o x.svg").err == (
        "judged: qrels: cannot be read as JSON (Expecting value: line 1 column 1 (char 0)); "
        "embedding-scores needs "
        "a diagnosis of embeddings: `judged embeddings … --diagnose -o FILE.json`.\n"
    )


@pytest.fixture
def sweep(judged, files):
    """`sweep.json`: four queries and items, two of them near each other."""
    (files / "q.csv").write_text("1,0,0\n0,1,0\n0,0.9,0.5\n0.2,0,1\n")
    (files / "i.csv").write_text("1,0.1,0\n0,1,0.2\n0,1,0.4\n0,0.1,1\n")
    made = judged("temperature q.csv i.csv --pairs -o sweep.json")
    assert made.code == 0, made.err
    return files


def test_what_is_refused(refuses, runs):
    refuses("""
    plot cmc qrels a.run --width 10 -o c.svg
        judged: --width must be a whole number from 160 to 4,000; got 10.
    plot precision-recal qrels a.run -o x.png
        judged: unknown chart 'precision-recal'; did you mean 'precision-recall'? The charts are
        precision-recall, eleven-point, measure-at-k, precision-recall-at-k,…
    plot confusion qrels a.run b.run -o x.png
        Error: confusion needs judgements and one run: judged plot confusion QRELS RUN -o FILE.
    plot eleven-point qrels a.run -k 3 -o x.png
        Error: -k has no meaning for eleven-point; its options: --rel.
    plot forest q.txt -o x.svg
        Error: forest needs judgements and two or more runs: judged plot forest QRELS RUN RUN...
        -o FILE.
    plot forest q.txt bad.run -o x.svg
        judged: a comparison needs at least two runs; got one, bad.
    plot forest q.txt good.run bad.run middling.run --baseline god -o x.svg
        judged: the baseline 'god' is not one of the runs: good, bad, middling.
    plot cmc q.txt good.run bad.run middling.run --baseline good -o x.svg
        Error: --baseline has no meaning for cmc; its options: -k, --rel.
    plot differences q.txt good.run bad.run -m RR -k 3 -o x.svg
        Error: -k has no meaning for differences; its options: -m, --baseline, --level.
    plot scatter qrels a.run b.run -m RR -m AP -o x.png
        Error: scatter compares by one measure; got RR, AP.
    """)


def test_what_is_refused_of_a_sweep(refuses, sweep):
    refuses("""
    plot temperature sweep.json --columns item=x -o x.svg
        Error: --columns has no meaning for temperature; its options: none of its own.
    """)
