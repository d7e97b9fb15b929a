"""Vectors on disk, for their owner alone; and a program that is killed."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from judged.errors import OutputError
from judged.inputs.encode import VECTORS_FILE, VectorCache, file_key, text_key


def keys(number: int) -> list[bytes]:
    return [text_key(str(at)) for at in range(number)]


def test_only_the_owner_can_look(tmp_path: Path) -> None:
    kept = VectorCache(tmp_path / "new", "e")
    for folder in (kept.root, kept.folder):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_damage_is_detected(tmp_path: Path) -> None:
    kept = VectorCache(tmp_path, "e")
    kept.add(keys(2), np.ones((2, 3)))
    path = kept.folder / VECTORS_FILE
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE vectors SET data = ? WHERE key = ?", (bytes(24), keys(1)[0]))
    assert list(kept.read(set(keys(2)))) == keys(2)[1:]
    path.write_bytes(b"something else, which is long enough to be no empty database")
    with pytest.raises(OutputError, match=r"cannot be used as a cache \(file is not a database\)"):
        kept.read(set(keys(2)))


def test_the_last_vector_of_a_key_is_kept_in_its_type(tmp_path: Path) -> None:
    kept = VectorCache(tmp_path, "e")
    for number, dtype in enumerate((">f8", "f4", "i1", ">f8")):
        kept.add(keys(3)[number % 3 :][:1], np.full((1, 3), number, dtype))
    vectors = kept.read(set(keys(3)))
    assert [vectors[key].tolist() for key in keys(3)] == [[3] * 3, [1] * 3, [2] * 3]
    assert [vectors[key].dtype for key in keys(3)] == [np.float64, np.float32, np.int8]


def test_keys_tell_contents_apart(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("a")
    assert file_key(str(tmp_path / "a")) == file_key(str(tmp_path / "b")) != text_key("a")
    assert text_key("a") != text_key("a ")
    assert text_key("\ud800") != text_key("?")  # half a character, as JSON may have it
