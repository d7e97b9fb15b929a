"""CSV and TSV with a header."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judged.inputs import csv, read_judgements, read_run
from judged.inputs.columns import NAMES
from judged.inputs.source import open_source
from judged.inputs.tables import RUN
from support.errors import error_of
from support.loops import for_each


def test_csv_run(write):
    run = read_run(write("a.csv", "query,item,score\nq1,01,1.5\nq1,1,-2\n"))
    assert run.frame.rows() == [("q1", "01", 1.5), ("q1", "1", -2.0)]
    assert (run.name, run.notes) == ("a", ())


def test_beir_judgements(write):
    """BEIR calls the grade "score"."""
    judgements = read_judgements(
        write("test.tsv", "query-id\tcorpus-id\tscore\n1\t31715818\t1\n3\t14717500\t2\n")
    )
    assert judgements.frame.rows() == [("1", "31715818", 1.0), ("3", "14717500", 2.0)]


@pytest.mark.parametrize("name", NAMES["query"])
def test_names_of_the_query(write, name):
    assert read_run(write("a", f"{name},item,score\nq,d,1\n")).frame.rows() == [("q", "d", 1.0)]


@for_each("name", [*NAMES["item"], "DOCNO", "Doc-ID", "docid", "corpus id", " Item_ID "])
def test_names_of_the_item(write, name):
    assert read_run(write("a", f"query\t{name}\tscore\nq\td\t1\n")).frame.rows() == [
        ("q", "d", 1.0)
    ]


@pytest.mark.parametrize("name", NAMES["score"])
def test_names_of_the_score(write, name):
    assert read_run(write("a", f"query,item,{name}\nq,d,1\n")).frame.rows() == [("q", "d", 1.0)]


@pytest.mark.parametrize("name", NAMES["grade"])
def test_names_of_the_grade(write, name):
    assert read_judgements(write("a", f"query,item,{name}\nq,d,1\n")).frame.rows() == [
        ("q", "d", 1.0)
    ]


def test_a_rank_serves_only_where_there_is_no_score(write):
    both = read_run(write("a.csv", "query,item,rank,score\nq,d,1,7\nq,e,2,6\n"))
    assert (both.frame["score"].to_list(), both.notes) == ([7, 6], ())
    alone = read_run(write("a.csv", "query,item,rank\nq,d,1\nq,e,2\n"))
    assert alone.frame["score"].to_list() == [-1, -2]
    assert alone.notes == ('There is no score: column "rank" gives the order.',)


def test_the_surer_name_wins_and_is_noted(write):
    """PyTerrier's frames: `query` is text and `docid` a number inside the index."""
    text = "qid,docid,docno,rank,score,query\n1,17,D1,0,2.5,what is a measure\n"
    run = read_run(write("a.csv", text))
    assert run.frame.rows() == [("1", "D1", 2.5)]
    assert run.notes == (
        'Column "qid" was taken for the query, not "query".',
        'Column "docno" was taken for the item, not "docid".',
    )


@pytest.mark.parametrize(
    "text",
    [
        "query,item,score\nq,d,1\nq,e,2\n",
        "query,item,score\r\nq,d,1\r\nq,e,2\r\n",
        "query,item,score\rq,d,1\rq,e,2\r",
        "query,item,score\nq,d,1\nq,e,2",
        "\ufeffquery,item,score\nq,d,1\nq,e,2",
        '\ufeff"query","item","score"\n"q","d","1"\n"q","e","2"\n',
        "query,item,score\nq,d,1\n\nq,e,2\n\n\n",
        "\n\nquery,item,score\nq,d,1\nq,e,2\n",
        "query,item,score\nq,d, 1\nq,e,2 \n",
        "query,item,score,tag\nq,d,1,x\nq,e,2\n",
        ",query,item,score,\n0,q,d,1,\n1,q,e,2,\n",
        "query,item,score\nq,d,1,\nq,e,2,,\n",
        "query,item,score\nq,d,1\nq,e,2,",
    ],
)
def test_layouts(write, text):
    run = read_run(write("a.csv", text))
    assert run.frame.rows() == [("q", "d", 1.0), ("q", "e", 2.0)]
    assert run.notes == ()


def test_quoted_cells(write):
    text = 'query,item,score\n"a,b","say ""hi""",1\n"two\nlines",d,2\nq,d"x,3\n#1,d,4\n'
    run = read_run(write("a.csv", text))
    assert run.frame.rows() == [
        ("a,b", 'say "hi"', 1.0),
        ("two\nlines", "d", 2.0),
        ("q", 'd"x', 3.0),
        ("#1", "d", 4.0),
    ]
    assert run.where([0, 1, 2, 3]) == "lines 2, 3, 5 and 6"


@pytest.mark.parametrize("text", ["\ufeffq,d,1\n", '"\ufeffq",d,1\n'])
def test_a_byte_order_mark_below_the_header_is_text(write, text):
    run = read_run(write("a.csv", "query,item,score\n" + text))
    assert run.frame.rows() == [("\ufeffq", "d", 1.0)]


def test_comments_above_the_header(write):
    run = read_run(write("a.csv", '# 5" of rain\n\n# more\nquery,item,score\nq,d,1\n\nq,e,2\n'))
    assert run.frame.rows() == [("q", "d", 1.0), ("q", "e", 2.0)]
    assert run.notes == ("2 comment lines were skipped.",)
    assert run.where([0, 1]) == "lines 5 and 7"


