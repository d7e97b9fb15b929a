"""List unjudged results to judge next, the most worthwhile first."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, islice, pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints, borders, ordinals
from judged.errors import InputError, MeasureError, PolicyError, for_caller
from judged.evaluation.evaluate import match_runs
from judged.evaluation.evaluation import evaluate_rankings
from judged.evaluation.ranges import last_rank
from judged.evaluation.scores import score
from judged.evaluation.settings import EvaluationSettings
from judged.evaluation.warnings import announce_warnings
from judged.inputs.data import Data
from judged.inputs.tables import Lookup
from judged.inputs.texts import read_texts
from judged.judgements import MEASURE, QUEUE_DEPTH, QUEUE_ORDERS, QUEUE_SAVED_AS
from judged.judgements.assessors import refuse_options
from judged.judgements.bounds import (
    MAX_RUNS,
    ROUNDING,
    DifferenceBounds,
    best_ranks,
    bounds_of,
)
from judged.matching.listings import Listings
from judged.matching.matcher import collection_sizes
from judged.matching.ties import judged_otherwise
from judged.options import (
    JudgementsLike,
    RunsLike,
    Scoring,
    TextsLike,
    checked,
    choice,
    formats_of,
    later,
    takes_scoring,
)
from judged.rankings.rankings import Rankings, by_query_and_rank
from judged.results import FORMULA, NUMBER, Display, Document, Frame, Result, Table, plain_value
from judged.text import counted, few, listed, plain, shown

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.inputs.texts import Texts
    from judged.measures import Measure
else:  # loaded by `typing.get_type_hints` only
    Measure = later("judged.measures:Measure")

TOP_ROWS = 10  # number of results in the printed table; JSON has all
EQUAL_DIGITS = 12  # effects that agree in so many digits are equal; the rest is rounding
ROWS_PER_BLOCK = 1 << 21  # hits and judgements that are copied at a time


@takes_scoring
@checked
def queue(
    judgements: JudgementsLike,
    runs: RunsLike | None = None,
    measure: str | Measure = MEASURE,
    *,
    depth: int = QUEUE_DEPTH,
    by: str = "effect",
    budget: int | None = None,
    seed: int = 0,
    top_grade: float | None = None,
    only_judged_queries: bool = False,
    texts: TextsLike | None = None,
    queries: TextsLike | None = None,
    **scoring: Unpack[Scoring],
) -> Queue:
    """List the unjudged results to judge next, and what judging them could still change.

    Parameters
    ----------
    judgements : JudgementsLike
        A file, a dict {query: {item: grade}}, or a table. An empty dict or file if there are no
        judgements yet.
    runs : RunsLike, optional
        One run or several, as for `evaluate`. None if `judgements` are rows that hold relevant
        and retrieved ids.
    measure : str or Measure, optional
        Measure of effects and differences.
    depth : int, optional
        Look for unjudged results among the first `depth` of each run. The measure still uses
        whole lists.
    by : {"effect", "depth"}, optional
        The order. "effect": by how much the query's difference between two runs (the largest over
        all pairs), or the value of the only run, changes if the item alone gets the top grade.
        "depth": by the best rank in any run, queries in turn.
    budget : int, optional
        Number of results to judge, the most worthwhile; by default all.
    seed : int, optional
        Seed of the random order of each query's items.
    top_grade : float, optional
        The top grade; by default the highest in the judgements, or 1 if none is above 0.
    only_judged_queries : bool, optional
        Leave out queries without judgements. By default they are in the queue, and their runs
        count as equal so far.
    texts, queries : TextsLike, optional
        Texts of items and queries for annotators: {id: text}, {id: {"title": …, "text": …}}, a
        table or a file.
    **scoring

    >>> runs = {"old": {"q": ["a", "b", "c"]}, "new": {"q": ["c", "a", "d"]}}
    >>> todo = queue({"q": {"a": 1}}, runs, "P@2", budget=2)
    >>> [(todo.items[row], float(todo.effects[row])) for row in todo.priority]
    [('c', 0.5), ('b', 0.5)]
    >>> todo.bounds[0].sentence
    'P@2: new - old is 0.0000. Judging the unjudged results of judged queries gives -0.5000 to \
0.5000: the order of the two runs can change.'
    """
    by = choice("by", by, QUEUE_ORDERS)
    matched, evaluation, collection, duplicates = _evaluate(
        judgements, runs, measure, dict(scoring)
    )
    ties, cutoff = evaluation.policy.ties, last_rank(evaluation.measures[0])
    listings = Listings.of(
        matched.judgements,
        matched.tables,
        ties=ties,
        duplicates=duplicates,
        within=None if cutoff is None else max(depth, cutoff),
        judged_queries=only_judged_queries,
    )
    if listings.pool.subtopics is not None:
        raise PolicyError(
            f"{listings.pool.name}: judged by subtopic, so one grade is not enough for a result; "
            "give judgements of whole queries."
        )
    top = _check_top_grade(evaluation, top_grade)
    best = best_ranks(listings, ties, range(len(listings.runs)))
    candidates = _candidates(listings, best, depth)
    query, best_rank = listings.query[candidates], best[candidates]
    effects = np.full(len(candidates), np.nan)
    if by == "effect":
        sizes = collection_sizes(collection, listings.queries)
        effects = _effects_of(listings, candidates, evaluation, grade=top, sizes=sizes)
        order = _order_by_effect(query, best_rank, effects)
    else:
        order = _order_in_turn(query, best_rank)
    chosen = order[:budget]
    rows = blind_order(query, chosen, seed)
    position = np.empty(len(candidates), np.int64)
    position[rows] = np.arange(len(rows))
    names = tuple(listings.queries[number] for number in query[rows])
    items = tuple(listings.items.gather(candidates[rows]).to_list())
    return announce_warnings(
        Queue(
            queries=names,
            items=items,
            effects=effects[rows],
            best_ranks=best_rank[rows],
            priority=position[chosen],
            listings=listings,
            evaluation=evaluation,
            by=by,
            depth=depth,
            top_grade=top,
            seed=seed,
            candidates=len(candidates),
            without_effect=int((effects == 0).sum()) if by == "effect" else None,
            new_queries=listings.queries[len(listings.pool.queries) :],
            negative=int(((best <= depth) & (listings.grades < 0)).sum()),
            texts=None if texts is None else read_texts(texts, only=frozenset(items)),
            query_texts=None
            if queries is None
            else read_texts(queries, of="queries", only=frozenset(names)),
        )
    )


def _evaluate(
    judgements: Any, runs: Any, measure: Any, scoring: dict[str, Any]
) -> tuple[Any, Evaluation, Any, str]:
    """Match the runs, keeping them in memory, and evaluate them."""
    refuse_options("queue", scoring, "trusted")
    no_judgements = _is_empty(judgements)
    judgements_format, run_format = formats_of(scoring.pop("format", None))
    if no_judgements:
        judgements, judgements_format = {"no judgements": {}}, None
    request = EvaluationSettings.of(
        measure, scoring.pop("policy", None), scoring.pop("convention", None), prepares=True
    )
    if len(request.measures) != 1:
        names = listed(list(map(str, request.measures)))
        raise MeasureError(f"a queue is ordered by one measure; got {names}.")
    data = Data.of(
        judgements,
        runs,
        columns=scoring.pop("columns", None),
        judgements_format=judgements_format,
        run_format=run_format,
    )
    if no_judgements:
        data = data.kept()
        lists: dict[str, dict[str, float]] = {
            name: {} for run in data.runs() for name in run.names()
        }
        data = replace(data, given=Lookup(lists, "the judgements"))
    matched = match_runs(data, request, **scoring, keep=True)
    evaluation = evaluate_rankings(matched.rankings, request, weights=scoring.get("weights"))
    return matched, evaluation, scoring.get("collection"), request.policy.duplicates


def _is_empty(judgements: Any) -> bool:
    """Return whether judgements are an empty dict or an empty file."""
    if isinstance(judgements, (str, os.PathLike)):
        path = os.fspath(judgements)
        return path == os.devnull or (os.path.isfile(path) and not os.path.getsize(path))
    return isinstance(judgements, Mapping) and not judgements


def _check_top_grade(evaluation: Evaluation, top_grade: float | None) -> float:
    highest = evaluation.runs[0].rankings.top_grade
    if top_grade is None:
        return highest
    if top_grade < highest or top_grade <= 0:
        raise InputError(
            f"top_grade must be a number from {highest:g}, the highest grade in the judgements; "
            f"got {top_grade:g}."
        )
    return top_grade


def _candidates(listings: Listings, best: Ints, depth: int) -> Ints:
    """Return the unjudged items whose best rank is within the depth, by query and item id."""
    number = np.flatnonzero(np.isnan(listings.grades) & (best <= depth))
    ids = listings.items.gather(number).rank("ordinal").to_numpy()
    return number[np.lexsort((ids, listings.query[number]))]


def _values_with(
    listings: Listings,
    candidates: Ints,
    run: int,
    evaluation: Evaluation,
    *,
    grade: float,
    sizes: Ints | None,
) -> Floats:
    """Return the value of each candidate's query in a run, if the candidate alone has a grade."""
    # The grade must be at least the highest in the judgements. Each query is copied once per
    # candidate, with one more judgement each, and all copies are evaluated as any rankings are.
    like = evaluation.scored(evaluation.runs[run].name).rankings
    listed_run, pool = listings.runs[run], listings.pool
    places, grades = listed_run.places, listings.grades[listed_run.item]
    judged = np.flatnonzero(~np.isnan(grades))
    query = listings.query[listed_run.item[judged]]
    judged = judged[order := by_query_and_rank(query, places.rank[judged])]
    # The run with the existing judgements, before unjudged items are removed.
    whole = Rankings(
        queries=listings.queries,
        retrieved=listed_run.retrieved,
        hit_query=query[order],
        hit_rank=places.rank[judged],
        hit_grade=grades[judged],
        hit_tie_first=places.first[judged],
        hit_tie_last=places.last[judged],
        pool_query=pool.query,
        pool_grade=pool.best_first,
        missing=listed_run.missing,
        collection=sizes,
        ties=like.ties,
        name=like.name,
    )
    row_of_item = np.full(len(listings.grades), -1)
    row_of_item[listed_run.item] = np.arange(len(listed_run.item))
    rows = row_of_item[candidates]
    # Rank and tie of each candidate; 0 if the run does not have it.
    rank, first, last = (
        np.where(rows >= 0, column[rows], 0) for column in (places.rank, places.first, places.last)
    )
    cutoff, settings = last_rank(evaluation.measures[0]), evaluation.settings
    policy = settings.policy
    if cutoff is not None and policy.unjudged == "nonrelevant" and policy.ties != "expected":
        rank = np.where(first > cutoff, 0, rank)  # the measure does not see it
    # Candidates at the same place of a query, or at none, share a copy: 80 % less with 10 runs.
    query, place = listings.query[candidates], int(rank.max(initial=0)) + 1
    _, copied, copy_of = np.unique(query * place + rank, return_index=True, return_inverse=True)
    query, rank, first, last = (each[copied] for each in (query, rank, first, last))
    size = np.bincount(whole.hit_query, minlength=len(whole))
    size = size + np.bincount(whole.pool_query, minlength=len(whole))
    block = np.cumsum(size[query] + 2) // ROWS_PER_BLOCK
    cuts = [0, *(np.flatnonzero(np.diff(block)) + 1).tolist(), len(query)]
    values = []
    for begin, end in pairwise(cuts):
        at = slice(begin, end)
        if begin < end:
            copies = _copies(whole, query[at], rank[at], first[at], last[at], grade)
            scored = score(judged_otherwise(copies, like), settings)
            values.append(scored.values[evaluation.measures[0]])
    return np.concatenate([np.zeros(0), *values])[copy_of]


