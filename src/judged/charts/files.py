"""Charts from files: what each kind is made from, read for it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judged.charts.kinds import COMPARING, NEEDS, OF_JSON, OF_RANKINGS, Kind
from judged.charts.sources import DEFAULT, Systems
from judged.comparison import compare
from judged.errors import InputError
from judged.evaluation import evaluate
from judged.inputs.blocks import MEMORY, Room, RunBlocks
from judged.inputs.data import Data
from judged.inputs.formats import is_rankings_file
from judged.inputs.repeated import apart
from judged.inputs.source import open_source
from judged.inputs.tables import Kind as Input
from judged.limits import config
from judged.matching import match_with
from judged.matching.documents import with_items
from judged.policy import Policy, add_choices
from judged.text import counted

if TYPE_CHECKING:
    from judged.charts.chart import Figure
    from judged.comparison.comparison import Comparison
    from judged.evaluation.evaluation import Evaluation
    from judged.options import (
        CollectionLike,
        ColumnsLike,
        FileFormat,
        ItemToLike,
        Memory,
        Path,
        PolicyLike,
    )


def chart_of_files(
    kind: Kind,
    files: Sequence[str],
    *,
    policy: PolicyLike | None = None,
    depth: int | None = None,
    collection: CollectionLike | None = None,
    item_to: ItemToLike | None = None,
    exclude_same_id: bool = False,
    columns: ColumnsLike | None = None,
    judgements_format: FileFormat | None = None,
    run_format: FileFormat | None = None,
    memory: Memory = MEMORY,
    temporary: Path | None = None,
    made_by: Mapping[str, Any] | None = None,
    **options: Any,
) -> Figure:
    """A chart of judgements and runs, or of the JSON of another result; `options` are its own, and
    `made_by` those of what it needs."""
    if kind.needs in OF_JSON:
        read = _json(files[0], kind)
        try:
            return kind.function(read, **options)
        except InputError as error:  # what is plain JSON does not know its file
            raise InputError(f"{files[0]}: {error}") from None
    scoring: dict[str, Any] = {
        "policy": add_choices(policy, depth=depth),
        "collection": collection,
        "item_to": item_to,
        "exclude_same_id": exclude_same_id,
        "columns": columns,
    }
    if judgements_format or run_format:
        scoring["format"] = {"judgements": judgements_format, "run": run_format}
    if NEEDS[kind.needs].made_by:
        with config(memory=memory, temporary=temporary):
            source = _compared(kind, files, options, dict(made_by or {}), scoring)
        return kind.function(source, **options)
    if kind.needs in OF_RANKINGS and is_rankings_file(files[0]):
        evaluation = evaluate(files[0], files[1:] or None, DEFAULT, **scoring)
        _check_runs(kind, len(evaluation.runs))
        return kind.function(Systems.of(evaluation), **options)
    data = with_items(
        Data.of(
            files[0],
            files[1:] or None,
            columns=columns,
            judgements_format=judgements_format,
            run_format=run_format,
            room=Room.of(memory, temporary),
        ),
        item_to=item_to,
        exclude_same_id=exclude_same_id,
    )
    judgements, runs = data.judgements(), _runs(data, kind, options.get("query"))
    _check_runs(kind, len(runs))
    if kind.needs == "results":
        return kind.function(judgements, runs[0], **options)
    if kind.needs == "results of a pair":
        return kind.function(judgements, {run.name: run for run in runs}, **options)
    judge = match_with(judgements, Policy.of(add_choices(policy, depth=depth)), collection)
    return kind.function(Systems.of([judge(run) for run in runs], policy=policy), **options)


def _check_runs(kind: Kind, runs: int) -> None:
    needs = NEEDS[kind.needs]
    fewest, most = needs.files
    if runs < fewest - 1 or (most is not None and runs > most - 1):
        raise InputError(f"{kind.name} needs {needs.says}; got {counted(runs, 'run')}.")


def _runs(data: Data, kind: Kind, query: str | None) -> list[Any]:
    """The runs, in blocks where only their ranks are needed. Of large ones, the results of a query
    that is named are read without the rest."""
    if not kind.needs.startswith("results"):
        return list(data.runs())
    if query is not None:
        found = [run.only(query) if isinstance(run, RunBlocks) else run for run in data.runs()]
        if None not in found:
            return found
    return list(data.whole().runs())


def _compared(
    kind: Kind,
    files: Sequence[str],
    options: Mapping[str, Any],
    made_by: dict[str, Any],
    scoring: Mapping[str, Any],
) -> Comparison | Evaluation:
    """A comparison of the runs in files; of one run alone, where that will do, an evaluation."""
    measures = made_by.pop("measures", None)
    if kind.needs == "pair":
        measures = options.get("measure", DEFAULT)
    runs = list(files[1:]) or None
    if is_rankings_file(files[0]):
        alone = runs is None
    else:
        alone = len(files) <= 2 and len(apart(runs)[0] or [0]) == 1
    if kind.needs == "values" and alone and not {*made_by} & {*COMPARING} - {"level", "groups"}:
        return evaluate(files[0], runs, measures, **scoring).showing(intervals=True, **made_by)
    return compare(files[0], runs, measures, **made_by, **scoring)


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
