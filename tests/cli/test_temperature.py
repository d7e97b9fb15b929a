"""`judged temperature`: files in, a table, JSON or CSV out."""

import csv
import io
import json

import numpy as np
import pytest

from judged import Embeddings
from judged.embeddings.relevance import pairs, same_label, same_row
from judged.learning.temperature import TEMPERATURES, sweep


@pytest.fixture
def vectors(tmp_path, monkeypatch):
    """A folder, the current one, with pairs of vectors and labels."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    queries = random.normal(size=(40, 6))
    items = queries + random.normal(size=queries.shape)
    np.save("q.npy", queries)
    np.save("i.npy", items)
    (tmp_path / "labels").write_text("".join(f"{row % 8}\n" for row in range(40)))
    return queries, items


PAIRS = ("temperature", "q.npy", "i.npy", "--pairs")


def test_json_is_what_the_library_finds(judged, vectors):
    result = judged(*PAIRS, "--format", "json")
    assert (result.code, result.err) == (0, "")
    found = json.loads(result.out)
    assert found == sweep(Embeddings(*vectors), pairs()).to_dict()
    assert [row["temperature"] for row in found["temperatures"]] == list(TEMPERATURES)


def test_every_option_reaches_the_library(judged, vectors):
    options = (
        "-t",
        "0.1",
        "--temperature",
        "2",
        "--batch-size",
        "8",
        "--both",
        "--positives",
        "apart",
    )
    more = (
        "--no-search",
        "--seed",
        "4",
        "--similarity",
        "dot",
        "--exclude-self",
        "--dims",
        "5",
        "--memory",
        "2MB",
    )
    result = judged(
        "temperature",
        "q.npy",
        "i.npy",
        "--labels",
        "labels",
        "labels",
        *options,
        *more,
        "--format",
        "json",
    )
    labels = [str(row % 8) for row in range(40)]
    expected = sweep(
        Embeddings(*vectors, similarity="dot", exclude=same_row(), dims=5, memory="2MB"),
        same_label(labels, labels),
        [0.1, 2.0],
        batch_size=8,
        both=True,
        positives="apart",
        search=False,
        seed=4,
    )
    assert (result.code, result.err) == (0, "")
    assert json.loads(result.out) == expected.to_dict()


def test_the_table_is_for_people(judged, vectors):
    result = judged(*PAIRS, "-t", "0.05", "-t", "0.5")
    answer, table, *rest = result.out.split("\n\n")
    assert answer.startswith("lowest loss at temperature")
    # Nine columns do not fit into 80: each is a line.
    lines = [line.split() for line in table.splitlines()]
    assert lines[0] == ["temperature", "0.05", "0.5"]
    assert [line[0] for line in lines[:4]] == ["temperature", "loss", "confidence", "entropy"]
    assert any(
        "at every temperature: dividing all scores by one number leaves their order as it is."
        in line
        for line in rest
    )


def test_csv_has_a_row_for_each_temperature(judged, vectors):
    result = judged(*PAIRS, "-t", "0.05", "-t", "0.5", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(result.out)))
    expected = sweep(Embeddings(*vectors), pairs(), [0.05, 0.5], search=False)
    assert [float(row["loss"]) for row in rows] == [point.loss for point in expected.points]
    assert {row["AP"] for row in rows} == {str(expected.ranking["AP"])}


def test_the_ending_of_a_file_says_its_format(judged, vectors, tmp_path):
    assert judged(*PAIRS, "-t", "1", "-o", "sweep.json").out == ""
    assert json.loads((tmp_path / "sweep.json").read_text())["what"] == "temperature sweep"
    judged(*PAIRS, "-t", "1", "-o", "sweep.csv")
    assert (tmp_path / "sweep.csv").read_text().startswith("temperature,loss,")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ("-t", "0"),
            2,
            "judged: a temperature must be a number above 0, from 1e-06 to 1e+06; got 0.0.\n",
        ),
        (
            ("-t", "nan"),
            2,
            "judged: a temperature must be a number above 0, from 1e-06 to 1e+06; got nan.\n",
        ),
        (
            ("--batch-size", "99"),
            2,
            "judged: --batch-size must be at most the number of queries with a positive, 40; got "
            "99.\n",
        ),
        (
            ("--similarity", "cosin"),
            2,
            "judged: There is no similarity 'cosin'; did you mean 'cosine'?",
        ),
        (("-o", "nowhere/sweep.json"), 2, "judged: nowhere/sweep.json: "),
    ],
)
def test_what_is_refused(judged, vectors, arguments, code, message):
    result = judged(*PAIRS, *arguments)
    assert (result.code, result.out) == (code, "")
    assert result.err.startswith(message)


def test_relevance_must_be_said(judged, vectors):
    result = judged("temperature", "q.npy", "i.npy")
    assert result.code == 2
    assert (
        "say what is relevant by one of --qrels, --labels, --shared-labels, --pairs, "
        "--revisited." in result.err
    )


def test_a_file_that_is_not_there(judged, vectors):
    result = judged("temperature", "nope.npy", "i.npy", "--pairs")
    assert (result.code, result.out) == (2, "")
    assert result.err == "judged: nope.npy: no such file.\n"


def test_what_is_read_is_not_written_over(judged, vectors, tmp_path):
    before = (tmp_path / "i.npy").read_bytes()
    for command, more in (
        ("temperature", ()),
        ("temperature", ("--train",)),
        ("embeddings", ()),
        ("embeddings", ("--diagnose",)),
    ):
        result = judged(command, "q.npy", "i.npy::0", "--pairs", *more, "-o", "i.npy")
        assert (result.code, result.out, result.err) == (
            2,
            "",
            "judged: i.npy: is read by this very command; write to another file.\n",
        )
    result = judged("temperature", "q.npy", "i.npy", "--labels", "labels", "labels", "-o", "labels")
    assert result.err == "judged: labels: is read by this very command; write to another file.\n"
    assert (
        judged(*PAIRS, "-o", "").err
        == "judged: the name of the file to write to is empty; give a file.\n"
    )
    assert (tmp_path / "i.npy").read_bytes() == before


@pytest.mark.parametrize("width", [30, 60, 80, 120])
def test_numbers_stay_whole_on_any_terminal(width, capsys, monkeypatch):
    from rich.console import Console

    from judged.cli import _terminal
    from judged.results import Display, Document, Table

    heads = ["temperature", "loss", "loss, items to queries", "confidence", "entropy"]
    rows = [
        ["0.001", "1234.5678", "9876.5432", "0.1111", "0.2222"],
        ["1000", "1.0000", "2.0000", "0.3333", "0.4444"],
    ]

    out = Console(width=width, highlight=False)
    monkeypatch.setattr(_terminal, "console", lambda: out)
    document = Document(tables=[Table(heads, rows)], notes=["a sentence."])
    _terminal.print_document(document, Display())
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= width
    words = shown.split()
    assert all(words.count(cell) == 1 for row in rows for cell in row[1:])
    assert words.count("0.001") == 1
    # On its side, the table has its header beside each row.
    assert words.count("temperature") == (2 if width == 30 else 1)
