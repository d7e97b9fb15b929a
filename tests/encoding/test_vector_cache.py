"""Vectors on disk: whole or not at all, for their owner alone, never unpickled; and a program that
is killed."""

from __future__ import annotations

import pickle
import signal
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from judged.inputs.encode import MAX_SMALL_FILES, VectorCache, file_key, text_key

WHO = {"encoder": "e"}


def kept_in(folder: Path) -> VectorCache:
    return VectorCache.open(folder, "e", WHO)


def keys(number: int) -> list[bytes]:
    return [text_key(str(at)) for at in range(number)]


def test_what_is_kept_is_found_again(tmp_path: Path) -> None:
    vectors = np.arange(12, dtype=np.float16).reshape(4, 3)
    kept_in(tmp_path).add(keys(4), vectors)
    found = kept_in(tmp_path).read({*keys(3)[1:], text_key("other")})
    assert {key: vector.tolist() for key, vector in found.items()} == {
        keys(4)[1]: [3, 4, 5],
        keys(4)[2]: [6, 7, 8],
    }
    assert VectorCache.open(tmp_path, "another", WHO).read(set(keys(4))) == {}


def test_only_the_owner_can_look(tmp_path: Path) -> None:
    kept = kept_in(tmp_path / "new")
    for folder in (kept.root, kept.folder):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_damaged_files_are_left_out(tmp_path: Path) -> None:
    kept = kept_in(tmp_path)
    kept.add(keys(2), np.ones((2, 3)))
    [path] = kept.folder.glob("*.npy")
    data = path.read_bytes()
    for damaged in (data[:-1], b"", data[:-1] + bytes([data[-1] ^ 1])):
        path.write_bytes(damaged)
        assert kept.read(set(keys(2))) == {}
    path.write_bytes(data)
    assert len(kept.read(set(keys(2)))) == 2


class Trap:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return pytest.fail, ("a file was unpickled",)


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    from hashlib import blake2b

    kept = kept_in(tmp_path)
    objects = tmp_path / "objects.npy"
    np.save(objects, np.array([Trap()], dtype=object), allow_pickle=True)
    for data in (objects.read_bytes(), pickle.dumps(Trap())):
        name = blake2b(data, digest_size=16).hexdigest()  # what a file of ours would be called
        (kept.folder / f"{name}.npy").write_bytes(data)
    assert kept.read(set(keys(2))) == {}
    kept.join_small_files()


def test_many_small_files_become_one_and_nothing_is_lost(tmp_path: Path) -> None:
    kept = kept_in(tmp_path)
    names = keys(2 * MAX_SMALL_FILES)
    for at, key in enumerate(names):
        kept.add([key], np.full((1, 3), at, np.float32 if at % 2 else np.int8))
    kept.join_small_files()
    assert len(list(kept.folder.glob("*.npy"))) == 2  # one of each type
    found = kept.read(set(names))
    assert [found[key].tolist() for key in names] == [[at] * 3 for at in range(2 * MAX_SMALL_FILES)]
    assert not list(kept.folder.glob(".judged*"))


def test_large_files_are_left_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judged.inputs.encode.MAX_FILE_BYTES", 2000)
    kept, names = kept_in(tmp_path), keys(3 * MAX_SMALL_FILES)
    kept.add(names[:40], np.arange(120.0).reshape(40, 3))  # 1,600 bytes: mapped when read
    [large] = kept.folder.glob("*.npy")
    for at in range(40, len(names)):
        kept.add([names[at]], np.full((1, 3), at, np.float64))
    for at in range(MAX_SMALL_FILES):
        kept.add([text_key("again")], np.full((1, 3), at, np.float64))
    kept.join_small_files()
    assert large.exists()
    assert len(list(kept.folder.glob("*.npy"))) < MAX_SMALL_FILES
    found = kept.read(set(names))
    assert [found[key][0] for key in names] == [*range(0, 120, 3), *range(40, len(names))]
    large.write_bytes(large.read_bytes()[:-1] + b"x")
    assert len(kept.read(set(names))) == len(names) - 40


def test_keys_tell_contents_apart(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("a")
    assert file_key(str(tmp_path / "a")) == file_key(str(tmp_path / "b")) != text_key("a")
    assert text_key("a") != text_key("a ")
    assert text_key("\ud800") != text_key("?")  # half a character, as JSON may have it


KILLED = """
import os, signal, sys
from judged import Embeddings

def lengths(texts):
    with open("log", "a") as log:
        log.writelines(f"{text}\\n" for text in texts)
    if sys.argv[1:] == ["die"] and "5" in texts:
        os.kill(os.getpid(), signal.SIGKILL)
    return [[len(text), int(text)] for text in texts]

found = Embeddings.encode(
    ["0", "1"], [str(at) for at in range(10)], lengths, batch_size=2, cache="kept",
    encoder_name="lengths", similarity="dot",
)
print(found.items.values.tolist())
"""


def test_a_program_that_is_killed_goes_on_where_it_stopped(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(KILLED)

    def run(*arguments: str) -> tuple[int, str, list[str]]:
        (tmp_path / "log").write_text("")
        done = subprocess.run(
            [sys.executable, "program.py", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout, (tmp_path / "log").read_text().split()

    code, _, first = run("die")
    assert code == -signal.SIGKILL
    assert first == ["0", "1", "2", "3", "4", "5"]
    code, out, second = run()
    assert (code, out) == (0, f"{[[1, at] for at in range(10)]}\n")
    # One that is cached to compare it, the batch that was under way, and the rest.
    assert second == ["0", "4", "5", "6", "7", "8", "9"]
    assert run()[2] == ["0"]
