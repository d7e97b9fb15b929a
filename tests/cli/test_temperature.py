"""`judged temperature`: files in, a table, JSON or CSV out."""

import numpy as np
import pytest


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
    temperature --train q.npy i.npy --labels labels labels -t 0.1 --iterations 4 --kind cubic
        judged: Unknown kind of learned similarity: 'cubic'. Choose one of bilinear, low-rank,
        diagonal, two-tower-linear.
    temperature --train q.npy i.npy --labels labels labels -t 0.1 --iterations 4 --in-batch 5
        Error: --in-batch is not for --train.
    temperature q.npy i.npy --labels labels labels -t 0.1 -t 3 --iterations 4
        Error: --iterations is for --train.
    temperature q.npy i.npy --pairs --in-batch 99
        judged: --in-batch must be at most the number of queries with a positive, 40; got 99.
    """)
