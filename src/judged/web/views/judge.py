"""Judging: one query, one item and its grades; blind, unless the annotator asks for the effect."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judged.errors import JudgedError
from judged.inputs.tables import Lookup
from judged.inputs.texts import Text
from judged.judgements.annotators import (
    MAX_NOTE_CHARACTERS,
    SETTLED,
    Annotator,
    Log,
    LogEntry,
    Place,
    annotators_in,
    read_log,
    settled_in,
)
from judged.judgements.worklist import Scale, Tasks, Worklist, last_session, read_tasks, worklist
from judged.rankings.strips import Cell
from judged.text import counted
from judged.web.errors import GoneError, RefusedError, UnreadableError
from judged.web.pages.numbers import plain_number
from judged.web.visit import SCORING_NAMES, Page, Params, ScoringSettings, Visit
from judged.web.work import progress_of_this_work
from judged.web.workspace import FILE_PARAMS, picture_address, texts_of

if TYPE_CHECKING:
    from judged.judgements.agreement import Agreement
    from judged.judgements.leaderboards import Leaderboards

    Grades = dict[str, dict[str, int]]

PARAMS = (
    *("annotator", "by", "k", "query", "item"),
    *("clock", "changes", "skipped", "end", "who", "then", "system"),
)
MAX_LISTED = 12
ORDERS = {
    "effect": "what could change the comparison",
    "depth": "from the first rank down",
    "file": "as in the file",
}
"""Orders of the items to judge, in words."""
DEPTHS = (5, 10, 20, 50, 100)
DEFAULT_DEPTH = 10
DEFAULT_MEASURE = "nDCG@10"
MERGED = "all, settled first"
"""The name of the merged annotators with settled differences; annotators' names have no spaces."""
NO_NAME = "the annotator is missing; add annotator=NAME to the address."


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
        home, settings = home_of(visit), visit.settings
        annotator = Annotator(home, name)
        tasks = tasks_of(visit)
        others = [other for other in annotators_in(home) if other != annotator.name]
        taken = {place for other in others for place in graded(log_of(visit, other))}
        mine = worklist(
            tasks.places,
            annotator.name,
            log_of(visit, annotator.name),
            taken=taken,
            overlap=settings.overlap,
        )
        return cls(visit, annotator, tasks, mine, scale_of(visit))

    @cached_property
    def place(self) -> Place | None:
        """The item of the address, or the next open one."""
        query, item = self.visit.params.one("query"), self.visit.params.one("item")
        if query is None or item is None:
            same = (place for place in self.list.places if place[0] == query)
            waits = (place for place in same if self.list.is_open(place, skipped=self.skipped))
            return next(waits, None) or self.list.next_open(skipped=self.skipped)
        self.refuse_unknown((query, item))
        return query, item

    @property
    def skipped(self) -> bool:
        return self.visit.params.flag("skipped")

    def refuse_unknown(self, place: Place) -> None:
        if place not in self.list.log.standing and place not in self.tasks.places:
            raise GoneError(
                "This item is not among those that are to be judged here, or not any more.", "item"
            )

    def url(self, place: Place | None) -> str:
        query, item = place or (None, None)
        return self.visit.url("/judge", query=query, item=item, end=None)


def home_of(visit: Visit) -> Path:
    home = visit.library.home
    if home is None:
        raise RefusedError(
            "Judging needs a folder to keep grades in: start judged serve with a folder, or with "
            "files of one folder.",
            status=409,
        )
    return home


def log_of(visit: Visit, name: str) -> Log:
    home = home_of(visit)
    judge = settled_in(home) if name == SETTLED else Annotator(home, name)
    return read_log(judge.log_path)


def graded(log: Log) -> list[Place]:
    return [place for place, standing in log.standing.items() if standing.grade is not None]


def orders_of(visit: Visit) -> tuple[str, ...]:
    return ("effect", "depth") if visit.settings.queue is None else ("file",)


def order_of(visit: Visit) -> str:
    known = orders_of(visit)
    return visit.params.choice("by", known, known[0])


def depth_of(visit: Visit) -> int:
    return visit.params.whole("k", DEFAULT_DEPTH, at_least=1, at_most=1_000)


