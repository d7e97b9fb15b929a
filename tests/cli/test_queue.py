"""`judged queue`: what is printed, what is written, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 c 1\n"
OLD = "q1 Q0 b 1 3 old\nq1 Q0 x 2 2 old\nq1 Q0 a 3 1 old\nq2 Q0 c 1 2 old\nq2 Q0 y 2 1 old\n"
NEW = "q1 Q0 a 1 3 new\nq1 Q0 b 2 2 new\nq1 Q0 z 3 1 new\nq2 Q0 c 1 2 new\nq3 Q0 n 1 1 new\n"
CALL = ("queue", "qrels", "old.run", "new.run", "-m", "P@2")


@pytest.fixture(autouse=True)
def _files(write) -> None:
    write("qrels", QRELS)
    write("old.run", OLD)
    write("new.run", NEW)


def test_what_is_printed_is_for_the_organiser(judged) -> None:
    found = judged(*CALL)
    assert (found.code, found.err) == (0, "")
    # P@2 of old is 0 and 1/2, of new 1/2 and 1/2. With x and y relevant, old has 1/2 and 1; new
    # can have no more, as z stands below the cutoff.
    assert found.out == (
        "4 unjudged results in the top 10 of any run (3 queries).\n"
        "\n"
        "query  item  effect  best rank\n"
        "q3     n     0.5000          1\n"
        "q1     x     0.5000          2\n"
        "q2     y     0.5000          2\n"
        "q1     z     0.0000          3\n"
        "\n"
        "run  against  difference in P@2   lowest  highest  can change\n"
        "new  old                 0.2500  -0.2500   0.2500  yes\n"
        "\n"
        "1 of 4 results alone would not change P@2, even with the top grade.\n"
        "1 query has no judgements yet (q3) and does not count in values and differences.\n"
    )


def test_the_file_is_for_annotators(judged) -> None:
    found = judged(*CALL, "-o", "to_judge.csv")
    assert found.code == 0
    assert found.out.startswith("4 unjudged results in the top 10 of any run (3 queries).\n\nquery")
    assert found.err.startswith("wrote to_judge.csv (")
    header, *rows = Path("to_judge.csv").read_text().splitlines()
    assert header == "query,item,grade"
    assert sorted(rows) == ["q1,x,", "q1,z,", "q2,y,", "q3,n,"]
    # Filled in, it is judgements.
    Path("to_judge.csv").write_text("query,item,grade\nq1,x,1\nq1,z,\nq2,y,0\n")
    found = judged("evaluate to_judge.csv old.run -m NumRel -q")
    assert found.out == "run  NumRel\nold  1.0000\n"


@pytest.mark.parametrize("form", ["csv", "tsv", "ndjson"])
def test_the_same_file_can_be_printed(judged, form: str) -> None:
    found = judged(*CALL, "--format", form)
    judged(*CALL, "-o", f"file.{form}")
    assert found.out == Path(f"file.{form}").read_text()
    assert "effect" not in found.out


def test_texts_and_queries(judged, write) -> None:
    write("items.tsv", "x\tAn ex.\ny\tA why.\nz\tA zed.\nn\tAn en.\n")
    write("queries.csv", "id,text\nq1,first?\nq2,second?\nq3,third?\n")
    texts = ("--texts", "items.tsv", "--queries", "queries.csv")
    found = judged(*CALL, *texts, "-o", "to_judge.tsv")
    assert found.code == 0
    rows = Path("to_judge.tsv").read_text().splitlines()
    assert rows[0] == "query\tquery_text\titem\ttext\tgrade"
    assert "q1\tfirst?\tx\tAn ex.\t" in rows


def test_what_is_refused(refuses):
    refuses("""
    queue qrels old.run new.run -m P@2 --budget 0
        judged: --budget must be a whole number from 1; got 0.
    queue qrels old.run new.run -m P@2 -o queue.json
        judged: queue.json: the ending says the format, and must be .csv, .tsv, .ndjson or
        .parquet.
    """)
