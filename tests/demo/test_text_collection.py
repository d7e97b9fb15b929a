"""The script that made the vectors and runs of the text collection makes them again."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

import text_collection
from judged.cli import demo_data
from support.parts import Needs

NAMES = ("bm25", "dense", "fused")


@pytest.fixture(scope="module")
def texts() -> demo_data.TextCollection:
    return demo_data.load_texts()


@pytest.fixture
def made(
    has: Needs, texts: demo_data.TextCollection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """What the script writes, with the bundled vectors in place of the model's."""
    has("bm25s")
    has("Stemmer")
    for name in ("queries.tsv", "passages.tsv"):
        (tmp_path / name).write_bytes((text_collection.FOLDER / name).read_bytes())
    tables = (texts.queries, texts.passages)
    known = {tuple(table.values()): at for at, table in enumerate(tables)}
    monkeypatch.setattr(
        text_collection,
        "encode",
        lambda sentences: texts.vectors[known[tuple(sentences)]] / text_collection.LENGTH,
    )
    text_collection.make(tmp_path)
    return tmp_path


def rows(text: str) -> dict[tuple[str, str], float]:
    fields = (line.split() for line in text.splitlines())
    return {(query, item): float(score) for query, _, item, _, score, _ in fields}


def test_it_writes_the_bundled_files_again(made: Path, texts: demo_data.TextCollection) -> None:
    with np.load(made / "vectors.npz") as arrays:
        for name, vectors in zip(("queries", "passages"), texts.vectors, strict=True):
            np.testing.assert_array_equal(arrays[name], vectors)
    runs = {name: gzip.decompress((made / f"{name}.run.gz").read_bytes()) for name in NAMES}
    assert runs["dense"].decode() == texts.runs["dense"]
    # Sums of floats: the last digit may be another one elsewhere.
    again, bundled = rows(runs["bm25"].decode()), rows(texts.runs["bm25"])
    assert again == pytest.approx(bundled, abs=2e-4)
    assert len(rows(runs["fused"].decode())) == 6000


@pytest.mark.full
@pytest.mark.slow
def test_the_vectors_are_those_of_minilm(needs: Needs, texts: demo_data.TextCollection) -> None:
    needs("minilm")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("HF_HUB_OFFLINE", "1")
        some = list(texts.passages.values())[::6]
        vectors = text_collection.encode([*texts.queries.values(), *some])
    bundled = np.vstack([texts.vectors[0], texts.vectors[1][::6]])
    # Half a step was rounded; what is more is another version's last digits.
    np.testing.assert_allclose(vectors * text_collection.LENGTH, bundled, rtol=0, atol=0.55)
