"""`judged embeddings --part` and `--parts`: the same bytes as all at once."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

SIDES = ("embeddings", "queries.npy", "items.npy")
WAYS = {
    "qrels": ("--qrels", "qrels"),
    "qrels and ids": ("--qrels", "named", "--query-ids", "q.ids", "--item-ids", "i.ids"),
    "same ids": (
        *("--qrels", "named", "--query-ids", "q.ids", "--item-ids", "i.ids"),
        *("--exclude-same-id", "--similarity", "euclidean"),
    ),
    "labels": ("--labels", "ql", "il", "--exclude-self", "--dims", "4"),
    "listed": ("--qrels", "qrels", "--exclude-listed", "junk", "--similarity", "hamming"),
    "labels out": ("--qrels", "qrels", "--exclude-labels", "ql", "il", "--similarity", "dot"),
}


@pytest.fixture
def vectors(tmp_path, monkeypatch):
    """A folder, the current one: whole numbers, so that there are ties, and most of what is
    relevant in one part."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    np.save("queries.npy", random.integers(1, 4, (12, 5)).astype(np.float32))
    np.save("items.npy", random.integers(1, 4, (50, 5)).astype(np.float32))
    judged = [(row % 10, int(item)) for row, item in enumerate(random.choice(20, 60) % 20)]
    judged = sorted({*judged, (3, 49), (40, 2)})
    (tmp_path / "qrels").write_text("".join(f"{row} 0 {item} 1\n" for row, item in judged))
    (tmp_path / "named").write_text("".join(f"é{row} 0 é{item} 2\n" for row, item in judged))
    (tmp_path / "junk").write_text("0 0 2 1\n3 0 48 1\n3 0 49 1\n")
    for file, count, name in (("q.ids", 12, "é{}"), ("i.ids", 50, "é{}"), ("ql", 12, "l{}")):
        (tmp_path / file).write_text("".join(name.format(row) + "\n" for row in range(count)))
    (tmp_path / "ql").write_text("".join(f"l{row % 4}\n" for row in range(12)))
    (tmp_path / "il").write_text("".join(f"l{row % 5}\n" for row in range(50)))
    return tmp_path


def count(judged, parts, *options):
    for part in range(1, parts + 1):
        result = judged(*SIDES, *options, "--part", f"{part}/{parts}", "-o", f"part-{part}.npz")
        assert (result.code, result.out) == (0, "")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("parts", [1, 3, 60])
def test_parts_give_the_bytes_of_all_at_once(vectors, judged, way, parts):
    count(judged, parts, *WAYS[way], "--top", "3")
    asked = (*SIDES, *WAYS[way], "--tie-range", "--per-query", "--format", "json")
    together = judged(*asked, "--parts", "part-*.npz", "--save-run", "together.run")
    whole = judged(*asked, "--top", "3", "--save-run", "whole.run")
    assert together.code == whole.code == 0
    assert together.out == whole.out
    assert (vectors / "together.run").read_bytes() == (vectors / "whole.run").read_bytes()


def test_parts_that_are_missing_twice_or_of_other_data_are_refused(vectors, judged):
    qrels = WAYS["qrels"]
    count(judged, 3, *qrels)

    def refused(message, *options):
        result = judged(*SIDES, *(options or qrels), "--parts", "part-*.npz")
        assert (result.code, result.out, result.err) == (2, "", f"judged: {message}\n")

    shutil.copy("part-1.npz", "part-4.npz")
    refused("part-4.npz: is part 1 of 3, and so is part-1.npz.")
    (vectors / "part-4.npz").unlink()
    other = (
        "the parts were counted with other queries, items, relevance or options than these; give "
        "the same, or count them again."
    )
    refused(other, *qrels, "--similarity", "dot")
    refused(other, "--labels", "ql", "il")
    items = np.load("items.npy")
    items[25] += 1  # nobody judged it
    np.save("items.npy", items)
    refused(other)
    judged(*SIDES, *qrels, "--part", "2/3", "-o", "part-2.npz")
    refused(
        "part-2.npz: was counted with other queries, items, relevance or options than part-1.npz; "
        "count it again."
    )
    judged(*SIDES, *qrels, "--part", "2/4", "-o", "part-2.npz")
    refused("part-2.npz: is part 2 of 4, but part-1.npz is one of 3; parts must be of one cut.")
    (vectors / "part-2.npz").unlink()
    refused("of 3 parts these are missing: 2.")
    data = bytearray((vectors / "part-3.npz").read_bytes())
    data[2000] ^= 1
    (vectors / "part-1.npz").write_bytes(data[:500])
    refused("part-1.npz: holds no counts of shards, as `judged embeddings --part` writes them.")
    for each in vectors.glob("part-*"):
        each.unlink()
    refused("part-*.npz: no such file.")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--part", "1/2"), "--part writes counts; say where by -o, as -o part-1.npz."),
        (
            ("--part", "1/2", "-o", "a.npz", "-m", "AP"),
            "-m has no meaning with --part; leave it out.",
        ),
        (
            ("--part", "1/2", "-o", "a.npz", "--ties", "best"),
            "--ties has no meaning with --part; leave it out.",
        ),
        (
            ("--part", "1/2", "-o", "a.npz", "--parts", "a*"),
            "--part counts one part, --parts puts all together; leave one out.",
        ),
        (("--parts", "a*", "--both"), "--both has no meaning with --parts; leave it out."),
        (("--parts", "a*", "--top", "2"), "--top has no meaning with --parts; leave it out."),
        (
            ("--part", "0/2", "-o", "a.npz"),
            "Invalid value for '--part': '0/2' is no part; the third of sixteen is 3/16.",
        ),
        (
            ("--part", "1/2", "-o", "a.npz", "--unique", "il"),
            "--unique has no meaning with --part; leave it out.",
        ),
    ],
)
def test_options_without_a_meaning_are_refused(vectors, judged, options, message):
    result = judged(*SIDES, *WAYS["qrels"], *options)
    assert (result.code, result.out) == (2, "")
    assert result.err.splitlines()[-1] == f"Error: {message}"
    assert not (vectors / "a.npz").exists()


def test_lists_that_parts_did_not_keep(vectors, judged):
    count(judged, 2, *WAYS["qrels"])
    for option in (("--save-run", "a.run"), ("--unanswerable",)):
        result = judged(*SIDES, *WAYS["qrels"], "--parts", "part-*.npz", *option)
        assert result.code == 2
        assert result.err.splitlines()[-1] == (
            f"Error: {option[0]} needs the first items of each query, and the parts were counted "
            "without them; give --top with --part."
        )
    single = ("--part", "1/2", "-o", "a.npz", "--precision", "single")
    assert judged(*SIDES, *WAYS["qrels"], *single).err == (
        "judged: items that are counted in parts are ranked in double precision, in which counts "
        "add up; leave precision (--precision) out.\n"
    )
