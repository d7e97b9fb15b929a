"""The desk of an annotator: what there is to judge, what is done, and what comes next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judged.inputs.tables import Lookup
from judged.judgements.annotators import SETTLED, Annotator, Log, Place, annotators_in, settled_in
from judged.judgements.worklist import Scale, Tasks, Worklist, read_tasks, worklist
from judged.web.errors import ConflictError, GoneError, RefusedError, UnreadableError
from judged.web.jobs import progress_of_this_work

if TYPE_CHECKING:
    from judged.web.asked import Asked
    from judged.web.terms import Terms

ORDERS = {
    "effect": "what could change the comparison",
    "depth": "from the first rank down",
    "file": "as in the file",
}
"""In which order there is something to judge, and how the page says it."""
DEPTHS = (5, 10, 20, 50, 100)
"""How many of the first results of each run may be asked for."""
DEPTH = 10
MEASURE = "nDCG@10"


@dataclass(frozen=True, eq=False)
class Desk:
    """Where one annotator judges, as an address says it."""

    asked: Asked
    annotator: Annotator
    tasks: Tasks
    list: Worklist
    scale: Scale

    @classmethod
    def of(cls, asked: Asked, name: str) -> Desk:
        """The desk of an annotator, with the log as it is now."""
        home, judging = home_of(asked), asked.settings.judging
        annotator = Annotator(home, name)
        tasks = tasks_of(asked)
        others = [each for each in annotators_in(home) if each != annotator.name]
        taken = {place for each in others for place in graded(log_of(asked, each))}
        mine = worklist(
            tasks.places,
            annotator.name,
            log_of(asked, annotator.name),
            taken=taken,
            seed=judging.seed,
            overlap=judging.overlap,
        )
        return cls(asked, annotator, tasks, mine, scale_of(asked))

    @cached_property
    def place(self) -> Place | None:
        """The item that lies on the desk: the one of the address, or the next that waits."""
        query, item = self.asked.params.one("query"), self.asked.params.one("item")
        if query is None or item is None:
            own = (place for place in self.list.places if place[0] == query)
            waits = (place for place in own if self.list.is_open(place, skipped=self.skipped))
            return next(waits, None) or self.list.next_open(skipped=self.skipped)
        self.refuse_unknown((query, item))
        return query, item

    @property
    def skipped(self) -> bool:
        """Whether items that were skipped are shown again."""
        return self.asked.params.flag("skipped")

    def refuse_unknown(self, place: Place) -> None:
        """An error for what nobody asked to be judged."""
        if place not in self.known:
            raise GoneError(
                "This item is not among those that are to be judged here, or not any more.", "item"
            )

    @cached_property
    def known(self) -> frozenset[Place]:
        """All that may be judged: what is to be, and what this annotator judged."""
        return frozenset(self.tasks.places) | set(self.list.log.standing)

    def url(self, place: Place | None) -> str:
        """The address of an item; of the next that waits, where none is named."""
        query, item = place or (None, None)
        return self.asked.url("/judge", query=query, item=item, end=None)


def home_of(asked: Asked) -> Path:
    """The folder that grades are kept in."""
    home = asked.library.home
    if home is None:
        raise ConflictError(
            "Judging needs a folder to keep grades in: start judged serve with a folder, or with "
            "files of one folder."
        )
    return home


def log_of(asked: Asked, name: str) -> Log:
    """The log of an annotator, as it is now."""
    home = home_of(asked)
    judge = settled_in(home) if name == SETTLED else Annotator(home, name)
    return asked.library.log(judge.log_path)


def graded(log: Log) -> list[Place]:
    """What has a grade."""
    return [place for place, each in log.standing.items() if each.grade is not None]


def orders_of(asked: Asked) -> tuple[str, ...]:
    """The orders that there are to choose from."""
    if asked.settings.judging.queue is not None:
        return ("file",)
    return ("effect", "depth")


def order_of(asked: Asked) -> str:
    """The order of an address."""
    known = orders_of(asked)
    return asked.params.choice("by", known, known[0])


def depth_of(asked: Asked) -> int:
    """How many of the first results of each run are to be judged."""
    return asked.params.whole("k", DEPTH, at_least=1, at_most=1_000)


def tasks_of(asked: Asked) -> Tasks:
    """What is to be judged: what a file says, or what follows from the runs."""
    path = asked.settings.judging.queue
    if path is None:
        return _queued(asked)
    try:
        state = path.stat()
        key = "tasks", str(path), state.st_size, state.st_mtime_ns
        found: Tasks = asked.cache.get(key, partial(read_tasks, path))
        return found
    except OSError as error:
        raise UnreadableError(f"{path}: cannot be read ({error.strerror}).", "queue") from None


def _queued(asked: Asked) -> Tasks:
    """The unjudged results that matter most, or that stand highest."""
    from judged.judgements.queue import queue

    terms = asked.terms
    by, depth, seed = order_of(asked), depth_of(asked), asked.settings.judging.seed

    def made() -> Tasks:
        judgements, runs = _pooled(asked)
        progress_of_this_work().say("Looking for what to judge")
        found = queue(
            judgements,
            runs,
            measure_of(asked),
            by=by,
            depth=depth,
            seed=seed,
            **queue_options(terms),
        )
        return Tasks(tuple(zip(found.queries, found.items, strict=True)))

    key = "queued", asked.workspace.identity, terms.key, by, depth, seed
    tasks: Tasks = asked.cache.get(key, made)
    return tasks


def _pooled(asked: Asked) -> tuple[Any, dict[str, Any]]:
    """The judgements and the runs; no judgements where a folder has runs alone, and somebody begins
    to judge them."""
    workspace = asked.workspace
    begun = workspace.of_kind("judgements", "rows", "unclear")
    if workspace.judgements is None and workspace.systems and not begun:
        return {}, {each.name: str(each.file.path) for each in workspace.systems}
    calculations = asked.calculations
    runs = {each.name: calculations.run(each.name) for each in calculations.systems}
    return calculations.judgements(), runs


def queue_options(terms: Terms) -> dict[str, Any]:
    """The terms as `judged.queue` takes them, which never cuts lists."""
    return {name: value for name, value in terms.options().items() if name != "depth"}


def measure_of(asked: Asked) -> str:
    """The measure that a judgement changes: the first of the terms, or that of `judged queue`."""
    terms = asked.terms
    for _, why in terms.refused:
        raise RefusedError(why, "measure")
    return terms.measures[0] if terms.measures else MEASURE


def scale_of(asked: Asked) -> Scale:
    """The grades that may be given: those that somebody chose, or those of the judgements."""
    chosen = asked.settings.judging.grades
    if chosen is not None:
        return chosen
    return Scale.up_to(None if asked.workspace.undecided else _top(asked))


def _top(asked: Asked) -> int | None:
    """The highest grade in the judgements."""

    def made() -> int | None:
        judgements = asked.calculations.judgements()
        if isinstance(judgements, Lookup):
            grades = [grade for each in judgements.lists.values() for grade in _grades(each)]
            return ceil(max(grades)) if grades else None
        highest = judgements.frame["grade"].max()
        return None if highest is None else ceil(float(highest))  # type: ignore[arg-type]

    found: int | None = asked.cache.get(("top", asked.workspace.identity), made)
    return found


def _grades(given: object) -> list[float]:
    return [float(each) for each in given.values()] if isinstance(given, Mapping) else [1.0]
