"""Which queries to show, and in which order: for the table of queries and the page of one query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judged.comparison.match import differences
from judged.errors import did_you_mean, quoted
from judged.explanation.listing import ANY
from judged.options import choice
from judged.rankings.strips import UNJUDGED, strips
from judged.text import counted, listed
from judged.web.errors import GoneError, RefusedError
from judged.web.workspace import attributes_of_queries, queries_of

if TYPE_CHECKING:
    from judged.arrays import Floats, Ints
    from judged.evaluation.evaluation import Evaluation
    from judged.measures import Measure
    from judged.rankings.strips import Strips
    from judged.web.visit import Visit


@dataclass(frozen=True)
class SortKey:
    """A column to sort or filter queries by."""

    name: str
    words: str


@dataclass(frozen=True, eq=False)
class QueryColumns:
    """Numbers to sort queries by; NaN if there is none."""

    evaluation: Evaluation
    measure: Measure
    systems: tuple[str, ...]
    attributes: pl.DataFrame

    def numbers(self, name: str) -> Floats:
        """Return the numbers of a sort key."""
        if name == "relevant":
            return relevant_of(self.evaluation)
        if name == "difference":
            found = difference_of(self.evaluation, self.measure, self.systems)
            assert found is not None
            return found
        kind, _, own = name.partition(":")
        if kind == "system":
            return self.evaluation.scored(own).values[self.measure]
        column = self.attributes[own].cast(pl.Float64)
        return column.fill_null(float("nan")).to_numpy()


def relevant_of(evaluation: Evaluation) -> Floats:
    """Return the number of relevant items of each query."""
    return evaluation.runs[0].rankings.relevant(ANY)


def difference_of(
    evaluation: Evaluation, measure: Measure, systems: tuple[str, ...]
) -> Floats | None:
    """Return the last system's values minus the first one's; None for one system."""
    if len(systems) < 2:
        return None
    ours, theirs = (evaluation.scored(systems[at]).values[measure] for at in (-1, 0))
    return differences(ours, theirs)


def ordered(columns: QueryColumns, name: str, descending: bool, queries: tuple[str, ...]) -> Ints:
    """Sort queries; those without a number come last, equal ones in the order of the judgements."""
    if name == "query":
        return _by_id(queries, descending)
    numbers = columns.numbers(name)
    order = np.argsort(-numbers if descending else numbers, kind="stable")
    return order.astype(np.int64)


def _by_id(queries: tuple[str, ...], descending: bool) -> Ints:
    """Sort by id, q9 before q10."""
    ids = pl.Series("id", list(queries))
    frame = pl.DataFrame({"id": ids}).with_row_index("at")
    number = pl.col("id").str.extract(r"(\d{1,18})$").cast(pl.Int64)
    name = pl.col("id").str.replace(r"\d{1,18}$", "")
    keys = [name.alias("name"), number.fill_null(-1).alias("number")]
    ordered = frame.with_columns(keys).sort("name", "number", "id", descending=descending)
    return ordered["at"].to_numpy().astype(np.int64)


FILTERS = ("find", "slice", "range", "low", "high", "has")
SELECTION_PARAMS = ("system", "show", "sort", "order", "k", *FILTERS)
"""Parameters of an address that select and sort queries."""
ORDERS = ("ascending", "descending")
HAS = ("unjudged", "tied")
"""Filters: an unjudged result in the first ranks, a judged result that is tied."""
MAX_LISTS = 4
MAX_RANKS = 100
MAX_SLICES = 60
"""Attributes with more values are not offered as slices."""


@dataclass(frozen=True)
class QuerySlice:
    """The queries with one value of an attribute."""

    attribute: str
    value: str

    @property
    def name(self) -> str:
        """The name in the address."""
        return f"{self.attribute}:{self.value}"

    @property
    def words(self) -> str:
        """The name in words."""
        return f"{self.attribute} {self.value}"


@dataclass(frozen=True, eq=False)
class Selection:
    """The selected queries, in order."""

    visit: Visit
    evaluation: Evaluation
    label: str
    """The name of the measure that is shown."""
    systems: tuple[str, ...]
    """The systems that are shown, from left to right."""
    sort: SortKey
    descending: bool
    k: int
    queries: tuple[str, ...]
    """All judged queries."""
    chosen: Ints
    """The indices of the selected queries, in order."""
    sorts: tuple[SortKey, ...]
    slices: tuple[QuerySlice, ...]
    why: tuple[str, ...]
    """A phrase for each filter."""
    problems: tuple[str, ...]
    """Error messages."""

    @property
    def measure(self) -> Measure:
        """The measure that is shown."""
        return self.evaluation.labels[self.label]

    @property
    def total(self) -> int:
        """The number of all queries."""
        return len(self.queries)

    @property
    def sentence(self) -> str:
        """How many queries are selected, such as 1,000 of 7,000 queries."""
        if not self.why:
            return counted(self.total, "query", "queries")
        return f"{len(self.chosen):,} of {counted(self.total, 'query', 'queries')}"

    @property
    def nothing(self) -> str:
        """The sentence if no query is selected."""
        return f"No query {listed(self.why)}."

    def params(self) -> dict[str, Any]:
        """Return the parameters of the selection, for other pages."""
        found: dict[str, Any] = {}
        for name in SELECTION_PARAMS:
            values = self.visit.params.all(name)
            found[name] = list(values) or None
        return found

    def around(self, query: str) -> tuple[int | None, str | None, str | None]:
        """Return the place of a query in the order, and the queries before and after it."""
        known = np.flatnonzero(self.chosen == self.queries.index(query))
        if not len(known):
            first = self.queries[self.chosen[0]] if len(self.chosen) else None
            return None, None, first
        at = int(known[0])
        before = self.queries[self.chosen[at - 1]] if at else None
        after = self.queries[self.chosen[at + 1]] if at + 1 < len(self.chosen) else None
        return at, before, after

    def values(self, system: str) -> Floats:
        """Return a system's value for every query."""
        return self.evaluation.scored(system).values[self.measure]

    def difference(self) -> Floats | None:
        """Return the last system's values minus the first one's; None for one system."""
        return difference_of(self.evaluation, self.measure, self.systems)

    def strips(self, system: str) -> Strips:
        """Return the strips of a system."""
        return _strips(self.visit, self.evaluation, system, self.k)

    def relevant(self) -> Floats:
        """Return the number of relevant items of each query."""
        return relevant_of(self.evaluation)


