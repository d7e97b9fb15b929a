"""Every refusal: the whole message, a non-zero exit code, no traceback, nothing half-written."""

import pytest

from judged.cli import main


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.run", b"", "empty.run: the file is empty."),
        (
            "photo.run",
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
            "photo.run: this is a PNG image, not a run.",
        ),
        (
            "other.run",
            b"7 Q0 x 1 1.0 a\n",
            "other.run and qrels have no query in common. The run has '7'; "
            "the judgements have 'q1', 'q2', 'q3'. Do the two belong to the same collection?",
        ),
        (
            "padded.run",
            b"q01 Q0 x 1 1.0 a\n",
            "padded.run and qrels have no query in common. The run has 'q01'; "
            "the judgements have 'q1', 'q2', 'q3'. "
            "Their numbers agree, the letters around them do not: ids are compared as exact texts.",
        ),
        (
            "steering.run",
            b"\x1b[2J\x07\x1d\xe9\n",
            'steering.run, line 1: not UTF-8 text: "\\x1b[2J\\x07\\x1d\\xe9". '
            "Convert the file to UTF-8 first.",
        ),
        (
            "nan.run",
            b"# two comments\n#\nq1 Q0 x 1 nan a\nq1 Q0 y 2 nan a\n",
            "nan.run, line 3: the score of item 'x' for query 'q1' is NaN (and 1 more). "
            "A NaN cannot be ranked; give it a number or remove it.",
        ),
        (
            "twice.run",
            b"q1 Q0 x 1 2 a\n\nq1 Q0 y 2 1 a\nq1 Q0 x 3 0 a\n",
            "twice.run, lines 1 and 4: query 'q1' has item 'x' more than once. "
            "Remove the repetitions, or keep the best-ranked of each with "
            "--duplicates first.",
        ),
    ],
)
def test_bad_runs(judged, files, name, content, message):
    (files / name).write_bytes(content)
    result = judged("evaluate qrels", name)
    assert (result.code, result.out, result.err) == (2, "", f"judged: {message}\n")


def test_a_failed_evaluation_leaves_the_old_output_alone(judged, files):
    (files / "scores.json").write_text("old")
    result = judged("evaluate qrels a.run -m TN@3 -o scores.json")
    assert result.code == 2
    assert (files / "scores.json").read_text() == "old"
    assert sorted(path.name for path in files.iterdir()) == [
        "a.run",
        "b.run",
        "qrels",
        "scores.json",
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate", "qrels", "a.run"],
        ["conventions", "qrels", "a.run"],
        ["explain", "0 1"],
        ["embeddings", "v.csv", "v.csv", "--pairs"],
        ["temperature", "v.csv", "v.csv", "--pairs"],
        ["temperature", "--train", "v.csv", "v.csv", "--pairs"],
    ],
)
@pytest.mark.parametrize("name", ["x.png", "x.SVG"])
def test_text_is_not_written_into_a_picture(judged, files, arguments, name):
    result = judged(*arguments, "-o", name)
    assert result.code == 2
    assert result.err.startswith(
        f"judged: {name}: the ending says the format, and must be .json, .csv, .md, .html, .txt"
    )
    assert result.err.endswith(" or .parquet.\n")
    assert not (files / name).exists()


LONG_CELL = "7" * 200_000
HOSTILE = {
    "deep.json": '{"q1":' + '{"a":' * 100_000 + "1" + "}" * 100_001,
    "deep.jsonl": '{"query":"q1","weight":' + "[" * 100_000 + "]" * 100_000 + "}\n",
    "cell.csv": f"query,weight\nq1,{LONG_CELL}\nq2,1\n",
    "cell.tsv": f"query\tweight\n{LONG_CELL}\t1\n",
    "open.csv": f'query,weight\nq1,"{LONG_CELL}\n',
    "golden.csv": f"query,minimum\nq1,{LONG_CELL}\n",
    "texts.csv": f"query,text\nq1,{LONG_CELL}\n",
    "large.json": '{"what": "temperature sweep", "candidates": 1' + "0" * 400 + "}",
}


