"""Rankings files: one Parquet file instead of judgements and one or more runs.

The file has one row for each run, and a list in each column: arrays of `Rankings` differ in length.
Name, policy and audit are JSON among its metadata, with the version of the format and a checksum.
Reading a file never runs code from it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from judged.errors import InputError, quoted
from judged.inputs.formats import RANKINGS_EXTENSION, named_file
from judged.inputs.order import OrderOnly
from judged.options import Ties, Unjudged
from judged.rankings.audit import COUNTS, Findings, findings_of
from judged.rankings.rankings import Rankings, Subtopics, Weights
from judged.statistics.samples import ExactSum
from judged.text import Warned, counted, few

if TYPE_CHECKING:
    import polars as pl

FORMAT_VERSION = 2
"""The newest version; a file of one run is of version 1, which older versions of judged read."""
KEY = "judged rankings"  # the metadata key that tells a rankings file from other Parquet files
ARRAYS = {
    "retrieved": np.int64,
    "missing": np.bool_,
    "hit_query": np.int64,
    "hit_rank": np.int64,
    "hit_grade": np.float64,
    "hit_tie_first": np.int64,
    "hit_tie_last": np.int64,
    "hit_item": np.int64,
    "pool_query": np.int64,
    "pool_grade": np.float64,
    "collection": np.int64,
    "best_score": np.float64,
}
"""The arrays of `Rankings` and their types; some may be absent."""
SUBTOPICS = {"query": np.int64, "item": np.int64, "subtopic": np.int64, "grade": np.float64}
NOTE_KINDS = {"warning": Warned, "order": OrderOnly, "note": str}


def to_bytes(*rankings: Rankings) -> bytes:
    """Return the rankings of one or more runs as the bytes of a rankings file."""
    import polars as pl

    frames = []
    for r in rankings:
        columns = [pl.Series("queries", r.queries, dtype=pl.String).implode()]
        columns += [pl.Series(name, values).implode() for name, values in _arrays_of(r).items()]
        frames.append(pl.DataFrame(columns))
    known = [_about(r) for r in rankings]
    several = {"version": FORMAT_VERSION, "runs": known}
    about = json.dumps(several if len(known) > 1 else known[0], ensure_ascii=False, sort_keys=True)
    metadata = {KEY: about, "checksum": _checksum(rankings, about)}
    buffer = BytesIO()
    frame = pl.concat(frames, how="diagonal")
    frame.write_parquet(buffer, compression="zstd", metadata=metadata)
    return buffer.getvalue()


def read_rankings(path: str | os.PathLike[str]) -> Rankings:
    """Read a file that `Rankings.save` wrote.

    Parameters
    ----------
    path : str or os.PathLike
        The file.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "mine.rankings"
    >>> Rankings.from_relevance([[0, 1]]).save(path)
    >>> read_rankings(path).hit_rank.tolist()
    [1, 2]
    """
    runs = _read_runs(path)
    if len(runs) > 1:
        raise InputError(
            f"{os.fspath(path)}: the file holds {len(runs)} runs ({few([r.name for r in runs])}), "
            "and one is needed here; save one of them alone, by evaluation.rankings[name].save."
        )
    return runs[0]


def _read_runs(path: str | os.PathLike[str]) -> list[Rankings]:
    import polars as pl

    if not isinstance(path, (str, os.PathLike)) or not isinstance(os.fspath(path), str):
        raise InputError(f"a rankings file is named by a text or a path; got {quoted(path)}.")
    name = os.fspath(path)
    try:
        metadata = pl.read_parquet_metadata(name)
        about = metadata.get(KEY)
        if about is None:
            raise InputError(
                f"{name}: this is a Parquet file, but not a rankings file; write one with -o "
                "NAME.rankings, or Rankings.save."
            )
        known = json.loads(about)
        if known["version"] > FORMAT_VERSION:
            raise InputError(
                f"{name}: the format version is {known['version']}, and this version of judged "
                f"reads up to {FORMAT_VERSION}. Update judged, or write the file again."
            )
        frame = pl.read_parquet(name)
        runs = [
            _from_columns(run, frame[row : row + 1])
            for row, run in enumerate(known.get("runs", [known]))
        ]
        if metadata.get("checksum") != _checksum(runs, about):
            raise InputError(f"{name}: the file is damaged (its checksum differs); write it again.")
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"{name}: the file does not exist.") from None
    except (OSError, pl.exceptions.PolarsError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{name}: cannot be read as a rankings file ({type(error).__name__}); it may be "
            "damaged. Write it again."
        ) from None
    return runs


def read_several(paths: Sequence[str | os.PathLike[str]]) -> list[Rankings]:
    """Read rankings files, FILE or NAME=FILE, of several runs of the same queries."""
    named: list[tuple[str | None, str]] = []
    rankings: list[Rankings] = []
    for path in paths:
        name, file = named_file(os.fspath(path))
        runs = _read_runs(file) if name is None else [replace(read_rankings(file), name=name)]
        named += [(name, file)] * len(runs)
        rankings += runs
    names = [r.name for r in rankings]
    if len(set(names)) < len(names):
        names = [
            name or os.path.basename(path).removesuffix(RANKINGS_EXTENSION) for name, path in named
        ]
        rankings = [replace(r, name=name) for r, name in zip(rankings, names, strict=True)]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(
            f"two rankings files are called {quoted(twice)}; give one another name (NAME=FILE)."
        )
    return align(rankings, [path for _, path in named])


def align(rankings: Sequence[Rankings], sources: Sequence[str]) -> list[Rankings]:
    """Return rankings of the same judgements with their queries in the order of the first."""
    first = rankings[0]
    for source, other in zip(sources[1:], rankings[1:], strict=True):
        check_same_judgements(first, other, sources[0], source)
    places = [{query: place for place, query in enumerate(r.queries)} for r in rankings]
    return [
        r if r.queries == first.queries else r.take([known[query] for query in first.queries])
        for r, known in zip(rankings, places, strict=True)
    ]


def check_same_judgements(first: Rankings, other: Rankings, one: str, two: str) -> None:
    """Raise an error that names a difference of judgements or policy."""
    apart = sorted(set(first.queries) ^ set(other.queries))
    if apart:
        side = one if apart[0] in first.queries else two
        raise InputError(
            f"{one} and {two} have different queries: "
            f"{counted(len(apart), 'query is', 'queries are')} in one of them only ({few(apart)}; "
            f"{apart[0]!r} is in {side}). Evaluate both runs with the same judgements."
        )
    for name in ("ties", "unjudged", "depth", "complete"):
        ours, theirs = getattr(first, name), getattr(other, name)
        if ours != theirs:
            raise InputError(
                f"{one} has {name}={ours} and {two} has {name}={theirs}; make both rankings files "
                "under the same policy."
            )
    ours, theirs = (
        np.empty(0) if r.weights is None else r.weights.values[np.argsort(r.queries)]
        for r in (first, other)
    )
    if not np.array_equal(ours, theirs):
        raise InputError(
            f"{one} and {two} have different weights of queries, or only one has any; make both "
            "rankings files with the same weights."
        )
    whole, rest = ((r.whole or r).take(np.argsort(r.queries)) for r in (first, other))
    sizes = [np.bincount(r.pool_query, minlength=len(r)) for r in (whole, rest)]
    if (sizes[0] != sizes[1]).any():
        query = int(np.flatnonzero(sizes[0] != sizes[1])[0])
        raise InputError(
            f"{one} and {two} are of different judgements: query {whole.queries[query]!r} has "
            f"{sizes[0][query]:,} judged items in one and {sizes[1][query]:,} in the other."
        )
    unequal = np.flatnonzero(whole.pool_grade != rest.pool_grade)
    if len(unequal):
        query = int(whole.pool_query[unequal[0]])
        raise InputError(
            f"{one} and {two} are of different judgements: query {whole.queries[query]!r} has "
            "other grades in one than in the other."
        )


def _arrays_of(rankings: Rankings) -> dict[str, NDArray[Any]]:
    values = {name: getattr(rankings, name) for name in ARRAYS}
    if rankings.weights is not None:
        values["weights"] = rankings.weights.values
    if rankings.subtopics is not None:
        values |= {f"subtopics.{name}": getattr(rankings.subtopics, name) for name in SUBTOPICS}
    if rankings.whole is not None:
        names = [name for name in ARRAYS if name != "best_score"]  # the same in both
        values |= {f"whole.{name}": getattr(rankings.whole, name) for name in names}
    return {
        name: np.ascontiguousarray(array, _kind_of(name))
        for name, array in values.items()
        if array is not None
    }


def _about(rankings: Rankings) -> dict[str, Any]:
    """Return everything that is not an array, as values of JSON."""
    from judged import __version__

    findings = findings_of(rankings)
    shares = findings.judged_at_10
    doubts = [text for doubt in findings.doubts for text in doubt.sentences()]
    return {
        "version": 1,
        "judged": __version__,
        "name": rankings.name,
        "policy": {"ties": rankings.ties, "unjudged": rankings.unjudged, "depth": rankings.depth},
        "complete": rankings.complete,
        "basis": list(rankings.basis),
        "weights": None if rankings.weights is None else rankings.weights.source,
        "audit": {
            **{name: getattr(findings, name) for name in COUNTS},
            "missing_queries": list(findings.missing_queries),
            "judged_at_10": [str(shares.steps), shares.beyond, shares.count],
            "notes": [_note_to_json(note) for note in dict.fromkeys((*doubts, *findings.notes))],
            "closing": [_note_to_json(note) for note in findings.closing],
        },
    }


def _note_to_json(note: str) -> list[str]:
    kind = next(name for name, type_ in NOTE_KINDS.items() if isinstance(note, type_))
    return [kind, str(note)]


def _from_columns(known: Mapping[str, Any], frame: pl.DataFrame) -> Rankings:
    policy, audit = known["policy"], known["audit"]
    frame = frame[[column.name for column in frame if not column.null_count()]]
    if policy["ties"] not in get_args(Ties) or policy["unjudged"] not in get_args(Unjudged):
        raise ValueError("policy")
    arrays = {
        name: frame[name].explode(empty_as_null=False).to_numpy()
        if frame[name].list.len()[0]
        else np.zeros(0, _kind_of(name))
        for name in frame.columns
        if name != "queries"
    }
    queries = tuple(frame["queries"][0].to_list())
    about: dict[str, Any] = {
        "name": str(known["name"]),
        "ties": policy["ties"],
        "unjudged": policy["unjudged"],
        "depth": policy["depth"],
        "complete": bool(known["complete"]),
        "basis": tuple(map(str, known["basis"])),
    }
    weights = None
    if known["weights"] is not None:
        weights = Weights(arrays["weights"], str(known["weights"]))
    subtopics = None
    if "subtopics.query" in arrays:
        subtopics = Subtopics(*(arrays[f"subtopics.{name}"] for name in SUBTOPICS))
    shared = {"queries": queries, "weights": weights, "subtopics": subtopics}
    whole = None
    if "whole.retrieved" in arrays:
        uncut = {name: arrays.get(f"whole.{name}") for name in ARRAYS}
        uncut["best_score"] = arrays.get("best_score")
        before = {**about, "unjudged": "nonrelevant", "depth": None}
        whole = Rankings(**shared, **uncut, **before)  # type: ignore[arg-type]
    shares = audit["judged_at_10"]
    findings = Findings(
        **{name: audit[name] for name in COUNTS},
        missing_queries=tuple(audit["missing_queries"]),
        judged_at_10=ExactSum(int(shares[0]), float(shares[1]), int(shares[2])),
        notes=tuple(NOTE_KINDS[kind](text) for kind, text in audit["notes"]),
        closing=tuple(NOTE_KINDS[kind](text) for kind, text in audit["closing"]),
    )
    columns = {name: arrays.get(name) for name in ARRAYS}
    return Rankings(**shared, **columns, **about, whole=whole, findings=findings)  # type: ignore[arg-type]


def _kind_of(name: str) -> Any:
    name = name.removeprefix("whole.")
    if name.startswith("subtopics."):
        return SUBTOPICS[name.removeprefix("subtopics.")]
    return ARRAYS.get(name, np.float64)


def _checksum(rankings: Sequence[Rankings], about: str) -> str:
    digest = hashlib.sha256(about.encode())
    for r in rankings:
        arrays = _arrays_of(r)
        digest.update(json.dumps(list(r.queries)).encode())
        for name in sorted(arrays):
            digest.update(f"{name} {arrays[name].dtype.str} {len(arrays[name])}".encode())
            digest.update(arrays[name].data)
    return digest.hexdigest()
