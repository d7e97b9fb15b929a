"""All tables of a comparison: of each measure, and of each measure and attribute the runs in each
slice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from judged.comparison.exports.table import (
    DECIDED,
    Column,
    Form,
    differences,
    laid_out,
    main_tables,
    near_best,
    one_against_all,
)
from judged.comparison.sentences import shown_level
from judged.comparison.slices.slices import Slice
from judged.evaluation.table import Look
from judged.results import Table
from judged.text import Left

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison
    from judged.comparison.pair import Pair


def tables(
    comparison: Comparison, look: Look, width: int | None = None, *, marked: bool = False
) -> list[Table]:
    """The tables of all measures, then those of slices; what is wider than `width` comes below."""
    forms = [
        Form(measure, look, _outstanding(comparison, measure.name) if marked else frozenset())
        for measure in comparison.numbers.measures
    ]
    makers = [main_tables, *([slice_tables] if len(comparison.slices) else [])]
    if any(row.trusted is not None for row in comparison.rows):
        makers.append(correction_tables)
    return [table for make in makers for form in forms for table in make(comparison, form, width)]


def _outstanding(comparison: Comparison, measure: str) -> frozenset[str]:
    """Return the runs whose values are bold; none if no run is significantly worse than another."""
    rows = (row for row in comparison._every_pair if row.measure == measure)
    if not any(row.verdict in DECIDED for row in rows):
        return frozenset()
    return near_best(comparison, measure)


def correction_tables(comparison: Comparison, form: Form, width: int | None) -> list[Table]:
    """The differences that trusted judgements correct, beside what either judgements say alone."""
    rows = [row for row in comparison.rows if row.measure == form.measure.name]
    known = [(row, row.trusted) for row in rows if row.trusted is not None]
    ends = Left(f"{shown_level(comparison.settings.level)} interval")
    return [
        (
            [form.name, Left("against"), "corrected", ends, "trusted", ends, "cheap", "λ"],
            [
                [
                    *(row.run, row.against),
                    *(form.signed(each.corrected.estimate), form.difference(each.corrected)),
                    *(form.signed(each.trusted.estimate), form.difference(each.trusted)),
                    *(form.signed(each.cheap), f"{each.weight:.2f}"),
                ]
                for row, each in known
            ],
        )
    ]


def slice_tables(comparison: Comparison, form: Form, width: int | None) -> list[Table]:
    """The tables of a measure, attribute by attribute; slices where a run is shown worse come
    first."""
    found = []
    for attribute in dict.fromkeys(each.attribute for each in comparison.slices):
        own = [each for each in comparison.slices if each.attribute == attribute]
        own.sort(key=lambda each: not any(row.verdict == "worse" for row in _rows(each, form)))
        block = _block if one_against_all(comparison) else _values_and_pairs
        found += block(comparison, form, own, width)
    return found


def _rows(part: Slice, form: Form) -> list[Pair]:
    return [row for row in part.rows if row.measure == form.measure.name]


def _name(form: Form, slices: Sequence[Slice]) -> Left:
    return Left(f"{form.name}, {slices[0].attribute}")


def _block(
    comparison: Comparison, form: Form, slices: Sequence[Slice], width: int | None
) -> list[Table]:
    """All runs in each slice, and beside them how they differ from the baseline."""
    lines = [(part, run) for part in slices for run in comparison.runs]
    rows = [{row.run: row for row in _rows(part, form)}.get(run) for part, run in lines]
    others = _on_others(slices, form)
    head = f"against {one_against_all(comparison)}"
    beside = differences(comparison, form, rows, head, others=others)
    return laid_out(_names(form, slices, lines), [_values(comparison, form, lines), *beside], width)


def _values_and_pairs(
    comparison: Comparison, form: Form, slices: Sequence[Slice], width: int | None
) -> list[Table]:
    """All runs in each slice; then every pair in each."""
    lines = [(part, run) for part in slices for run in comparison.runs]
    pairs = [(part, row) for part in slices for row in _rows(part, form)]
    names: list[Column] = [
        (_name(form, slices), [part.name for part, _ in pairs]),
        (Left("run"), [row.run for _, row in pairs]),
        (Left("against"), [row.against for _, row in pairs]),
    ]
    others = _on_others(slices, form)
    beside = differences(comparison, form, [row for _, row in pairs], "difference", others=others)
    return [
        *laid_out(_names(form, slices, lines), [_values(comparison, form, lines)], None),
        *laid_out(names, beside, width),
    ]


def _names(form: Form, slices: Sequence[Slice], lines: Sequence[tuple[Slice, str]]) -> list[Column]:
    return [
        (_name(form, slices), [part.name for part, _ in lines]),
        (Left("run"), [run for _, run in lines]),
    ]


def _values(comparison: Comparison, form: Form, lines: Sequence[tuple[Slice, str]]) -> list[Column]:
    """How many queries a slice has, and the numbers of runs in it with their intervals."""
    known = [part.intervals[form.measure.name, run] for part, run in lines]
    return [
        ("queries", [f"{part.queries:,}" for part, _ in lines]),
        ("value", [form.value(each.estimate) for each in known]),
        (f"{shown_level(comparison.settings.level)} interval", list(map(form.interval, known))),
    ]


def _on_others(slices: Sequence[Slice], form: Form) -> bool:
    """Whether a pair is on other queries than those of its slice."""
    return any(row.queries != part.queries for part in slices for row in _rows(part, form))