def _copies(
    r: Rankings, query: Ints, rank: Ints, first: Ints, last: Ints, grade: float
) -> Rankings:
    """Return a copy of each query with one more item of this grade; rank 0 is not returned."""
    copies = r.take(query)
    held = np.flatnonzero(rank)
    hit_query = np.append(copies.hit_query, held)
    hit_rank = np.append(copies.hit_rank, rank[held])
    order = by_query_and_rank(hit_query, hit_rank)
    tie_first, tie_last = copies.spans
    pool_query = np.append(np.arange(len(query)), copies.pool_query)
    best_first = np.argsort(pool_query, kind="stable")
    return replace(
        copies,
        hit_query=hit_query[order],
        hit_rank=hit_rank[order],
        hit_grade=np.append(copies.hit_grade, np.full(len(held), grade))[order],
        hit_tie_first=np.append(tie_first, first[held])[order],
        hit_tie_last=np.append(tie_last, last[held])[order],
        pool_query=pool_query[best_first],
        pool_grade=np.append(np.full(len(query), grade), copies.pool_grade)[best_first],
    )


def _effects_of(
    listings: Listings,
    candidates: Ints,
    evaluation: Evaluation,
    *,
    grade: float,
    sizes: Ints | None,
) -> Floats:
    """Return how much each candidate alone would change the difference of two runs on its query."""
    # The largest change over all pairs of runs counts; of one run, the change of its value. A query
    # that does not count for one of two runs adds nothing to their difference.
    query, (measure,) = listings.query[candidates], evaluation.measures
    new_queries = len(listings.queries) - len(evaluation.runs[0].rankings)
    before, after = [], []
    for number, run in enumerate(evaluation.runs):
        before.append(np.append(run.values[measure], np.full(new_queries, np.nan))[query])
        after.append(
            _values_with(listings, candidates, number, evaluation, grade=grade, sizes=sizes)
        )
    if len(before) == 1:  # compare the only run with 0
        before.append(np.zeros(len(query)))
        after.append(np.zeros(len(query)))
    effects = _largest_changes(before, after)
    weights = evaluation.runs[0].rankings.weights
    if weights is not None:
        effects[np.append(weights.values, np.ones(new_queries))[query] == 0] = 0.0
    return effects


