"""From judgements and runs to an evaluation: they are read, matched and scored."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from judged.configuration import config
from judged.errors import EngineError, InputError, JudgedError, quoted
from judged.evaluation.evaluation import Evaluation, evaluate_rankings
from judged.evaluation.scores import score_run
from judged.evaluation.settings import EvaluationSettings
from judged.evaluation.warnings import announce_warnings
from judged.inputs import read_judgements, read_run
from judged.inputs.blocks import Room, RunBlocks
from judged.inputs.data import NO_RELEVANT, Data, refuse_arrays, typed_lists
from judged.inputs.formats import is_rankings_file
from judged.matching.checks import judgements_of_others, run_of_others
from judged.matching.join import names_of
from judged.matching.matcher import Feed, match_with
from judged.matching.pool import refuse_both
from judged.options import (
    CategoriesLike,
    CollectionLike,
    ItemToLike,
    JudgementsLike,
    MeasuresLike,
    Progress,
    RunLike,
    RunsLike,
    Scoring,
    WeightsLike,
    formats_of,
    takes_scoring,
)
from judged.policy import Policy
from judged.rankings.rankings import Rankings
from judged.text import counted

if TYPE_CHECKING:
    from judged.inputs.data import Reading
    from judged.inputs.tables import AnyRun, Judgements, Lookup, Run


CHANGES_OF_ITEMS = frozenset({"item_to", "unique", "trusted", "exclude_same_id"})
"""Options that need the tables of polars, which small files are read without."""


@takes_scoring
def evaluate(
    judgements: JudgementsLike,
    run: RunsLike | None = None,
    measures: MeasuresLike | None = None,
    *,
    relevant: int | Sequence[int] | None = None,
    **scoring: Unpack[Scoring],
) -> Evaluation:
    """Evaluate one run, or several, with judgements.

    Parameters
    ----------
    judgements : JudgementsLike, or relevance lists
        A file, a dict {query: {item: grade}}, or a table. Without a run: rows that hold relevant
        and retrieved ids, a table with labels and scores, or grades in rank order, as a text
        ("0 1 0 0 1"), a list, or a list of these, one for each query.
    run : RunsLike, optional
        A file, a dict {query: {item: score}} or {query: [items, best first]}, or a table; several
        runs as {name: run} or as a list of files.
    measures : MeasuresLike, optional
        Such as "nDCG@10", or a list; by default AP, nDCG@10, RR, P@10 and R@100.
    relevant : int or sequence of int, optional
        For relevance lists: the number of relevant items of each query.
    **scoring

    >>> judgements = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}
    >>> run = {"q1": {"a": 0.9, "b": 0.8}, "q2": {"b": 0.7, "c": 0.1}}
    >>> evaluation = evaluate(judgements, run, ["RR", "P@1"])
    >>> evaluation["RR"], evaluation["P@1"]
    ({'run': 0.75}, {'run': 0.5})
    >>> evaluate(judgements, run, "hit_rate@1, mrr", convention="ranx")["mrr"]
    {'run': 0.75}
    >>> evaluate(["0 1 0 1", "1"], measures="AP").value()
    0.75
    """
    return announce_warnings(_evaluate(judgements, run, measures, relevant, scoring))


def _evaluate(
    judgements: Any,
    run: RunsLike | None,
    measures: MeasuresLike | None,
    relevant: int | Sequence[int] | None,
    options: Scoring,
) -> Evaluation:
    """Evaluate runs, relevance lists or rankings files, under options that were checked."""
    refuse_arrays(judgements, run)
    lists = typed_lists(judgements, run)
    if lists is not None:
        from judged.rankings.relevance import NO_DEPTH, rankings_of_lists  # loads json

        if Policy.of(options.get("policy")).depth is not None:
            raise InputError(NO_DEPTH)
        collection: Any = options.pop("collection", None)
        rankings = rankings_of_lists(lists, relevant, collection=collection)
        return _evaluate_ready([rankings], measures, options, "relevance lists")
    if relevant is not None:
        raise InputError(NO_RELEVANT)
    several = run is None and isinstance(judgements, (list, tuple)) and len(judgements) > 0
    if several and all(map(is_rankings_file, judgements)):
        return _evaluate_files(judgements[0], list(judgements[1:]), measures, options)
    if is_rankings_file(judgements):
        return _evaluate_files(judgements, run, measures, options)
    return evaluate_and_match(judgements, run, measures, **options)[0]


def evaluate_and_match(
    judgements: Any, runs: Any, measures: MeasuresLike | None, *, keep: bool = False, **options: Any
) -> tuple[Evaluation, MatchedRuns]:
    """Evaluate runs, and return what they were made from; `keep` keeps the runs themselves."""
    settings = EvaluationSettings.of(
        measures, options.pop("policy", None), options.pop("convention", None), prepares=True
    )
    files = options.pop("format", None)
    judgements_format, run_format = (None, None) if files is None else formats_of(files)
    data = Data.of(
        judgements,
        runs,
        columns=options.pop("columns", None),
        judgements_format=judgements_format,
        run_format=run_format,
        engine=None,
        room=Room(config.current.memory, config.current.temporary),
        small=not keep and options.keys().isdisjoint(CHANGES_OF_ITEMS),
    )
    matched = match_runs(data, settings, keep=keep, **options)
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
    return evaluation, matched


@takes_scoring
def evaluate_scores(
    y_true: Any,
    y_score: Any,
    measures: MeasuresLike | None = None,
    *,
    query: Any = None,
    **scoring: Unpack[Scoring],
) -> Evaluation:
    """Evaluate labels and scores, as scikit-learn and torchmetrics take them.

    Parameters
    ----------
    y_true : array-like
        The label of each result: numbers or booleans. With two dimensions, a row for each query.
    y_score : array-like
        The score of each result, in the shape of `y_true`. Results are ranked by it.
    measures : MeasuresLike, optional
        Such as "nDCG@10", or a list; by default AP, nDCG@10, RR, P@10 and R@100.
    query : array-like, optional
        The query of each label, or of each row. Without it, one dimension is one query.
    **scoring
        As for `judged.evaluate`, except columns and format.

    >>> evaluate_scores([1, 0, 1], [0.9, 0.8, 0.7], "P@2").value()
    0.5
    >>> evaluate_scores([1, 0, 1], [0.9, 0.8, 0.7], "RR", query=["a", "b", "b"]).value()
    0.75
    """
    from judged.inputs.rows import labelled_arrays

    judgements, run = labelled_arrays(y_true, y_score, query)
    return evaluate(judgements, run, measures, **scoring)


def _evaluate_files(
    first: Any, others: Any, measures: MeasuresLike | None, options: Scoring
) -> Evaluation:
    from judged.rankings.file import read_several

    if others is None:
        others = []
    paths = [first, *([others] if isinstance(others, (str, os.PathLike)) else others)]
    strange = next((path for path in paths if not is_rankings_file(path)), None)
    if strange is not None:
        raise InputError(
            f"{quoted(strange)} is not a rankings file, and {first} is; a rankings file replaces "
            "judgements and a run. Give rankings files alone, or judgements and runs."
        )
    return _evaluate_ready(read_several(paths), measures, options, "rankings files")


def _evaluate_ready(
    rankings: Sequence[Rankings],
    measures: MeasuresLike | None,
    options: Scoring,
    what: str,
) -> Evaluation:
    """Evaluate rankings that were made before; `what` they come from has no ids."""
    policy, convention = options.pop("policy", None), options.pop("convention", None)
    weights, progress = options.pop("weights", None), options.pop("progress", None)
    options.pop("skip_bad", None)
    for name, value in options.items():
        if value is not None and value is not False:
            raise InputError(
                f"{name} is about judgements and runs, and {what} hold only ranks; leave "
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
    """Return an evaluation from an `Evaluation`, from `Rankings`, or from judgements and runs.

    The options of `scoring` were checked by the caller's `takes_scoring`.
    """
    if not isinstance(judgements, (Evaluation, Rankings)):
        return announce_warnings(_evaluate(judgements, run, measures, None, scoring))
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


@dataclass(eq=False, repr=False)
class MatchedRuns:
    """Runs matched with their judgements."""

    data: Data
    """The data after changes to items."""
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
        from judged.matching.documents import with_items

        data = with_items(
            data,
            item_to=item_to,
            unique=unique,
            exclude_same_id=exclude_same_id,
            duplicates=policy.duplicates,
        )
    if keep:
        data = data.whole()
    judgements, readings = data.judgements(), data.readings()
    if weights is not None:
        refuse_both(judgements, weights)
    matched = MatchedRuns(data, judgements)
    matchers = [match_with(judgements, policy, collection)]
    if trusted is not None:
        matchers.append(_match_with_trusted(data, trusted, settings, collection))

    def match(table: Any) -> tuple[Any, list[Rankings]]:
        table = settings.prepare(table)
        return table if keep else None, [matcher(table) for matcher in matchers]

    failed: dict[str, JudgedError] = {}
    # Columns that the user named are looked for in the first run.
    for name, begin in _begin_in_order(readings, match, first_alone=bool(data.columns)):
        try:
            table, (rankings, *by_trusted) = begin()()
        except EngineError:  # this is not about the run
            raise
        except JudgedError as error:
            failed[name] = error
            continue
        matched.rankings.append(rankings)
        matched.trusted.extend(by_trusted)
        if keep:
            matched.tables.append(table)
        if progress is not None:
            progress(len(rankings))
    _raise_errors(failed, len(readings), skip_bad=skip_bad)
    matched.skipped.update({name: str(error) for name, error in failed.items()})
    return matched


def _begin_in_order(
    readings: Sequence[Reading], make: Callable[[Any], Any], *, first_alone: bool
) -> Iterator[tuple[str, Callable[[], Callable[[], Any]]]]:
    """Yield functions that read each run and return how to finish it; threads read several."""
    # A pipe is read when its turn comes, because it may block a thread forever. A run in blocks is
    # worked on when its turn comes, because it uses all cores and its share of memory.

    def begin(reading: Reading) -> Callable[[], Any]:
        table = reading.read()
        if isinstance(table, RunBlocks):
            return lambda: make(table)
        made = make(table)
        return lambda: made

    if first_alone and readings:
        yield readings[0].name, partial(begin, readings[0])
        readings = readings[1:]
    files = sum(reading.is_file for reading in readings)
    threads = min(config.current.jobs or _cores(), files) if files > 1 else 1
    if threads < 2:
        for reading in readings:
            yield reading.name, partial(begin, reading)
        return
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(threads)
    try:
        begun = [
            pool.submit(begin, reading).result if reading.is_file else partial(begin, reading)
            for reading in readings
        ]
        for reading in readings:
            yield reading.name, begun.pop(0)  # not to hold what was made of earlier runs
    finally:
        pool.shutdown(cancel_futures=True)


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _raise_errors(failed: Mapping[str, JudgedError], number: int, *, skip_bad: bool) -> None:
    """Raise one error for all runs that failed; with `skip_bad` only if no run is left."""
    if not failed or (skip_bad and len(failed) < number):
        return
    errors = list(failed.values())
    alike = len({str(error) for error in errors}) == 1
    if len(errors) == 1 or (alike and len(errors) == number):  # about no run in particular
        raise errors[0]
    reasons = "".join(f"\n{name}: {error}" for name, error in failed.items())
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


BLOCKS_PER_PILE = 200


class Evaluator:
    """One run, evaluated while its lists are made: batches of whole queries are added.

    Numbers are those of `judged.evaluate` on the whole run, to the last bit, whatever the batches
    and their order.

    Parameters
    ----------
    judgements : JudgementsLike
        A file, a dict {query: {item: grade}}, or a table.
    measures : MeasuresLike, optional
        Such as "nDCG@10", or a list; by default AP, nDCG@10, RR, P@10 and R@100.
    name : str, optional
        The name of the run in results.
    **scoring
        As for `judged.evaluate`, except item_to, unique, trusted, skip_bad and progress.

    >>> evaluator = Evaluator({"q1": {"a": 1}, "q2": {"b": 1}}, ["RR", "P@1"])
    >>> evaluator.add({"q1": {"a": 0.9, "c": 0.1}})
    >>> evaluator.add({"q2": ["c", "b"]})
    >>> evaluator.evaluation().to_dict()["runs"][0]["scores"]
    {'RR': 0.75, 'P@1': 0.5}
    """

    @takes_scoring
    def __init__(
        self,
        judgements: JudgementsLike,
        measures: MeasuresLike | None = None,
        *,
        name: str = "run",
        **scoring: Unpack[Scoring],
    ) -> None:
        for option in ("item_to", "unique", "trusted", "skip_bad", "progress"):
            if scoring.get(option) is not None and scoring.get(option) is not False:
                raise InputError(f"Evaluator does not support {option}; use judged.evaluate.")
        self._settings = EvaluationSettings.of(
            measures, scoring.get("policy"), scoring.get("convention"), prepares=True
        )
        self._columns, self._weights = scoring.get("columns"), scoring.get("weights")
        self._exclude = bool(scoring.get("exclude_same_id"))
        known = read_judgements(
            judgements, columns=self._columns, format=formats_of(scoring.get("format"))[0]
        )
        refuse_both(known, self._weights)
        if self._exclude:
            known = judgements_of_others(known)
        self._matcher = match_with(known, self._settings.policy, scoring.get("collection"))
        self._feed = Feed(self._matcher, name, name)
        self._names: set[str] = set()
        self._piles: list[list[Rankings]] = [[]]

    def add(self, batch: RunLike) -> None:
        """Add the lists of more queries.

        Parameters
        ----------
        batch : RunLike
            What `judged.evaluate` takes as a run, with all results of each query. A query that was
            added before is an error, and then nothing of the batch is added.

        >>> evaluator = Evaluator({"q1": {"a": 1}}, "RR")
        >>> evaluator.add({"q1": ["b", "a"]})
        >>> evaluator.add({"q1": ["a"]})
        Traceback (most recent call last):
        judged.errors.InputError: query 'q1' was added before; give all results of a query at once.
        """
        feed = self._feed
        run: AnyRun = read_run(batch, name=feed.name, columns=self._columns)
        if self._exclude:
            run = run_of_others(run, whole=False)
        run = self._settings.prepare(run)
        names = names_of(run)
        again = next((name for name in names if name in self._names), None)
        if again is not None:
            raise InputError(
                f"query {again!r} was added before; give all results of a query at once."
            )
        before: dict[str, Any] = feed.state()
        try:
            block = feed.add(run)
            if block is not None:  # an error of a measure must not come at the end
                score_run(block, self._settings)
        except BaseException:  # also an interrupt: a later evaluation must not lack the batch
            feed.restore(before)
            raise
        if block is not None:
            self._keep(block)
        self._names.update(names)

    def evaluation(self) -> Evaluation:
        """Return the evaluation of what was added so far; more can be added afterwards.

        Returns
        -------
        Evaluation
            Judged queries that no batch held are missing queries.

        >>> evaluator = Evaluator({"q1": {"a": 1}}, "RR")
        >>> evaluator.add({"q1": ["b", "a"]})
        >>> evaluator.evaluation().value()
        0.5
        """
        if not self._names:
            raise InputError("nothing was added yet; give the lists of some queries to add first.")
        blocks = [block for pile in reversed(self._piles) for block in pile]
        blocks.append(self._feed.end())
        rankings = Rankings.concat(blocks, self._matcher.queries)
        return announce_warnings(
            evaluate_rankings([rankings], self._settings, weights=self._weights)
        )

    def _keep(self, block: Rankings) -> None:
        """Join blocks by the hundred, so that many small ones take no more memory than few."""
        for pile in self._piles:
            pile.append(block)
            if len(pile) < BLOCKS_PER_PILE:
                return
            block = Rankings.concat(pile)
            pile.clear()
        self._piles.append([block])
