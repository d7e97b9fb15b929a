"""Runs that are read in blocks, from the command line: the same numbers, and nothing left behind
when something fails."""

from __future__ import annotations

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.full  # starts a process for each case

JUDGED = [sys.executable, "-m", "judged"]
LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
from judged.cli import main
main(sys.argv[1:])
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A run of 36 MB: grouped, in random order, compressed, and with damage in the middle."""
    folder = tmp_path_factory.mktemp("large")
    tag = "a-tag-of-some-length-" * 19
    lines = [
        f"{number // 200} Q0 document-{number * 7919 % 100_003} 1 {number % 977} {tag}\n"
        for number in range(90_000)
    ]
    (folder / "qrels").write_text(
        "".join(
            f"{query} 0 document-{(query * 200 + query % 90) * 7919 % 100_003} 1\n"
            for query in range(0, 450, 2)
        ),
        encoding="utf-8",
    )
    grouped = "".join(lines).encode()
    (folder / "grouped").write_bytes(grouped)
    random.Random(1).shuffle(lines)
    (folder / "mixed").write_text("".join(lines), encoding="utf-8")
    packed = gzip.compress(grouped, 1)
    (folder / "packed.gz").write_bytes(packed)
    middle = len(packed) // 2
    (folder / "damaged.gz").write_bytes(packed[:middle] + b"\x55" * 64 + packed[middle + 64 :])
    (folder / "cut.gz").write_bytes(packed[:middle])
    (folder / "temporary").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(folder / "temporary"))
        yield folder


def run(
    folder: Path, *arguments: str, start: list[str] = JUDGED, **options: object
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*start, *arguments],
        cwd=folder,
        capture_output=True,
        timeout=120,
        check=False,
        **options,  # type: ignore[call-overload]
    )


def numbers(folder: Path, *arguments: str, **options: object) -> tuple[bytes, bytes]:
    measures = ("-m", "nDCG@10", "-m", "AP", "--format", "trec")
    found = run(folder, "evaluate", "qrels", *arguments, *measures, **options)
    assert found.returncode == 0, found.stderr
    assert os.listdir(folder / "temporary") == []
    return found.stdout, found.stderr


def test_every_way_gives_the_same_numbers(large: Path) -> None:
    expected, said = numbers(large, "grouped")
    assert b"on disk" not in said
    mixed, said = numbers(large, "mixed")
    assert mixed == expected
    assert b"mixed: is not grouped by query; its rows are put on disk by query first." in said
    assert numbers(large, "packed.gz")[0] == expected
    with (large / "mixed").open("rb") as handle:
        piped, said = numbers(large, "-", "--memory", "40MB", stdin=handle)
    assert piped == expected
    assert b"standard input: is not grouped by query; its rows are put on disk" in said


@pytest.mark.parametrize("name", ["damaged.gz", "cut.gz"])
def test_damage_in_the_middle(large: Path, name: str) -> None:
    found = run(large, "evaluate", "qrels", name, "-o", "out.json")
    assert (found.returncode, found.stdout) == (2, b"")
    assert found.stderr.startswith(
        f"judged: {name}: the gzip data is damaged or cut off (".encode()
    )
    assert not (large / "out.json").exists()


def test_a_full_disk(large: Path) -> None:
    start = [sys.executable, "-c", LIMITED]
    found = run(large, "evaluate", "qrels", "mixed", "-o", "out.json", start=start)
    assert found.returncode == 2
    assert (
        f"judged: {large}/temporary: a run that is not grouped by query, or comes through a pipe, "
        "cannot be kept there (File too large); "
    ) in found.stderr.decode().splitlines()[-1]
    assert os.listdir(large / "temporary") == []
    assert not (large / "out.json").exists()


@pytest.mark.parametrize("wait", [0.0, 0.2, 0.6])
@pytest.mark.parametrize(
    ("number", "code", "message"),
    [(signal.SIGINT, 130, b"judged: interrupted"), (signal.SIGTERM, 143, b"judged: terminated")],
)
def test_a_signal_leaves_nothing_behind(
    large: Path, wait: float, number: int, code: int, message: bytes
) -> None:
    process = subprocess.Popen(
        [*JUDGED, "evaluate", "qrels", "mixed", "-o", "out.json"],
        cwd=large,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    said = process.stderr.readline()  # it is about to put rows on disk
    time.sleep(wait)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert b"on disk" in said
    if b"wrote out.json" not in err:  # it may have been done by then
        assert (process.returncode, out, err.strip()) == (code, b"", message)
    if (large / "out.json").exists():
        json.loads((large / "out.json").read_text())
        (large / "out.json").unlink()
    assert os.listdir(large / "temporary") == []


def peak(folder: Path, name: str, *options: str) -> int:
    """The most memory that a whole process takes to evaluate a run, in bytes."""
    code = (
        "import resource, judged.cli\n"
        f"try: judged.cli.main(['evaluate', 'qrels', '{name}', *{options!r}])\n"
        "finally: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    found = run(folder, start=[sys.executable, "-c", code])
    return int(found.stdout.split()[-1]) << 10


def test_a_cap_holds(large: Path) -> None:
    """Beyond what a small evaluation takes, so that libraries and judgements do not count."""
    (large / "small").write_bytes((large / "grouped").read_bytes()[:1_000_000])
    small, whole = (peak(large, name, "--memory", "100MB") for name in ("small", "grouped"))
    assert whole - small < 100_000_000


@pytest.mark.full
def test_longer_lists_take_no_more_memory(large: Path) -> None:
    """Lists 14 times as long: each line once more with 13 other items, which nobody judged."""
    with (large / "grouped").open() as short, (large / "longer").open("w") as long:
        for line in short:
            long.write(line)
            for number in range(13):
                long.write(line.replace("document", f"other-{number}", 1))
    longer, short = (peak(large, name, "--memory", "100MB") for name in ("longer", "grouped"))
    assert longer <= 1.25 * short
    (large / "longer").unlink()
