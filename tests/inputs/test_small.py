"""Small files are read without polars; numbers, notes and errors are those of all other files."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import judged
from judged.cli._trec_eval import TrecEvalOptions, printed
from judged.errors import JudgedError
from judged.inputs import read_table, trec
from judged.inputs.source import open_source
from judged.inputs.tables import JUDGEMENTS, RUN, Lookup
from judged.inputs.trec import read_small
from support.loops import for_each

MEASURES = ["AP", "nDCG@3", "RR", "Judged@2", "Bpref", "R@2", "NumRet", "alpha_nDCG@3"]
QRELS = "q1 0 a 2\nq1 0 b 0\nq1 0 c -1\nq2 0 a 1\nq2 0 b 0.5\nq3 0 z 0\n"
LISTS = """\
q1 Q0 x 1 2.5 tag
q1 Q0 a 2 2.5 tag
q1 Q0 b 3 2.5 tag
q1 Q0 c 4 -0.0 tag
q2 Q0 b 1 1e-3 tag
q2 Q0 a 2 0.001 tag
q9 Q0 a 1 7 tag
"""
EVERYTHING = TrecEvalOptions(("all_trec",), queries=True, complete=True)


def outcomes(qrels: Path, run: Path, **options: object) -> list[str]:
    """All that an evaluation and trec_eval's lines say, or the error."""
    said = []
    for form in (
        lambda: judged.evaluate(qrels, run, MEASURES, **options).to_json(per_query=True),
        lambda: "\n".join(printed(str(qrels), str(run), EVERYTHING)),
    ):
        try:
            said.append(form())
        except JudgedError as error:
            said.append(f"{type(error).__name__}: {error}")
    return said


class Ways(NamedTuple):
    """What is said of two files by either way of reading, and which were read as small ones."""

    small: list[str]
    large: list[str]
    taken: tuple[bool, bool]


@pytest.fixture
def both_ways(tmp_path, monkeypatch):
    """Two texts as files, evaluated as small files and as large ones: what each says, and whether
    the small way was taken for both."""

    def compare(qrels: str | bytes, run: str | bytes, **options: object) -> Ways:
        files = tmp_path / "some.qrels", tmp_path / "some.run"
        for file, text in zip(files, (qrels, run), strict=True):
            file.write_bytes(text.encode() if isinstance(text, str) else text)
        here = outcomes(*files, **options)
        with monkeypatch.context() as patch:
            patch.setattr(trec, "BYTES_WORTH_POLARS", -1)
            large = outcomes(*files, **options)
        return Ways(here, large, taken(*files))

    return compare


def taken(qrels: Path, run: Path) -> tuple[bool, bool]:
    """Whether each was read without polars."""
    try:
        sources = open_source(qrels, JUDGEMENTS), open_source(run, RUN)
    except JudgedError:
        return False, False
    judgements, results = (read_small(source, "run") is not None for source in sources)
    return judgements, results


@pytest.mark.filterwarnings("ignore::judged.JudgedWarning")
@for_each("ties", ["id", "input", "best", "worst", "expected"])
@for_each(
    "change",
    [
        lambda text: text,
        lambda text: text.replace(" ", "\t"),
        lambda text: text.replace(" ", "  \t"),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", " \r"),
        lambda text: "\ufeff" + text,
        lambda text: "# first\n\n" + text.replace("q2", "  # another q q q q\nq2", 1),
        lambda text: text.rstrip("\n"),
        lambda text: text.replace("a ", "é\u00a0ü\ufeff "),
        lambda text: gzip.compress(text.encode()),
        lambda text: "".join(sorted(text.splitlines(True), key=lambda line: hash(line[3:]))),
    ],
)
def test_plain_texts_of_all_kinds(both_ways, change, ties):
    found = both_ways(change(QRELS), change(LISTS), policy={"ties": ties})
    assert found.small == found.large
    assert found.taken == (True, True)