def tasks_of(visit: Visit) -> Tasks:
    path = visit.settings.queue
    if path is None:
        return _queued(visit)
    try:
        state = path.stat()
        key = "tasks", str(path), state.st_size, state.st_mtime_ns
        return visit.cache.get(key, partial(read_tasks, path))
    except OSError as error:
        raise UnreadableError(f"{path}: cannot be read ({error.strerror}).", "queue") from None


def _queued(visit: Visit) -> Tasks:
    """Return the unjudged results that matter most, or with the highest ranks."""
    from judged.judgements.queue import queue

    scoring = visit.scoring
    by, depth = order_of(visit), depth_of(visit)

    def made() -> Tasks:
        judgements, runs = _pooled(visit)
        progress_of_this_work().say("Looking for what to judge")
        options = {"by": by, "depth": depth, **queue_options(scoring)}
        queued = queue(judgements, runs, measure_of(visit), **options)
        return Tasks(tuple(zip(queued.queries, queued.items, strict=True)))

    key = "queued", visit.workspace.identity, scoring.key, by, depth
    return visit.cache.get(key, made)


def _pooled(visit: Visit) -> tuple[Any, dict[str, Any]]:
    """Return judgements and runs; without judgements if a folder has only runs."""
    workspace = visit.workspace
    begun = workspace.of_kind("judgements", "rows", "unclear")
    if workspace.judgements is None and workspace.systems and not begun:
        return {}, {system.name: str(system.file.path) for system in workspace.systems}
    return visit.calculations.judgements(), visit.calculations.runs()


def queue_options(scoring: ScoringSettings) -> dict[str, Any]:
    """Return the settings as `judged.queue` takes them, which never cuts lists."""
    options = scoring.scoring()
    if isinstance(options["policy"], dict):
        options["policy"] = {**options["policy"], "depth": None}
    return options


def measure_of(visit: Visit) -> str:
    scoring = visit.scoring
    for _, why in scoring.refused:
        raise RefusedError(why, "measure")
    return scoring.measures[0] if scoring.measures else DEFAULT_MEASURE


def scale_of(visit: Visit) -> Scale:
    """Return the grades to choose from: the server's, or those of the judgements."""

    def top() -> int | None:
        judgements = visit.calculations.judgements()
        if isinstance(judgements, Lookup):
            lists = judgements.lists.values()
            grades = [
                float(grade)
                for items in lists
                for grade in (items.values() if isinstance(items, Mapping) else (1,))
            ]
            return ceil(max(grades)) if grades else None
        highest = judgements.frame["grade"].max()
        return None if highest is None else ceil(float(highest))  # type: ignore[arg-type]

    if visit.settings.grades is not None:
        return visit.settings.grades
    if visit.workspace.undecided:
        return Scale.up_to(None)
    return Scale.up_to(visit.cache.get(("top", visit.workspace.identity), top))


def judges_of(visit: Visit) -> dict[str, Grades]:
    logs = {name: log_of(visit, name) for name in annotators_in(home_of(visit))}
    return {name: log.grades for name, log in logs.items() if log.grades}


def settled_of(visit: Visit) -> Grades:
    return log_of(visit, SETTLED).grades


def agreement_of(visit: Visit) -> Agreement:
    from judged.judgements.agreement import agreement

    judges = judges_of(visit)
    if len(judges) < 2:
        there = f"only {next(iter(judges))} has" if judges else "no annotator has"
        raise RefusedError(
            f"Agreement is of two annotators or more, and {there} judged here yet. Judge under "
            "another name.",
            status=409,
        )
    level = visit.scoring.level

    def made() -> Agreement:
        progress_of_this_work().say("Comparing annotators")
        return agreement(judges, level=level)

    return visit.cache.get(("agreement", _identity(judges), level), made)


def _identity(judges: dict[str, Grades]) -> tuple[Any, ...]:
    """Return a key that changes with any grade of any annotator."""
    return tuple(
        (name, *((query, *items.items()) for query, items in grades.items()))
        for name, grades in judges.items()
    )


def overlaid(visit: Visit, grades: Grades) -> Any:
    from judged.judgements.merge import merge_judgements

    if visit.workspace.undecided:
        return grades
    base = visit.calculations.judgements()
    if not grades:
        return base
    return merge_judgements({"grades": grades, "collection": base}, rule="first")


