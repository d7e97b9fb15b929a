"""From judgements and runs to an evaluation: they are read, matched and scored."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from judged.errors import EngineError, InputError, JudgedError, quoted
from judged.evaluation.evaluation import Evaluation, evaluate_rankings
from judged.evaluation.settings import EvaluationSettings
from judged.evaluation.warnings import announce_warnings
from judged.inputs.blocks import Room, RunBlocks
from judged.inputs.data import Data
from judged.inputs.formats import is_rankings_file
from judged.limits import limits
from judged.matching.documents import with_items
from judged.matching.matcher import match_with
from judged.matching.pool import refuse_both
from judged.options import (
    CategoriesLike,
    CollectionLike,
    ItemToLike,
    JudgementsLike,
    MeasuresLike,
    Progress,
    RunsLike,
    Scoring,
    WeightsLike,
    formats_of,
    takes_scoring,
)
from judged.rankings.rankings import Rankings
from judged.text import counted

if TYPE_CHECKING:
    from judged.inputs.data import Reading
    from judged.inputs.tables import Judgements, Lookup, Run


@takes_scoring
def evaluate(
    judgements: JudgementsLike,
    run: RunsLike | None = None,
    measures: MeasuresLike | None = None,
    **scoring: Unpack[Scoring],
) -> Evaluation:
    """Evaluate one run, or several, with judgements.

    Parameters
    ----------
    judgements : JudgementsLike
        A file, a dict {query: {item: grade}}, or a table.
    run : RunsLike, optional
        A file, a dict {query: {item: score}} or {query: [items, best first]}, or a table; several
        runs as {name: run} or as a list of files. None if `judgements` are rows that hold relevant
        and retrieved ids.
    measures : MeasuresLike, optional
        Such as "nDCG@10", or a list; by default AP, nDCG@10, RR, P@10 and R@100.
    **scoring

    >>> judgements = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}
    >>> run = {"q1": {"a": 0.9, "b": 0.8}, "q2": {"b": 0.7, "c": 0.1}}
    >>> evaluation = evaluate(judgements, run, ["RR", "P@1"])
    >>> evaluation["RR"], evaluation["P@1"]
    ({'run': 0.75}, {'run': 0.5})
    >>> evaluate(judgements, run, "hit_rate@1, mrr", convention="ranx")["mrr"]
    {'run': 0.75}
    """
    options: dict[str, Any] = dict(scoring)
    given: Any = judgements
    several = run is None and isinstance(given, (list, tuple)) and len(given) > 0
    if several and all(map(is_rankings_file, given)):
        return announce_warnings(_evaluate_files(given[0], list(given[1:]), measures, options))
    if is_rankings_file(judgements):
        return announce_warnings(_evaluate_files(judgements, run, measures, options))
    settings = EvaluationSettings.of(
        measures, options.pop("policy", None), options.pop("convention", None), prepares=True
    )
    files = options.pop("format", None)
    judgements_format, run_format = (None, None) if files is None else formats_of(files)
    limited = limits()
    sources = Data.of(
        judgements,
        run,
        columns=options.pop("columns", None),
        judgements_format=judgements_format,
        run_format=run_format,
        engine=None,
        room=Room(limited.memory, limited.temporary),
        small=all(
            options.get(name) is None or options[name] is False
            for name in ("item_to", "unique", "trusted", "exclude_same_id")
        ),
    )
    matched = match_runs(sources, settings, **options)
    evaluation = evaluate_rankings(
        matched.rankings,
        settings,
        weights=options.get("weights"),
        sources=matched.data,
        skipped=matched.skipped,
    )
    if matched.trusted:
        from judged.evaluation.trusted import correct_by_trusted

        evaluation = correct_by_trusted(evaluation, options["trusted"], matched.trusted)
    return announce_warnings(evaluation)


def _evaluate_files(
    first: Any, others: Any, measures: MeasuresLike | None, options: dict[str, Any]
) -> Evaluation:
    """Evaluate rankings files, which stand for judgements and runs."""
    from judged.rankings.file import read_several

    if others is None:
        others = []
    paths = [first, *([others] if isinstance(others, (str, os.PathLike)) else others)]
    strange = next((path for path in paths if not is_rankings_file(path)), None)
    if strange is not None:
        raise InputError(
            f"{quoted(strange)} is not a rankings file, and {first} is; a rankings file stands for "
            "judgements and a run. Give rankings files alone, or judgements and runs."
        )
    rankings = read_several(paths)
    policy, convention = options.pop("policy", None), options.pop("convention", None)
    weights, progress = options.pop("weights", None), options.pop("progress", None)
    options.pop("skip_bad", None)
    for name, value in options.items():
        if value is not None and value is not False:
            raise InputError(
                f"{name} is about judgements and runs, and rankings files hold only ranks; leave "
                "it out, or give the judgements and runs."
            )
    settings = EvaluationSettings.of_rankings(rankings, measures, policy, convention)
    evaluation = evaluate_rankings(rankings, settings, weights=weights)
    if progress is not None:
        for r in rankings:
            progress(len(r))
    return evaluation


def evaluation_of(
    judgements: Any,
    run: RunsLike | None = None,
    measures: MeasuresLike | None = None,
    **scoring: Unpack[Scoring],
) -> Evaluation:
    """Return an evaluation from an `Evaluation`, from `Rankings`, or from judgements and runs."""
    if not isinstance(judgements, (Evaluation, Rankings)):
        return evaluate(judgements, run, measures, **scoring)
    if run is not None:
        raise InputError(
            "an evaluation has its runs already; leave run out, or give judgements and runs."
        )
    if isinstance(judgements, Rankings):
        options: dict[str, Any] = {**scoring}
        return judgements.evaluate(measures, **options)
    if scoring or measures is not None:
        names = ", ".join([*(["measures"] if measures is not None else []), *scoring])
        raise InputError(f"an evaluation has its own settings; leave out {names}.")
    return judgements


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
    """Match every run with the judgements; `keep` keeps the runs, `skip_bad` skips bad ones."""
    policy = settings.policy
    if item_to is not None or unique is not None or exclude_same_id or "document" in data.columns:
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
    if weights is not None:
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
    files = sum(reading.is_file for reading in readings)
    threads = min(limits().jobs or _cores(), files) if files > 1 else 1
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
