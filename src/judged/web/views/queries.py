"""Queries: all of them with their strips and values, sorted and filtered."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judged.comparison.outcomes import differences
from judged.errors import did_you_mean, quoted
from judged.explanation.listing import ANY
from judged.options import choice
from judged.rankings.strips import UNJUDGED, strips
from judged.text import counted, listed
from judged.web import commands
from judged.web.errors import GoneError, RefusedError
from judged.web.visit import Page, Visit
from judged.web.workspace import attributes_of_queries, texts_of

if TYPE_CHECKING:
    from judged.arrays import Floats, Ints
    from judged.measures import Measure
    from judged.rankings.strips import Strips

    Mask = NDArray[np.bool_]

FILTERS = ("find", "slice", "range", "low", "high", "has")
SELECTION_PARAMS = ("system", "show", "sort", "order", "k", *FILTERS)
"""Parameters of an address that select and sort queries."""
PARAMS = (*SELECTION_PARAMS, "from")
ORDERS = ("ascending", "descending")
HAS = ("unjudged", "tied")
"""Filters: an unjudged result in the first ranks, a judged result that is tied."""
MAX_LISTS = 4
MAX_RANKS = 100
MAX_SLICES = 60  # attributes with more values are not offered as slices
ROWS_PER_PAGE = 20
MAX_COLUMNS = 6  # with more systems, only the selected ones have a column


class Selection:
    """The queries that an address selects, in order; for the table, and the page of one query."""

    def __init__(self, visit: Visit) -> None:
        params = visit.params
        self.visit = visit
        self.evaluation = visit.calculations.evaluation(visit.scoring, interval=False)
        self.label = params.text("show", visit.scoring.headline)
        """The name of the measure that is shown."""
        if self.label not in self.evaluation.labels:
            near = did_you_mean(self.label, self.evaluation.labels)
            raise RefusedError(f"Unknown column {quoted(self.label)}{near}", "show")
        self.measure: Measure = self.evaluation.labels[self.label]
        self.systems = self._systems()
        """The systems that are shown, from left to right."""
        self.k = params.whole("k", 10, at_least=1, at_most=MAX_RANKS)
        self.queries = self.evaluation.runs[0].rankings.queries
        """All judged queries."""
        self.attributes, problems = attributes_of_queries(visit, self.queries)
        self.texts, unread = texts_of(visit, "queries")
        self.problems = (*problems, *unread)
        """Error messages."""
        self.sorts = self._sorts()
        """The orders of queries, in words."""
        self.slices = self._slices()
        """The attribute and the value of each slice, by its name in addresses."""
        self.sort = self._sort_named("sort")
        ascending = self.sort == "query" or len(self.systems) == 1
        self.descending = params.choice("order", ORDERS, ORDERS[not ascending]) == "descending"
        filters = list(self._filters())
        self.why = [phrase for _, phrase in filters]
        """A phrase for each filter."""
        kept = np.ones(len(self.queries), bool)
        for mask, _ in filters:
            kept &= mask
        order = self._order()
        self.chosen: Ints = order[kept[order]]
        """The indices of the selected queries, in order."""

    def _systems(self) -> tuple[str, ...]:
        """Return the named systems; by default the baseline or the first, and the best other."""
        visit, runs = self.visit, self.evaluation.runs
        named = tuple(dict.fromkeys(visit.params.all("system")))
        if len(named) > MAX_LISTS:
            message = f"up to {MAX_LISTS} systems can be looked at side by side; got {len(named)}."
            raise RefusedError(message, "system")
        first = visit.scoring.baseline or runs[0].name
        for name in named or (first,):
            visit.workspace.system(name)
        others = [run for run in runs if run.name != first]
        if named or not others:
            return named or (first,)
        way = 1 if self.measure.spec.higher_is_better else -1
        values = [np.nan_to_num(way * run.summary[self.measure], nan=-np.inf) for run in others]
        return first, others[int(np.argmax(values))].name

    def _sorts(self) -> dict[str, str]:
        sorts = {"query": "id", "relevant": "number relevant"}
        if len(self.systems) > 1:
            sorts = {"difference": f"difference of {self.label}", **sorts}
        sorts |= {
            f"system:{run.name}": f"{self.label} of {run.name}" for run in self.evaluation.runs
        }
        columns = self.attributes.get_columns()
        return sorts | {f"attribute:{c.name}": c.name for c in columns if c.dtype.is_numeric()}

    def _slices(self) -> dict[str, tuple[str, str]]:
        slices: dict[str, tuple[str, str]] = {}
        for column in self.attributes.get_columns():
            values = column.drop_nulls().unique().sort().to_list()
            if len(values) <= MAX_SLICES:
                slices |= {f"{column.name}:{value}": (column.name, str(value)) for value in values}
        return slices

    def _sort_named(self, param: str) -> str:
        """Return the column of a parameter; by default the difference, or one system's values."""
        usual = "difference" if len(self.systems) > 1 else f"system:{self.systems[0]}"
        name = self.visit.params.text(param, usual)
        if name == "difference" and len(self.systems) == 1:
            return usual  # a link from a page with more systems
        known = [sort for sort in self.sorts if param == "sort" or sort != "query"]
        if name not in known:
            near = did_you_mean(name, known)
            raise GoneError(f"Queries have no {quoted(name)} to go by{near}", param)
        return name

    def _order(self) -> Ints:
        """Sort queries; those without a number come last, equal ones stay in order."""
        if self.sort != "query":
            numbers = self._numbers(self.sort)
            return np.argsort(-numbers if self.descending else numbers, kind="stable")
        # By id, q9 before q10.
        ids = pl.col("id")
        frame = pl.DataFrame({"id": list(self.queries)}).with_row_index("at")
        frame = frame.with_columns(
            ids.str.replace(r"\d{1,18}$", "").alias("name"),
            ids.str.extract(r"(\d{1,18})$").cast(pl.Int64).fill_null(-1).alias("number"),
        )
        ordered = frame.sort("name", "number", "id", descending=self.descending)
        return ordered["at"].to_numpy().astype(np.int64)

    def _numbers(self, sort: str) -> Floats:
        """Return the numbers of a column, with NaN for missing ones."""
        if sort == "relevant":
            return self.relevant()
        if sort == "difference":
            difference = self.difference()
            assert difference is not None
            return difference
        kind, _, name = sort.partition(":")
        if kind == "system":
            return self.values(name)
        return self.attributes[name].cast(pl.Float64).fill_null(float("nan")).to_numpy()

    def _filters(self) -> Iterator[tuple[Mask, str]]:
        """Yield the mask and the phrase of each filter."""
        params = self.visit.params
        if (text := params.one("find")) is not None:
            shown = text if len(text) <= 40 else f"{text[:39]}…"
            yield self._containing(text.lower()), f"contains '{shown}'"
        if (name := params.one("slice")) is not None:
            if name not in self.slices:
                raise GoneError(f"No query has {quoted(name)} among its attributes.", "slice")
            attribute, value = self.slices[name]
            same = self.attributes[attribute].cast(pl.String) == value
            yield same.fill_null(False).to_numpy(), f"has {attribute} {value}"
        low, high = params.number("low"), params.number("high")
        if low is not None or high is not None:
            sort = self._sort_named("range")
            numbers = self._numbers(sort)
            with np.errstate(invalid="ignore"):
                above = numbers >= (-np.inf if low is None else low)
                mask = above & (numbers <= (np.inf if high is None else high))
            span = f"up to {high:g}" if low is None else f"from {low:g}"
            span += f" to {high:g}" if low is not None and high is not None else ""
            yield mask, f"has {self.sorts[sort]} {span}"
        has = [choice("has", value, HAS) for value in params.all("has")]
        if "unjudged" in has:
            masks = [(self.strips(name).kind == UNJUDGED).any(1) for name in self.systems]
            yield np.any(masks, axis=0), f"has an unjudged result in the first {self.k:,}"
        if "tied" in has:
            masks = [self._tied(name) for name in self.systems]
            yield np.any(masks, axis=0), "has a judged result that is tied"

    def _containing(self, text: str) -> Mask:
        visit, queries = self.visit, self.queries
        files = tuple(file.identity for file in visit.workspace.of_kind("queries"))

        def lowered() -> pl.DataFrame:
            words = [
                f"{known.title} {known.text}" if (known := self.texts.get(query)) else ""
                for query in queries
            ]
            frame = pl.DataFrame({"id": list(queries), "words": words})
            return frame.with_columns(pl.all().str.to_lowercase())

        key = "words", visit.workspace.identity, files, queries[:1], len(queries)
        frame = visit.cache.get(key, lowered)
        contains = [pl.col(name).str.contains(text, literal=True) for name in frame.columns]
        return frame.select(contains[0] | contains[1]).to_series().to_numpy()

    def _tied(self, system: str) -> Mask:
        rankings = self.evaluation.scored(system).rankings
        whole = rankings.whole or rankings
        first, last = whole.spans
        mask = np.zeros(len(rankings.queries), bool)
        mask[whole.hit_query[last > first]] = True
        return mask

    @property
    def sentence(self) -> str:
        """The number of selected queries, such as 1,000 of 7,000 queries."""
        total = counted(len(self.queries), "query", "queries")
        return f"{len(self.chosen):,} of {total}" if self.why else total

    @property
    def nothing(self) -> str:
        return f"No query {listed(self.why)}."

    def params(self) -> dict[str, Any]:
        return {name: list(self.visit.params.all(name)) or None for name in SELECTION_PARAMS}

    def around(self, query: str) -> tuple[int | None, str | None, str | None]:
        """Return the place of a query in the order, and the queries before and after it."""
        names = [self.queries[at] for at in self.chosen]
        if query not in names:
            return None, None, names[0] if names else None
        place = names.index(query)
        after = names[place + 1] if place + 1 < len(names) else None
        return place, names[place - 1] if place else None, after

    def values(self, system: str, measure: Measure | None = None) -> Floats:
        return self.evaluation.scored(system).values[measure or self.measure]

    def difference(self, measure: Measure | None = None) -> Floats | None:
        """Return the last system's values minus the first one's; None for one system."""
        if len(self.systems) < 2:
            return None
        ours, theirs = (self.values(self.systems[at], measure) for at in (-1, 0))
        return differences(ours, theirs)

    def strips(self, system: str) -> Strips:
        rankings = self.evaluation.scored(system).rankings
        key = "strips", self.visit.workspace.identity, self.visit.scoring.assumed, system, self.k
        return self.visit.cache.get(key, lambda: strips(rankings, self.k))

    def relevant(self) -> Floats:
        return self.evaluation.runs[0].rankings.relevant(ANY)


