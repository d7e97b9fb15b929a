"""Judge: one query and one item, large, and the grades that it may get; blind, unless somebody asks
what a judgement changes."""

from __future__ import annotations

from collections import ChainMap
from dataclasses import dataclass
from typing import Any

from judged.errors import JudgedError
from judged.inputs.texts import Text
from judged.judgements.annotators import (
    MAX_NOTE_CHARACTERS,
    Annotator,
    LogEntry,
    Place,
    annotators_in,
)
from judged.judgements.worklist import Sitting
from judged.rankings.strips import Cell
from judged.text import counted
from judged.web.asked import Asked, Page
from judged.web.contents import pictures_of, queries_of, texts_of
from judged.web.judging.desk import (
    DEPTHS,
    ORDERS,
    Desk,
    depth_of,
    graded,
    home_of,
    log_of,
    order_of,
    orders_of,
)

PARAMS = (
    *("annotator", "by", "k", "query", "item"),
    *("clock", "changes", "skipped", "end", "who"),
)
SHOWN = 12
"""So many queries are listed, from the one that lies on the desk on."""


@dataclass(frozen=True)
class Key:
    """A grade that may be given."""

    grade: int
    words: str
    cell: Cell
    chosen: bool


def page(asked: Asked) -> Page:
    """The desk of an annotator; first of all, who that is."""
    name = asked.params.one("annotator") or asked.session.annotator
    name = name or asked.settings.judging.annotator
    if not name or asked.params.flag("who"):
        return _who(asked)
    desk = Desk.of(asked, name)
    asked.session.annotator = desk.annotator.name
    if asked.params.flag("end"):
        return _ended(desk)
    place = desk.place
    if place is None:
        return _finished(desk)
    return _on_the_desk(desk, place)


def _who(asked: Asked) -> Page:
    """The page that asks for a name."""
    home = home_of(asked)
    known = [
        {
            "name": each,
            "done": len(graded(log_of(asked, each))),
            "href": asked.url(annotator=each, who=None),
        }
        for each in annotators_in(home)
    ]
    context = {"known": known, "hidden": asked.params.without("annotator", "who").pairs}
    return Page("judge_who.html", "Who judges?", context)


def _on_the_desk(desk: Desk, place: Place) -> Page:
    asked, (query, item) = desk.asked, place
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
        "picture": _picture(asked, item),
        "asks_with": _picture(asked, query),
        "standing": standing,
        "keys": _keys(desk, standing.grade),
        "note_length": MAX_NOTE_CHARACTERS,
        "before": desk.url(before) if before else None,
        "after": desk.url(after) if after else None,
        "sent_to": asked.url(annotator=desk.annotator.name, query=query, item=item, end=None),
        "listed": _listed(desk, place, asking),
        "announced": f"{heading}. {text.heading or item}",
    }
    return Page("judge.html", "Judge", context)


def _picture(asked: Asked, id: str) -> str | None:
    """Where the picture of an item or a query is, if there is one."""
    return asked.url("/picture", item=id) if id in pictures_of(asked) else None


def _keys(desk: Desk, chosen: int | None) -> list[Key]:
    top = float(desk.scale.top)
    return [
        Key(
            each.grade,
            each.words,
            Cell("relevant" if each.grade else "irrelevant", float(each.grade), top),
            each.grade == chosen,
        )
        for each in desk.scale.grades
    ]