def leaderboards_of(visit: Visit) -> Leaderboards:
    """Return the leaderboards under each annotator's grades, put over the judgements."""
    from judged.judgements.leaderboards import leaderboards_of as compute

    calculations, scoring = visit.calculations, visit.scoring
    judges, settled = judges_of(visit), settled_of(visit)

    def made() -> Leaderboards:
        under = {name: overlaid(visit, grades) for name, grades in judges.items()}
        if settled:
            under[MERGED] = merged(visit, "majority", settled=True, collection=True)
        progress_of_this_work().say("Comparing systems under each annotator")
        shared = set.intersection(*(set(table.names()) for table in under.values()))
        queries = [query for query in next(iter(under.values())).names() if query in shared]
        options = {"level": scoring.level, **scoring.scoring()}
        return compute(under, queries, calculations.runs(), measure_of(visit), **options)

    held = _identity({**judges, MERGED: settled})
    return visit.cache.get(("boards", visit.workspace.identity, scoring.key, held), made)


def merged(visit: Visit, rule: str, *, settled: bool, collection: bool) -> Any:
    from judged.judgements.merge import merge_judgements

    judges = judges_of(visit)
    if not judges:
        message = "No annotator has judged here yet, so there is nothing to merge."
        raise RefusedError(message, status=409)
    grades: Any = next(iter(judges.values()))
    if len(judges) > 1:
        grades = merge_judgements(judges, rule=rule)
    if settled and (first := settled_of(visit)):
        grades = merge_judgements({SETTLED: first, "merged": grades}, rule="first")
    if collection and not visit.workspace.undecided:
        last = visit.calculations.judgements()
        grades = merge_judgements({"merged": grades, "collection": last}, rule="first")
    return grades


def place_of(visit: Visit) -> Place:
    query, item = visit.params.one("query"), visit.params.one("item")
    if query is None or item is None:
        raise RefusedError("query and item are missing; name both.", "item")
    return query, item


def grade_of(visit: Visit, form: Params) -> int:
    scale = scale_of(visit)
    grade = form.whole("grade", -1, at_most=9)
    if grade not in scale.meanings:
        raise RefusedError(f"grade must be one of {scale}; got {form.text('grade')!r}.", "grade")
    return grade


def note_of(form: Params) -> str | None:
    notes = [value for name, value in form.pairs if name == "note"]
    return notes[0].replace("\r\n", "\n") if notes else None


# -- pages


def page(visit: Visit) -> Page:
    """Show the next item to judge; first ask for the annotator's name."""
    name = visit.params.one("annotator") or visit.session.annotator
    name = name or visit.settings.annotator
    if not name or visit.params.flag("who"):
        return _who(visit)
    desk = Desk.of(visit, name)
    visit.session.annotator = desk.annotator.name
    if visit.params.flag("end"):
        return _ended(desk)
    place = desk.place
    if place is None:
        return _finished(desk)
    return _on_the_desk(desk, place)


def _who(visit: Visit) -> Page:
    known = [
        {
            "name": name,
            "done": len(graded(log_of(visit, name))),
            "href": visit.url(annotator=name, who=None),
        }
        for name in annotators_in(home_of(visit))
    ]
    context = {"known": known, "hidden": visit.params.without("annotator", "who").pairs}
    return Page("judge_who.html", "Who judges?", context)


def _on_the_desk(desk: Desk, place: Place) -> Page:
    visit, (query, item) = desk.visit, place
    texts, asking = _texts(desk), _queries(desk)
    text, question = texts.get(item, Text()), asking.get(query, Text())
    standing = desk.list.standing(place)
    before, after = (desk.list.neighbour(place, step) for step in (-1, 1))
    heading = question.heading or query
    context = {
        **_shared(desk),
        "query": query,
        "item": item,
        "heading": heading,
        "asks_more": question.line,
        "text": text,
        "picture": picture_address(visit, item),
        "asks_with": picture_address(visit, query),
        "standing": standing,
        "keys": _keys(desk, standing.grade),
        "note_length": MAX_NOTE_CHARACTERS,
        "before": desk.url(before) if before else None,
        "after": desk.url(after) if after else None,
        "sent_to": visit.url(annotator=desk.annotator.name, query=query, item=item, end=None),
        "listed": _query_list(desk, place, asking),
        "announced": f"{heading}. {text.heading or item}",
    }
    return Page("judge.html", "Judge", context)


