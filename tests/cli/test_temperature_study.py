"""`judged temperature --train`: files in, a table, JSON or CSV of what was learned out."""

import csv
import json

import numpy as np
import pytest

from judged import Embeddings
from judged.embeddings.relevance import same_label, same_row
from support.learnable import study


@pytest.fixture
def vectors(tmp_path, monkeypatch):
    """A folder, the current one, with vectors of four labels under noise."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    label = np.arange(80) % 4
    values = np.hstack(
        [np.eye(4)[label] + 0.4 * random.normal(size=(80, 4)), 2 * random.normal(size=(80, 4))]
    )
    np.save("v.npy", values)
    (tmp_path / "labels").write_text("".join(f"{each}\n" for each in label))
    return values, label


STUDY = (
    "temperature",
    "--train",
    "v.npy",
    "v.npy",
    "--labels",
    "labels",
    "labels",
    "-t",
    "0.1",
    "-t",
    "3",
    "--iterations",
    "4",
)


def test_json_is_what_the_library_finds(judged, vectors):
    result = judged(
        *STUDY,
        "--exclude-self",
        "--format",
        "json",
        "--seed",
        "2",
        "--kind",
        "diagonal",
        "--positives",
        "apart",
    )
    assert (result.code, result.err) == (0, "")
    values, label = vectors
    expected = study(
        Embeddings(values, values, exclude=same_row()),
        same_label(label, label),
        [0.1, 3.0],
        iterations=4,
        seed=2,
        kind="diagonal",
        positives="apart",
    )
    assert json.loads(result.out) == expected.to_dict()


def test_the_table_and_what_it_says(judged, vectors):
    result = judged(*STUDY, "--report", "RR", "--report", "P@5")
    lines = [line for line in result.out.splitlines() if line.strip()]
    names = [line.split()[0] for line in lines]
    assert [names[at : at + 3] for at, name in enumerate(names) if name == "untrained"] == [
        ["untrained", "0.1", "3"]
    ]
    assert ["temperature", "untrained", "0.1", "3"] in [line.split() for line in lines]
    assert [line.split() for line in lines if line.split()[-1] == "P@5"] == [
        ["temperature", "RR", "P@5"]
    ]
    rest = lines
    assert any(line.startswith("RR is highest at temperature") for line in rest)


def test_csv_and_files(judged, vectors, tmp_path):
    *lines, warning = judged(*STUDY, "--format", "csv").out.splitlines()
    rows = list(csv.DictReader(lines))
    assert warning.startswith("# warning: The queries are also items")
    assert [row["temperature"] for row in rows] == ["", "0.1", "3.0"]
    assert float(rows[1]["AP_low"]) < float(rows[1]["AP"]) < float(rows[1]["AP_high"])
    assert judged(*STUDY, "-o", "study.json").out == ""
    assert json.loads((tmp_path / "study.json").read_text())["what"] == "temperature study"


def test_its_chart(judged, vectors, tmp_path):
    judged(*STUDY, "-o", "study.json")
    result = judged("plot", "temperature-study", "study.json", "-o", "study.json.svg")
    assert result.code == 0
    assert (tmp_path / "study.json.svg").read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("-t", "-1"),
            "judged: a temperature must be a number above 0, from 1e-06 to 1e+06; got -1.0.\n",
        ),
        (
            ("--held-out", "0"),
            "judged: --train needs held-out queries; --held-out must be above 0.\n",
        ),
        (("--report", "nope"), "judged: "),
        (("-o", "nowhere/study.json"), "judged: nowhere/study.json: "),
        (("--kind", "cubic"), "judged: There is no kind 'cubic' of learned similarity"),
    ],
)
def test_what_is_refused(judged, vectors, arguments, message):
    result = judged(*STUDY, *arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(message)


def test_a_format_that_a_study_does_not_have_is_refused_before_anything_is_read(judged, vectors):
    result = judged(
        "temperature",
        "--train",
        "nowhere.npy",
        "v.npy",
        "--labels",
        "labels",
        "labels",
        "-o",
        "study.tex",
    )
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        "judged: study.tex: the ending says the format, and must be .json, .csv, .md, .html, .txt "
        "or .parquet.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*STUDY, "--batch-size", "5"), "Error: --batch-size is not for --train.\n"),
        ((*STUDY, "--similarity", "dot"), "Error: --similarity is not for --train.\n"),
        ((STUDY[0], *STUDY[2:]), "Error: --iterations is for --train.\n"),
        ((STUDY[0], *STUDY[2:-2], "--report", "AP"), "Error: --report is for --train.\n"),
    ],
)
def test_options_of_training_and_of_scores_are_told_apart(judged, vectors, arguments, message):
    result = judged(*arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.endswith(message)