def _shared(desk: Desk) -> dict[str, Any]:
    """What stands beside the item, and beside the word that there is none."""
    asked, mine = desk.asked, desk.list
    by, problems = order_of(asked), [*desk.list.log.problems, *_repaired(desk.annotator)]
    others = [each for each in annotators_in(home_of(asked)) if each != desk.annotator.name]
    own = {"by", "k", "query", "item", "end"}
    return {
        "annotator": desk.annotator.name,
        "kept_in": f"{desk.annotator.folder.name}/{desk.annotator.qrels.name}",
        "log_name": f"{desk.annotator.folder.name}/{desk.annotator.log_path.name}",
        "started_from": asked.workspace.judgements is not None,
        "done": mine.done,
        "all": len(mine.places),
        "skipped": mine.skipped,
        "waiting": len(mine.places) - mine.done - mine.skipped,
        "last": _last(desk),
        "by": by,
        "orders": {each: ORDERS[each] for each in orders_of(asked)},
        "k": depth_of(asked),
        "depths": sorted({*DEPTHS, depth_of(asked)}),
        "hidden": [pair for pair in asked.params.pairs if pair[0] not in own],
        "clock": asked.params.choice("clock", ("on", "off"), "on") == "on",
        "with_changes": asked.params.flag("changes"),
        "with_skipped": desk.skipped,
        "others": others,
        "shared": _shared_items(desk, others),
        "problems": problems,
        "notes": desk.tasks.notes,
        "end": asked.url(end=1, query=None, item=None),
        "again": asked.url(end=None, query=None, item=None),
        "see_skipped": asked.url(skipped=1, query=None, item=None, end=None),
    }


def _repaired(annotator: Annotator) -> list[str]:
    """Make the judgements again that a kill left behind; why not, where that is not possible."""
    try:
        annotator.repair()
    except JudgedError as error:
        return [str(error)]
    return []


def _shared_items(desk: Desk, others: list[str]) -> int:
    """How many items this annotator and at least one other graded."""
    theirs = {place for each in others for place in graded(log_of(desk.asked, each))}
    return sum(place in theirs for place in graded(desk.list.log))


def _last(desk: Desk) -> dict[str, Any] | None:
    """The last key that holds, in words."""
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


def _listed(desk: Desk, place: Place, asking: Any) -> dict[str, Any]:
    """The queries with something to judge, from the one on the desk on."""
    waiting = desk.list.open_by_query
    order = list(dict.fromkeys(query for query, _ in desk.list.places))
    at = order.index(place[0]) if place[0] in order else 0
    rest = [query for query in (*order[at + 1 :], *order[:at]) if query in waiting]
    rows = [
        {
            "text": (asking[query].heading if query in asking else "") or query,
            "count": waiting.get(query, 0),
            "href": desk.asked.url(query=query, item=None),
            "here": query == place[0],
        }
        for query in (place[0], *rest[: SHOWN - 1])
    ]
    return {"rows": rows, "more": max(len(rest) - SHOWN + 1, 0)}


def _finished(desk: Desk) -> Page:
    """The page of a desk that is empty."""
    if not desk.list.places:
        words = "There is nothing to judge"
        more = "Every result that the queue asks for has a judgement already."
        if desk.tasks.places:
            more = "Others graded everything that is not for everybody."
    else:
        words = "Everything is judged"
        more = f"{counted(desk.list.done, 'item')} of {counted(len(desk.list.places), 'item')}"
        more += f" {'has' if desk.list.done == 1 else 'have'} a grade from {desk.annotator.name}."
    sent_to = desk.asked.url(annotator=desk.annotator.name, query=None, item=None)
    context = {**_shared(desk), "words": words, "more": more, "sent_to": sent_to}
    return Page("judge_finished.html", words, context)


def _ended(desk: Desk) -> Page:
    """Enough for today: what was done in this sitting."""
    sitting = Sitting.of(desk.list.log)
    grades = [(key, sitting.by_grade.get(key.grade, 0)) for key in _keys(desk, None)]
    most = max(sitting.by_grade.values(), default=1)
    context = {**_shared(desk), "sitting": sitting, "grades": grades, "most": most}
    title = f"Enough for today: {counted(sitting.graded, 'item')} judged"
    return Page("judge_ended.html", title, context)


def _texts(desk: Desk) -> ChainMap[str, Text]:
    return ChainMap(desk.tasks.texts, texts_of(desk.asked).texts)  # type: ignore[arg-type]


def _queries(desk: Desk) -> ChainMap[str, Text]:
    return ChainMap(desk.tasks.queries, queries_of(desk.asked).texts)  # type: ignore[arg-type]