def select_queries(visit: Visit) -> Selection:
    """Select the queries of an address."""
    params = visit.params
    evaluation = visit.calculations.evaluation(visit.scoring, interval=False)
    label = params.text("show", next(iter(evaluation.labels)))
    if label not in evaluation.labels:
        raise RefusedError(
            f"There is no column {quoted(label)}{did_you_mean(label, evaluation.labels)}", "show"
        )
    systems = _systems(visit, evaluation, label)
    k = params.whole("k", 10, at_least=1, at_most=MAX_RANKS)
    queries = evaluation.runs[0].rankings.queries
    attributes, problems = attributes_of_queries(visit, queries)
    columns = QueryColumns(evaluation, evaluation.labels[label], systems, attributes)
    sorts = _sorts(evaluation, label, systems, attributes)
    slices = tuple(_slices(attributes))
    sort = _sort(visit, sorts, "sort") or _usual(sorts, systems)
    usual = "ascending" if sort.name == "query" or len(systems) == 1 else "descending"
    descending = params.choice("order", ORDERS, usual) == "descending"
    said = queries_of(visit)
    kept = np.ones(len(queries), bool)
    why: list[str] = []
    for mask, phrase in _filters(visit, columns, sorts, slices, systems, k, said.texts):
        kept &= mask
        why.append(phrase)
    order = ordered(columns, sort.name, descending, queries)
    return Selection(
        visit,
        evaluation,
        label,
        systems,
        sort,
        descending,
        k,
        queries,
        order[kept[order]],
        sorts,
        slices,
        tuple(why),
        (*problems, *said.problems),
    )


def _systems(visit: Visit, evaluation: Evaluation, label: str) -> tuple[str, ...]:
    """Return the named systems; by default the baseline or the first, and the best other one."""
    named = tuple(dict.fromkeys(visit.params.all("system")))
    if len(named) > MAX_LISTS:
        raise RefusedError(
            f"up to {MAX_LISTS} systems can be looked at side by side; got {len(named)}.", "system"
        )
    for name in named:
        visit.workspace.system(name)
    if named:
        return named
    names = [run.name for run in evaluation.runs]
    baseline = visit.scoring.baseline
    if baseline is not None:
        visit.workspace.system(baseline)
    first = baseline or names[0]
    others = [run for run in evaluation.runs if run.name != first]
    if not others:
        return (first,)
    measure = evaluation.labels[label]
    way = 1 if measure.spec.higher_is_better else -1
    best = max(others, key=lambda run: np.nan_to_num(way * run.summary[measure], nan=-np.inf))
    return first, best.name


def _strips(visit: Visit, evaluation: Evaluation, system: str, k: int) -> Strips:
    rankings = evaluation.scored(system).rankings
    key = "strips", visit.workspace.identity, visit.scoring.assumed, system, k
    return visit.cache.get(key, lambda: strips(rankings, k))


