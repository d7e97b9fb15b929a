"""Agreement: how far annotators agree, what they see differently and how that is settled, and what
it does to the leaderboard."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

from judged.errors import JudgedError
from judged.inputs.texts import Text
from judged.judgements.annotators import FOLDER, QRELS_SUFFIX, SETTLED, Place
from judged.rankings.strips import Cell
from judged.text import counted
from judged.web.asked import Asked, Command, Page
from judged.web.commands import line_of
from judged.web.contents import pictures_of, queries_of, texts_of
from judged.web.errors import GoneError
from judged.web.judging.desk import home_of, scale_of
from judged.web.judging.judges import agreement_of, leaderboards_of, settled_of

if TYPE_CHECKING:
    from judged.judgements.agreements.pairs import JudgePair
    from judged.judgements.agreements.result import Agreement

PARAMS = ("first", "second", "all", "query", "item")
NUMBERS = True
FEW, MOST = 20, 1_000
"""So many differences are listed, and so many where all are asked for."""


def page(asked: Asked) -> Page:
    """All annotators, two of them in detail, and what they differ on."""
    from judged.judgements.agreements.choices import RULES

    found = agreement_of(asked)
    pair = _pair(asked, found)
    rows = _differences(asked, found)
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
            {"pair": each, "href": asked.url(first=each.first, second=each.second)}
            for each in found.pairs
        ],
        "differences": rows[: MOST if asked.params.flag("all") else FEW],
        "every": asked.url(all=1, query=None, item=None),
        "different": len(rows),
        "open": open_,
        "keys": scale_of(asked).grades,
        "boards": _boards(asked),
        "rules": RULES,
        "has_settled": bool(settled_of(asked)),
        "has_collection": not asked.workspace.undecided,
        "kept": asked.params.without(*PARAMS).pairs,
        "settled_in": f"{FOLDER}/{SETTLED}{QRELS_SUFFIX}",
    }
    title = _title(pair) if len(found.judges) == 2 else _title_of_all(found)
    return Page("agreement.html", title, context, _command(asked, found.judges))


def _title(pair: JudgePair) -> str:
    kappa = pair.kappa.estimate
    said = "is undefined" if isnan(kappa) else f"is {kappa:.2f}"
    return f"{pair.first} and {pair.second}: Cohen's κ {said}, on {counted(pair.items, 'item')}"


def _title_of_all(found: Agreement) -> str:
    several = int((found.grades.times > 1).sum())
    return f"{len(found.judges)} annotators, {counted(several, 'item')} judged by two or more"


def _pair(asked: Asked, found: Agreement) -> JudgePair:
    """The two of the address; the first who judged something together, where none are named."""
    first, second = asked.params.one("first"), asked.params.one("second")
    if first is None and second is None:
        return next((each for each in found.pairs if each.items), found.pairs[0])
    return found.pair(first, second)


def _numbers(pair: JudgePair) -> list[dict[str, Any]]:
    """The numbers of two, as a table shows them."""
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
    return [{"name": name, "interval": each} for name, each in named.items()]


def _differences(asked: Asked, found: Agreement) -> list[dict[str, Any]]:
    """What annotators gave different grades to, those that are not settled first."""
    texts, queries, settled = texts_of(asked).texts, queries_of(asked).texts, settled_of(asked)
    top, pictures = float(scale_of(asked).top), pictures_of(asked)
    rows = []
    for query, item, *grades in found.differences.iter_rows():
        given = [
            (name, grade, Cell("relevant" if grade > 0 else "irrelevant", grade, top))
            for name, grade in zip(found.judges, grades, strict=True)
            if grade is not None
        ]
        rows.append(
            {
                "query": query,
                "item": item,
                "asks": queries.get(query, Text()).heading or query,
                "says": texts.get(item, Text()),
                "picture": asked.url("/picture", item=item) if item in pictures else None,
                "given": given,
                "settled": settled.get(query, {}).get(item),
            }
        )
    return sorted(rows, key=lambda row: row["settled"] is not None)


def refuse_undisputed(asked: Asked, place: Place) -> None:
    """An error for what annotators do not differ on: there is nothing to settle."""
    there = agreement_of(asked).differences
    if place not in set(zip(there["query"], there["item"], strict=True)):
        raise GoneError("Annotators do not differ on this item, or not any more.", "item")


def _boards(asked: Asked) -> dict[str, Any]:
    """The systems under each annotator, best first; or why not."""
    try:
        boards = leaderboards_of(asked)
    except JudgedError as error:
        return {"refused": str(error)}
    from judged.judgements.agreements.sentences import of_boards

    measure = boards.measures[0]
    values = boards.values[measure]
    places = {each.name: each.place for each in asked.workspace.systems}
    higher = boards.evaluations[next(iter(values))].labels[measure].spec.higher_is_better
    columns = [(judge, _ranked(own, higher=higher)) for judge, own in values.items()]
    rows: list[dict[str, Any]] = [
        {
            "name": run,
            "place": places.get(run, 0),
            "cells": [(ranks[run], values[judge][run]) for judge, ranks in columns],
        }
        for run in sorted(boards.runs, key=lambda each: columns[0][1][each])
    ]
    return {
        "refused": "",
        "measure": measure,
        "judges": [judge for judge, _ in columns],
        "rows": rows,
        "moved": any(len({rank for rank, _ in row["cells"]}) > 1 for row in rows),
        "sentences": list(of_boards(boards)),
        "queries": boards.queries,
        "warnings": [str(text) for text in boards.notes],
    }


def _ranked(values: dict[str, float], *, higher: bool) -> dict[str, int]:
    """The rank of each; equal values have the same."""
    return {
        name: 1 + sum((other > value) if higher else (other < value) for other in values.values())
        for name, value in values.items()
    }


def _command(asked: Asked, judges: Sequence[str]) -> Command:
    """What gives the numbers of the page, and the judgements merged."""
    files = [str(home_of(asked) / FOLDER / f"{name}{QRELS_SUFFIX}") for name in judges]
    shell = [
        line_of(["judged", "agreement", *files]),
        line_of(["judged", "merge", *files, "--rule", "majority", "-o", "merged.qrels"]),
    ]
    python = (
        f"import judged\n\njudges = {files!r}\nprint(judged.agreement(judges))\n"
        'judged.merge_judgements(judges, rule="majority").save("merged.qrels")'
    )
    return Command("\n".join(shell), python)
