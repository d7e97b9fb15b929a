"""The order of the site's pages, from which the side bar is made.

A name with * stands for all pages of that form that are not named, so that a new guide has a
place. Names of missing pages are left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

NAV: dict[str, tuple[str, ...]] = {
    "Start": ("quickstart", "install", "concepts", "readme"),
    "How to": (
        "guide-paper",
        "guide-rag",
        "guide-embeddings",
        "guide-recommender",
        "guide-search-engine",
        "guide-compare",
        "guide-ci",
        "guide-judging",
        "guide-disagree",
        "guide-large",
        "guide-explorer",
        "guide-*",
        "recipes",
    ),
    "Explained": (
        "choosing",
        "statistics",
        "policy",
        "average-precision",
        "ndcg",
        "fusion",
        "temperature",
    ),
    "Reference": (
        "commands",
        "python",
        "api",
        "measures",
        "conventions",
        "charts",
        "inputs",
        "safety",
    ),
    "Help": ("migrating", "faq"),
    "Project": (
        "benchmarks",
        "replications",
        "replication-*",
        "architecture",
        "adding",
        "contributing",
        "changelog",
    ),
}
"""Each part of the side bar and its pages; `index` is the page that holds it."""
TITLES = {"readme": "What it does, in one screen"}
"""Titles in the side bar for pages whose own title is unclear there."""


def arranged(pages: Iterable[str]) -> dict[str, list[str]]:
    """Return the pages by part, in order; raise an error for a page without a place.

    >>> arranged(["faq", "guide-large", "guide-zebra"])
    {'How to': ['guide-large', 'guide-zebra'], 'Help': ['faq']}
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
