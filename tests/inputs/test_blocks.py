"""Runs in blocks: the rows, lines, notes and errors of the whole run, wherever it is cut."""

from __future__ import annotations

import bz2
import gc
import gzip
import io
import lzma
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judged import config, evaluate
from judged.errors import InputError, JudgedWarning, OutputError
from judged.inputs import csv, frames, large_runs, read_run
from judged.inputs.blocks import Room, RunBlocks
from judged.inputs.large_runs import read_run_or_blocks
from judged.inputs.source import ahead
from judged.inputs.tables import Lookup, Run
from support.errors import error_of

ROOM = Room.of("1GB")
ROWS = [(f"q{n // 7}", f"d{n * 13 % 29}", float(n % 5)) for n in range(60)]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is large, and blocks are small."""
    monkeypatch.setattr("judged.inputs.source.SMALL", 1)
    monkeypatch.setattr(large_runs, "_BYTES_IN_STREAM", 200)
    monkeypatch.setattr(Room, "block", 70)
    monkeypatch.setattr(frames, "_ROWS_PER_BATCH", 9)


def text(rows: list[tuple[str, str, float]] = ROWS) -> str:
    return "".join(f"{query} Q0 {item} 1 {score!r} tag\n" for query, item, score in rows)


def parts(given: Any, judged: frozenset[str] | None = None, **options: Any) -> list[Run]:
    run = read_run_or_blocks(given, ROOM, **options)
    assert isinstance(run, RunBlocks)
    found = run.gather(lambda: list(run.blocks(judged)))
    if options.get("format") == "trec":
        whole = read_run(given, **options)
        assert str(run.tag) == whole.tag
    assert all(isinstance(each, Run) and each.part for each in found)
    return [each for each in found if isinstance(each, Run)]


def places(run: Run) -> list[str]:
    return [run.where([row]) for row in range(run.frame.height)]


def assert_whole(found: list[Run], whole: Run | Lookup) -> None:
    """The blocks are the run: rows, their places, notes; and no query is in two of them."""
    assert isinstance(whole, Run)
    queries = [set(each.names()) for each in found]
    assert sum(map(len, queries)) == len(set().union(*queries))
    ours = pl.concat([each.frame for each in found])
    theirs = whole.frame
    where = [place for each in found for place in places(each)]
    order = [(*row, place) for row, place in zip(ours.rows(), where, strict=True)]
    expected = [(*row, place) for row, place in zip(theirs.rows(), places(whole), strict=True)]
    assert sorted(order, key=repr) == sorted(expected, key=repr)
    for query in set().union(*queries):  # rows of a query stay in their order
        assert [row for row in order if row[0] == query] == [
            row for row in expected if row[0] == query
        ]
    from judged.text import merged

    assert merged(each.notes for each in found) == whole.notes


LINES = st.lists(
    st.tuples(
        st.sampled_from(["q1", "q2", "q3", "\u00fc", "9"]),
        st.integers(0, 10**6),
        st.sampled_from([" ", "\t", "  "]),
        st.sampled_from(["\n", "\n", "\n", "\r\n", " \n", "\n\n", "\n# 1 2 3\n", " x\n", "\r"]),
    ),
    min_size=1,
    max_size=25,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(LINES, st.integers(30, 200), st.booleans(), st.booleans(), st.booleans())
def test_wherever_a_text_is_cut(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    lines: Any,
    size: int,
    ended: bool,
    marked: bool,
    grouped: bool,
) -> None:
    if grouped:
        lines = sorted(lines, key=lambda line: line[0])
    content = "".join(
        gap.join([query, "Q0", f"d{item}", "1", f"{item / 7}", "t"]) + end
        for query, item, gap, end in lines
    )
    content = ("\ufeff" if marked else "") + (content if ended else content.rstrip("\r\n"))
    path = tmp_path / "a.run"
    path.write_bytes(content.encode())
    monkeypatch.setattr(Room, "block", size)
    assert_whole(parts(path, format="trec"), read_run(path, format="trec"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_wherever_a_table_is_cut(tmp_path: Path, data: Any) -> None:
    cell = st.sampled_from(["a", "b", '"a"', '"x,y"', '"two\nlines"', '"say ""so"""'])
    rows = data.draw(
        st.lists(st.tuples(cell, cell, st.sampled_from(["1", "2.5", '"3"'])), min_size=1)
    )
    names = data.draw(st.booleans())
    body = "".join(
        f"{query},{item}{n},{score}\n"
        if not item.endswith('"')
        else f'{query},{item[:-1]}{n}",{score}\n'
        for n, (query, item, score) in enumerate(rows)
    )
    if names:
        body += "alone,,\n"
    path = tmp_path / "a.csv"
    path.write_text("# a comment\n\nquery,item,score\n" + body, encoding="utf-8")
    assert_whole(parts(path), read_run(path))


