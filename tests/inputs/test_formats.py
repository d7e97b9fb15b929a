"""The format is found by content; the name settles what is left open."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import get_args

import pytest

from judged.inputs.formats import FORMATS, detect_format
from judged.inputs.source import open_source
from judged.inputs.tables import JUDGEMENTS, RUN
from judged.options import FileFormat


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
