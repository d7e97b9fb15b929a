"""Judgements and runs, as they were given, to the rankings that an evaluation is of."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from judged.errors import EngineError, InputError, JudgedError
from judged.inputs.blocks import RunBlocks
from judged.limits import limits
from judged.matching.documents import with_items
from judged.matching.matcher import match_with
from judged.matching.pool import refuse_both
from judged.text import counted

if TYPE_CHECKING:
    from judged.evaluation.settings import EvaluationSettings
    from judged.inputs.data import Data, Reading
    from judged.inputs.tables import Judgements, Lookup, Run
    from judged.options import (
        CategoriesLike,
        CollectionLike,
        ItemToLike,
        JudgementsLike,
        Progress,
        WeightsLike,
    )
    from judged.rankings.rankings import Rankings


@dataclass(frozen=True, eq=False)
class MatchedRuns:
    """Runs matched with their judgements."""

    data: Data
    """What was matched: items as they are ranked."""
    judgements: Judgements | Lookup
    rankings: list[Rankings] = field(default_factory=list)
    tables: list[Run | Lookup] = field(default_factory=list)
    """The runs themselves, if they were to be kept."""
    trusted: list[Rankings] = field(default_factory=list)
    """The same runs matched with the trusted judgements."""
    skipped: dict[str, str] = field(default_factory=dict)
    """Why runs were skipped, by their names."""


def match_runs(
    data: Data,
    settings: EvaluationSettings,
    *,
    collection: CollectionLike | None = None,
    weights: WeightsLike | None = None,
    item_to: ItemToLike | None = None,
    unique: CategoriesLike | None = None,
    exclude_same_id: bool = False,
    trusted: JudgementsLike | None = None,
    skip_bad: bool = False,
    progress: Progress | None = None,
    keep: bool = False,
) -> MatchedRuns:
    """Match every run with the judgements, several runs at once; with `keep` the runs stay in
    memory. Runs that cannot be matched are one error for all of them, or skipped (`skip_bad`)."""
    policy = settings.policy
    data = with_items(
        data,
        item_to=item_to,
        unique=unique,
        exclude_same_id=exclude_same_id,
        duplicates=policy.duplicates,
    )
    if keep:
        data = data.whole()
    judgements = data.judgements()
    refuse_both(judgements, weights)
    matched = MatchedRuns(data, judgements)
    matchers = [match_with(judgements, policy, collection)]
    if trusted is not None:
        matchers.append(_match_with_trusted(data, trusted, settings, collection))

    def match(table: Any) -> tuple[Any, list[Rankings]]:
        table = settings.prepare(table)
        return table if keep else None, [matcher(table) for matcher in matchers]

    failed = []
    # Columns that the user named are looked for in the first run.
    for outcome in _in_order(data.readings(), match, first_alone=bool(data.columns)):
        if outcome.error is not None:
            failed.append(outcome)
            continue
        table, (rankings, *by_trusted) = outcome.made
        matched.rankings.append(rankings)
        matched.trusted.extend(by_trusted)
        if keep:
            matched.tables.append(table)
        if progress is not None:
            progress(len(rankings))
    _raise_errors(failed, len(matched.rankings) + len(failed), skip_bad=skip_bad)
    matched.skipped.update({each.name: str(each.error) for each in failed})
    return matched


@dataclass(frozen=True, eq=False)
class _Outcome:
    """What was made of a run, or why that failed."""

    name: str
    made: Any = None
    error: JudgedError | None = None


def _in_order(
    readings: Sequence[Reading], make: Callable[[Any], Any], *, first_alone: bool
) -> Iterator[_Outcome]:
    """Yield what is made of each run, in the order given; several are read at once in threads.

    A pipe is read when its turn comes, because it may block a thread for ever. A run in blocks is
    worked on when its turn comes, because it uses all cores and its share of memory.
    """
    if first_alone and readings:
        yield _outcome(readings[0].name, lambda: make(readings[0].read()))
        readings = readings[1:]
    threads = min(limits().jobs or _cores(), sum(reading.is_file for reading in readings))
    if threads < 2:
        for reading in readings:
            yield _outcome(reading.name, partial(_read_and_make, reading, make))
        return
    from concurrent.futures import ThreadPoolExecutor

    def begin(reading: Reading) -> Callable[[], Any]:
        table = reading.read()
        if isinstance(table, RunBlocks):
            return lambda: make(table)
        made = make(table)
        return lambda: made

    pool = ThreadPoolExecutor(threads)
    try:
        begun: deque[tuple[str, Callable[[], Callable[[], Any]]]] = deque()
        for reading in readings:
            start = pool.submit(begin, reading).result if reading.is_file else None
            begun.append((reading.name, start or partial(begin, reading)))
        while begun:
            name, rest = begun.popleft()
            yield _outcome(name, partial(_finish, rest))
    finally:
        pool.shutdown(cancel_futures=True)


def _read_and_make(reading: Reading, make: Callable[[Any], Any]) -> Any:
    return make(reading.read())


def _finish(begun: Callable[[], Callable[[], Any]]) -> Any:
    return begun()()


def _outcome(name: str, make: Callable[[], Any]) -> _Outcome:
    try:
        return _Outcome(name, make())
    except EngineError:  # this is not about the run
        raise
    except JudgedError as error:
        return _Outcome(name, error=error)


def _cores() -> int:
    """Return how many cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _raise_errors(failed: Sequence[_Outcome], number: int, *, skip_bad: bool) -> None:
    """Raise one error for all runs that failed; with `skip_bad` only if no run is left."""
    errors = [each.error for each in failed if each.error is not None]
    if not errors or (skip_bad and len(errors) < number):
        return
    alike = len({str(error) for error in errors}) == 1
    if len(errors) == 1 or (alike and len(errors) == number):  # about no run in particular
        raise errors[0]
    reasons = "".join(f"\n{each.name}: {each.error}" for each in failed)
    some = f"{len(errors)} of {counted(number, 'run')}"
    hint = "" if len(errors) == number else "; skip_bad (--skip-bad) leaves them out"
    kinds = {type(error) for error in errors}
    kind = kinds.pop() if len(kinds) == 1 else InputError
    raise kind(f"{some} cannot be evaluated{hint}:{reasons}")


def _match_with_trusted(
    data: Data,
    trusted: JudgementsLike,
    settings: EvaluationSettings,
    collection: CollectionLike | None,
) -> Any:
    """Return what matches a run with the trusted judgements; an error names them."""
    try:
        by_trusted = replace(data, given=trusted, rows=None, judgements_format=None)
        return match_with(by_trusted.judgements(), settings.policy, collection)
    except InputError as error:
        raise InputError(f"trusted: {error}") from None
