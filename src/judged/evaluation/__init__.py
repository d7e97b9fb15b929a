"""Values, policy and summaries: from rankings to numbers with their definitions."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

from judged.options import (
    JudgementsLike,
    MeasuresLike,
    RunsLike,
    Scoring,
    formats_of,
    later,
    takes_scoring,
)

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
else:  # loaded by `typing.get_type_hints` only
    Evaluation = later("judged:Evaluation")

__all__ = ["evaluate", "evaluation_of"]


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

    Returns
    -------
    Evaluation

    >>> judgements = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}
    >>> run = {"q1": {"a": 0.9, "b": 0.8}, "q2": {"b": 0.7, "c": 0.1}}
    >>> evaluation = evaluate(judgements, run, ["RR", "P@1"])
    >>> evaluation["RR"], evaluation["P@1"]
    ({'run': 0.75}, {'run': 0.5})
    >>> evaluate(judgements, run, "hit_rate@1, mrr", convention="ranx")["mrr"]
    {'run': 0.75}
    """
    from judged.evaluation.evaluation import evaluate_rankings
    from judged.evaluation.runs import match_runs
    from judged.evaluation.settings import EvaluationSettings
    from judged.evaluation.warnings import announce_warnings
    from judged.inputs.blocks import Room
    from judged.inputs.data import Data
    from judged.inputs.formats import is_rankings_file
    from judged.limits import limits

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
    judgements_format, run_format = formats_of(options.pop("format", None))
    room = Room.of(limits().memory, limits().temporary)
    sources = Data.of(
        judgements,
        run,
        columns=options.pop("columns", None),
        judgements_format=judgements_format,
        run_format=run_format,
        engine=None,
        room=room,
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
    from judged.errors import InputError, quoted
    from judged.evaluation.evaluation import evaluate_rankings
    from judged.evaluation.settings import EvaluationSettings
    from judged.inputs.formats import is_rankings_file
    from judged.rankings.file import read_several

    if others is None:
        others = []
    paths = [first, *([others] if isinstance(others, (str, PathLike)) else others)]
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
    """Return an evaluation from what functions take that work on one: an `Evaluation`, `Rankings`
    or several of them, or judgements and runs as `evaluate` takes them."""
    from judged.errors import InputError
    from judged.evaluation.evaluation import Evaluation
    from judged.rankings.rankings import Rankings

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
