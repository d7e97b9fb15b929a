"""Charts from files: what each kind is made from, read for it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from judged.charts.kinds import NEEDS, OF_JSON, Kind
from judged.charts.sources import Systems
from judged.errors import InputError
from judged.inputs import distinct_names, read_judgements, read_run
from judged.inputs.source import open_source
from judged.inputs.tables import Kind as Input
from judged.judging import judging
from judged.policy import Policy

if TYPE_CHECKING:
    from judged.charts.chart import Figure
    from judged.types import CollectionLike, FileFormat, PolicyLike


def chart_of_files(
    kind: Kind,
    files: Sequence[str],
    *,
    policy: PolicyLike | None = None,
    depth: int | None = None,
    collection: CollectionLike | None = None,
    judgements_format: FileFormat | None = None,
    run_format: FileFormat | None = None,
    **options: Any,
) -> Figure:
    """A chart of judgements and runs, or of the JSON of another result; `options` are its own."""
    if kind.needs in OF_JSON:
        read = _json(files[0], kind)
        try:
            return kind.function(read, **options)
        except InputError as error:  # what is plain JSON does not know its file
            raise InputError(f"{files[0]}: {error}") from None
    judgements = read_judgements(files[0], format=judgements_format)
    names = distinct_names(list(files[1:]))
    runs = [
        read_run(path, name=name, format=run_format)
        for name, path in zip(names, files[1:], strict=True)
    ]
    if kind.needs == "results":
        return kind.function(judgements, runs[0], **options)
    if kind.needs == "results of a pair":
        return kind.function(judgements, dict(zip(names, runs, strict=True)), **options)
    judge = judging(judgements, policy=Policy.of(policy), depth=depth, collection=collection)
    return kind.function(Systems.of([judge(run) for run in runs], policy=policy), **options)


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
