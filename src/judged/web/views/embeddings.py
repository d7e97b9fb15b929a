"""Embeddings: search quality, temperature, diagnosis, and a gallery from worst to best query."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.embeddings.normalisation import NORMALISATIONS
from judged.embeddings.similarity import SIMILARITIES
from judged.errors import did_you_mean, quoted
from judged.options import LEVEL
from judged.rankings.strips import Cell, strips
from judged.text import Warned, counted, shown
from judged.web.commands import shell_word
from judged.web.errors import GoneError, UnpairedError, UnreadableError
from judged.web.pages.boards import value_cell
from judged.web.pages.numbers import share
from judged.web.searches import (
    AS_THEY_ARE,
    EXCLUDED,
    RELEVANCE,
    SEARCH_PARAMS,
    VectorSearch,
    vectors_of,
)
from judged.web.visit import CommandText, Page
from judged.web.work import progress_of_this_work
from judged.web.workspace import pictures_of

if TYPE_CHECKING:
    from judged.charts.chart import Chart
    from judged.embeddings.top_k import TopK
    from judged.evaluation.evaluation import Evaluation
    from judged.inputs.vectors.vectors import Vectors
    from judged.learning.temperature import Point, Sweep
    from judged.web.visit import Visit


ITEMS_PER_QUERY = 10
TEMPERATURES = tuple(float(f"{t:.3g}") for t in np.geomspace(0.001, 1000, 49))
"""The stops of the slider: eight in each power of ten."""


@dataclass(frozen=True, eq=False)
class SearchResults:
    """A search among vectors, with everything computed once."""

    visit: Visit
    search: VectorSearch

    def kept(self, what: str, make: Callable[[], Any], *more: Any) -> Any:
        return self.visit.cache.get(("embeddings", what, self.search.key, more), make)

    def evaluated(self) -> tuple[Evaluation, TopK]:
        """Return the evaluation and the first items of every query, in one pass."""
        scoring = self.visit.scoring

        def made() -> tuple[Evaluation, TopK]:
            embeddings, relevance = self.search.compared
            evaluation, lists = embeddings.evaluate_and_top_k(
                relevance,
                scoring.requested_measures,
                k=ITEMS_PER_QUERY,
                policy=scoring.choices,
                convention=scoring.convention,
                progress=progress_of("Searching", len(embeddings.queries)),
            )
            return evaluation.showing(intervals=True, level=scoring.level), lists

        key = (
            scoring.measures,
            tuple(sorted(scoring.choices.items())),
            scoring.convention,
            scoring.level,
        )
        return self.kept("numbers", made, *key)

    def sweep(self, query: str | None = None) -> Sweep:
        """Return the effect of each temperature on all queries, or on one."""
        from judged.learning._sweep import steps
        from judged.learning.temperature import sweep

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
        cache = self.visit.cache
        return vectors_of(self.search.queries, cache), vectors_of(self.search.items, cache)


def progress_of(what: str, total: int) -> Callable[[int], None]:
    """Return a callback that reports the progress of a pass over vectors."""
    own, done = progress_of_this_work(), 0

    def told(more: int) -> None:
        nonlocal done
        done += more
        own.say(what, min(done, total), total, "queries")

    return told


def command_of(words: Sequence[str], search: VectorSearch, line: str) -> CommandText:
    return CommandText(" ".join(map(shell_word, words)), "\n".join([*search.python(), line]))


def worst_first(evaluation: Evaluation, label: str) -> list[int]:
    """Return the indices of the queries that count, worst first."""
    measure = evaluation.labels[label]
    values = evaluation.runs[0].values[measure]
    there = np.flatnonzero(~np.isnan(values))
    upward = values[there] if measure.spec.higher_is_better else -values[there]
    return [int(each) for each in there[np.argsort(upward, kind="stable")]]


def query_of(visit: Visit, evaluation: Evaluation) -> str:
    """Return the query of the address, by default the worst one."""
    known, wanted = evaluation.runs[0].rankings.queries, visit.params.one("query")
    if wanted is None:
        order = worst_first(evaluation, next(iter(evaluation.labels)))
        return known[order[0] if order else 0]
    if wanted not in known:
        raise GoneError(f"There is no query {quoted(wanted)}{did_you_mean(wanted, known)}", "query")
    return wanted


def items_of(
    looked: SearchResults, first: TopK, evaluation: Evaluation, query: str
) -> list[dict[str, Any]]:
    """Return the first items of a query: id, score and relevance."""
    rankings = evaluation.runs[0].rankings
    at = rankings.queries.index(query)
    cells: list[Cell] = strips(rankings.take([at]), ITEMS_PER_QUERY).cells(0)
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
            "picture": picture_address(looked.visit, item),
        }
        for rank, (item, score, cell) in enumerate(zip(names, scores, cells, strict=False), 1)
    ]


def picture_address(visit: Visit, name: str) -> str | None:
    """Return the address of the picture of a query or an item, if there is one."""
    return visit.url("/picture", item=name) if name in pictures_of(visit) else None


def kept_of(visit: Visit, *but: str) -> list[tuple[str, str]]:
    """Return the hidden fields of a form."""
    return [pair for pair in visit.params.pairs if pair[0] not in but]


def figures_of(charts: Sequence[Chart], names: Sequence[str] = ()) -> dict[str, Any]:
    from judged.web.pages.templating import figure

    drawn = [figure(chart) for chart in charts]
    return {"figures": list(zip(names or [""] * len(drawn), drawn, strict=True))}


def width_of(looked: SearchResults) -> int:
    """Return the width of a chart, which the browser sends."""
    return looked.visit.params.whole("width", 520, at_least=160, at_most=1600)


QUERIES_PER_PAGE = 6


def temperature(looked: SearchResults) -> Page:
    """Show the slider; every number comes from the sweep."""
    visit, sweep = looked.visit, looked.sweep()
    evaluation, first = looked.evaluated()
    query = query_of(visit, evaluation)
    alone = looked.sweep(query)
    at = _nearest(sweep.points, visit.params.number("temperature"), sweep)
    basis = "; ".join(sweep.basis) + "."
    stops = [_stop(point, own) for point, own in zip(sweep.points, alone.points, strict=True)]
    return Page(
        "embeddings_temperature.html",
        "Temperature",
        {
            "stops": stops,
            "at": at,
            "items": items_of(looked, first, evaluation, query),
            "query": query,
            "queries": sweep.queries,
            "candidates": sweep.candidates,
            "notes": [_note(text) for text in sweep.sentences() if text != basis],
            "basis": basis,
            "kept": kept_of(visit, "temperature"),
        },
        command=command_of(
            ["judged", "temperature", *looked.search.words(), "--query", query],
            looked.search,
            f"sweep = judged.temperature.sweep(embeddings, relevance, query={query!r})",
        ),
    )


def curves(looked: SearchResults) -> Page:
    """Show all numbers along the sweep as a chart."""
    from judged.charts.kinds.temperatures import temperature as drawn

    chart = drawn(looked.sweep(), theme="page", width=width_of(looked))
    command = command_of(
        ["judged", "temperature", *looked.search.words()],
        looked.search,
        "sweep = judged.temperature.sweep(embeddings, relevance)",
    )
    return Page("embeddings_figures.html", chart.title, figures_of([chart]), command)


def _stop(point: Point, own: Point) -> dict[str, Any]:
    """Return a stop of the slider: texts, and shares for the widths of bars."""
    return {
        "temperature": f"{point.temperature:.4g}",
        "loss": shown(point.loss, 3),
        "confidence": share(point.confidence, 1),
        "accuracy": share(point.accuracy, 1),
        "calibration_error": shown(point.calibration_error, 3),
        "entropy": shown(point.entropy, 3),
        "all": [[shown(each, 3), each] for each in point.probabilities],
        "one": [[shown(each, 3), each] for each in own.probabilities],
    }


def _nearest(points: Sequence[Point], wanted: float | None, sweep: Sweep) -> int:
    """Return the stop nearest to a temperature by ratio; by default the lowest loss."""
    if wanted is None or wanted <= 0:
        wanted = sweep.best_loss.temperature if sweep.best_loss else points[0].temperature
    apart = [abs(np.log(point.temperature / wanted)) for point in points]
    return int(np.argmin(apart))


def scores(looked: SearchResults) -> Page:
    """Show the scores of relevant pairs and of others, and the diagnosis."""
    from judged.charts.kinds.distributions import embedding_scores

    def made() -> Any:
        embeddings, relevance = looked.search.compared
        return embeddings.diagnose(relevance)

    diagnosis = looked.kept("diagnosis", made)
    chart = embedding_scores(diagnosis, theme="page", width=width_of(looked))
    notes = [{"kind": "warn", "text": text} for text in diagnosis.sentences()] or [
        {"kind": "info", "text": "Nothing about these vectors asks for a second look."}
    ]
    lines = diagnosis.to_text().splitlines()
    described = lines[lines.index(f"Diagnosis by {diagnosis.similarity}") + 1 :]
    return Page(
        "embeddings_scores.html",
        chart.title,
        {**figures_of([chart]), "notes": notes, "described": described},
        command=command_of(
            ["judged", "embeddings", *looked.search.words(), "--diagnose"],
            looked.search,
            "diagnosis = embeddings.diagnose(relevance)",
        ),
    )


def gallery(looked: SearchResults) -> Page:
    """Show queries by a measure, worst first, with their first items."""
    visit = looked.visit
    evaluation, first = looked.evaluated()
    measure = evaluation.measure(visit.params.one("sort") or next(iter(evaluation.labels)))
    order = worst_first(evaluation, evaluation.label(measure))
    begin = visit.params.whole("from", 0, at_most=max(len(order) - 1, 0))
    values = evaluation.runs[0].values[measure]
    names = evaluation.runs[0].rankings.queries
    rows = [
        {
            "query": names[at],
            "picture": picture_address(visit, names[at]),
            "place": place,
            "value": values[at],
            "found": items_of(looked, first, evaluation, names[at]),
            "href": visit.url(part=None, query=names[at]),
        }
        for place, at in enumerate(order[begin : begin + QUERIES_PER_PAGE], begin + 1)
    ]
    return Page(
        "embeddings_gallery.html",
        "Gallery",
        {
            "rows": rows,
            "count": len(order),
            "measure": evaluation.label(measure),
            "measures": list(evaluation.labels),
            "before": visit.url(from_=max(begin - QUERIES_PER_PAGE, 0)) if begin else None,
            "after": visit.url(from_=begin + QUERIES_PER_PAGE)
            if begin + QUERIES_PER_PAGE < len(order)
            else None,
            "kept": kept_of(visit, "sort", "from"),
        },
    )


def study(looked: SearchResults) -> Page:
    """Show the studies and sweeps of temperatures in the folder."""

    from judged.charts.kinds.temperatures import temperature as of_sweep
    from judged.charts.kinds.temperatures import temperature_study as of_study

    kinds = {"study": of_study, "sweep": of_sweep}
    files = looked.visit.workspace.studies
    drawn = []
    for file in files:
        try:
            read = json.loads(file.path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            raise UnreadableError(f"{file.name}: cannot be read as JSON any more.") from None
        drawn.append(kinds[file.kind](read, theme="page", width=width_of(looked)))
    context = figures_of(drawn, [file.name for file in files])
    return Page("embeddings_figures.html", "Studies of temperatures", context)


def _note(text: str) -> dict[str, str]:
    return {"kind": "warn" if isinstance(text, Warned) else "info", "text": text}


PARTS: dict[str, Callable[[SearchResults], Page]] = {
    "temperature": temperature,
    "curves": curves,
    "scores": scores,
    "gallery": gallery,
    "study": study,
}
"""The parts of the page, by their names in addresses."""


PARAMS = (*SEARCH_PARAMS, "part", "temperature", "query", "from", "sort", "width")


def page(visit: Visit) -> Page:
    """Show the numbers, or one of the parts that take longer."""
    part = visit.params.choice("part", ("all", *PARTS), "all")
    try:
        search = VectorSearch.of(visit.params, visit.workspace, visit.cache)
    except UnpairedError as error:
        return _which(visit, str(error))
    looked = SearchResults(visit, search)
    return PARTS[part](looked) if part in PARTS else _numbers(looked)


def _which(visit: Visit, why: str) -> Page:
    """Ask which files of vectors belong together."""
    options = {file.name: file.name for file in visit.workspace.vectors}
    selects = [
        {"name": name, "label": name, "options": options, "chosen": visit.params.text(name)}
        for name in ("queries", "items")
    ]
    context = {
        **{"line": why, "cards": [], "level": None, "notes": [], "parts": []},
        **{"selects": selects, "kept": kept_of(visit, *SEARCH_PARAMS)},
    }
    return Page("embeddings.html", "Which vectors?", context, status=UnpairedError.status)


def _numbers(looked: SearchResults) -> Page:
    search, visit = looked.search, looked.visit
    evaluation, _ = looked.evaluated()
    scored = evaluation.scored()
    queries, items = looked.sides
    cards = [
        value_cell(label, scored.summary[measure], scored.intervals[measure])
        for label, measure in evaluation.labels.items()
    ]
    relevant = next((each for each in scored.rankings.basis if each.startswith("relevant: ")), "")
    line = (
        f"{counted(len(queries), 'query vector')}, {counted(len(items), 'item vector')}, "
        f"{counted(items.dims, 'dimension')}. {relevant.capitalize()}. All items are ranked."
    )
    warned = [{"kind": "warn", "text": text} for text in evaluation.warnings()]
    if visit.scoring.depth is not None:
        text = f"The depth of {visit.scoring.depth:,} is about runs: here every item has its rank."
        warned.append({"kind": "warn", "text": text})
    return Page(
        "embeddings.html",
        f"{search.queries.name} against {search.items.name}, by {search.similarity}",
        {
            "line": line,
            "cards": cards,
            "level": evaluation.level,
            "notes": warned,
            "selects": _selects(looked),
            "kept": kept_of(visit, *SEARCH_PARAMS),
            "parts": _part_links(looked),
        },
        command=_evaluating(looked),
    )


def _evaluating(looked: SearchResults) -> CommandText:
    scoring, search = looked.visit.scoring, looked.search
    words = ["judged", "embeddings", *search.words(), "--interval"]
    words += [word for measure in scoring.measures for word in ("-m", measure)]
    words += [word for name, value in scoring.choices.items() for word in (f"--{name}", value)]
    arguments = [
        "relevance",
        *([repr(scoring.requested_measures)] if scoring.requested_measures else []),
    ]
    showing = ["intervals=True"]
    if scoring.choices:
        arguments.append(f"policy={scoring.choices!r}")
    if scoring.convention is not None:
        words += ["--convention", scoring.convention]
        arguments.append(f"convention={scoring.convention!r}")
    if scoring.level != LEVEL:
        words += ["--level", repr(scoring.level)]
        showing.append(f"level={scoring.level!r}")
    call = f"embeddings.evaluate({', '.join(arguments)}).showing({', '.join(showing)})"
    return command_of(words, search, f"evaluation = {call}")


def _part_links(looked: SearchResults) -> list[list[dict[str, str]]]:
    """Return the parts that are loaded after the numbers, in two columns."""
    plain, studies = looked.search.plain, looked.visit.workspace.studies
    columns = [
        [("temperature", "Temperature", plain), ("gallery", "Gallery", True)],
        [
            ("scores", "Scores of relevant items and of others", plain),
            ("curves", "What temperature does", plain),
            ("study", "Studies of temperatures", bool(studies)),
        ],
    ]
    return [
        [
            {"title": title, "href": looked.visit.url(part=name)}
            for name, title, there in column
            if there
        ]
        for column in columns
    ]


def _selects(looked: SearchResults) -> list[dict[str, Any]]:
    """Return the menus of the search."""
    search, workspace = looked.search, looked.visit.workspace
    vectors = {file.name: file.name for file in workspace.vectors}
    lines = {file.name: file.name for file in workspace.labels}
    relevance = {
        name: words
        for name, words in RELEVANCE.items()
        if (name != "judgements" or workspace.judgements) and ("labels" not in name or lines)
    }
    found = [
        ("queries", "queries", vectors, search.queries.name),
        ("items", "items", vectors, search.items.name),
        ("similarity", "similarity", {name: name for name in SIMILARITIES}, search.similarity),
        (
            "normalise",
            "scores",
            {AS_THEY_ARE: "as they are", **{name: name for name in NORMALISATIONS}},
            search.normalise,
        ),
        ("relevance", "relevant", relevance, search.relevance),
        ("exclude", "left out", EXCLUDED, search.exclude),
    ]
    if "labels" in search.relevance:
        found += [
            (f"{side}_labels", f"labels of {words}", lines, file.name if file else "")
            for side, words, file in (
                ("query", "queries", search.query_labels),
                ("item", "items", search.item_labels),
            )
        ]
    return [
        {"name": name, "label": label, "options": options, "chosen": chosen}
        for name, label, options, chosen in found
    ]