def _keys(desk: Desk, chosen: int | None) -> list[dict[str, Any]]:
    keys = []
    for grade, words in desk.scale.meanings.items():
        kind: Any = "relevant" if grade else "irrelevant"
        cell = Cell(kind, float(grade), float(desk.scale.top))
        keys.append({"grade": grade, "words": words, "cell": cell, "chosen": grade == chosen})
    return keys


def _shared(desk: Desk) -> dict[str, Any]:
    visit, mine = desk.visit, desk.list
    by, problems = order_of(visit), [*desk.list.log.problems, *_repaired(desk.annotator)]
    others = [name for name in annotators_in(home_of(visit)) if name != desk.annotator.name]
    graded_by_others = {place for name in others for place in graded(log_of(visit, name))}
    fields = {"by", "k", "query", "item", "end"}
    return {
        "annotator": desk.annotator.name,
        "kept_in": f"{desk.annotator.folder.name}/{desk.annotator.qrels.name}",
        "started_from": visit.workspace.judgements is not None,
        "done": mine.done,
        "all": len(mine.places),
        "skipped": mine.skipped,
        "last": _last(desk),
        "by": by,
        "orders": {name: ORDERS[name] for name in orders_of(visit)},
        "k": depth_of(visit),
        "depths": sorted({*DEPTHS, depth_of(visit)}),
        "hidden": [pair for pair in visit.params.pairs if pair[0] not in fields],
        "clock": visit.params.choice("clock", ("on", "off"), "on") == "on",
        "with_changes": visit.params.flag("changes"),
        "with_skipped": desk.skipped,
        "others": others,
        "shared": sum(place in graded_by_others for place in graded(mine.log)),
        "problems": problems,
        "notes": desk.tasks.notes,
        "end": visit.url(end=1, query=None, item=None),
        "again": visit.url(end=None, query=None, item=None),
        "effect": visit.url("/", grader=desk.annotator.name, baseline=None),
        "download": visit.url("/merged", collection=1),
        "see_skipped": visit.url(skipped=1, query=None, item=None, end=None),
    }


def _repaired(annotator: Annotator) -> list[str]:
    """Write judgements again that a crash left incomplete; return the error message, if any."""
    try:
        annotator.repair()
    except JudgedError as error:
        return [str(error)]
    return []


def _last(desk: Desk) -> dict[str, Any] | None:
    last = desk.list.log.last
    if last is None:
        return None
    kept = desk.list.log.kept[:-1]
    before = [e.grade for e in kept if e.item == last.item and e.query == last.query]
    did = _did(desk, last)
    if last.grade is not None and before and before[-1] not in (None, last.grade):
        did += f" (it was {before[-1]})"
    return {"item": last.item, "did": did, "href": desk.url(last.place)}


def _did(desk: Desk, entry: LogEntry) -> str:
    if entry.grade is None:
        return "skipped" if entry.action == "skip" else "a note"
    return f"{entry.grade} {desk.scale.meanings.get(entry.grade, '')}".strip()


def _query_list(desk: Desk, place: Place, asking: Any) -> dict[str, Any]:
    """Return the queries with open items, from the present one on."""
    waiting = desk.list.open_by_query
    order = list(dict.fromkeys(query for query, _ in desk.list.places))
    at = order.index(place[0]) if place[0] in order else 0
    rest = [query for query in (*order[at + 1 :], *order[:at]) if query in waiting]
    rows = [
        {
            "text": (asking[query].heading if query in asking else "") or query,
            "count": waiting.get(query, 0),
            "href": desk.visit.url(query=query, item=None),
            "here": query == place[0],
        }
        for query in (place[0], *rest[: MAX_LISTED - 1])
    ]
    return {"rows": rows, "more": max(len(rest) - MAX_LISTED + 1, 0)}


def _finished(desk: Desk) -> Page:
    if not desk.list.places:
        words = "There is nothing to judge"
        more = "Every result that the queue asks for has a judgement already."
        if desk.tasks.places:
            more = "Others graded everything that is not for everybody."
    else:
        words = "Everything is judged"
        more = f"{counted(desk.list.done, 'item')} of {counted(len(desk.list.places), 'item')}"
        more += f" {'has' if desk.list.done == 1 else 'have'} a grade from {desk.annotator.name}."
    sent_to = desk.visit.url(annotator=desk.annotator.name, query=None, item=None)
    context = {**_shared(desk), "words": words, "more": more, "sent_to": sent_to}
    return Page("judge_finished.html", words, context)


