"""Encode texts, pictures or sounds as vectors with the user's own encoder.

An encoder is a function, or an object of sentence-transformers, LangChain or LlamaIndex. These are
recognised by their methods and never imported.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.errors import InputError, OutputError, quoted
from judged.inputs.dicts import as_id, is_list
from judged.inputs.objects import method_of
from judged.inputs.texts import Of, read_texts
from judged.inputs.vectors.vectors import Vectors, array_of, check_vectors
from judged.options import choice, text, whole
from judged.text import Warned, counted, few, listed, quote

BATCH_SIZE = 64
SIDES: tuple[Of, Of] = ("queries", "items")
PATHS = (*SIDES, "both")
MAX_CACHE_DIFFERENCE = 0.02
"""Largest distance of a vector from the cached one, as a share of its length. Half precision, or
other texts in the batch, make less."""
_SINGULAR: dict[Of, str] = {"queries": "query", "items": "item"}


# Inputs


@dataclass(frozen=True, eq=False)
class EncoderInputs:
    of: Of
    contents: tuple[str, ...]  # texts, or paths of files
    ids: tuple[str, ...] | None = None
    files: bool = False
    source: str = ""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for row, path in enumerate(self.contents if self.files else ()):
            if not os.path.isfile(path):
                raise InputError(
                    f"{self.source}, {_SINGULAR[self.of]} {quote(self.name(row))}: there is no "
                    f"file {quote(path)}."
                )

    def name(self, row: int) -> str:
        return self.ids[row] if self.ids is not None else str(row)


def read_inputs(given: Any, of: Of, *, paths: bool = False) -> EncoderInputs:
    """Read texts in any form of `read_texts` or in a list, a folder of files, or paths."""
    source = f"the {of}"
    if isinstance(given, (str, PathLike)) and os.path.isdir(given):
        return _read_folder(Path(given), of)
    if hasattr(given, "to_list") and not hasattr(given, "columns"):  # a column of a table
        given = given.to_list()
    is_mapping = isinstance(given, Mapping)
    if is_list(given):
        given = given.tolist() if hasattr(given, "tolist") else list(given)
        if not given:
            raise InputError(f"{source}: there is nothing to encode; give at least one text.")
    if is_mapping or is_list(given):
        rows = list(given.values()) if is_mapping else given
        has_paths = any(isinstance(row, PathLike) for row in rows)
        if has_paths or (not is_mapping and any(isinstance(row, str) for row in rows)):
            ids = tuple(as_id(name, source) for name in given) if is_mapping else None
            contents = _check_rows(rows, source, "path" if has_paths else "text")
            return _warn_of_empty(EncoderInputs(of, contents, ids, has_paths or paths, source))
    texts = read_texts(given, of=of, strip=paths)
    source = texts.source if isinstance(given, (str, PathLike)) else source
    if paths:
        return EncoderInputs(of, tuple(texts.texts.values()), tuple(texts), True, source)
    # BEIR joins title and text with a space.
    contents = tuple(
        " ".join(filter(None, (texts.titles.get(name), texts.texts[name]))) for name in texts
    )
    both = sum(bool(texts.texts[name]) for name in texts.titles)
    joined = f"Title and text of {counted(both, _SINGULAR[of], of)} joined by a space."
    notes = (joined,) if both else ()
    return _warn_of_empty(EncoderInputs(of, contents, tuple(texts), False, source, notes))


def _warn_of_empty(inputs: EncoderInputs) -> EncoderInputs:
    empty = [inputs.name(row) for row, text in enumerate(inputs.contents) if not text.strip()]
    if not empty:
        return inputs
    owners = counted(len(empty), f"{_SINGULAR[inputs.of]} has", f"{inputs.of} have")
    warning = Warned(f"{owners} an empty text ({few(empty)}), which was encoded as it is.")
    return replace(inputs, notes=(*inputs.notes, warning))


def _read_folder(folder: Path, of: Of) -> EncoderInputs:
    """List the files of a folder and of those below it; their relative paths are their ids."""
    below = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    names = sorted(
        path.as_posix() for path in below if not any(part.startswith(".") for part in path.parts)
    )
    if not names:
        raise InputError(f"{folder}: the folder is empty.")
    contents = tuple(str(folder / name) for name in names)
    return EncoderInputs(of, contents, tuple(names), True, str(folder))


def _check_rows(rows: Collection[Any], source: str, kind: str) -> tuple[str, ...]:
    types, hint = ((str, PathLike), "") if kind == "path" else (str, "texts only, or {id: text}")
    for number, row in enumerate(rows, 1):
        if not isinstance(row, types) or not isinstance(fspath(row), str):
            hint = f"; give {hint}" if hint else ""
            raise InputError(
                f"{source}, row {number}: {quoted(row)} is not a {kind}, but other rows are{hint}."
            )
    return tuple(map(fspath, rows))


# Encoders

ENCODER_METHODS: dict[str, dict[Of, tuple[str, ...]]] = {
    "encode": {  # sentence-transformers
        "queries": ("encode_query", "encode"),
        "items": ("encode_document", "encode"),
    },
    "embed_documents": {  # LangChain
        "queries": ("embed_query", "embed_documents"),
        "items": ("embed_documents",),
    },
    "get_text_embedding_batch": {  # LlamaIndex
        "queries": ("get_query_embedding", "get_text_embedding_batch"),
        "items": ("get_text_embedding_batch",),
    },
}
"""By the method that identifies a library: the methods for each side, of which the first is used
that the object has."""
ONE_TEXT_METHODS = ("embed_query", "get_query_embedding")
_MODEL_ATTRIBUTES = (
    *("model_name", "model", "model_id", "deployment_name", "deployment", "name_or_path"),
    "_name_or_path",
)


@dataclass(frozen=True, eq=False)
class Encoder:
    given: Any
    call: Callable[[list[str]], Any]
    method: str  # the method that is called; empty if the encoder itself is
    name: str
    lasts: bool = True  # whether the name means the same encoder in the next program
    prompt: str | None = None  # the prompt that the encoder itself puts before each text
    prefix: str = ""  # the prompt put before each text before the encoder gets it

    @property
    def description(self) -> str:
        by = self.name + (f" ({self.method})" if self.method else "")
        prompt = self.prompt if self.prompt is not None else self.prefix
        return by + (f" with the prompt {prompt!r}" if prompt else "")

    def is_same(self, other: Encoder) -> bool:
        one, two = self.given, other.given
        same = one is two or (isinstance(one, MethodType) and bool(one == two))
        return same and (self.method, self.prompt) == (other.method, other.prompt)

    def cache_in(self, root: Path, side: str) -> VectorCache:
        if not self.lasts:
            raise InputError(
                f"cache: {self.name} has no name to keep its vectors under; give encoder_name "
                "(--encoder-name), such as the model and its version."
            )
        return VectorCache(root, self.name, self.method, self.prompt, side)

    def encode(self, contents: list[str], place: str) -> NDArray[Any]:
        """Return a copy of the encoder's matrix of finite numbers, one row for each input."""
        try:
            vectors = self.call(contents)
            if isinstance(vectors, Iterator):
                vectors = list(vectors)
        except Exception as error:
            message = " ".join(str(error).split())
            reason = type(error).__name__ + (f": {quote(message, 200)[1:-1]}" if message else "")
            full = "out of memory" in message.lower()
            hint = " Use a smaller batch_size (--batch-size)." if full else ""
            raise InputError(
                f"{place}: the encoder {self.name} failed ({reason}).{hint}"
            ) from error
        array = np.asarray(array_of(vectors, place))
        if array.ndim == 2 and len(array) != len(contents):
            raise InputError(
                f"{place}: the encoder returned {counted(len(array), 'vector')} for "
                f"{counted(len(contents), 'input')}; it must return one for each."
            )
        check_vectors(Vectors(array, source=place))
        if array.dtype.kind == "f" and array.dtype.itemsize > 8:
            return array.astype(np.float64)  # not every machine has longer ones
        return array.astype(array.dtype if array.dtype.kind in "biuf" else np.float32)


