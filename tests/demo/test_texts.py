"""The bundled text collection is whole, its runs are what its vectors and words give, and the demo
writes it as it is."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from judged import Embeddings, agreement, evaluate, fuse
from judged.cli import demo_data
from judged.cli.demo_data import TEXT_MEASURES as MEASURES
from judged.cli.demo_data import TEXT_SYSTEMS as SYSTEMS
from judged.errors import OutputError
from judged.judgements.annotators import Annotator

Judged = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


@pytest.fixture(scope="module")
def texts() -> demo_data.Texts:
    return demo_data.load_texts()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> demo_data.TextFiles:
    return demo_data.write_text_demo(tmp_path_factory.mktemp("demo") / "made" / "by the demo")


def judged(qrels: str) -> Judged:
    grades: Judged = defaultdict(dict)
    for line in qrels.splitlines():
        query, zero, item, grade = line.split(" ")
        assert zero == "0"
        assert item not in grades[query], line
        grades[query][item] = int(grade)
    return dict(grades)


def run_of(texts: demo_data.Texts, name: str) -> Run:
    results: Run = defaultdict(dict)
    for line in texts.runs[name].splitlines():
        query, _, item, rank, score, system = line.split(" ")
        assert system == name
        assert item not in results[query], line
        results[query][item] = float(score)
        assert int(rank) == len(results[query])
    return dict(results)


def every(files: demo_data.TextFiles) -> set[Path]:
    logs = {path.with_name(f"{path.stem}.log.ndjson") for path in files.judges}
    parts = (*files.runs, *files.texts, *files.vectors, *files.ids, *files.judges)
    return {files.readme, files.judgements, *parts, *logs}


def test_there_are_60_questions_and_300_passages_of_25_topics(texts: demo_data.Texts) -> None:
    assert list(texts.queries) == [f"q{number:02}" for number in range(1, 61)]
    topics = [name.rpartition("-")[0] for name in texts.passages]
    assert len(topics) == 300
    assert len(set(topics)) == 25
    assert all(re.fullmatch(r"[a-z]+-\d\d", name) for name in texts.passages)


def test_no_two_texts_are_the_same_and_none_is_too_short_or_long(texts: demo_data.Texts) -> None:
    for table in (texts.queries, texts.passages):
        assert len({re.sub(r"\W+", " ", text.lower()) for text in table.values()}) == len(table)
        assert all(text == " ".join(text.split()) for text in table.values())
    words = [len(text.split()) for text in texts.passages.values()]
    assert min(words) >= 25
    assert max(words) <= 60


def test_every_judged_passage_and_every_result_is_there(texts: demo_data.Texts) -> None:
    tables = [judged(texts.judgements), judged(texts.second)]
    for table in (*tables, *(run_of(texts, name) for name in SYSTEMS)):
        assert set(table) <= set(texts.queries)
        assert {item for items in table.values() for item in items} <= set(texts.passages)


def test_every_question_has_an_answer_and_grades_are_0_to_3(texts: demo_data.Texts) -> None:
    grades = judged(texts.judgements)
    assert set(grades) == set(texts.queries)
    assert all(max(items.values()) == 3 for items in grades.values())
    assert {grade for items in grades.values() for grade in items.values()} == {0, 1, 2, 3}
    several = [sum(grade > 0 for grade in items.values()) > 1 for items in grades.values()]
    assert 20 <= sum(several) < 60


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_first_10_of_each_system_are_judged(texts: demo_data.Texts, name: str) -> None:
    grades, run = judged(texts.judgements), run_of(texts, name)
    assert set(run) == set(texts.queries)
    for query, results in run.items():
        assert set(list(results)[:10]) <= set(grades[query])
    found = evaluate(grades, {name: run}, "Judged@10")
    assert found.value() == 1


@pytest.mark.parametrize("name", SYSTEMS)
def test_runs_are_best_first_and_equal_scores_go_by_id_descending(
    texts: demo_data.Texts, name: str
) -> None:
    for results in run_of(texts, name).values():
        found = list(results.items())
        assert len(found) <= 100
        assert found == sorted(sorted(found, reverse=True), key=lambda result: -result[1])


def test_the_second_judge_read_what_the_first_read_and_is_stricter(texts: demo_data.Texts) -> None:
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


def test_products_are_exact_in_single_precision(texts: demo_data.Texts) -> None:
    for vectors, table in zip(texts.vectors, (texts.queries, texts.passages), strict=True):
        assert vectors.dtype == np.int8
        assert vectors.shape == (len(table), 384)
        lengths = np.linalg.norm(vectors.astype(float), axis=1)
        # No partial sum of a product can exceed the product of the lengths.
        assert lengths.max() ** 2 < 2**24
        np.testing.assert_allclose(lengths, 500, rtol=0.01)


def test_the_dense_run_is_the_order_of_the_vectors(texts: demo_data.Texts) -> None:
    queries, passages = (vectors.astype(np.int64) for vectors in texts.vectors)
    names = list(texts.passages)
    for query, scores, results in zip(
        texts.queries, queries @ passages.T, run_of(texts, "dense").values(), strict=True
    ):
        # By id, descending, and then by score: the sort is stable.
        ranked = sorted(zip(names, scores.tolist(), strict=True), reverse=True)
        ranked.sort(key=lambda result: -result[1])
        assert list(results.items()) == ranked[:100], query


def test_judged_finds_the_dense_run_from_the_files(files: demo_data.TextFiles) -> None:
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


def test_the_fused_run_is_the_sum_of_reciprocal_ranks(texts: demo_data.Texts) -> None:
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
    files: demo_data.TextFiles, texts: demo_data.Texts
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
        header, *rows = files.texts[place].read_text(encoding="utf-8").splitlines()
        assert header == "id\ttext"
        assert dict(row.split("\t") for row in rows) == table


def test_the_files_come_out_the_same_every_time(files: demo_data.TextFiles, tmp_path: Path) -> None:
    again = demo_data.write_text_demo(tmp_path)
    demo_data.write_text_demo(tmp_path)
    for path in every(files):
        assert path.read_bytes() == (again.folder / path.relative_to(files.folder)).read_bytes()


def test_judges_are_annotators_of_the_explorer(
    files: demo_data.TextFiles, texts: demo_data.Texts
) -> None:
    for name, qrels in (("first", texts.judgements), ("second", texts.second)):
        annotator = Annotator(files.folder, name)
        assert annotator.qrels in files.judges
        assert not annotator.log().problems
        assert annotator.grades() == judged(qrels)


def test_a_folder_with_files_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    mine = tmp_path / "passages.tsv"
    mine.write_text("mine\n", encoding="utf-8")
    with pytest.raises(OutputError) as refused:
        demo_data.write_text_demo(tmp_path)
    assert str(refused.value) == f"{mine}: is there, and is no part of a demo; name another folder."
    assert [path.name for path in tmp_path.iterdir()] == ["passages.tsv"]


@pytest.mark.parametrize("taken", ["text", "text/judgements"])
def test_a_folder_that_is_a_file_is_refused(tmp_path: Path, taken: str) -> None:
    mine = tmp_path / taken
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError) as refused:
        demo_data.write_text_demo(tmp_path / "text")
    assert str(refused.value) == (
        f"{mine}: is no folder, and a demo needs one; name another folder."
    )
    assert mine.read_text(encoding="utf-8") == "mine"


def test_values_are_those_of_pytrec_eval(
    files: demo_data.TextFiles, texts: demo_data.Texts
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


def test_which_system_is_best_depends_on_the_question(texts: demo_data.Texts) -> None:
    found = evaluate(
        judged(texts.judgements), {name: run_of(texts, name) for name in SYSTEMS}, "nDCG@10"
    )
    pair = found.compare().pair("dense", "bm25")
    assert min(pair.wins, pair.losses) >= 5