@pytest.mark.filterwarnings("ignore::judged.JudgedWarning")
@for_each("duplicates", ["error", "first"])
@for_each(
    ("qrels", "run"),
    [
        (QRELS, LISTS + "q1 Q0 a 9 1 tag\n"),
        (QRELS + "q1 0 a 2\n", LISTS),
        (QRELS.replace("q2 0", "q2 1"), LISTS),
        (QRELS.replace("-1", "nan"), LISTS),
        (QRELS.replace("-1", "1e999"), LISTS),
        (QRELS.replace("-1", ""), LISTS),
        (QRELS.replace("-1", "many"), LISTS),
        (QRELS.replace("-1", "1_0"), LISTS),
        ("".join(f"q1 0 {item} 1400000000\n" for item in "abc"), LISTS),
        (QRELS, LISTS.replace("2.5", "nan", 1)),
        (QRELS, LISTS.replace("2.5", "inf")),
        (QRELS, LISTS.replace("2.5", "-1e999", 1)),
        (QRELS, LISTS.replace("2.5", "two")),
        (QRELS, LISTS.replace(" tag", "", 1)),
        (QRELS, LISTS.replace("x 1", "x y 1")),
        (QRELS, LISTS.replace("tag", "tag more")),
        (QRELS, LISTS.replace("tag\n", "tag tag\n", 1).replace("q2 Q0 b", "q2 b", 1)),
        (QRELS, LISTS.encode().replace(b"x", b"\xff")),
        (QRELS, LISTS.encode().replace(b"tag", b"\xff")),
        (QRELS, "q1 Q0 q1 1 9 t\nq1 Q0 a 2 8 t\nq2 Q0 q2 1 9 t\n"),
        (QRELS, QRELS),
        (QRELS, "q7 Q0 a 1 2 t\n"),
        (QRELS, ""),
        (QRELS, "# nothing\n"),
        ("", LISTS),
        (QRELS, "q1 Q0 a 1 0.1 t\nq1 Q0 b 2 0.2 t\nq1 Q0 c 3 0.3 t\n"),
        (QRELS, "".join(f"q1 Q0 {i} 1 9007199254740993 t\n" for i in "abc")),
        (QRELS, LISTS.replace("2.5", "0." + "123456789" * 40)),
        ("q1,0,a,1\n", LISTS),
        (QRELS, "query,item,score\nq1,a,1\n"),
        ("q1 a\n", LISTS),
        (QRELS.replace("q1", '"q1"'), LISTS.replace("q1", '"q1"')),
    ],
)
def test_odd_texts(both_ways, qrels, run, duplicates):
    found = both_ways(qrels, run, duplicates=duplicates)
    assert found.small == found.large


IDS = st.sampled_from(["a", "b", "B", "é", "q1", "#1", "1", "01", '"c', "\u00a0d", "x,y"])
NUMBERS = st.one_of(
    st.sampled_from(
        ["0", "-0.0", "1", "01", "1.", ".5", "+2", "-3", "1e2", "1E-2", "0.30000000000000004"]
    ),
    st.floats(-1e6, 1e6).map(repr),
    st.decimals(-1000, 1000, places=6).map(str),
)
GAPS = st.sampled_from([" ", " ", " ", "\t", "  ", " \t "])
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", "\n\n", " \n", "\n# said\n"])


@st.composite
def texts(draw: st.DrawFn, kind: str) -> str:
    """A text of judgements or of a run, plain or not quite."""
    gap, end = draw(GAPS), draw(ENDS)
    pairs = draw(
        st.lists(st.tuples(st.sampled_from(["q1", "q2", "é"]), IDS), min_size=1, unique=True)
    )
    lines = []
    for rank, (query, item) in enumerate(pairs, 1):
        number = draw(NUMBERS)
        fields = (
            [query, "0", item, number]
            if kind == "qrels"
            else [query, "Q0", item, str(rank), number, "t"]
        )
        lines.append(gap.join(fields) + end)
    return "".join(lines)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@pytest.mark.filterwarnings("ignore::judged.JudgedWarning")
@given(qrels=texts("qrels"), run=texts("run"), ties=st.sampled_from(["id", "input", "expected"]))
def test_any_texts(both_ways, qrels, run, ties):
    found = both_ways(qrels, run, policy={"ties": ties})
    assert found.small == found.large


def test_the_name_the_tag_and_the_source(tmp_path):
    file = tmp_path / "bm25.run.txt"
    file.write_text(LISTS)
    run = read_table(str(file), RUN, small=True)
    assert isinstance(run, Lookup)
    assert (run.name, run.tag, run.source) == ("bm25", "tag", str(file))


@pytest.mark.parametrize("command", ["evaluate", "trec-eval"])
def test_a_small_evaluation_loads_neither_polars_nor_rich(tmp_path, command):
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(LISTS)
    code = (
        "import sys, judged.cli\n"
        "try: judged.cli.main(sys.argv[1:])\n"
        "except SystemExit: print({'polars', 'rich', 'scipy'} & set(sys.modules))"
    )
    call = [sys.executable, "-c", code, command, "qrels", "run"]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"
