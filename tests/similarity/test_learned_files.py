"""Learned similarities in files: the same bits come back, and what is no such file is refused."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import judged
from judged.embeddings.learned import MARK, as_similarity
from judged.embeddings.similarity import Bilinear
from judged.errors import InputError, OutputError
from judged.learning.learn import KINDS, Learned, fit, load
from support.errors import error_of
from support.learnable import Hidden, behind_noise
from support.products import rank

ENDINGS = (".npz", ".safetensors")


@cache
def trained(kind: str) -> tuple[Hidden, Learned]:
    data = behind_noise(queries=30)
    return data, fit(*data.given(), kind=kind, iterations=4)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the current one, so that messages show the bare name."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_bits_and_ranks_come_back(folder: Path, kind: str) -> None:
    data, learned = trained(kind)
    learned.save("model.npz")
    again = load(Path("model.npz"))
    assert again.kind is learned.kind
    assert repr(again.training) == repr(learned.training)
    assert again.training.to_dict() == learned.training.to_dict()
    assert again.training.history == learned.training.history
    for name, weights in learned.weights.items():
        assert again.weights[name].dtype == np.float32
        assert np.array_equal(again.weights[name], weights)
    rows = learned.unseen(data.queries)
    relevance = judged.relevance.same_label(data.query_labels[rows], data.item_labels)
    ranks = [
        rank(data.queries[rows], data.items, relevance, similarity=each).hit_rank.tolist()
        for each in (learned, again, "model.npz", Path("model.npz"))
    ]
    assert ranks[0] == ranks[1] == ranks[2] == ranks[3]
    with pytest.raises(InputError, match="24 of 30 queries"):
        rank(*data.both, similarity="model.npz")


def test_permission_to_see_training_queries_is_not_saved(folder: Path) -> None:
    _, learned = trained("diagonal")
    learned.allow_training_queries().reversed().save("model.npz")
    again = load("model.npz")
    assert (again.allowed, again.reverse) == (False, False)


def test_the_same_similarity_is_the_same_file(folder: Path) -> None:
    _, learned = trained("bilinear")
    learned.save("one.npz")
    load("one.npz").save("two.npz")
    assert Path("one.npz").read_bytes() == Path("two.npz").read_bytes()
    assert sorted(each.name for each in folder.iterdir()) == ["one.npz", "two.npz"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_plain_matrix_is_still_a_bilinear_similarity(folder: Path, ending: str) -> None:
    matrix = np.arange(6, dtype=np.float32).reshape(2, 3)
    if ending == ".npz":
        np.savez("plain.npz", W=matrix)
    else:
        pytest.importorskip("safetensors.numpy").save_file({"W": matrix}, "plain.safetensors")
    found = as_similarity(f"plain{ending}")
    assert isinstance(found, Bilinear)
    assert np.array_equal(found.weights, matrix)
    assert error_of(load, f"plain{ending}") == (
        f"plain{ending}: not a learned similarity that judged wrote. Give the file of a plain "
        "matrix W as the similarity, without loading it."
    )


def test_one_array_of_a_learned_file_is_a_matrix(folder: Path) -> None:
    _, learned = trained("bilinear")
    learned.save("model.npz")
    found = as_similarity("model.npz::W")
    assert isinstance(found, Bilinear)
    assert np.array_equal(found.weights, learned.weights["W"])


def message(path: str) -> str:
    with pytest.raises(InputError) as error:
        load(path)
    with pytest.raises(InputError) as same:
        as_similarity(path)
    assert str(error.value) == str(same.value)
    return str(error.value)


def parts_of(path: str) -> tuple[dict[str, Any], dict[str, Any]]:
    with np.load(path) as opened:
        arrays = dict(opened)
    return json.loads(arrays.pop(MARK).tobytes()), arrays


def rewritten(about: Any, arrays: dict[str, Any]) -> None:
    text = about if isinstance(about, bytes) else json.dumps(about).encode()
    np.savez("changed.npz", **{MARK: np.frombuffer(text, np.uint8)}, **arrays)


def test_a_newer_file(folder: Path) -> None:
    trained("diagonal")[1].save("model.npz")
    about, arrays = parts_of("model.npz")
    rewritten({"version": 2, "what": "nobody knows"}, arrays)
    assert message("changed.npz") == (
        "changed.npz: was written by a newer judged (format 2, this one reads up to 1); update "
        "judged."
    )
    assert about["version"] == 1


def test_files_that_were_changed(folder: Path) -> None:
    trained("diagonal")[1].save("model.npz")
    about, arrays = parts_of("model.npz")
    start = "changed.npz: not a learned similarity that can be read ("
    without = {name: array for name, array in arrays.items() if name != "w"}
    for changed, left, reason in (
        (b"not json", arrays, f"{start}JSONDecodeError: "),
        (b"\xff\xfe", arrays, f"{start}UnicodeDecodeError: "),
        ({}, arrays, f"{start}KeyError: 'version'"),
        ({**about, "version": 0}, arrays, "version must be a whole number from 1; got 0."),
        ({**about, "kind": "cubic"}, arrays, f"{start}KeyError: 'cubic'"),
        (about, without, f"{start}KeyError: 'w'"),
        ({**about, "training": {}}, arrays, f"{start}KeyError: 'kind'"),
    ):
        rewritten(changed, left)
        assert message("changed.npz").startswith(reason)


def test_files_that_were_cut_or_spoilt(folder: Path) -> None:
    learned = trained("bilinear")[1]
    learned.save("model.npz")
    whole = Path("model.npz").read_bytes()
    Path("cut.npz").write_bytes(whole[: len(whole) // 2])
    assert message("cut.npz").startswith("cut.npz: not a .npz file that can be read (")
    spoilt = bytearray(whole)
    spoilt[whole.index(learned.weights["W"].tobytes())] ^= 1
    Path("spoilt.npz").write_bytes(bytes(spoilt))
    assert message("spoilt.npz") == (
        "spoilt.npz: not a .npz file that can be read (Bad CRC-32 for file 'W.npy')."
    )


def test_places_that_cannot_be_written_to(folder: Path) -> None:
    _, learned = trained("diagonal")
    for target, said in {
        "model.txt": "model.txt: a learned similarity is written to a .npz file.",
        "model": "model: a learned similarity is written to a .npz file.",
        "nowhere/model.npz": "nowhere/model.npz: there is no folder nowhere; make it first.",
    }.items():
        assert error_of(learned.save, target, error=OutputError) == said
    assert list(folder.iterdir()) == []