ERRORS = {
    "query,item,points\nq,d,1\n": (
        'a.csv: no column with a score or a rank; the columns are "query", "item", "points". Say '
        "which it is: columns={'score': COLUMN} (--columns score=COLUMN). Or use a name that is "
        "understood: score: score, "
        "sim, similarity, relevance_score, prediction, predicted_score, predicted_rating, pred, "
        "est; rank: rank, position, doc_position."
    ),
    "q1,d1,0.5\nq1,d2,0.4\n": (
        'a.csv: the first line should name the columns, but it is "q1,d1,0.5", which looks like a '
        "row."
    ),
    "query,item,score\nq,d,1\nq,e,abc\n": (
        'a.csv, line 3: the score is not a number: "abc", in the line "q,e,abc".'
    ),
    "query,item,rank\nq,d,1\nq,e,abc\n": (
        'a.csv, line 3: the rank is not a number: "abc", in the line "q,e,abc".'
    ),
    "query,item,score\nq,d,1\nq,e\n": 'a.csv, line 3: expected 3 fields, found 2: "q,e".',
    "query,item,score\nq,d,1\nq,e,1,2\n": (
        'a.csv, line 3: expected 3 fields, found 4: "q,e,1,2". '
        "A cell with a separator in it has to stand between quotation marks."
    ),
    "query,score,item\nq,1,d\nq,2,d,x\n": (
        'a.csv, line 3: expected 3 fields, found 4: "q,2,d,x". '
        "A cell with a separator in it has to stand between quotation marks."
    ),
    "query,title,item,score\nq,t,7,1\nq,a, b,8,2\n": (
        'a.csv, line 3: expected 4 fields, found 5: "q,a, b,8,2". '
        "A cell with a separator in it has to stand between quotation marks."
    ),
    "query,item,score,title\nq,7,1,t\nq,8,2,a,,b\n": (
        'a.csv, line 3: expected 4 fields, found 6: "q,8,2,a,,b". '
        "A cell with a separator in it has to stand between quotation marks."
    ),
    'query,item,score,title\nq,7,1,t\nq,8,2,the "a, b"\n': (
        'a.csv, line 3: expected 4 fields, found 5: "q,8,2,the "a, b"". '
        "A cell with a separator in it has to stand between quotation marks."
    ),
    "query,item,score\nq,d,1\nq,,2\n": 'a.csv, line 3: the item is missing, in the line "q,,2".',
    'query,item,score\nq,d,1\n"",d,2\n': 'a.csv, line 3: the query is missing, in the line ",d,2".',
    "query,item,score\nq,d,1\nq,d,\n": 'a.csv, line 3: the score is missing, in the line "q,d,".',
    'query,item,score\nq,d,1\nq,"d,2\nq,e,3\n': (
        "a.csv, line 3: the quotation marks do not match (unexpected end of data)."
    ),
    'query,item,score,title\nq,d,1,t\nq,e,2,"t\n': (
        "a.csv, line 3: the quotation marks do not match (unexpected end of data)."
    ),
    "query,item,score\n": "a.csv: holds no rows.",
    "# nothing\n": "a.csv: holds no rows.",
    "query,item,grade\nq,d,1\n": (
        'a.csv looks like judgements (column "grade" is a grade), not a run. Were the two files '
        "given in the wrong order? If it is what orders the run, say so: columns={'score': "
        "'grade'} (--columns score=grade)."
    ),
}


@pytest.mark.parametrize("text", ERRORS)
def test_errors(write, text):
    assert error_of(read_run, write("a.csv", text)) == ERRORS[text]


def test_not_utf8(write):
    assert (
        error_of(read_run, write("a.csv", b"query,item,score\nq,d,1\nq,caf\xe9,2\n"))
        == 'a.csv, line 3: not UTF-8 text: "q,caf\\xe9,2". Convert the file to UTF-8 first.'
    )


def test_a_run_given_as_judgements(write):
    assert error_of(read_judgements, write("a.csv", "query,item,rank,score\nq,d,1,2.5\n")) == (
        'a.csv looks like a run (column "rank" is a rank), not judgements. Were the two files '
        "given in the wrong order?"
    )


def test_missing_grade(write):
    assert error_of(read_judgements, write("a.csv", "query,item,points\nq,d,1\n")) == (
        'a.csv: no column with a grade; the columns are "query", "item", "points". Say '
        "which it is: columns={'grade': COLUMN} (--columns grade=COLUMN). Or use a name that is "
        "understood: grade: grade, relevance, rel, label, judgement, judgment, relevance_grade, "
        "relevance_label, relevant, is_relevant, rating, r_ui. If every item that is listed is "
        "relevant, say so: columns={'grade': 1} (--columns grade=1)."
    )


cells = st.text('q "x\n\r#,é1', max_size=4)
table = st.lists(
    st.lists(cells | st.sampled_from(["1", "2.5"]), min_size=2, max_size=4).map(",".join),
    max_size=4,
)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(table)
def test_polars_and_python_agree(tmp_path, lines):
    """What polars accepts, the reader by rows accepts, with the same rows."""
    path = tmp_path / "a.csv"
    path.write_bytes("\n".join(["query,item,score", *lines, ""]).encode())
    reader = csv.DelimitedReader.of(open_source(path, RUN), ",")
    below = path.read_bytes().partition(b"\n")[2]
    frame = reader._parsed_by_polars(below) if below and csv.is_plain(below, b",") else None
    if frame is not None and not below.startswith(b"\xef\xbb\xbf"):
        rows = islice(csv.records(reader.source, ","), 1, None)
        assert frame.equals(reader._careful_frame(rows))
