"""Embeddings in parts: `judged embeddings --part` counts one, `--parts` puts all together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from judged.cli._files import Reads
from judged.cli._options import Function, said

if TYPE_CHECKING:
    from judged.embeddings.embeddings import Embeddings
    from judged.embeddings.top_k import TopK
    from judged.evaluation.evaluation import Evaluation


class Part(click.ParamType):  # type: ignore[type-arg]
    """One of several parts, as 3/16."""

    name = "part"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, int]:
        if isinstance(value, tuple):
            return value
        found = re.fullmatch(r"(\d{1,7})/(\d{1,7})", value, re.ASCII)
        part, parts = map(int, found.groups()) if found else (0, 0)
        if not 1 <= part <= parts:
            self.fail(f"{value!r} is no part; the third of sixteen is 3/16.", param, ctx)
        return part, parts


def _matching(pattern: str) -> Iterable[str]:
    from glob import glob

    return sorted(glob(pattern)) or [pattern]


def part_options(function: Function) -> Function:
    """--part and --parts."""
    one = click.option(
        "--part",
        type=Part(),
        metavar="N/OF",
        help="Only count part N of so many parts of the items, and write the counts to -o, a .npz "
        "file; parts may be counted on different machines.",
    )
    all_of_them = click.option(
        "--parts",
        type=Reads(_matching),
        metavar="FILES",
        help="Put together what was counted with --part: all files of a pattern, as 'part-*.npz'.",
    )
    return one(all_of_them(function))


_NEVER = ("both", "index", "diagnose", "normalise", "unique", "device")
_NOT_WITH_ALL = ("top",)
_NOT_WITH_ONE = (
    *("measures", "convention", "ties", "missing", "empty", "unjudged", "tie_range", "interval"),
    *("level", "groups", "weights", "unanswerable", "answer_threshold", "per_query", "form"),
    *("save_run", "name", "report"),
)
"""What is said of numbers has no meaning before all parts are there."""


def check_parts(part: tuple[int, int] | None, output: str | None) -> None:
    """Refuse what has no meaning with one part, or with all of them."""
    from judged.outputs import checked_ending

    if part is not None and said("parts"):
        raise click.UsageError("--part counts one part, --parts puts all together; leave one out.")
    options = {str(each.name): each.opts[0] for each in click.get_current_context().command.params}
    here = "--parts" if part is None else "--part"
    for name in (*_NEVER, *(_NOT_WITH_ALL if part is None else _NOT_WITH_ONE)):
        if said(name):
            raise click.UsageError(f"{options[name]} has no meaning with {here}; leave it out.")
    if part is not None:
        if output is None:
            raise click.UsageError("--part writes counts; say where by -o, as -o part-1.npz.")
        checked_ending(output, [".npz"])


def count_part(
    embeddings: Embeddings, relevance: Any, part: tuple[int, int], top: int | None, output: str
) -> None:
    """Count one part of the items, and write it."""
    from judged.cli._terminal import counting
    from judged.embeddings.relations import as_relation
    from judged.embeddings.shards.parts import Parts, save_part

    relation = as_relation(relevance, what="relevance")
    with counting("Counting", len(embeddings.queries)) as progress:
        counts = Parts(embeddings, relation, k=top).count(*part, progress=progress)
    save_part(counts, output, *part)


def put_together(
    embeddings: Embeddings,
    relevance: Any,
    parts: str,
    asked: dict[str, Any],
    more: dict[str, Any],
) -> tuple[Evaluation, TopK | None]:
    """What all parts add up to, and the first items of each query where these were kept."""
    from judged.embeddings.relations import as_relation
    from judged.embeddings.scoring import request_of
    from judged.embeddings.search import NAME
    from judged.embeddings.shards.parts import put_together, read_parts

    counts = read_parts(list(_matching(parts)))
    for name in ("save_run", "unanswerable"):
        if counts.k is None and said(name):
            raise click.UsageError(
                f"--{name.replace('_', '-')} needs the first items of each query, and the parts "
                "were counted without them; give --top with --part."
            )
    ready = put_together(embeddings, as_relation(relevance, what="relevance"), counts)
    name = more.pop("name", NAME)
    policy = request_of(**asked).policy
    evaluation = ready.rankings(counts, policy=policy, name=name).evaluate(**asked, **more)
    return evaluation, None if counts.k is None else ready.top_k(counts)