def _ended(desk: Desk) -> Page:
    sitting = last_session(desk.list.log)
    grades = [(key, sitting["by_grade"].get(key["grade"], 0)) for key in _keys(desk, None)]
    most = max(sitting["by_grade"].values(), default=1)
    context = {**_shared(desk), "sitting": sitting, "grades": grades, "most": most}
    title = f"Enough for today: {counted(sitting['graded'], 'item')} judged"
    return Page("judge_ended.html", title, context)


def _texts(desk: Desk) -> ChainMap[str, Text]:
    return ChainMap(desk.tasks.texts, texts_of(desk.visit)[0])  # type: ignore[arg-type]


def _queries(desk: Desk) -> ChainMap[str, Text]:
    return ChainMap(desk.tasks.queries, texts_of(desk.visit, "queries")[0])  # type: ignore[arg-type]


def changes_page(visit: Visit) -> Page:
    """Show the possible values of each system."""
    name = visit.params.one("annotator") or visit.session.annotator
    if not name:
        raise RefusedError(NO_NAME, "annotator")
    facts, means = _ranges(visit, log_of(visit, name))
    return Page("judge_changes.html", "What it changes", {"facts": facts, "means": means})


def _ranges(visit: Visit, log: Log) -> tuple[list[tuple[str, str]], str]:
    """Return the possible values of each system with an annotator's grades, and their meaning."""
    from judged.evaluation.evaluate import evaluate
    from judged.judgements.queue import queue

    scoring, measure = visit.scoring, measure_of(visit)

    def made() -> tuple[list[tuple[str, str]], str]:
        runs = visit.calculations.runs()
        judgements = overlaid(visit, log.grades)
        evaluation = evaluate(judgements, runs, measure, **scoring.scoring())
        facts = []
        for name in runs:
            low, high = sorted(evaluation.unjudged_range(run=name))
            ends = (plain_number(end, 3) for end in (low, high))
            facts.append((f"{measure}, {name}", " to ".join(ends)))
        bounds = queue(judgements, runs, measure, by="depth", **queue_options(scoring)).bounds
        return facts, _turning([bound.can_turn for bound in bounds])

    key = "changes", visit.workspace.identity, measure, scoring.key, log.kept
    return visit.cache.get(key, made)


def _turning(turns: list[bool | None]) -> str:
    """Return how many comparisons judgements can still change."""
    words = "Each if all unjudged results are not relevant, and if all have the top grade."
    if not turns:
        return words
    pairs, can = counted(len(turns), "pair"), turns.count(True)
    words += f" Of {pairs} of systems, judgements can still change the order of {can:,}"
    return words + (f", and perhaps of {turns.count(None):,} more." if None in turns else ".")


def keep_key(visit: Visit, form: Params) -> str:
    """Keep a grade, skip, note or undo, and return the address of the next item."""
    visit.params.refuse_unknown((*PARAMS, *SCORING_NAMES, *FILE_PARAMS))
    name = visit.params.one("annotator")
    if name is None:
        raise RefusedError(NO_NAME, "annotator")
    desk = Desk.of(visit, name)
    action = form.choice("action", ("grade", "skip", "note", "undo"), "grade")
    if action == "undo":
        taken = desk.annotator.undo()
        return desk.url(desk.place if taken is None else taken.place)
    place = place_of(visit)
    desk.refuse_unknown(place)
    note = note_of(form)
    if action == "note":
        desk.annotator.note(*place, note or "")
        return desk.url(place)
    options: dict[str, Any] = {"note": note, "seconds": form.number("seconds")}
    if action == "skip":
        desk.annotator.skip(*place, **options)
    else:
        desk.annotator.grade(*place, grade_of(visit, form), **options)
    if visit.params.choice("then", ("judge", "query"), "judge") == "query":
        systems = list(visit.params.all("system")) or None
        visit.library.look_again()
        return visit.url("/query", query=place[0], system=systems, grader=name) + "#main"
    after = Desk.of(visit, name)
    return after.url(after.list.next_open(place, skipped=after.skipped))