def page(visit: Visit) -> Page:
    selection = Selection(visit)
    first = visit.params.whole("from", 0)
    pair = tuple(dict.fromkeys((selection.systems[0], selection.systems[-1])))
    columns = _columns(selection, pair)
    after = first + ROWS_PER_PAGE
    difference = selection.difference()
    sizes = np.array([]) if difference is None else np.abs(difference[np.isfinite(difference)])
    context: dict[str, Any] = {
        "found": selection,
        "pair": pair,
        "columns": columns,
        "rows": _rows(selection, first, pair, columns),
        "first": first,
        "size": ROWS_PER_PAGE,
        "sort": lambda name: _sort(selection, name),
        "names": [system.name for system in visit.workspace.systems],
        "labels": list(selection.evaluation.labels),
        "slices": [(name, " ".join(pair)) for name, pair in selection.slices.items()],
        "scale": float(sizes.max(initial=0.0)) or 1.0,
        "better": 1 if selection.measure.spec.higher_is_better else -1,
        "hidden": visit.params.filled_without(*PARAMS, "was"),
        "given": {name: visit.params.text(name) for name in FILTERS if name != "has"},
        "has": visit.params.all("has"),
        "clear": visit.url(**dict.fromkeys(FILTERS), from_=None),
        "rows_address": visit.url(from_=None),
        "before": visit.url(from_=max(first - ROWS_PER_PAGE, 0) or None) if first else None,
        "after": visit.url(from_=after) if after < len(selection.chosen) else None,
    }
    command = commands.evaluate(visit, interval=False, per_query=True)
    return Page("queries.html", "Queries", context, command)


