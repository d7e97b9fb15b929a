"""A parameter of an index, several values: the numbers of one at a time; it is set back."""

from __future__ import annotations

import inspect
import json

import numpy as np
import pytest

import judged
from judged.cli.embeddings import TIMED
from judged.errors import InputError

SEED = np.random.default_rng(5)
LABELS = SEED.integers(0, 20, 400)
CENTRES = SEED.normal(size=(20, 16))
ITEMS = (CENTRES[LABELS] + SEED.normal(size=(400, 16))).astype(np.float32)
QUERIES = (CENTRES[LABELS[:50]] + SEED.normal(size=(50, 16))).astype(np.float32)
SIDES = judged.Embeddings(QUERIES, ITEMS, similarity="euclidean")
RELEVANT = judged.relevance.same_label(LABELS[:50].tolist(), LABELS.tolist())


def every_other(block: np.ndarray, k: int, ef: int) -> tuple[np.ndarray, np.ndarray]:
    """Finds the exact list but for items whose row is not divisible by `ef`."""
    found = []
    for row in block:
        away = ((ITEMS - row) ** 2).sum(axis=1)
        away[np.arange(len(ITEMS)) % ef != 0] = np.inf
        found.append(np.argsort(away, kind="stable")[:k])
    return np.array(found), np.zeros((len(block), k))


def test_rows_are_those_of_one_value_at_a_time() -> None:
    asked = {"k": 10, "measures": ["P@10", "RR"]}
    swept = SIDES.sweep_index(every_other, RELEVANT, parameter="ef", values=[3, 1, 2], **asked)
    assert [row.value for row in swept.rows] == [3, 1, 2]
    for row in swept.rows:
        alone = SIDES.evaluate_index(
            lambda b, k, e=row.value: every_other(b, k, e), RELEVANT, **asked
        )
        assert np.array_equal(row.found.per_query_recall, alone.per_query_recall)
        assert row.found.loss == alone.loss
    exact = swept.rows[1].found
    assert (exact.recall, exact.quantile(0.0), exact.loss) == (1.0, 1.0, {"P@10": 0.0, "RR": 0.0})
    assert 0.4 < swept.rows[2].found.recall < 0.6


def test_quantiles_worked_by_hand() -> None:
    both = judged.Embeddings(np.eye(4), np.eye(4))
    # The first query finds its item, the others do not: recall 1, 0, 0, 0.
    found = both.evaluate_index(
        lambda block, k: ([[0]] * len(block), [[1.0]] * len(block)),
        judged.relevance.pairs(),
        "RR",
        k=1,
    )
    assert [found.quantile(share) for share in (0, 0.05, 0.5, 0.75, 0.76, 1)] == [0, 0, 0, 0, 1, 1]
    assert found.to_dict()["recall_quantiles"] == {"p5": 0.0, "p25": 0.0, "p50": 0.0}
    assert "in the worst twentieth of the queries at most 0.0000 (p5)" in found.to_text()
    with pytest.raises(InputError, match=r"share must be from 0 to 1; got 2\."):
        found.quantile(2)


def test_times_are_of_every_query_that_was_asked_for() -> None:
    calls: list[int] = []

    def counting(block: np.ndarray, k: int, ef: int) -> tuple[np.ndarray, np.ndarray]:
        calls.append(len(block))
        return every_other(block, k, ef)

    swept = SIDES.sweep_index(counting, RELEVANT, "RR", parameter="ef", values=[1], k=5, timed=7)
    [row] = swept.rows
    assert row.timing.queries == 7
    assert calls[-1] == 7  # all at once, at the end
    assert calls[-11:-1] == [1] * 10  # three that are not timed, and seven that are
    assert 0 < row.timing.median <= row.timing.p95
    assert row.timing.per_second > 0


