"""`judged learn`, and the similarity it writes on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from judged.cli.learn import learn
from judged.embeddings.learned import KINDS
from judged.policy import POSITIVES
from support.learnable import behind_noise


@pytest.fixture
def vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """q.npy and i.npy with their labels ql and il, in the current folder."""
    monkeypatch.chdir(tmp_path)
    data = behind_noise(queries=30)
    np.save("q.npy", data.queries)
    np.save("i.npy", data.items)
    Path("ql").write_text("".join(f"{label}\n" for label in data.query_labels))
    Path("il").write_text("".join(f"{label}\n" for label in data.item_labels))
    return tmp_path


LEARN = ("learn", "q.npy", "i.npy", "--labels", "ql", "il", "--kind", "diagonal", "--iterations", 5)
SCORE = ("embeddings", "q.npy", "i.npy", "--labels", "ql", "il", "-m", "AP", "--format", "json")


def test_the_record_is_printed_and_the_similarity_written(judged, vectors):
    result = judged(*LEARN, "-o", "model.npz")
    wrote = f"wrote model.npz ({Path('model.npz').stat().st_size:,} bytes)\n"
    assert (result.code, result.err) == (0, wrote)
    gains, _, table = result.out.partition("\n\n")
    assert [line.split()[0] for line in gains.splitlines()] == ["AP", "nDCG@10", "RR"]
    title, *rows = table.splitlines()
    assert (
        title == "6 held-out queries ranked among 15 items, means with 95% intervals; before: the"
    )
    assert rows[0] == "cosine of the vectors as they are"
    shown = " ".join(" ".join(rows[1:]).split())
    for word in ("measure", "AP", "nDCG@10", "RR", "before", "after", "beyond chance"):
        assert word in shown
    assert Path("model.npz").exists()
    assert judged(*LEARN, "-o", "model.npz", "-q").out == result.out
    everything = judged(*LEARN, "-o", "model.npz", "-v").out
    assert everything.startswith(result.out)
    details = everything.rpartition("\n\n")[2].splitlines()
    assert details[:3] == [
        "diagonal, temperature 0.05",
        "queries: 18 for training, 6 for validation, 6 held out; seed 0",
        "relevant: items of the query's own label; from grade 1",
    ]
    assert details[5] == "stopped after 5 iterations: as many as were allowed"
    assert details[6].startswith("note: Queries share relevant items (5 groups)")


def test_json_is_clean(judged, vectors):
    result = judged(*LEARN, "-o", "model.npz", "--format", "json")
    assert (result.code, result.err.split()[:2]) == (0, ["wrote", "model.npz"])
    record = json.loads(result.out)
    assert (record["what"], record["kind"], record["training"], record["candidates"]) == (
        "learned similarity",
        "diagonal",
        18,
        50,
    )
    assert [step["iteration"] for step in record["history"]] == list(range(6))
    assert set(record["held_out"]["gains"][0]) == {
        *("measure", "before", "after", "difference", "chance", "beyond")
    }


def test_the_options_reach_the_library(judged, vectors):
    result = judged(
        *(*LEARN[:7], "low-rank", "--iterations", 3, "-o", "model.npz", "--format", "json"),
        *(
            "--rank",
            4,
            "--temperature",
            0.2,
            "--positives",
            "any",
            "--both",
            "-m",
            "nDCG@5",
            "--validation",
            0.3,
        ),
        *(
            "--held-out",
            0,
            "--patience",
            2,
            "--decay",
            0.5,
            "--candidates",
            10,
            "--seed",
            3,
            "--rel",
            1,
            "--dims",
            8,
        ),
        *("--exclude-self", "--memory", "2MB"),
    )
    assert result.code == 0
    record = json.loads(result.out)
    found = {
        name: record[name]
        for name in ("kind", "rank", "temperature", "positives", "both", "measure", "decay", "seed")
    }
    assert found == {
        "kind": "low-rank",
        "rank": 4,
        "temperature": 0.2,
        "positives": "any",
        "both": True,
        "measure": "nDCG@5",
        "decay": 0.5,
        "seed": 3,
    }
    assert (record["validation"], record["held_out"], len(record["history"]) <= 4) == (
        9,
        None,
        True,
    )


def test_the_file_is_a_similarity_that_refuses_training_queries(judged, vectors):
    model = "model.npz"
    judged(*LEARN, "-o", model)
    result = judged(*SCORE, "--similarity", model)
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        "judged: q.npy: 24 of 30 queries (0, 1, 3, …) were seen when this similarity was learned, "
        "18 in training and 6 to "
        "choose when to stop; numbers on them flatter it. Leave these queries out, or allow them: "
        ".allow_training_queries() in "
        "Python, --allow-training-queries on the command line.\n"
    )
    allowed = judged(*SCORE, "--similarity", model, "--allow-training-queries")
    assert (allowed.code, allowed.err) == (0, "")
    plain = json.loads(judged(*SCORE).out)["runs"][0]["scores"]["AP"]
    assert json.loads(allowed.out)["runs"][0]["scores"]["AP"] > plain
    both = judged(*SCORE, "--similarity", model, "--allow-training-queries", "--both")
    assert both.code == 0
    assert judged(*SCORE, "--similarity", model, "--both").code == 2


def test_unseen_queries_are_scored(judged, vectors):
    record = json.loads(judged(*LEARN, "-o", "model.npz", "--format", "json").out)
    from judged.learning.learn import load

    rows = load("model.npz").unseen("q.npy")
    items = behind_noise(queries=30).split.items[2]
    for file, table, chosen in (("q.npy", "ql", rows), ("i.npy", "il", items)):
        np.save(file, np.load(file)[chosen])
        labels = Path(table).read_text().splitlines()
        Path(table).write_text("".join(f"{labels[row]}\n" for row in chosen))
    scored = json.loads(judged(*SCORE, "--similarity", "model.npz").out)
    assert scored["runs"][0]["scores"]["AP"] == pytest.approx(
        record["held_out"]["gains"][0]["after"]["estimate"]
    )


def test_permission_is_for_learned_similarities(judged, vectors):
    result = judged(*SCORE, "--similarity", "cosine", "--allow-training-queries")
    assert result.code == 2
    assert result.err.splitlines()[-1] == (
        "Error: --allow-training-queries is for a similarity that 'judged learn' wrote; cosine is "
        "another. Leave it out."
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("-o", "model.txt"),
            "model.txt: a learned similarity is written to a .npz file.",
        ),
        (("-o", "no/model.npz"), "no/model.npz: there is no folder no; make it first."),
        (
            ("-o", "m.npz", "--temperature", "0"),
            "a temperature must be a number above 0, from 1e-06 to 1e+06; got 0.0.",
        ),
        (
            ("-o", "m.npz", "--temperature", "nan"),
            "a temperature must be a number above 0, from 1e-06 to 1e+06; got nan.",
        ),
        (
            ("-o", "m.npz", "--kind", "diag"),
            "There is no kind 'diag' of learned similarity; did you mean 'diagonal'? There is "
            "bilinear, low-rank, diagonal, "
            "two-tower-linear.",
        ),
        (
            ("-o", "m.npz", "-m", "APP"),
            "There is no measure 'APP'; did you mean 'AP'? 'judged measures' lists them all.",
        ),
        (
            ("-o", "m.npz", "--rank", "3"),
            "diagonal takes no rank; leave it out, or choose a kind that does (low-rank and "
            "two-tower-linear).",
        ),
    ],
)
def test_errors_leave_nothing_behind(judged, vectors, arguments, said):
    learn = [*LEARN[:6], *LEARN[8:]] if "--kind" in arguments else LEARN
    result = judged(*learn, *arguments)
    assert (result.code, result.out, result.err) == (2, "", f"judged: {said}\n")
    assert sorted(each.name for each in vectors.iterdir()) == ["i.npy", "il", "q.npy", "ql"]


def test_wrong_files(judged, vectors):
    Path("empty.npy").write_bytes(b"")
    result = judged("learn", "nowhere.npy", "i.npy", "--pairs", "-o", "m.npz")
    assert (result.code, result.err) == (2, "judged: nowhere.npy: no such file.\n")
    result = judged("learn", "q.npy", "empty.npy", "--pairs", "-o", "m.npz")
    assert (result.code, result.err) == (2, "judged: empty.npy: the file is empty.\n")
    result = judged("learn", "q.npy", "i.npy", "--labels", "ql", "ql", "-o", "m.npz")
    assert (result.code, result.err) == (
        2,
        "judged: i.npy: labels have shape (30,); one is needed for each of the 80 vectors.\n",
    )
    assert not Path("m.npz").exists()


def test_usage(judged, vectors):
    assert (
        judged("learn", "q.npy", "i.npy", "--pairs").err.splitlines()[-1]
        == "Error: Missing option '-o' / '--output'."
    )
    assert (
        judged("learn", "q.npy", "i.npy", "-o", "m.npz")
        .err.splitlines()[-1]
        .startswith("Error: say what is relevant by one of")
    )
    assert judged(*LEARN, "-o", "m.npz", "--temperature", "warm").err.splitlines()[-1] == (
        "Error: Invalid value for '-t' / '--temperature': 'warm' is not a valid float."
    )


def test_help_names_every_kind_and_rule():
    texts = {option.name: option.help or "" for option in learn.params if hasattr(option, "help")}
    assert all(kind in texts["kind"] for kind in KINDS)
    assert all(rule in texts["positives"] for rule in POSITIVES)


def test_intervals_stay_whole_on_a_narrow_terminal(judged, vectors, monkeypatch):
    from rich.console import Console

    from judged.cli import _terminal

    monkeypatch.setattr(_terminal, "console", lambda: Console(width=80, highlight=False))
    lines = judged(*LEARN, "-o", "model.npz").out.splitlines()
    assert max(map(len, lines)) <= 80
    intervals = [line for line in lines if "[" in line]
    assert intervals
    assert all(line.count("[") == line.count("]") for line in intervals)
