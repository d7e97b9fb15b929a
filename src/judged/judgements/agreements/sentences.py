"""What is said of judges: how far they agree, who is stricter, and what it does to runs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from judged.judgements.agreements.judges import Grades
from judged.judgements.agreements.leaderboards import Leaderboards
from judged.judgements.agreements.pairs import FEW, JudgePair, Settings
from judged.statistics.intervals import Interval
from judged.text import Warned, counted, listed, percent

if TYPE_CHECKING:
    from judged.judgements.agreements.result import Agreement

MANY_APART = 0.1
"""Where more than this share of what somebody judged was judged by one alone, it is warned of."""
LIKELY = 10
"""Among so many items a judge would have given a third grade, were there one."""
DEFINITIONS = (
    "kappa: Cohen's, 1 - observed / expected distance of the two grades; plain: 0 or 1, linear: "
    "their difference, quadratic: its square. Differences are of grades as numbers, not of their "
    "places among the grades that occur",
    "alpha: Krippendorff's, 1 - observed / expected distance of any two grades of an item; "
    "nominal: 0 or 1, ordinal: by mean ranks, interval: the square of their difference",
    "overlap of the relevant: items that both found relevant, by items that one of them did; over "
    "all items, not a mean over queries",
)


def between(interval: Interval, digits: int = 3) -> str:
    """Bounds in words; nothing where there are none."""
    if not interval.known:
        return ""
    return f" ({interval.low:.{digits}f} to {interval.high:.{digits}f})"


def shares(interval: Interval) -> str:
    """A share in percent with its bounds."""
    ends = f" ({percent(interval.low, 1)} to {percent(interval.high, 1)})"
    return f"{percent(interval.estimate, 1)} %{ends if interval.known else ''}"


def findings(found: Agreement) -> Iterator[str]:
    """What matters most, in a few sentences."""
    if len(found.pairs) > 1:
        yield from _of_all(found)
    else:
        yield from of_pair(found.pairs[0], found.settings, found.grades)
    if found.boards is not None:
        yield from of_boards(found.boards)


def of_pair(pair: JudgePair, settings: Settings, grades: Grades) -> Iterator[str]:
    """Two judges."""
    names = f"{pair.first} and {pair.second}"
    many = grades.counted(pair.items)
    kappa = pair.kappa
    alike = (
        f"{names} gave the same grade to {shares(pair.agreement)} of the {many} that both judged"
    )
    if math.isnan(kappa.estimate):
        yield f"{alike}; kappa is undefined: {kappa.note}."
    else:
        yield (
            f"{alike}; chance alone would give {percent(pair.chance, 1)} %, so that Cohen's kappa "
            f"is {kappa.estimate:.3f}{between(kappa)}."
        )
    yield _stricter(pair)
    base = (
        f"relevant from grade {settings.rel:g}: {percent(pair.first_relevant.estimate, 1)} % of "
        f"them to {pair.first}, {percent(pair.second_relevant.estimate, 1)} % to {pair.second}"
    )
    if math.isnan(pair.overlap.estimate):
        yield f"{base}."
    else:
        yield f"{base}; of what is relevant to either, {shares(pair.overlap)} is to both."


def _stricter(pair: JudgePair) -> str:
    gap = pair.difference
    if gap.estimate == 0 and not gap.known:
        return f"{pair.first} and {pair.second} give the same grades on average."
    lower, higher = (pair.first, pair.second) if gap.estimate > 0 else (pair.second, pair.first)
    if pair.stricter is not None:
        ends = sorted((abs(gap.low), abs(gap.high)))
        within = f"{ends[0]:.3f} to {ends[1]:.3f}" if gap.known else "the same on all queries"
        return (
            f"{lower} is stricter: the grades are lower than those of {higher} by "
            f"{abs(gap.estimate):.3f} on average ({within})."
        )
    said = f"{pair.second} less {pair.first} is {gap.estimate:+.3f} grades on average"
    if gap.known:
        said += f" ({gap.low:+.3f} to {gap.high:+.3f})"
    if pair.queries < FEW:
        queries = counted(pair.queries, "query is", "queries are")
        return f"{queries} too few to tell which judge is stricter (at least {FEW}): {said}."
    return f"neither is shown to be stricter: {said}."


def _of_all(found: Agreement) -> Iterator[str]:
    """More than two judges."""
    several = int((found.grades.times > 1).sum())
    alphas = [
        f"{name} {each.estimate:.3f}{between(each)}"
        for name, each in found.alphas.items()
        if not math.isnan(each.estimate)
    ]
    many = found.grades.counted(several)
    if alphas:
        yield (
            f"{counted(len(found.judges), 'judge')}, {many} judged by two of them or more: "
            f"Krippendorff's alpha is {listed(alphas)}."
        )
    else:
        yield f"Krippendorff's alpha is undefined: {found.alphas['nominal'].note}."
    known = [pair for pair in found.pairs if not math.isnan(pair.kappa.estimate)]
    if len(known) > 1:
        least = min(known, key=lambda pair: pair.kappa.estimate)
        most = max(known, key=lambda pair: pair.kappa.estimate)
        yield (
            f"of two, {most.first} and {most.second} agree best (kappa "
            f"{most.kappa.estimate:.3f}), {least.first} and {least.second} least "
            f"({least.kappa.estimate:.3f})."
        )
    for pair in found.pairs:
        if pair.stricter is not None:
            yield _stricter(pair)


def of_boards(boards: Leaderboards) -> Iterator[str]:
    """What judges do to runs."""
    for measure in boards.measures:
        rows = [row for row in boards.verdicts if row.measure == measure]
        changed = [row for row in rows if row.changes]
        pairs = counted(len(rows), "pair of runs", "pairs of runs")
        if rows and not changed:
            yield f"{measure}: the same verdict under all judges on {pairs}."
        for row in changed:
            words = [f"{word} under {judge}" for judge, word in row.verdicts.items()]
            pair = f"{row.run} against {row.against}"
            yield f"{measure}: the verdict on {pair} changes: {listed(words)}."
        if len(boards.runs) == 1:
            (run,) = boards.runs
            under = [
                f"{own[run]:.4f} under {judge}" for judge, own in boards.values[measure].items()
            ]
            yield f"{measure} of {run} is {listed(under)}."
        for (one, other), order in boards.orders.get(measure, {}).items():
            tau = f"undefined ({order.note})" if math.isnan(order.tau) else f"{order.tau:.3f}"
            yield f"{measure}: Kendall's tau of the orders under {one} and {other} is {tau}."
        for swap in boards.swaps:
            if swap.measure == measure:
                yield (
                    f"{measure}: the largest swap is {swap.run} and {swap.against}: {swap.run} is "
                    f"better by {swap.lead:.4f} under {swap.first}, and worse by {swap.loss:.4f} "
                    f"under {swap.second}."
                )
    if len(boards.runs) == 2:
        yield "there is no tau of the orders: it takes three runs."


def lacking(found: Agreement) -> Iterator[str]:
    """Why numbers, or their intervals, are not there; of two judges kappa is spoken of already."""
    if len(found.pairs) > 1:
        for pair in found.pairs:
            if pair.items and math.isnan(pair.kappa.estimate):
                yield f"kappa is undefined: {pair.kappa.note}."
        return
    pair = found.pairs[0]
    if math.isnan(pair.overlap.estimate):
        yield f"the overlap of the relevant is undefined: {pair.overlap.note}."
    why: dict[str, list[str]] = {}
    for label, each in zip(pair.labels(), pair.numbers().values(), strict=True):
        if each.note and not math.isnan(each.estimate) and pair.queries > 1:
            why.setdefault(each.note, []).append(label)
    for note, labels in why.items():
        some = "anything" if len(labels) == len(pair.labels()) else listed(labels)
        yield f"there is no interval of {some}: {note}."


def details(found: Agreement) -> Iterator[str]:
    """What was done, and what numbers mean."""
    settings = found.settings
    yield (
        f"{settings.level * 100:g} % intervals: {settings.resamples:,} resamples of the queries "
        f"(percentile bootstrap, seed {settings.seed})."
    )
    yield from (f"{text}." for text in DEFINITIONS)
    yield from (note for note in found.notes if not isinstance(note, Warned))
    if found.boards is not None:
        boards = found.boards
        yield (
            "values under a judge are by that judge's own judgements, on the "
            f"{counted(boards.queries, 'query', 'queries')} that all judged."
        )


def judged_alone(grades: Grades) -> Iterator[str]:
    """How many items were judged by one alone."""
    for at, name in enumerate(grades.judges):
        alone = int((grades.there[:, at] & (grades.times == 1)).sum())
        if alone:
            whole = int(grades.there[:, at].sum())
            yield f"{alone:,} of the {grades.counted(whole)} of {name}"


def _scales(pair: JudgePair) -> str:
    """A warning where two judges hardly have the same scale."""
    if not pair.items:
        return ""
    scale, counts = pair.table.grades, np.array(pair.table.counts)
    ours, theirs = ([scale[at] for at in np.flatnonzero(counts.sum(axis=by))] for by in (1, 0))
    said = f"{pair.first} gave {_grades(ours)}, and {pair.second} {_grades(theirs)}"
    if set(ours).isdisjoint(theirs):
        return f"{said}: they have no grade in common. Is one of them a run, or on another scale?"
    short, long = sorted((len(ours), len(theirs)))
    if short == 2 < long and pair.items >= LIKELY:
        return f"{said}: if one of the scales is shorter, map the other to it first."
    return ""


def _grades(given: list[float]) -> str:
    names = [f"{grade:g}" for grade in given]
    word = "the grade" if len(names) == 1 else "the grades"
    return f"{word} {listed(names) if len(names) < 8 else f'from {names[0]} to {names[-1]}'}"


def warned(found: Agreement) -> Iterator[str]:
    """What could mislead whoever overlooks it."""
    apart = [f"{pair.first} and {pair.second}" for pair in found.pairs if not pair.items]
    if apart:
        yield f"nothing was judged by both: {', '.join(apart)}."
    shared = [pair for pair in found.pairs if pair.items and pair.queries < FEW]
    if one := [f"{pair.first} and {pair.second}" for pair in shared if pair.queries < 2]:
        yield (
            "one query alone has items that both judged, so there is no interval: "
            f"{', '.join(one)}."
        )
    if several := [
        f"{pair.first} and {pair.second} ({pair.queries})" for pair in shared if pair.queries > 1
    ]:
        yield (
            f"fewer than {FEW} queries have items that both judged, so intervals are too narrow, "
            f"and say little: {', '.join(several)}."
        )
    yield from filter(None, map(_scales, found.pairs))
    grades, rel = found.grades, found.settings.rel
    lowest = np.where(grades.there, grades.values, np.inf).min(axis=0)
    if names := [name for name, least in zip(grades.judges, lowest, strict=True) if least >= rel]:
        yield (
            f"{listed(names)} found everything relevant. If a file lists relevant items alone, "
            "what is not in it was found not relevant, and numbers of what both judged say little."
        )
    if found.boards is not None:
        alone = float((found.grades.times == 1).mean())
        if alone > MANY_APART:
            yield (
                f"{percent(alone, 0)} % of what was judged was judged by one alone: values of runs "
                "under each judge differ by that too."
            )
        if other := {
            label: least for label, least in found.boards.least_grades.items() if least != rel
        }:
            said = [f"{least:g} to {label}" for label, least in other.items()]
            yield (
                f"relevant is from grade {rel:g} on, and from grade {listed(said)}: a measure has "
                f"a rel of its own, as in P(rel={rel:g})@10."
            )
        yield from found.boards.notes
