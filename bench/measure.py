"""Run contenders, a fresh process each time, and keep what each run cost.

On Linux a child's peak memory starts at that of the process it was forked from, so this side
imports nothing large.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from bench.case import Case, Contender
from bench.data import Drawn, Embedded, Folder, Pair, Size, ensure

ROOT = Path(__file__).resolve().parents[1]
MEMORY_UNIT = 1 if sys.platform == "darwin" else 1024


class CrashError(Exception):
    """A contender ended with an error; the text is the end of what it said."""


@dataclass(frozen=True)
class Sample:
    """One run of one contender: seconds, seconds, bytes, the means that it found, and what it
    says of small inputs that are not as usual."""

    wall: float
    cpu: float
    memory: float
    scores: dict[str, float]
    answers: dict[str, str] = field(default_factory=dict)


@dataclass
class Result:
    """All runs of one contender."""

    contender: Contender
    samples: list[Sample] = field(default_factory=list)
    crash: str | None = None

    @property
    def absent(self) -> str | None:
        """What has to be said where it is, before it can run."""
        elsewhere = self.contender.elsewhere
        return elsewhere.variable if elsewhere and not elsewhere.path else None

    @property
    def answers(self) -> dict[str, str]:
        return self.samples[-1].answers if self.samples else {}

    @property
    def scores(self) -> dict[str, float]:
        return self.samples[-1].scores if self.samples else {}

    def value(self, quantity: str) -> float:
        """The median of "wall", "cpu" or "memory", or of wall time "per line" of input; NaN if it
        never ran."""
        if not self.samples:
            return float("nan")
        if quantity == "per line":
            return self.value("wall") / self.contender.lines
        if quantity == "gigabytes":
            return self.value("memory") / 1e9
        return float(median(getattr(sample, quantity) for sample in self.samples))

    def spread(self) -> tuple[float, float]:
        """The fastest and the slowest wall time."""
        walls = [sample.wall for sample in self.samples]
        return min(walls), max(walls)


def small(size: Size | Embedded | Drawn) -> Size | Embedded | Drawn:
    """What every contender runs on once, untimed: it compiles bytecode, and ranx its numba
    functions."""
    if isinstance(size, Size):
        return Size(queries=20, results=100, runs=10, form=size.form)
    if isinstance(size, Embedded):
        return Embedded(20, 1000, 16, 5, table=size.table)
    return Drawn(10, 2, 3, 99)


def measure(case: Case, repeat: int, tell: Callable[[str], None]) -> list[Result]:
    """Interleave the contenders for some rounds, so that a busy minute of the machine hits all of
    them."""
    results = [Result(contender) for contender in case.contenders]
    data = {contender.size: ensure(contender.size) for contender in case.contenders}
    present = [result for result in results if not result.absent]
    for result in present:
        tell(f"{case.name}: warming up {result.contender.name}")
        _keep(result, ensure(small(result.contender.size)), store=False)
    for number in range(repeat):
        for result in _rotated(present, number):
            if result.crash is None and number < (result.contender.rounds or repeat):
                tell(f"{case.name}: round {number + 1} of {repeat}, {result.contender.name}")
                _keep(result, data[result.contender.size], store=True)
    return results


def _rotated(results: Sequence[Result], number: int) -> Iterator[Result]:
    """The same circle, started somewhere else each round: nobody always follows the same one."""
    start = number % max(1, len(results))
    yield from (*results[start:], *results[:start])


def _keep(result: Result, data: Pair | Folder | Drawn, *, store: bool) -> None:
    try:
        samples = run(result.contender, data)
    except CrashError as crash:
        result.crash = str(crash)
    else:
        result.samples += samples if store else []


def run(contender: Contender, data: Pair | Folder | Drawn) -> list[Sample]:
    """One process; one sample of all of it, or one for each call that the process timed itself."""
    words = (word for each in contender.command for word in _words(data, each))
    command = [_interpreter(contender), *words]
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as complaints:
        started = time.perf_counter()
        child = subprocess.Popen(
            command, stdout=output, stderr=complaints, cwd=ROOT, env=_environment(contender)
        )
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - started
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        complaints.seek(0)
        if child.returncode:
            raise CrashError(f"exit code {child.returncode}: {_last_line(complaints.read())}")
        said = json.loads(output.read()) if contender.prints_json else {}
    memory = said.get("memory", usage.ru_maxrss * MEMORY_UNIT)
    whole = {"wall": wall, "cpu": usage.ru_utime + usage.ru_stime}
    answers = said.get("answers", {})
    return [
        Sample(call["wall"], call["cpu"], memory, _scores(said), answers)
        for call in said.get("calls", [whole])
    ]


def _words(data: Pair | Folder | Drawn, word: str) -> list[str]:
    if word == "{runs}" and isinstance(data, Pair):
        return [str(run) for run in data.runs]
    return [data.words.get(word, word)]


def _interpreter(contender: Contender) -> str:
    elsewhere = contender.elsewhere
    if elsewhere is None or elsewhere.what != "interpreter":
        return sys.executable
    return elsewhere.path or sys.executable


def _environment(contender: Contender) -> dict[str, str]:
    """The working tree, or the other one of a contender, comes before an installed judged; and
    bytecode is kept, or each process would compile all of judged again."""
    elsewhere = contender.elsewhere
    tree = elsewhere.path if elsewhere and elsewhere.what == "tree" else None
    paths = [str(Path(tree or ROOT) / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    own = {name: each for name, each in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return own | {"PYTHONPATH": os.pathsep.join(paths)}


def _scores(said: dict[str, Any]) -> dict[str, float]:
    """From what a contender of ours prints, or from `judged evaluate --format json`."""
    scores: dict[str, float] = (
        said["runs"][0]["scores"] if "runs" in said else said.get("scores", {})
    )
    return scores


def _last_line(complaints: bytes) -> str:
    lines = complaints.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"