def _largest_changes(before: Sequence[Floats], after: Sequence[Floats]) -> Floats:
    largest = np.zeros(len(before[0]))
    for one, other in combinations(range(len(before)), 2):
        change = _gap(_gap(after[one], after[other]), _gap(before[one], before[other]))
        np.maximum(largest, np.abs(change), out=largest)
    sizes = [np.where(np.isfinite(values), np.abs(values), 1.0) for values in (*before, *after)]
    largest[largest <= ROUNDING * np.maximum(np.maximum.reduce(sizes), 1.0)] = 0.0
    return largest


def _gap(one: Floats, other: Floats) -> Floats:
    """Return differences; 0 if a value is undefined or both are the same infinity."""
    with np.errstate(invalid="ignore"):
        gap = one - other
    return np.where(np.isnan(gap), 0.0, gap)


def _order_by_effect(query: Ints, best_rank: Ints, effects: Floats) -> Ints:
    """Order candidates by effect, the largest first, then by best rank."""
    with np.errstate(divide="ignore", invalid="ignore"):
        power = np.floor(np.log10(np.maximum(effects, 1.0)))
        rounded = np.round(effects / 10**power, EQUAL_DIGITS) * 10**power
    rounded = np.where(np.isfinite(effects), rounded, effects)
    return _order_in_turn(query, best_rank, -rounded)


