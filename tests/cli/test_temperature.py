"""`judged temperature`: files in, a table, JSON or CSV out."""

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
    result = judged(
        "temperature q.npy i.npy --labels labels labels -t 0.1 --temperature 2 --in-batch 8 "
        "--symmetric --positives apart --similarity dot --exclude-self --format json"
    )
    labels = [str(row % 8) for row in range(40)]
    expected = sweep(
        Embeddings(*vectors, similarity="dot", exclude=same_row()),
        same_label(labels, labels),
        [0.1, 2.0],
        batch_size=8,
        both=True,
        positives="apart",
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


def test_what_is_refused(refuses, vectors):
    refuses("""
    temperature q.npy i.npy --pairs --in-batch 99
        judged: --in-batch must be at most the number of queries with a positive, 40; got 99.
    """)