def number(value: np.floating[Any] | float) -> float | None:
    return None if isnan(value) else float(value)


def _columns(selection: Selection, pair: tuple[str, ...]) -> list[str]:
    names = [run.name for run in selection.evaluation.runs]
    others = [name for name in (*selection.systems, *names) if name not in pair]
    if len(names) > MAX_COLUMNS:
        sorted_by = selection.sort.removeprefix("system:")
        others = [name for name in others if name in (*selection.systems, sorted_by)]
    return list(dict.fromkeys(others))


def _rows(
    selection: Selection, first: int, pair: tuple[str, ...], columns: list[str]
) -> list[dict[str, Any]]:
    """Return the rows of one page; the others cost nothing."""
    relevant, difference = selection.relevant(), selection.difference()
    strips = [selection.strips(name) for name in pair]
    values = [selection.values(name) for name in (*pair, *columns)]
    kept = selection.params()
    rows = []
    chosen = selection.chosen[first : first + ROWS_PER_PAGE].tolist()
    for place, at in enumerate(chosen, first + 1):
        query = selection.queries[at]
        text = selection.texts.get(query)
        rows.append(
            {
                "number": place,
                "query": query,
                "text": text.heading[:200] if text is not None else "",
                "href": selection.visit.url("/query", **kept, query=query),
                "relevant": int(relevant[at]),
                "strips": [strip.cells(at) for strip in strips],
                "numbers": [number(column[at]) for column in values],
                "difference": None if difference is None else number(difference[at]),
            }
        )
    return rows


def _sort(selection: Selection, name: str) -> dict[str, Any]:
    """Return the link of a column head; a second click turns the order."""
    mine = selection.sort == name
    orders = ("descending", "ascending")
    now, turned = orders if selection.descending else orders[::-1]
    then = turned if mine else "ascending" if name == "query" else "descending"
    href = selection.visit.url(sort=name, order=then, from_=None)
    return {"href": href, "direction": now if mine else None}
