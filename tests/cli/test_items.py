"""Documents in place of items, and queries among their own results, from the command line."""

import json

import pytest


@pytest.fixture
def chunks(files):
    """Chunks of documents in a run, and judgements of both; q1 is among its own results.

    By document q1 has d2, d1, q1 in its list and d1 is relevant; q2 has d1, d3, and d3 is.
    """
    (files / "documents.qrels").write_text("q1 0 d1 1\nq1 0 q1 1\nq2 0 d3 1\n")
    (files / "chunks.qrels").write_text("q1 0 d1#2 1\nq2 0 d3#1 1\nq2 0 d3#9 1\n")
    (files / "chunks.run").write_text(
        "q1 Q0 d2#1 1 9 t\nq1 Q0 d2#2 2 8 t\nq1 Q0 d1#2 3 7 t\nq1 Q0 q1 4 6 t\n"
        "q2 Q0 d1#1 1 9 t\nq2 Q0 d1#2 2 8 t\nq2 Q0 d3#1 3 7 t\n"
    )
    (files / "table.csv").write_text(
        "chunk_id,doc_id\nd1#1,d1\nd1#2,d1\nd2#1,d2\nd2#2,d2\nd3#1,d3\nd3#9,d3\nq1,q1\n"
    )
    return files


def scores(result):
    assert result.code == 0, result.err
    return {each["name"]: each["scores"] for each in json.loads(result.out)["runs"]}


@pytest.mark.parametrize("says", ["doc:#", "pattern:^([^#]+)#", "table:table.csv"])
@pytest.mark.parametrize("qrels", ["documents.qrels", "chunks.qrels"])
def test_documents(judged, chunks, says, qrels):
    # Both queries have their first relevant document at rank 2.
    result = judged(
        *("evaluate", qrels, "chunks.run", "-m", "RR", "--item-to", says, "--format", "json")
    )
    assert scores(result) == {"chunks": {"RR": 0.5}}


def test_own_ids(judged, chunks):
    result = judged(
        "evaluate documents.qrels chunks.run -m R --format json --item-to 'doc:#' --exclude-same-id"
    )
    assert scores(result) == {"chunks": {"R": 1.0}}
    (run,) = json.loads(result.out)["runs"]
    assert "1 judgement of a query for itself was taken out." in run["audit"]["notes"]
    assert "1 result has the id of its query: taken out." in run["audit"]["notes"]


def test_ids_that_do_not_meet_are_said(judged, chunks):
    result = judged("evaluate documents.qrels chunks.run -m RR --format json")
    (run,) = json.loads(result.out)["runs"]
    assert run["scores"] == {"RR": 0.125}  # q1 finds itself at rank 4, judged relevant
    (files_only := chunks / "one.qrels").write_text("q1 0 d1 1\nq2 0 d3 1\n")
    result = judged("evaluate", files_only.name, "chunks.run", "-m", "RR", "--format", "json")
    (run,) = json.loads(result.out)["runs"]
    assert run["audit"]["warnings"][0] == (
        "No result is judged. With the run's ids cut at the last '#', 100% of the queries would "
        "have one: item_to='doc:#' (--item-to 'doc:#')."
    )


def test_what_is_refused(refuses, chunks):
    refuses("""
    evaluate documents.qrels chunks.run --item-to '#'
        judged: --item-to must be doc:SEPARATOR, such as doc:#, pattern:REGEX, column:NAME or
        table:FILE; got '#'.
    """)
