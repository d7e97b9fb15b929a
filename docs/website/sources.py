"""The sources for Sphinx: pages of the repository, and pages made from registries."""

from __future__ import annotations

import json
import re
from pathlib import Path
from shutil import copyfile
from textwrap import shorten

from judged.measures.reference import TOPICS
from website.links import FENCED, OUTSIDE, ROOT, mapped, outside_code, place
from website.measures import measure_pages
from website.names import name_pages
from website.nav import TITLES, arranged
from website.strip import FILE, figure, landing

LONGEST_DESCRIPTION = 160
"""Characters of a description that search engines show."""


def repository_pages() -> list[str]:
    """Return the paths of the pages that are kept as Markdown."""
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
    """Return every page by its place on the site, and the files that they need."""
    pages: dict[str, str] = {}
    needed: set[str] = set()
    for path in repository_pages():
        text = (ROOT / path).read_text(encoding="utf-8")
        pages[place(path)], more = mapped(text, path)
        needed |= more
    pages["measures.md"] = _with_links(pages["measures.md"])
    pages |= measure_pages() | name_pages()
    for name in pages:
        pages[name] = _head(name, pages[name]) + pages[name]
    top = arranged(page.removesuffix(".md") for page in pages if "/" not in page)
    pages["index.md"] = _landing(pages["index.md"]) + "".join(
        _toctree(part, names) for part, names in top.items()
    )
    return pages, {name for name in needed if place(name) not in pages}


def _head(name: str, text: str) -> str:
    """Return the page's metadata: a description, and phrases by which the search finds it.

    Pages in folders stay out of the side bar, which would otherwise be most of each page.
    """
    prose = FENCED.sub("", text)
    paragraphs = [part for part in prose.split("\n\n") if re.match(r"[A-Z*`]", part)]
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)|[*`\\]", r"\1", " ".join(paragraphs[:1]))
    description = shorten(plain, LONGEST_DESCRIPTION, placeholder=" …")
    phrases = [
        phrase for words, (_, page) in TOPICS.items() if name == f"{page}.md" for phrase in words
    ]
    meta = {"description": description, "keywords": ", ".join(phrases)}
    lines = [f"    {key}: {json.dumps(value)}" for key, value in meta.items() if value]
    orphan = ["orphan: true"] if "/" in name else []
    head = [*orphan, *(["myst:", "  html_meta:", *lines] if lines else [])]
    return "\n".join(["---", *head, "---", "", ""]) if head else ""


def _toctree(caption: str, pages: list[str]) -> str:
    listed = "\n".join(
        f"{TITLES[page]} </{page}>" if page in TITLES else f"/{page}" for page in pages
    )
    return f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{listed}\n```\n"


def _with_links(text: str) -> str:
    """Return the page of all measures with a link to the page of each."""
    found = re.compile(r"^### (\w+)\n\n(?=\*\*)", re.MULTILINE)
    return outside_code(
        text,
        lambda part: found.sub(
            r"### \1\n\n[Strip, steps, and who defines it how](measures/\1.md)\n\n", part
        ),
    )


def _landing(text: str) -> str:
    """Return the first page with its picture drawn in the page's colours, and its list as cards."""
    picture = re.compile(rf"^!\[[^\]]*\]\({FILE}\)$", re.MULTILINE)
    if not picture.search(text):
        raise ValueError(f"docs/index.md does not show {FILE}.")
    cards = re.compile(r"(?:^- .*\n)+", re.MULTILINE)
    text = cards.sub(lambda found: f"```{{container}} cards\n{found[0]}```\n", text, count=1)
    return picture.sub(lambda _: figure(landing()), text)
