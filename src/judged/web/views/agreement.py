"""Agreement of annotators: coefficients, disputed items and how they are settled, leaderboards."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

from judged.errors import JudgedError
from judged.inputs.texts import Text
from judged.judgements.annotators import (
    FOLDER,
    QRELS_SUFFIX,
    SETTLED,
    Annotator,
    Place,
    qrels_of,
    settled_in,
)
from judged.rankings.strips import Cell
from judged.text import counted
from judged.web.commands import line_of
from judged.web.errors import GoneError
from judged.web.pages.pairs import without_options
from judged.web.views.files import empty_page
from judged.web.views.judge import (
    agreement_of,
    grade_of,
    home_of,
    judges_of,
    leaderboards_of,
    merged,
    note_of,
    place_of,
    scale_of,
    settled_of,
)
from judged.web.visit import SCORING_NAMES, Page, Params, RawContent, Visit
from judged.web.workspace import FILE_PARAMS, picture_address, texts_of

if TYPE_CHECKING:
    from judged.judgements.agreement import Agreement
    from judged.judgements.pairs import AssessorPair


PARAMS = ("first", "second", "all", "query", "item")
ITEMS_LISTED, MAX_ITEMS = 20, 1_000  # how many disputed items are listed by default, and at most


def page(visit: Visit) -> Page:
    from judged.judgements import MERGE_RULES

    names = list(judges_of(visit))
    if len(names) < 2:
        return _too_few(visit, names)
    agreement = agreement_of(visit)
    pair = _pair(visit, agreement)
    rows = _differences(visit, agreement)
    open_ = sum(row["settled"] is None for row in rows)
    context = {
        "found": agreement,
        "pair": pair,
        "alphas": agreement.alphas,
        "grades": [f"{grade:g}" for grade in pair.grades],
        "warnings": [without_options(str(text)) for text in agreement.warnings()],
        "sentences": agreement.sentences()[len(agreement.warnings()) :],
        "pairs": [
            {"pair": known, "href": visit.url(first=known.first, second=known.second)}
            for known in agreement.pairs
        ],
        "differences": rows[: MAX_ITEMS if visit.params.flag("all") else ITEMS_LISTED],
        "every": visit.url(all=1, query=None, item=None),
        "different": len(rows),
        "open": open_,
        "keys": scale_of(visit).meanings,
        "boards": _boards(visit),
        "rules": MERGE_RULES,
        "has_settled": bool(settled_of(visit)),
        "has_collection": not visit.workspace.undecided,
        "kept": visit.params.without(*PARAMS).pairs,
        "settled_in": f"{FOLDER}/{SETTLED}{QRELS_SUFFIX}",
    }
    return Page(
        "agreement.html", _title(agreement, pair), context, _command(visit, agreement.assessors)
    )


def _too_few(visit: Visit, names: Sequence[str]) -> Page:
    there = f"Only {names[0]} has judged here." if names else "Nobody has judged here yet."
    how = (
        "With the grades of two annotators, this page shows how far they agree (Cohen’s κ, "
        "Krippendorff’s α), where their grades differ, and what that does to the leaderboard."
    )
    links = [(visit.url("/judge", who=1), "Judge under another name" if names else "Judge")]
    return empty_page("Two annotators are needed", there, how, links=links)


def _title(agreement: Agreement, pair: AssessorPair) -> str:
    if len(agreement.assessors) > 2:
        several = counted(int((agreement.grades.times > 1).sum()), "item")
        return f"{len(agreement.assessors)} annotators, {several} judged by two or more"
    kappa = pair.kappa.estimate
    value = "undefined" if isnan(kappa) else f"{kappa:.2f}"
    return f"{pair.first} and {pair.second}: Cohen's κ is {value}, on {counted(pair.items, 'item')}"


def _pair(visit: Visit, agreement: Agreement) -> AssessorPair:
    first, second = visit.params.one("first"), visit.params.one("second")
    if first is None and second is None:
        return next((pair for pair in agreement.pairs if pair.items), agreement.pairs[0])
    return agreement.pair(first, second)


def _differences(visit: Visit, agreement: Agreement) -> list[dict[str, Any]]:
    """Return the disputed items, open ones first."""
    texts, queries, settled = texts_of(visit)[0], texts_of(visit, "queries")[0], settled_of(visit)
    top = float(scale_of(visit).top)
    rows = []
    for query, item, *grades in agreement.differences.iter_rows():
        pairs = [
            (name, grade, Cell("relevant" if grade > 0 else "irrelevant", grade, top))
            for name, grade in zip(agreement.assessors, grades, strict=True)
            if grade is not None
        ]
        rows.append(
            {
                "query": query,
                "item": item,
                "asks": queries.get(query, Text()).heading or query,
                "says": texts.get(item, Text()),
                "picture": picture_address(visit, item),
                "given": pairs,
                "settled": settled.get(query, {}).get(item),
            }
        )
    return sorted(rows, key=lambda row: row["settled"] is not None)


def refuse_undisputed(visit: Visit, place: Place) -> None:
    """Raise an error for an item that annotators agree on."""
    there = agreement_of(visit).differences
    if place not in set(zip(there["query"], there["item"], strict=True)):
        raise GoneError("Annotators do not differ on this item, or not any more.", "item")


def _boards(visit: Visit) -> dict[str, Any]:
    """Return the leaderboard of each annotator, or the error message."""
    try:
        boards = leaderboards_of(visit)
    except JudgedError as error:
        return {"refused": str(error)}

    measure = boards.measures[0]
    values = boards.values[measure]
    higher = boards.evaluations[next(iter(values))].labels[measure].spec.higher_is_better
    columns = [(judge, _ranked(known, higher=higher)) for judge, known in values.items()]
    rows: list[dict[str, Any]] = [
        {
            "name": run,
            "place": visit.places.get(run, 0),
            "cells": [(ranks[run], values[judge][run]) for judge, ranks in columns],
        }
        for run in sorted(boards.runs, key=columns[0][1].__getitem__)
    ]
    return {
        "refused": "",
        "measure": measure,
        "judges": [judge for judge, _ in columns],
        "rows": rows,
        "moved": any(len({rank for rank, _ in row["cells"]}) > 1 for row in rows),
        "sentences": list(boards.sentences()),
        "queries": boards.queries,
        "warnings": [without_options(str(text)) for text in boards.notes],
    }


def _ranked(values: dict[str, float], *, higher: bool) -> dict[str, int]:
    return {
        name: 1 + sum((other > value) if higher else (other < value) for other in values.values())
        for name, value in values.items()
    }


def _command(visit: Visit, judges: Sequence[str]) -> str:
    files = [str(home_of(visit) / FOLDER / f"{name}{QRELS_SUFFIX}") for name in judges]
    shell = [
        line_of(["judged", "agreement", *files]),
        line_of(["judged", "merge", *files, "--rule", "majority", "-o", "merged.qrels"]),
    ]
    return "\n".join(shell)


def merged_page(visit: Visit) -> RawContent:
    from judged.judgements import MERGE_RULES

    rule = visit.params.choice("rule", tuple(MERGE_RULES), "majority")
    settled, collection = visit.params.flag("settled"), visit.params.flag("collection")
    judgements = merged(visit, rule, settled=settled, collection=collection)
    grades = judgements if isinstance(judgements, dict) else judgements.to_dict()
    return RawContent(
        qrels_of(grades).encode(), "text/plain; charset=utf-8", f"merged-{rule}.qrels"
    )


def settle(visit: Visit, form: Params) -> str:
    """Keep the grade that settles a difference, and return the address of the list."""
    visit.params.refuse_unknown((*PARAMS, *SCORING_NAMES, *FILE_PARAMS))
    judge: Annotator = settled_in(home_of(visit))
    place = place_of(visit)
    if form.choice("action", ("grade", "undo"), "grade") == "undo":
        judge.take_back(*place)
    else:
        refuse_undisputed(visit, place)
        judge.grade(*place, grade_of(visit, form), note=note_of(form))
    return visit.url("/agreement", query=None, item=None) + "#differences"
