"""The command line as a process of its own: pipes, interrupts, the terminal."""

import os
import pty
import signal
import subprocess
import sys
import time

import pytest

from judged.cli import main
from support.loops import sampled

JUDGED = [sys.executable, "-m", "judged"]


@pytest.fixture
def many(tmp_path):
    """A run whose per-query output is larger than any pipe's buffer."""
    count = 20_000
    (tmp_path / "qrels").write_text("".join(f"q{i} 0 x 1\n" for i in range(count)))
    (tmp_path / "run").write_text("".join(f"q{i} Q0 x 1 1.0 a\n" for i in range(count)))
    return tmp_path


def test_a_closed_pipe_ends_quietly(many):
    command = [*JUDGED, "evaluate", "qrels", "run", "--per-query", "--format", "trec"]
    process = subprocess.Popen(command, cwd=many, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == b"AP\tq0\t1.0\n"
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(timeout=60) == 0
    process.stderr.close()


COMMANDS = [
    ["evaluate", "qrels", "run"],
    ["evaluate", "qrels", "run", "--per-query", "--format", "csv"],
    ["conventions"],
    ["conventions", "qrels", "run", "-m", "RR@10"],
    ["identify", "1.0", "qrels", "run", "-m", "RR"],
    ["explain", "0 1"],
    ["measures"],
    ["measures", "AP", "--format", "json"],
    ["trec-eval", "qrels", "run"],
    ["--help"],
    ["evaluate", "--help"],
    ["--version"],
]


@pytest.mark.parametrize("arguments", sampled([(one,) for one in COMMANDS], every=4))
def test_a_pipe_that_is_closed_from_the_start(many, arguments):
    """Of every command, however little it prints."""
    reads, writes = os.pipe()
    os.close(reads)
    process = subprocess.run(
        [*JUDGED, *arguments], cwd=many, stdout=writes, stderr=subprocess.PIPE, check=False
    )
    os.close(writes)
    assert process.returncode == 0
    assert b"Broken" not in process.stderr
    assert b"Traceback" not in process.stderr


@pytest.mark.parametrize(
    ("redirected", "message"),
    [
        (">&-", b"judged: standard output is closed; send it to a file, or to /dev/null.\n"),
        ("> /dev/full", b"judged: standard output cannot be written (No space left on device).\n"),
    ],
)
@pytest.mark.parametrize("arguments", [["evaluate", "qrels", "run"], ["measures"], ["--help"]])
def test_standard_output_that_takes_nothing(many, redirected, message, arguments):
    command = ["sh", "-c", f'exec "$@" {redirected}', "sh", *JUDGED, *arguments]
    for unbuffered in ("", "1"):
        environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
        process = subprocess.run(
            command, cwd=many, env=environment, stderr=subprocess.PIPE, check=False
        )
        assert (process.returncode, process.stderr) == (2, message)


def test_standard_error_that_takes_nothing_changes_no_exit_code(many):
    (many / "worse").write_text("".join(f"q{i} Q0 y 1 1.0 a\n" for i in range(20)))
    (many / "few").write_text("".join(f"q{i} 0 x 1\n" for i in range(20)))
    gate = ["gate", "few", "--baseline", "run", "-m", "RR"]
    calls = {0: [*gate, "run"], 1: [*gate, "worse"], 2: [*gate, "lost"]}
    for code, arguments in calls.items():
        command = ["sh", "-c", 'exec "$@" >/dev/null 2>/dev/full', "sh", *JUDGED, *arguments]
        assert subprocess.run(command, cwd=many, check=False).returncode == code, arguments


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="Linux has it")
def test_a_file_that_cannot_be_read_is_named(many, capsys, monkeypatch):
    """The first byte of this file is an input/output error."""
    monkeypatch.chdir(many)
    for files in (["/proc/self/mem", "run"], ["qrels", "/proc/self/mem"]):
        with pytest.raises(SystemExit) as ended:
            main(["evaluate", *files])
        assert (ended.value.code, capsys.readouterr().err) == (
            2,
            "judged: /proc/self/mem: cannot be read (Input/output error).\n",
        )


LONG = ["evaluate", "qrels", "run", "--per-query", "--format", "trec", "-m", "RR"]


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_disk_that_gets_full_while_output_is_written(many, unbuffered):
    """It takes the first bytes."""
    limit = 'ulimit -f 16; trap "" XFSZ; exec "$@" > out'
    done = subprocess.run(
        ["sh", "-c", limit, "sh", *JUDGED, *LONG],
        cwd=many,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        stderr=subprocess.PIPE,
        check=False,
    )
    assert (many / "out").stat().st_size > 0
    assert (done.returncode, done.stderr) == (
        2,
        b"judged: standard output cannot be written (File too large).\n",
    )


def test_ctrl_c_ends_cleanly(many):
    process = subprocess.Popen(
        [*JUDGED, "evaluate", "qrels", "-"],
        cwd=many,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    # More than a pipe holds: once it is written, most was read, and the rest is waited for.
    process.stdin.writelines(b"q1 Q0 x%d 1 1.0 a\n" % number for number in range(20_000))
    process.stdin.flush()
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err.strip()) == (130, b"", b"judged: interrupted")


STOPPED = """
import os, signal, sys
import judged.cli
from judged.inputs.blocks import Room
from judged.outputs import replacing

def work():
    with replacing("out.csv") as temporary, Room.of("100MB", ".").folder() as folder:
        temporary.write_text("half of it")
        (folder / "rows").write_text("some")
        os.kill(os.getpid(), int(sys.argv[1]))
        signal.pause()

judged.cli.main = work
from judged.__main__ import main
main()
"""
LOADING = """
import os, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "judged.cli":
            os.kill(os.getpid(), int(sys.argv[1]))

sys.meta_path.insert(0, Finder())
from judged.__main__ import main
main()
"""


