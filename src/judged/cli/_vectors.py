"""Options of commands that read vectors of queries and items: relevance, exclusion, similarity."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click

from judged.cli import _options as opt
from judged.cli._command import READS

if TYPE_CHECKING:
    from judged.embeddings.embeddings import Embeddings
    from judged.inputs.vectors.vectors import Vectors

PAIR = (READS, READS)
RELEVANCE = ("qrels", "labels", "shared_labels", "pairs", "revisited")
"""Options that define relevance."""
_common: dict[str, Any] = {"group": "relevance", "common": True}
relevance_options = opt.together(
    opt.file(
        "--qrels",
        "Read relevance from judgements, by the ids or row numbers of the vectors.",
        **_common,
    ),
    opt.text(
        "--labels",
        "QFILE IFILE",
        "Call items with the query's label relevant; one label per vector.",
        type=PAIR,
        **_common,
    ),
    opt.text(
        "--shared-labels",
        "QFILE IFILE",
        "Call items relevant that share a label; lists, or a 0/1 table.",
        type=PAIR,
        group="relevance",
    ),
    opt.flag("--pairs", "Call the item in the query's own row relevant.", **_common),
)
revisited_options = opt.together(
    opt.file(
        *("--revisited", "Read the JSON of the revisited Oxford and Paris benchmarks."),
        group="relevance",
    ),
    opt.choice(
        "--protocol",
        ("easy", "medium", "hard"),
        "Search for these images of --revisited.",
        "medium",
        group="relevance",
    ),
)
exclude_self_option = opt.flag(
    "--exclude-self", "Exclude the item in the query's own row.", group="relevance"
)
similarity_option = opt.option(
    "--similarity",
    type=READS,
    default="cosine",
    show_default=True,
    metavar="NAME|FILE",
    help="Compare by cosine, dot, euclidean, manhattan, hamming, hamming-packed, or a learned "
    "file.",
    group="vectors",
    common=True,
)


def sides(function: opt.Function, *, required: bool = True) -> opt.Function:
    """Add the arguments QUERIES and ITEMS and the options of relevance."""
    shown = "{}" if required else "[{}]"
    queries, items = (
        click.argument(name.lower(), metavar=shown.format(name), type=READS, required=required)
        for name in ("QUERIES", "ITEMS")
    )
    return queries(items(relevance_options(function)))


def read_sides(
    queries: str | None,
    items: str | None,
    options: dict[str, Any],
    *,
    optional: bool = False,
    encode: Callable[[], tuple[Vectors, Vectors]] | None = None,
) -> tuple[Embeddings, Any]:
    """Return the embeddings of both files, and what is relevant, which may be `optional`.

    Without files of vectors, `encode` makes them.
    """
    from judged.cli._terminal import working
    from judged.embeddings.embeddings import Embeddings

    with working("Reading judgements" if encode else "Reading vectors"):
        relevance, compared = read_relevance(options, [(queries, items)], optional=optional)
    made: Any = encode() if encode else (queries, items)
    with working("Reading vectors"):
        return Embeddings(*made, **compared), relevance


def read_relevance(
    options: dict[str, Any],
    files: Iterable[tuple[str | None, str | None]],
    *,
    optional: bool = False,
) -> tuple[Any, dict[str, Any]]:
    """Return what is relevant, and the other options of `Embeddings`.

    As in `Embeddings`, queries that are the items do not find themselves by their labels.
    """
    from judged.embeddings.relevance import same_row
    from judged.inputs.vectors.labels import categories_from

    relevant = _chosen_relevance(options, optional=optional)
    if options.get("columns") and not (options["qrels"] or options["exclude_listed"]):
        raise click.UsageError(
            "--columns says what columns of --qrels and --exclude-listed are; give one of them."
        )
    relevance, excluded = _relations(relevant, options)
    if relevant == "labels" and all(queries and queries == items for queries, items in files):
        excluded = excluded or [same_row()]
    unique = options.get("unique")
    return relevance, {
        "exclude": excluded or None,
        "query_ids": _labels(options.get("query_ids")),
        "item_ids": _labels(options.get("item_ids")),
        "unique": None if unique is None else categories_from(unique),
        **{name: options[name] for name in ("similarity", "dims", "normalise") if name in options},
    }


def _chosen_relevance(options: dict[str, Any], *, optional: bool) -> str | None:
    flags = {name: f"--{name.replace('_', '-')}" for name in RELEVANCE if name in options}
    chosen = [name for name in flags if options[name]]
    if len(chosen) > 1 or not (chosen or optional):
        got = f"; got {' and '.join(flags[name] for name in chosen)}" if chosen else ""
        raise click.UsageError(f"say what is relevant by one of {', '.join(flags.values())}{got}.")
    return chosen[0] if chosen else None


def _relations(relevant: str | None, options: dict[str, Any]) -> tuple[Any, list[Any]]:
    """Return what is relevant, and what is excluded."""
    from judged.embeddings import relevance as relations
    from judged.inputs import read_judgements
    from judged.inputs.vectors.labels import labels_lists_from, revisited_from

    excluded: list[Any] = []
    if options["exclude_self"]:
        excluded.append(relations.same_row())
    if options.get("exclude_same_id"):
        excluded.append(relations.same_id())
    if options.get("exclude_labels"):
        excluded.append(relations.same_label(*map(_labels, options["exclude_labels"])))
    if options.get("exclude_listed"):
        listed = read_judgements(options["exclude_listed"], columns=options["columns"])
        excluded.append(relations.listed(listed))
    match relevant:
        case "qrels":
            return read_judgements(options["qrels"], columns=options.get("columns")), excluded
        case "labels":
            return relations.same_label(*map(_labels, options["labels"])), excluded
        case "shared_labels":
            lists = map(labels_lists_from, options["shared_labels"])
            return relations.shared_label(*lists), excluded
        case "pairs":
            return relations.pairs(), excluded
        case "revisited":
            truth = revisited_from(options["revisited"])
            positive, junk = relations.revisited(truth, options["protocol"])
            return positive, [*excluded, junk]
    return None, excluded


def _labels(path: str | None) -> Any:
    from judged.inputs.vectors.labels import labels_from

    return None if path is None else labels_from(path)
