"""Options of commands that read vectors of queries and items: relevance, exclusion, similarity."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from judged.cli import _options as opt
from judged.cli._files import READS

if TYPE_CHECKING:
    from judged.embeddings.embeddings import Embeddings
    from judged.inputs.vectors.vectors import Vectors

PAIR = (READS, READS)
RELEVANCE: dict[str, tuple[Any, str]] = {
    "qrels": (READS, "Read relevance from judgements, by the ids or row numbers of the vectors."),
    "labels": (PAIR, "Call items with the query's label relevant; one label per vector."),
    "shared-labels": (PAIR, "Call items relevant that share a label; lists, or a 0/1 table."),
    "pairs": (None, "Call the item in the query's own row relevant."),
    "revisited": (READS, "Read the JSON of the revisited Oxford and Paris benchmarks."),
}
"""Ways to define relevance: option, type, help."""


def _relevance_option(name: str, kind: Any, help: str) -> Any:
    if kind is None:
        return opt.flag(f"--{name}", help)
    metavar = "QFILE IFILE" if kind is PAIR else "FILE"
    return click.option(f"--{name}", type=kind, metavar=metavar, help=help)


relevance_options = opt.together(
    *(_relevance_option(name, kind, help) for name, (kind, help) in RELEVANCE.items()),
    click.option(
        "--protocol",
        type=click.Choice(["easy", "medium", "hard"]),
        default="medium",
        show_default=True,
        help="Search for these images of --revisited.",
    ),
    opt.text("--columns", "ROLE=COLUMN,...", "Name the columns of --qrels and --exclude-listed."),
)
memory_option = click.option(
    "--memory", default="1GB", show_default=True, metavar="SIZE", help="Limit memory for scores."
)
vector_options = opt.together(
    opt.number("--dims", int, "N", "Use only the first N dimensions (Matryoshka)."),
    opt.file("--query-ids", "Read ids of the queries, one per line."),
    opt.file("--item-ids", "Read ids of the items, one per line."),
    opt.flag("--exclude-self", "Exclude the item in the query's own row."),
    opt.flag("--exclude-same-id", "Exclude the item with the query's own id."),
    click.option(
        "--exclude-labels",
        type=PAIR,
        metavar="QFILE IFILE",
        help="Exclude items with the query's label; one label per vector.",
    ),
    opt.file(
        "--exclude-listed", "Exclude the items listed for a query, in any format of judgements."
    ),
)


def similarity_option(function: opt.Function) -> opt.Function:
    """Add --similarity and --allow-training-queries; the function gets `similarity`."""

    def gather(*args: Any, **options: Any) -> Any:
        if options.pop("allow_training_queries"):
            options["similarity"] = _allow_training_queries(options["similarity"])
        return function(*args, **options)

    return opt.together(
        click.option(
            "--similarity",
            type=READS,
            default="cosine",
            show_default=True,
            metavar="NAME|FILE",
            help="Compare by cosine, dot, euclidean, manhattan, hamming, hamming-packed, or a "
            "learned file.",
        ),
        opt.flag(
            "--allow-training-queries",
            "Score queries that a learned similarity was trained on, too.",
        ),
    )(opt.pass_for(function, gather))


def _allow_training_queries(similarity: str) -> Any:
    from judged.embeddings.learned import Learned, as_similarity

    learned = as_similarity(similarity)
    if not isinstance(learned, Learned):
        raise click.UsageError(
            f"--allow-training-queries is for a similarity that 'judged learn' wrote; {similarity} "
            "is another. Leave it out."
        )
    return learned.allow_training_queries()


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
    from judged.inputs.vectors.labels import categories_from

    relevant = _chosen_relevance(options, optional=optional)
    if options["columns"] and not (options["qrels"] or options["exclude_listed"]):
        raise click.UsageError(
            "--columns says what columns of --qrels and --exclude-listed are; give one of them."
        )
    with working("Reading judgements" if encode else "Reading vectors"):
        relevance, excluded = _relations(relevant, options)
        ids = _labels(options["query_ids"]), _labels(options["item_ids"])
    made: Any = encode() if encode else (queries, items)
    unique = options.get("unique")
    with working("Reading vectors"):
        return Embeddings(
            *made,
            exclude=excluded or None,
            query_ids=ids[0],
            item_ids=ids[1],
            unique=None if unique is None else categories_from(unique),
            **{
                name: options[name]
                for name in ("similarity", "dims", "memory", "normalise", "precision")
                if name in options
            },
        ), relevance


def _chosen_relevance(options: dict[str, Any], *, optional: bool) -> str | None:
    chosen = [name for name in RELEVANCE if options[name.replace("-", "_")]]
    if len(chosen) > 1 or not (chosen or optional):
        known = ", ".join(f"--{name}" for name in RELEVANCE)
        got = f"; got {' and '.join(f'--{name}' for name in chosen)}" if chosen else ""
        raise click.UsageError(f"say what is relevant by one of {known}{got}.")
    return chosen[0] if chosen else None


def _relations(relevant: str | None, options: dict[str, Any]) -> tuple[Any, list[Any]]:
    """Return what is relevant, and what is excluded."""
    from judged.embeddings import relevance as relations
    from judged.inputs import read_judgements
    from judged.inputs.vectors.labels import labels_lists_from, revisited_from

    columns = options["columns"]
    excluded: list[Any] = []
    if options["exclude_self"]:
        excluded.append(relations.same_row())
    if options["exclude_same_id"]:
        excluded.append(relations.same_id())
    if options["exclude_labels"]:
        excluded.append(relations.same_label(*map(_labels, options["exclude_labels"])))
    if options["exclude_listed"]:
        listed = read_judgements(options["exclude_listed"], columns=columns)
        excluded.append(relations.listed(listed))
    match relevant:
        case "qrels":
            return read_judgements(options["qrels"], columns=columns), excluded
        case "labels":
            return relations.same_label(*map(_labels, options["labels"])), excluded
        case "shared-labels":
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
