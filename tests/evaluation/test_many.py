"""Several collections in one table: macro means, their intervals, ranks, and missing cells."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from scipy.stats import t

import judged
from judged import evaluate_many
from judged.comparison.benchmark import read_folder
from judged.errors import InputError
from support.loops import for_each

RANKS = {1.0: 1, 0.5: 2, 0.25: 4, 0.2: 5, 0.1: 10}


def collection(**values: list[float]):
    """Make judgements and runs with these reciprocal ranks, one per query."""
    queries = range(len(next(iter(values.values()))))
    judgements = {f"q{q}": {"a": 1} for q in queries}
    lists = {value: [f"x{i}" for i in range(rank - 1)] + ["a"] for value, rank in RANKS.items()} | {
        0.0: ["x"]
    }
    runs = {run: {f"q{q}": lists[of[q]] for q in queries} for run, of in values.items()}
    return judgements, runs


def test_macro_mean_and_interval_by_hand():
    """Means 0.75 and 0.5, variances of the means 0.0625 (2 queries) and 0.25/3 (3 queries).

    Values 1 and 0.5 (n = 2): s² = 0.125, s²/n = 0.0625, 1 degree of freedom. Values 1, 0.5 and 0
    (n = 3): s² = 0.25, s²/n = 0.08333, 2 degrees of freedom. The macro mean is 0.625, its variance
    (0.0625 + 0.083333)/4 = 0.0364583, with 0.1458333²/(0.0625²/1 + 0.083333²/2) = 2.8824 degrees of
    freedom (Satterthwaite). The interval is cut at 0 and 1.
    """
    data = {"one": collection(a=[1.0, 0.5]), "other": collection(a=[1.0, 0.5, 0.0])}
    found = evaluate_many(data, "RR", level=0.5).macro()["a"]
    freedom = 0.1458333333**2 / (0.0625**2 + 0.0833333333**2 / 2)
    half = t.ppf(0.75, freedom) * math.sqrt(0.0364583333)
    assert found.estimate == 0.625
    assert (found.low, found.high) == pytest.approx((0.625 - half, 0.625 + half), rel=1e-8)
    wide = evaluate_many(data, "RR").macro()["a"]
    low = 0.625 - t.ppf(0.975, freedom) * math.sqrt(0.0364583333)
    assert (wide.low, wide.high) == (pytest.approx(low, rel=1e-6), 1.0)


def test_paired_difference_by_hand():
    """Differences 0.5 and 0 in one collection, 0.5 and 1 in the other: 0.5 on average.

    Each collection has 8 queries, 0.25 from their mean: s² = 8·0.25²/7. The variance is the sum of
    s²/8 of both, divided by 4, with 14 degrees of freedom.
    """
    first = collection(a=[1.0, 0.5] * 4, b=[0.5, 0.5] * 4)
    other = collection(a=[1.0, 1.0] * 4, b=[0.5, 0.0] * 4)
    (pair,) = evaluate_many({"one": first, "other": other}, "RR").boards["RR"][0].pairs
    error = math.sqrt(2 * (8 * 0.25**2 / 7 / 8)) / 2
    half = t.ppf(0.975, 14) * error
    assert pair.difference.estimate == 0.5
    assert (pair.difference.low, pair.difference.high) == pytest.approx((0.5 - half, 0.5 + half))
    assert pair.verdict == "better"
    assert pair.p == pytest.approx(max(2 * t.sf(0.5 / error, 14), 2.0**-11))  # 12 queries differ


def three():
    rng = np.random.default_rng(5)

    def draw(size: int, chance: float) -> list[float]:
        return np.where(rng.random(size) < chance, 1.0, 0.25).tolist()

    return {
        "fiqa": collection(bm25=draw(40, 0.2), dense=draw(40, 0.6), rerank=draw(40, 0.9)),
        "nfcorpus": collection(bm25=draw(30, 0.3), dense=draw(30, 0.5), rerank=draw(30, 0.9)),
        "scifact": collection(bm25=draw(20, 0.3), rerank=draw(20, 0.8)),
    }


WARNING = (
    "dense has no value for scifact, so it has no macro mean. Add what is missing, or use "
    "common=True for the mean over shared collections."
)


def test_missing_cells_are_shown_and_not_averaged_away():
    with pytest.warns(judged.errors.JudgedWarning, match="dense has no value for scifact"):
        found = evaluate_many(three(), "RR")
    assert found.missing() == {"dense": ["scifact"]}
    assert math.isnan(found.macro()["dense"].estimate)
    assert [place.run for place in found.boards["RR"][0].places] == ["rerank", "bm25"]
    table, board = found.tables()
    assert [row[2] for row in table.rows[2:]] == ["–", "–"]
    assert [*board.rows[-1]] == ["dense", "–", "–", "–"]
    assert found.warnings() == [WARNING]
    assert "significantly better than all others that have one." in found.says()[0]
    missing = [row for row in found.to_dict()["values"] if row["value"] is None]
    assert [(row["collection"], row["mean"]) for row in missing] == [
        ("scifact", None),
        (None, "macro mean"),
    ]


@pytest.mark.filterwarnings("ignore::judged.JudgedWarning")
def test_shared_mean_has_a_row_of_its_own():
    data = three()
    found = evaluate_many(data, "RR", common=True)
    table = found.tables()[0]
    assert [row[0] for row in table.rows] == [*data, "macro mean", "shared mean"]
    alone = evaluate_many({name: data[name] for name in ("fiqa", "nfcorpus")}, "RR")
    assert found.boards["RR"][1].means == alone.macro()
    assert found.boards["RR"][1].places == alone.boards["RR"][0].places
    assert "shared mean: over fiqa and nfcorpus, which all systems have." in found.sentences()
    assert found.boards["RR"][0].means == evaluate_many(data, "RR").boards["RR"][0].means


@pytest.mark.filterwarnings("ignore::judged.JudgedWarning")
def test_order_of_collections_changes_nothing():
    data = three()
    first = evaluate_many(data, ["RR", "RR(aggregate=median)"], common=True)
    for order in itertools.permutations(data):
        other = evaluate_many({name: data[name] for name in order}, list(first.boards), common=True)
        for label in first.boards:
            means = other.macro(label)
            assert repr({run: means[run] for run in first.systems}) == repr(first.macro(label))
            assert [board.places for board in other.boards[label]] == [
                board.places for board in first.boards[label]
            ]
            ours, theirs = (
                {frozenset((pair.run, pair.against)): pair.p for pair in board.pairs}
                for board in (first.boards[label][1], other.boards[label][1])
            )
            assert ours == theirs


def test_cells_are_those_of_evaluate():
    data = {name: data for name, data in three().items() if name != "scifact"}
    found = evaluate_many(data, "RR", policy={"missing": "skip"})
    for name, (judgements, runs) in data.items():
        assert found.values()[name] == judged.evaluate(judgements, runs, "RR")["RR"]
    frame = found.to_frame().filter(collection="fiqa", system="dense")
    assert frame["low"][0] == judged.evaluate(*data["fiqa"], "RR").interval(run="dense").low


@pytest.mark.filterwarnings("ignore::judged.JudgedWarning")
def test_rendering():
    found = evaluate_many(three(), ["RR", "nDCG@10"])
    assert all(len(line) <= 80 for line in found.to_text(width=80).splitlines())
    wide = evaluate_many({"c": collection(**{f"system-{i}": [1.0, 0.5] for i in range(12)})}, "RR")
    shown = wide.to_text(width=80)
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert all(f"system-{i}" in shown for i in range(12))
    latex = found.to_latex(caption="Results.", quiet=True)
    assert latex.count(r"\begin{tabular}{lrrr}") == 2
    assert latex.count(r" & \textendash{} & \textbf{") == 2 * 2
    assert "| macro mean |" in found.to_markdown()
    assert found.to_csv().startswith("measure,collection,mean,collections,system,value,low,high")
    assert "Collections are taken as fixed" in found.methods()
    assert json.loads(found.to_json())["systems"] == ["bm25", "dense", "rerank"]
    assert "RR %" in found.to_text(percent=True)


@pytest.mark.filterwarnings("ignore::judged.JudgedWarning")
def test_infinite_values_have_no_interval():
    found = evaluate_many({"x": collection(a=[1.0, 0.0], b=[1.0, 0.5])}, "Rank")
    assert found.macro()["a"].estimate == math.inf
    assert math.isnan(found.macro()["a"].low)
    assert [row["value"] for row in json.loads(found.to_json())["values"]][:2] == ["Infinity", 1.5]


def test_single_queries_and_equal_values_are_named():
    one = evaluate_many({"x": collection(a=[1.0]), "y": collection(a=[1.0, 0.5])}, "RR")
    assert one.macro()["a"].note == "a collection has one query"
    with pytest.warns(judged.errors.JudgedWarning, match="All queries of x have the same value"):
        evaluate_many({"x": collection(a=[1.0, 1.0]), "y": collection(a=[1.0, 0.5])}, "RR")


def fill(folder, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_folders_of_beir(folder):
    for name, qrels in {"test": "q1\ta\t1\n", "train": "q1\ta\t0\n"}.items():
        path = folder / "all/web/qrels" / f"{name}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("query-id\tcorpus-id\tscore\n" + qrels)
    (folder / "all/web/corpus.jsonl").write_text('{"_id": "a", "title": "", "text": "A"}\n')
    (folder / "all/web/queries.jsonl").write_text('{"_id": "q1", "text": "a?"}\n')
    (folder / "all/web/bm25.run").write_text("q1 Q0 b 1 2 r\nq1 Q0 a 2 1 r\n")
    found = evaluate_many(folder / "all", "RR")
    assert found.values() == {"web": {"bm25": 0.5}}


QRELS, RUN = "q1 0 a 1\nq2 0 b 1\n", "q1 Q0 a 1 2 r\nq2 Q0 c 1 2 r\nq2 Q0 b 2 1 r\n"


@for_each(
    "files, message",
    [
        ({}, "holds no folders."),
        ({"c/bm25.run": RUN}, "c: no file holds judgements. Call the file with them qrels.txt."),
        ({"c/qrels.txt": QRELS}, "c: holds no runs."),
        (
            {"c/qrels.txt": QRELS, "c/judgements.txt": QRELS, "c/bm25.run": RUN},
            "c: judgements.txt and qrels.txt could each be the judgements.",
        ),
        (
            {"c/qrels.txt": QRELS, "c/bm25.run": RUN, "c/bm25.txt": RUN},
            "c: bm25.run and bm25.txt are both runs of bm25.",
        ),
    ],
)
def test_folders_that_cannot_be_read(tmp_path_factory, files, message):
    folder = tmp_path_factory.mktemp("collections")
    fill(folder, files)
    with pytest.raises(InputError) as error:
        evaluate_many(folder)
    assert message in str(error.value)


def test_bad_input():
    with pytest.raises(InputError, match="collections must be"):
        evaluate_many({})
    with pytest.raises(InputError, match="collection 'x' must be"):
        evaluate_many({"x": 1})
    with pytest.raises(InputError, match=r"^x: "):
        evaluate_many({"x": ({"q": {"a": 1}}, {"r": {"other": ["a"]}})})
    with pytest.raises(InputError, match="one at a time"):
        evaluate_many({"x": collection(a=[1.0])}, trusted={"q0": {"a": 1}})


def test_folder_with_rankings_files(tmp_path):
    """A rankings file is a run among others, or of its own without judgements."""
    fill(tmp_path, {"c/test-qrels.txt": QRELS, "c/bm25.run": RUN, "d/judgements.tsv": QRELS})
    fill(tmp_path, {"d/bm25.run": RUN, "d/.hidden": "x"})
    evaluation = judged.evaluate(tmp_path / "c/test-qrels.txt", tmp_path / "c/bm25.run", "RR")
    (tmp_path / "e").mkdir()
    for name in "cde":
        evaluation.rankings["bm25"].save(tmp_path / name / "dense.rankings")
    (tmp_path / "e/dense.rankings").rename(tmp_path / "e/bm25.rankings")
    evaluation.rankings["bm25"].save(tmp_path / "e/dense.rankings")
    judgements, runs = read_folder(tmp_path)["c"]
    assert (judgements.name, list(runs)) == ("test-qrels.txt", ["bm25", "dense"])
    found = evaluate_many(tmp_path, "RR")
    assert found.values() == {name: {"bm25": 0.75, "dense": 0.75} for name in "cde"}
