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
from judged.web.views.judge import (
    agreement_of,
    grade_of,
    home_of,
    leaderboards_of,
    merged,
    note_of,
    place_of,
    scale_of,
    settled_of,
)
from judged.web.visit import SCORING_NAMES, CommandText, Page, Params, RawContent, Visit
from judged.web.workspace import FILE_PARAMS, picture_address, texts_of

if TYPE_CHECKING:
    from judged.judgements.agreement import Agreement
    from judged.judgements.pairs import AssessorPair


PARAMS = ("first", "second", "all", "query", "item")
FEW, MOST = 20, 1_000
"""How many disputed items are listed by default, and at most."""


def page(visit: Visit) -> Page:
    from judged.judgements import MERGE_RULES

    found = agreement_of(visit)
    pair = _pair(visit, found)
    rows = _differences(visit, found)
    open_ = sum(row["settled"] is None for row in rows)
    context = {
        "found": found,
        "pair": pair,
        "numbers": _numbers(pair),
        "alphas": found.alphas,
        "grades": [f"{grade:g}" for grade in pair.table.grades],
        "warnings": [str(text) for text in found.warnings()],
        "sentences": found.sentences()[len(found.warnings()) :],
        "pairs": [
            {"pair": known, "href": visit.url(first=known.first, second=known.second)}
            for known in found.pairs
        ],
        "differences": rows[: MOST if visit.params.flag("all") else FEW],
        "every": visit.url(all=1, query=None, item=None),
        "different": len(rows),
        "open": open_,
        "keys": scale_of(visit).grades,
        "boards": _boards(visit),
        "rules": MERGE_RULES,
        "has_settled": bool(settled_of(visit)),
        "has_collection": not visit.workspace.undecided,
        "kept": visit.params.without(*PARAMS).pairs,
        "settled_in": f"{FOLDER}/{SETTLED}{QRELS_SUFFIX}",
    }
    title = _title(pair) if len(found.assessors) == 2 else _title_of_all(found)
    return Page("agreement.html", title, context, _command(visit, found.assessors))


def _title(pair: AssessorPair) -> str:
    kappa = pair.kappa.estimate
    value = "undefined" if isnan(kappa) else f"{kappa:.2f}"
    return f"{pair.first} and {pair.second}: Cohen's κ is {value}, on {counted(pair.items, 'item')}"


def _title_of_all(found: Agreement) -> str:
    several = int((found.grades.times > 1).sum())
    return f"{len(found.assessors)} annotators, {counted(several, 'item')} judged by two or more"


def _pair(visit: Visit, found: Agreement) -> AssessorPair:
    first, second = visit.params.one("first"), visit.params.one("second")
    if first is None and second is None:
        return next((pair for pair in found.pairs if pair.items), found.pairs[0])
    return found.pair(first, second)


def _numbers(pair: AssessorPair) -> list[dict[str, Any]]:
    named = {
        "same grade": pair.agreement,
        "Cohen's κ": pair.kappas["plain"],
        "κ, linear weights": pair.kappas["linear"],
        "κ, quadratic weights": pair.kappas["quadratic"],
        "Krippendorff's α, nominal": pair.alphas["nominal"],
        "α, ordinal": pair.alphas["ordinal"],
        "α, interval": pair.alphas["interval"],
        "overlap of the relevant": pair.overlap,
    }
    return [{"name": name, "interval": interval} for name, interval in named.items()]


def _differences(visit: Visit, found: Agreement) -> list[dict[str, Any]]:
    """Return the disputed items, open ones first."""
    texts, queries, settled = texts_of(visit)[0], texts_of(visit, "queries")[0], settled_of(visit)
    top = float(scale_of(visit).top)
    rows = []
    for query, item, *grades in found.differences.iter_rows():
        given = [
            (name, grade, Cell("relevant" if grade > 0 else "irrelevant", grade, top))
            for name, grade in zip(found.assessors, grades, strict=True)
            if grade is not None
        ]
        rows.append(
            {
                "query": query,
                "item": item,
                "asks": queries.get(query, Text()).heading or query,
                "says": texts.get(item, Text()),
                "picture": picture_address(visit, item),
                "given": given,
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
        "warnings": [str(text) for text in boards.notes],
    }


def _ranked(values: dict[str, float], *, higher: bool) -> dict[str, int]:
    """Rank values; equal ones share a rank."""
    return {
        name: 1 + sum((other > value) if higher else (other < value) for other in values.values())
        for name, value in values.items()
    }


def _command(visit: Visit, judges: Sequence[str]) -> CommandText:
    files = [str(home_of(visit) / FOLDER / f"{name}{QRELS_SUFFIX}") for name in judges]
    shell = [
        line_of(["judged", "agreement", *files]),
        line_of(["judged", "merge", *files, "--rule", "majority", "-o", "merged.qrels"]),
    ]
    python = (
        f"import judged\n\njudges = {files!r}\nprint(judged.agreement(judges))\n"
        'judged.merge_judgements(judges, rule="majority").save("merged.qrels")'
    )
    return CommandText("\n".join(shell), python)


def merged_page(visit: Visit) -> RawContent:
    """Return the merged judgements as a file."""
    from judged.judgements import MERGE_RULES

    rule = visit.params.choice("rule", tuple(MERGE_RULES), "majority")
    found = merged(
        visit,
        rule,
        settled=visit.params.flag("settled"),
        collection=visit.params.flag("collection"),
    )
    grades = found if isinstance(found, dict) else found.to_dict()
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
