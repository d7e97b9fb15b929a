"""Two sides to be encoded: what is kept already, what is still to do, and doing it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.errors import InputError, OutputError, quoted
from judged.inputs.encoding.batches import Batch, batches_of, encode
from judged.inputs.encoding.encoder import Encoder, encoder_of
from judged.inputs.encoding.kept import Kept, file_key, text_key, usual_folder
from judged.inputs.encoding.sources import Inputs, read_inputs
from judged.inputs.texts import Of
from judged.inputs.vectors.vectors import Vectors, ids_of
from judged.options import choice, flag, text, whole
from judged.text import Warned, counted

BATCH_SIZE = 64
SIDES: tuple[Of, Of] = ("queries", "items")
PATHS = (*SIDES, "both")
CHANGED = 0.02
"""A vector that is so much of its length away from the one that was kept is another: rounding in
half precision, or with other texts in the batch, makes less."""


@dataclass(eq=False)
class Group:
    """Sides that one encoder encodes in the same way, and the vectors that there are."""

    encoder: Encoder
    kept: Kept | None
    notes: list[str] = field(default_factory=list)
    vectors: dict[bytes, NDArray[Any]] = field(default_factory=dict)
    """By the hash of what was encoded."""
    control: Batch | None = None
    """One that was kept, to be encoded again."""

    @property
    def dims(self) -> int | None:
        return len(next(iter(self.vectors.values()))) if self.vectors else None


@dataclass(frozen=True, eq=False)
class Side:
    """What is encoded, and which of it is still to do."""

    inputs: Inputs
    encoder: Encoder
    group: Group
    keys: tuple[bytes, ...]
    """A hash of each."""
    rows: tuple[int, ...]
    """Those to encode: each content once."""


@dataclass(frozen=True, eq=False)
class Task:
    """Both sides, once everything that can be refused without the encoder was looked at."""

    sides: tuple[Side, Side]
    batch_size: int

    @classmethod
    def of(
        cls,
        queries: Any,
        items: Any,
        encoder: Any = None,
        *,
        query_encoder: Any = None,
        item_encoder: Any = None,
        encoder_name: str | None = None,
        query_prompt: str | None = None,
        item_prompt: str | None = None,
        paths: str | None = None,
        batch_size: int = BATCH_SIZE,
        cache: str | PathLike[str] | bool = True,
        probe: bool = True,
        query_ids: Any = None,
        item_ids: Any = None,
    ) -> Task:
        """Read both sides, and what was kept of them."""
        size = whole("batch_size", batch_size, at_most=1_000_000)
        flag("probe", probe)
        if paths is not None:
            choice("paths", paths, PATHS)
        if encoder_name is not None and not text("encoder_name", encoder_name).strip():
            raise InputError("encoder_name is empty; give a name, or leave it out.")
        towers = _towers(encoder, query_encoder, item_encoder)
        prompts = query_prompt, item_prompt
        encoders, sources = [], []
        for of, own, prompt, given, ids in zip(
            SIDES, towers, prompts, (queries, items), (query_ids, item_ids), strict=True
        ):
            if prompt is not None:
                text(f"{'query' if of == 'queries' else 'item'}_prompt", prompt)
            found = encoder_of(own, of, prompt=prompt, name=encoder_name)
            inputs = read_inputs(given, of, paths=paths in (of, "both"))
            if prompt and inputs.files:
                raise InputError(f"{inputs.source}: files are encoded, which take no prompt.")
            if ids is not None:
                inputs = replace(inputs, ids=_checked_ids(ids, inputs))
            if found.prefix:
                said = tuple(found.prefix + each for each in inputs.contents)
                inputs = replace(inputs, contents=said)
            encoders.append(found)
            sources.append(inputs)
        root = _root(cache)
        groups = _groups(encoders, root, usual=cache is True, towers=towers[0] is not towers[1])
        return cls(_sides(groups, encoders, sources, probe=probe), size)

    @property
    def todo(self) -> int:
        """How many are to be encoded; some that were kept may be encoded again beside them."""
        return sum(len(side.rows) for side in self.sides)

    @property
    def unit(self) -> str:
        """What is encoded: texts, files or both."""
        return " and ".join(dict.fromkeys(side.inputs.unit[1] for side in self.sides))

    @property
    def kept(self) -> dict[Path, int]:
        """How many vectors are kept where, once this is done."""
        own = [side for side in self.sides if side.group.kept is not None and side.rows]
        rows = sum(len(side.rows) for side in own)
        return {side.group.kept.root: rows for side in own if side.group.kept is not None}

    def run(self, progress: Callable[[int], None] | None = None) -> tuple[Vectors, Vectors]:
        """Encode what is to do, and give the vectors of both sides."""
        groups = dict.fromkeys(side.group for side in self.sides)
        for group in groups:
            if group.control is not None:
                _compare(group, group.control)
        for side in self.sides:
            for batch in batches_of(side.inputs, side.rows, self.batch_size):
                self._encode(side, batch)
                if progress is not None:
                    progress(len(batch.rows))
        for group in groups:
            if group.kept is not None and self.todo:
                with suppress(OutputError):  # they are there, if in many files
                    group.kept.tidy()
        queries, items = map(_vectors, self.sides)
        return queries, items

    @staticmethod
    def _encode(side: Side, batch: Batch) -> None:
        group = side.group
        found = encode(group.encoder, batch, group.dims)
        keys = [side.keys[row] for row in batch.rows]
        if group.kept is not None:
            group.kept.add(keys, found)
        group.vectors.update(zip(keys, found, strict=True))


def _towers(encoder: Any, query_encoder: Any, item_encoder: Any) -> tuple[Any, Any]:
    """The encoder of each side."""
    if encoder is not None and query_encoder is None and item_encoder is None:
        return encoder, encoder
    if encoder is None and query_encoder is not None and item_encoder is not None:
        return query_encoder, item_encoder
    raise InputError(
        "give one encoder for both sides, or two towers: query_encoder and item_encoder "
        "(--encoder, or --query-encoder and --item-encoder)."
    )


def _checked_ids(given: Any, inputs: Inputs) -> tuple[str, ...]:
    ids = ids_of(given, inputs.source)
    if len(ids) != len(inputs):
        raise InputError(
            f"{inputs.source}: {len(ids)} ids for {counted(len(inputs), *inputs.unit)}; there must "
            "be as many."
        )
    return ids


def _root(cache: Any) -> Path | None:
    if cache is True:
        return usual_folder()
    if cache is False or cache is None:
        return None
    if not isinstance(cache, (str, PathLike)) or not os.fspath(cache):
        raise InputError(f"cache must be a folder, or False for none; got {quoted(cache)}.")
    return Path(cache).expanduser()


def _groups(
    encoders: Sequence[Encoder], root: Path | None, *, usual: bool, towers: bool
) -> list[Group]:
    """The group of each side, the same one where both are encoded in the same way."""
    queries, items = encoders
    if queries.does_as(items):
        group = _group(queries, root, usual, "")
        return [group, group]
    # Under a name that was given, two towers are told apart by their sides alone.
    marks = SIDES if towers else ("", "")
    return [_group(each, root, usual, mark) for each, mark in zip(encoders, marks, strict=True)]


def _group(encoder: Encoder, root: Path | None, usual: bool, mark: str) -> Group:
    identity = encoder.identity
    if root is None:
        return Group(encoder, None)
    if identity.key is None:
        why = f"The vectors are not kept: {identity.why}. Name the encoder by encoder_name="
        return Group(encoder, None, [f"{why} (--encoder-name)."])
    about = {
        "encoder": identity.name,
        "asked": encoder.asked or "called",
        "prompt": encoder.prompt,
        "side": mark if identity.given else "",
        "format": "records of a hash (blake2b, 16 bytes) and a vector, in .npy files",
    }
    settled = [identity.key, encoder.asked, encoder.prompt, about["side"]]
    try:
        kept = Kept.under(root, repr(settled), about)
    except OutputError as error:
        if not usual:
            raise
        return Group(encoder, None, [Warned(f"The vectors are not kept: {error}")])
    return Group(encoder, kept)


def _sides(
    groups: Sequence[Group],
    encoders: Sequence[Encoder],
    sources: Sequence[Inputs],
    *,
    probe: bool,
) -> tuple[Side, Side]:
    keys = [_keys(inputs, group) for group, inputs in zip(groups, sources, strict=True)]
    for group in dict.fromkeys(groups):
        own = [at for at, each in enumerate(groups) if each is group]
        if group.kept is not None:
            wanted = {key for at in own for key in keys[at]}
            group.vectors.update(group.kept.read(wanted))
            _note_kept(group, len(wanted), probe)
            if probe:
                group.control = _control(group, [(sources[at], keys[at]) for at in own])
    done: dict[Group, set[bytes]] = {group: set(group.vectors) for group in groups}
    sides = []
    for group, encoder, inputs, own_keys in zip(groups, encoders, sources, keys, strict=True):
        rows = []
        for row, key in enumerate(own_keys):
            if key not in done[group]:
                done[group].add(key)
                rows.append(row)
        sides.append(Side(inputs, encoder, group, own_keys, tuple(rows)))
    return sides[0], sides[1]


def _keys(inputs: Inputs, group: Group) -> tuple[bytes, ...]:
    # The bytes of files are read only where their vectors are kept.
    if inputs.files and group.kept is not None:
        return tuple(map(file_key, inputs.contents))
    return tuple(map(text_key, inputs.contents))


def _control(group: Group, sides: Sequence[tuple[Inputs, tuple[bytes, ...]]]) -> Batch | None:
    """The first that was kept."""
    for inputs, keys in sides:
        for row, key in enumerate(keys):
            if key in group.vectors:
                return Batch(inputs, [row], 1, 1)
    return None


def _note_kept(group: Group, wanted: int, probe: bool) -> None:
    """What was kept; that a vector was the same holds where there is a result to be noted."""
    assert group.kept is not None
    place, name = _short(group.kept.root), group.encoder.identity.name
    if found := len(group.vectors):
        said = (
            f"{found:,} of {counted(wanted, 'vector')} by {name} read from {place}, where an "
            "earlier call kept them"
        )
        group.notes.append(
            f"{said}; one was encoded again, and is the same."
            if probe
            else Warned(f"{said}; a change of the encoder since then was not looked for.")
        )
    if found < wanted:
        group.notes.append(f"Vectors by {name} are kept in {place}.")


def _short(path: Path) -> str:
    """A path without the name of the user."""
    home = os.path.expanduser("~")
    full = os.path.abspath(path)
    return f"~{full[len(home) :]}" if full.startswith(home + os.sep) else str(path)


def _compare(group: Group, control: Batch) -> None:
    """Encode one that was kept again: under the same name, an encoder may have changed."""
    assert group.kept is not None
    row = control.rows[0]
    key = text_key(control.inputs.contents[row])
    if control.inputs.files:
        key = file_key(control.inputs.contents[row])
    before = group.vectors[key].astype(np.float64)
    now = encode(group.encoder, control, None)[0].astype(np.float64)
    length = max(float(np.linalg.norm(before)), float(np.linalg.norm(now)))
    if now.shape == before.shape:
        away = float(np.linalg.norm(now - before))
        if away <= CHANGED * length:
            return
        how = f"{away / length:.0%} of its length away"
    else:
        how = f"of {len(now)} dimensions, not {len(before)}"
    raise InputError(
        f"{control.inputs.source}, {control.inputs.name(row)!r}: the encoder "
        f"{group.encoder.identity.name} gives another vector now than the one that was kept "
        f"({how}): it has changed, or it gives another vector each time. Delete "
        f"{_short(group.kept.folder)}, name the encoder by encoder_name= (--encoder-name), or keep "
        "nothing by cache=False (--no-cache)."
    )


def _vectors(side: Side) -> Vectors:
    found = np.stack([side.group.vectors[key] for key in side.keys])
    inputs = side.inputs
    return Vectors(
        found,
        inputs.ids,
        inputs.source,
        notes=(*inputs.notes, *side.group.notes),
        made_by=side.encoder.says,
    )
