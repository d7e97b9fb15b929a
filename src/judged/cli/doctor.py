"""`judged doctor`: the installation: versions, threads, and which parts can work."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module, metadata
from typing import Any

from judged import __version__
from judged.cli._command import command
from judged.cli._options import result_options
from judged.results import Display, Document, Frame, Result, Table
from judged.text import Warned, counted, listed

CORE = "judged"  # the part of packages that judged cannot work without
UNLISTED = frozenset({"all", "test", "dev", "docs", "torch"})  # extras that users do not need
LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")
"""Environment variables that limit the threads of libraries."""
HELPERS = {"isal": "unpacks gz faster", "backports.zstd": "unpacks zst in blocks"}
"""Packages that help if they are installed."""
FACTS = ("what", "found")
PACKAGES = ("part", "package", "needs", "installed", "state")
MISSING, OLD, BROKEN = "missing", "too old", "broken"
_NAME = re.compile(r"[\w.-]+")
_LEAST = re.compile(r">=\s*([\w.]+)")
_EXTRA = re.compile(r"""extra\s*==\s*['"]([\w.-]+)""")


@dataclass(frozen=True)
class Package:
    """A package that a part of judged needs."""

    part: str
    """The extra that brings it, or judged itself."""
    name: str
    """The name that pip knows."""
    needs: str | None
    """The least version; None if any will do."""
    version: str | None
    """The installed version; None if there is none."""
    trouble: str | None
    """The reason why it cannot be imported, if it cannot."""

    @property
    def state(self) -> str:
        """One of: ok, missing, too old, broken."""
        if self.version is None:
            return MISSING
        if self.trouble is not None:
            return BROKEN
        return OLD if self.needs and _number(self.version) < _number(self.needs) else "ok"


@dataclass(frozen=True, eq=False, repr=False)
class Installation(Result):
    """The machine, the threads, and every package that judged can use: the result of `doctor`.

    >>> from judged.cli.doctor import doctor
    >>> doctor().well
    True
    >>> sorted(doctor().to_dict())
    ['facts', 'judged', 'notes', 'packages', 'warnings', 'well']
    """

    facts: Mapping[str, str]
    """Versions of judged and Python, the system, cores, memory, threads, BLAS, Java."""
    packages: tuple[Package, ...]
    """The packages of each part."""
    notes: tuple[str, ...]
    """Problems and hints, with what to do about them; warnings first."""

    @property
    def well(self) -> bool:
        """True if all packages that judged needs are installed and work."""
        return all(each.state == "ok" for each in self.packages if each.part == CORE)

    def to_dict(self) -> dict[str, Any]:
        return {
            "well": self.well,
            "facts": dict(self.facts),
            "packages": [{**vars(package), "state": package.state} for package in self.packages],
            "warnings": self.warnings(),
            "notes": [str(note) for note in self.notes],
            "judged": __version__,
        }

    def to_frame(self) -> Frame:
        import polars as pl

        return pl.DataFrame(self._rows(), dict.fromkeys(PACKAGES, pl.String), orient="row")

    def document(self, display: Display) -> Document:
        facts = [[*fact] for fact in self.facts.items()]
        return Document(
            tables=[
                Table(FACTS, facts, words=FACTS),
                Table(PACKAGES, self._rows(), words=PACKAGES),
            ],
            warnings=[note for note in self.notes if isinstance(note, Warned)],
            notes=[note for note in self.notes if not isinstance(note, Warned)],
        )

    def _rows(self) -> list[list[str]]:
        return [
            [each.part, each.name, each.needs or "any", each.version or "none", each.state]
            for each in self.packages
        ]


def doctor() -> Installation:
    """Check the installation: versions, threads, BLAS, extras, and missing packages.

    Returns
    -------
    Installation
        `well` is true if judged can work. Missing extras do not change that.

    Examples
    --------
    >>> import judged
    >>> doctor().facts["judged"] == judged.__version__
    True
    """
    packages = tuple(_packages())
    return Installation(_facts(), packages, (*_warnings(packages), *_hints(packages)))


def _facts() -> dict[str, str]:
    folder = tempfile.gettempdir()
    return {
        "judged": __version__,
        "Python": f"{platform.python_version()} ({platform.python_implementation()})",
        "interpreter": sys.executable or "unknown",
        "system": f"{platform.system()} {platform.release()} on {platform.machine()}",
        "cores": str(os.cpu_count()),
        "memory": _memory(),
        "temporary files": f"{shutil.disk_usage(folder).free / 10**9:,.1f} GB free in {folder}",
        "BLAS": _blas(),
        "Java": _java(),
    }


def _memory() -> str:
    try:
        return f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 10**9:,.1f} GB"
    except (AttributeError, OSError, ValueError):  # not on every system
        return "unknown"


