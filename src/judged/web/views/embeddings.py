"""Vectors: how well they search, what a temperature does to their scores, what is wrong with them,
and what they find, from the worst query to the best."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.checks import LEVEL
from judged.embeddings.normalisation_kinds import NORMALISATIONS
from judged.errors import did_you_mean, quoted
from judged.pages.cells import Cell as Number
from judged.pages.numbers import share
from judged.rankings.strips import Cell, strips
from judged.similarity.choice import SIMILARITIES
from judged.text import Warned, counted, shown
from judged.web.asked import Command, Page
from judged.web.contents import pictures_of
from judged.web.errors import GoneError, UnreadableError
from judged.web.jobs import progress_of_this_work
from judged.web.searches import AS_THEY_ARE, EXCLUDED, NAMES, RELEVANCE, Search, vectors_of

if TYPE_CHECKING:
    from judged.charts.chart import Chart
    from judged.embeddings.top_k import TopK
    from judged.evaluation.evaluation import Evaluation
    from judged.inputs.vectors.vectors import Vectors
    from judged.temperature.sweep_result import Point, Sweep
    from judged.web.asked import Asked

FIRST = 10
"""So many items of each query are shown."""
ROWS = 6
"""So many queries of the gallery are shown at a time."""
TEMPERATURES = tuple(float(f"{t:.3g}") for t in np.geomspace(0.001, 1000, 49))
"""The stops of the slider: eight in each power of ten."""
PARAMS = (*NAMES, "part", "temperature", "query", "from", "sort", "width")
"""What the address of this page may say, besides terms."""
NUMBERS = True


def page(asked: Asked) -> Page:
    """The numbers; or, as they take longer, one of the other parts."""
    parts: dict[str, Callable[[Looked], Page]] = {
        "temperature": _temperature,
        "curves": _curves,
        "scores": _scores,
        "gallery": _gallery,
        "study": _study,
    }
    part = asked.params.choice("part", ("all", *parts), "all")
    looked = Looked(asked, Search.of(asked.params, asked.workspace, asked.cache))
    return parts[part](looked) if part in parts else _numbers(looked)


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
                progress=_progress("Searching", len(embeddings.queries)),
            )

        key = terms.measures, tuple(sorted(terms.chosen.items())), terms.convention, terms.level
        return self.kept("numbers", made, *key)

    def sweep(self, query: str | None = None) -> Sweep:
        """What each temperature makes of all queries, or of one."""
        from judged.temperature import sweep
        from judged.temperature.sweeps import steps

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
                progress=_progress("Sweeping temperatures", total),
            )

        return self.kept("sweep", made, query)

    @property
    def sides(self) -> tuple[Vectors, Vectors]:
        """The vectors of queries and of items."""
        cache = self.asked.cache
        return vectors_of(self.search.queries, cache), vectors_of(self.search.items, cache)


def _numbers(looked: Looked) -> Page:
    search, asked = looked.search, looked.asked
    evaluation, _ = looked.evaluated()
    scored = evaluation.scored()
    queries, items = looked.sides
    cards = [
        Number(
            label,
            scored.summary[measure],
            scored.intervals[measure].low,
            scored.intervals[measure].high,
        )
        for label, measure in evaluation.labels.items()
    ]
    relevant = next((each for each in scored.rankings.basis if each.startswith("relevant: ")), "")
    line = (
        f"{counted(len(queries), 'query vector')}, {counted(len(items), 'item vector')}, "
        f"{counted(items.dims, 'dimension')}. {relevant.capitalize()}. All items are ranked."
    )
    warned = [{"kind": "warn", "text": text} for text in evaluation.warnings()]
    if asked.terms.depth is not None:
        text = f"The depth of {asked.terms.depth:,} is about runs: here every item has its rank."
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
            "kept": _kept(asked, *NAMES),
            "parts": _parts(looked),
        },
        command=_evaluating(looked),
    )


def _progress(what: str, total: int) -> Callable[[int], None]:
    """Tell how far a pass over vectors is, to whoever waits for it."""
    own, done = progress_of_this_work(), 0

    def told(more: int) -> None:
        nonlocal done
        done += more
        own.say(what, min(done, total), total, "queries")

    return told


def _evaluating(looked: Looked) -> Command:
    terms, search = looked.asked.terms, looked.search
    words = ["judged", "embeddings", *search.words(), "--interval"]
    words += [word for measure in terms.measures for word in ("-m", measure)]
    words += [word for name, value in terms.chosen.items() for word in (f"--{name}", value)]
    arguments = ["relevance", *([repr(terms.asked)] if terms.asked else []), "interval=True"]
    if terms.chosen:
        arguments.append(f"policy={dict(terms.chosen)!r}")
    if terms.convention is not None:
        words += ["--convention", terms.convention]
        arguments.append(f"convention={terms.convention!r}")
    if terms.level != LEVEL:
        words += ["--level", repr(terms.level)]
        arguments.append(f"level={terms.level!r}")
    return _command(words, search, f"evaluation = embeddings.evaluate({', '.join(arguments)})")


def _command(words: Sequence[str], search: Search, line: str) -> Command:
    return Command(shlex.join(words), "\n".join([*search.python(), line]))


def _parts(looked: Looked) -> list[list[dict[str, str]]]:
    """The parts that are loaded after the numbers, in two columns."""
    plain, studies = looked.search.plain, looked.asked.workspace.studies
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
            {"title": title, "href": looked.asked.url(part=name)}
            for name, title, there in column
            if there
        ]
        for column in columns
    ]


def _selects(looked: Looked) -> list[dict[str, Any]]:
    """The controls: what each is called, what it may be, and what it is."""
    search, workspace = looked.search, looked.asked.workspace
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


def _temperature(looked: Looked) -> Page:
    """The slider: every number at every stop comes from the sweep."""
    asked, sweep = looked.asked, looked.sweep()
    evaluation, first = looked.evaluated()
    query = _query(asked, evaluation)
    alone = looked.sweep(query)
    at = _nearest(sweep.points, asked.params.number("temperature"), sweep)
    basis = "; ".join(sweep.basis) + "."
    stops = [_stop(point, own) for point, own in zip(sweep.points, alone.points, strict=True)]
    return Page(
        "embeddings_temperature.html",
        "Temperature",
        {
            "stops": stops,
            "at": at,
            "items": _items(looked, first, evaluation, query),
            "query": query,
            "queries": sweep.queries,
            "candidates": sweep.candidates,
            "notes": [_note(text) for text in sweep.sentences() if text != basis],
            "basis": basis,
            "kept": _kept(asked, "temperature"),
        },
        command=_command(
            ["judged", "temperature", *looked.search.words(), "--query", query],
            looked.search,
            f"sweep = judged.temperature.sweep(embeddings, relevance, query={query!r})",
        ),
    )


def _curves(looked: Looked) -> Page:
    """All numbers along the sweep, as a chart."""
    from judged.charts.kinds.temperature import temperature

    chart = temperature(looked.sweep(), theme="page", width=_width(looked))
    command = _command(
        ["judged", "temperature", *looked.search.words()],
        looked.search,
        "sweep = judged.temperature.sweep(embeddings, relevance)",
    )
    return Page("embeddings_figures.html", chart.title, _figures([chart]), command)


def _figures(charts: Sequence[Chart], names: Sequence[str] = ()) -> dict[str, Any]:
    from judged.pages.figure import figure

    drawn = [figure(chart) for chart in charts]
    return {"figures": list(zip(names or [""] * len(drawn), drawn, strict=True))}


def _width(looked: Looked) -> int:
    """How wide a chart may be; the browser says it."""
    return looked.asked.params.whole("width", 520, at_least=160, at_most=1600)


def _stop(point: Point, own: Point) -> dict[str, Any]:
    """A stop of the slider: texts as they are shown, and shares for the widths of bars."""
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
    """The stop nearest to a temperature, by ratio; where none is named, to the lowest loss."""
    if wanted is None or wanted <= 0:
        wanted = sweep.best_loss.temperature if sweep.best_loss else points[0].temperature
    apart = [abs(np.log(point.temperature / wanted)) for point in points]
    return int(np.argmin(apart))


def _scores(looked: Looked) -> Page:
    """How the scores of relevant pairs and of others are spread, and the diagnosis in words."""
    from judged.charts.kinds.embedding_scores import embedding_scores

    def made() -> Any:
        embeddings, relevance = looked.search.compared
        return embeddings.diagnose(relevance)

    diagnosis = looked.kept("diagnosis", made)
    chart = embedding_scores(diagnosis, theme="page", width=_width(looked))
    found = diagnosis.sentences()
    notes = [{"kind": "warn", "text": text} for text in found] or [
        {"kind": "info", "text": "Nothing about these vectors asks for a second look."}
    ]
    return Page(
        "embeddings_scores.html",
        chart.title,
        {**_figures([chart]), "notes": notes, "described": diagnosis.to_text().splitlines()[1:]},
        command=_command(
            ["judged", "embeddings", *looked.search.words(), "--diagnose"],
            looked.search,
            "diagnosis = embeddings.diagnose(relevance)",
        ),
    )


def _gallery(looked: Looked) -> Page:
    """Queries by a measure, the worst first, each with its first items."""
    asked = looked.asked
    evaluation, first = looked.evaluated()
    measure = evaluation.measure(asked.params.one("sort") or next(iter(evaluation.labels)))
    order = _order(evaluation, evaluation.label(measure))
    begin = asked.params.whole("from", 0, at_most=max(len(order) - 1, 0))
    values = evaluation.runs[0].values[measure]
    names = evaluation.runs[0].rankings.queries
    rows = [
        {
            "query": names[at],
            "picture": _picture(asked, names[at]),
            "place": place,
            "value": values[at],
            "found": _items(looked, first, evaluation, names[at]),
            "href": asked.url(part=None, query=names[at]),
        }
        for place, at in enumerate(order[begin : begin + ROWS], begin + 1)
    ]
    return Page(
        "embeddings_gallery.html",
        "Gallery",
        {
            "rows": rows,
            "count": len(order),
            "measure": evaluation.label(measure),
            "measures": list(evaluation.labels),
            "before": asked.url(from_=max(begin - ROWS, 0)) if begin else None,
            "after": asked.url(from_=begin + ROWS) if begin + ROWS < len(order) else None,
            "kept": _kept(asked, "sort", "from"),
        },
    )


def _study(looked: Looked) -> Page:
    """Studies and sweeps of temperatures whose JSON lies in the folder."""
    import json

    from judged.charts.kinds.temperature import temperature
    from judged.charts.kinds.temperature_study import temperature_study

    kinds = {"study": temperature_study, "sweep": temperature}
    files = looked.asked.workspace.studies
    drawn = []
    for file in files:
        try:
            read = json.loads(file.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise UnreadableError(f"{file.name}: cannot be read as JSON any more.") from None
        drawn.append(kinds[file.kind](read, theme="page", width=_width(looked)))
    context = _figures(drawn, [file.name for file in files])
    return Page("embeddings_figures.html", "Studies of temperatures", context)


def _order(evaluation: Evaluation, label: str) -> list[int]:
    """The places of the queries that count, the worst first; among equals in the queries' order."""
    measure = evaluation.labels[label]
    values = evaluation.runs[0].values[measure]
    there = np.flatnonzero(~np.isnan(values))
    upward = values[there] if measure.spec.higher_is_better else -values[there]
    return [int(each) for each in there[np.argsort(upward, kind="stable")]]


