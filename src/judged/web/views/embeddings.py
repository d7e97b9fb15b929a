"""Embeddings: search quality, temperature, diagnosis, and a gallery from worst to best query."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.embeddings.normalisation import NORMALISATIONS
from judged.embeddings.similarity import SIMILARITIES
from judged.errors import InputError, did_you_mean, quoted
from judged.inputs.vectors.formats import FORMATS as VECTOR_FORMATS
from judged.options import LEVEL, choice
from judged.rankings.strips import strips
from judged.text import Warned, counted, listed, shown
from judged.web.commands import line_of, path_of
from judged.web.errors import GoneError, RefusedError
from judged.web.pages.boards import value_cell
from judged.web.pages.numbers import share
from judged.web.pages.templating import figure
from judged.web.views.files import empty_page
from judged.web.visit import Page, Visit
from judged.web.work import progress_of_this_work
from judged.web.workspace import picture_address

if TYPE_CHECKING:
    from judged.embeddings.embeddings import Embeddings
    from judged.embeddings.top_k import TopK
    from judged.evaluation.evaluation import Evaluation
    from judged.inputs.vectors.vectors import Vectors
    from judged.learning.temperature import Sweep, TemperaturePoint
    from judged.web.files import DataFile
    from judged.web.work import Cache

RELEVANCE = {
    "labels": "items of the query’s own label",
    "shared-labels": "items that share a label with the query",
    "pairs": "the item in the query’s own row",
    "judgements": "relevant items of the judgements",
}
"""Definitions of relevance, in words."""
EXCLUDED = {
    "nothing": "nothing",
    "self": "the item in the query’s own row",
    "same-id": "the item of the query’s own id",
}
"""Items that can be left out of a query's ranking, in words."""
AS_THEY_ARE = "none"  # the choice of no normalisation
SEARCH_PARAMS = (
    *("queries", "items", "relevance", "query_labels", "item_labels", "query_ids", "item_ids"),
    *("similarity", "normalise", "exclude"),
)
"""Parameters of an address that describe the search."""
_ASKS = re.compile(r"quer(?:y|ies)|questions?|probes?|anchors?", re.IGNORECASE)
_QUERY_SIDE = re.compile(rf"{_ASKS.pattern}|captions?|texts?", re.IGNORECASE)
_ANSWERS = re.compile(
    r"items?|doc(?:ument)?s?|passages?|corpus|images?|pictures?|photos?|videos?|gallery|"
    r"collection|targets?|answers?|candidates?",
    re.IGNORECASE,
)
_SIDE_WORDS = re.compile(r"vec(?:tor)?s?|emb(?:edding)?s?|features?", re.IGNORECASE)
"""Words in file names that do not distinguish models."""
PARAMS = (*SEARCH_PARAMS, "part", "temperature", "query", "from", "sort", "width")
ITEMS_PER_QUERY = 10
QUERIES_PER_PAGE = 6
TEMPERATURES = tuple(float(f"{t:.3g}") for t in np.geomspace(0.001, 1000, 49))
"""The stops of the slider: eight in each power of ten."""


