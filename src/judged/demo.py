"""The demo's image search: handwritten digits as queries and collection, three systems, written as plain TREC files.

Dot products of whole numbers are exact in float64, in whatever order a machine sums them, so all three systems score on
whole numbers and every machine writes the same files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from judged.errors import OutputError
from judged.outputs import write_text

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
System = Callable[[Floats, Floats], Floats]

MEASURES = ("P@10", "nDCG@10", "RR", "R@100", "AP@100")
QUERIES_PER_DIGIT = 30
DEPTH = 100
COMPONENTS = 8
GRID = 1000
"""Steps per pixel value that principal components are rounded to."""
SEED = 1998


@dataclass(frozen=True)
class DemoFiles:
    """Where `write_demo` put its files, and the measures that suit them."""

    folder: Path
    judgements: Path
    runs: tuple[Path, ...]
    readme: Path
    measures: tuple[str, ...] = MEASURES


@dataclass(frozen=True, eq=False)
class Digits:
    """Images as rows of pixels, the digit each shows, and the split into queries and a collection without them."""

    images: Floats
    labels: Integers
    queries: Integers
    """Row numbers of the images that are searched with, ascending; `q0042` is row 42."""
    collection: Integers
    """Row numbers of all others, ascending; `d0123` is row 123."""


def load_digits() -> Digits:
    """The bundled images; the same seeded queries every time, as many of each digit."""
    with resources.files("judged").joinpath("data/digits.npz").open("rb") as file, np.load(file) as arrays:
        images, labels = arrays["images"].astype(np.float64), arrays["labels"].astype(np.int64)
    shuffled = np.random.RandomState(SEED).permutation(len(labels))
    queries = np.sort(np.concatenate([shuffled[labels[shuffled] == digit][:QUERIES_PER_DIGIT] for digit in range(10)]))
    return Digits(images, labels, queries, np.setdiff1d(np.arange(len(labels)), queries))


def systems() -> dict[str, System]:
    """Name to scoring function: images of queries and of the collection in, one row of similarities per query out."""
    return {"cosine-pixels": _cosine, "euclidean-pixels": _minus_distance, "cosine-pca8": _cosine_of_components}


def rank(scores: Floats, depth: int = DEPTH) -> Integers:
    """Columns of the highest scores of each row, best first; of equal ones the last, as trec_eval orders ids."""
    backwards = np.argsort(-scores[:, ::-1], axis=1, kind="stable")[:, :depth]
    return np.asarray(scores.shape[1] - 1 - backwards)


def write_demo(folder: Path) -> DemoFiles:
    """Search with every query; write judgements, a run per system and a README into the folder, made if missing."""
    digits = load_digits()
    queries, collection = digits.images[digits.queries], digits.images[digits.collection]
    searched = {name: score(queries, collection) for name, score in systems().items()}
    files = DemoFiles(
        folder=folder,
        judgements=folder / "judgements.txt",
        runs=tuple(folder / f"{name}.run" for name in searched),
        readme=folder / "README.txt",
    )
    _make(folder)
    write_text(files.judgements, "".join(_judgement_lines(digits)))
    for path, (name, scores) in zip(files.runs, searched.items(), strict=True):
        write_text(path, "".join(_run_lines(digits, name, scores)))
    write_text(files.readme, _readme(files, digits))
    return files


def _cosine(queries: Floats, collection: Floats) -> Floats:
    squares = np.outer((queries**2).sum(axis=1), (collection**2).sum(axis=1))
    return np.asarray(queries @ collection.T / np.sqrt(squares))


def _minus_distance(queries: Floats, collection: Floats) -> Floats:
    squares = (queries**2).sum(axis=1)[:, None] + (collection**2).sum(axis=1) - 2 * queries @ collection.T
    return np.asarray(-np.sqrt(squares))


def _cosine_of_components(queries: Floats, collection: Floats) -> Floats:
    """Cosine in the first principal components of the collection, on a grid that hides rounding in the SVD."""
    mean = collection.mean(axis=0)
    axes = np.linalg.svd(collection - mean, full_matrices=False)[2][:COMPONENTS].T
    return _cosine(np.rint((queries - mean) @ axes * GRID), np.rint((collection - mean) @ axes * GRID))


def _judgement_lines(digits: Digits) -> Iterable[str]:
    """Only relevant images: those that show the query's digit."""
    shown = digits.labels[digits.collection]
    for query in digits.queries.tolist():
        for item in digits.collection[shown == digits.labels[query]].tolist():
            yield f"q{query:04} 0 d{item:04} 1\n"


def _run_lines(digits: Digits, name: str, scores: Floats) -> Iterable[str]:
    """Scores are written as the shortest text that reads back as the same number, so no tie is made by rounding."""
    for query, row, columns in zip(digits.queries.tolist(), scores, rank(scores), strict=True):
        found = zip(digits.collection[columns].tolist(), row[columns].tolist(), strict=True)
        for place, (item, score) in enumerate(found, start=1):
            yield f"q{query:04} Q0 d{item:04} {place} {score!r} {name}\n"


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made a folder ({error.strerror}); name another one.") from error


def _readme(files: DemoFiles, digits: Digits) -> str:
    first, runs = files.runs[0].name, "\n".join(f"  {path.name}" for path in files.runs)
    return f"""\
Image search with handwritten digits: find images that show the same digit as the query.

{len(digits.queries)} images are the queries ({QUERIES_PER_DIGIT} of each digit).
The other {len(digits.collection)} are the collection that is searched.
q0042 is image 42 used as a query, d0123 is image 123 in the collection. Relevant = shows the same digit.

{files.judgements.name}: which images are relevant to which query, as TREC qrels: query, 0, item, grade.
Three systems, the best {DEPTH} results each, as TREC runs: query, Q0, item, rank, score, system.
{runs}

Try, in this folder:

  judged evaluate {files.judgements.name} *.run
  judged evaluate {files.judgements.name} *.run {" ".join(f"-m {measure}" for measure in MEASURES)}
  judged evaluate {files.judgements.name} {first} -m P@10 --per-query
  judged measures nDCG

Images: E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits, UCI Machine Learning Repository, 1998,
https://doi.org/10.24432/C50P49, CC BY 4.0.
"""