def as_encoder(
    given: Any, of: Of, *, prompt: str | None = None, name: str | None = None
) -> Encoder:
    family = method_of(given, "encoder", ((method,) for method in ENCODER_METHODS))
    if isinstance(given, (str, bytes)) or not (family or callable(given)):
        known = listed([f".{method}" for method in ENCODER_METHODS], "or")
        raise InputError(
            "an encoder is a function that takes a list of texts or paths, or an object with "
            f"{known}; got {quoted(given)}."
        )
    label, lasts = (name, True) if name is not None else _name_of(given)
    if family is None:
        return Encoder(given, given, "", label, lasts, prefix=prompt or "")
    methods = ENCODER_METHODS[family][of]
    method = next(method for method in methods if callable(getattr(given, method, None)))
    function = getattr(given, method)
    if prompt is not None and isinstance(getattr(given, "prompts", None), Mapping):
        # sentence-transformers has prompts of its own, which this one replaces.
        prompted = partial(function, prompt=prompt)
        return Encoder(given, prompted, method, label, lasts, prompt=prompt)
    one = method in ONE_TEXT_METHODS
    call = (lambda texts: list(map(function, texts))) if one else function
    return Encoder(given, call, method, label, lasts, prefix=prompt or "")


def _name_of(encoder: Any) -> tuple[str, bool]:
    """Return a name for people, and whether it means the same encoder in the next program."""
    while isinstance(encoder, (partial, MethodType)):
        encoder = encoder.func if isinstance(encoder, partial) else encoder.__self__
    named = encoder if hasattr(encoder, "__qualname__") else type(encoder)
    name = named.__qualname__
    if "<lambda>" in name:
        return "a lambda", False
    if "<locals>" in name:
        return name.rpartition("<locals>.")[2], False
    model = None if isinstance(encoder, FunctionType) else _model_name(encoder)
    if model is not None:
        parts = model.replace(os.sep, "/").rstrip("/").split("/")
        return f"{name} {'/'.join(parts[-2:])}", True
    module = getattr(named, "__module__", None)
    return (name if module in (None, "__main__", "builtins") else f"{module}:{name}"), True


