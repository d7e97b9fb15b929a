"""Judging by brute force: sort every list in plain Python, then look at each result in turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from judged import Rankings

Row = tuple[str, str, float]
Judgements = Mapping[str, Mapping[str, float]]


class Judged(NamedTuple):
    """One query: its list's length, (rank, grade, first and last rank of the tie) of each judged
    result, all grades."""

    query: str
    missing: bool
    retrieved: int
    hits: tuple[tuple[int, float, int, int], ...]
    pool: tuple[float, ...]


def judge_slowly(
    judgements: Judgements,
    rows: Sequence[Row],
    *,
    ties: str = "id",
    depth: int | None = None,
    unjudged: str = "nonrelevant",
) -> list[Judged]:
    result = []
    for query, grades in judgements.items():
        listed = [(item, score) for each, item, score in rows if each == query]
        ordered = in_order(listed, grades, ties)
        shown = [item for item, _ in ordered][:depth]
        span = {item: tie_span(ordered, score) for item, score in ordered}
        if unjudged == "removed":
            shown = [item for item in shown if grades.get(item, -1) >= 0]
            scores = dict(listed)
            condensed = [(item, scores[item]) for item in shown]
            span = {item: tie_span(condensed, score) for item, score in condensed}
        hits = [
            (rank, grades[item], *span[item])
            for rank, item in enumerate(shown, 1)
            if item in grades
        ]
        pool = tuple(sorted(grades.values(), reverse=True))
        result.append(Judged(query, not listed, len(shown), tuple(hits), pool))
    return result


def in_order(
    listed: list[tuple[str, float]], grades: Mapping[str, float], ties: str
) -> list[tuple[str, float]]:
    """The list by descending score; Python's sort keeps what was done before where scores tie."""
    if ties == "id":
        listed = sorted(listed, key=lambda row: row[0].encode(), reverse=True)
    elif ties == "best":
        listed = sorted(listed, key=lambda row: favour(grades.get(row[0])), reverse=True)
    elif ties == "worst":
        listed = sorted(listed, key=lambda row: favour(grades.get(row[0])))
    return sorted(listed, key=lambda row: -row[1])


def favour(grade: float | None) -> tuple[int, float]:
    """Relevant, then unjudged, then not relevant; the better grade first among the judged."""
    return (0, 0) if grade is None else (1 if grade > 0 else -1, grade)


def tie_span(ordered: list[tuple[str, float]], score: float) -> tuple[int, int]:
    places = [place for place, (_, other) in enumerate(ordered, 1) if other == score]
    return places[0], places[-1]


def as_judged(rankings: Rankings) -> list[Judged]:
    """Rankings in the same plain form."""
    assert rankings.hit_tie_first is not None
    assert rankings.hit_tie_last is not None
    columns = (rankings.hit_rank, rankings.hit_grade, rankings.hit_tie_first, rankings.hit_tie_last)
    return [
        Judged(
            query,
            bool(rankings.missing[at]),
            int(rankings.retrieved[at]),
            tuple(
                zip(*(column[rankings.hit_query == at].tolist() for column in columns), strict=True)
            ),
            tuple(rankings.pool_grade[rankings.pool_query == at].tolist()),
        )
        for at, query in enumerate(rankings.queries)
    ]