@dataclass(frozen=True, eq=False)
class VectorSearch:
    """The vectors of a search and all its options."""

    visit: Visit
    queries: DataFile
    items: DataFile
    relevance: str
    query_labels: DataFile | None
    item_labels: DataFile | None
    query_ids: DataFile | None
    item_ids: DataFile | None
    judgements: DataFile | None
    similarity: str = "cosine"
    normalise: str = AS_THEY_ARE
    exclude: str = "nothing"

    @classmethod
    def of(cls, visit: Visit) -> VectorSearch:
        """Read an address; take what it does not name from the files that fit."""
        workspace, cache, params = visit.workspace, visit.cache, visit.params

        def named(name: str) -> DataFile | None:
            value = params.one(name)
            return None if value is None else workspace.file(value)

        queries, items = _paired(workspace.of_kind("vectors"), named("queries"), named("items"))
        files: dict[str, DataFile | None] = {}
        for side, vectors in (("query", queries), ("item", items)):
            count = len(vectors_of(vectors, cache))
            for what in ("labels", "ids"):
                fitting = _fitting(
                    workspace.of_kind("labels"), cache, count, side, distinct=what == "ids"
                )
                files[f"{side}_{what}"] = named(f"{side}_{what}") or fitting
        likely = "judgements" if workspace.judgements else "pairs"
        if files["query_labels"] and files["item_labels"]:
            likely = "labels"
        alone = "self" if queries.identity == items.identity else "nothing"
        normalisations = (AS_THEY_ARE, *NORMALISATIONS)
        return cls(
            visit,
            queries,
            items,
            choice("relevance", params.text("relevance", likely), RELEVANCE),
            judgements=workspace.judgements,
            similarity=choice("similarity", params.text("similarity", "cosine"), SIMILARITIES),
            normalise=choice("normalise", params.text("normalise", AS_THEY_ARE), normalisations),
            exclude=choice("exclude", params.text("exclude", alone), EXCLUDED),
            **files,
        )

    @cached_property
    def key(self) -> tuple[Any, ...]:
        values = (getattr(self, known.name) for known in fields(self)[1:])
        return tuple(getattr(value, "identity", value) for value in values)

    def kept(self, what: str, make: Callable[[], Any], *more: Any) -> Any:
        return self.visit.cache.get(("embeddings", what, self.key, more), make)

    def evaluated(self) -> tuple[Evaluation, TopK]:
        """Return the evaluation and the first items of every query, in one pass."""
        scoring = self.visit.scoring

        def made() -> tuple[Evaluation, TopK]:
            embeddings, relevance = self.compared
            evaluation, lists = embeddings.evaluate_and_top_k(
                relevance,
                scoring.requested_measures,
                k=ITEMS_PER_QUERY,
                policy=scoring.choices,
                convention=scoring.convention,
                progress=progress_of("Searching", len(embeddings.queries)),
            )
            return evaluation.showing(intervals=True, level=scoring.level), lists

        return self.kept("numbers", made, scoring.measures, *scoring.assumed, scoring.level)

    def sweep(self, query: str | None = None) -> Sweep:
        """Return the effect of each temperature on all queries, or on one."""
        from judged.learning._sweep import steps
        from judged.learning.temperature import sweep

        def made() -> Sweep:
            embeddings, relevance = self.compared
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

    @cached_property
    def compared(self) -> tuple[Embeddings, Any]:
        from judged.embeddings import relevance as say
        from judged.embeddings.embeddings import Embeddings
        from judged.inputs.vectors.labels import labels_from

        excluded = {"self": say.same_row(), "same-id": say.same_id()}.get(self.exclude)
        ids = [
            None if file is None else labels_from(file.path)
            for file in (self.query_ids, self.item_ids)
        ]
        embeddings = Embeddings(
            str(self.queries.path),
            str(self.items.path),
            similarity=self.similarity,
            exclude=excluded,
            query_ids=ids[0],
            item_ids=ids[1],
            normalise=None if self.normalise == AS_THEY_ARE else self.normalise,
        )
        return embeddings, self._relation()

    def _relation(self) -> Any:
        from judged.embeddings import relevance as say
        from judged.inputs import read_judgements
        from judged.inputs.vectors.labels import labels_from, labels_lists_from

        if self.relevance == "pairs":
            return say.pairs()
        if self.relevance == "judgements":
            if self.judgements is None:
                raise InputError(
                    "this relevance needs a file of judgements; choose labels or pairs."
                )
            return read_judgements(self.judgements.path)
        if self.query_labels is None or self.item_labels is None:
            raise InputError(
                "labels are needed for the queries and for the items; choose a file for each."
            )
        paths = self.query_labels.path, self.item_labels.path
        if self.relevance == "labels":
            return say.same_label(*map(labels_from, paths))
        return say.shared_label(*map(labels_lists_from, paths))

    @property
    def plain(self) -> bool:
        """True without normalisation, which temperatures and diagnoses need."""
        return self.normalise == AS_THEY_ARE

    def words(self) -> list[str]:
        words = [path_of(self.queries), path_of(self.items)]
        if self.relevance in ("labels", "shared-labels"):
            files = self.query_labels, self.item_labels
            words += [f"--{self.relevance}", *(path_of(file) for file in files if file)]
        elif self.relevance == "pairs":
            words += ["--pairs"]
        elif self.judgements is not None:
            words += ["--qrels", path_of(self.judgements)]
        for option, file in (("--query-ids", self.query_ids), ("--item-ids", self.item_ids)):
            words += [option, path_of(file)] if file is not None else []
        words += ["--similarity", self.similarity] if self.similarity != "cosine" else []
        words += ["--normalise", self.normalise] if not self.plain else []
        return words + ([f"--exclude-{self.exclude}"] if self.exclude != "nothing" else [])

    def command(self, name: str, *more: str) -> str:
        words = self.words()
        lacking = {"--query-ids", "--item-ids", "--exclude-same-id"} & {*words}
        if name == "temperature" and lacking:
            return f"# judged temperature has no {min(lacking)}; judged.temperature.sweep has it."
        return line_of(["judged", name, *words, *more])


