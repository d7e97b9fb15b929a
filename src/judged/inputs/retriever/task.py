"""A retriever, its queries and what it is judged by: everything is checked before anything is
asked, then asked, then evaluated."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from judged.errors import InputError, JudgedWarning, PolicyError, did_you_mean, quoted
from judged.evaluation import evaluate
from judged.evaluation.export import Latency
from judged.evaluation.settings import EvaluationSettings
from judged.inputs import Judgements, Lookup, read_judgements, read_run
from judged.inputs.order import DISTANCES
from judged.inputs.retriever.asking import Answer, Asking
from judged.inputs.retriever.calls import Call, call_of
from judged.inputs.retriever.queries import read_queries
from judged.inputs.retriever.results import Item, Reader, Results
from judged.inputs.retriever.saving import Record, Saved, hash_of
from judged.options import SCORING, checked, formats_of
from judged.policy import Policy
from judged.text import Warned, counted, few, listed

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.measures import Measure
    from judged.options import Progress
    from judged.policy import Policy

GIVE_UP = 20
"""Where so many queries failed and none was answered, no more are asked."""
OPTIONS = set(SCORING) - {"skip_bad", "progress"}
"""The options of `evaluate` that may be given here."""


@dataclass
class Task:
    """Everything that was asked for, checked."""

    call: Call
    judgements: Judgements | Lookup
    measures: Any
    options: Mapping[str, Any]
    queries: Mapping[str, Any]
    """All that are to be asked."""
    todo: Mapping[str, Any]
    """Those of them that were not answered earlier."""
    asking: Asking
    reader: Reader
    record: Record | None
    name: str
    notes: list[str]
    answered: dict[str, Saved]
    failed: dict[str, Exception] = field(default_factory=dict)

    @classmethod
    @checked
    def of(
        cls,
        retriever: Any,
        queries: Any,
        judgements: Any,
        measures: Any,
        *,
        k: int,
        item: Item,
        workers: int,
        retries: int,
        wait: float,
        save: Any,
        all_queries: bool,
        name: str | None = None,
        options: Mapping[str, Any],
    ) -> Task:
        call = call_of(retriever)
        _check_item(item)
        for option in options:
            if option not in OPTIONS:
                raise InputError(
                    f"evaluate_retriever takes no {option!r}{did_you_mean(option, OPTIONS)}"
                )
        columns, form = options.get("columns"), formats_of(options.get("format"))[0]
        read = read_judgements(judgements, columns=columns, format=form)
        judged = read.names() if isinstance(read, Judgements) else list(read.lists)
        rest = {key: value for key, value in options.items() if key not in ("columns", "format")}
        asked = {query: query for query in judged} if queries is None else read_queries(queries)
        chosen, notes = _chosen(asked, judged, all_queries=all_queries)
        call.check(next(iter(chosen.values())))
        with warnings.catch_warnings():
            # Whatever can be refused without an answer is refused before anything is asked.
            warnings.simplefilter("ignore", JudgedWarning)
            evaluate(read, _stand_in(read, chosen), measures, **rest)
        record = None
        if save is not None:
            settings = {"k": k, "from": _said(item), "retriever": call.name}
            record = Record.at(save, settings)
        return cls(
            call=call,
            judgements=read,
            measures=measures,
            options=rest,
            queries=chosen,
            todo=record.resume(chosen) if record else chosen,
            asking=Asking(workers, retries, wait),
            reader=Reader(item, k),
            record=record,
            name=name or call.name,
            notes=notes,
            answered=dict(record.saved) if record else {},
        )

    def evaluate(self, progress: Progress | None = None) -> Evaluation:
        """Ask, and evaluate what came."""
        order = _Order(self.answered)
        try:
            with closing(self.asking(self.call, self.todo)) as answers:
                for answer in answers:
                    self._take(answer, order)
                    if progress is not None:
                        progress(1)
        finally:
            if self.record is not None:
                self.record.close()
        if not self.answered:
            raise self._nothing()
        if not any(each.results.items for each in self.answered.values()):
            raise InputError(
                "the retriever returned nothing for any query; such a run is not a system that "
                "scored zero."
            )
        order.refuse_distances()
        if self.record is not None:
            self.record.finish(self.queries)
        answered = {query: self.answered[query] for query in self.queries if query in self.answered}
        run = read_run(
            {query: each.results.pairs for query, each in answered.items()}, name=self.name
        )
        run = replace(run, notes=(*run.notes, *self._said(answered, order)))
        found = evaluate(self.judgements, run, self.measures, **self.options)
        return replace(found, latency=_latency(answered))

    def _take(self, answer: Answer, order: _Order) -> None:
        if answer.error is not None:
            self.failed[answer.query] = answer.error
            if not self.answered and len(self.failed) >= GIVE_UP:
                raise self._nothing()
            return
        results = self.reader.read(answer.query, answer.found)
        if Policy.of(self.options.get("policy")).duplicates == "error":
            _refuse_repeated(answer.query, results)
        asked = hash_of(answer.query, self.queries[answer.query]) if self.record else ""
        saved = Saved(results, answer.seconds, answer.tries, self.asking.workers, asked)
        self.answered[answer.query] = saved
        if self.record is not None:
            self.record.add(answer.query, saved)
        order.add(results)

    def _nothing(self) -> InputError:
        tried = len(self.failed)
        whole = tried == len(self.todo)
        which = "the query" if whole and tried == 1 else "all queries"
        if not whole:
            which = f"the first {tried} of {len(self.todo):,} queries"
        return InputError(f"{which} failed; the first error was {self._first_error()}")

    def _first_error(self) -> str:
        query, error = next(iter(self.failed.items()))
        said = " ".join(str(error).split())
        shown = said if len(said) <= 300 else f"{said[:300]}…"
        return f"{type(error).__name__}{f': {shown}' if shown else ''} (query {query!r})."

    def _said(self, answered: Mapping[str, Saved], order: _Order) -> list[str]:
        """What whoever reads the numbers should know."""
        request = EvaluationSettings.of(
            self.measures, self.options.get("policy"), self.options.get("convention")
        )
        said = [*self.notes, *self._about_failed(request.policy)]
        if self.record is not None:
            said += self.record.notes
        if order.unlike:
            said.append(
                Warned(
                    f"In {counted(order.unlike, 'query', 'queries')} the scores do not fall in the "
                    "order of the results: the scores count. Return ids alone if the order should."
                )
            )
        said += self._about_cut(answered, request.measures)
        if self.reader.path is not None:
            said.append(f"The id of each result is its {self.reader.path}.")
        return said + self._unknown(answered)

    def _about_failed(self, policy: Policy) -> list[str]:
        if not self.failed:
            return []
        names = ", ".join(list(self.failed)[:10]) + (", …" if len(self.failed) > 10 else "")
        number = counted(len(self.queries), "query", "queries")
        failed = f"{len(self.failed):,} of {number} failed ({names})"
        if policy.missing == "error":
            raise PolicyError(
                f"{failed}, and missing=error says to stop. The first error was "
                f"{self._first_error()}"
            )
        return [Warned(f"{failed}. The first error was {self._first_error()}")]

    def _about_cut(self, answered: Mapping[str, Saved], measures: Sequence[Measure]) -> list[str]:
        cut = {query: each.results for query, each in answered.items() if each.results.cut}
        if not cut:
            return []
        k = self.reader.k
        said = (
            f"{counted(sum(each.cut for each in cut.values()), 'result')} beyond the first {k:,} "
            f"of {counted(len(cut), 'query', 'queries')} not kept (k={k:,})"
        )
        cutoffs = [measure.params.get("k") for measure in measures]
        deeper = max((each for each in cutoffs if isinstance(each, int)), default=0)
        if deeper > k:
            return [Warned(f"{said}, though measures look down to rank {deeper:,}.")]
        if names := self._uncut(cut, measures):
            return [
                Warned(
                    f"{said}, though {listed(names)} {'looks' if len(names) == 1 else 'look'} at "
                    "whole lists: relevant results beyond count as not retrieved. Raise k, or "
                    f"give a cutoff, such as {names[0]}@{k}."
                )
            ]
        return [f"{said}."]

    def _uncut(self, cut: Mapping[str, Results], measures: Sequence[Measure]) -> list[str]:
        """Name the measures without a cutoff that relevant results beyond k may raise."""
        wholes = [
            measure
            for measure in measures
            if measure.spec.rates_relevance
            and measure.spec.at is not None
            and measure.params.get(measure.spec.at) is None
        ]
        relevant = _relevant_items(self.judgements, cut) if wholes else {}
        left: set[str] = set()
        unseen: set[str] = set()
        for query, results in cut.items():
            lost = relevant.get(query, set()) - set(results.items)
            left |= {query} if lost else set()
            unseen |= {query} if lost == relevant.get(query) and lost else set()
        if any(self.options.get(name) is not None for name in ("unique", "item_to")):
            left = unseen = set(cut)  # ids are others then
        return [
            str(measure)
            for measure in wholes
            if (unseen if measure.spec.name in _FIRST_ONLY else left)
        ]

    def _unknown(self, answered: Mapping[str, Saved]) -> list[str]:
        """A warning where no id that was returned is among those that are judged."""
        if any(self.options.get(name) is not None for name in ("unique", "item_to")):
            return []
        returned = dict.fromkeys(item for each in answered.values() for item in each.results.items)
        if not returned or not returned.keys().isdisjoint(_judged_items(self.judgements)):
            return []
        judged = next(iter(_judged_items(self.judgements)), None)
        return [
            Warned(
                f"No result is a judged item: {quoted(next(iter(returned)))} and others were "
                f"returned, {quoted(judged)} and others are judged. Name the right id by item=."
            )
        ]


_FIRST_ONLY = ("RR", "Success")
"""Measures that look at the first relevant result only."""


def _relevant_items(
    judgements: Judgements | Lookup, queries: Mapping[str, Any]
) -> dict[str, set[str]]:
    """Return the items with a grade above 0 of some queries."""
    if isinstance(judgements, Judgements):
        rows = judgements.frame.select("query", "item", "grade").iter_rows()
    else:
        rows = (
            (query, item, max(grade.values()) if isinstance(grade, Mapping) else grade)
            for query in queries
            for item, grade in judgements.lists.get(query, {}).items()
        )
    found: dict[str, set[str]] = {}
    for query, item, grade in rows:
        if query in queries and grade > 0:
            found.setdefault(query, set()).add(item)
    return found


def _chosen(
    asked: Mapping[str, Any], judged: list[str], *, all_queries: bool
) -> tuple[dict[str, Any], list[str]]:
    """The queries to ask, and what is said of the others."""
    if not judged:
        raise InputError("the judgements are empty: no query is judged.")
    known = set(judged)
    ours = {query: each for query, each in asked.items() if query in known}
    if not ours:
        raise InputError(
            f"none of the queries is judged: asked would be {quoted(next(iter(asked)))}, judged is "
            f"{quoted(next(iter(judged), None))}. Give queries under the ids of the judgements."
        )
    notes: list[str] = []
    if not all_queries and len(ours) < len(asked):
        left = counted(len(asked) - len(ours), "query", "queries")
        notes.append(f"{left} without judgements not asked.")
    lost = [query for query in judged if query not in asked]
    if lost:
        names = few(lost)
        notes.append(
            Warned(
                f"{counted(len(lost), 'judged query is', 'judged queries are')} not among the "
                f"queries to ask ({names})."
            )
        )
    return dict(asked) if all_queries else ours, notes


def _stand_in(judgements: Judgements | Lookup, queries: Mapping[str, Any]) -> Lookup:
    """A run with one result, for there are no others yet."""
    if isinstance(judgements, Judgements):
        pairs: Iterable[tuple[str, str]] = judgements.frame.select("query", "item").iter_rows()
    else:
        pairs = ((query, item) for query, items in judgements.lists.items() for item in items)
    own = next(((query, item) for query, item in pairs if query in queries and item != query), None)
    results: dict[str, dict[str, float]] = {query: {} for query in queries}
    if own is None:
        results[next(iter(queries))] = {"an item": 1.0}
    else:
        results[own[0]] = {own[1]: 1.0}
    return Lookup(results)


def _check_item(item: Any) -> None:
    if item is None or (isinstance(item, str) and item) or callable(item):
        return
    raise InputError(
        "item names the id of a result, as 'metadata.doc_id', or is a function from a result to "
        f"its id; got {quoted(item)}."
    )


def _said(item: Item) -> str | None:
    if not callable(item):
        return item
    return f"the function {getattr(item, '__name__', type(item).__name__)}"


def _judged_items(judgements: Judgements | Lookup) -> dict[str, None]:
    """In the order in which they are judged, so that a message shows the same one every time."""
    if isinstance(judgements, Judgements):
        return dict.fromkeys(judgements.frame["item"].to_list())
    return {item: None for items in judgements.lists.values() for item in items}


def _refuse_repeated(query: str, results: Results) -> None:
    if len(set(results.items)) == len(results.items):
        return
    seen: dict[str, int] = {}
    for rank, item in enumerate(results.items, 1):
        if item in seen:
            raise InputError(
                f"query {query!r}: item {item!r} is returned twice, as results {seen[item]} and "
                f"{rank}. Where parts of a document share its id, name their own by item=; or give "
                'duplicates="first".'
            )
        seen[item] = rank


class _Order:
    """Whether scores fall down the lists; distances rise."""

    def __init__(self, answered: Mapping[str, Saved]) -> None:
        self.rising = self.falling = self.unlike = 0
        for each in answered.values():
            self.add(each.results, refuse=False)

    def add(self, results: Results, *, refuse: bool = True) -> None:
        scores = results.scores or ()
        pairs = list(pairwise(scores))
        if any(one < other for one, other in pairs):
            self.unlike += 1
            self.rising += all(one <= other for one, other in pairs)
        elif any(one > other for one, other in pairs):
            self.falling += 1
        if refuse and self.rising == DISTANCES:
            self.refuse_distances()

    def refuse_distances(self) -> None:
        if self.rising and self.rising == self.unlike and not self.falling:
            raise InputError(
                "the scores rise down every list, as distances do, but the greatest score is best; "
                "return (id, -distance), or ids alone, so that their order counts, or sort the "
                "results by falling score."
            )


def _latency(answered: Mapping[str, Saved]) -> Latency:
    return Latency(
        {query: each.seconds for query, each in answered.items()},
        max(each.workers for each in answered.values()),
        tuple(query for query, each in answered.items() if each.tries > 1),
    )
