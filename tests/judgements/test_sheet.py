"""The annotators' file: blind, and judgements once it is filled in."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import judged
from judged import OutputError

IDS = [
    *("with blank", "comma,id", 'quoted "id"', "semi;colon", "tab\tid", "line\nbreak", "#1"),
    *("=1+1", "-x", "@user", "'=x", "NA", "null", "nan", "1e5", "00123", "Żółć", "日本", "a'b"),
    *(" lead", "q"),
]
ENDINGS = (".csv", ".tsv", ".ndjson", ".parquet")


def queue_of(ids: list[str], **options: object) -> judged.Queue:
    runs = {"secret": {"the query": ids, "r": ["x"]}, "hidden": {"the query": ids[::-1]}}
    return judged.queue({"the query": {"known": 1}}, runs, "nDCG@50", depth=100, **options)


def filled(path: Path, grades: dict[str, int | None]) -> None:
    """The file as annotators hand it back."""
    if path.suffix == ".parquet":
        frame = pl.read_parquet(path)
        column = pl.Series("grade", [grades.get(item) for item in frame["item"]], dtype=pl.Float64)
        frame.with_columns(column).write_parquet(path)
    elif path.suffix == ".ndjson":
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        texts = [json.dumps({**row, "grade": grades.get(row["item"])}) for row in rows]
        path.write_text("\n".join(texts) + "\n")
    else:
        import csv

        separator = {".csv": ",", ".tsv": "\t"}[path.suffix]
        with path.open(newline="") as handle:
            header, *cells = csv.reader(handle, delimiter=separator)
        item = header.index("item")
        with path.open("w", newline="") as handle:
            writer = csv.writer(handle, delimiter=separator)
            writer.writerow(header)
            for row in cells:
                grade = grades.get(row[item])
                writer.writerow([*row[:-1], "" if grade is None else grade])


@pytest.mark.parametrize("texts", [False, True])
@pytest.mark.parametrize("ending", ENDINGS)
def test_filled_in_it_is_judgements(tmp_path: Path, ending: str, texts: bool) -> None:
    path = tmp_path / f"to_judge{ending}"
    said = {each: {"title": f"On {each}", "text": '=cmd(),\n"two lines"'} for each in (*IDS, "x")}
    given = {"texts": said, "queries": {"the query": "what?", "r": "who?"}} if texts else {}
    queue_of(IDS, **given).save(path)
    grades = {each: number % 4 for number, each in enumerate(IDS)}
    filled(path, {**grades, "NA": None})
    with pytest.warns(match="^2 rows have no grade and are left out as unjudged.$"):
        found = judged.evaluate(path, {"the query": IDS, "r": ["x"]}, "NumRel", policy={})
    known = judged.read_judgements(path).frame
    wanted = {("the query", item, float(grade)) for item, grade in grades.items() if item != "NA"}
    assert set(known.rows()) == wanted
    assert found.value() == sum(grade > 0 for item, _, grade in known.rows())


@pytest.mark.parametrize("ending", ENDINGS)
def test_it_is_blind(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"to_judge{ending}"
    found = queue_of(["a", "b"], texts={"a": "Ants.", "b": "Bees.", "x": "Else."})
    found.save(path)
    content = path.read_bytes()
    for word in (b"secret", b"hidden", b"known", b"effect", b"rank", b"score", b"0.", b"warning"):
        assert word not in content, word
    assert found.to_frame().columns == ["query", "item", "text", "grade"]


def test_what_the_columns_are() -> None:
    texts = {"a": {"title": "Ants", "text": "Small."}, "x": "Else.", "b": ""}
    found = queue_of(["a", "b"], texts=texts, queries={"the query": "what?"})
    rows = {row[2]: row for row in found.to_frame().rows()}
    assert rows == {
        "a": ("the query", "what?", "a", "Ants", "Small.", None),
        "b": ("the query", "what?", "b", "", "", None),
        "x": ("r", "", "x", "", "Else.", None),
    }
    assert found.warnings() == ["1 query has no text in the queries given (r)."]
    assert found.to_csv().splitlines()[0] == "query,query_text,item,title,text,grade"


def test_texts_are_harmless_and_ids_are_as_they_were() -> None:
    found = queue_of(["=a", "b"], texts={"=a": "=HYPERLINK(1)", "b": "-5", "x": "+1+1"})
    lines = found.to_csv().splitlines()
    assert "the query,=a,'=HYPERLINK(1)," in lines
    assert "the query,b,-5," in lines  # a number
    assert "r,x,'+1+1," in lines
    assert found.warnings() == [
        "1 id starts with = + - or @, so a spreadsheet would change it (=a). Edit the file in "
        "another program, or save it as .ndjson."
    ]


@pytest.mark.parametrize("name", ["queue.json", "queue.html", "queue.txt", "queue"])
def test_other_endings_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(OutputError) as error:
        queue_of(["a"]).save(tmp_path / name)
    assert ".csv, .tsv, .ndjson or .parquet" in str(error.value)
    assert not (tmp_path / name).exists()


def test_missing_texts_are_counted() -> None:
    (warned,) = queue_of(["a", "b", "c"], texts={"a": "Ants."}).warnings()
    assert warned.startswith("3 items have no text in the texts given (")


def test_judging_all_that_is_asked_for_leaves_nothing_to_ask(tmp_path: Path) -> None:
    judgements = {"q1": {"a": 2, "b": 0}, "q2": {"c": 1}}
    runs = {
        "old": {"q1": ["x", "a", "b", "y"], "q2": ["y", "c", "x"]},
        "new": {"q1": ["y", "b", "a", "z"], "q2": ["c", "z", "x"]},
    }
    asked = judged.queue(judgements, runs)
    asked.save(tmp_path / "asked.csv")
    filled(tmp_path / "asked.csv", {"x": 1, "y": 0, "z": 2})
    more = judged.read_judgements(tmp_path / "asked.csv").frame
    for query, item, grade in more.rows():
        judgements[query][item] = grade
    after = judged.queue(judgements, runs)
    assert (len(after), after.bounds[0].bounded, after.bounds[0].can_turn) == (0, True, False)
    assert after.bounds[0].low == after.bounds[0].high == after.bounds[0].difference
