"""The judging page's data: items to judge, annotators' grades, their agreement and merging."""

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
from judged.web.visit import Params, Visit
from judged.web.work import progress_of_this_work

if TYPE_CHECKING:
    from judged.judgements.agreement import Agreement
    from judged.judgements.leaderboards import Leaderboards
    from judged.web.visit import ScoringSettings


ORDERS = {
    "effect": "what could change the comparison",
    "depth": "from the first rank down",
    "file": "as in the file",
}
"""Orders of the items to judge, in words."""
DEPTHS = (5, 10, 20, 50, 100)
DEFAULT_DEPTH = 10
DEFAULT_MEASURE = "nDCG@10"


@dataclass(frozen=True, eq=False)
class Desk:
    """The items of one annotator, as an address describes them."""

    visit: Visit
    annotator: Annotator
    tasks: Tasks
    list: Worklist
    scale: Scale

    @classmethod
    def of(cls, visit: Visit, name: str) -> Desk:
        """Return the desk of an annotator, with the present log."""
        home, judging = home_of(visit), visit.settings.judging
        annotator = Annotator(home, name)
        tasks = tasks_of(visit)
        others = [each for each in annotators_in(home) if each != annotator.name]
        taken = {place for each in others for place in graded(log_of(visit, each))}
        mine = worklist(
            tasks.places,
            annotator.name,
            log_of(visit, annotator.name),
            taken=taken,
            seed=judging.seed,
            overlap=judging.overlap,
        )
        return cls(visit, annotator, tasks, mine, scale_of(visit))

    @cached_property
    def place(self) -> Place | None:
        """The item of the address, or the next open one."""
        query, item = self.visit.params.one("query"), self.visit.params.one("item")
        if query is None or item is None:
            own = (place for place in self.list.places if place[0] == query)
            waits = (place for place in own if self.list.is_open(place, skipped=self.skipped))
            return next(waits, None) or self.list.next_open(skipped=self.skipped)
        self.refuse_unknown((query, item))
        return query, item

    @property
    def skipped(self) -> bool:
        """Whether skipped items are shown again."""
        return self.visit.params.flag("skipped")

    def refuse_unknown(self, place: Place) -> None:
        """Raise an error for an item that is not to be judged."""
        if place not in self.known:
            raise GoneError(
                "This item is not among those that are to be judged here, or not any more.", "item"
            )

    @cached_property
    def known(self) -> frozenset[Place]:
        """All items that may be judged: open ones, and those that this annotator judged."""
        return frozenset(self.tasks.places) | set(self.list.log.standing)

    def url(self, place: Place | None) -> str:
        """Return the address of an item, by default of the next open one."""
        query, item = place or (None, None)
        return self.visit.url("/judge", query=query, item=item, end=None)


def home_of(visit: Visit) -> Path:
    """Return the folder that grades are kept in."""
    home = visit.library.home
    if home is None:
        raise ConflictError(
            "Judging needs a folder to keep grades in: start judged serve with a folder, or with "
            "files of one folder."
        )
    return home


def log_of(visit: Visit, name: str) -> Log:
    """Return the present log of an annotator."""
    home = home_of(visit)
    judge = settled_in(home) if name == SETTLED else Annotator(home, name)
    return visit.library.log(judge.log_path)


def graded(log: Log) -> list[Place]:
    """Return the items with a grade."""
    return [place for place, each in log.standing.items() if each.grade is not None]


def orders_of(visit: Visit) -> tuple[str, ...]:
    """Return the orders to choose from."""
    if visit.settings.judging.queue is not None:
        return ("file",)
    return ("effect", "depth")


def order_of(visit: Visit) -> str:
    """Return the order of an address."""
    known = orders_of(visit)
    return visit.params.choice("by", known, known[0])


def depth_of(visit: Visit) -> int:
    """Return how many of the first results of each run are to be judged."""
    return visit.params.whole("k", DEFAULT_DEPTH, at_least=1, at_most=1_000)


