"""Charts from files: what each kind is made from, read for it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judged.charts.kinds import COMPARING, NEEDS, OF_JSON, OF_RANKINGS, Kind
from judged.charts.sources import DEFAULT, Systems
from judged.comparison import compare
from judged.errors import InputError
from judged.evaluation.evaluate import evaluate
from judged.inputs.blocks import Room, RunBlocks
from judged.inputs.data import Data
from judged.inputs.formats import is_rankings_file
from judged.inputs.repeated import apart
from judged.inputs.source import open_source
from judged.inputs.tables import Kind as Input
from judged.limits import limits
from judged.matching.documents import with_items
from judged.matching.matcher import match_with
from judged.options import formats_of
from judged.policy import Policy
from judged.text import counted

if TYPE_CHECKING:
    from judged.charts.chart import Figure
    from judged.comparison.comparison import Comparison
    from judged.evaluation.evaluation import Evaluation


def chart_of_files(
    kind: Kind,
    files: Sequence[str],
    *,
    scoring: Mapping[str, Any],
    made_by: Mapping[str, Any],
    **options: Any,
) -> Figure:
    """Draw a chart of files; `scoring` are options of `evaluate`, `made_by` those of `compare`."""
    if kind.needs in OF_JSON:
        read = _json(files[0], kind)
        try:
            return kind.function(read, **options)
        except InputError as error:  # what is plain JSON does not know its file
            raise InputError(f"{files[0]}: {error}") from None
    if NEEDS[kind.needs].made_by:
        return kind.function(_compared(kind, files, options, scoring, made_by), **options)
    if kind.needs in OF_RANKINGS and is_rankings_file(files[0]):
        evaluation = evaluate(files[0], files[1:] or None, DEFAULT, **scoring)
        _check_runs(kind, len(evaluation.runs))
        return kind.function(Systems.of(evaluation), **options)
    judgements_format, run_format = formats_of(scoring.get("format"))
    data = with_items(
        Data.of(
            files[0],
            files[1:] or None,
            columns=scoring.get("columns"),
            judgements_format=judgements_format,
            run_format=run_format,
            room=Room.of(limits().memory, limits().temporary),
        ),
        item_to=scoring.get("item_to"),
        exclude_same_id=scoring.get("exclude_same_id", False),
    )
    judgements, runs = data.judgements(), _runs(data, kind, options.get("query"))
    _check_runs(kind, len(runs))
    if kind.needs == "results":
        return kind.function(judgements, runs[0], **options)
    if kind.needs == "results of a pair":
        return kind.function(judgements, {run.name: run for run in runs}, **options)
    policy = scoring.get("policy")
    match_run = match_with(judgements, Policy.of(policy), scoring.get("collection"))
    return kind.function(Systems.of([match_run(run) for run in runs], policy=policy), **options)


def _check_runs(kind: Kind, runs: int) -> None:
    needs = NEEDS[kind.needs]
    fewest, most = needs.files
    if runs < fewest - 1 or (most is not None and runs > most - 1):
        raise InputError(f"{kind.name} needs {needs.says}; got {counted(runs, 'run')}.")


def _runs(data: Data, kind: Kind, query: str | None) -> list[Any]:
    """Read runs, in blocks if only ranks are needed, or only the named query of large runs."""
    if not kind.needs.startswith("results"):
        return list(data.runs())
    if query is not None:
        runs = [run.only(query) if isinstance(run, RunBlocks) else run for run in data.runs()]
        if None not in runs:
            return runs
    return list(data.whole().runs())


def _compared(
    kind: Kind,
    files: Sequence[str],
    options: Mapping[str, Any],
    scoring: Mapping[str, Any],
    made_by: Mapping[str, Any],
) -> Comparison | Evaluation:
    settings = dict(made_by)
    measures = settings.pop("measures", None)
    if kind.needs == "pair":
        measures = options.get("measure", DEFAULT)
    runs = list(files[1:]) or None
    if is_rankings_file(files[0]):
        alone = runs is None
    else:
        alone = len(files) <= 2 and len(apart(runs)[0] or [0]) == 1
    if kind.needs == "values" and alone and not {*settings} & {*COMPARING} - {"level", "groups"}:
        return evaluate(files[0], runs, measures, **scoring).showing(intervals=True, **settings)
    return compare(files[0], runs, measures, **settings, **scoring)


def _json(path: str, kind: Kind) -> Any:
    says = NEEDS[kind.needs].says
    source = open_source(path, Input(f"a {kind.needs}", "score", says))
    try:
        return json.loads(source.read())
    except ValueError as error:
        raise InputError(
            f"{source.label}: cannot be read as JSON ({error}); {kind.name} needs {says}."
        ) from None
    except RecursionError:
        raise InputError(f"{source.label}: the JSON is nested too deeply.") from None
