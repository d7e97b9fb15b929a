"""`judged temperature --train`: files in, a table, JSON or CSV of what was learned out."""

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


STUDY = "temperature --train v.npy v.npy --labels labels labels -t 0.1 -t 3 --iterations 4"


def test_json_is_what_the_library_finds(judged, vectors):
    result = judged(f"{STUDY} --exclude-self --format json --kind diagonal --positives apart")
    assert (result.code, result.err) == (0, "")
    values, label = vectors
    expected = study(
        Embeddings(values, values, exclude=same_row()),
        same_label(label, label),
        [0.1, 3.0],
        iterations=4,
        kind="diagonal",
        positives="apart",
    )
    assert json.loads(result.out) == expected.to_dict()


def test_what_is_refused(refuses, vectors):
    refuses("""
    temperature --train v.npy v.npy --labels labels labels -t 0.1 --iterations 4 --kind cubic
        judged: Unknown kind of learned similarity: 'cubic'. Choose one of bilinear, low-rank,
        diagonal, two-tower-linear.
    temperature --train v.npy v.npy --labels labels labels -t 0.1 --iterations 4 --in-batch 5
        Error: --in-batch is not for --train.
    temperature --train v.npy v.npy --labels labels labels -t 0.1 --iterations 4 --similarity dot
        Error: --similarity is not for --train.
    temperature v.npy v.npy --labels labels labels -t 0.1 -t 3 --iterations 4
        Error: --iterations is for --train.
    """)
