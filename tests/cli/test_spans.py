"""`judged spans`."""

GOLDEN = "query,doc,start,end\n1,d,10,20\n"


def test_spans_chunks_and_judged_chunks(judged, write):
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


def test_errors(judged, write):
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
    assert "'x' is no list of numbers" in judged("spans golden.csv odd.csv -k x").err
