"""`judged embeddings --encoder`: a module of one's own encodes first."""

from __future__ import annotations

import inspect
import json
import sys
from pathlib import Path
from typing import Any

import pytest

import judged as library
from judged.cli.embeddings import ENCODING as OPTIONS

MODULE = """
from pathlib import Path

def letters(texts):
    print("encoding", *texts)
    return [[text.count(letter) for letter in "abc"] for text in texts]

def more(texts):
    return [[text.count(letter) + 1 for letter in "abc"] for text in texts]

def wrong(texts):
    return [[1.0]]

def broken(texts):
    return [texts.missing]

class Model:
    def embed_documents(self, texts):
        return letters(texts)

model = Model()

def make():
    return letters

def sizes(paths):
    return [[Path(path).stat().st_size, 1] for path in paths]
"""
ASK = ("embeddings", "--queries", "q.tsv", "--items", "items.jsonl", "--qrels", "qrels", "-m", "RR")


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "my_models", raising=False)
    (tmp_path / "my_models.py").write_text(MODULE)
    (tmp_path / "q.tsv").write_text("q1\tcab\nq2\tabba\n")
    (tmp_path / "items.jsonl").write_text(
        '{"_id": "d1", "title": "a", "text": "cab"}\n{"_id": "d2", "text": "ab"}\n'
        '{"_id": "d3", "text": "ccc"}\n'
    )
    (tmp_path / "qrels").write_text("q1 0 d1 1\nq2 0 d1 1\n")
    return tmp_path


def test_texts_are_encoded_and_scored(judged: Any, module: Path) -> None:
    asked = (*ASK, "--encoder", "my_models:letters", "--cache", "kept", "--format")
    first = judged(*asked, "json")
    assert first.code == 0
    # q1 (1, 1, 1): d1, "a cab" (2, 1, 1), is nearest; q2 (2, 2, 0): d2 (1, 1, 0), then d1.
    [run] = json.loads(first.out)["runs"]
    assert run["scores"] == {"RR": 0.75}
    assert first.err == ("encoding cab abba\nencoding a cab ab ccc\n")
    again = judged(*asked, "json")
    assert json.loads(again.out)["runs"][0]["scores"] == {"RR": 0.75}
    assert again.err == "encoding cab\n"  # to compare
    silent = judged(*asked, "csv")
    assert (silent.out, silent.err) == ("run,RR\nembeddings,0.75\n", "encoding cab\n")


def test_the_numbers_are_those_of_python(judged: Any, module: Path) -> None:
    out = judged(
        *(*ASK, "--encoder", "my_models:letters,my_models:more"),
        *("--similarity", "dot", "--format", "csv"),
    ).out
    sys.path.insert(0, "")
    import my_models  # type: ignore[import-not-found]

    found = library.Embeddings.encode(
        *("q.tsv", "items.jsonl", (my_models.letters, my_models.more)), similarity="dot"
    )
    assert out == f"run,RR\nembeddings,{found.evaluate('qrels', 'RR').value()}\n"


def test_an_object_a_folder_a_prompt_and_a_name(judged: Any, module: Path) -> None:
    assert judged(*ASK, "--encoder", "my_models:model", "--cache", "mine").code == 0
    assert len(list((module / "mine").iterdir())) == 1
    said = judged(*(*ASK, "--encoder", "my_models:letters", "--query-prompt", "b: ", "-v"))
    assert "queries are encoded by my_models:letters with the prompt 'b: '" in said.out
    assert "encoding b: cab b: abba\n" in said.err


def test_what_is_wrong_elsewhere_is_refused_before_anything_is_encoded(
    judged: Any, module: Path
) -> None:
    for wrong in (("-m", "nDGC"), ("--qrels", "nowhere"), ("--convention", "nobody")):
        refused = judged(*ASK, *wrong, "--encoder", "my_models:letters")
        assert refused.code == 2
        assert "encoding" not in refused.err


def test_every_option_is_one_of_the_library() -> None:
    own = set(inspect.signature(library.Embeddings.encode).parameters)
    pairs = {f"{side}_{name}" for side in ("query", "item") for name in ("encoder", "prompt")}
    assert set(OPTIONS) - pairs - {"query_texts", "item_texts"} <= own


def test_what_is_refused(refuses, module):
    refuses("""
    embeddings --queries q.tsv --items items.jsonl --qrels qrels -m RR --encoder my_models:broken
        judged: q.tsv, batch 1 of 1 ("q1" to "q2"): the encoder my_models:broken failed
        (AttributeError: 'list' object has no attribute 'missing').
    embeddings --queries q.tsv --items items.jsonl --qrels qrels -m RR --encoder my_models:Model
        judged: the encoder is the class Model; give an object of it, or a function.
    embeddings --queries q.tsv --items items.jsonl --qrels qrels -m RR --encoder my_models
        judged: an encoder is named as MODULE:NAME, as models:encode; got 'my_models'.
    embeddings --queries q.tsv --items items.jsonl --qrels qrels -m RR --encoder my_models:no
        judged: my_models:no cannot be imported (AttributeError: module 'my_models' has no
        attribute 'no').
    embeddings --pairs
        Error: Missing argument 'QUERIES': two files of vectors are needed, or --encoder
        MODULE:NAME --queries FILE --items FILE.
    embeddings q.npy i.npy --pairs --queries x
        Error: --queries has no meaning without --encoder; leave it out.
    embeddings q.npy i.npy --pairs --cache x
        Error: --cache has no meaning without --encoder; leave it out.
    embeddings q.npy i.npy --pairs --encoder m:f
        Error: QUERIES and ITEMS are files of vectors; with an encoder, give --queries FILE and
        --items FILE.
    embeddings --encoder m:f --pairs --items x
        Error: an encoder needs something to encode; give --queries FILE.
    embeddings --encoder m:f --pairs --queries x
        Error: an encoder needs something to encode; give --items FILE.
    embeddings --queries q.tsv --items items.jsonl --pairs --encoder m:f,m:g,m:h
        Error: give --encoder one encoder, or two with a comma: of the queries, of the items.
    """)
