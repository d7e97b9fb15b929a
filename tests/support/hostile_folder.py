"""A folder in which every name, id and text would like to be more than that."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np

from support.hostile import FLAG, HIDDEN, ODD, SCRIPTS

LONG = "W" * 3_000
OTHERS = (
    "{{1234*57}}${1234*57}<%= 1234*57 %>",
    "__proto__",
    "constructor",
    "\u202eright\u200f to left",
    "%2e%2e/../../etc/passwd%00",
    "a b&c=d#e+f?g;h",
    f"</style><svg/onload=window.{FLAG}=1>",
    " two spaces  around ",
    LONG,
)
PRODUCT = "70338"
"""What stands in a page where a name was taken for a template."""
IDS = (*OTHERS, *SCRIPTS, *ODD[::4], *HIDDEN[::2], "a\r\nb")
"""Ids of queries and of items."""
SYSTEMS = tuple(
    name
    for name in (*OTHERS[:-1], SCRIPTS[1], SCRIPTS[5], "N" * 200)
    if not {"/", "\0"} & set(name)
)
"""Names of runs: what a file may be called."""


def write_hostile(folder: Path) -> Path:
    """Judgements, runs, texts, queries, attributes, vectors and their labels."""
    draw = random.Random(16)
    folder.mkdir()
    judged = {query: {item: draw.choice([0, 1, 2]) for item in IDS[::2]} for query in IDS}
    _json(folder / "qrels.json", judged)
    for name in SYSTEMS:
        run = {
            query: {item: draw.randrange(40) / 4 for item in draw.sample(IDS, 14)} for query in IDS
        }
        _json(folder / f"{name}.json", run)
    texts = [
        {"_id": item, "title": IDS[-at], "text": " ".join(IDS[at : at + 9])}
        for at, item in enumerate(IDS)
    ]
    _rows(folder / "corpus.ndjson", texts)
    asked = [{"_id": query, "text": IDS[at - 3]} for at, query in enumerate(IDS[:-2])]
    _rows(folder / "queries.ndjson", asked)
    kinds = [
        {"query_id": query, SCRIPTS[0]: IDS[at % 3], "kind": IDS[at % 9]}
        for at, query in enumerate(IDS)
    ]
    _rows(folder / "attributes.ndjson", kinds)
    words = [name for name in (*OTHERS, *SCRIPTS) if len(name.split()) == 1 and "\0" not in name]
    for side, count in (("query", len(words)), ("item", 2 * len(words))):
        stem = f"{'queries' if side == 'query' else 'items'}<b onclick=window.{FLAG}=1>.npy"
        vectors = np.random.default_rng(count).integers(-3, 4, (count, 6)).astype(np.float32)
        np.save(folder / stem, vectors)
        labels = "".join(f"{words[at % 4]}\n" for at in range(count))
        (folder / f"{side}-labels.txt").write_text(labels, encoding="utf-8")
        ids = "".join(f"{words[at % len(words)]}{at // len(words)}\n" for at in range(count))
        (folder / f"{side}-ids.txt").write_text(ids, encoding="utf-8")
    return folder


def _json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")


def _rows(path: Path, rows: list[dict[str, str]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