def _order_in_turn(query: Ints, *keys: NDArray[Any]) -> Ints:
    """Order candidates by keys, the last key first; among equals, queries take turns."""
    grouped = np.lexsort((*keys, query))
    equal = np.cumsum(borders(query[grouped], *(key[grouped] for key in keys))) - 1
    turn = np.empty(len(query), np.int64)
    turn[grouped] = ordinals(equal, len(query))
    return np.lexsort((query, turn, *keys))


def blind_order(query: Ints, chosen: Ints, seed: int) -> Ints:
    """Return chosen candidates by queries, the most worthwhile first, with shuffled items."""
    # Random numbers are drawn in the order of ids, so that priority does not influence them.
    ids = np.sort(chosen)
    drawn = np.random.default_rng(seed).random(len(ids))
    _, first = np.unique(query[chosen], return_index=True)
    names = query[chosen][np.sort(first)]
    turn = np.empty(int(query.max(initial=0)) + 1, np.int64)
    turn[names] = np.arange(len(names))
    return ids[np.lexsort((drawn, turn[query[ids]]))]


@dataclass(frozen=True, eq=False, repr=False)
class Queue(Result):
    """Unjudged results to judge next, as returned by `queue`.

    Text, JSON, Markdown and HTML are for the organiser and show effects and ranks. `to_frame` and
    the files that `save` writes are for annotators and show none of that.

    >>> from judged import queue
    >>> runs = {"one": {"q": ["a", "b"]}, "two": {"q": ["a", "c"]}}
    >>> todo = queue({"q": {"a": 1}}, runs, "P@2")
    >>> sorted(todo.items), todo.effects.tolist()
    (['b', 'c'], [0.5, 0.5])
    """

    SAVED_AS: ClassVar[dict[str, str]] = QUEUE_SAVED_AS

    queries: tuple[str, ...]
    """Query of each row of the annotators' file."""
    items: tuple[str, ...]
    """Item of each row."""
    effects: Floats
    """Effect of each row (see `QUEUE_ORDERS`); NaN if the queue is ordered by depth."""
    best_ranks: Ints
    """Best rank of each row's item in any run."""
    priority: Ints
    """Row numbers, the most worthwhile first."""
    listings: Listings
    """Judged items and results of the runs, by number."""
    evaluation: Evaluation
    """The runs as they are judged now."""
    by: str
    """Order of the queue: effect or depth."""
    depth: int
    """Depth within which unjudged results were looked for."""
    top_grade: float
    """The top grade."""
    seed: int
    """Seed of the random order of each query's items."""
    candidates: int
    """Number of unjudged results within the depth, including those beyond the budget."""
    without_effect: int | None
    """Number of these without any effect; None if the queue is ordered by depth."""
    new_queries: tuple[str, ...] = ()
    """Queries of the runs that have no judgements."""
    negative: int = 0
    """Number of results within the depth that have a negative grade, which are left out."""
    texts: Texts | None = None
    """Texts of items, if given."""
    query_texts: Texts | None = None
    """Texts of queries, if given."""

    def __len__(self) -> int:
        return len(self.items)

    @cached_property
    def bounds(self) -> tuple[DifferenceBounds, ...]:
        """For each pair of the 20 best runs, how far judgements could still move it."""
        return bounds_of(self.listings, self.evaluation, top=self.top_grade)

    @property
    def measure(self) -> str:
        """Name of the measure of effects and differences."""
        return self.evaluation.label(self.evaluation.measures[0])

    def to_frame(self) -> Frame:
        """Return the annotators' file as a polars table: query, item, texts and an empty grade.

        >>> from judged import queue
        >>> todo = queue({"q": {"a": 1}}, {"q": ["a", "b"]}, "P@2", texts={"b": "Bees."})
        >>> todo.to_frame().rows()
        [('q', 'b', 'Bees.', None)]
        """
        import polars as pl

        columns: dict[str, Sequence[str]] = {"query": self.queries}
        if (known := self.query_texts) is not None:
            headings = [known[name].heading if name in known else "" for name in self.queries]
            columns["query_text"] = headings
        columns["item"] = self.items
        if self.texts is not None:
            if self.texts.titles:
                columns["title"] = [self.texts.titles.get(name, "") for name in self.items]
            columns["text"] = [self.texts.texts.get(name, "") for name in self.items]
        frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
        return frame.with_columns(grade=pl.lit(None, pl.Float64))

    def to_csv(self, **display: Any) -> str:
        """Return the annotators' file as CSV.

        Texts that a spreadsheet would take for a formula start with an apostrophe. Ids are
        unchanged, because they must come back as they were.

        Parameters
        ----------
        **display
            Options of `Display`; none has a meaning here.

        >>> from judged import queue
        >>> queue({"q": {"a": 1}}, {"q": ["a", "b"]}).to_csv()
        'query,item,grade\\nq,b,\\n'
        """
        self._display("to_csv", display)
        return self._delimited(",")

    def to_tsv(self) -> str:
        """Return the annotators' file as CSV with tabs between the cells."""
        return self._delimited("\t")

    def _delimited(self, separator: str) -> str:
        import polars as pl

        frame = self.to_frame()
        names = [name for name in ("query_text", "title", "text") if name in frame.columns]
        if names:
            text = pl.col(names)
            harmless = ~text.str.contains(FORMULA) | text.str.contains(NUMBER)
            frame = frame.with_columns(pl.when(harmless).then(text).otherwise("'" + text))
        return frame.write_csv(separator=separator, quote_style="necessary")

    def to_ndjson(self) -> str:
        """Return the annotators' file as one JSON object per line."""
        return self.to_frame().write_ndjson()

    def _metadata(self) -> dict[str, str]:
        return {}  # warnings name runs, which annotators must not see

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values that JSON can hold; not for annotators.

        >>> from judged import queue
        >>> queue({"q": {"a": 1}}, {"q": ["a", "b"]}, "P@2").to_dict()["queue"]
        [{'query': 'q', 'item': 'b', 'effect': 0.5, 'best_rank': 2}]
        """
        return {
            "measure": self.measure,
            "policy": self.evaluation.policy.to_dict(),
            "runs": [run.name for run in self.evaluation.runs],
            **{name: getattr(self, name) for name in ("by", "depth", "top_grade", "seed")},
            "candidates": self.candidates,
            "without_effect": self.without_effect,
            "new_queries": list(self.new_queries),
            "negative_grades": self.negative,
            "bounds": plain_value(self.bounds),
            "queue": [
                {"query": query, "item": item, "effect": plain(effect), "best_rank": rank}
                for query, item, effect, rank in self._by_priority()
            ],
            "sentences": self.sentences(),
        }

    def _by_priority(self) -> Iterator[tuple[str, str, float, int]]:
        """Yield query, item, effect and best rank, the most worthwhile first."""
        effects, ranks = self.effects.tolist(), self.best_ranks.tolist()
        for row in self.priority.tolist():
            yield self.queries[row], self.items[row], effects[row], ranks[row]

    def document(self, display: Display) -> Document:
        answer, *notes = self._notes()
        return Document(
            answer=[answer],
            tables=self._tables(),
            warnings=self._warnings(),
            notes=[*notes, *self._conclusions()],
            details=self._details(),
        )

    def _grave(self) -> list[str]:
        warnings = [] if self._is_first else self.evaluation._grave()
        rel = self.evaluation.measures[0].params.get("rel", self.top_grade)
        if self.by == "effect" and self.top_grade < rel:
            warnings.append(
                f"The top grade {self.top_grade:g} is not relevant to {self.measure}, which needs "
                f"{rel:g}, so no judgement has an effect. "
                + for_caller("Set top_grade (--top-grade).")
            )
        return warnings

    def _warnings(self) -> list[str]:
        warnings = self._grave()
        formulas = [
            name
            for name in dict.fromkeys((*self.queries, *self.items))
            if re.match(FORMULA, name) and not re.match(NUMBER, name)
        ]
        if formulas:
            warnings.append(
                f"{counted(len(formulas), 'id starts', 'ids start')} with = + - or @, so a "
                f"spreadsheet would change it ({few(formulas)}). Edit the file in another program, "
                "or save it as .ndjson."
            )
        for texts, ids, verbs in (
            (self.texts, self.items, ("item has", "items have")),
            (self.query_texts, self.queries, ("query has", "queries have")),
        ):
            if texts is None:
                continue
            if missing := [name for name in dict.fromkeys(ids) if name not in texts]:
                warnings.append(
                    f"{counted(len(missing), *verbs)} no text in {texts.source} ({few(missing)})."
                )
        return warnings

    @property
    def _is_first(self) -> bool:
        """True before the first judgement."""
        return not len(self.evaluation.runs[0].rankings.grades)

    def _tables(self) -> list[Table]:
        effects = int(self.by == "effect")  # 0 leaves the column out
        rows = [
            [query, item, *[shown(effect)] * effects, f"{rank:,}"]
            for query, item, effect, rank in islice(self._by_priority(), TOP_ROWS)
        ]
        header = ["query", "item", *["effect"] * effects, "best rank"]
        tables = [Table(header, rows, {"query", "item"})] if rows else []
        if self.bounds:
            verdicts = {True: "yes", False: "no", None: "not known"}
            rows = [
                [
                    *(bounds.run, bounds.against),
                    *map(shown, (bounds.difference, bounds.low, bounds.high)),
                    verdicts[bounds.can_turn],
                ]
                for bounds in self.bounds
            ]
            difference = f"difference in {self.measure}"
            header = ["run", "against", difference, "lowest", "highest", "can change"]
            tables.append(Table(header, rows, {"run", "against", "can change"}))
        return tables

    def _notes(self) -> list[str]:
        """Sentences that are always shown."""
        where = f"in the top {self.depth:,} of any run"
        size = f"{counted(self.candidates, 'unjudged result')} {where}"
        if len(self) < self.candidates:
            verb = "is" if len(self) == 1 else "are"
            size += f"; the {len(self):,} most worthwhile {verb} in the queue"
        notes = [f"{size} ({counted(len(set(self.queries)), 'query', 'queries')})."]
        if not self.candidates:
            notes = [f"Nothing to judge: no unjudged results {where}."]
        if self._is_first:
            notes.append("There are no judgements yet, so nothing counts as relevant so far.")
        if self.without_effect:
            notes.append(
                f"{self.without_effect:,} of {counted(self.candidates, 'result')} alone would not "
                f"change {self.measure}, even with the top grade."
            )
        if self.new_queries:
            verb = "does" if len(self.new_queries) == 1 else "do"
            notes.append(
                f"{counted(len(self.new_queries), 'query has', 'queries have')} no judgements yet "
                f"({few(self.new_queries)}) and {verb} not count in values and differences."
            )
        if self.negative:
            words = "result has a negative grade and is", "results have a negative grade and are"
            notes.append(f"{counted(self.negative, *words)} left out.")
        return notes

    def _conclusions(self) -> list[str]:
        """Sentences on the table of differences."""
        settled = [bound for bound in self.bounds if bound.can_turn is False and bound.difference]
        lines = []
        if settled:
            leads = [f"{bound.better} is better than {bound.worse}" for bound in settled]
            lines.append(f"Judging results of judged queries cannot change that {listed(leads)}.")
        if (runs := len(self.evaluation.runs)) > MAX_RUNS:
            lines.append(f"Differences are those of the {MAX_RUNS} best of {runs:,} runs.")
        if not all(bound.bounded for bound in self.bounds):
            lines.append(
                f"Lowest and highest are two scenarios: all unjudged results favour one run or "
                f"the other. Other judgements may move {self.measure} further."
            )
        return lines

    def _details(self) -> list[str]:
        top = f" The top grade is {self.top_grade:g}." if self.by == "effect" else ""
        return [
            *(bounds.sentence for bounds in self.bounds),
            f"Order by {self.by}: {QUEUE_ORDERS[self.by]}.{top}",
            f"policy: {self.evaluation.policy}",
            "The file for annotators is blind: queries in the order of their most worthwhile "
            f"item, the items of each in random order (seed {self.seed}).",
        ]
