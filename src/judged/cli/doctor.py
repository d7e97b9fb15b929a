"""`judged doctor`: the installation: versions, threads, and which parts can work."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judged import __version__
from judged.cli._files import command
from judged.cli._options import check_format, result_options
from judged.results import Display, Document, Frame, Result, Table
from judged.text import Best, Warned, counted, listed

if TYPE_CHECKING:
    pass

CORE = "judged"
"""What the packages are called that judged cannot work without."""
UNLISTED = frozenset({"all", "test", "dev", "docs", "torch"})
"""Extras that are several others, or that only those need who change judged."""
LIMITS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "POLARS_MAX_THREADS",
)
"""Variables of the environment that say how many threads libraries may have."""
HELPERS = {"isal": "unpacks gz faster", "backports.zstd": "unpacks zst in blocks"}
"""Packages that are used where they are there, and never needed."""
FACTS = ("what", "found")
PACKAGES = ("part", "package", "needs", "installed", "state")
MISSING, OLD, BROKEN = "missing", "too old", "broken"
_NAME = re.compile(r"[\w.-]+")
_LEAST = re.compile(r">=\s*([\w.]+)")
_EXTRA = re.compile(r"""extra\s*==\s*['"]([\w.-]+)""")


@dataclass(frozen=True)
class Package:
    """A package that a part of judged needs, and what is there of it."""

    part: str
    """The extra that brings it, or judged itself."""
    name: str
    """What it is called where packages are installed from."""
    needs: str | None
    """The least version; None where any will do."""
    version: str | None
    """The version that is installed; None where there is none."""
    trouble: str | None
    """Why it does not import, where it does not."""

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
    """What `doctor` returns: the machine, the threads, and every package that judged can use.

    >>> from judged import doctor
    >>> doctor().well
    True
    """

    facts: Mapping[str, str]
    """What there is: judged, Python, the system, cores, memory, threads, BLAS, Java."""
    packages: tuple[Package, ...]
    """What judged needs, part by part."""
    notes: tuple[str, ...]
    """What was noticed, and what to do about it; warnings first."""

    @property
    def well(self) -> bool:
        """Whether judged has everything that it cannot work without."""
        return all(each.state == "ok" for each in self.packages if each.part == CORE)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values that JSON can hold.

        Returns
        -------
        dict

        >>> from judged import doctor
        >>> sorted(doctor().to_dict())
        ['facts', 'judged', 'notes', 'packages', 'warnings', 'well']
        """
        return {
            "well": self.well,
            "facts": dict(self.facts),
            "packages": [{**vars(each), "state": each.state} for each in self.packages],
            "warnings": self.warnings(),
            "notes": [str(note) for note in self.notes],
            "judged": __version__,
        }

    def to_frame(self) -> Frame:
        """The packages, a row each.

        Returns
        -------
        polars.DataFrame

        >>> from judged import doctor
        >>> doctor().to_frame().columns
        ['part', 'package', 'needs', 'installed', 'state']
        """
        import polars as pl

        return pl.DataFrame(self._rows(), dict.fromkeys(PACKAGES, pl.String), orient="row")

    def document(self, display: Display) -> Document:
        """Return the facts, the packages of every part, and hints.

        Parameters
        ----------
        display : Display
            How it is shown.

        Returns
        -------
        Document

        >>> from judged import doctor
        >>> [table.header for table in doctor().tables()]
        [('what', 'found'), ('part', 'package', 'needs', 'installed', 'state')]
        """
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
            [
                *(each.part, each.name, each.needs or "any", each.version or "none"),
                each.state if each.state == "ok" else Best(each.state),
            ]
            for each in self.packages
        ]


def doctor() -> Installation:
    """Look at what is installed: versions, threads, BLAS, the extras, and what is missing.

    Returns
    -------
    Installation
        It prints as tables, and is a dict by `to_dict()`. `well` says whether judged can work at
        all; parts whose extra is not installed do not change that.

    Examples
    --------
    >>> import judged
    >>> found = judged.doctor()
    >>> found.facts["judged"] == judged.__version__
    True
    """
    packages = tuple(_packages())
    return Installation(_facts(), packages, (*_troubles(packages), *_hints(packages)))


def _facts() -> dict[str, str]:
    import platform
    import shutil
    import sys
    import tempfile

    free = shutil.disk_usage(tempfile.gettempdir()).free
    return {
        "judged": __version__,
        "Python": f"{platform.python_version()} ({platform.python_implementation()})",
        "interpreter": sys.executable or "unknown",
        "system": f"{platform.system()} {platform.release()} on {platform.machine()}",
        "cores": _cores(),
        "memory": _memory(),
        "temporary files": f"{_gigabytes(free)} free in {tempfile.gettempdir()}",
        "threads of polars": _polars_threads(),
        "BLAS": _blas(),
        "SIMD of numpy": _simd(),
        "Java": _java(),
    }


def _cores() -> str:
    affinity = getattr(os, "sched_getaffinity", None)
    there = os.cpu_count() or 1
    usable = len(affinity(0)) if affinity else there
    return f"{there}" if usable == there else f"{usable} of {there} may be used"


def _memory() -> str:
    try:
        return _gigabytes(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):  # not on every system
        return "unknown"


def _gigabytes(size: int) -> str:
    return f"{size / 10**9:,.1f} GB"


def _polars_threads() -> str:
    try:
        import polars as pl

        return str(pl.thread_pool_size())
    except ImportError:
        return "unknown: polars does not import"


def _blas() -> str:
    """The libraries that multiply matrices, once numpy and scipy have brought theirs."""
    from contextlib import suppress

    with suppress(ImportError):
        import numpy  # noqa: F401
        import scipy.linalg  # noqa: F401
    try:
        from threadpoolctl import threadpool_info
    except ImportError:
        return "unknown: threadpoolctl does not import"
    found = dict.fromkeys(
        f"{each['internal_api']} {each.get('version') or '(version unknown)'}, "
        f"{counted(each['num_threads'], 'thread')}"
        + (f", {each['architecture']}" if each.get("architecture") else "")
        for each in threadpool_info()
        if each["user_api"] == "blas"
    )
    return "; ".join(found) or "none that threadpoolctl knows"


def _simd() -> str:
    try:
        import numpy as np

        found: Any = np.show_config(mode="dicts")
    except ImportError:
        return "unknown: numpy does not import"
    simd = found.get("SIMD Extensions", {})
    return ", ".join(simd.get("found") or simd.get("baseline") or ["unknown"])


def _java() -> str:
    """The first line of what Java says of itself; only Spark needs it."""
    import shutil
    import subprocess

    home = os.environ.get("JAVA_HOME")
    program = shutil.which("java", path=f"{home}/bin") if home else None
    program = program or shutil.which("java")
    if program is None:
        return "none"
    try:
        done = subprocess.run(
            [program, "-version"], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{program} does not answer ({error})"
    return next(iter((done.stderr or done.stdout).splitlines()), "says nothing")


def _packages() -> Iterator[Package]:
    """Every package of judged itself and of each extra that users have, and the helpers."""
    from importlib.metadata import PackageNotFoundError, packages_distributions, requires

    try:
        declared = requires("judged") or []
    except PackageNotFoundError:  # from source, without being installed
        return
    modules: dict[str, str] = {}
    for module, names in packages_distributions().items():
        for name in names:
            if not module.startswith("_"):
                modules.setdefault(_normal(name), module)
    for part, name, least in [
        *_requirements(declared),
        *(("faster", each, None) for each in HELPERS),
    ]:
        yield _package(part, name, least, modules)


def _requirements(declared: Sequence[str]) -> Iterator[tuple[str, str, str | None]]:
    """Part, name and least version of each package; an extra that only names others has none of
    its own."""
    for text in declared:
        wanted, _, only = text.partition(";")
        name, least, extra = _NAME.match(wanted), _LEAST.search(wanted), _EXTRA.search(only)
        part = extra[1] if extra else CORE
        if name and name[0] != "judged" and part not in UNLISTED:
            yield part, name[0], least[1] if least else None


def _package(part: str, name: str, least: str | None, modules: Mapping[str, str]) -> Package:
    from importlib import import_module
    from importlib.metadata import PackageNotFoundError, version

    try:
        there = version(name)
    except PackageNotFoundError:
        return Package(part, name, least, None, None)
    module = name if name in HELPERS else modules.get(_normal(name), name)
    try:
        import_module(module)
    except Exception as error:  # whatever a broken package raises
        return Package(part, name, least, there, f"{type(error).__name__}: {error}")
    return Package(part, name, least, there, None)


def _normal(name: str) -> str:
    """A name as packages are compared by."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _number(version: str) -> tuple[int, ...]:
    """The leading numbers of a version, as far as they matter for an order."""
    found = [int(each) for each in re.findall(r"\d+", re.split(r"[a-z+]", version)[0])]
    while found and not found[-1]:
        found.pop()
    return tuple(found)


def _troubles(packages: Sequence[Package]) -> Iterator[Warned]:
    """What keeps judged, or a part of it that is installed, from working."""
    for each in packages:
        if each.state == BROKEN:
            yield Warned(f"{each.name} {each.version} does not import: {each.trouble}")
        elif each.state == OLD:
            again = f"pip install --upgrade {each.name}"
            yield Warned(f"{each.name} is {each.version}, needed is {each.needs}: {again}")
        elif each.state == MISSING and each.part == CORE:
            yield Warned(f"{each.name} is missing, and judged needs it: pip install {each.name}")


def _hints(packages: Sequence[Package]) -> Iterator[str]:
    if not packages:
        yield "judged runs from source and is not installed: its packages cannot be listed."
    parts = dict.fromkeys(each.part for each in packages if each.part not in (CORE, "faster"))
    for part in parts:
        lacking = [e.name for e in packages if e.part == part and e.state == MISSING]
        if lacking:
            yield f'{part} is not there (no {listed(lacking, "and")}): pip install "judged[{part}]"'
    for each in packages:
        if each.part == "faster" and each.state == MISSING:
            yield f"{each.name} {HELPERS[each.name]} where it is there: pip install {each.name}"
    for name in LIMITS:
        if given := os.environ.get(name):
            yield f"{name} is {given}: it sets how many threads a library has."


@command("doctor", example="judged doctor")
@result_options()
def doctor_command(form: str | None, output: str | None) -> int:
    """Check the installation: versions, threads, BLAS, extras, and missing packages.

    Run it first, or send its output, if something does not work.

    The exit code is 1 if judged lacks a package that it needs. Missing extras are not an error.
    """
    from judged.cli import DONE, NO
    from judged.cli._terminal import deliver, working

    check_format(form, output)
    with working("Checking the installation"):
        found = doctor()
    deliver(found, form, output)
    return DONE if found.well else NO