def vectors_of(file: DataFile, cache: Cache) -> Vectors:
    from judged.inputs.vectors import read_vectors

    return cache.get(("vectors", file.identity), lambda: read_vectors(str(file.path)))


def _paired(
    files: Sequence[DataFile], queries: DataFile | None, items: DataFile | None
) -> tuple[DataFile, DataFile]:
    """Return the files of queries and items that belong together by name, as of one model."""
    if queries is not None and items is not None:
        return queries, items
    sides: dict[bool, list[DataFile]] = {True: [], False: []}
    for file in files:
        sides[_is_query_side(file)].append(file)
    asking = [queries] if queries is not None else sides[True] or ([items] if items else [])
    answering = [items] if items is not None else sides[False] or ([queries] if queries else [])
    asking, answering = asking or answering, answering or asking
    pairs = [(one, other) for one in asking for other in answering]
    alike = [(one, other) for one, other in pairs if _model(one) == _model(other)]
    if len(pairs) == 1 and not all(map(_model, pairs[0])):
        return pairs[0]
    first = [other for one, other in alike if one is alike[0][0]]
    if len(first) != 1 or (asking is answering and len(files) > 1):
        names = listed([file.name for file in files])
        raise RefusedError(
            f"Which of these belong together: {names}? Vectors of one model cannot search among "
            "those of another. Choose the queries and the items, or name the files of a model "
            "alike, such as bert-queries.npy and bert-items.npy.",
            "vectors",
            status=409,
        )
    return alike[0]


def _is_query_side(file: DataFile) -> bool:
    if _ASKS.search(file.name):
        return True
    return bool(_QUERY_SIDE.search(file.name)) and not _ANSWERS.search(file.name)


def _model(file: DataFile) -> str:
    """Return the words of a file name that may name the model."""
    stem = re.sub(r"\.[^/]*$", "", file.name)
    bare = _SIDE_WORDS.sub(" ", _ANSWERS.sub(" ", _QUERY_SIDE.sub(" ", stem)))
    return " ".join(re.findall(r"[^\W_]+", bare.lower()))


def _fitting(
    files: Sequence[DataFile], cache: Cache, count: int, side: str, *, distinct: bool
) -> DataFile | None:
    """Return the file with one line per vector: ids are distinct, labels are not."""
    from judged.inputs.vectors.labels import labels_from

    def shape(file: DataFile) -> tuple[int, bool]:
        try:
            labels = [str(label) for label in labels_from(file.path)]
        except InputError:
            return 0, False
        return len(labels), len(set(labels)) == len(labels)

    shapes = [cache.get(("lines", file.identity), partial(shape, file)) for file in files]
    fitting = [
        file for file, known in zip(files, shapes, strict=True) if known == (count, distinct)
    ]
    named = [file for file in fitting if _is_query_side(file) is (side == "query")]
    return next(iter(named or fitting), None)


def progress_of(what: str, total: int) -> Callable[[int], None]:
    progress, done = progress_of_this_work(), 0

    def report(more: int) -> None:
        nonlocal done
        done += more
        progress.say(what, min(done, total), total, "queries")

    return report


def worst_first(evaluation: Evaluation, label: str) -> list[int]:
    measure = evaluation.labels[label]
    values = evaluation.runs[0].values[measure]
    there = np.flatnonzero(~np.isnan(values))
    upward = values[there] if measure.spec.higher_is_better else -values[there]
    return there[np.argsort(upward, kind="stable")].tolist()


