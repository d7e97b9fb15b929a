"""`judged learn`, and the similarity it writes on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

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


def test_the_options_reach_the_library(judged, vectors):
    options = (
        "--iterations 3 -o model.npz --format json --rank 4 --temperature 0.2 --positives any "
        "--symmetric -m nDCG@5 --held-out 0 --exclude-self"
    )
    result = judged(*LEARN[:7], "low-rank", *options.split())
    assert result.code == 0
    record = json.loads(result.out)
    found = {
        name: record[name]
        for name in ("kind", "rank", "temperature", "positives", "both", "measure")
    }
    assert found == {
        "kind": "low-rank",
        "rank": 4,
        "temperature": 0.2,
        "positives": "any",
        "both": True,
        "measure": "nDCG@5",
    }
    assert (record["held_out"], len(record["history"]) <= 4) == (None, True)


def test_the_file_is_a_similarity_that_refuses_training_queries(judged, vectors):
    model = "model.npz"
    judged(*LEARN, "-o", model)
    result = judged(*SCORE, "--similarity", model)
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        "judged: q.npy: 24 of 30 queries (0, 1, 3, …) were seen when this similarity was learned, "
        "18 in training and 6 to "
        "choose when to stop; numbers on them flatter it. Leave these queries out, or allow "
        "them with --allow-training-queries.\n"
    )
    allowed = judged(*SCORE, "--similarity", model, "--allow-training-queries")
    assert (allowed.code, allowed.err) == (0, "")
    plain = json.loads(judged(*SCORE).out)["runs"][0]["scores"]["AP"]
    assert json.loads(allowed.out)["runs"][0]["scores"]["AP"] > plain
    both = judged(*SCORE, "--similarity", model, "--allow-training-queries", "--both")
    assert both.code == 0
    assert judged(*SCORE, "--similarity", model, "--both").code == 2


def test_what_is_refused(refuses, vectors):
    refuses("""
    learn q.npy i.npy --labels ql il --iterations 5 -o m.npz --kind diag
        judged: Unknown kind of learned similarity: 'diag'; did you mean 'diagonal'? Choose one of
        bilinear, low-rank, diagonal, two-tower-linear.
    learn q.npy i.npy --labels ql il --kind diagonal --iterations 5 -o m.npz --temperature warm
        Error: Invalid value for '-t' / '--temperature': 'warm' is not a valid float.
    embeddings q.npy i.npy --labels ql il --similarity cosine --allow-training-queries
        Error: --allow-training-queries is for a similarity that 'judged learn' wrote; cosine is
        another. Leave it out.
    """)
