"""Two searches in one table: what they are called, and that neither is the better one."""

import numpy as np
import pytest

import judged
from judged import Embeddings
from judged.embeddings.relevance import same_label
from support.products import rank_both

CAPTIONS = [[1.0, 0.1], [0.9, 0.3], [0.1, 1.0], [0.6, 0.5]]
IMAGES = [[1.0, 0.0], [0.0, 1.0]]
OF = same_label([0, 0, 1, 1], [0, 1])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("captions.npy", np.array(CAPTIONS))
    np.savez("both.npz", captions=np.array(CAPTIONS), images=np.array(IMAGES))
    np.save("images.npy", np.array(IMAGES))
    return tmp_path


def names(queries, items, **options):
    return [r.name for r in rank_both(Embeddings(queries, items), OF, **options)]


@pytest.mark.parametrize(
    ("queries", "items"),
    [("captions.npy", "images.npy"), ("both.npz::captions", "both.npz::images")],
)
def test_rows_are_called_by_their_files(folder, queries, items):
    assert names(queries, items) == ["captions to images", "images to captions"]
    assert names(queries, items, name="x") == ["x: captions to images", "x: images to captions"]


def test_arrays_and_files_of_one_name_are_queries_and_items(folder):
    (folder / "other").mkdir()
    np.save("other/captions.npy", np.array(IMAGES))
    assert names(CAPTIONS, IMAGES) == ["queries to items", "items to queries"]
    assert names("captions.npy", IMAGES) == ["queries to items", "items to queries"]
    assert names("captions.npy", "other/captions.npy") == ["queries to items", "items to queries"]


def test_what_was_ranked_is_said_of_each():
    both = Embeddings(CAPTIONS, IMAGES).evaluate(OF, "RR", both=True)
    there, back = (run.rankings.basis for run in both.runs)
    assert there[1] == "all items are ranked"
    assert back[1] == "all queries are ranked, for every item"
    assert (
        "Summaries are over all 4 judged queries (queries to items) and all 2 judged queries "
        "(items to queries)." in both.methods()
    )
    assert both.to_text().splitlines()[-1] == "cosine; definitions and notes: to_text(verbose=True)"


def test_what_is_left_out_is_named_in_the_last_line():
    search = Embeddings(IMAGES, CAPTIONS[:2], exclude=judged.relevance.same_row())
    found = search.evaluate(same_label([0, 0], [0, 0]), "RR")
    assert found.to_text().splitlines()[-1] == (
        "2 queries; cosine; excluded from the ranking: the item with the query's own row number; "
        "definitions and notes: to_text(verbose=True)"
    )


def test_what_was_assumed_of_judgements_is_said():
    search = Embeddings(CAPTIONS, IMAGES)
    said = "note: There are no grades: every item that is listed is relevant, with grade 1."
    assert said in search.evaluate({"0": ["0"], "2": ["1"]}, "RR").sentences()
    assert said in search.evaluate({"0": ["0"], "2": ["1"]}, "RR", both=True).sentences()
    assert said not in search.evaluate({"0": {"0": 1}, "2": {"1": 1}}, "RR").sentences()
