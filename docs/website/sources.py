"""What Sphinx reads: the pages of the repository with links as they are on the site, and pages made
from the registries."""

from __future__ import annotations

import re
from pathlib import Path
from shutil import copyfile

from website.links import OUTSIDE, ROOT, mapped, outside_code, place
from website.measures import measure_pages
from website.names import name_pages
from website.nav import TITLES, arranged
from website.strip import FILE, figure, landing

ORPHAN = "---\norphan: true\n---\n\n"
"""Before pages that are reached from another: with all of them in it, the side bar would take most
of the time and of each page."""


def repository_pages() -> list[str]:
    """The pages that are kept as Markdown, by their paths in the repository."""
    return [*OUTSIDE, *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md")))]


def write_sources(folder: Path) -> None:
    """Write all pages, and the files that they show or link, into a folder."""
    pages, files = site_pages()
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for name in files:
        path = folder / place(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        copyfile(ROOT / name, path)


def site_pages() -> tuple[dict[str, str], set[str]]:
    """Every page by its place on the site, and the files of the repository that they need."""
    pages: dict[str, str] = {}
    needed: set[str] = set()
    for path in repository_pages():
        text = (ROOT / path).read_text(encoding="utf-8")
        pages[place(path)], more = mapped(text, path)
        needed |= more
    pages["measures.md"] = _with_links(pages["measures.md"])
    pages |= measure_pages() | name_pages()
    for name in pages:
        if "/" in name:
            pages[name] = ORPHAN + pages[name]
    top = arranged(page.removesuffix(".md") for page in pages if "/" not in page)
    pages["index.md"] = _landing(pages["index.md"]) + "".join(
        _toctree(part, names) for part, names in top.items()
    )
    return pages, {name for name in needed if place(name) not in pages}


def _toctree(caption: str, pages: list[str]) -> str:
    listed = "\n".join(
        f"{TITLES[page]} </{page}>" if page in TITLES else f"/{page}" for page in pages
    )
    return f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{listed}\n```\n"


def _with_links(text: str) -> str:
    """The page of all measures with a link to the page of each."""
    found = re.compile(r"^### (\w+)\n\n(?=\*\*)", re.MULTILINE)
    return outside_code(
        text,
        lambda part: found.sub(
            r"### \1\n\n[Strip, steps, and who defines it how](measures/\1.md)\n\n", part
        ),
    )


def _landing(text: str) -> str:
    """The first page with its picture as part of the page, so that it has the page's colours."""
    picture = re.compile(rf"^!\[[^\]]*\]\({FILE}\)$", re.MULTILINE)
    if not picture.search(text):
        raise ValueError(f"docs/index.md does not show {FILE}.")
    return picture.sub(lambda _: figure(landing()), text)