def _model_name(encoder: Any) -> str | None:
    holders = [encoder, getattr(encoder, "model_card_data", None)]
    with suppress(Exception):  # the first module of a sentence-transformers model
        holders.append(encoder[0].auto_model.config)
    names = (
        getattr(holder, attribute, None) for holder in holders for attribute in _MODEL_ATTRIBUTES
    )
    return next((name for name in names if isinstance(name, str) and name), None)


# Cached vectors: each encoder has a folder, named by a hash, that only its owner can read, with an
# SQLite file of the hash of each text or file, and its vector with a hash against damage.

VECTORS_FILE = "vectors.sqlite"
_COLUMNS = "key BLOB PRIMARY KEY, type TEXT, hash BLOB, data BLOB"


def _hash(*parts: bytes) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.digest()


def text_key(text: str) -> bytes:
    return _hash(b"text", text.encode("utf-8", "surrogatepass"))


def file_key(path: str) -> bytes:
    """Return the key of a file's vector, which depends on its bytes and not on its name."""
    try:
        with open(path, "rb") as handle:
            return _hash(b"file", hashlib.file_digest(handle, hashlib.sha256).digest())
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}).") from None


class VectorCache:
    def __init__(self, root: Path, *identity: str | None) -> None:
        """Open the folder of the encoder with this name, method, prompt and side."""
        self.root = root
        self.folder = root / _hash(repr(list(identity)).encode("utf-8", "surrogatepass")).hex()
        try:
            root.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.folder.mkdir(mode=0o700, exist_ok=True)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise OutputError(f"{root}: cannot be used as a cache ({reason}).") from None

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        path = self.folder / VECTORS_FILE
        try:
            with closing(sqlite3.connect(path, timeout=60)) as connection, connection:
                connection.execute(f"CREATE TABLE IF NOT EXISTS vectors ({_COLUMNS})")
                yield connection
        except sqlite3.Error as error:
            raise OutputError(
                f"{path}: cannot be used as a cache ({error}). Delete it, or leave out the cache."
            ) from None

    def read(self, keys: Collection[bytes]) -> dict[bytes, NDArray[Any]]:
        vectors: dict[bytes, NDArray[Any]] = {}
        with self._connected() as connection:
            for key in keys:
                row = connection.execute("SELECT * FROM vectors WHERE key = ?", (key,)).fetchone()
                if row is not None and row[2] == _hash(key, row[1].encode(), row[3]):
                    vectors[key] = np.frombuffer(row[3], row[1])
        dims = {len(vector) for vector in vectors.values()}
        if len(dims) > 1:
            raise InputError(
                f"{self.folder}: holds vectors of {min(dims)} and of {max(dims)} dimensions, from "
                "different encoders with the same name. Delete this folder, or give each encoder "
                "its own encoder_name (--encoder-name)."
            )
        return vectors

    def add(self, keys: Sequence[bytes], vectors: NDArray[Any]) -> None:
        dtype = vectors.dtype.newbyteorder("<")
        data = [row.tobytes() for row in vectors.astype(dtype, copy=False)]
        rows = (
            (key, dtype.str, _hash(key, dtype.str.encode(), row), row)
            for key, row in zip(keys, data, strict=True)
        )
        with self._connected() as connection:
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows)