def tasks_of(visit: Visit) -> Tasks:
    """Return the items to judge, from a file or from the runs."""
    path = visit.settings.judging.queue
    if path is None:
        return _queued(visit)
    try:
        state = path.stat()
        key = "tasks", str(path), state.st_size, state.st_mtime_ns
        found: Tasks = visit.cache.get(key, partial(read_tasks, path))
        return found
    except OSError as error:
        raise UnreadableError(f"{path}: cannot be read ({error.strerror}).", "queue") from None


def _queued(visit: Visit) -> Tasks:
    """Return the unjudged results that matter most, or with the highest ranks."""
    from judged.judgements.queue import queue

    scoring = visit.scoring
    by, depth, seed = order_of(visit), depth_of(visit), visit.settings.judging.seed

    def made() -> Tasks:
        judgements, runs = _pooled(visit)
        progress_of_this_work().say("Looking for what to judge")
        found = queue(
            judgements,
            runs,
            measure_of(visit),
            by=by,
            depth=depth,
            seed=seed,
            **queue_options(scoring),
        )
        return Tasks(tuple(zip(found.queries, found.items, strict=True)))

    key = "queued", visit.workspace.identity, scoring.key, by, depth, seed
    tasks: Tasks = visit.cache.get(key, made)
    return tasks


def _pooled(visit: Visit) -> tuple[Any, dict[str, Any]]:
    """Return judgements and runs; without judgements if a folder has only runs."""
    workspace = visit.workspace
    begun = workspace.of_kind("judgements", "rows", "unclear")
    if workspace.judgements is None and workspace.systems and not begun:
        return {}, {each.name: str(each.file.path) for each in workspace.systems}
    calculations = visit.calculations
    runs = {each.name: calculations.run(each.name) for each in calculations.systems}
    return calculations.judgements(), runs


def queue_options(scoring: ScoringSettings) -> dict[str, Any]:
    """Return the settings as `judged.queue` takes them, which never cuts lists."""
    options = scoring.scoring()
    if isinstance(options["policy"], dict):
        options["policy"] = {**options["policy"], "depth": None}
    return options


def measure_of(visit: Visit) -> str:
    """Return the first measure of the settings, or the default of `judged queue`."""
    scoring = visit.scoring
    for _, why in scoring.refused:
        raise RefusedError(why, "measure")
    return scoring.measures[0] if scoring.measures else DEFAULT_MEASURE


def scale_of(visit: Visit) -> Scale:
    """Return the grades to choose from: the server's, or those of the judgements."""
    chosen = visit.settings.judging.grades
    if chosen is not None:
        return chosen
    return Scale.up_to(None if visit.workspace.undecided else _top(visit))


def _top(visit: Visit) -> int | None:
    def made() -> int | None:
        judgements = visit.calculations.judgements()
        if isinstance(judgements, Lookup):
            grades = [grade for each in judgements.lists.values() for grade in _grades_in(each)]
            return ceil(max(grades)) if grades else None
        highest = judgements.frame["grade"].max()
        return None if highest is None else ceil(float(highest))  # type: ignore[arg-type]

    found: int | None = visit.cache.get(("top", visit.workspace.identity), made)
    return found


def _grades_in(given: object) -> list[float]:
    return [float(each) for each in given.values()] if isinstance(given, Mapping) else [1.0]


Grades = dict[str, dict[str, int]]
MERGED = "all, settled first"
"""The name of the merged annotators with settled differences; annotators' names have no spaces."""


def judges_of(visit: Visit) -> dict[str, Grades]:
    """Return the grades of each annotator who gave some."""
    logs = {name: log_of(visit, name) for name in annotators_in(home_of(visit))}
    return {name: log.grades for name, log in logs.items() if log.grades}


def settled_of(visit: Visit) -> Grades:
    """Return the grades that settle differences."""
    return log_of(visit, SETTLED).grades


