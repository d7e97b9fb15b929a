"""Options of commands that read vectors of queries and items: what is relevant, what is excluded,
how they are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from judged.cli._files import READS
from judged.cli._options import Function
from judged.policy import POSITIVES, PRECISIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from judged.embeddings.embeddings import Embeddings
    from judged.inputs.vectors.vectors import Vectors

PAIR = (READS, READS)
RELEVANCE: dict[str, tuple[Any, str]] = {
    "qrels": (
        READS,
        "Judgements, in any format that 'judged evaluate' reads; ids are those of the vectors, or "
        "row numbers.",
    ),
    "labels": (
        PAIR,
        "One label per vector, for queries and for items: relevant is the same label, as with "
        "several captions of one clip. Tables with an id column are joined by id.",
    ),
    "shared-labels": (
        PAIR,
        "Several labels per vector, lists or a table of 0 and 1: relevant is a label in common.",
    ),
    "pairs": (None, "Relevant is the item in the query's own row."),
    "revisited": (
        READS,
        "JSON of the revisited Oxford and Paris benchmarks: for each query the item rows easy, "
        "hard and junk.",
    ),
}
"""The ways to say what is relevant: option, what it takes, help."""


def relevance_options(function: Function) -> Function:
    """--qrels, --labels and the other ways to say what is relevant, --columns and --protocol."""
    function = click.option(
        "--columns",
        metavar="ROLE=COLUMN,...",
        help="What columns of --qrels and --exclude-listed are, where their names do not tell: "
        "query=caption,item=image.",
    )(function)
    function = click.option(
        "--protocol",
        type=click.Choice(["easy", "medium", "hard"]),
        default="medium",
        show_default=True,
        help="Which images --revisited asks for.",
    )(function)
    for name, (takes, words) in reversed(RELEVANCE.items()):
        if takes is None:
            option = click.option(f"--{name}", is_flag=True, help=words)
        elif takes is PAIR:
            option = click.option(f"--{name}", type=PAIR, metavar="QFILE IFILE", help=words)
        else:
            option = click.option(f"--{name}", type=takes, metavar="FILE", help=words)
        function = option(function)
    return function


def similarity_option(function: Function) -> Function:
    """--similarity and --allow-training-queries, which come as one: `similarity`, a name or the
    similarity itself."""

    def gather(*args: Any, **given: Any) -> Any:
        if given.pop("allow_training_queries"):
            given["similarity"] = _allowing(given["similarity"])
        return function(*args, **given)

    gather.__name__, gather.__doc__ = function.__name__, function.__doc__
    gather.__click_params__ = getattr(function, "__click_params__", [])  # type: ignore[attr-defined]
    named = click.option(
        "--similarity",
        type=READS,
        default="cosine",
        show_default=True,
        metavar="NAME|FILE",
        help="cosine, dot, euclidean, manhattan, hamming or hamming-packed; or a file: one that "
        "'judged learn' "
        "wrote, or the matrix W of a similarity q W x.",
    )
    allowing = click.option(
        "--allow-training-queries",
        is_flag=True,
        help="Score queries that a learned similarity saw in training too; without it they are "
        "refused.",
    )
    return named(allowing(gather))  # type: ignore[return-value]


def _allowing(given: str) -> Any:
    from judged.embeddings.similarity.choice import as_similarity
    from judged.embeddings.similarity.learned import Learned

    found = as_similarity(given)
    if not isinstance(found, Learned):
        raise click.UsageError(
            f"--allow-training-queries is for a similarity that 'judged learn' wrote; {given} is "
            "another. Leave it out."
        )
    return found.allow_training_queries()


positives_option = click.option(
    "--positives",
    type=click.Choice(list(POSITIVES)),
    default="each",
    show_default=True,
    help="How several positives of a query make one loss. "
    + "; ".join(f"{name}: {says}" for name, says in POSITIVES.items())
    + ".",
)
memory_option = click.option(
    "--memory",
    default="1GB",
    show_default=True,
    metavar="SIZE",
    help="How much memory the scores may take.",
)


precision_option = click.option(
    "--precision",
    type=click.Choice(PRECISIONS),
    default=PRECISIONS[0],
    show_default=True,
    help="Of the scores that ranks are by: double, the same on every machine; or single, somewhat "
    "faster.",
)


def vector_options(function: Function) -> Function:
    """--dims and ids, and what is excluded: --exclude-self, --exclude-same-id, --exclude-labels and
    --exclude-listed."""
    for option in reversed(
        (
            click.option(
                "--dims",
                type=int,
                metavar="N",
                help="Only the first N dimensions of the vectors (Matryoshka).",
            ),
            click.option(
                "--query-ids",
                type=READS,
                metavar="FILE",
                help="Ids of the queries, one per line, where their file has none.",
            ),
            click.option(
                "--item-ids",
                type=READS,
                metavar="FILE",
                help="Ids of the items, one per line, where their file has none.",
            ),
            click.option(
                "--exclude-self",
                is_flag=True,
                help="Leave the item in the query's own row out of its ranking.",
            ),
            click.option(
                "--exclude-same-id",
                is_flag=True,
                help="Leave the item with the query's own id out of its ranking.",
            ),
            click.option(
                "--exclude-labels",
                type=PAIR,
                metavar="QFILE IFILE",
                help="Leave items of the query's own label out of its ranking, as pictures of one "
                "burst; one label per vector.",
            ),
            click.option(
                "--exclude-listed",
                type=READS,
                metavar="FILE",
                help="Items to leave out of a query's ranking, in any format of judgements.",
            ),
        )
    ):
        function = option(function)
    return function


def sides(function: Function, *, required: bool = True) -> Function:
    """QUERIES and ITEMS, and the options that say what is relevant."""
    shown = "{}" if required else "[{}]"
    queries, items = (
        click.argument(name.lower(), metavar=shown.format(name), type=READS, required=required)
        for name in ("QUERIES", "ITEMS")
    )
    return queries(items(relevance_options(function)))


def read_sides(
    queries: str | None,
    items: str | None,
    given: dict[str, Any],
    *,
    optional: bool = False,
    encode: Callable[[], tuple[Vectors, Vectors]] | None = None,
) -> tuple[Embeddings, Any]:
    """Both files with what the options say of them, and what is relevant; with `optional` that may
    be left open. Where there are no files of vectors, `encode` makes them."""
    from judged.cli._terminal import working
    from judged.embeddings.embeddings import Embeddings

    relevant = _chosen(given, optional=optional)
    if given["columns"] and not (given["qrels"] or given["exclude_listed"]):
        raise click.UsageError(
            "--columns says what columns of --qrels and --exclude-listed are; give one of them."
        )
    with working("Reading judgements" if encode else "Reading vectors"):
        relevance, excluded = _relations(relevant, given)
        ids = _labels(given["query_ids"]), _labels(given["item_ids"])
    made: Any = encode() if encode else (queries, items)
    with working("Reading vectors"):
        return Embeddings(
            *made,
            exclude=excluded or None,
            query_ids=ids[0],
            item_ids=ids[1],
            unique=_categories(given.get("unique")),
            **{
                name: given[name]
                for name in ("similarity", "dims", "memory", "normalise", "precision")
                if name in given
            },
        ), relevance


def _chosen(given: dict[str, Any], *, optional: bool) -> str | None:
    """The one option that says what is relevant."""
    chosen = [name for name in RELEVANCE if given[name.replace("-", "_")]]
    if len(chosen) > 1 or not (chosen or optional):
        known = ", ".join(f"--{name}" for name in RELEVANCE)
        got = f"; got {' and '.join(f'--{name}' for name in chosen)}" if chosen else ""
        raise click.UsageError(f"say what is relevant by one of {known}{got}.")
    return chosen[0] if chosen else None


def _relations(relevant: str | None, given: dict[str, Any]) -> tuple[Any, list[Any]]:
    """What is relevant, and what is to be excluded."""
    from judged.embeddings import relevance as say
    from judged.inputs.vectors.labels import labels_lists_from, revisited_from

    excluded: list[Any] = []
    if given["exclude_self"]:
        excluded.append(say.same_row())
    if given["exclude_same_id"]:
        excluded.append(say.same_id())
    if given["exclude_labels"]:
        excluded.append(say.same_label(*map(_labels, given["exclude_labels"])))
    if given["exclude_listed"]:
        excluded.append(say.listed(_judgements(given["exclude_listed"], given["columns"])))
    match relevant:
        case "qrels":
            return _judgements(given["qrels"], given["columns"]), excluded
        case "labels":
            return say.same_label(*map(_labels, given["labels"])), excluded
        case "shared-labels":
            return say.shared_label(*map(labels_lists_from, given["shared_labels"])), excluded
        case "pairs":
            return say.pairs(), excluded
        case "revisited":
            lists = revisited_from(given["revisited"])
            asked, passed = say.revisited(lists, given["protocol"])
            return asked, [*excluded, passed]
    return None, excluded


def _judgements(path: str, columns: str | None) -> Any:
    from judged.inputs import read_judgements

    return read_judgements(path, columns=columns)


def _labels(path: str | None) -> Any:
    from judged.inputs.vectors.labels import labels_from

    return None if path is None else labels_from(path)


def _categories(path: str | None) -> Any:
    from judged.inputs.vectors.labels import categories_from

    return None if path is None else categories_from(path)
