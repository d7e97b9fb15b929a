"""The order of the site's pages: one list, from which the side bar is made.

A name with * stands for all pages of that form that nothing before it names, so that a new guide
has its place already. Names of pages that are not there yet are left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

NAV: dict[str, tuple[str, ...]] = {
    "Start": ("readme", "install", "tour"),
    "Guides": (
        "guide-paper",
        "guide-search-engine",
        "guide-embeddings",
        "guide-rag",
        "guide-recommender",
        "guide-b-better",
        "guide-two-numbers",
        "guide-judging",
        "guide-ci",
        "guide-spark",
        "guide-retrievers",
        "guide-*",
        "recipes",
    ),
    "Choosing a measure": ("choosing", "choosing-*", "average-precision", "precision-recall-at-k"),
    "Coming from": ("trec_eval", "migrate", "migrate-*"),
    "Questions": ("faq", "why-numbers-differ", "identify"),
    "Topics": (
        "python",
        "inputs",
        "comparing",
        "explorer",
        "report",
        "judging",
        "gate",
        "planning",
        "overlap",
        "fusion",
        "retriever",
        "embeddings",
        "learning",
        "temperature",
        "scale",
        "safety",
    ),
    "Reference": ("measures", "conventions", "commands", "charts", "policy", "api"),
    "Numbers of others": ("replications", "replication-*"),
    "Project": ("benchmarks", "architecture", "contributing", "changelog"),
}
"""Each part of the side bar and its pages; `index` is the page that holds it."""
TITLES = {"readme": "What it does, in one screen"}
"""What the side bar calls pages whose own title says less there."""


def arranged(pages: Iterable[str]) -> dict[str, list[str]]:
    """The pages by their part, in order; a page that has no place is refused.

    >>> arranged(["faq", "guide-spark", "guide-zebra"])
    {'Guides': ['guide-spark', 'guide-zebra'], 'Questions': ['faq']}
    """
    left = sorted(set(pages) - {"index"})
    # Names before patterns, wherever they stand.
    named = {name for names in NAV.values() for name in names if "*" not in name}
    found: dict[str, list[str]] = {}
    for part, names in NAV.items():
        for name in names:
            taken = [
                page
                for page in left
                if page == name or (page not in named and fnmatchcase(page, name))
            ]
            if taken:
                found.setdefault(part, []).extend(taken)
            left = [page for page in left if page not in taken]
    if left:
        raise ValueError(f"docs/website/nav.py has no place for {', '.join(left)}.")
    return found
