"""Bundled collections of `judged demo`: image search with handwritten digits, text search.

All vectors are whole numbers small enough for their products to be exact in single precision, so
every machine finds the same ranks and writes the same files.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.charts.kinds.gallery import gallery
from judged.embeddings.embeddings import Embeddings
from judged.embeddings.relevance import same_label
from judged.embeddings.top_k import TopK
from judged.errors import MissingExtraError, OutputError
from judged.evaluation.evaluate import evaluate
from judged.judgements.annotators import FOLDER as ANNOTATORS
from judged.judgements.annotators import LOG_SUFFIX, QRELS_SUFFIX, LogEntry
from judged.outputs import replacing, write_text
from judged.rankings.rankings import Rankings

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MEASURES = ("P@10", "nDCG@10", "RR", "R@100")
"""None looks past the end of the run files, so that files, report and vectors agree."""
COMPARED = ("nDCG@10", "RR")
QUERIES_PER_DIGIT = 30
DEPTH = 100
GALLERY = "gallery.html"
REPORT = "report.html"
PICTURES = Path("pictures.csv")
"""A table of all images; these lie in a folder beside it."""
COMPONENTS = 8
GRID = 1000
"""Principal components are rounded to 1/1000; directions are vectors of this length."""
SEED = 1998


@dataclass(frozen=True)
class DemoFiles:
    """The files of a collection that was written, and the measures that suit it."""

    folder: Path
    systems: tuple[str, ...]
    about: tuple[Path, Path]  # labels or texts of the queries and of the items
    vectors: tuple[Path, Path]
    ids: tuple[Path, Path]
    measures: tuple[str, ...]
    compared: tuple[str, ...]  # fewer, to keep the comparison short
    rankings: tuple[Rankings, ...] = ()
    first: Mapping[str, TopK] = field(default_factory=dict)  # first items of each query, by system
    judges: tuple[Path, ...] = ()  # judgements of each assessor, as the explorer saves them

    @property
    def judgements(self) -> Path:
        return self.folder / "judgements.txt"

    @property
    def readme(self) -> Path:
        return self.folder / "README.txt"

    @property
    def runs(self) -> tuple[Path, ...]:
        return tuple(self.folder / f"{name}.run" for name in self.systems)


DemoSystem = tuple[NDArray[np.int16], NDArray[np.int16], str]
"""Vectors of the queries and of the collection, and their similarity."""


@dataclass(frozen=True, eq=False)
class Digits:
    """Images as rows of pixels, their digits, and the split into queries and collection."""

    images: Floats
    labels: Integers
    queries: Integers  # ascending row numbers of the query images; `q0042` is row 42
    collection: Integers  # ascending row numbers of all others; `d0123` is row 123


def load_digits() -> Digits:
    """Load the bundled images; the queries are drawn by a fixed seed, as many of each digit."""
    with np.load(BytesIO(_bundled("digits.npz"))) as arrays:
        images, labels = arrays["images"].astype(np.float64), arrays["labels"].astype(np.int64)
    shuffled = np.random.RandomState(SEED).permutation(len(labels))
    queries = np.sort(
        np.concatenate(
            [shuffled[labels[shuffled] == digit][:QUERIES_PER_DIGIT] for digit in range(10)]
        )
    )
    return Digits(images, labels, queries, np.setdiff1d(np.arange(len(labels)), queries))


def systems(digits: Digits) -> dict[str, DemoSystem]:
    """Return the three systems by name; a cosine is the dot product of vectors of one length."""
    queries, collection = digits.images[digits.queries], digits.images[digits.collection]
    components = [_directions(part) for part in _components(queries, collection)]
    return {
        "cosine-pixels": (_directions(queries), _directions(collection), "dot"),
        "euclidean-pixels": (queries.astype(np.int16), collection.astype(np.int16), "euclidean"),
        "cosine-pca8": (components[0], components[1], "dot"),
    }


def write_demo(folder: Path) -> DemoFiles:
    """Search with every query, and write vectors, labels, judgements, runs and a README."""
    digits = load_digits()
    shown = digits.labels[digits.queries], digits.labels[digits.collection]
    names = [f"q{row:04}" for row in digits.queries], [f"d{row:04}" for row in digits.collection]
    searched = {}
    for name, (queries, collection, similarity) in systems(digits).items():
        compared = Embeddings(
            queries, collection, similarity=similarity, query_ids=names[0], item_ids=names[1]
        )
        searched[name] = compared.evaluate_and_top_k(
            same_label(*shown), MEASURES, k=DEPTH, name=name
        )
    files = DemoFiles(
        folder,
        tuple(searched),
        about=(folder / "query-labels.txt", folder / "item-labels.txt"),
        vectors=(folder / "queries.npy", folder / "items.npy"),
        ids=(folder / "query-ids.txt", folder / "item-ids.txt"),
        measures=MEASURES,
        compared=COMPARED,
        rankings=tuple(
            found.scored(found.scored().name).rankings for found, _ in searched.values()
        ),
        first={name: results for name, (_, results) in searched.items()},
    )
    readme = _bundled("digits-readme.txt")
    check_place(folder, readme)
    make(folder)
    write_text(files.judgements, "".join(_judgement_lines(digits)))
    for path, (name, results) in zip(files.runs, files.first.items(), strict=True):
        results.save(path, tag=name)
    for place, rows in enumerate((digits.queries, digits.collection)):
        _write_vectors(files.vectors[place], digits.images[rows].astype(np.uint8))
        _write_lines(files.about[place], shown[place])
        _write_lines(files.ids[place], names[place])
    write_text(files.readme, readme.decode())
    return files


def write_gallery(files: DemoFiles) -> Path | None:
    """Write a page of queries with their first results, and all pictures; None without Pillow."""
    shown = pictures(load_digits())
    try:
        gallery(files.judgements, files.runs[0], pictures=shown).save(files.folder / GALLERY)
    except MissingExtraError:
        return None
    _write_pictures(shown, files.folder)
    return files.folder / GALLERY


def write_report(files: DemoFiles) -> Path:
    """Write everything about the three systems into one page, with pictures if Pillow is there."""
    evaluation = evaluate(files.judgements, files.runs, files.measures)
    about: dict[str, Any] = {
        "measure": files.compared[0],
        "title": "Image search with handwritten digits",
        "top_k": files.first,
        "again": "judged demo",
    }
    target = files.folder / REPORT
    try:
        evaluation.report(pictures=pictures(load_digits()), **about).save(target)
    except MissingExtraError:
        evaluation.report(**about).save(target)
    return target


def _write_pictures(shown: Mapping[str, NDArray[np.uint8]], folder: Path) -> None:
    """Write a PNG of each, and the table that `judged plot gallery` reads."""
    from PIL import Image

    make(folder / PICTURES.stem)
    for name, pixels in shown.items():
        with replacing(folder / PICTURES.stem / f"{name}.png") as temporary:
            Image.fromarray(pixels).save(temporary, "png")
    rows = "".join(f"{name},{PICTURES.stem}/{name}.png\n" for name in shown)
    write_text(folder / PICTURES, f"id,picture\n{rows}")


def pictures(digits: Digits) -> dict[str, NDArray[np.uint8]]:
    """Return the image of every query and item by id: dark strokes on white."""
    square = (255 - digits.images * 255 // digits.images.max()).astype(np.uint8).reshape(-1, 8, 8)
    queries = {f"q{row:04}": square[row] for row in digits.queries.tolist()}
    return queries | {f"d{row:04}": square[row] for row in digits.collection.tolist()}


def _directions(vectors: Floats) -> NDArray[np.int16]:
    return np.rint(GRID * vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.int16)


def _components(queries: Floats, collection: Floats) -> tuple[Floats, Floats]:
    """Return the first principal components of the collection, on a grid that hides rounding."""
    mean = collection.mean(axis=0)
    axes = np.linalg.svd(collection - mean, full_matrices=False)[2][:COMPONENTS].T
    return np.rint((queries - mean) @ axes * GRID), np.rint((collection - mean) @ axes * GRID)


def _judgement_lines(digits: Digits) -> Iterable[str]:
    shown = digits.labels[digits.collection]
    for query in digits.queries.tolist():
        for item in digits.collection[shown == digits.labels[query]].tolist():
            yield f"q{query:04} 0 d{item:04} 1\n"


# -- text search

TEXT_FOLDER = "text"
"""The folder of the text search, inside that of the demo: another collection, with other items."""
TEXT_SYSTEMS = ("bm25", "dense", "fused")
TEXT_MEASURES = ("nDCG@10", "RR", "P@1", "R@10")
TEXT_COMPARED = ("nDCG@10",)


@dataclass(frozen=True, eq=False)
class TextCollection:
    """The bundled collection."""

    queries: Mapping[str, str]  # texts by id
    passages: Mapping[str, str]
    vectors: tuple[NDArray[np.int8], NDArray[np.int8]]  # of queries and passages, in their order
    judgements: str  # TREC qrels, grades from 0 to 3
    second: str  # the second assessor's judgements of some queries
    runs: Mapping[str, str]  # TREC runs, by system


def load_texts() -> TextCollection:
    """Load the bundled collection."""
    with np.load(BytesIO(_bundled("text/vectors.npz"))) as arrays:
        vectors = arrays["queries"], arrays["passages"]
    return TextCollection(
        queries=_table("text/queries.tsv"),
        passages=_table("text/passages.tsv"),
        vectors=vectors,
        judgements=_bundled("text/judgements.txt").decode(),
        second=_bundled("text/second-judge.txt").decode(),
        runs={
            name: gzip.decompress(_bundled(f"text/{name}.run.gz")).decode() for name in TEXT_SYSTEMS
        },
    )


def write_text_demo(folder: Path) -> DemoFiles:
    """Write texts, vectors, the judgements of both judges, runs and a README."""
    annotators = folder / ANNOTATORS
    texts, readme = load_texts(), _bundled("text/readme.txt")
    check_place(folder, readme)
    files = DemoFiles(
        folder,
        TEXT_SYSTEMS,
        about=(folder / "queries.tsv", folder / "passages.tsv"),
        vectors=(folder / "queries.npy", folder / "passages.npy"),
        ids=(folder / "query-ids.txt", folder / "passage-ids.txt"),
        measures=TEXT_MEASURES,
        compared=TEXT_COMPARED,
        judges=(annotators / f"first{QRELS_SUFFIX}", annotators / f"second{QRELS_SUFFIX}"),
    )
    make(files.judges[0].parent)
    write_text(files.judgements, texts.judgements)
    for place, qrels in enumerate((texts.judgements, texts.second)):
        write_text(files.judges[place], qrels)
        write_text(_log_path(files.judges[place]), _log(qrels))
    for path, run in zip(files.runs, texts.runs.values(), strict=True):
        write_text(path, run)
    for place, table in enumerate((texts.queries, texts.passages)):
        rows = "".join(f"{name}\t{text}\n" for name, text in table.items())
        write_text(files.about[place], f"id\ttext\n{rows}")
        _write_vectors(files.vectors[place], texts.vectors[place])
        _write_lines(files.ids[place], table)
    write_text(files.readme, readme.decode())
    return files


def _write_vectors(path: Path, vectors: NDArray[Any]) -> None:
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.save(file, vectors)


def _write_lines(path: Path, words: Iterable[object]) -> None:
    write_text(path, "".join(f"{word}\n" for word in words))


def _bundled(name: str) -> bytes:
    return resources.files("judged").joinpath("data", name).read_bytes()


def _table(name: str) -> dict[str, str]:
    rows = _bundled(name).decode().splitlines()[1:]
    return {key: text for key, _, text in (row.partition("\t") for row in rows)}


def _log_path(qrels: Path) -> Path:
    return qrels.with_name(f"{qrels.stem}{LOG_SUFFIX}")


def _log(qrels: str) -> str:
    """Return judgements as the judging page of the explorer keeps them, without times."""
    rows = (line.split() for line in qrels.splitlines())
    return "".join(
        LogEntry("grade", query, item, int(grade)).line().decode() for query, _, item, grade in rows
    )


def make(folder: Path) -> None:
    """Make the folder if it is missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"{folder}: cannot be made a folder ({error.strerror}); name another one."
        ) from error


def check_places(folder: Path) -> None:
    """Fail before anything is written if the folder, or that of the texts, is not a demo's."""
    check_place(folder, _bundled("digits-readme.txt"))
    check_place(folder / TEXT_FOLDER, _bundled("text/readme.txt"))


def check_place(folder: Path, readme: bytes) -> None:
    """Fail if a folder holds anything and is not that of a demo, by the first line of its README.

    A demo is written over. Its subfolders may be there already.
    """
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder}: is not a folder; name another one.")
    own = folder / "README.txt"
    if own.is_file() and own.read_bytes().startswith(readme.splitlines()[0]):
        return
    for path in sorted(folder.iterdir()) if folder.exists() else ():
        if path.name != TEXT_FOLDER:
            raise OutputError(f"{path}: exists and is not part of a demo; name another folder.")
