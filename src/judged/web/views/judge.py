"""Judging: one query, one item and its grades; blind, unless the annotator asks for the effect."""

from __future__ import annotations

from collections import ChainMap
from dataclasses import dataclass
from math import isnan
from typing import Any

from judged.errors import JudgedError
from judged.inputs.texts import Text
from judged.judgements.annotators import (
    MAX_NOTE_CHARACTERS,
    Annotator,
    Log,
    LogEntry,
    Place,
    annotators_in,
)
from judged.judgements.worklist import Sitting
from judged.rankings.strips import Cell
from judged.text import counted
from judged.web.errors import RefusedError
from judged.web.judging import (
    DEPTHS,
    ORDERS,
    Desk,
    agreement_of,
    depth_of,
    grade_of,
    graded,
    home_of,
    log_of,
    measure_of,
    note_of,
    order_of,
    orders_of,
    overlaid,
    place_of,
    queue_options,
)
from judged.web.visit import SCORING_NAMES, Page, Params, Visit
from judged.web.workspace import FILE_PARAMS, pictures_of, queries_of, texts_of

PARAMS = (
    *("annotator", "by", "k", "query", "item"),
    *("clock", "changes", "skipped", "end", "who"),
)
MAX_LISTED = 12


@dataclass(frozen=True)
class GradeKey:
    """A grade to choose."""

    grade: int
    words: str
    cell: Cell
    chosen: bool


def page(visit: Visit) -> Page:
    """Show the next item to judge; first ask for the annotator's name."""
    name = visit.params.one("annotator") or visit.session.annotator
    name = name or visit.settings.judging.annotator
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
    """Ask for the annotator's name."""
    home = home_of(visit)
    known = [
        {
            "name": each,
            "done": len(graded(log_of(visit, each))),
            "href": visit.url(annotator=each, who=None),
        }
        for each in annotators_in(home)
    ]
    context = {"known": known, "hidden": visit.params.without("annotator", "who").pairs}
    return Page("judge_who.html", "Who judges?", context)


def _on_the_desk(desk: Desk, place: Place) -> Page:
    visit, (query, item) = desk.visit, place
    said, asking = _texts(desk), _queries(desk)
    text, question = said.get(item, Text()), asking.get(query, Text())
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
        "picture": _picture(visit, item),
        "asks_with": _picture(visit, query),
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


def _picture(visit: Visit, id: str) -> str | None:
    return visit.url("/picture", item=id) if id in pictures_of(visit) else None


def _keys(desk: Desk, chosen: int | None) -> list[GradeKey]:
    top = float(desk.scale.top)
    return [
        GradeKey(
            each.grade,
            each.words,
            Cell("relevant" if each.grade else "irrelevant", float(each.grade), top),
            each.grade == chosen,
        )
        for each in desk.scale.grades
    ]


def _shared(desk: Desk) -> dict[str, Any]:
    """Return the variables of all judging pages."""
    visit, mine = desk.visit, desk.list
    by, problems = order_of(visit), [*desk.list.log.problems, *_repaired(desk.annotator)]
    others = [each for each in annotators_in(home_of(visit)) if each != desk.annotator.name]
    own = {"by", "k", "query", "item", "end"}
    return {
        "annotator": desk.annotator.name,
        "kept_in": f"{desk.annotator.folder.name}/{desk.annotator.qrels.name}",
        "log_name": f"{desk.annotator.folder.name}/{desk.annotator.log_path.name}",
        "started_from": visit.workspace.judgements is not None,
        "done": mine.done,
        "all": len(mine.places),
        "skipped": mine.skipped,
        "waiting": len(mine.places) - mine.done - mine.skipped,
        "last": _last(desk),
        "by": by,
        "orders": {each: ORDERS[each] for each in orders_of(visit)},
        "k": depth_of(visit),
        "depths": sorted({*DEPTHS, depth_of(visit)}),
        "hidden": [pair for pair in visit.params.pairs if pair[0] not in own],
        "clock": visit.params.choice("clock", ("on", "off"), "on") == "on",
        "with_changes": visit.params.flag("changes"),
        "with_skipped": desk.skipped,
        "others": others,
        "shared": _shared_items(desk, others),
        "problems": problems,
        "notes": desk.tasks.notes,
        "end": visit.url(end=1, query=None, item=None),
        "again": visit.url(end=None, query=None, item=None),
        "see_skipped": visit.url(skipped=1, query=None, item=None, end=None),
    }


def _repaired(annotator: Annotator) -> list[str]:
    """Write judgements again that a crash left incomplete; return the error message, if any."""
    try:
        annotator.repair()
    except JudgedError as error:
        return [str(error)]
    return []


def _shared_items(desk: Desk, others: list[str]) -> int:
    """Count the items that this annotator and another one graded."""
    theirs = {place for each in others for place in graded(log_of(desk.visit, each))}
    return sum(place in theirs for place in graded(desk.list.log))


