"""`judged agreement` and `judged merge`, as a newcomer uses them."""

from __future__ import annotations

from pathlib import Path

import pytest

import judged as library
from support.tables import rows_of

ANN = "".join(f"q{at} 0 a {at % 3}\nq{at} 0 b {at % 2}\nq{at} 0 c 0\n" for at in range(12))
BOB = "".join(f"q{at} 0 a {at % 3}\nq{at} 0 b 0\nq{at} 0 d 1\n" for at in range(12))
CARL = "".join(f"q{at} 0 a 1\nq{at} 0 b {at % 2}\n" for at in range(12))
RUN = "".join(
    f"q{at} Q0 {item} 1 {score} x\n" for at in range(12) for item, score in (("a", 2), ("b", 1))
)
OTHER = RUN.replace(" 2 x", " 0 x")


@pytest.fixture
def judges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "ann.qrels": ANN,
        "bob.qrels": BOB,
        "carl.qrels": CARL,
        "x.run": RUN,
        "y.run": OTHER,
    }.items():
        Path(name).write_text(text)
    return tmp_path


def test_two_judges(judged, judges) -> None:
    done = judged("agreement ann.qrels bob.qrels")
    assert (done.code, done.err) == (0, "")
    found = library.agreement("ann.qrels", "bob.qrels")
    assert found.to_text().startswith(done.out.strip())
    assert done.out.startswith("ann and bob gave the same grade to 75.0 % (")
    assert "24 of 48 items were graded by one assessor only and are left out." in done.out
    assert "\n\nnumber " in done.out


def test_a_merger(judged, judges) -> None:
    done = judged("merge ann.qrels bob.qrels carl.qrels -o merged.qrels")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == "48 items of 12 queries, judged: 24 by 1 assessor, 24 by 3 assessors."
    assert lines[-1] == "Rule majority: the most frequent grade, the lowest of several."
    wanted = library.merge_judgements(["ann.qrels", "bob.qrels", "carl.qrels"])
    again = library.read_judgements("merged.qrels")
    assert again.frame.equals(wanted.frame)
    assert done.err.endswith(f"wrote merged.qrels ({Path('merged.qrels').stat().st_size} bytes)\n")


def test_rules_and_formats(judged, judges) -> None:
    for rule in ("mean", "median", "highest", "lowest", "first"):
        for ending in ("csv", "json", "parquet", "qrels"):
            path = f"{rule}.{ending}"
            done = judged("merge A=ann.qrels B=carl.qrels --rule", rule, "-o", path)
            assert done.code == 0
            wanted = library.merge_judgements({"A": "ann.qrels", "B": "carl.qrels"}, rule=rule)
            assert rows_of(library.read_judgements(path)) == wanted.frame.rows()


def test_what_is_refused(refuses, judges):
    refuses("""
    agreement ann.qrels x.run
        judged: x.run looks like a run (6 columns: query, Q0, item, rank, score, tag), not
        judgements. The judgements of two assessors come first, then runs; give further
        assessors as --judge FILE.
    agreement ann.qrels bob.qrels carl.qrels
        judged: carl.qrels looks like judgements (4 columns: query, iteration, item, grade), not
        a run. The judgements of two assessors come first, then runs; give further assessors as
        --judge FILE.
    agreement - -
        judged: standard input (-) can be read only once; give the other as a file.
    agreement ann.qrels
        Error: Missing argument 'QRELS'.
    merge ann.qrels x.run -o merged.qrels
        judged: x.run looks like a run (6 columns: query, Q0, item, rank, score, tag), not
        judgements. Only judgements can be merged.
    """)
