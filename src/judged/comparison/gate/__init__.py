"""The quality gate: may this run take the place of the one before?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from judged.errors import InputError
from judged.inputs.blocks import MEMORY, Room
from judged.options import checked
from judged.policy import add_choices

if TYPE_CHECKING:
    from judged.comparison.gate.result import Gate
    from judged.options import (
        CategoriesLike,
        CollectionLike,
        ColumnsLike,
        ConventionLike,
        Duplicates,
        Engine,
        FileFormat,
        ItemToLike,
        JudgementsLike,
        MeasuresLike,
        Memory,
        Path,
        PolicyLike,
        Progress,
        RunLike,
        RunsLike,
        WeightsLike,
    )

__all__ = ["gate"]


@checked
def gate(
    judgements: JudgementsLike,
    run: RunsLike | None = None,
    measures: MeasuresLike | None = None,
    *,
    baseline: Path | RunLike | None = None,
    rule: str = "loss",
    max_drop: Mapping[str, float] | float | None = None,
    minimum: Mapping[str, float] | float | None = None,
    golden: Any = None,
    changed: str = "error",
    update_baseline: bool = False,
    force: bool = False,
    level: float = 0.95,
    groups: Any = None,
    policy: PolicyLike | None = None,
    depth: int | None = None,
    duplicates: Duplicates = "error",
    collection: CollectionLike | None = None,
    unique: CategoriesLike | None = None,
    item_to: ItemToLike | None = None,
    exclude_same_id: bool = False,
    convention: ConventionLike | None = None,
    weights: WeightsLike | None = None,
    trusted: JudgementsLike | None = None,
    columns: ColumnsLike | None = None,
    judgements_format: FileFormat | None = None,
    run_format: FileFormat | None = None,
    engine: Engine | None = None,
    memory: Memory = MEMORY,
    temporary: Path | None = None,
    progress: Progress | None = None,
) -> Gate:
    """Decide whether a run may take the place of a baseline, by a rule that says what it can see.

    Parameters
    ----------
    judgements : JudgementsLike
        A file, a dict {query: {item: grade}}, or a table.
    run : RunsLike, optional
        A run; several, as {name: run}, a list of files or `repeats`, are repeats of the same
        system, and each query counts with their mean. None where `judgements` are rows that
        hold relevant and retrieved ids.
    measures : MeasuresLike, optional
        Such as "nDCG@10", or a list; by default those of the baseline file, with a run as baseline
        AP, nDCG@10, RR, P@10 and R@100, and without one those that `minimum` names.
    baseline : path or run, optional
        A file that a gate wrote, known by its content, or a run in any form that `evaluate` takes,
        which is scored again with today's judgements. Without one, only `minimum` and `golden`
        queries with minima are checked.
    rule : {"loss", "safe", "point"}, optional
        "loss" fails where a loss is shown and the drop is larger than the allowed one; "safe" fails
        unless the drop is shown to be smaller than the allowed one; "point" looks at the
        difference alone, which is no statistics.
    max_drop : float or dict, optional
        By how much a value may be worse, for all measures or {measure: drop}; 0 by default.
    minimum : float or dict, optional
        What the value itself has to reach, {measure: value}; where lower is better, the most that
        it may be. Under "safe" the bound of its interval has to reach it.
    golden : file, dict or list, optional
        Queries each of which has to reach its value in the baseline, or the minimum that is given
        with it: {query: minimum}, {query: {measure: minimum}}, a list of queries, or a file with
        lines of a query, a measure and a minimum, the last two optional.
    changed : {"error", "drop"}, optional
        Where judgements are not those of the baseline file: refuse, or leave the queries out.
    update_baseline : bool, optional
        Write the baseline file if the gate passes, or if there is none.
    force : bool, optional
        Write it all the same, be it that the gate fails or that the file is not comparable.
    level : float, optional
        A loss is shown where its one-sided p, corrected, is below 1 - level.
    groups : dict, table or file, optional
        The group of each query, where queries of a group are not independent.
    policy, depth, duplicates, collection, unique, item_to, exclude_same_id, convention, weights, \
trusted, columns, judgements_format, run_format, engine, memory, \
temporary, progress
        As for `evaluate`; with `trusted`, the rule goes by the corrected difference, and the
        baseline is a run.

    Returns
    -------
    Gate
        Its `passed` and `decided` are both False where nothing fails, and so few queries could not
        have shown anything.

    >>> judgements = {str(q): {"a": 1} for q in range(8)}
    >>> good = {str(q): ["a", "b"] for q in range(8)}
    >>> bad = {str(q): ["b", "a"] if q < 7 else ["b", "c", "a"] for q in range(8)}
    >>> print(gate(judgements, bad, "RR", baseline=good).says())
    failed: RR (regression).
    >>> gate(judgements, good, "RR", baseline=good).passed
    True
    """
    from judged.comparison.gate import decision
    from judged.comparison.gate.baseline import given as given_baseline
    from judged.comparison.gate.decision import Asked
    from judged.evaluation.trusted import refuse_beside
    from judged.inputs.data import Data
    from judged.inputs.repeated import Repeats

    asked = Asked.of(
        rule=rule,
        max_drop=max_drop,
        minimum=minimum,
        golden=golden,
        changed=changed,
        update_baseline=update_baseline,
        force=force,
        level=level,
    )
    refuse_beside(
        trusted,
        groups=groups is not None,
        golden=golden is not None,
        update_baseline=update_baseline,
    )
    given = given_baseline(baseline)
    if trusted is not None and given.run is None and not given.absent:
        raise InputError(
            f"{given.source}: a baseline file keeps the values by one set of judgements, so "
            "trusted (--trusted) takes a run as the baseline."
        )
    decision.refuse_early(given, asked)
    if measures is None and given.file is not None:
        measures = [str(own["label"]) for own in given.file.conditions.measures.values()]
    if measures is None and given.absent and isinstance(minimum, Mapping):
        measures = [*minimum]
    from judged.evaluation.settings import EvaluationSettings

    if isinstance(run, Repeats):
        run = {f"repeat {at}": each for at, each in enumerate(run.runs, 1)}
    data = Data.of(
        judgements,
        run,
        columns=columns,
        judgements_format=judgements_format,
        run_format=run_format,
        engine=engine,
    )
    data = replace(data, room=Room.of(memory, temporary))
    refuse_beside(trusted, repeats=len(data.given_runs) > 1 or isinstance(given.run, Repeats))
    scored = decision.scores(
        data,
        given,
        EvaluationSettings.of(
            measures,
            add_choices(policy, depth=depth, duplicates=duplicates),
            convention,
            prepares=True,
        ),
        level=level,
        trusted=trusted,
        weights=weights,
        collection=collection,
        progress=progress,
        item_to=item_to,
        unique=unique,
        exclude_same_id=exclude_same_id,
    )
    return decision.settled(*decision.decide(scored, given, asked, policy, groups), given, asked)