# Encoding both sides


@dataclass(eq=False)
class EncodingSide:
    """The queries or items; sides with the same encoder share `vectors`."""

    inputs: EncoderInputs
    encoder: Encoder
    cache: VectorCache | None
    vectors: dict[bytes, NDArray[Any]]
    rows: list[int] = field(default_factory=list)  # what to encode; equal inputs only once
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        # Files are read only for a cache.
        is_hashed = self.inputs.files and self.cache is not None
        self.keys = tuple(map(file_key if is_hashed else text_key, self.inputs.contents))

    def encode(
        self, rows: Sequence[int], number: int = 1, batches: int = 1, dims: int | None = None
    ) -> NDArray[Any]:
        """Return the vectors of some rows, which must be finite and of this many dimensions."""
        names = [quote(self.inputs.name(row), 30) for row in rows]
        ends = names[0] if len(rows) == 1 else f"{names[0]} to {names[-1]}"
        place = f"{self.inputs.source}, batch {number} of {batches} ({ends})"
        vectors = self.encoder.encode([self.inputs.contents[row] for row in rows], place)
        if dims is not None and vectors.shape[1] != dims:
            raise InputError(
                f"{place}: the encoder returned vectors of {vectors.shape[1]} dimensions, but of "
                f"{dims} before."
            )
        bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        if len(bad):
            raise InputError(
                f"{place}: the encoder returned NaN or infinite numbers in "
                f"{counted(len(bad), 'vector')}, first for {names[int(bad[0])]}."
            )
        return vectors

    def encode_batches(self, size: int) -> Iterator[int]:
        """Encode and cache the missing vectors; yield the size of each batch."""
        batches = -(-len(self.rows) // size)
        for number in range(batches):
            rows = self.rows[number * size : (number + 1) * size]
            dims = len(next(iter(self.vectors.values()))) if self.vectors else None
            vectors = self.encode(rows, number + 1, batches, dims)
            keys = [self.keys[row] for row in rows]
            if self.cache is not None:
                self.cache.add(keys, vectors)
            self.vectors.update(zip(keys, vectors, strict=True))
            yield len(rows)

    def check_cache(self, row: int) -> None:
        """Encode a cached input again: an encoder may have changed under its name."""
        assert self.cache is not None
        before = self.vectors[self.keys[row]].astype(np.float64)
        now = self.encode([row])[0].astype(np.float64)
        difference = f"{len(now)} dimensions instead of {len(before)}"
        if now.shape == before.shape:
            length = max(float(np.linalg.norm(before)), float(np.linalg.norm(now)))
            distance = float(np.linalg.norm(now - before))
            if distance <= MAX_CACHE_DIFFERENCE * length:
                return
            difference = f"a difference of {distance / length:.0%} of its length"
        raise InputError(
            f"{self.inputs.source}, {self.inputs.name(row)!r}: the encoder {self.encoder.name} "
            f"does not return the cached vector ({difference}). It has changed, or is random. "
            f"Delete {self.cache.folder}, give another encoder_name (--encoder-name), or "
            "leave out the cache (--cache)."
        )

    def as_vectors(self) -> Vectors:
        return Vectors(
            np.stack([self.vectors[key] for key in self.keys]),
            self.inputs.ids,
            self.inputs.source,
            notes=(*self.inputs.notes, *self.notes),
            made_by=self.encoder.description,
        )


class EncodingTask:
    """Queries and items to encode, after all checks that need no encoding."""

    def __init__(
        self,
        queries: Any,
        items: Any,
        encoder: Any,
        *,
        encoder_name: str | None = None,
        prompts: Sequence[str | None] = (None, None),
        paths: str | None = None,
        batch_size: int = BATCH_SIZE,
        cache: str | PathLike[str] | None = None,
    ) -> None:
        """Read both sides and their cached vectors; see `Embeddings.encode`."""
        self.batch_size = whole("batch_size", batch_size, at_most=1_000_000)
        if paths is not None:
            choice("paths", paths, PATHS)
        if encoder_name is not None and not text("encoder_name", encoder_name).strip():
            raise InputError("encoder_name is empty; give a name, or leave it out.")
        pair = encoder if isinstance(encoder, (tuple, list)) else (encoder, encoder)
        if len(pair) != 2:
            raise InputError("encoder must be one encoder, or a pair: of queries and of items.")
        if isinstance(prompts, str) or len(prompts) != 2:
            raise InputError("prompts must be a pair: the one of queries and the one of items.")
        encoders, sources = [], []
        for of, tower, prompt, given in zip(SIDES, pair, prompts, (queries, items), strict=True):
            if prompt is not None:
                text("prompts", prompt)
            one = as_encoder(tower, of, prompt=prompt, name=encoder_name)
            inputs = read_inputs(given, of, paths=paths in (of, "both"))
            if prompt and inputs.files:
                raise InputError(f"{inputs.source}: files take no prompt; leave it out.")
            if one.prefix:
                contents = tuple(one.prefix + content for content in inputs.contents)
                inputs = replace(inputs, contents=contents)
            encoders.append(one)
            sources.append(inputs)
        if cache is not None and (not isinstance(cache, (str, PathLike)) or not fspath(cache)):
            raise InputError(f"cache must be a folder; got {quoted(cache)}.")
        root = None if cache is None else Path(cache).expanduser()
        first, second = encoders
        shared: dict[bytes, NDArray[Any]] | None = {} if first.is_same(second) else None
        two_towers = first.given is not second.given and first.name == second.name
        self.sides = [
            EncodingSide(
                inputs,
                one,
                None
                if root is None
                else one.cache_in(root, inputs.of if shared is None and two_towers else ""),
                {} if shared is None else shared,
            )
            for inputs, one in zip(sources, encoders, strict=True)
        ]
        groups = [[side] for side in self.sides] if shared is None else [self.sides]
        self.cached = [cached for group in groups for cached in _read_cache(group)[:1]]

    @property
    def todo(self) -> int:
        return sum(len(side.rows) for side in self.sides)

    @property
    def unit(self) -> str:
        units = ("files" if side.inputs.files else "texts" for side in self.sides)
        return " and ".join(dict.fromkeys(units))

    def run(self, progress: Callable[[int], None] | None = None) -> tuple[Vectors, Vectors]:
        for side, row in self.cached:
            side.check_cache(row)
        for side in self.sides:
            for count in side.encode_batches(self.batch_size):
                if progress is not None:
                    progress(count)
        queries, items = (side.as_vectors() for side in self.sides)
        return queries, items


def _read_cache(group: Sequence[EncodingSide]) -> list[tuple[EncodingSide, int]]:
    """Read cached vectors of sides with one encoder; return their rows, and set what is missing."""
    cache, vectors, name = group[0].cache, group[0].vectors, group[0].encoder.name
    wanted = {key for side in group for key in side.keys}
    if cache is not None:
        vectors.update(cache.read(wanted))
        root, notes = cache.root, []
        if vectors:
            notes.append(
                f"{len(vectors):,} of {counted(len(wanted), 'vector')} by {name} were read from "
                f"{root}. One was encoded again and is the same."
            )
        if len(vectors) < len(wanted):
            notes.append(f"Vectors by {name} are in {root}.")
        for side in group:
            side.notes += notes
    cached, seen = [], set(vectors)
    for side in group:
        for row, key in enumerate(side.keys):
            if key in vectors:
                cached.append((side, row))
            elif key not in seen:
                seen.add(key)
                side.rows.append(row)
    return cached
