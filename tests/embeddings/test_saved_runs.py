"""A run that is saved is read back with the same ids, or is not written."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

import judged
from judged.errors import OutputError

PARTS = ["#", " ", "\t", "\n", "\r", '"', "'", ",", "\ufeff", "\0", "\x0b", "\x1c", "\x85", "\xa0"]
PARTS += ["\u2028", "=", "-", "@", "{", "[", "}", "é", "😀", "\\", "null", "1", "1.0", "NaN", "a"]
WHOLE = ["", "PAR1", "GIF89a", "%PDF-", "BZh91AY&SY", "qid,docno,", "query\titem", '{"', '[{"', "#"]
WHOLE += ['{"query":"a","item":"b","score":1}', "ÿþ", "query_id", "\ufeff", "=1+1", "0", "{}"]


def saved(query: str, item: str, path: Path) -> judged.TopK:
    """Two queries with two items each, the odd ones first."""
    both = judged.Embeddings(
        np.eye(2), np.eye(2), query_ids=[query, "other"], item_ids=[item, "another"]
    )
    found = both.top_k(2)
    found.save(path)
    return found


@pytest.mark.parametrize("ending", [".run", "", ".csv", ".parquet", ".json"])
def test_what_is_written_is_read_back(tmp_path, ending):
    draw = random.Random(13)
    path = tmp_path / f"saved{ending}"
    odd = WHOLE + PARTS + ["".join(draw.choices(PARTS, k=draw.randint(2, 3))) for _ in range(25)]
    written = 0
    for each in odd:
        for query, item in ((each, "d"), ("q", each)):
            path.unlink(missing_ok=True)
            refusal = ""
            try:
                found = saved(query, item, path)
            except OutputError as error:
                refusal = str(error)
            if refusal:
                assert f"{each!r} " in refusal
                assert refusal.endswith("change it.")
                assert not path.exists()
            else:
                run = judged.read_run(path)
                rows = found.to_frame().select("query", "item").rows()
                assert run.frame.select("query", "item").rows() == rows
                written += 1
    assert written > len(odd)


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("#1", "begins like a comment or with a byte order mark"),
        ("\ufeff1", "begins like a comment or with a byte order mark"),
        ("a\0b", "has a NUL in it"),
        ('{"a', "makes its first line look like another format"),
        ("GIF89a", "makes its first line look like another format"),
    ],
)
def test_what_a_trec_run_cannot_hold(folder, query, why):
    with pytest.raises(OutputError) as error:
        saved(query, "d", Path("a.run"))
    assert str(error.value) == (
        f"a.run: the query id {query!r} {why}, which a TREC run cannot hold; write .json, or "
        "change it."
    )
    saved(query, "d", Path("a.json"))
    assert list(json.loads(Path("a.json").read_text(encoding="utf-8"))) == [query, "other"]
