"""Encode texts, pictures or sounds as vectors with the user's own encoder.

An encoder is a function, or an object of sentence-transformers, LangChain or LlamaIndex. These are
recognised by their methods and never imported.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import isasyncgen, isawaitable, isclass, iscoroutine, iscoroutinefunction, signature
from os import PathLike, fspath
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judged.errors import InputError, OutputError, quoted
from judged.inputs.dicts import as_id, is_list
from judged.inputs.texts import Of, Texts, read_texts
from judged.inputs.vectors.vectors import Vectors, array_of, check_vectors
from judged.options import choice, text, whole
from judged.outputs import replacing
from judged.text import Warned, counted, few, listed, quote, to_json

BATCH_SIZE = 64
SIDES: tuple[Of, Of] = ("queries", "items")
PATHS = (*SIDES, "both")
MAX_CACHE_DIFFERENCE = 0.02
"""Largest distance of a vector from the cached one, as a share of its length. Half precision, or
other texts in the batch, make less."""
_SINGULAR: dict[Of, str] = {"queries": "query", "items": "item"}
_MODEL_ATTRIBUTES = (
    *("model_name", "model", "model_id", "deployment_name", "deployment", "name_or_path"),
    "_name_or_path",
)


# What is encoded


@dataclass(frozen=True, eq=False)
class EncoderInputs:
    of: Of
    contents: tuple[str, ...]  # texts, or paths of files
    ids: tuple[str, ...] | None = None
    files: bool = False
    source: str = ""
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.contents)

    def name(self, row: int) -> str:
        return self.ids[row] if self.ids is not None else str(row)

    @property
    def unit(self) -> tuple[str, str]:
        return ("file", "files") if self.files else ("text", "texts")


def read_inputs(given: Any, of: Of, *, paths: bool = False) -> EncoderInputs:
    """Read texts in any form of `read_texts` or in a list, a folder of files, or paths."""
    source = f"the {of}"
    if isinstance(given, (str, PathLike)) and os.path.isdir(given):
        return _read_folder(Path(given), of)
    if isinstance(given, Mapping) and any(isinstance(value, PathLike) for value in given.values()):
        ids = tuple(as_id(name, source) for name in given)
        return _file_inputs(_paths(given.values(), source), ids, of, source)
    if hasattr(given, "to_list") and not hasattr(given, "columns"):  # a column of a table
        given = given.to_list()
    if is_list(given):
        rows = given.tolist() if hasattr(given, "tolist") else list(given)
        if not rows:
            raise InputError(f"{source}: there is nothing to encode; give at least one text.")
        if any(isinstance(row, PathLike) for row in rows):
            return _file_inputs(_paths(rows, source), None, of, source)
        if any(isinstance(row, str) for row in rows):
            return _list_inputs(rows, of, source, paths=paths)
        given = rows
    texts = read_texts(given, of=of, strip=paths)
    source = texts.source if isinstance(given, (str, PathLike)) else source
    return _text_inputs(texts, of, source, paths=paths)


def _list_inputs(rows: list[Any], of: Of, source: str, *, paths: bool) -> EncoderInputs:
    for number, row in enumerate(rows, 1):
        if not isinstance(row, str):
            raise InputError(
                f"{source}, row {number}: {quoted(row)} is not a text, but other rows are; give "
                "texts only, or {id: text}."
            )
    if paths:
        return _file_inputs(rows, None, of, source)
    return _warn_of_empty_texts(EncoderInputs(of, tuple(rows), source=source))


def _text_inputs(texts: Texts, of: Of, source: str, *, paths: bool) -> EncoderInputs:
    ids = tuple(texts)
    if paths:
        return _file_inputs([texts.texts[name] for name in ids], ids, of, source)
    # BEIR joins title and text with a space.
    contents = tuple(
        " ".join(filter(None, (texts.titles.get(name), texts.texts[name]))) for name in ids
    )
    both = sum(bool(texts.texts[name]) for name in texts.titles)
    joined = f"Title and text of {counted(both, _SINGULAR[of], of)} joined by a space."
    notes = (joined,) if both else ()
    return _warn_of_empty_texts(EncoderInputs(of, contents, ids, source=source, notes=notes))


def _warn_of_empty_texts(inputs: EncoderInputs) -> EncoderInputs:
    empty = [inputs.name(row) for row, content in enumerate(inputs.contents) if not content.strip()]
    if not empty:
        return inputs
    some = counted(len(empty), f"{_SINGULAR[inputs.of]} has", f"{inputs.of} have")
    warning = Warned(f"{some} an empty text ({few(empty)}), which was encoded as it is.")
    return replace(inputs, notes=(*inputs.notes, warning))


def _read_folder(folder: Path, of: Of) -> EncoderInputs:
    """List the files of a folder and of those below it; their relative paths are their ids."""
    names = sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    if not names:
        raise InputError(f"{folder}: the folder is empty.")
    contents = tuple(str(folder / name) for name in names)
    return EncoderInputs(of, contents, tuple(names), True, str(folder))


def _paths(given: Iterable[Any], source: str) -> list[str]:
    paths = []
    for number, path in enumerate(given, 1):
        if not isinstance(path, (str, PathLike)) or not isinstance(fspath(path), str):
            raise InputError(
                f"{source}, row {number}: {quoted(path)} is not a path, but other rows are."
            )
        paths.append(fspath(path))
    return paths


def _file_inputs(
    paths: list[str], ids: tuple[str, ...] | None, of: Of, source: str
) -> EncoderInputs:
    inputs = EncoderInputs(of, tuple(paths), ids, True, source)
    for row, path in enumerate(paths):
        if not os.path.isfile(path):
            raise InputError(
                f"{source}, {_SINGULAR[of]} {quote(inputs.name(row))}: there is no file "
                f"{quote(path)}."
            )
    return inputs


# Encoders


class EncoderMethod(NamedTuple):
    name: str
    takes_one_text: bool = False


ENCODER_FAMILIES: dict[str, dict[Of, tuple[EncoderMethod, ...]]] = {
    "encode": {  # sentence-transformers
        "queries": (EncoderMethod("encode_query"), EncoderMethod("encode")),
        "items": (EncoderMethod("encode_document"), EncoderMethod("encode")),
    },
    "embed_documents": {  # LangChain
        "queries": (EncoderMethod("embed_query", True), EncoderMethod("embed_documents")),
        "items": (EncoderMethod("embed_documents"),),
    },
    "get_text_embedding_batch": {  # LlamaIndex
        "queries": (
            EncoderMethod("get_query_embedding", True),
            EncoderMethod("get_text_embedding_batch"),
        ),
        "items": (EncoderMethod("get_text_embedding_batch"),),
    },
}
"""By the method that identifies a library: the methods for each side, of which the first is used
that the object has."""


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


def as_encoder(
    given: Any, of: Of, *, prompt: str | None = None, name: str | None = None
) -> Encoder:
    if isclass(given):
        raise InputError(
            f"the encoder is the class {given.__name__}; give an object of it, or a function."
        )
    families = [method for method in ENCODER_FAMILIES if _has(given, method)]
    if isinstance(given, (str, bytes)) or not (families or callable(given)):
        known = listed([f".{method}" for method in ENCODER_FAMILIES], "or")
        raise InputError(
            "an encoder is a function that takes a list of texts or paths, or an object with "
            f"{known}; got {quoted(given)}."
        )
    if len(families) > 1:
        raise InputError(
            f"the encoder has the methods {listed(families)}; give the one to call, such as "
            f"encoder.{families[0]}."
        )
    label, lasts = (name, True) if name is not None else _name_of(given)
    if not families:
        _check_call(given)
        return Encoder(given, given, "", label, lasts, prefix=prompt or "")
    methods = ENCODER_FAMILIES[families[0]][of]
    method = next(method for method in methods if _has(given, method.name))
    function = getattr(given, method.name)
    _check_call(function, f".{method.name} of ")
    if prompt is not None and isinstance(getattr(given, "prompts", None), Mapping):
        # sentence-transformers has prompts of its own, which this one replaces.
        prompted = partial(function, prompt=prompt)
        return Encoder(given, prompted, method.name, label, lasts, prompt=prompt)
    call = (lambda texts: list(map(function, texts))) if method.takes_one_text else function
    return Encoder(given, call, method.name, label, lasts, prefix=prompt or "")


def _has(given: Any, name: str) -> bool:
    return callable(getattr(given, name, None))


def _check_call(function: Any, what: str = "") -> None:
    called = getattr(function, "__call__", None)  # noqa: B004
    if iscoroutinefunction(function) or iscoroutinefunction(called):
        raise InputError(
            f"{what}the encoder is asynchronous; give a function that returns the vectors."
        )
    try:
        takes = signature(function)
    except (TypeError, ValueError):  # built in
        return
    try:
        takes.bind([])
    except TypeError:
        if not takes.parameters:
            raise InputError(
                f"{what}the encoder takes no argument, but is called with a list of texts. If it "
                "creates the encoder, give its result: encoder = make()."
            ) from None
        raise InputError(
            f"{what}the encoder takes {takes}, but is called with one list of texts; give a "
            "function that needs nothing else."
        ) from None


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
    if not isinstance(encoder, FunctionType):
        for model in _model_names(encoder):
            plain = model.replace(os.sep, "/").rstrip("/")
            if os.path.isabs(model):
                plain = "/".join(plain.split("/")[-2:])
            return f"{type(encoder).__name__} {plain}", True
    module = getattr(named, "__module__", None)
    return (name if module in (None, "__main__", "builtins") else f"{module}:{name}"), True


def _model_names(encoder: Any) -> Iterator[str]:
    holders = [encoder]
    with suppress(Exception):  # the first module of a sentence-transformers model
        holders.append(encoder[0])
    for holder in holders:
        for path in ((), ("model_card_data",), ("auto_model",), ("auto_model", "config")):
            model = holder
            for attribute in path:
                model = getattr(model, attribute, None)
            for attribute in _MODEL_ATTRIBUTES:
                name = getattr(model, attribute, None)
                if isinstance(name, str) and name:
                    yield name


# Batches


@dataclass(frozen=True)
class EncoderBatch:
    inputs: EncoderInputs
    rows: Sequence[int]
    number: int
    batches: int

    def __str__(self) -> str:
        first, last = self.inputs.name(self.rows[0]), self.inputs.name(self.rows[-1])
        names = quote(first, 30) + (f" to {quote(last, 30)}" if len(self.rows) > 1 else "")
        return f"{self.inputs.source}, batch {self.number} of {self.batches} ({names})"

    def encode(self, encoder: Encoder, dims: int | None) -> NDArray[Any]:
        """Return a matrix of finite numbers, one row for each input, of so many dimensions."""
        vectors = self._call(encoder)
        if isawaitable(vectors) or isasyncgen(vectors):
            if iscoroutine(vectors):
                vectors.close()  # it has not begun
            raise InputError(
                f"{self}: the encoder is asynchronous; give a function that returns the vectors."
            )
        if vectors is None:
            raise InputError(f"{self}: the encoder returned None; does it have a return statement?")
        array = np.asarray(array_of(vectors, str(self)))
        if array.ndim == 2 and len(array) != len(self.rows):
            inputs = counted(len(self.rows), *self.inputs.unit)
            raise InputError(
                f"{self}: the encoder returned {counted(len(array), 'vector')} for {inputs}; it "
                "must return one for each."
            )
        width = check_vectors(Vectors(array, source=str(self))).dims
        if dims is not None and width != dims:
            raise InputError(
                f"{self}: the encoder returned vectors of {width} dimensions, but of {dims} before."
            )
        array = _copy(array)
        bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
        if len(bad):
            name = self.inputs.name(self.rows[int(bad[0])])
            raise InputError(
                f"{self}: the encoder returned NaN or infinite numbers in "
                f"{counted(len(bad), 'vector')}, first for {quote(name, 30)}."
            )
        return array

    def _call(self, encoder: Encoder) -> Any:
        try:
            vectors = encoder.call([self.inputs.contents[row] for row in self.rows])
            return list(vectors) if isinstance(vectors, Iterator) else vectors
        except Exception as error:
            message = " ".join(str(error).split())
            reason = type(error).__name__
            if message:
                reason += f": {quote(message, 200)[1:-1]}"
            full = "out of memory" in message.lower()
            hint = " Use a smaller batch_size (--batch-size)." if full else ""
            raise InputError(
                f"{self}: the encoder {encoder.name} failed ({reason}).{hint}"
            ) from error


def _copy(array: NDArray[Any]) -> NDArray[Any]:
    """Copy an array, because the encoder may use it again, as a type that every machine reads."""
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        return array.astype(np.float64)
    return array.astype(array.dtype if array.dtype.kind in "biuf" else np.float32)


# Cached vectors: each encoder has a folder, named by a hash, that only its owner can read, with an
# SQLite file of the hash of each text or file, and its vector with a hash against damage.

HASH_BYTES = 16
ENCODER_FILE = "encoder.json"
VECTORS_FILE = "vectors.sqlite"
_COLUMNS = "key BLOB PRIMARY KEY, type TEXT, hash BLOB, data BLOB"


def _hash(*parts: bytes) -> bytes:
    digest = hashlib.blake2b(digest_size=HASH_BYTES)
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


@dataclass(frozen=True, eq=False)
class VectorCache:
    root: Path
    folder: Path

    @classmethod
    def open(cls, root: Path, key: str, description: dict[str, Any]) -> VectorCache:
        folder = root / _hash(key.encode("utf-8", "surrogatepass")).hex()
        try:
            root.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise OutputError(f"{root}: cannot be used as a cache ({reason}).") from None
        if not os.access(folder, os.W_OK | os.X_OK):
            raise OutputError(f"{root}: cannot be used as a cache (it cannot be written to).")
        if not (folder / ENCODER_FILE).exists():
            with replacing(folder / ENCODER_FILE) as temporary:
                temporary.write_text(to_json(description) + "\n", encoding="utf-8")
        return cls(root, folder)

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
class EncodedVectors:
    encoder: Encoder
    cache: VectorCache | None
    notes: list[str] = field(default_factory=list)
    vectors: dict[bytes, NDArray[Any]] = field(default_factory=dict)
    check: EncoderBatch | None = None
    """One cached input, which is encoded again to detect a changed encoder."""

    @property
    def dims(self) -> int | None:
        return len(next(iter(self.vectors.values()))) if self.vectors else None

    def keys_of(self, inputs: EncoderInputs) -> tuple[bytes, ...]:
        """Return a hash of each input; files are read only for a cache."""
        hash_file = inputs.files and self.cache is not None
        return tuple(map(file_key if hash_file else text_key, inputs.contents))

    def read_cache(self, sides: Sequence[tuple[EncoderInputs, tuple[bytes, ...]]]) -> None:
        if self.cache is None:
            return
        wanted = {key for _, keys in sides for key in keys}
        self.vectors.update(self.cache.read(wanted))
        if self.vectors:
            self.notes.append(
                f"{len(self.vectors):,} of {counted(len(wanted), 'vector')} by {self.encoder.name} "
                f"were read from {_short(self.cache.root)}. One was encoded again and is the same."
            )
        if len(self.vectors) < len(wanted):
            self.notes.append(f"Vectors by {self.encoder.name} are in {_short(self.cache.root)}.")
        for inputs, keys in sides:
            for row, key in enumerate(keys):
                if key in self.vectors:
                    self.check = EncoderBatch(inputs, [row], 1, 1)
                    return

    def check_cache(self) -> None:
        """Encode one cached input again: an encoder may have changed under its name."""
        if self.check is None or self.cache is None:
            return
        inputs, (row,) = self.check.inputs, self.check.rows
        before = self.vectors[self.keys_of(replace(inputs, contents=(inputs.contents[row],)))[0]]
        before = before.astype(np.float64)
        now = self.check.encode(self.encoder, None)[0].astype(np.float64)
        difference = f"{len(now)} dimensions instead of {len(before)}"
        if now.shape == before.shape:
            length = max(float(np.linalg.norm(before)), float(np.linalg.norm(now)))
            distance = float(np.linalg.norm(now - before))
            if distance <= MAX_CACHE_DIFFERENCE * length:
                return
            difference = f"a difference of {distance / length:.0%} of its length"
        raise InputError(
            f"{inputs.source}, {inputs.name(row)!r}: the encoder {self.encoder.name} does not "
            f"return the cached vector ({difference}). It has changed, or is random. Delete "
            f"{_short(self.cache.folder)}, give another encoder_name (--encoder-name), or leave "
            "out the cache (--cache)."
        )


@dataclass(frozen=True, eq=False)
class EncodingSide:
    """The queries or items, and which of them have no vector yet."""

    inputs: EncoderInputs
    encoder: Encoder
    encoded: EncodedVectors
    keys: tuple[bytes, ...]
    rows: tuple[int, ...]  # the rows to encode; equal inputs are encoded once

    def vectors(self) -> Vectors:
        values = np.stack([self.encoded.vectors[key] for key in self.keys])
        return Vectors(
            values,
            self.inputs.ids,
            self.inputs.source,
            notes=(*self.inputs.notes, *self.encoded.notes),
            made_by=self.encoder.description,
        )


@dataclass(frozen=True, eq=False)
class EncodingTask:
    """Queries and items to encode, after all checks that need no encoding."""

    sides: tuple[EncodingSide, EncodingSide]
    batch_size: int

    @classmethod
    def of(
        cls,
        queries: Any,
        items: Any,
        encoder: Any,
        *,
        encoder_name: str | None = None,
        prompts: Sequence[str | None] = (None, None),
        paths: str | None = None,
        batch_size: int = BATCH_SIZE,
        cache: str | PathLike[str] | None = None,
    ) -> EncodingTask:
        """Read both sides and their cached vectors; see `Embeddings.encode`."""
        size = whole("batch_size", batch_size, at_most=1_000_000)
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
        groups = _open_caches(encoders, None if cache is None else Path(cache).expanduser())
        return cls(_make_sides(groups, encoders, sources), size)

    @property
    def todo(self) -> int:
        return sum(len(side.rows) for side in self.sides)

    @property
    def unit(self) -> str:
        return " and ".join(dict.fromkeys(side.inputs.unit[1] for side in self.sides))

    @property
    def written(self) -> dict[Path, int]:
        """The number of vectors that are written to each cache folder."""
        folders: dict[Path, int] = {}
        for side in self.sides:
            if side.encoded.cache is not None and side.rows:
                root = side.encoded.cache.root
                folders[root] = folders.get(root, 0) + len(side.rows)
        return folders

    def run(self, progress: Callable[[int], None] | None = None) -> tuple[Vectors, Vectors]:
        groups = list(dict.fromkeys(side.encoded for side in self.sides))
        for encoded in groups:
            encoded.check_cache()
        for side in self.sides:
            encoded, batches = side.encoded, -(-len(side.rows) // self.batch_size)
            for number in range(batches):
                rows = side.rows[number * self.batch_size : (number + 1) * self.batch_size]
                batch = EncoderBatch(side.inputs, rows, number + 1, batches)
                vectors = batch.encode(encoded.encoder, encoded.dims)
                keys = [side.keys[row] for row in rows]
                if encoded.cache is not None:
                    encoded.cache.add(keys, vectors)
                encoded.vectors.update(zip(keys, vectors, strict=True))
                if progress is not None:
                    progress(len(rows))
        queries, items = (side.vectors() for side in self.sides)
        return queries, items


def _open_caches(encoders: Sequence[Encoder], root: Path | None) -> list[EncodedVectors]:
    """Return the vectors of each side, the same object if both are encoded in the same way."""
    queries, items = encoders
    if queries.is_same(items):
        encoded = EncodedVectors(queries, _open_cache(queries, root, ""))
        return [encoded, encoded]
    two_towers = queries.given is not items.given and queries.name == items.name
    return [
        EncodedVectors(encoder, _open_cache(encoder, root, side if two_towers else ""))
        for encoder, side in zip(encoders, SIDES, strict=True)
    ]


def _open_cache(encoder: Encoder, root: Path | None, side: str) -> VectorCache | None:
    if root is None:
        return None
    if not encoder.lasts:
        raise InputError(
            f"cache: {encoder.name} has no name to keep its vectors under; give encoder_name "
            "(--encoder-name), such as the model and its version."
        )
    description = {
        "encoder": encoder.name,
        "method": encoder.method or "called",
        "prompt": encoder.prompt,
        "side": side,
        "format": f"the hash (blake2b, 16 bytes) and the vector of each text, in {VECTORS_FILE}",
    }
    key = repr([encoder.name, encoder.method, encoder.prompt, side])
    return VectorCache.open(root, key, description)


def _make_sides(
    groups: Sequence[EncodedVectors], encoders: Sequence[Encoder], sources: Sequence[EncoderInputs]
) -> tuple[EncodingSide, EncodingSide]:
    keys = [encoded.keys_of(inputs) for encoded, inputs in zip(groups, sources, strict=True)]
    for encoded in dict.fromkeys(groups):
        mine = [side for side, other in enumerate(groups) if other is encoded]
        encoded.read_cache([(sources[side], keys[side]) for side in mine])
    done = {encoded: set(encoded.vectors) for encoded in groups}
    sides = []
    for encoded, encoder, inputs, side_keys in zip(groups, encoders, sources, keys, strict=True):
        rows = []
        for row, key in enumerate(side_keys):
            if key not in done[encoded]:
                done[encoded].add(key)
                rows.append(row)
        sides.append(EncodingSide(inputs, encoder, encoded, side_keys, tuple(rows)))
    return sides[0], sides[1]


def _short(path: Path) -> str:
    home, full = os.path.expanduser("~"), os.path.abspath(path)
    return f"~{full[len(home) :]}" if full.startswith(home + os.sep) else str(path)