def _last(desk: Desk) -> dict[str, Any] | None:
    """Return the last action, in words."""
    last = desk.list.log.last
    if last is None:
        return None
    before = [each.grade for each in desk.list.log.kept[:-1] if each.place == last.place]
    did = _did(desk, last)
    if last.grade is not None and before and before[-1] not in (None, last.grade):
        did += f" (it was {before[-1]})"
    return {"item": last.item, "did": did, "href": desk.url(last.place)}


def _did(desk: Desk, entry: LogEntry) -> str:
    if entry.grade is None:
        return "skipped" if entry.action == "skip" else "a note"
    return f"{entry.grade} {desk.scale.words(entry.grade)}".strip()


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
    """Show that nothing is left to judge."""
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
    """Show what was done in this sitting."""
    sitting = Sitting.of(desk.list.log)
    grades = [(key, sitting.by_grade.get(key.grade, 0)) for key in _keys(desk, None)]
    most = max(sitting.by_grade.values(), default=1)
    context = {**_shared(desk), "sitting": sitting, "grades": grades, "most": most}
    title = f"Enough for today: {counted(sitting.graded, 'item')} judged"
    return Page("judge_ended.html", title, context)


def _texts(desk: Desk) -> ChainMap[str, Text]:
    return ChainMap(desk.tasks.texts, texts_of(desk.visit).texts)  # type: ignore[arg-type]


def _queries(desk: Desk) -> ChainMap[str, Text]:
    return ChainMap(desk.tasks.queries, queries_of(desk.visit).texts)  # type: ignore[arg-type]


Facts = tuple[list[tuple[str, str]], str]
"""Names and numbers, and their meaning."""


def changes_page(visit: Visit) -> Page:
    """Show the possible values of each system, or the agreement of annotators."""
    if visit.params.choice("of", ("values", "agreement"), "values") == "agreement":
        facts, means = _agreement(visit)
        return Page("judge_changes.html", "Agreement", {"facts": facts, "means": means})
    name = visit.params.one("annotator") or visit.session.annotator
    if not name:
        raise RefusedError("it is not said who judges.", "annotator")
    facts, means = _ranges(visit, log_of(visit, name))
    return Page("judge_changes.html", "What it changes", {"facts": facts, "means": means})


def _ranges(visit: Visit, log: Log) -> Facts:
    """Return the possible values of each system with an annotator's grades."""
    from judged.evaluation.evaluate import evaluate
    from judged.judgements.queue import queue

    calculations, scoring = visit.calculations, visit.scoring
    measure = measure_of(visit)

    def made() -> Facts:
        runs = {each.name: calculations.run(each.name) for each in calculations.systems}
        judgements = overlaid(visit, log.grades)
        found = evaluate(judgements, runs, measure, **scoring.scoring())
        ranges = {each.name: sorted(found.unjudged_range(run=each.name)) for each in found.runs}
        facts = [
            (f"{measure}, {name}", f"{low:.3f} – {high:.3f}")
            for name, (low, high) in ranges.items()
        ]
        bounds = queue(judgements, runs, measure, by="depth", **queue_options(scoring)).bounds
        return facts, _turning([bound.can_turn for bound in bounds])

    key = "changes", visit.workspace.identity, measure, scoring.key, log.kept
    facts: Facts = visit.cache.get(key, made)
    return facts


def _turning(turns: list[bool | None]) -> str:
    """Return how many comparisons judgements can still change."""
    said = "Each if all unjudged results are not relevant, and if all have the top grade."
    if not turns:
        return said
    pairs, can = counted(len(turns), "pair"), turns.count(True)
    said += f" Of {pairs} of systems, judgements can still change the order of {can:,}"
    return said + (f", and perhaps of {turns.count(None):,} more." if None in turns else ".")


def _agreement(visit: Visit) -> Facts:
    found = agreement_of(visit)
    twice = int((found.grades.times > 1).sum())
    facts = [("judged by two or more", counted(twice, "item"))]
    if len(found.pairs) == 1:
        pair = found.pairs[0]
        named = {"same grade": (pair.agreement, "%"), "Cohen's κ": (pair.kappa, "")}
    else:
        named = {"Krippendorff's α": (found.alpha, "")}
    for name, (interval, unit) in named.items():
        value = 100 * interval.estimate if unit else interval.estimate
        text = "undefined" if isnan(value) else f"{value:.0f} %" if unit else f"{value:.2f}"
        facts.append((name, text))
    facts.append(("different grades", counted(found.differences.height, "item")))
    return facts, ""


def keep_key(visit: Visit, form: Params) -> str:
    """Keep a grade, skip, note or undo, and return the address of the next item."""
    visit.params.refuse_unknown((*PARAMS, *SCORING_NAMES, *FILE_PARAMS))
    name = visit.params.one("annotator")
    if name is None:
        raise RefusedError("it is not said who judges.", "annotator")
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
    after = Desk.of(visit, name)
    return after.url(after.list.next_open(place, skipped=after.skipped))
