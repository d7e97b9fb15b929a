"""Files out: whole or not at all, in their place, and nothing lost that was there for another
reason."""

import os
import stat
import threading
from pathlib import Path

import pytest

from judged.errors import OutputError
from judged.outputs import check_target, replacing, write_text
from support.errors import error_of


def test_a_device_is_written_into_and_stays_a_device(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_text(pipe, "numbers\n")
    reader.join(timeout=10)
    assert read == ["numbers\n"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


def test_an_open_file_of_the_process_gets_more_lines(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("before\n")
    with log.open("a") as handle:
        write_text(f"/dev/fd/{handle.fileno()}", "numbers\n")
        handle.write("after\n")
    assert log.read_text() == "before\nnumbers\nafter\n"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    real, link = tmp_path / "kept" / "a.txt", tmp_path / "link.txt"
    link.symlink_to(real)
    write_text(link, "new, through a link to nothing")
    write_text(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert sorted(os.listdir(tmp_path)) == ["kept", "link.txt"]


def test_permissions_stay_as_they_were_and_new_files_get_the_usual_ones(tmp_path: Path) -> None:
    private = tmp_path / "private.txt"
    private.write_text("old")
    private.chmod(0o600)
    write_text(private, "new")
    assert (private.read_text(), stat.S_IMODE(private.stat().st_mode)) == ("new", 0o600)
    mask = os.umask(0o027)
    try:
        write_text(tmp_path / "usual.txt", "new")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "usual.txt").stat().st_mode) == 0o640


def test_the_longest_name_that_a_folder_takes(tmp_path: Path) -> None:
    longest = "x" * 255
    write_text(tmp_path / longest, "numbers")
    assert os.listdir(tmp_path) == [longest]


def test_what_is_refused_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").write_text("q1 Q0 x 1 1.0 a\n")
    (tmp_path / "same").hardlink_to("run")
    long = "x" * 256
    for target, message in (
        ("", "the name of the file to write to is empty; give a file."),
        (".", ".: is a directory; give a file to write to."),
        ("no/x.txt", "no/x.txt: there is no folder no; make it first."),
        ("run/x.txt", "run/x.txt: there is no folder run; make it first."),
        (long, f"{long}: cannot be written (File name too long)."),
        ("run", "run: is read by this very command; write to another file."),
        ("same", "same: is read by this very command; write to another file."),
    ):
        assert (
            error_of(check_target, target, reads=["none", "-", "run"], error=OutputError) == message
        )
    with pytest.raises(OutputError, match=r"^a\x00b: cannot be written"):
        check_target("a\0b")
    check_target("other", reads=["run"])
    check_target("/dev/null", reads=["/dev/null"])


def test_what_may_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("kept.txt").write_text("old")
    for closed, message in (
        (Path("."), "kept.txt: the folder . cannot be written to."),
        (
            Path("kept.txt"),
            "kept.txt: is write-protected; give another file, or allow writing to it.",
        ),
    ):
        # Whoever runs the tests as root may write everywhere.
        monkeypatch.setattr(os, "access", lambda path, mode, closed=closed: Path(path) != closed)
        assert error_of(write_text, "kept.txt", "new", error=OutputError) == message
        assert Path("kept.txt").read_text() == "old"


def test_a_failure_half_way_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "kept.txt"
    target.write_text("old")

    def fail() -> None:
        with replacing(target) as temporary:
            temporary.write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["kept.txt"]