def _blas() -> str:
    """Return the libraries that multiply matrices, after numpy and scipy have loaded theirs."""
    try:
        import numpy  # noqa: F401
        import scipy.linalg  # noqa: F401
        from threadpoolctl import threadpool_info
    except ImportError as error:
        return f"unknown: {error.name} does not import"
    libraries = dict.fromkeys(
        f"{pool['internal_api']} {pool.get('version') or '(version unknown)'}, "
        f"{counted(pool['num_threads'], 'thread')}"
        for pool in threadpool_info()
        if pool["user_api"] == "blas"
    )
    return "; ".join(libraries) or "none that threadpoolctl knows"


def _java() -> str:
    """Return the first line of Java's version, which only Spark needs."""
    path = os.pathsep.join([f"{os.environ.get('JAVA_HOME')}/bin", os.environ.get("PATH", "")])
    program = shutil.which("java", path=path)
    if program is None:
        return "none"
    try:
        done = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{program} does not answer ({error})"
    return (done.stderr or done.stdout).partition("\n")[0] or "no version"


def _packages() -> Iterator[Package]:
    """Yield the packages of judged itself, of each extra for users, and the helpers."""
    try:
        declared = metadata.requires("judged") or []
    except metadata.PackageNotFoundError:  # from source, without being installed
        return
    modules: dict[str, str] = {}
    for module, names in metadata.packages_distributions().items():
        for name in names:
            if not module.startswith("_"):
                modules.setdefault(_normal(name), module)
    for part, name, least in _requirements(declared):
        yield _package(part, name, least, modules.get(_normal(name), name))
    for name in HELPERS:
        yield _package("faster", name, None, name)


def _requirements(declared: Sequence[str]) -> Iterator[tuple[str, str, str | None]]:
    """Yield part, name and least version of each package."""
    for text in declared:
        wanted, _, only = text.partition(";")
        name, least, extra = _NAME.match(wanted), _LEAST.search(wanted), _EXTRA.search(only)
        part = extra[1] if extra else CORE
        if name and name[0] != "judged" and part not in UNLISTED:
            yield part, name[0], least[1] if least else None


def _package(part: str, name: str, least: str | None, module: str) -> Package:
    try:
        installed = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Package(part, name, least, None, None)
    try:
        import_module(module)
    except Exception as error:  # whatever a broken package raises
        return Package(part, name, least, installed, f"{type(error).__name__}: {error}")
    return Package(part, name, least, installed, None)


def _normal(name: str) -> str:
    """Return a name as pip compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _number(version: str) -> tuple[int, ...]:
    """Return the leading numbers of a version, without zeros at the end."""
    numbers = [int(part) for part in re.findall(r"\d+", re.split(r"[a-z+]", version)[0])]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def _warnings(packages: Sequence[Package]) -> Iterator[Warned]:
    for package in packages:
        name, state = package.name, package.state
        if state == BROKEN:
            yield Warned(f"{name} {package.version} does not import: {package.trouble}")
        elif state == OLD:
            again = f"pip install --upgrade {name}"
            yield Warned(f"{name} is {package.version}, needed is {package.needs}: {again}")
        elif state == MISSING and package.part == CORE:
            yield Warned(f"{name} is missing, and judged needs it: pip install {name}")


def _hints(packages: Sequence[Package]) -> Iterator[str]:
    if not packages:
        yield "judged runs from source and is not installed: its packages cannot be listed."
    missing: dict[str, list[str]] = {}
    for package in packages:
        if package.state == MISSING:
            missing.setdefault(package.part, []).append(package.name)
    for part, names in missing.items():
        if part not in (CORE, "faster"):
            install = f'pip install "judged[{part}]"'
            yield f"{part} is not there (no {listed(names, 'and')}): {install}"
    for name in missing.get("faster", ()):
        yield f"{name} {HELPERS[name]} where it is there: pip install {name}"
    for name in LIMITS:
        if value := os.environ.get(name):
            yield f"{name} is {value}: it sets how many threads a library has."


@command("doctor", example="judged doctor")
@result_options(written=False, verbose=False, quiet=False)
def doctor_command() -> Any:
    """Check the installation: versions, threads, BLAS, extras, and missing packages.

    Run it first, or send its output, if something does not work.

    The exit code is 1 if judged lacks a package that it needs. Missing extras are not an error.
    """
    from judged.cli import DONE, NO
    from judged.cli._terminal import working

    with working("Checking the installation"):
        installation = doctor()
    return installation, DONE if installation.well else NO
