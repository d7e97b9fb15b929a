"""A search among vectors, and all that is computed of it, once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.errors import did_you_mean, quoted
from judged.rankings.strips import Cell, strips
from judged.text import shown
from judged.web.asked import Command
from judged.web.commands import shell_word
from judged.web.contents import pictures_of
from judged.web.errors import GoneError
from judged.web.jobs import progress_of_this_work
from judged.web.vectors.searches import Search, vectors_of

if TYPE_CHECKING:
    from judged.charts.chart import Chart
    from judged.embeddings.top_k import TopK
    from judged.evaluation.evaluation import Evaluation
    from judged.inputs.vectors.vectors import Vectors
    from judged.learning.temperature.sweep_result import Sweep
    from judged.web.asked import Asked

FIRST = 10
"""So many items of each query are shown."""
TEMPERATURES = tuple(float(f"{t:.3g}") for t in np.geomspace(0.001, 1000, 49))
"""The stops of the slider: eight in each power of ten."""


@dataclass(frozen=True, eq=False)
class Looked:
    """A search, and all that is computed of it, once."""

    asked: Asked
    search: Search

    def kept(self, what: str, make: Callable[[], Any], *more: Any) -> Any:
        return self.asked.cache.get(("embeddings", what, self.search.key, more), make)

    def evaluated(self) -> tuple[Evaluation, TopK]:
        """The numbers and the first items of every query, in one pass."""
        terms = self.asked.terms

        def made() -> tuple[Evaluation, TopK]:
            embeddings, relevance = self.search.compared
            return embeddings.evaluate_and_top_k(
                relevance,
                terms.asked,
                k=FIRST,
                policy=dict(terms.chosen),
                convention=terms.convention,
                interval=True,
                level=terms.level,
                progress=progress_of("Searching", len(embeddings.queries)),
            )

        key = terms.measures, tuple(sorted(terms.chosen.items())), terms.convention, terms.level
        return self.kept("numbers", made, *key)

    def sweep(self, query: str | None = None) -> Sweep:
        """What each temperature makes of all queries, or of one."""
        from judged.learning.temperature import sweep
        from judged.learning.temperature.sweeps import steps

        def made() -> Sweep:
            embeddings, relevance = self.search.compared
            times = steps(TEMPERATURES, both=False, search=query is None)
            total = times * (len(embeddings.queries) if query is None else 1)
            return sweep(
                embeddings,
                relevance,
                TEMPERATURES,
                query=query,
                search=query is None,
                progress=progress_of("Sweeping temperatures", total),
            )

        return self.kept("sweep", made, query)

    @property
    def sides(self) -> tuple[Vectors, Vectors]:
        """The vectors of queries and of items."""
        cache = self.asked.cache
        return vectors_of(self.search.queries, cache), vectors_of(self.search.items, cache)


def progress_of(what: str, total: int) -> Callable[[int], None]:
    """Tell how far a pass over vectors is, to whoever waits for it."""
    own, done = progress_of_this_work(), 0

    def told(more: int) -> None:
        nonlocal done
        done += more
        own.say(what, min(done, total), total, "queries")

    return told


def command_of(words: Sequence[str], search: Search, line: str) -> Command:
    return Command(" ".join(map(shell_word, words)), "\n".join([*search.python(), line]))


def worst_first(evaluation: Evaluation, label: str) -> list[int]:
    """The places of the queries that count, the worst first; among equals in the queries' order."""
    measure = evaluation.labels[label]
    values = evaluation.runs[0].values[measure]
    there = np.flatnonzero(~np.isnan(values))
    upward = values[there] if measure.spec.higher_is_better else -values[there]
    return [int(each) for each in there[np.argsort(upward, kind="stable")]]


def query_of(asked: Asked, evaluation: Evaluation) -> str:
    """The query that is looked at alone; where none is named, the worst one."""
    known, wanted = evaluation.runs[0].rankings.queries, asked.params.one("query")
    if wanted is None:
        order = worst_first(evaluation, next(iter(evaluation.labels)))
        return known[order[0] if order else 0]
    if wanted not in known:
        raise GoneError(f"There is no query {quoted(wanted)}{did_you_mean(wanted, known)}", "query")
    return wanted


def items_of(
    looked: Looked, first: TopK, evaluation: Evaluation, query: str
) -> list[dict[str, Any]]:
    """The first items of a query: id, score, and whether each is relevant."""
    rankings = evaluation.runs[0].rankings
    at = rankings.queries.index(query)
    cells: list[Cell] = strips(rankings.take([at]), FIRST).cells(0)
    row = first.query_vectors.names().index(query)
    there = slice(int(first.lengths[row]))
    names = [first.item_vectors.name(int(item)) for item in first.items[row, there]]
    scores = first.scores[row, there].tolist()
    return [
        {
            "rank": rank,
            "item": item,
            "score": shown(score, 3),
            "cell": cell,
            "picture": picture_of(looked.asked, item),
        }
        for rank, (item, score, cell) in enumerate(zip(names, scores, cells, strict=False), 1)
    ]


def picture_of(asked: Asked, name: str) -> str | None:
    """Where the picture of a query or an item is, if there is one."""
    return asked.url("/picture", item=name) if name in pictures_of(asked) else None


def kept_of(asked: Asked, *but: str) -> list[tuple[str, str]]:
    """The parameters that a form hands on unseen."""
    return [pair for pair in asked.params.pairs if pair[0] not in but]


def figures_of(charts: Sequence[Chart], names: Sequence[str] = ()) -> dict[str, Any]:
    from judged.web.pages.figure import figure

    drawn = [figure(chart) for chart in charts]
    return {"figures": list(zip(names or [""] * len(drawn), drawn, strict=True))}


def width_of(looked: Looked) -> int:
    """How wide a chart may be; the browser says it."""
    return looked.asked.params.whole("width", 520, at_least=160, at_most=1600)