def query_of(visit: Visit, evaluation: Evaluation) -> str:
    known, wanted = evaluation.runs[0].rankings.queries, visit.params.one("query")
    if wanted is None:
        order = worst_first(evaluation, next(iter(evaluation.labels)))
        return known[order[0] if order else 0]
    if wanted not in known:
        raise GoneError(f"Unknown query {quoted(wanted)}{did_you_mean(wanted, known)}", "query")
    return wanted


def items_of(visit: Visit, first: TopK, evaluation: Evaluation, query: str) -> list[dict[str, Any]]:
    """Return the first items of a query: id, score and relevance."""
    rankings = evaluation.runs[0].rankings
    at = rankings.queries.index(query)
    cells = strips(rankings.take([at]), ITEMS_PER_QUERY).cells(0)
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
            "picture": picture_address(visit, item),
        }
        for rank, (item, score, cell) in enumerate(zip(names, scores, cells, strict=False), 1)
    ]


def width_of(search: VectorSearch) -> int:
    return search.visit.params.whole("width", 520, at_least=160, at_most=1600)


def temperature(search: VectorSearch) -> Page:
    """Show the slider; every number comes from the sweep."""
    visit, sweep = search.visit, search.sweep()
    evaluation, first = search.evaluated()
    query = query_of(visit, evaluation)
    alone = search.sweep(query)
    at = _nearest(sweep.points, visit.params.number("temperature"), sweep)
    basis = "; ".join(sweep.basis) + "."
    stops = [_stop(*points) for points in zip(sweep.points, alone.points, strict=True)]
    command = search.command("temperature", "--query", query)
    return Page(
        "embeddings_temperature.html",
        "Temperature",
        {
            "stops": stops,
            "at": at,
            "items": items_of(visit, first, evaluation, query),
            "query": query,
            "queries": sweep.queries,
            "candidates": sweep.candidates,
            "notes": [
                {"kind": "warn" if isinstance(text, Warned) else "info", "text": text}
                for text in sweep.sentences()
                if text != basis
            ],
            "basis": basis,
            "kept": visit.params.without("temperature").pairs,
        },
        command,
    )


def curves(search: VectorSearch) -> Page:
    from judged.charts.kinds.temperatures import temperature as drawn

    chart = drawn(search.sweep(), theme="page", width=width_of(search))
    command = search.command("temperature")
    return Page("embeddings_figures.html", chart.title, {"figure": figure(chart)}, command)


def _stop(point: TemperaturePoint, alone: TemperaturePoint) -> dict[str, Any]:
    """Return a stop of the slider: texts, and shares for the widths of bars."""
    return {
        "temperature": f"{point.temperature:.4g}",
        "loss": shown(point.loss, 3),
        "confidence": share(point.confidence, 1),
        "accuracy": share(point.accuracy, 1),
        "calibration_error": shown(point.calibration_error, 3),
        "entropy": shown(point.entropy, 3),
        "all": [[shown(part, 3), part] for part in point.probabilities],
        "one": [[shown(part, 3), part] for part in alone.probabilities],
    }


def _nearest(points: Sequence[TemperaturePoint], wanted: float | None, sweep: Sweep) -> int:
    """Return the stop nearest to a temperature by ratio; by default the lowest loss."""
    if wanted is None or wanted <= 0:
        wanted = sweep.best_loss.temperature if sweep.best_loss else points[0].temperature
    apart = [abs(np.log(point.temperature / wanted)) for point in points]
    return int(np.argmin(apart))


def scores(search: VectorSearch) -> Page:
    """Show the scores of relevant pairs and of others, and the diagnosis."""
    from judged.charts.kinds.distributions import embedding_scores

    def made() -> Any:
        embeddings, relevance = search.compared
        return embeddings.diagnose(relevance)

    diagnosis = search.kept("diagnosis", made)
    chart = embedding_scores(diagnosis, theme="page", width=width_of(search))
    notes = [{"kind": "warn", "text": text} for text in diagnosis.sentences()] or [
        {"kind": "info", "text": "Nothing about these vectors asks for a second look."}
    ]
    lines = diagnosis.to_text().splitlines()
    described = lines[lines.index(f"Diagnosis by {diagnosis.similarity}") + 1 :]
    return Page(
        "embeddings_scores.html",
        chart.title,
        {"figure": figure(chart), "notes": notes, "described": described},
        command=search.command("embeddings", "--diagnose"),
    )


