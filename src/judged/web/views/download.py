"""The numbers of the leaderboard as files."""

from __future__ import annotations

from collections.abc import Callable

from judged.web.asked import Asked, Raw

PARAMS = ("format", "sort", "ranges")
PATIENCE = 600.0
FORMATS = {
    "csv": ("text/csv; charset=utf-8", "leaderboard.csv"),
    "json": ("application/json", "evaluation.json"),
    "md": ("text/markdown; charset=utf-8", "leaderboard.md"),
    "tex": ("application/x-tex", "leaderboard.tex"),
    "per-query": ("text/csv; charset=utf-8", "queries.csv"),
}
"""What can be saved, what it is and what a browser calls it."""


def page(asked: Asked) -> Raw:
    """What `judged evaluate --interval` writes with the same terms."""
    form = asked.params.choice("format", tuple(FORMATS), "csv")
    found = asked.calculations.evaluation(asked.terms)
    made: dict[str, Callable[[], str]] = {
        "csv": found.to_csv,
        "json": lambda: found.to_json(per_query=True),
        "md": found.to_markdown,
        "tex": found.to_latex,
        "per-query": lambda: found.to_csv(per_query=True),
    }
    kind, name = FORMATS[form]
    return Raw(made[form]().encode(), kind, name)
