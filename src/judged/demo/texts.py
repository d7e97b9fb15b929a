"""The demo's text search: questions and passages, the runs of three systems, and two judges.

All of it is bundled: what a model and BM25 made of the texts was made once. Vectors are whole
numbers whose products are exact on every machine, as those of the images.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from judged.demo.folder import check_place, make
from judged.errors import OutputError
from judged.judgements.annotators import FOLDER as ANNOTATORS
from judged.judgements.annotators import LOG_SUFFIX, QRELS_SUFFIX, LogEntry
from judged.outputs import replacing, write_text

FOLDER = "text"
"""The folder of the text search, inside that of the demo: another collection, with other items."""
SYSTEMS = ("bm25", "dense", "fused")
MEASURES = ("nDCG@10", "RR", "P@1", "R@10")
COMPARED = ("nDCG@10",)
JUDGES = ("first", "second")
"""The names of the judges. The first one's judgements are those of the collection."""


@dataclass(frozen=True, eq=False)
class Texts:
    """The collection as it is bundled."""

    queries: Mapping[str, str]
    """What is asked, by id."""
    passages: Mapping[str, str]
    vectors: tuple[NDArray[np.int8], NDArray[np.int8]]
    """Of the queries and of the passages, in their order."""
    judgements: str
    """TREC qrels, grades from 0 to 3."""
    second: str
    """What the second judge says of some of the queries."""
    runs: Mapping[str, str]
    """TREC runs, by system."""


@dataclass(frozen=True)
class TextFiles:
    """Where `write_text_demo` put its files, and the measures that suit them."""

    folder: Path
    judgements: Path
    judges: tuple[Path, Path]
    """What each judge said, as the judging page of the explorer keeps it."""
    runs: tuple[Path, ...]
    texts: tuple[Path, Path]
    """Of the queries and of the passages."""
    vectors: tuple[Path, Path]
    ids: tuple[Path, Path]
    readme: Path
    measures: tuple[str, ...] = MEASURES
    compared: tuple[str, ...] = COMPARED


def load_texts() -> Texts:
    """The bundled collection."""
    with (
        resources.files("judged").joinpath("data/text/vectors.npz").open("rb") as file,
        np.load(file) as arrays,
    ):
        vectors = arrays["queries"], arrays["passages"]
    return Texts(
        queries=_table("queries.tsv"),
        passages=_table("passages.tsv"),
        vectors=vectors,
        judgements=_bundled("judgements.txt").decode(),
        second=_bundled("second-judge.txt").decode(),
        runs={name: gzip.decompress(_bundled(f"{name}.run.gz")).decode() for name in SYSTEMS},
    )


def planned_text_demo(folder: Path) -> TextFiles:
    """Where `write_text_demo` would put its files; refused where something else is there."""
    annotators = folder / ANNOTATORS
    files = TextFiles(
        folder=folder,
        judgements=folder / "judgements.txt",
        judges=(
            annotators / f"{JUDGES[0]}{QRELS_SUFFIX}",
            annotators / f"{JUDGES[1]}{QRELS_SUFFIX}",
        ),
        runs=tuple(folder / f"{name}.run" for name in SYSTEMS),
        texts=(folder / "queries.tsv", folder / "passages.tsv"),
        vectors=(folder / "queries.npy", folder / "passages.npy"),
        ids=(folder / "query-ids.txt", folder / "passage-ids.txt"),
        readme=folder / "README.txt",
    )
    for place in (folder, annotators):
        if place.exists() and not place.is_dir():
            raise OutputError(f"{place}: is no folder, and a demo needs one; name another folder.")
    written = (files.judgements, *files.runs, *files.texts, *files.vectors, *files.ids)
    check_place(files.readme, _FIRST_LINE, (*written, *files.judges, *map(_log_path, files.judges)))
    return files


def write_text_demo(folder: Path) -> TextFiles:
    """Write texts, vectors, the judgements of both judges, a run per system and a README into the
    folder."""
    texts, files = load_texts(), planned_text_demo(folder)
    make(files.judges[0].parent)
    write_text(files.judgements, texts.judgements)
    for place, qrels in enumerate((texts.judgements, texts.second)):
        write_text(files.judges[place], qrels)
        write_text(_log_path(files.judges[place]), _log(qrels))
    for path, run in zip(files.runs, texts.runs.values(), strict=True):
        write_text(path, run)
    for place, table in enumerate((texts.queries, texts.passages)):
        rows = "".join(f"{name}\t{text}\n" for name, text in table.items())
        write_text(files.texts[place], f"id\ttext\n{rows}")
        with replacing(files.vectors[place]) as temporary, temporary.open("wb") as file:
            np.save(file, texts.vectors[place])
        write_text(files.ids[place], "".join(f"{name}\n" for name in table))
    write_text(files.readme, _readme(files, texts))
    return files


def _bundled(name: str) -> bytes:
    return resources.files("judged").joinpath("data/text", name).read_bytes()


def _table(name: str) -> dict[str, str]:
    rows = _bundled(name).decode().splitlines()[1:]
    return {key: text for key, _, text in (row.partition("\t") for row in rows)}


def _log_path(qrels: Path) -> Path:
    return qrels.with_name(f"{qrels.stem}{LOG_SUFFIX}")


def _log(qrels: str) -> str:
    """Judgements as the judging page of the explorer keeps them; no clock ran."""
    rows = (line.split() for line in qrels.splitlines())
    return "".join(
        LogEntry("grade", query, item, int(grade)).line().decode() for query, _, item, grade in rows
    )


_FIRST_LINE = "Text search: find the passages that answer a question."


def _readme(files: TextFiles, texts: Texts) -> str:
    runs = " ".join(path.name for path in files.runs)
    queries, passages = (path.name for path in files.texts)
    vectors, ids = (" ".join(path.name for path in pair) for pair in (files.vectors, files.ids))
    first, second = (path.relative_to(files.folder).as_posix() for path in files.judges)
    twice = len({line.split()[0] for line in texts.second.splitlines()})
    return f"""\
{_FIRST_LINE}

{len(texts.queries)} questions (q01 …) and {len(texts.passages)} passages (bread-01 …), \
written for this demo.

{queries} {passages}: what they say.
{files.judgements.name}: which passages answer which question, as TREC qrels: query, 0, item, grade.
  3 answers it, 2 answers a good part of it, 1 is useful beside an answer, 0 is not relevant.
  The first 10 passages of each of the three systems were all read.
{second}: a second, stricter reading of {twice} of the questions, by the same reader.
  {first} is {files.judgements.name} again, for the explorer's page of agreement.
Three systems, the best 100 passages each, as TREC runs: query, Q0, item, rank, score, system.
  bm25.run: words in common (stems, without common words).
  dense.run: the dot product of the vectors of all-MiniLM-L6-v2.
  fused.run: both, by reciprocal rank fusion.
{vectors}: the vectors, in whole numbers. {ids}: whose they are.

Try, in this folder:

  judged evaluate {files.judgements.name} {runs}
  judged compare {files.judgements.name} {runs} -m nDCG@10
  judged agreement {files.judgements.name} {second} {runs}
  judged explain {files.judgements.name} fused.run --query q09 -m nDCG@10
  judged fuse bm25.run dense.run --weights 1,3 -o weighted.run
  judged embeddings {vectors} --query-ids query-ids.txt --item-ids passage-ids.txt \
--qrels {files.judgements.name} --similarity dot
  judged serve .
"""
