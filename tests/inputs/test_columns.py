"""Columns that somebody named, several that make one id, and names that could mean two things."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import polars as pl
import pytest

import judged
import judged.text
from judged.inputs import csv as csv_reader
from judged.inputs import read_judgements, read_run
from judged.inputs.columns import ROLES, as_columns
from support.errors import error_of
from support.loops import for_each
from support.tables import every_form

RUN = {
    "question_id": ["q1", "q1", "q2"],
    "file": ["a.pdf", "b.pdf", "a.pdf"],
    "page": [1, 2, 3],
    "prediction": [0.5, 0.25, 0.75],
    "title": ["x", "y", "z"],
}
JUDGED = {"question_id": ["q1", "q2"], "file": ["b.pdf", "a.pdf"], "page": [2, 3], "points": [2, 1]}
COLUMNS = "query=question_id,item=file+page,score=prediction,grade=points"


FORMS = ("a.csv", "a.tsv", "a.jsonl", "a.json", "a.parquet", "polars", "lazy", "pandas", "pyarrow")


def forms(data, folder=Path()):
    """Return all forms of a table but rows of Python, whose places have another name."""
    every = every_form(pl.DataFrame(data), folder)
    return {form: every[form] for form in FORMS}


@pytest.fixture(params=FORMS)
def form(request, folder):
    return lambda data, *within: forms(data, *within)[request.param]


def test_named_columns_in_every_form(form, tmp_path):
    run = read_run(form(RUN), columns=COLUMNS)
    assert run.frame.columns == ["query", "item", "score"]
    assert run.frame.rows() == [
        ("q1", "a.pdf#1", 0.5),
        ("q1", "b.pdf#2", 0.25),
        ("q2", "a.pdf#3", 0.75),
    ]
    assert 'The item is made of columns "file" and "page", joined by "#".' in run.notes
    (tmp_path / "judged").mkdir()
    judgements = form(JUDGED, tmp_path / "judged")
    evaluation = judged.evaluate(judgements, form(RUN), "RR", columns=COLUMNS)
    assert evaluation.value() == 0.75


def joined(parts):
    return "#".join(part.replace("\\", "\\\\").replace("#", "\\#") for part in parts)


PARTS = ["a", "b", "#", "\\", "\\#", "a#", "#a", "a#b", "\\\\", "é#", "1", "01"]


def test_two_different_pairs_never_make_the_same_id(folder):
    pairs = [(one, two) for one in PARTS for two in PARTS]
    assert len({joined(pair) for pair in pairs}) == len(pairs)
    data = {"query": ["q"] * len(pairs), "score": list(range(len(pairs)))}
    data |= {"one": [one for one, _ in pairs], "two": [two for _, two in pairs]}
    for name, given in forms(data).items():
        run = read_run(given, columns={"item": ["one", "two"]})
        assert run.frame["item"].to_list() == [joined(pair) for pair in pairs], name


@pytest.mark.parametrize("careful", [False, True])
def test_an_id_of_which_a_part_is_missing(folder, monkeypatch, careful):
    if careful:
        monkeypatch.setattr(csv_reader.DelimitedReader, "_parsed_by_polars", lambda *_: None)
    data = {"query": ["q", "q"], "file": ["a", "b"], "page": ["1", None], "score": [2, 1]}
    lines = {"a.csv": "line 3", "a.tsv": "line 3", "a.jsonl": "line 2"}
    for name, given in forms(data).items():
        source = name if name.startswith("a.") else "a data frame"
        assert error_of(read_run, given, columns="item=file+page") == (
            f"{source}, {lines.get(name, 'row 2')}: the item is missing."
        )


def test_a_query_with_nothing_in_it(form):
    data = {"query": ["p", "q"], "file": ["a", None], "page": ["1", None], "score": [1.0, None]}
    run = read_run(form(data), columns="item=file+page")
    assert run.names() == ["p", "q"]
    assert run.frame.rows() == [("p", "a#1", 1.0)]


def test_a_rank_by_name(form):
    data = {"query": ["q", "q"], "item": ["a", "b"], "score": [1, 2], "pos": [1, 2]}
    run = read_run(form(data), columns={"rank": "pos"})
    assert run.frame["score"].to_list() == [-1, -2]
    assert run.notes[-1] == 'Column "pos" gives the order.'
    plain = read_run(form(data))
    assert plain.frame["score"].to_list() == [1, 2]


def test_document_and_weight_are_carried_through(form):
    data = {
        "query": ["q", "q", "p"],
        "chunk_id": ["a1", "a2", "b1"],
        "doc_id": ["a", "a", "b"],
        "grade": [1, 0, 2],
        "visits": [3.0, 3.0, 1.5],
    }
    table = read_judgements(form(data), columns="document=doc_id,weight=visits")
    assert table.frame.schema["weight"] == pl.Float64
    assert table.frame.columns == ["query", "item", "grade", "document", "weight"]
    assert table.frame.rows() == [
        ("q", "a1", 1.0, "a", 3.0),
        ("q", "a2", 0.0, "a", 3.0),
        ("p", "b1", 2.0, "b", 1.5),
    ]
    scored = {name: column for name, column in data.items() if name not in ("grade", "visits")}
    run = read_run(form(scored | {"score": [3, 2, 1]}), columns="document=doc_id,weight=visits")
    assert run.frame.columns == ["query", "item", "score", "document"]
    assert run.frame["document"].to_list() == ["a", "a", "b"]


@pytest.mark.parametrize("careful", [False, True])
def test_a_missing_document_or_weight(folder, monkeypatch, careful):
    if careful:
        monkeypatch.setattr(csv_reader.DelimitedReader, "_parsed_by_polars", lambda *_: None)
    columns = "item=c,document=d,weight=w"
    whole = {"query": ["q", "q"], "c": ["a", "b"], "d": ["x", "x"], "grade": [1, 1], "w": [1, 1]}
    for role, name in {"document": "d", "weight": "w"}.items():
        data = whole | {name: [whole[name][0], None]}
        for given in forms(data).values():
            found = error_of(read_judgements, given, columns=columns)
            assert f"the {role} is missing" in found
            assert "2:" in found or "line 3:" in found


def test_spaces_around_names(write):
    run = read_run(
        write("a.csv", "query, part, points\nq,d, 1\n"), columns="item=part,score=points"
    )
    assert run.frame.rows() == [("q", "d", 1.0)]


def test_a_header_that_only_the_columns_make_one(write):
    """Without them it would be a line of a TREC file, or nothing known."""
    text = "frage\tstelle\twert\nq\td\t1\n"
    run = read_run(write("a", text), columns="query=frage,item=stelle,score=wert")
    assert run.frame.rows() == [("q", "d", 1.0)]
    judgements = read_judgements(
        write("a", "frage\tstelle\nq\td\n"), columns="query=frage,item=stelle"
    )
    assert judgements.frame.rows() == [("q", "d", 1.0)]


QRELS = "qid,docno,rel\nq,a,1\nq,b,0\n"
SCORED = "frage,docno,score\nq,b,2\nq,a,1\n"


def test_a_column_that_one_table_has(write):
    qrels, run = write("q.csv", QRELS), write("r.csv", SCORED)
    evaluation = judged.evaluate(qrels, run, "RR", columns={"query": "frage"})
    assert evaluation.value() == 0.5
    note = 'q.csv has no column "frage": column "qid" was taken for the query.'
    assert note in evaluation.audit["r"].notes
    assert evaluation.warnings() == []


OF_QRELS = 'q.csv has the columns "qid", "docno", "rel"'
OF_RUN = 'r.csv has the columns "frage", "docno", "score"'
TYPO = {
    "item=chunk": f'there is no column "chunk". {OF_QRELS}; {OF_RUN}.',
    "item=docno+section": f'there is no column "section". {OF_QRELS}; {OF_RUN}.',
    "item=rel+score": f'no table has columns "rel" and "score" together. {OF_QRELS}; {OF_RUN}.',
    "document=doc": f"there is no column \"doc\"; did you mean 'docno'? {OF_QRELS}; {OF_RUN}.",
    "weight=score": f'there is no column "score". {OF_QRELS}.',
    "grade=score": f'there is no column "score". {OF_QRELS}.',
    "score=rel": f'there is no column "rel". {OF_RUN}.',
}


@pytest.mark.parametrize("columns", TYPO)
def test_a_column_that_no_table_has(write, columns):
    qrels, run = write("q.csv", QRELS), write("r.csv", SCORED)
    found = error_of(judged.evaluate, qrels, run, "RR", columns=f"query=frage,{columns}")
    assert found == f"columns, {columns}: {TYPO[columns]}"


def test_one_table_alone(write):
    """What is about tables of the other kind is not asked of it."""
    run = write("r.csv", SCORED)
    columns = "query=frage,grade=points,weight=visits,subtopic=facet"
    assert read_run(run, columns=columns).frame.height == 2
    assert error_of(read_run, run, columns="query=frage,item=dokno") == (
        "columns, item=dokno: there is no column \"dokno\"; did you mean 'docno'? r.csv has the "
        'columns "frage", "docno", "score".'
    )
    assert error_of(read_run, run, columns="query=frage,score=skore") == (
        "columns, score=skore: there is no column \"skore\"; did you mean 'score'? r.csv has the "
        'columns "frage", "docno", "score".'
    )
    qrels = write("q.csv", QRELS)
    assert read_judgements(qrels, columns="score=prediction,rank=pos").frame.height == 2
    assert error_of(read_judgements, qrels, columns="grade=points") == (
        'columns, grade=points: there is no column "points". q.csv has the columns "qid", "docno", '
        '"rel".'
    )


NAMELESS = {
    "trec": ("a.txt", "q Q0 a 1 2.5 x\n", "a.txt has no header with names of columns."),
    "scores": ("a.txt", "q a 0.5\nq b 0.25\n", "a.txt has no header with names of columns."),
    "json": ("a.json", '{"q": {"a": 1}}', "a.json has no names of columns."),
}


@pytest.mark.parametrize("format", NAMELESS)
def test_files_without_names(write, format):
    name, text, why = NAMELESS[format]
    run = write(name, text)
    assert error_of(read_run, run, columns="item=chunk_id") == (
        f'columns, item=chunk_id: there is no column "chunk_id". {why}'
    )
    qrels = {"q": {"a": 1}}
    assert error_of(judged.evaluate, qrels, run, "RR", columns="item=chunk_id") == (
        'columns, item=chunk_id: there is no column "chunk_id". a dict of judgements has no '
        f"columns; {why}"
    )
    assert error_of(judged.evaluate, qrels, run, columns="score=prediction") == (
        f'columns, score=prediction: there is no column "prediction". {why}'
    )
    # The other table has it.
    frame = pl.DataFrame({"query": ["q"], "chunk": ["a"], "points": [1]})
    columns = {"item": "chunk", "grade": "points"}
    with pytest.warns() if format == "scores" else nullcontext():
        assert judged.evaluate(frame, run, "RR", columns=columns).value() == 1.0


def test_objects_without_names():
    assert error_of(read_run, {"q": ["a"]}, columns="item=x") == (
        'columns, item=x: there is no column "x". a dict of results has no columns.'
    )
    assert error_of(read_judgements, {"q": ["a"]}, columns="grade=1") == (
        'columns, grade=1: there is no column "1". a dict of judgements has no columns.'
    )
    run = read_run({"q": ["a"]})
    assert error_of(judged.evaluate, read_judgements({"q": ["a"]}), run, columns="item=x") == (
        'columns, item=x: there is no column "x". the judgements were read already; the run was '
        "read already."
    )


def test_a_column_that_is_the_item_is_no_score():
    frame = pl.DataFrame({"query": ["q"], "item": ["a"], "score": [1.0]})
    assert error_of(read_run, frame, columns="item=score").startswith(
        "a data frame: no column with a score or a rank;"
    )


def test_a_role_of_the_other_table():
    """A score of the run may be the grade of the judgements, and the other way round."""
    frame = pl.DataFrame(
        {"user_id": [1, 1], "movieId": [7, 8], "rating": [1.0, 0.0], "prediction": [0.5, 0.25]}
    )
    assert judged.evaluate(frame, frame, "RR").value() == 1.0
    swapped = judged.evaluate(frame, frame, "RR", columns="score=rating,grade=prediction")
    assert swapped.value() == 0.0
    only = frame.select("user_id", "movieId", "rating")
    assert judged.evaluate(only, only, "RR", columns="score=rating").value() == 1.0


def test_a_distance_is_warned_of():
    frame = pl.DataFrame({"query": ["q"], "item": ["a"], "distance": [1.0]})
    run = read_run(frame, columns="score=distance")
    assert run.notes == (
        'Column "distance" was taken for the score, the greatest the best; if the smallest is the '
        "best, give it another sign.",
    )
    assert isinstance(run.notes[0], judged.text.Warned)


SHAPE = (
    "columns must be a dict such as {'query': 'question_id', 'item': 'chunk_id'}, or a text such "
    "as 'query=question_id,item=chunk_id'; got"
)
SEVERAL = ", or several that make one id, each once"
WRONG = {
    "": f"{SHAPE} ''.",
    "query": f"{SHAPE} 'query'.",
    "query=": f"{SHAPE} 'query='.",
    "query=a,": f"{SHAPE} 'query=a,'.",
    "qury=a": f"columns: there is no 'qury'; did you mean 'query'? A column may be "
    f"{', '.join(ROLES)}.",
    "item=a,item=b": "columns: item is there twice; name its column once.",
    "item=a+a": f"columns: item must name one column{SEVERAL}; got 'a+a'.",
}


WRONG_DICTS = [
    ({"item": 3}, f"columns: item must name one column{SEVERAL}; got 3."),
    ({"item": []}, f"columns: item must name one column{SEVERAL}; got []."),
    ({"item": [1]}, f"columns: item must name one column{SEVERAL}; got [1]."),
    ({"score": ""}, "columns: score must name one column; got ''."),
    ({"score": ["a", "b"]}, "columns: score must name one column; got ['a', 'b']."),
    ({3: "a"}, f"columns: there is no 3. A column may be {', '.join(ROLES)}."),
]


@for_each(("given", "expected"), [*WRONG.items(), *WRONG_DICTS])
def test_wrong_columns(given, expected):
    assert error_of(as_columns, given) == expected


RIVALS = {
    "query,item,score,prediction": ("score", "score", "prediction"),
    "query,item,sim,score": ("score", "score", "sim"),
    "query,chunk_id,doc_id,score": ("item", "doc_id", "chunk_id"),
    "query,chunk_id,document,score": ("item", "chunk_id", "document"),
    "question_id,user_id,item,score": ("query", "question_id", "user_id"),
    "query,user_id,item,score": ("query", "query", "user_id"),
    "query_id,qid,item,score": ("query", "query_id", "qid"),
    "query_id,topic,item,score": ("query", "query_id", "topic"),
    "user_id,asin,parent_asin,score": ("item", "asin", "parent_asin"),
    "user_id,track_id,artist_id,score": ("item", "track_id", "artist_id"),
    "query,item,product_id,score": ("item", "product_id", "item"),
}


@pytest.mark.parametrize("header", RIVALS)
def test_two_columns_could_be_meant(write, header):
    role, one, two = RIVALS[header]
    row = ",".join("1" for _ in header.split(","))
    path = write("a.csv", f"{header}\n{row}\n")
    assert error_of(read_run, path) == (
        f'a.csv: the {role} may be column "{one}" or "{two}". Say which: '
        f"columns={{'{role}': '{one}'}}."
    )
    for name in (one, two):
        assert read_run(path, columns={role: name}).frame.height == 1


def test_the_same_name_twice(write):
    path = write("a.csv", "query,item,score,score\nq,a,1,2\n")
    twice = 'a.csv: there are two columns "score"; name each column once.'
    assert error_of(read_run, path) == twice
    assert error_of(read_run, path, columns="score=score") == twice


SURE = {
    "qid,query,docno,score": ("qid", "docno"),
    "question_id,question,chunk_id,chunk,score": ("question_id", "chunk_id"),
    "query,query_text,item,score": ("query", "item"),
    "user_id,movieId,movie,timestamp,score": ("user_id", "movieId"),
    "query,doc_id,document,url,score": ("query", "doc_id"),
    "qid,docid,docno,url,score": ("qid", "docno"),
}


@pytest.mark.parametrize("header", SURE)
def test_the_text_beside_an_id_is_not_meant(write, header):
    names = header.split(",")
    path = write("a.csv", f"{header}\n{','.join(names[:-1])},1\n")
    assert read_run(path).frame.rows() == [(*SURE[header], 1.0)]