def agreement_of(visit: Visit) -> Agreement:
    """Return what `judged.agreement` gives for all annotators."""
    from judged.judgements.agreement import agreement

    judges = judges_of(visit)
    if len(judges) < 2:
        there = f"only {next(iter(judges))} has" if judges else "nobody has"
        raise ConflictError(
            f"Agreement is of two annotators or more, and {there} judged here yet. Judge under "
            "another name."
        )
    level = visit.scoring.level

    def made() -> Agreement:
        progress_of_this_work().say("Comparing annotators")
        return agreement(judges, level=level)

    key = "agreement", tuple((name, _identity(given)) for name, given in judges.items()), level
    found: Agreement = visit.cache.get(key, made)
    return found


def _identity(grades: Grades) -> tuple[Any, ...]:
    return tuple((query, *each.items()) for query, each in grades.items())


def overlaid(visit: Visit, grades: Grades) -> Any:
    """Return the collection's judgements with grades put over them."""
    from judged.judgements.merge import merge_judgements

    if visit.workspace.undecided:
        return grades
    base = visit.calculations.judgements()
    if not grades:
        return base
    return merge_judgements({"grades": grades, "collection": base}, rule="first")


def leaderboards_of(visit: Visit) -> Leaderboards:
    """Return the leaderboards under each annotator's grades, put over the judgements."""
    from judged.judgements.leaderboards import leaderboards_of as found_under

    calculations, scoring = visit.calculations, visit.scoring
    judges, settled = judges_of(visit), settled_of(visit)

    def made() -> Leaderboards:
        runs = {each.name: calculations.run(each.name) for each in calculations.systems}
        under = {name: overlaid(visit, given) for name, given in judges.items()}
        if settled:
            under[MERGED] = merged(visit, "majority", settled=True, collection=True)
        progress_of_this_work().say("Comparing systems under each annotator")
        shared = set.intersection(*(set(each.names()) for each in under.values()))
        queries = [query for query in next(iter(under.values())).names() if query in shared]
        options = {"level": scoring.level, **scoring.scoring()}
        return found_under(under, queries, runs, measure_of(visit), **options)

    given = {**judges, MERGED: settled}
    held = tuple((name, _identity(grades)) for name, grades in given.items())
    found: Leaderboards = visit.cache.get(
        ("boards", visit.workspace.identity, scoring.key, held), made
    )
    return found


def merged(visit: Visit, rule: str, *, settled: bool, collection: bool) -> Any:
    """Merge all annotators by a rule; settled grades come first, the collection's judgements
    last."""
    from judged.judgements.merge import merge_judgements

    judges = judges_of(visit)
    if not judges:
        raise ConflictError("Nobody has judged here yet, so there is nothing to merge.")
    found: Any = judges[next(iter(judges))]
    if len(judges) > 1:
        found = merge_judgements(judges, rule=rule)
    first = partial(merge_judgements, rule="first")
    if settled and (own := settled_of(visit)):
        found = first({SETTLED: own, "merged": found})
    if collection and not visit.workspace.undecided:
        found = first({"merged": found, "collection": visit.calculations.judgements()})
    return found


def place_of(visit: Visit) -> Place:
    query, item = visit.params.one("query"), visit.params.one("item")
    if query is None or item is None:
        raise RefusedError("it is not said what is judged: query and item.", "item")
    return query, item


def grade_of(visit: Visit, form: Params) -> int:
    scale = scale_of(visit)
    grade = form.whole("grade", -1, at_most=9)
    if grade not in scale:
        raise RefusedError(f"grade must be one of {scale}; got {form.text('grade')!r}.", "grade")
    return grade


def note_of(form: Params) -> str | None:
    """Return the note as typed; None if the form has none."""
    notes = [value for name, value in form.pairs if name == "note"]
    return notes[0].replace("\r\n", "\n") if notes else None