@pytest.mark.parametrize("kind", ["hnsw", "ivf", "usearch"])
def test_real_indexes_find_more_and_are_set_back(kind: str, has) -> None:
    if kind == "usearch":
        has("usearch")
        from usearch.index import Index

        index = Index(ndim=16, metric="l2sq", connectivity=4, expansion_add=8, expansion_search=9)
        index.add(np.arange(len(ITEMS)), ITEMS)
        name, values, before = "ef", [2, 400], lambda: index.expansion_search
    else:
        has("faiss")
        import faiss

        if kind == "hnsw":
            index = faiss.IndexHNSWFlat(16, 4)
            index.hnsw.efConstruction = 8
            name, values, before = "ef", [1, 400], lambda: index.hnsw.efSearch
        else:
            index = faiss.index_factory(16, "IVF32,Flat")
            index.train(ITEMS)
            name, values, before = "nprobe", [1, 32], lambda: index.nprobe
        index.add(ITEMS)
    was = before()
    swept = SIDES.sweep_index(index, RELEVANT, "RR", parameter=name, values=values, k=10, timed=2)
    worse, better = (row.found.recall for row in swept.rows)
    assert worse < better
    assert better > 0.95
    assert before() == was


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"values": []}, "values holds nothing to try; give some, as [16, 32, 64]."),
        ({"values": [0]}, "values of ef must be numbers above 0; got 0."),
        ({"values": [2, 2]}, "values of ef must differ from each other."),
        ({"values": [2], "timed": 0}, "timed must be a whole number from 1; got 0."),
    ],
)
def test_what_is_refused(options: dict, message: str) -> None:
    with pytest.raises(InputError) as said:
        SIDES.sweep_index(every_other, RELEVANT, "RR", parameter="ef", **options)
    assert str(said.value) == message


def test_an_index_without_the_parameter_is_refused() -> None:
    class Plain:
        def search(self, block: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
            raise AssertionError("is not asked")

    with pytest.raises(InputError) as said:
        SIDES.sweep_index(Plain(), RELEVANT, "RR", parameter="ef", values=[2])
    assert str(said.value) == (
        "Plain has no ef and no set_ef; name another parameter, or give a function (vectors, k, "
        "ef) that returns (items, scores)."
    )


def test_the_command_writes_what_the_chart_reads(tmp_path, monkeypatch, capsys, has) -> None:
    has("faiss")
    import faiss

    from judged.cli import main

    monkeypatch.chdir(tmp_path)
    np.save("q.npy", QUERIES)
    np.save("i.npy", ITEMS)
    for name, labels in (("q.txt", LABELS[:50]), ("i.txt", LABELS)):
        (tmp_path / name).write_text("".join(f"{label}\n" for label in labels))
    index = faiss.index_factory(16, "IVF32,Flat")
    index.train(ITEMS)
    index.add(ITEMS)
    faiss.write_index(index, "items.faiss")

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main([*arguments])
        return (int(ended.value.code or 0), *capsys.readouterr())

    base = [
        "embeddings",
        "q.npy",
        "i.npy",
        "--labels",
        "q.txt",
        "i.txt",
        "--similarity",
        "euclidean",
    ]
    asked = [*base, "--index", "items.faiss", "--sweep", "nprobe=1,32", "--timed", "3", "-m", "RR"]
    code, out, _ = run(*asked)
    assert code == 0
    assert out.split()[:4] == ["nprobe", "recall", "p5", "p50"]
    assert run(*asked, "-o", "sweep.json")[0] == 0
    found = json.loads((tmp_path / "sweep.json").read_text())
    assert [row["value"] for row in found["rows"]] == [1, 32]
    assert found["rows"][1]["recall"] == 1.0
    table = judged.charts.index_sweep(found).data
    assert sorted(table.filter(curve="mean")["recall"].to_list())[-1] == 1.0
    assert run("plot", "index-sweep", "sweep.json", "-o", "sweep.csv")[0] == 0
    code, _, said = run(*base, "--sweep", "ef=2")
    assert (code, said.splitlines()[-1]) == (
        2,
        "Error: --sweep and --timed are about an index; give one with --index.",
    )
    code, _, said = run(*base, "--index", "items.faiss", "--sweep", "ef")
    assert code == 2
    assert "must be like ef=16,32,64; got 'ef'." in said


def test_the_option_has_the_default_of_python() -> None:
    assert inspect.signature(judged.Embeddings.sweep_index).parameters["timed"].default == TIMED