def test_hostile_files_and_options_are_refused_in_words(judged, files):
    for name, text in HOSTILE.items():
        (files / name).write_text(text)
    gate = ("gate", "qrels", "b.run", "--baseline", "kept.json")
    assert judged(*gate, "--update-baseline").code == 0
    weights = ("deep.json", "deep.jsonl", "cell.csv", "cell.tsv", "open.csv")
    calls = {
        **{name: ("evaluate", "qrels", "a.run", "--weights", name) for name in weights},
        "golden.csv": (*gate, "--golden", "golden.csv"),
        "texts.csv": ("retriever", "qrels", "os.path:join", "--queries", "texts.csv"),
        "large.json": ("plot", "temperature", "large.json", "-o", "plot.json"),
        "grades": ("serve", ".", "--annotator", "ar", "--grades", f"0 no, {LONG_CELL}"),
        "level": ("compare", "qrels", "a.run", "b.run", "--level", "0.9999999999999999"),
    }
    failures = {}
    for name, call in calls.items():
        result = judged(*call)
        named = name in result.err
        if result.code != 2 or not named or not 20 < len(result.err) < 700:
            failures[name] = (result.code, result.err[-300:])
    assert failures == {}


def test_text_for_people_cuts_long_ids(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    queries = [f"q{number}{'x' * 2000}" for number in range(20)]
    item = "y" * 2000
    (tmp_path / "qrels").write_text("".join(f"{query} 0 x 1\n" for query in queries))
    for run, first in (("good", "x"), ("bad", item)):
        lines = (f"{query} Q0 {first} 1 2 a\n" for query in queries)
        (tmp_path / run).write_text("".join(lines))
    texts = "".join(f"{query}\tthe same text\n" for query in queries)
    (tmp_path / "texts.tsv").write_text(texts)
    gate = ["gate", "qrels", "bad", "--baseline", "good", "-m", "RR"]
    calls = [
        ["check", "qrels", "bad", "--queries", "texts.tsv"],
        [*gate, "-o", "gate.xml", "-o", "gate.md"],
        ["queue", "qrels", "bad"],
        ["evaluate", "qrels", "bad", "-m", "RR", "--per-query"],
        ["explain", "qrels", "bad"],
    ]
    for call in calls:
        with pytest.raises(SystemExit):
            main(call)
        shown = capsys.readouterr()
        text = shown.out + shown.err
        assert "x" * 70 in text, call
        assert "x" * 100 not in text, call
        assert "y" * 100 not in text, call
    for name in ("gate.xml", "gate.md"):
        text = (tmp_path / name).read_text()
        assert "x" * 70 in text, name
        assert "x" * 100 not in text, name
    for form in ("json", "csv"):
        with pytest.raises(SystemExit):
            main(["evaluate", "qrels", "bad", "--per-query", "--format", form])
        assert queries[0] in capsys.readouterr().out


def test_refusals(refuses, files):
    long = "x" * 300
    refuses(f"evaluate qrels {long}\n    judged: {long}: cannot be read (File name too long).")
    refuses("""
    evaluate qrels a.run -m nDCG@0
        judged: k of nDCG must be a whole number from 1, or R; got 0.
    evaluate qrels a.run -m P@-3
        judged: k of P must be a whole number from 1, or R; got -3.
    evaluate qrels a.run --depth 0
        judged: --depth must be a whole number from 1; got 0.
    evalute qrels a.run
        Error: There is no command 'evalute'; did you mean 'evaluate'?
    evaluate qrels a.run --ties odd
        Error: Invalid value for '--ties': 'odd' is not one of 'id', 'input', 'best', 'worst',
        'expected'.
    evaluate a.run qrels
        judged: a.run looks like a run (6 columns: query, Q0, item, rank, score, tag), not
        judgements (4 columns: query, iteration, item, grade). Were the two files given in the
        wrong order?
    evaluate qrels a.run --item-to '#'
        judged: --item-to must be doc:SEPARATOR, such as doc:#, pattern:REGEX, column:NAME or
        table:FILE; got '#'.
    evaluate qrels a.run --columns item=chunk_id
        judged: columns, item=chunk_id: there is no column "chunk_id". qrels has no header with
        names of columns; a.run has no header with names of columns.
    evaluate qrels a.run --unanswerable --answer-threshold nan
        judged: --answer-threshold must be a finite number; got nan.
    evaluate qrels a.run --convention ranks
        judged: There is no convention 'ranks'; did you mean 'ranx'? The conventions are beir,…
    """)
    for call in ("evaluate", "conventions", "identify 0.5", "explain", "plot cmc -o x.csv"):
        for alone in ("qrels", "a.run"):
            refuses(f"{call} {alone}\n    judged: judgements and a run are needed, in this order…")
