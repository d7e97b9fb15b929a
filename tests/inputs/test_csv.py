"""CSV and TSV with a header."""

from __future__ import annotations

import pytest

from judged.inputs import read_judgements, read_run
from judged.inputs.columns import NAMES
from support.errors import error_of
from support.loops import for_each


def test_beir_judgements(write):
    """BEIR calls the grade "score"."""
    judgements = read_judgements(
        write("test.tsv", "query-id\tcorpus-id\tscore\n1\t31715818\t1\n3\t14717500\t2\n")
    )
    assert judgements.frame.rows() == [("1", "31715818", 1.0), ("3", "14717500", 2.0)]


SPELLINGS = {"item": ["DOCNO", "Doc-ID", "docid", "corpus id", " Item_ID "]}


@for_each("role", ["query", "item", "score", "grade"])
def test_names_of_columns(write, role):
    read = read_judgements if role == "grade" else read_run
    for name in (*NAMES[role], *SPELLINGS.get(role, ())):
        header = {"query": "query", "item": "item", "score": "score"}
        header["score" if role == "grade" else role] = name
        for gap in ",\t":
            text = f"{gap.join(header.values())}\nq{gap}d{gap}1\n"
            assert read(write("a", text)).frame.rows() == [("q", "d", 1.0)], name


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


def test_names_on_several_lines(write):
    run = read_run(write("a.csv", 'query,item,"sc\r\nore"\nq,d,1\nq,e,2\n'))
    assert run.frame.rows() == [("q", "d", 1.0), ("q", "e", 2.0)]
    assert run.where([1]) == "line 4"


def test_comments_above_the_header(write):
    run = read_run(write("a.csv", '# 5" of rain\n\n# more\nquery,item,score\nq,d,1\n\nq,e,2\n'))
    assert run.frame.rows() == [("q", "d", 1.0), ("q", "e", 2.0)]
    assert run.notes == ("2 comment lines were skipped.",)
    assert run.where([0, 1]) == "lines 5 and 7"


ERRORS = {
    "query,item,points\nq,d,1\n": (
        'a.csv: no column with a score or a rank; the columns are "query", "item", "points". Say '
        "which it is: columns={'score': COLUMN}. Or use a name that is "
        "understood: score: score, "
        "sim, similarity, relevance_score, prediction, predicted_score, predicted_rating, pred, "
        "est; rank: rank, position, doc_position."
    ),
    "q1,d1,0.5\nq1,d2,0.4\n": (
        'a.csv: the first line should name the columns, but it is "q1,d1,0.5", which looks like a '
        "row."
    ),
    "query,item,score\nq,d,1\nq,e,abc\n": ('a.csv, line 3: the score is not a number: "abc".'),
    "query,item,rank\nq,d,1\nq,e,abc\n": ('a.csv, line 3: the rank is not a number: "abc".'),
    "query,item,score\nq,d,1\nq,e\n": 'a.csv, line 3: expected 3 fields, found 2: "q,e".',
    "query,item,score\nq,d,1\nq,e,1,2\n": (
        'a.csv, line 3: expected 3 fields, found 4: "q,e,1,2". '
        "Put a cell with a separator in it between quotation marks."
    ),
    'query,item,score,title\nq,7,1,t\nq,8,2,the "a, b"\n': (
        'a.csv, line 3: expected 4 fields, found 5: "q,8,2,the "a, b"". '
        "Put a cell with a separator in it between quotation marks."
    ),
    "query,item,score\nq,d,1\nq,,2\n": "a.csv, line 3: the item is missing.",
    'query,item,score\nq,d,1\n"",d,2\n': "a.csv, line 3: the query is missing.",
    "query,item,score\nq,d,1\nq,d,\n": "a.csv, line 3: the score is missing.",
    'query,item,score\nq,d,1\nq,"d,2\nq,e,3\n': (
        "a.csv, line 3: the quotation marks do not match (unexpected end of data)."
    ),
    "query,item,score\n": "a.csv: holds no rows.",
    "# nothing\n": "a.csv: holds no rows.",
    "query,item,grade\nq,d,1\n": (
        'a.csv looks like judgements (column "grade" is a grade), not a run. Were the two files '
        "given in the wrong order? If it is what orders the run, say so: columns={'score': "
        "'grade'}."
    ),
}


@pytest.mark.parametrize("text", ERRORS)
def test_errors(write, text):
    assert error_of(read_run, write("a.csv", text)) == ERRORS[text]
