"""The bundled digits are the originals, and the demo writes what a loop over the images says."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from judged import evaluate, evaluate_embeddings
from judged.cli import demo_data
from judged.embeddings.relevance import same_label
from judged.errors import OutputError


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> demo_data.DemoFiles:
    return demo_data.write_demo(tmp_path_factory.mktemp("demo") / "made" / "by the demo")


@pytest.fixture(scope="module")
def digits() -> demo_data.Digits:
    return demo_data.load_digits()


def every(files: demo_data.DemoFiles) -> list[Path]:
    return [files.judgements, files.readme, *files.runs, *files.vectors, *files.about, *files.ids]


def test_the_bundled_digits_are_those_of_scikit_learn(digits: demo_data.Digits) -> None:
    original = pytest.importorskip("sklearn.datasets").load_digits()
    assert digits.images.shape == (1797, 64)
    np.testing.assert_array_equal(digits.images, original.data)
    np.testing.assert_array_equal(digits.labels, original.target)


@pytest.mark.full
def test_the_files_come_out_the_same_every_time(files: demo_data.DemoFiles, tmp_path: Path) -> None:
    again = demo_data.write_demo(tmp_path)
    for path in every(files):
        assert path.read_bytes() == (again.folder / path.name).read_bytes()


def test_files_vectors_and_whole_rankings_give_the_same_numbers(files: demo_data.DemoFiles) -> None:
    labels = [path.read_text(encoding="utf-8").split() for path in files.about]
    measures = demo_data.MEASURES
    found = evaluate_embeddings(
        *files.vectors, same_label(*labels), similarity="euclidean", measures=measures
    )
    judged_lists = evaluate(files.judgements, list(files.runs), measures)
    for measure in measures:  # ids differ, and so the order of ties
        mine = judged_lists.value(measure, "euclidean-pixels")
        assert found.value(measure) == pytest.approx(mine, abs=2e-3)
    for run, rankings in zip(judged_lists.runs, files.rankings, strict=True):
        whole = rankings.evaluate(measures).runs[0].summary
        assert list(run.summary.values()) == list(whole.values())


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("mine")
    with pytest.raises(OutputError) as refused:
        demo_data.write_demo(taken)
    assert str(refused.value) == f"{taken}: is not a folder; name another one."
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


def test_a_folder_with_files_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    mine = tmp_path / "README.txt"
    mine.write_text("mine\n", encoding="utf-8")
    with pytest.raises(OutputError) as refused:
        demo_data.write_demo(tmp_path)
    assert str(refused.value) == f"{mine}: exists and is not part of a demo; name another folder."
    assert [path.name for path in tmp_path.iterdir()] == ["README.txt"]


@pytest.mark.full
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
