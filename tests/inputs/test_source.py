"""Compression, standard input, and all that can be wrong with a file before or while its lines are
read."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import struct
import threading
from itertools import pairwise
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judged.inputs import read_judgements, read_run, source
from judged.inputs.formats import FORMATS, detect_format, run_name
from judged.inputs.source import ByteStream, blocks, open_source, open_stream
from judged.inputs.tables import JUDGEMENTS, RUN
from judged.options import FileFormat
from support.errors import error_of
from support.tables import rows_of

TEXT = b"301 Q0 D1 1 2.5 sys\n# a comment\n301 Q0 D2 2 1.5 sys\n"
ROWS = [("301", "D1", 2.5), ("301", "D2", 1.5)]


def stored_zstd(content: bytes) -> bytes:
    """A zstd frame of one block stored as it is: magic, a header with the size in 8 bytes, the
    block."""
    header = b"\x28\xb5\x2f\xfd" + bytes([0b11100000]) + struct.pack("<Q", len(content))
    return header + struct.pack("<I", len(content) << 3 | 1)[:3] + content


COMPRESSED = {
    "gz": gzip.compress(TEXT),
    "gz of two parts": gzip.compress(TEXT[:30]) + gzip.compress(TEXT[30:]),
    "bz2": bz2.compress(TEXT),
    "xz": lzma.compress(TEXT),
    "zst": stored_zstd(TEXT),
    "zst with a byte order mark and CRLF": stored_zstd(
        b"\xef\xbb\xbf" + TEXT.replace(b"\n", b"\r\n")
    ),
}


@pytest.mark.parametrize("name", ["a.run.gz", "a.run"])
@pytest.mark.parametrize("compression", COMPRESSED)
def test_compression_is_known_by_content(write, compression, name):
    run = read_run(write(name, COMPRESSED[compression]))
    assert run.frame.rows() == ROWS
    assert run.notes == ("1 comment line was skipped.",)
    assert run.where([0, 1]) == "lines 1 and 3"
    assert (run.name, run.source) == ("a", name)


@pytest.mark.parametrize("content", [TEXT, gzip.compress(TEXT)])
def test_standard_input(standard_input, content):
    standard_input(content)
    run = read_run("-")
    assert run.frame.rows() == ROWS
    assert (run.name, run.source) == ("stdin", "standard input")
    assert run.where([1]) == "line 3"


def test_a_named_pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(TEXT,))
    writer.start()
    run = read_run(path)
    writer.join()
    assert run.frame.rows() == ROWS
    assert run.where([1]) == "line 3"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("runs/bm25.run.gz", "bm25"),
        ("bm25.v2", "bm25.v2"),
        ("bm25.k1=0.9.txt", "bm25.k1=0.9"),
        ("a.b.parquet", "a.b"),
        ("A.CSV.ZST", "A"),
        ("-", "stdin"),
        (".run", ".run"),
        ("plain", "plain"),
    ],
)
def test_run_name(path, name):
    assert run_name(path) == name


def test_unknown_format(write):
    path = write("a.run", TEXT)
    formats = "Formats: trec, msmarco, scores, csv, tsv, parquet, ndjson, json."
    assert error_of(read_run, path, format="parqet") == (
        f"Unknown format 'parqet'; did you mean 'parquet'? {formats}"
    )
    assert error_of(read_run, path, format="xyz") == f"Unknown format 'xyz'. {formats}"


def test_missing(write):
    assert error_of(read_run, "run.txt") == "run.txt: no such file."
    assert error_of(read_run, "a\0b").startswith("a\0b: cannot be read (")  # why, Python says
    path = write("a.run", TEXT)
    assert error_of(read_run, path / "b") == "a.run/b: cannot be read (Not a directory)."


def test_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    assert error_of(read_run, "runs") == "runs: is a directory; give a file."


def test_permission_as_any_user(write, monkeypatch):
    def refuse(*_arguments, **_options):
        raise PermissionError(13, "Permission denied")

    path = write("a.run", TEXT)
    monkeypatch.setattr("pathlib.Path.open", refuse)
    assert error_of(read_run, path) == "a.run: no permission to read it."


def test_the_file_is_gone_at_the_second_look(write):
    path = write("a.run", TEXT)
    run = read_run(path)
    path.unlink()
    assert error_of(run.where, [0]) == "a.run: no such file."


@pytest.mark.parametrize(
    "content", [b"", b"\xef\xbb\xbf", gzip.compress(b""), bz2.compress(b""), stored_zstd(b"")]
)
def test_empty(write, content):
    assert error_of(read_run, write("run.txt", content)) == "run.txt: the file is empty."


def test_empty_standard_input(standard_input):
    standard_input(b"")
    assert error_of(read_run, "-") == "standard input: the input is empty."


@pytest.mark.parametrize("content", ["\n", "  \n\t\n", "# only\n# comments\n", "\r\n"])
def test_no_rows(write, content):
    assert error_of(read_run, write("a.run", content)) == "a.run: holds no rows."
    assert error_of(read_judgements, write("a.qrels", content)) == "a.qrels: holds no rows."


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0", "a PNG image"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "a JPEG image"),
        (b"%PDF-1.7\n", "a PDF document"),
        (b"PK\3\4\0\0", "a zip archive"),
        (b"\x93NUMPY\1\0v\0", "a NumPy array"),
        (b"SQLite format 3\0", "an SQLite database"),
        ("1 Q0 d 1 2 t\n".encode("utf-16"), "UTF-16 text (save it as UTF-8)"),
        (b"1 Q0 d 1 2\0 t\n", "a binary file"),
    ],
)
def test_binary(write, content, what):
    assert error_of(read_run, write("photo", content)) == f"photo: this is {what}, not a run."
    path = write("photo", gzip.compress(content))
    assert error_of(read_judgements, path) == f"photo: this is {what}, not judgements."


@pytest.mark.parametrize(
    ("content", "name", "reason"),
    [
        (COMPRESSED["gz"][:-12], "gzip", "it ends before its end is marked"),
        (COMPRESSED["gz"][:-8] + b"\0" * 8, "gzip", ""),
        (COMPRESSED["gz"] + b"more", "gzip", ""),
        (COMPRESSED["bz2"][:-5], "bzip2", "it ends before its end is marked"),
        (COMPRESSED["bz2"] + b"more", "bzip2", ""),
        (COMPRESSED["xz"][:-5], "xz", "it ends before its end is marked"),
        (COMPRESSED["xz"] + b"more", "xz", ""),
    ],
)
def test_damaged(write, content, name, reason):
    """A second part that cannot be read is not left out in silence."""
    text = error_of(read_run, write("a.run.z", content))
    assert text.startswith(f"a.run.z: the {name} data is damaged or cut off ({reason}")
    assert text.endswith("); fetch or write the file again.")


LINE = b"301 Q0 D%07d 1 2.5 sys\n"
LONG = b"".join(LINE % number for number in range(60_000))
"""Some 1.5 MB."""


@pytest.mark.parametrize(
    ("packed", "rows"),
    [
        (gzip.compress(LONG), 60_000),
        (gzip.compress(LONG[:26_000]) + gzip.compress(LONG[26_000:]), 60_000),
        (bz2.compress(LONG), 60_000),
        (lzma.compress(LONG), 60_000),
        (b"".join(stored_zstd(LONG[at : at + 104_000]) for at in range(0, 1_560_000, 104_000)), 0),
        (b"\x28\xb5\x2f\xfd\x00\x58" + (struct.pack("<I", 10**5 << 3 | 2)[:3] + b"#") * 12, 0),
    ],
    ids=["gz", "gz of two parts", "bz2", "xz", "zst", "zst of blocks that repeat a byte"],
)
def test_a_bound_on_what_is_unpacked(write, monkeypatch, packed, rows):
    """Each way to compress stops at the bound, whatever the file says of its own size."""
    path = write("a.run.z", packed)
    monkeypatch.setenv("JUDGED_MAX_UNPACKED", "1MB")
    assert error_of(read_run, path).endswith(
        "bytes unpack to more than 1,000,000 bytes. If that is meant, set the environment variable "
        "JUDGED_MAX_UNPACKED to a larger size (20GB, say), or unpack the file first: what is not "
        "compressed is not held in memory."
    )
    if rows:
        monkeypatch.setenv("JUDGED_MAX_UNPACKED", "2MB")
        assert read_run(path).frame.height == rows
    monkeypatch.setenv("JUDGED_MAX_UNPACKED", "much")
    assert error_of(read_run, path).startswith("the environment variable JUDGED_MAX_UNPACKED: ")


def test_closed_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    words = "standard input is closed; give a file, or pipe one in."
    assert error_of(read_run, "-") == words


FILES = {
    "a.run": TEXT,
    "a.csv": b"query,item,score\n301,D1,2.5\n301,D2,1.5\n",
    "a.jsonl": b'{"query":"301","item":"D1","score":2.5}\n{"query":"301","item":"D2","score":1.5}',
    "a.json": b'{"301": {"D1": 2.5, "D2": 1.5}}',
}


@pytest.mark.parametrize("name", FILES)
def test_a_name_that_is_not_utf8(folder, name):
    path = os.fsdecode(b"caf\xe9-" + name.encode())
    with open(path, "wb") as file:
        file.write(FILES[name])
    run = read_run(path)
    assert (run.name, run.source) == ("caf\\xe9-a", f"caf\\xe9-{name}")
    assert rows_of(run) == ROWS
    assert error_of(read_run, os.fsdecode(b"caf\xe9")) == "caf\\xe9: no such file."


def test_damaged_zstd(write):
    """The reason between the brackets depends on the versions of Python and polars."""
    text = error_of(read_run, write("a.run.z", COMPRESSED["zst"][:-5]))
    assert text.startswith("a.run.z: the zstd data is damaged")
    assert text.endswith("); fetch or write the file again.")


def test_zstd_that_is_not_utf8(write):
    assert "not UTF-8 text" in error_of(
        read_run, write("a.run.zst", stored_zstd(b"caf\xe9 Q0 d 1 2.5 t\n"))
    )


GOOD = "301 Q0 D11 1 2.5 sys\n"
LONG = "x" * 100
RUN_ERRORS = {
    GOOD * 6 + "301 Q0 D12 1\n": (
        'line 7: expected 6 fields, found 4: "301 Q0 D12 1". A line of a run is: query Q0 item '
        "rank score tag."
    ),
    GOOD + "\n# no\n301 Q0 D12 1 abc sys\n": (
        'line 4: the score is not a number: "abc", in the line "301 Q0 D12 1 abc sys".'
    ),
    GOOD + f"301 Q0 {LONG} 1 abc sys\r\n": (
        f'line 2: the score is not a number: "abc", in the line "301 Q0 {LONG[:72]}…".'
    ),
    "301 Q0 D12 1\n" + GOOD: (
        'line 1: expected 6 fields, found 4: "301 Q0 D12 1". A line of a run is: query Q0 item '
        "rank score tag."
    ),
    "hello world, this is a letter\n": (
        'line 1: the score is not a number: "a", in the line "hello world, this is a letter".'
    ),
}


@pytest.mark.parametrize("text", RUN_ERRORS)
def test_bad_lines_of_a_run(write, text):
    assert error_of(read_run, write("run.txt", text)) == f"run.txt, {RUN_ERRORS[text]}"


JUDGEMENT_ERRORS = {
    "301 0 D1 1\n301 0 D2\n": (
        'line 2: expected 4 fields, found 3: "301 0 D2". A line of judgements is: query 0 item '
        "grade."
    ),
    "301 0 D1 1\n301 0 D2 good\n": (
        'line 2: the grade is not a number: "good", in the line "301 0 D2 good".'
    ),
    "301 0 D1 1\n\n301 0 D2 nan\n": "line 3: the grade is NaN; a grade must be a finite number.",
    "301 0 D1 1\n301  0 D2 -inf\n": (
        "line 2: the grade is minus infinity; a grade must be a finite number."
    ),
    "301 0 D1 1e999\n301  0 D2 -inf\n": (
        "line 1: the grade is infinite; a grade must be a finite number."
    ),
}


@pytest.mark.parametrize("text", JUDGEMENT_ERRORS)
def test_bad_lines_of_judgements(write, text):
    assert (
        error_of(read_judgements, write("qrels.txt", text))
        == f"qrels.txt, {JUDGEMENT_ERRORS[text]}"
    )


def test_not_utf8(write):
    path = write("a.run", GOOD.encode() + b"301 Q0 caf\xe9 1 2.5 sys\n")
    assert error_of(read_run, path) == (
        'a.run, line 2: not UTF-8 text: "301 Q0 caf\\xe9 1 2.5 sys". Convert the file to UTF-8 '
        "first."
    )


def test_the_two_files_in_the_wrong_order(write):
    qrels = write("qrels.txt", "301 0 D1 1\n301 0 D2 0\n")
    run = write("run.txt", GOOD * 2)
    run_columns = "(6 columns: query, Q0, item, rank, score, tag)"
    judgement_columns = "(4 columns: query, iteration, item, grade)"
    question = "Were the two files given in the wrong order?"
    for format in (None, "trec"):
        assert error_of(read_run, qrels, format=format) == (
            f"qrels.txt looks like judgements {judgement_columns}, not a run {run_columns}. "
            f"{question}"
        )
        assert error_of(read_judgements, run, format=format) == (
            f"run.txt looks like a run {run_columns}, not judgements {judgement_columns}. "
            f"{question}"
        )


# Whole lines, whatever the parts in which they come and however lines end


LINES = st.lists(st.sampled_from(["", "x", "yyy", "z" * 9, "w" * 40]), max_size=12)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])
SIZES = st.sampled_from([1, 5, 8, 20, 64, 1000])


@st.composite
def texts(draw: Any) -> bytes:
    """Lines that end in one way or in several, or not at the end."""
    ends = draw(st.one_of(st.just("\n"), ENDS, st.none()))
    lines = draw(LINES)
    text = "".join(line + (ends or draw(ENDS)) for line in lines)
    return (text + draw(st.sampled_from(["", "last"]))).encode()


def lines_of(parts: list[bytes]) -> list[bytes]:
    assert all(block.endswith((b"\n", b"\r")) for block in parts)
    return [line for block in parts for line in block.splitlines()]


@given(text=texts(), size=SIZES, cuts=st.lists(st.integers(0, 100)), back=st.integers(0, 50))
def test_lines_of_parts(text: bytes, size: int, cuts: list[int], back: int) -> None:
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    reader = ByteStream(text[begin:end] for begin, end in pairwise(places) if begin < end)
    reader.put_back(reader.read(back))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "BYTES_PER_READ", 7)
        assert lines_of(list(blocks(reader, size))) == text.splitlines()


@given(text=texts(), size=SIZES, mark=st.booleans())
def test_lines_of_a_file(text: bytes, size: int, mark: bool, tmp_path_factory: Any) -> None:
    path: Path = tmp_path_factory.mktemp("lines") / "run"
    path.write_bytes(b"\xef\xbb\xbf" * mark + text)
    told: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "BYTES_PER_READ", 7)
        with open_stream(path, "run", told.append) as reader:
            assert lines_of(list(blocks(reader, size))) == text.splitlines()
    assert told == sorted(told)
    if len(text) + 3 * mark > 16:  # more than the first bytes, which show the compression
        assert told[-1] == len(text) + 3 * mark


# The format is found by content; the name settles what is left open


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a", "1 Q0 d 1 2.5 t\n", "trec"),
        ("a.csv", "1 Q0 d 1 2.5 t\n", "trec"),
        ("a.tsv", "1\tQ0\td\t1\t2.5\tt\n", "trec"),
        ("a", "1 Q0 a,b 1 2.5 t\n", "trec"),
        ("a", "# c,d\n\n1 Q0 a,b 1 2.5 t\n", "trec"),
        ("a", "1 Q0 a,b one abc t\n", "trec"),
        ("a", "1 2 3\n", "msmarco or scores"),
        ("a.tsv", "1\t2\t3\n", "msmarco or scores"),
        ("a", "q1, d1, 0.5\n", "csv"),
        ("a", "qid,docno,score\n", "csv"),
        ("a.txt", "Query ID,Doc ID,score\n", "csv"),
        ("a", "qid\tdocno\tscore\n", "tsv"),
        ("a.csv", "qid\tdocno\tscore\n", "tsv"),
        ("a", "# comment\nqid\tdocno\tscore\n", "tsv"),
        ("a", "foo,bar,baz\n", "csv"),
        ("a", "foo\tbar\tbaz\n", "tsv"),
        ("a", "q1,d1,0.5\n", "csv"),
        ("a", '{"q": {"d": 1}}', "json"),
        ("a", '{"q":\n {"d": 1}}', "json"),
        ("a", '{"query": "q", "item": "d"}', "ndjson"),
        ("a", '{"q": {}}\n{"q": {}}\n', "ndjson"),
        ("a.jsonl", "nonsense", "ndjson"),
        ("a.json", "nonsense", "json"),
        ("a", '[{"query": "q"}]', "json"),
        ("a", "{q} Q0 d 1 2 t\n", "trec"),
        ("a", "[q] Q0 d 1 2 t\n", "trec"),
        ("a", "PAR1...", "parquet"),
        ("a.parquet", "nonsense", "parquet"),
    ],
)
def test_runs(write, name, text, expected):
    assert detect_format(open_source(write(name, text), RUN)).name == expected


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a", "1 0 d 1\n", "trec"),
        ("a.tsv", "1\t0\td\t1\n", "trec"),
        ("a", "1 0 d 1 extra\n", "trec"),
        ("a", "query-id\tcorpus-id\tscore\n", "tsv"),
        ("a", "1 2 3\n", "trec"),
    ],
)
def test_judgements(write, name, text, expected):
    assert detect_format(open_source(write(name, text), JUDGEMENTS)).name == expected


def test_each_format_has_a_reader_and_an_editor_completes_it():
    assert all(callable(resolve_name(row.reader)) for row in FORMATS.values())
    assert get_args(FileFormat) == tuple(FORMATS)
