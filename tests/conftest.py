"""Fixtures and settings of all tests."""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from support.browser import launched
from support.parts import Needs, missing_part

Write = Callable[[str, "str | bytes"], Path]
COUNTS = pytest.StashKey[Counter[str]]()

# The same examples every time, so that a failure is never a surprise. `.ci/run` draws others each
# day and prints the seed that repeats them.
settings.register_profile(
    "steady",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "ci", settings.get_profile("steady"), derandomize=False, max_examples=300, print_blob=True
)
settings.load_profile("steady")  # --hypothesis-profile overrides it

FULL_FIXTURES = {"browser", "spark"}
"""Tests with one of these fixtures are marked `full`."""


# Nothing depends on the terminal in which tests run; commands that they start write UTF-8.
for name in ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
    os.environ.pop(name, None)
os.environ["JUDGED_TRACEBACK"] = "1"  # an internal error shows where it comes from
os.environ["PYTHONUTF8"] = "1"
# Peers have to be right here, not fast: without its compiler, ranx answers in a second instead of
# half a minute.
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")

SILENT = 100
"""A dot stands for so many tests that passed, an s for so many skipped: there are thousands."""


def pytest_make_parametrize_id(val: object) -> str | None:
    """Names of tests are the same in every process: packed bytes hold the time they were packed."""
    if isinstance(val, bytes) and not val.isascii():
        return f"{len(val)} bytes"
    return None


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """One process where only files are asked for: more take longer to start than they save."""
    folders = any(os.path.isdir(asked.partition("::")[0]) for asked in config.args)
    return None if folders else 0


@pytest.hookimpl(tryfirst=True)  # before pytest selects by marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by what they need, and start with files that have slow tests, so that no process
    is left with one at the end."""
    for item in items:
        if FULL_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.full)
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(
    report: pytest.TestReport, config: pytest.Config
) -> tuple[str, str, str] | None:
    if report.failed or hasattr(report, "wasxfail") or (report.passed and report.when != "call"):
        return None
    counts = config.stash.setdefault(COUNTS, Counter())
    counts[report.outcome] += 1
    letter = "" if counts[report.outcome] % SILENT else "." if report.passed else "s"
    return report.outcome, letter, report.outcome.upper()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Why tests were skipped, in a line each."""
    skipped = terminalreporter.stats.get("skipped", [])
    for reason, count in Counter(str(report.longrepr[2]) for report in skipped).most_common():
        terminalreporter.write_line(f"{count:,} skipped: {reason.removeprefix('Skipped: ')}")


@pytest.fixture(scope="session")
def needs() -> Needs:
    """`needs("spark")` skips the test where Spark is missing, and fails it where JUDGED_REQUIRE
    says it has to be there."""
    return missing_part


@pytest.fixture(scope="session")
def browser(needs: Needs) -> Iterator[Any]:
    """A real browser, started once for all tests of a process: there cannot be two."""
    needs("browser")
    with launched() as found:
        yield found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the current one, so that messages show the bare name."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def write(folder: Path) -> Write:
    def write_file(name: str, content: str | bytes) -> Path:
        path = Path(name)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


@pytest.fixture(scope="session")
def has() -> Needs:
    """`has("torch")` skips the test where a Python package is missing, and fails it where
    JUDGED_REQUIRE names it."""

    def missing(package: str) -> None:
        if find_spec(package) is None:
            required = [name.strip() for name in os.environ.get("JUDGED_REQUIRE", "").split(",")]
            (pytest.fail if package in required else pytest.skip)(
                f"the Python package {package} is not installed"
            )

    return missing


@pytest.fixture
def standard_input(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    def replace(content: bytes) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))

    return replace


@pytest.fixture(scope="module")
def few_resamples() -> Iterator[None]:
    """Comparisons draw 999 resamples."""
    from support.resampling import resamples

    with resamples(999):
        yield
