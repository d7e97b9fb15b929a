"""The bundled digits are the originals, and the demo writes what a loop over the images says."""

from __future__ import annotations

import math
import re
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from judged import evaluate, evaluate_embeddings
from judged.cli import demo_data
from judged.embeddings.relevance import same_label
from judged.errors import OutputError

SYSTEMS = ["cosine-pixels", "euclidean-pixels", "cosine-pca8"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> demo_data.DemoFiles:
    return demo_data.write_demo(tmp_path_factory.mktemp("demo") / "made" / "by the demo")


@pytest.fixture(scope="module")
def digits() -> demo_data.Digits:
    return demo_data.load_digits()


def rows(path: Path) -> list[list[str]]:
    return [line.split(" ") for line in path.read_text(encoding="utf-8").splitlines()]


def every(files: demo_data.DemoFiles) -> list[Path]:
    return [files.judgements, files.readme, *files.runs, *files.vectors, *files.labels, *files.ids]


def relevant_items(files: demo_data.DemoFiles) -> dict[str, set[str]]:
    items: dict[str, set[str]] = defaultdict(set)
    for query, _, item, _ in rows(files.judgements):
        items[query].add(item)
    return items


def run_of(files: demo_data.DemoFiles, name: str) -> dict[str, list[tuple[str, float]]]:
    results: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for query, _, item, _, score, _ in rows(files.folder / f"{name}.run"):
        results[query].append((item, float(score)))
    return results


def test_the_bundled_digits_are_those_of_scikit_learn(digits: demo_data.Digits) -> None:
    original = pytest.importorskip("sklearn.datasets").load_digits()
    assert digits.images.shape == (1797, 64)
    np.testing.assert_array_equal(digits.images, original.data)
    np.testing.assert_array_equal(digits.labels, original.target)


def test_the_files_come_out_the_same_every_time(files: demo_data.DemoFiles, tmp_path: Path) -> None:
    again = demo_data.write_demo(tmp_path)
    for path in every(files):
        assert path.read_bytes() == (again.folder / path.name).read_bytes()


def test_the_folder_holds_the_named_files_and_nothing_unfinished(
    files: demo_data.DemoFiles,
) -> None:
    assert [path.stem for path in files.runs] == SYSTEMS
    assert set(files.folder.iterdir()) == set(every(files))


def test_every_query_has_relevant_items_and_digits_are_even(
    files: demo_data.DemoFiles, digits: demo_data.Digits
) -> None:
    assert np.bincount(digits.labels[digits.queries]).tolist() == [30] * 10
    relevant = relevant_items(files)
    assert set(relevant) == {f"q{query:04}" for query in digits.queries}
    # The least frequent digit, 8, is shown 174 times, 30 of them as queries.
    assert min(map(len, relevant.values())) == 144


def test_queries_are_not_in_the_collection(files: demo_data.DemoFiles) -> None:
    relevant = relevant_items(files)
    queries = {query[1:] for query in relevant}
    items = {item[1:] for judged in relevant.values() for item in judged}
    assert not queries & items
    for name in SYSTEMS:
        assert not queries & {
            item[1:] for results in run_of(files, name).values() for item, _ in results
        }


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_run_is_best_first_and_equal_scores_go_by_id_descending(
    files: demo_data.DemoFiles, name: str
) -> None:
    for results in run_of(files, name).values():
        assert len({item for item, _ in results}) == 100
        assert results == sorted(sorted(results, reverse=True), key=lambda result: -result[1])


@pytest.mark.parametrize("name", SYSTEMS)
def test_scores_are_exact_in_single_precision(
    files: demo_data.DemoFiles, digits: demo_data.Digits, name: str
) -> None:
    system = demo_data.systems(digits)[name]
    queries, collection = system.queries.astype(np.int64), system.collection.astype(np.int64)
    scores = queries @ collection.T
    if system.similarity == "euclidean":
        scores = scores - (queries**2).sum(axis=1)[:, None] / 2 - (collection**2).sum(axis=1) / 2
    assert np.abs(scores).max() < 2**24
    column = {f"d{item:04}": position for position, item in enumerate(digits.collection)}
    for row, results in zip(scores, run_of(files, name).values(), strict=True):
        assert [score for _, score in results] == [row[column[item]] for item, _ in results]


def test_the_numbers_are_those_of_whole_rankings_of_the_files(files: demo_data.DemoFiles) -> None:
    labels = [path.read_text(encoding="utf-8").split() for path in files.labels]
    found = evaluate_embeddings(
        *files.vectors, same_label(*labels), similarity="euclidean", measures=demo_data.MEASURES
    )
    mine = files.rankings[SYSTEMS.index("euclidean-pixels")].evaluate(demo_data.MEASURES)
    for measure in ("P@10", "RR", "R@100", "AP"):  # ids differ, and so the order of ties
        assert found.value(measure) == pytest.approx(mine.value(measure), abs=2e-3)
    judged_lists = evaluate(files.judgements, list(files.runs), ["P@10", "R@100", "AP@100"])
    for run, rankings in zip(judged_lists.runs, files.rankings, strict=True):
        assert list(run.summary.values()) == list(
            rankings.evaluate(["P@10", "R@100", "AP@100"]).runs[0].summary.values()
        )


def test_precision_from_the_files_is_that_of_a_loop_over_the_images(
    files: demo_data.DemoFiles, digits: demo_data.Digits
) -> None:
    relevant, run = relevant_items(files), run_of(files, "euclidean-pixels")
    from_files = [sum(item in relevant[query] for item, _ in run[query][:10]) / 10 for query in run]

    from_images = []
    images, labels = digits.images.astype(int).tolist(), digits.labels.tolist()
    for query in digits.queries.tolist()[:40]:
        nearest = []
        for item in digits.collection.tolist():
            nearest.append((math.dist(images[query], images[item]), -item))
        same = [labels[-item] == labels[query] for _, item in sorted(nearest)[:10]]
        from_images.append(sum(same) / 10)

    assert from_files[:40] == from_images
    assert 0.5 < sum(from_files) / len(from_files) < 1


def test_the_systems_differ(files: demo_data.DemoFiles) -> None:
    firsts = [
        [tuple(item for item, _ in results[:10]) for results in run_of(files, name).values()]
        for name in SYSTEMS
    ]
    for first, second in ((0, 1), (0, 2), (1, 2)):
        same = sum(left == right for left, right in zip(firsts[first], firsts[second], strict=True))
        assert same < 150


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("mine")
    with pytest.raises(OutputError) as refused:
        demo_data.write_demo(taken)
    assert (
        str(refused.value) == f"{taken}: cannot be made a folder (File exists); name another one."
    )
    assert taken.read_text() == "mine"


def test_the_gallery_is_a_page_of_its_own_with_the_pixels_of_the_digits(
    files: demo_data.DemoFiles, digits: demo_data.Digits
) -> None:
    pytest.importorskip("PIL")
    path = demo_data.write_gallery(files)
    assert path == files.folder / "gallery.html"
    page = path.read_text(encoding="utf-8")
    path.unlink()
    # Eight queries with ten results each.
    assert page.count("<img") == 8 * 11
    assert "http:" not in page
    assert "https:" not in page
    shown = demo_data.pictures(digits)
    assert len(shown) == 1797
    row = int(digits.queries[0])
    np.testing.assert_array_equal(shown[f"q{row:04}"].ravel(), 255 - digits.images[row] * 255 // 16)


def test_without_the_extra_there_is_no_gallery(
    files: demo_data.DemoFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert demo_data.write_gallery(files) is None
    assert not (files.folder / "gallery.html").exists()


def test_a_folder_with_files_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    mine = tmp_path / "README.txt"
    mine.write_text("mine\n", encoding="utf-8")
    with pytest.raises(OutputError) as refused:
        demo_data.write_demo(tmp_path)
    assert str(refused.value) == f"{mine}: is there, and is no part of a demo; name another folder."
    assert [path.name for path in tmp_path.iterdir()] == ["README.txt"]


def test_the_report_has_the_numbers_of_the_demo_and_its_pictures(
    files: demo_data.DemoFiles, has
) -> None:
    has("PIL")
    path = demo_data.write_report(files)
    assert path == files.folder / "report.html"
    page = path.read_text(encoding="utf-8")
    for rankings in files.rankings:
        value = rankings.evaluate("nDCG@10").value()
        assert f"{value:.4f}" in re.sub(r"</?[bi]>", "", page)
    assert page.count('<img src="data:image/png;base64,') > 50
    assert str(files.folder) not in page
