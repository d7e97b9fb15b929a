"""The bundled text collection is whole, its runs are what its vectors and words give, and the demo
writes it as it is."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from judged import Embeddings, agreement, evaluate, fuse
from judged.cli import demo_data
from judged.cli.demo_data import TEXT_MEASURES as MEASURES
from judged.cli.demo_data import TEXT_SYSTEMS as SYSTEMS

Judged = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


@pytest.fixture(scope="module")
def texts() -> demo_data.TextCollection:
    return demo_data.load_texts()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> demo_data.DemoFiles:
    return demo_data.write_text_demo(tmp_path_factory.mktemp("demo") / "made" / "by the demo")


def judged(qrels: str) -> Judged:
    grades: Judged = defaultdict(dict)
    for line in qrels.splitlines():
        query, zero, item, grade = line.split(" ")
        assert zero == "0"
        assert item not in grades[query], line
        grades[query][item] = int(grade)
    return dict(grades)


def run_of(texts: demo_data.TextCollection, name: str) -> Run:
    results: Run = defaultdict(dict)
    for line in texts.runs[name].splitlines():
        query, _, item, rank, score, system = line.split(" ")
        assert system == name
        assert item not in results[query], line
        results[query][item] = float(score)
        assert int(rank) == len(results[query])
    return dict(results)


def every(files: demo_data.DemoFiles) -> set[Path]:
    logs = {path.with_name(f"{path.stem}.log.ndjson") for path in files.judges}
    parts = (*files.runs, *files.about, *files.vectors, *files.ids, *files.judges)
    return {files.readme, files.judgements, *parts, *logs}


def test_every_question_has_an_answer_and_grades_are_0_to_3(
    texts: demo_data.TextCollection,
) -> None:
    grades = judged(texts.judgements)
    assert set(grades) == set(texts.queries)
    assert all(max(items.values()) == 3 for items in grades.values())
    assert {grade for items in grades.values() for grade in items.values()} == {0, 1, 2, 3}
    several = [sum(grade > 0 for grade in items.values()) > 1 for items in grades.values()]
    assert 20 <= sum(several) < 60


def test_the_second_judge_read_what_the_first_read_and_is_stricter(
    texts: demo_data.TextCollection,
) -> None:
    first, second = judged(texts.judgements), judged(texts.second)
    assert 15 <= len(second) <= 20
    assert {query: set(items) for query, items in second.items()} == {
        query: set(first[query]) for query in second
    }
    both = [
        (first[query][item], given) for query in second for item, given in second[query].items()
    ]
    assert sum(one != other for one, other in both) >= 20
    assert sum(other - one for one, other in both) < 0
    pair = agreement({"first": first, "second": second}).pair("first", "second")
    assert 0.5 < pair.kappa.estimate < 0.9


def test_judged_finds_the_dense_run_from_the_files(files: demo_data.DemoFiles) -> None:
    ids = [path.read_text(encoding="utf-8").split() for path in files.ids]
    found = Embeddings(*files.vectors, similarity="dot", query_ids=ids[0], item_ids=ids[1])
    dense = files.folder / "dense.run"
    again = files.folder.parent / "again.run"
    found.top_k(100).save(again, tag="dense")
    rows = [path.read_text(encoding="utf-8").split() for path in (again, dense)]
    assert [word for at, word in enumerate(rows[0]) if at % 6 != 4] == [
        word for at, word in enumerate(rows[1]) if at % 6 != 4
    ]
    assert list(map(float, rows[0][4::6])) == list(map(float, rows[1][4::6]))


def test_the_fused_run_is_the_sum_of_reciprocal_ranks(texts: demo_data.TextCollection) -> None:
    runs = {name: run_of(texts, name) for name in ("bm25", "dense")}
    bundled = run_of(texts, "fused")
    for query in texts.queries:
        sums: dict[str, float] = defaultdict(float)
        for run in runs.values():
            for rank, item in enumerate(run[query], start=1):
                sums[item] += 1 / (60 + rank)
        expected = {item: round(score, 8) for item, score in sums.items()}
        assert bundled[query] == {item: expected[item] for item in bundled[query]}
        assert min(bundled[query].values()) >= sorted(expected.values(), reverse=True)[99]
    assert fuse(runs, policy={"depth": 100}).to_dict() == {
        query: pytest.approx(results, abs=1e-8) for query, results in bundled.items()
    }


def test_the_demo_writes_what_is_bundled_and_nothing_else(
    files: demo_data.DemoFiles, texts: demo_data.TextCollection
) -> None:
    assert {path for path in files.folder.rglob("*") if path.is_file()} == every(files)
    assert files.judgements.read_text(encoding="utf-8") == texts.judgements
    assert [path.read_text(encoding="utf-8") for path in files.judges] == [
        texts.judgements,
        texts.second,
    ]
    for path, name in zip(files.runs, SYSTEMS, strict=True):
        assert path.name == f"{name}.run"
        assert path.read_text(encoding="utf-8") == texts.runs[name]
    for place, table in enumerate((texts.queries, texts.passages)):
        np.testing.assert_array_equal(np.load(files.vectors[place]), texts.vectors[place])
        assert files.ids[place].read_text(encoding="utf-8").split() == list(table)
        header, *rows = files.about[place].read_text(encoding="utf-8").splitlines()
        assert header == "id\ttext"
        assert dict(row.split("\t") for row in rows) == table


def test_values_are_those_of_pytrec_eval(
    files: demo_data.DemoFiles, texts: demo_data.TextCollection
) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    names = {"nDCG@10": "ndcg_cut_10", "RR": "recip_rank", "P@1": "P_1", "R@10": "recall_10"}
    assert set(names) == set(MEASURES)
    found = evaluate(files.judgements, list(map(str, files.runs)), MEASURES)
    oracle = pytrec_eval.RelevanceEvaluator(
        judged(texts.judgements), {"ndcg_cut.10", "recip_rank", "P.1", "recall.10"}
    )
    for name in SYSTEMS:
        theirs = oracle.evaluate(run_of(texts, name))
        assert len(theirs) == 60
        for ours, other in names.items():
            mean = sum(values[other] for values in theirs.values()) / 60
            assert found.value(ours, name) == pytest.approx(mean, abs=1e-12)
            assert 0.5 < mean < 1