def _query(asked: Asked, evaluation: Evaluation) -> str:
    """The query that is looked at alone; where none is named, the worst one."""
    known, wanted = evaluation.runs[0].rankings.queries, asked.params.one("query")
    if wanted is None:
        order = _order(evaluation, next(iter(evaluation.labels)))
        return known[order[0] if order else 0]
    if wanted not in known:
        raise GoneError(f"There is no query {quoted(wanted)}{did_you_mean(wanted, known)}", "query")
    return wanted


def _items(looked: Looked, first: TopK, evaluation: Evaluation, query: str) -> list[dict[str, Any]]:
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
            "picture": _picture(looked.asked, item),
        }
        for rank, (item, score, cell) in enumerate(zip(names, scores, cells, strict=False), 1)
    ]


def _picture(asked: Asked, name: str) -> str | None:
    """Where the picture of a query or an item is, if there is one."""
    return asked.url("/picture", item=name) if name in pictures_of(asked) else None


def _kept(asked: Asked, *but: str) -> list[tuple[str, str]]:
    """The parameters that a form hands on unseen."""
    return [pair for pair in asked.params.pairs if pair[0] not in but]


def _note(text: str) -> dict[str, str]:
    return {"kind": "warn" if isinstance(text, Warned) else "info", "text": text}