def gallery(search: VectorSearch) -> Page:
    visit = search.visit
    evaluation, first = search.evaluated()
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
            "found": items_of(visit, first, evaluation, names[at]),
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
            "kept": visit.params.without("sort", "from").pairs,
        },
    )


PARTS: dict[str, Callable[[VectorSearch], Page]] = {
    "temperature": temperature,
    "curves": curves,
    "scores": scores,
    "gallery": gallery,
}
"""The parts of the page, by their names in addresses."""


def page(visit: Visit) -> Page:
    part = visit.params.choice("part", ("all", *PARTS), "all")
    if not visit.workspace.of_kind("vectors"):
        return empty_page(
            "No vectors here yet",
            "With vectors of queries and items, this page shows how relevant nearest neighbours "
            "are: measures, scores, the temperature, and the results of each query.",
            "Drop files of vectors here, choose them, or start with files:",
            code="judged serve query-vectors.npy item-vectors.npy judgements.txt",
            formats=VECTOR_FORMATS,
        )
    try:
        search = VectorSearch.of(visit)
    except RefusedError as error:
        if error.where != "vectors":
            raise
        return _which(visit, error)
    return PARTS[part](search) if part in PARTS else _numbers(search)


def _which(visit: Visit, why: RefusedError) -> Page:
    """Ask which files of vectors belong together."""
    options = {file.name: file.name for file in visit.workspace.of_kind("vectors")}
    selects = [
        {"name": name, "label": name, "options": options, "chosen": visit.params.text(name)}
        for name in ("queries", "items")
    ]
    context = {
        **{"line": str(why), "cards": [], "level": None, "notes": [], "parts": []},
        **{"selects": selects, "kept": visit.params.without(*SEARCH_PARAMS).pairs},
    }
    return Page("embeddings.html", "Which vectors?", context, status=why.status)


def _numbers(search: VectorSearch) -> Page:
    visit = search.visit
    evaluation, _ = search.evaluated()
    scored = evaluation.scored()
    queries, items = (vectors_of(file, visit.cache) for file in (search.queries, search.items))
    cards = [
        value_cell(label, scored.summary[measure], scored.intervals[measure])
        for label, measure in evaluation.labels.items()
    ]
    relevant = next((text for text in scored.rankings.basis if text.startswith("relevant: ")), "")
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
            "selects": _selects(search),
            "kept": visit.params.without(*SEARCH_PARAMS).pairs,
            "parts": _part_links(search),
        },
        command=_evaluating(search),
    )


def _evaluating(search: VectorSearch) -> str:
    scoring = search.visit.scoring
    words = ["--interval"]
    words += [word for measure in scoring.measures for word in ("-m", measure)]
    for name in ("ties", "empty"):  # the others have no option: every query has all items
        words += [f"--{name}", scoring.choices[name]] if name in scoring.choices else []
    if scoring.convention is not None:
        words += ["--convention", scoring.convention]
    if scoring.level != LEVEL:
        words += ["--level", repr(scoring.level)]
    return search.command("embeddings", *words)


def _part_links(search: VectorSearch) -> list[list[dict[str, str]]]:
    """Return the parts that are loaded after the numbers, in two columns."""
    columns = (
        {"temperature": "Temperature", "gallery": "Gallery"},
        {"scores": "Scores of relevant items and of others", "curves": "What temperature does"},
    )
    return [
        [
            {"title": title, "href": search.visit.url(part=name)}
            for name, title in column.items()
            if search.plain or name == "gallery"
        ]
        for column in columns
    ]


def _selects(search: VectorSearch) -> list[dict[str, Any]]:
    workspace = search.visit.workspace
    vectors = {file.name: file.name for file in workspace.of_kind("vectors")}
    lines = {file.name: file.name for file in workspace.of_kind("labels")}
    relevance = {
        name: words
        for name, words in RELEVANCE.items()
        if (name != "judgements" or workspace.judgements) and ("labels" not in name or lines)
    }
    menus = [
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
        menus += [
            (f"{side}_labels", f"labels of {words}", lines, file.name if file else "")
            for side, words, file in (
                ("query", "queries", search.query_labels),
                ("item", "items", search.item_labels),
            )
        ]
    return [
        {"name": name, "label": label, "options": options, "chosen": chosen}
        for name, label, options, chosen in menus
    ]