def test_blocks_end_where_a_row_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise all that follows would be read row by row, which takes ten times as long."""
    monkeypatch.setattr(csv.DelimitedReader, "_row_by_row", None)
    path = tmp_path / "a.csv"
    rows = "".join(f'q{n // 7},"two\nlines {n}",{n}\n' for n in range(40))
    path.write_text(f"query,item,score\n{rows}", encoding="utf-8")
    assert_whole(parts(path), read_run(path))


def test_a_quotation_mark_inside_a_cell(tmp_path: Path) -> None:
    """What readers disagree about is read row by row from there on."""
    path = tmp_path / "a.csv"
    rows = "".join(f'q{n},the {n}" disk,{n}\n' for n in range(20))
    path.write_text(f"query,item,score\nq,a,1\nq,b,2\n{rows}", encoding="utf-8")
    assert_whole(parts(path), read_run(path))


@pytest.mark.parametrize("order", ["grouped", "mixed"])
@pytest.mark.parametrize("kind", ["gz", "members", "bz2", "xz", "csv.gz", "parquet", "lazy"])
def test_other_ways_in(tmp_path: Path, kind: str, order: str) -> None:
    rows = ROWS if order == "grouped" else ROWS[::7] + [row for n, row in enumerate(ROWS) if n % 7]
    frame = pl.DataFrame(rows, schema=["query_id", "item", "score"], orient="row")
    content = text(rows).encode()
    path = tmp_path / f"a.run.{kind}"
    packed: dict[str, Callable[[], bytes]] = {
        "gz": lambda: gzip.compress(content),
        "members": lambda: gzip.compress(content[:100]) + gzip.compress(content[100:]),
        "bz2": lambda: bz2.compress(content),
        "xz": lambda: lzma.compress(content),
        "csv.gz": lambda: gzip.compress(frame.write_csv().encode()),
    }
    given: Any = path
    if kind == "parquet":
        frame.write_parquet(path, row_group_size=4)
    elif kind == "lazy":
        given = frame.lazy()
    else:
        path.write_bytes(packed[kind]())
    assert_whole(parts(given), read_run(given))


def test_zstd_is_streamed_where_a_library_is_there(tmp_path: Path) -> None:
    zstd = pytest.importorskip(
        "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    )
    path = tmp_path / "a.run.zst"
    path.write_bytes(zstd.compress(text().encode()[:90]) + zstd.compress(text().encode()[90:]))
    assert_whole(parts(path), read_run(path))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.run", text() + "q Q0 d 1 high tag\n"),
        ("a.run", text() + "# comment\n\nq Q0 d 1\n" + text()),
        ("a.run", text()[:400] + "\n" + text()[400:]),
        ("a.run", text() + "q Q0 a b 1 1.5 tag x\n"),
        ("a.run", text().replace("d13 1", "d\udcff 1")),
        ("a.csv", "query,item,score\n" + "q,a,1\n" * 20 + "q,b\n"),
        ("a.csv", "query,item,score\n" + "q,a,1\n" * 20 + ",b,1\n"),
        ("a.csv", "query,item,score\n" + "q,a,1\n" * 20 + 'q,"b,1\n'),
        ("a.csv", "query,item,rank\n" + "q,a,1\n" * 20 + "q,b,-1\n"),
        ("a.tsv", "".join(f"q\td{n}\t{n}\n" for n in range(30)) + "q\tx\t3\n"),
        ("a.run", "# only\n" * 40),
    ],
)
def test_errors_are_those_of_the_whole(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    whole = error_of(lambda: read_run(path))
    assert error_of(lambda: parts(path)) == whole


def test_rows_of_queries_that_nobody_judged_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    for rows in (ROWS, ROWS[30:] + ROWS[:30]):
        path.write_text(text(rows), encoding="utf-8")
        found = parts(path, frozenset(["q2", "q4", "never"]))
        assert {row[0] for each in found for row in each.frame.rows()} == {"q2", "q4"}
        assert sum(each.passed.rows for each in found) == len(ROWS) - 14
        assert sum(each.passed.queries for each in found) == 7
        assert [name for each in found for name in each.passed.names]


def test_only_judged_queries_need_to_come_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.run"
    apart = [row for n, row in enumerate(ROWS) if row[0] == "q1"]
    path.write_text(text(apart + ROWS[::2] + ROWS[1::2]), encoding="utf-8")
    found = parts(path, frozenset(["never", "neither"]))
    assert sum(each.passed.queries for each in found) == 9
    assert capsys.readouterr().err == ""
    parts(path)
    said = f"{path}: is not grouped by query; its rows are put on disk by query first.\n"
    assert capsys.readouterr().err == said


def test_one_query_of_a_run(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text(text(), encoding="utf-8")
    run = read_run_or_blocks(path, ROOM)
    assert isinstance(run, RunBlocks)
    one = run.only("q3")
    assert isinstance(one, Run)
    assert one.frame.rows() == [row for row in ROWS if row[0] == "q3"]
    assert one.where([0]) == "line 22"
    assert run.only("nobody") is None


def test_a_folder_of_parquet_files_is_one_run(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    for part, query in enumerate(("007", "8 x")):
        rows = pl.DataFrame({"query": [query] * 2, "item": ["a", "b"], "score": [2.0, 1.0]})
        rows.write_parquet(folder / f"part-{part}.parquet")
    (folder / "_SUCCESS").touch()
    found = parts(folder)
    rows = [row for each in found for row in each.frame.rows()]
    assert rows == [("007", "a", 2.0), ("007", "b", 1.0), ("8 x", "a", 2.0), ("8 x", "b", 1.0)]
    assert found[0].name == "runs"
    pl.DataFrame({"query": ["q"], "item": ["a"]}).write_parquet(folder / "part-2.parquet")
    assert error_of(lambda: parts(folder)).startswith(f"{folder}: cannot be read (")


@pytest.mark.parametrize("what", ["NaN", "more than once"])
def test_how_many_more_there_are_is_true_of_a_block(tmp_path: Path, what: str) -> None:
    """A block tells what it holds: other blocks may hold more."""
    path = tmp_path / "a.run"
    score, item = ("nan", "b{}") if what == "NaN" else ("0", "b")
    lines = (f"q{n // 9} Q0 {item.format(n)} 1 {score} t\n" for n in range(27))
    path.write_text("".join(lines), encoding="utf-8")
    judgements = {f"q{n}": {"b": 1} for n in range(3)}
    blockwise = error_of(lambda: evaluate(judgements, path, "RR"))
    whole = error_of(lambda: evaluate(judgements, read_run(path), "RR"))
    many = ("26 more", "at least 8 more") if what == "NaN" else ("2 more such pairs", "")
    assert f"{what} (and {many[0]}). " in whole
    assert (f"{what} (and {many[1]}). " if many[1] else f"{what}. ") in blockwise


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("a.run", "it holds a.run"),
        ("_delta_log", "it holds _delta_log"),
        ("day=1", "it holds day=1"),
        (None, "no such file is in it"),
    ],
)
def test_another_folder_is_refused(tmp_path: Path, name: str | None, why: str) -> None:
    if name:
        (tmp_path / name).write_text(text(), encoding="utf-8")
    assert error_of(lambda: read_run_or_blocks(tmp_path, ROOM)) == (
        f"{tmp_path}: is a folder, and only a folder of Parquet files is read, as one run; {why}. "
        f"Of several runs name the files: {tmp_path}/*."
    )


def test_of_queries_that_begin_with_a_comment_sign_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    lines = (f"{'#' * (n % 7 == 3)}q{n // 7} Q0 d{n} 1 {-n} t\n" for n in range(60))
    path.write_text("".join(lines), encoding="utf-8")
    judgements = {f"q{n}": {f"d{7 * n}": 1} for n in range(8)}
    with pytest.warns(JudgedWarning):
        found = evaluate(judgements, path, "RR").warnings()
    skipped = [text for text in found if "begins with #" in text]
    assert len(skipped) == 1
    assert skipped[0].startswith('The line "#q')


def test_what_does_not_fit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.run"
    long = [("q", f"d{n}", float(n)) for n in range(50)]
    monkeypatch.setattr(Room, "rows", 20)
    for rows in ([*long, *ROWS[:7]], [*ROWS[:7], *long, *ROWS[3:7]]):
        path.write_text(text(rows), encoding="utf-8")
        found = error_of(lambda: parts(path, frozenset(["q", "q0"])))
        assert found.startswith(f"{path}: query 'q' has ")
        assert found.endswith(
            " results or more, which take 0.1 GB; memory is 1 GB. A list has to fit: give more "
            "memory (judged.config(memory='0.1GB')), or cut the lists of the run."
        )
    assert parts(path, frozenset(["q1"]))  # what nobody judged may be as long as it likes


def test_small_blocks_hold_a_cap() -> None:
    assert Room.of("100MB").rows == 833_333
    with pytest.raises(InputError, match=r"^memory must be at least 20MB; got '1MB'\.$"):
        Room.of("1MB")
    assert error_of(config, temporary="/no/where") == (
        "temporary: there is no folder '/no/where'; make it first."
    )
    assert error_of(config, temporary=3) == "temporary must be a folder; got 3."


@pytest.mark.parametrize("end", ["grows", "shrinks"])
def test_a_file_that_changes_meanwhile(tmp_path: Path, end: str) -> None:
    path = tmp_path / "a.run"
    path.write_text(text(), encoding="utf-8")
    size = path.stat().st_size
    run = read_run_or_blocks(path, ROOM)
    assert isinstance(run, RunBlocks)
    coming = run.blocks(None)
    next(coming)
    with path.open("r+b") as handle:
        if end == "shrinks":
            handle.truncate(size - 40)
        else:
            handle.seek(size)
            handle.write(b"q99 Q0 d 1 1.0 tag\n")
    after = path.stat().st_size
    assert error_of(lambda: list(coming)) == (
        f"{path}: changed while it was read (from {size:,} to {after:,} bytes); wait until nothing "
        "writes to it, and try again."
    )


@pytest.mark.parametrize("fails", ["while writing", "while reading back", "while judging"])
def test_the_temporary_folder_is_gone_whatever_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    """And until then only its owner can read it."""
    path, home = tmp_path / "a.run", tmp_path / "temporary"
    path.write_text(text(ROWS[::2] + ROWS[1::2]), encoding="utf-8")
    home.mkdir()
    seen: list[int] = []

    def interrupted(*_: Any) -> Any:
        (folder,) = home.iterdir()
        seen.append(folder.stat().st_mode & 0o777)
        raise KeyboardInterrupt

    run = read_run_or_blocks(path, Room.of("1GB", home))
    assert isinstance(run, RunBlocks)
    if fails == "while writing":
        monkeypatch.setattr(large_runs._RowsOnDisk, "write", interrupted)
    elif fails == "while reading back":
        monkeypatch.setattr(large_runs._RowsOnDisk, "_read", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run.gather(lambda: [any(home.iterdir()) and interrupted() for _ in run.blocks(None)])
    assert seen == [0o700]
    assert list(home.iterdir()) == []


def test_reading_ahead_that_nobody_closed_stops_nothing() -> None:
    """It is cleared away with its thread, which ends before anything can be asked of it."""
    closed = []

    def things() -> Iterator[int]:
        try:
            yield from range(9)
        finally:
            closed.append(True)

    def left_behind() -> None:
        coming = ahead(things())
        assert next(coming) == 0
        circle: list[Any] = [coming]
        circle.append(circle)

    def clear() -> None:
        left_behind()
        gc.collect()

    thread = Thread(target=clear, daemon=True)
    thread.start()
    thread.join(30)
    assert not thread.is_alive()
    assert closed == [True]


@pytest.mark.filterwarnings("ignore::judged.errors.JudgedWarning")
@pytest.mark.parametrize("grouped", [True, False])
@pytest.mark.parametrize("options", [{}, {"convention": "beir"}])
def test_own_ids_are_counted_in_queries_that_nobody_judged_too(
    tmp_path: Path, grouped: bool, options: dict[str, Any]
) -> None:
    rows = [(f"q{n // 7}", f"q{n % 7}", float(n % 5)) for n in range(49)]
    judgements = {"q1": {"q2": 1, "q1": 1}, "q4": {"q3": 1}}
    path = tmp_path / "run"
    path.write_text(text(rows if grouped else rows[::2] + rows[1::2]), encoding="utf-8")
    frame = pl.DataFrame(rows, schema=["query", "item", "score"], orient="row")
    found, whole = (
        evaluate(judgements, run, "nDCG@10", exclude_same_id=True, **options)
        for run in (path, frame)
    )
    assert found.to_dict(per_query=True) == whole.to_dict(per_query=True)
    assert "7 results have the id of their query: taken out." in whole.runs[0].audit.notes
    assert "1 judgement of a query for itself was taken out." in whole.runs[0].audit.notes


def test_a_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.run"
    path.write_text(text(ROWS[::2] + ROWS[1::2]), encoding="utf-8")

    class Full(io.BytesIO):
        def write(self, data: Any, /) -> int:
            raise OSError(28, "No space left on device")

    made = large_runs._RowsOnDisk
    monkeypatch.setattr(large_runs, "_RowsOnDisk", lambda handle, *rest: made(Full(), *rest))
    with pytest.raises(OutputError) as error:
        parts(path)
    assert str(error.value).endswith(
        ": a run that is not grouped by query, or comes through a pipe, cannot be kept there (No "
        "space left on device); name a folder with more room (TMPDIR, or "
        "judged.config(temporary=DIR)), or sort the run by query."
    )
