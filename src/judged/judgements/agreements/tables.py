"""The tables that people see of judges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judged.judgements.agreements.pairs import JudgePair
from judged.results import Table
from judged.statistics.intervals import Interval
from judged.text import Left, shown

if TYPE_CHECKING:
    from judged.judgements.agreements.result import Agreement

WIDE = 12
"""A table of more grades than this fits no screen; JSON has it."""


def tables_of(found: Agreement) -> list[Table]:
    """The numbers, grades against grades or every two judges, and the runs under each judge."""
    return [_numbers(found), *_grades(found), *_pairs(found), *_runs(found)]


def _numbers(found: Agreement) -> Table:
    pair = found.pairs[0]
    numbers: list[tuple[str, Interval]] = (
        [(f"{name} alpha", each) for name, each in found.alphas.items()]
        if len(found.pairs) > 1
        else list(zip(pair.labels(), pair.numbers().values(), strict=True))
    )
    rows = [[label, shown(each.estimate), _ends(each)] for label, each in numbers]
    return ["number", "value", f"{found.settings.level * 100:g} % interval"], rows


def _ends(each: Interval) -> str:
    return f"{shown(each.low)} … {shown(each.high)}" if each.known else "–"


def _grades(found: Agreement) -> list[Table]:
    """Rows are the grades of the first judge, columns those of the second."""
    if len(found.pairs) > 1 or len(found.table.grades) > WIDE:
        return []
    pair = found.pairs[0]
    names = names_of_grades(pair)
    rows = [
        [name, *(f"{count:,}" for count in row)]
        for name, row in zip(names, pair.table.counts, strict=True)
    ]
    return [([Left(f"{pair.first} \\ {pair.second}"), *names], rows)]


def names_of_grades(pair: JudgePair) -> list[str]:
    """Grades as texts, with all digits where two would look the same."""
    short = [f"{grade:g}" for grade in pair.table.grades]
    return short if len(set(short)) == len(short) else list(map(repr, pair.table.grades))


def _pairs(found: Agreement) -> list[Table]:
    if len(found.pairs) == 1:
        return []
    rows = [
        [
            f"{pair.first}, {pair.second}",
            f"{pair.items:,}",
            shown(pair.agreement.estimate),
            *(shown(each.estimate) for each in pair.kappas.values()),
            pair.stricter or "–",
        ]
        for pair in found.pairs
    ]
    return [(["judges", "items", "agreement", "kappa", "linear", "quadratic", "stricter"], rows)]


def _runs(found: Agreement) -> list[Table]:
    if found.boards is None:
        return []
    values = [
        [measure, run, *(shown(under[judge][run]) for judge in found.judges)]
        for measure, under in found.values.items()
        for run in found.boards.runs
    ]
    tables: list[Table] = [(["measure", "run", *found.judges], values)]
    if found.verdicts:
        words = [
            [row.measure, row.run, row.against, *row.verdicts.values()] for row in found.verdicts
        ]
        heads = [Left(f"under {name}") for name in found.judges]
        tables.append((["measure", "run", "against", *heads], words))
    return tables
