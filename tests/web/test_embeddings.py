"""The page of vectors: which files it takes, its numbers against the library's, the slider."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import judged
from judged.web.errors import RefusedError
from judged.web.views.embeddings import VectorSearch
from support.served import visit_of


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    """A folder of vectors of whole numbers, labels and ids, as the demo leaves them."""
    folder = tmp_path / "vectors"
    folder.mkdir()
    random = np.random.default_rng(3)
    for side, count in (("query", 12), ("item", 40)):
        stem = "queries" if side == "query" else "items"
        np.save(folder / f"{stem}.npy", random.integers(-3, 4, (count, 6)).astype(np.float32))
        labels = random.integers(0, 4, count)
        (folder / f"{side}-labels.txt").write_text("".join(f"{label}\n" for label in labels))
        ids = "".join(f"{side[0]}{row:03}\n" for row in range(count))
        (folder / f"{side}-ids.txt").write_text(ids)
    return folder


def searched(folder: Path, text: str = "") -> VectorSearch:
    return VectorSearch.of(visit_of(folder, text, "/embeddings"))


def expected(folder: Path, **options: Any) -> judged.Evaluation:
    labels, ids = (
        [(folder / f"{side}-{what}.txt").read_text().split() for side in ("query", "item")]
        for what in ("labels", "ids")
    )
    return judged.evaluate_embeddings(
        folder / "queries.npy",
        folder / "items.npy",
        judged.relevance.same_label(*labels),
        query_ids=ids[0],
        item_ids=ids[1],
        **options,
    )


def test_files_are_told_by_name_length_and_repeats(vectors: Path) -> None:
    found = searched(vectors)
    assert [word.removeprefix(f"{vectors}/") for word in found.words()] == [
        *("queries.npy", "items.npy", "--labels", "query-labels.txt", "item-labels.txt"),
        *("--query-ids", "query-ids.txt", "--item-ids", "item-ids.txt"),
    ]


def files_of(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / f"{name}.npy"
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, np.eye(4, dtype=np.float32) + len(name))
    return folder


@pytest.mark.parametrize(
    ("names", "asked", "pair"),
    [
        # In the order of names the first queries would be those of another model.
        (("a-items", "b-queries", "b-items", "a-queries"), "", ("a-queries", "a-items")),
        (("b_items", "b_queries", "c_items", "c_queries"), "", ("b_queries", "b_items")),
        (("items-bert", "items-clip", "queries-clip"), "", ("queries-clip", "items-clip")),
        (("bert-docs", "clip-docs", "clip-queries"), "", ("clip-queries", "clip-docs")),
        (("queries", "items", "extra"), "", ("queries", "items")),
        (("text-embedding-3-items", "text-embedding-3-queries"), "", None),
        (("clip-text", "clip-image", "blip-text", "blip-image"), "", ("blip-text", "blip-image")),
        (("queries", "clip-items"), "", ("queries", "clip-items")),  # there is no other
        (("a-queries", "a-items", "b-queries", "b-items"), "queries=b-queries.npy", ("b", "b")),
        (("a-queries", "a-items", "b-queries", "b-items"), "items=b-items.npy", ("b", "b")),
        (("bert",), "", ("bert", "bert")),  # a file of items searches itself
    ],
)
def test_vectors_of_one_model_are_paired_by_name(
    tmp_path: Path, names: tuple[str, ...], asked: str, pair: tuple[str, str] | None
) -> None:
    found = searched(files_of(tmp_path, *names), asked)
    if pair is None:
        pair = ("text-embedding-3-queries", "text-embedding-3-items")
    elif pair == ("b", "b"):
        pair = ("b-queries", "b-items")
    assert (found.queries.name, found.items.name) == tuple(f"{name}.npy" for name in pair)


@pytest.mark.parametrize(
    ("names", "asked"),
    [
        (("queries", "bert-items", "clip-items"), ""),
        (("bert-queries", "clip-items"), ""),
        (("bert", "clip"), ""),
        (("bert-queries", "clip-queries", "items"), ""),
        (("mini-queries", "large-items", "base-items"), ""),
        (("bert-queries", "bert-items", "bert-docs"), ""),
        (("a-queries", "b-items", "c-items"), "queries=a-queries.npy"),
    ],
)
def test_vectors_that_no_name_pairs_are_asked_for(
    tmp_path: Path, names: tuple[str, ...], asked: str
) -> None:
    folder = files_of(tmp_path, *names)
    with pytest.raises(RefusedError) as refused:
        searched(folder, asked)
    assert "Vectors of one model cannot search among those of another." in str(refused.value)
    # An explicit choice is taken as it is.
    chosen = searched(folder, f"queries={names[0]}.npy&items={names[-1]}.npy")
    assert (chosen.queries.name, chosen.items.name) == (f"{names[0]}.npy", f"{names[-1]}.npy")


def test_the_page_asks_which_vectors_belong_together(server: Any, tmp_path: Path) -> None:
    served = server(files_of(tmp_path, "queries", "bert-items", "clip-items"))
    page = served.ask("/embeddings")
    assert page.status == 409
    assert "Which vectors?" in page.text
    assert page.text.count("<select") >= 2
    assert all(f'value="{name}-items.npy"' in page.text for name in ("bert", "clip"))
    found = served.ask("/embeddings?queries=queries.npy&items=clip-items.npy&relevance=pairs")
    assert found.status == 200


def test_one_file_alone_searches_itself_without_itself(vectors: Path) -> None:
    for name in ("items.npy", "item-labels.txt", "item-ids.txt"):
        (vectors / name).unlink()
    found = searched(vectors)
    assert (found.queries.name, found.items.name, found.exclude) == (
        "queries.npy",
        "queries.npy",
        "self",
    )


def test_without_vectors_it_says_so(server: Any, tmp_path: Path) -> None:
    page = server(tmp_path).ask("/embeddings")
    assert page.status == 200
    assert "No vectors here yet" in page.text
    assert "judged serve query-vectors.npy" in page.text
    assert "Which files?" not in page.text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("similarity=cosin", "similarity must be one of "),
        ("relevance=x", "relevance must be one of labels, shared-labels, pairs, judgements; got"),
        ("queries=nothing.npy", "Unknown file 'nothing.npy'"),
        ("normalise=x", "normalise must be one of none, "),
    ],
)
def test_what_is_not_there_is_refused(vectors: Path, text: str, message: str) -> None:
    with pytest.raises(judged.JudgedError) as error:
        searched(vectors, text)
    assert str(error.value).startswith(message)


def test_labels_that_are_missing_are_named(vectors: Path) -> None:
    (vectors / "item-labels.txt").unlink()
    with pytest.raises(judged.errors.InputError) as error:
        searched(vectors, "relevance=labels").compared  # noqa: B018
    assert str(error.value) == (
        "labels are needed for the queries and for the items; choose a file for each."
    )


EUCLIDEAN = {"similarity": "euclidean", "measures": "AP,RR"}
ALONE = {"exclude": judged.relevance.same_row(), "policy": {"empty": "skip"}}
CHOICES = [
    ("", {}),
    ("similarity=euclidean&measure=AP&measure=RR", EUCLIDEAN),
    ("normalise=csls&ties=worst", {"normalise": "csls", "policy": {"ties": "worst"}}),
    ("exclude=self&empty=skip", ALONE),
]


@pytest.mark.parametrize(("text", "options"), CHOICES)
def test_numbers_are_those_of_the_library_and_of_the_command(
    vectors: Path, server: Any, text: str, options: dict[str, Any]
) -> None:
    page = server(vectors).ask(f"/embeddings?{text}")
    assert page.status == 200
    found = expected(vectors, **options).showing(intervals=True)
    shown = re.findall(
        r'<span class="measure">(.*?)</span>\s*<span class="big">(.*?)</span></span>',
        page.text,
        re.S,
    )
    numbers = {unescape(name): re.sub(r"<.*?>", "", value).strip() for name, value in shown}
    assert numbers == {
        label: f"{found.value(label):.4f}".replace("-", "−") for label in found.labels
    }
    command = unescape(
        re.search(r"<code>(judged embeddings .*?)</code>", page.text, re.DOTALL)[1]
    ).replace("\\\n", "")
    words = [sys.executable, "-m", *shlex.split(command), "--format", "json"]
    printed = subprocess.run(words, cwd=vectors, capture_output=True, check=True).stdout
    assert json.loads(printed)["runs"][0]["scores"] == found.to_dict()["runs"][0]["scores"]


def test_every_stop_of_the_slider_is_that_of_the_sweep(vectors: Path, server: Any) -> None:
    page = server(vectors).ask("/embeddings?part=temperature&query=q003")
    stops = json.loads(unescape(re.search(r"data-stops>(.*?)</script>", page.text, re.DOTALL)[1]))
    search = searched(vectors)
    embeddings, relevance = search.compared
    at = [float(stop["temperature"]) for stop in stops]
    every = judged.temperature.sweep(embeddings, relevance, at, search=False).points
    own = judged.temperature.sweep(embeddings, relevance, at, query="q003", search=False).points
    assert len(stops) == 49
    for stop, point, alone in zip(stops, every, own, strict=True):
        assert stop["loss"] == f"{point.loss:.3f}"
        assert stop["confidence"] == f"{100 * point.confidence:.1f}\u00a0%"
        assert stop["all"] == [[f"{p:.3f}", p] for p in point.probabilities]
        assert stop["one"] == [[f"{p:.3f}", p] for p in alone.probabilities]


def test_the_gallery_goes_from_the_worst_query_to_the_best(vectors: Path, server: Any) -> None:
    page = server(vectors).ask("/embeddings?part=gallery&sort=AP&measure=AP")
    found = (
        expected(vectors, measures="AP").to_frame(per_query=True).sort("AP", maintain_order=True)
    )
    shown = re.findall(r'<b class="cut">(.*?)</b>', page.text)
    assert shown == found["query"].to_list()[:6]


def test_the_slider_shows_what_the_server_computed(vectors: Path, server: Any, browse: Any) -> None:
    page = browse(server(vectors), "/embeddings?part=temperature")
    stops = json.loads(page.locator("[data-stops]").text_content())
    slider = page.locator("input[type=range]")
    for at in (0, 20, 48):
        slider.fill(str(at))
        assert page.locator("[data-show=temperature]").text_content() == stops[at]["temperature"]
        assert page.locator("dd[data-show=loss]").text_content() == stops[at]["loss"]
        shares = page.locator("[data-list=all] [data-share]").all_text_contents()
        assert shares == [text for text, _ in stops[at]["all"]]
    slider.focus()
    page.keyboard.press("ArrowLeft")
    assert page.locator("[data-show=temperature]").text_content() == stops[47]["temperature"]
    assert "temperature=" in page.url
