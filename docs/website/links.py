"""Links of pages: on a code host they lead to files, on the site to pages."""

from __future__ import annotations

import re
from collections.abc import Callable
from os.path import relpath
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]
OUTSIDE = {
    "README.md": "readme.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "bench/README.md": "benchmarks.md",
}
"""Pages that are not in docs, and where they are on the site."""
FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_TARGET = re.compile(r"(?<=\]\()([^)\s]+)(?=\))")
_ELSEWHERE = re.compile(r"[a-z][a-z+.-]*:|#")


def place(path: str) -> str:
    """Return where a file of the repository is on the site.

    >>> place("docs/measures.md"), place("bench/README.md"), place("bench/cases.py")
    ('measures.md', 'benchmarks.md', 'files/bench/cases.py')
    """
    inside = path.removeprefix("docs/")
    return OUTSIDE.get(path) or (inside if inside != path else f"files/{path}")


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Apply a change to a page, except to its blocks of code."""
    return "".join(
        part if number % 2 else change(part) for number, part in enumerate(FENCED.split(text))
    )


def mapped(text: str, path: str) -> tuple[str, set[str]]:
    """Return a page with the links of the site, and the files that it needs there.

    >>> mapped("[a](../bench/README.md#b) [c](#d)", "docs/x.md")
    ('[a](benchmarks.md#b) [c](#d)', {'bench/README.md'})
    """
    needed: set[str] = set()
    here = PurePosixPath(place(path)).parent

    def target(found: re.Match[str]) -> str:
        if _ELSEWHERE.match(found[0]):
            return found[0]
        file, mark, anchor = found[0].partition("#")
        meant = (ROOT / path).parent.joinpath(file).resolve()
        inside = meant.relative_to(ROOT).as_posix()
        needed.add(inside)
        return f"{relpath(place(inside), here)}{mark}{anchor}"

    return outside_code(text, lambda part: _TARGET.sub(target, part)), needed
