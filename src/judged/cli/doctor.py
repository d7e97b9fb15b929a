"""`judged doctor`: the installation: versions, threads, and which parts can work."""

from __future__ import annotations

import os
import platform
import re
import shutil
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
FASTER = "faster"
HELPERS = {"isal": "unpacks gz faster", "backports.zstd": "unpacks zst in blocks"}
"""Packages that help if they are installed."""
UNLISTED = frozenset({"all", "test", "dev", "docs", "torch"})  # extras that users do not need
LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")
"""Environment variables that limit the threads of libraries."""
_REQUIREMENT = re.compile(
    r"([\w.-]+)[^;>]*(?:>=\s*([\w.]+))?[^;]*(?:;.*extra\s*==\s*['\"]([\w.-]+))?"
)


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
    """The installed version; None if it is missing."""
    trouble: str | None
    """The reason why it cannot be imported, if it cannot."""

    @property
    def state(self) -> str:
        """One of: ok, missing, too old, broken."""
        if self.version is None:
            return "missing"
        if self.trouble is not None:
            return "broken"
        return "too old" if self.needs and _number(self.version) < _number(self.needs) else "ok"


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

        table = self._table()
        return pl.DataFrame(table.rows, dict.fromkeys(table.header, pl.String), orient="row")

    def document(self, display: Display) -> Document:
        facts = ("what", "found")
        return Document(
            tables=[Table(facts, [*self.facts.items()], words=facts), self._table()],
            notes=self.notes,
        )

    def _table(self) -> Table:
        header = ("part", "package", "needs", "installed", "state")
        rows = [
            [each.part, each.name, each.needs or "any", each.version or "none", each.state]
            for each in self.packages
        ]
        return Table(header, rows, words=header)


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
    return Installation(_facts(), packages, tuple(_notes(packages)))


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
        "Java": os.environ.get("JAVA_HOME") or shutil.which("java") or "none",
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


def _packages() -> Iterator[Package]:
    """Yield the packages of judged itself, of each extra for users, and the helpers."""
    try:
        declared = metadata.requires("judged") or []
    except metadata.PackageNotFoundError:  # from source, without being installed
        return
    modules = {
        name: module
        for module, names in metadata.packages_distributions().items()
        for name in names
        if not module.startswith("_")
    }
    helpers = [(FASTER, name, None) for name in HELPERS]
    for part, name, least in (*_requirements(declared), *helpers):
        yield _package(part, name, least, modules.get(name, name.replace("-", "_")))


def _requirements(declared: Sequence[str]) -> Iterator[tuple[str, str, str | None]]:
    """Yield part, name and least version of each package."""
    for text in declared:
        if requirement := _REQUIREMENT.match(text):
            name, least, extra = requirement.groups()
            if name != "judged" and extra not in UNLISTED:
                yield extra or CORE, name, least


def _package(part: str, name: str, least: str | None, module: str) -> Package:
    version = trouble = None
    try:
        version = metadata.version(name)
        import_module(module)
    except metadata.PackageNotFoundError:
        pass
    except Exception as error:  # whatever a broken package raises
        trouble = f"{type(error).__name__}: {error}"
    return Package(part, name, least, version, trouble)


def _number(version: str) -> tuple[int, ...]:
    """Return the leading numbers of a version, without zeros at the end."""
    numbers = [int(part) for part in re.findall(r"\d+", re.split(r"[a-z+]", version)[0])]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def _notes(packages: Sequence[Package]) -> Iterator[str]:
    """Yield what is wrong and what is missing, with what to do about it."""
    missing: dict[str, list[str]] = {}
    for package in packages:
        name, state = package.name, package.state
        if state == "broken":
            yield Warned(f"{name} {package.version} does not import: {package.trouble}")
        elif state == "too old":
            again = f"pip install --upgrade {name}"
            yield Warned(f"{name} is {package.version}, needed is {package.needs}: {again}")
        elif state == "missing" and package.part == CORE:
            yield Warned(f"{name} is missing, and judged needs it: pip install {name}")
        elif state == "missing":
            missing.setdefault(package.part, []).append(name)
    if not packages:
        yield "judged runs from source and is not installed: its packages cannot be listed."
    for name in missing.pop(FASTER, ()):
        yield f"{name} {HELPERS[name]}, but is not installed: pip install {name}"
    for part, names in missing.items():
        yield f'{part} needs {listed(names)}: pip install "judged[{part}]"'
    for name in LIMITS:
        if value := os.environ.get(name):
            yield f"{name} is {value}: it sets how many threads a library has."


@command("doctor", example="judged doctor")
@result_options(written=False)
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