@pytest.mark.parametrize("script", [STOPPED, LOADING], ids=["at work", "while modules load"])
def test_a_signal_ends_the_process_at_once_and_removes_temporary_files(tmp_path, script):
    for number, message in ((signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated")):
        done = subprocess.run(
            [sys.executable, "-c", script, str(int(number))],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        outcome = (done.returncode, done.stdout, done.stderr)
        assert outcome == (128 + number, "", f"judged: {message}\n")
        assert list(tmp_path.iterdir()) == []


FORKED = """
import os, signal, sys
import judged.cli
from judged.outputs import replacing

def work():
    with replacing("out.csv") as temporary:
        temporary.write_text("all of it")
        reads, writes = os.pipe()
        if not (child := os.fork()):
            os.write(writes, b"1")
            signal.pause()
        os.read(reads, 1)
        os.kill(child, signal.SIGTERM)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)

judged.cli.main = work
from judged.__main__ import main
main()
"""


def test_a_process_of_someone_else_leaves_our_files_alone(tmp_path):
    """PyTorch ends the workers of a data loader so."""
    call = [sys.executable, "-W", "ignore", "-c", FORKED]
    done = subprocess.run(
        call, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    assert (done.stdout, done.stderr) == (f"{-signal.SIGTERM}\n", "")
    assert (tmp_path / "out.csv").read_text() == "all of it"


def test_nothing_heavy_is_loaded_before_signals_are_handled():
    script = "import sys, judged.__main__; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    heavy = {"numpy", "polars", "click", "rich", "judged.cli"}
    assert not heavy & set(done.stdout.split())


def test_help_of_no_command_loads_numpy_or_polars():
    script = (
        "import sys; from click import Context; from judged.cli import COMMANDS, cli; "
        "[cli.get_command(Context(cli), name).get_help(Context(cli)) for name in COMMANDS]; "
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert not {"numpy", "polars"} & set(done.stdout.split())


PANIC = """
import polars as pl

def damaged(*_, **__):
    raise pl.exceptions.PanicException("called `unwrap()` on a `None` value")

pl.scan_parquet = damaged
from judged.__main__ import main
main()
"""


def test_a_panic_of_polars_is_a_message(tmp_path):
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    (tmp_path / "run.parquet").write_bytes(b"PAR1")
    call = [sys.executable, "-c", PANIC, "evaluate", "qrels", "run.parquet", "-m", "RR"]
    panic = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (panic.returncode, panic.stdout, panic.stderr) == (
        2,
        "",
        "judged: run.parquet: not a Parquet file that can be read (called `unwrap()` on a `None` "
        "value); write or fetch the file again.\n",
    )


def test_an_internal_error_is_no_answer_of_a_gate(tmp_path, capsys, monkeypatch):
    class Panic(BaseException):
        pass

    for error in (KeyError("lost"), OSError("odd"), RecursionError("x" * 10**5), Panic("worse")):

        def fail(*_, error=error, **__):
            raise error

        monkeypatch.setattr("judged.cli.import_module", fail)
        monkeypatch.delenv("JUDGED_TRACEBACK", raising=False)
        for traceback in (False, True):
            with pytest.raises(SystemExit) as ended:
                main(["gate", "qrels", "run"])
            err = capsys.readouterr().err
            assert ended.value.code == 70
            *above, last = err.splitlines()
            assert last.startswith(f"judged: internal error ({type(error).__name__}: ")
            assert last.endswith(
                "This is a bug in judged. Please report it with the output of judged doctor and "
                "the traceback, which JUDGED_TRACEBACK=1 prints."
            )
            assert ("Traceback (most recent call last):" in above) == traceback
            assert len(last) < 1000
            monkeypatch.setenv("JUDGED_TRACEBACK", "1")


def test_polars_without_a_thread(many, capsys, monkeypatch):
    monkeypatch.setenv("POLARS_MAX_THREADS", "0")
    monkeypatch.chdir(many)
    both = ["qrels", "run"]
    for call in (["plot", "cmc", *both, "-o", "c.json"], ["report", *both, "-o", "r.html"]):
        with pytest.raises(SystemExit) as ended:
            main(call)
        assert ended.value.code == 2
        assert capsys.readouterr().err == (
            "judged: the environment variable POLARS_MAX_THREADS is 0, and polars needs a thread: "
            "set it to 1 or more, or unset it.\n"
        )
    with pytest.raises(SystemExit) as ended:
        main(["doctor"])
    assert ended.value.code == 0
    assert "POLARS_MAX_THREADS is 0" in capsys.readouterr().out


def test_progress_is_shown_on_a_terminal_only(many):
    command = [*JUDGED, "evaluate", "qrels", "run", "-m", "RR", "--format", "trec"]
    quiet = subprocess.run(command, cwd=many, capture_output=True, check=True)
    assert (quiet.stdout, quiet.stderr) == (b"RR\tall\t1.0\n", b"")
    ours, theirs = pty.openpty()
    watched = subprocess.run(command, cwd=many, stdout=subprocess.PIPE, stderr=theirs, check=True)
    os.close(theirs)
    shown = os.read(ours, 10_000)
    os.close(ours)
    assert watched.stdout == b"RR\tall\t1.0\n"
    assert b"Reading run" in shown