def _sorts(
    evaluation: Evaluation, label: str, systems: tuple[str, ...], attributes: pl.DataFrame
) -> tuple[SortKey, ...]:
    found = [SortKey("query", "id"), SortKey("relevant", "number relevant")]
    if len(systems) > 1:
        found.insert(0, SortKey("difference", f"difference of {label}"))
    found += [SortKey(f"system:{run.name}", f"{label} of {run.name}") for run in evaluation.runs]
    found += [
        SortKey(f"attribute:{name}", name)
        for name in attributes.columns
        if attributes[name].dtype.is_numeric()
    ]
    return tuple(found)


def _usual(sorts: tuple[SortKey, ...], systems: tuple[str, ...]) -> SortKey:
    """Return the default order: by difference, or one system's worst queries first."""
    wanted = "difference" if len(systems) > 1 else f"system:{systems[0]}"
    return next(sort for sort in sorts if sort.name == wanted)


def _sort(visit: Visit, sorts: tuple[SortKey, ...], param: str) -> SortKey | None:
    given = visit.params.one(param)
    if given is None:
        return None
    by_name = {sort.name: sort for sort in sorts}
    if given == "difference" and given not in by_name:
        return None  # a link from a page with more systems
    if given not in by_name:
        raise GoneError(
            f"Queries have no {quoted(given)} to go by{did_you_mean(given, by_name)}", param
        )
    return by_name[given]


def _slices(attributes: pl.DataFrame) -> list[QuerySlice]:
    found = []
    for name in attributes.columns:
        values = attributes[name].drop_nulls().unique().sort().to_list()
        if len(values) <= MAX_SLICES:
            found += [QuerySlice(name, str(value)) for value in values]
    return found


Mask = NDArray[np.bool_]


def _filters(
    visit: Visit,
    columns: QueryColumns,
    sorts: tuple[SortKey, ...],
    slices: tuple[QuerySlice, ...],
    systems: tuple[str, ...],
    k: int,
    texts: Mapping[str, Any],
) -> list[tuple[Mask, str]]:
    """Return the mask and the phrase of each filter."""
    params, evaluation = visit.params, columns.evaluation
    found: list[tuple[Mask, str]] = []
    if (text := params.one("find")) is not None:
        shown = text if len(text) <= 40 else f"{text[:39]}…"
        found.append((_containing(visit, text, texts), f"contains '{shown}'"))
    if (given := params.one("slice")) is not None:
        one = {each.name: each for each in slices}.get(given)
        if one is None:
            raise GoneError(f"No query has {quoted(given)} among its attributes.", "slice")
        same = columns.attributes[one.attribute].cast(pl.String) == one.value
        found.append((same.fill_null(False).to_numpy(), f"has {one.words}"))
    low, high = params.number("low"), params.number("high")
    if low is not None or high is not None:
        of = _sort(visit, tuple(each for each in sorts if each.name != "query"), "range")
        of = of or _usual(sorts, systems)
        numbers = columns.numbers(of.name)
        with np.errstate(invalid="ignore"):
            mask = (numbers >= (-np.inf if low is None else low)) & (
                numbers <= (np.inf if high is None else high)
            )
        found.append((mask, f"has {of.words} {_between(low, high)}"))
    has = params.all("has")
    for each in has:
        choice("has", each, HAS)
    if "unjudged" in has:
        masks = [(_strips(visit, evaluation, name, k).kind == UNJUDGED).any(1) for name in systems]
        found.append((np.any(masks, axis=0), f"has an unjudged result in the first {k:,}"))
    if "tied" in has:
        masks = [_tied(evaluation, name) for name in systems]
        found.append((np.any(masks, axis=0), "has a judged result that is tied"))
    return found


def _between(low: float | None, high: float | None) -> str:
    if low is None:
        return f"up to {high:g}"
    return f"from {low:g}" + ("" if high is None else f" to {high:g}")


def _containing(visit: Visit, text: str, texts: Mapping[str, Any]) -> Mask:
    """Find queries with a text in their id or text, ignoring case."""
    queries = visit.calculations.queries(visit.scoring)
    files = tuple(file.identity for file in visit.workspace.of_kind("queries"))
    key = "said", visit.workspace.identity, files, queries[:1], len(queries)

    def made() -> pl.DataFrame:
        said = [f"{each.title} {each.text}" if (each := texts.get(q)) else "" for q in queries]
        frame = pl.DataFrame({"id": list(queries), "said": said})
        return frame.with_columns(pl.all().str.to_lowercase())

    frame: pl.DataFrame = visit.cache.get(key, made)
    wanted = text.lower()
    found = frame.select(
        pl.col("id").str.contains(wanted, literal=True)
        | pl.col("said").str.contains(wanted, literal=True)
    )
    return found.to_series().to_numpy()


def _tied(evaluation: Evaluation, system: str) -> Mask:
    rankings = evaluation.scored(system).rankings
    whole = rankings.whole or rankings
    first, last = whole.spans
    mask = np.zeros(len(rankings.queries), bool)
    mask[whole.hit_query[last > first]] = True
    return mask
