"""Options of commands that read vectors of queries and items: what is relevant, what is excluded,
how they are compared."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from judged.cli._options import FILE, Function
from judged.policy import POSITIVES

if TYPE_CHECKING:
    from judged.embeddings.embeddings import Embeddings

PAIR = (str, str)
RELEVANCE: dict[str, tuple[Any, str]] = {
    "qrels": (
        FILE,
        "Judgements, in any format that 'judged evaluate' reads; ids are those of the vectors, or "
        "row numbers.",
    ),
    "labels": (PAIR, "One label a vector, for queries and for items: relevant is the same label."),
    "shared-labels": (PAIR, "Several labels a vector: relevant is a label in common."),
    "groups": (
        PAIR,
        "One group a vector: relevant is the same group, as with several captions for each clip.",
    ),
    "diagonal": (None, "Relevant is the item in the query's own row: pairs."),
    "revisited": (
        FILE,
        "JSON of the revisited Oxford and Paris benchmarks: for each query the item rows easy, "
        "hard and junk.",
    ),
}
"""The ways to say what is relevant: option, what it takes, help."""


def relevance_options(function: Function) -> Function:
    """--qrels, --labels and the other ways to say what is relevant, and --protocol."""
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
        default="cosine",
        show_default=True,
        metavar="NAME|FILE",
        help="cosine, dot, euclidean, manhattan or hamming; or a file: one that 'judged learn' "
        "wrote, or the matrix W of a "
        "similarity q W x.",
    )
    allowing = click.option(
        "--allow-training-queries",
        is_flag=True,
        help=(
            "Score queries that a learned similarity saw in training too; without it they are "
            "refused."
        ),
    )
    return named(allowing(gather))  # type: ignore[return-value]


def _allowing(given: str) -> Any:
    from judged.similarity.choice import as_similarity
    from judged.similarity.learned import Learned

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


def vector_options(function: Function) -> Function:
    """--dims and ids, and what is excluded: --exclude-self, --exclude-same-id, --exclude-groups and
    --junk."""
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
                type=FILE,
                metavar="FILE",
                help="Ids of the queries, one a line, where their file has none.",
            ),
            click.option(
                "--item-ids",
                type=FILE,
                metavar="FILE",
                help="Ids of the items, one a line, where their file has none.",
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
                "--exclude-groups",
                type=PAIR,
                metavar="QFILE IFILE",
                help=(
                    "Leave items of the query's own group out of its ranking, as pictures of "
                    "one burst."
                ),
            ),
            click.option(
                "--junk",
                type=FILE,
                metavar="FILE",
                help="Items to leave out of a query's ranking, in any format of judgements.",
            ),
        )
    ):
        function = option(function)
    return function


def sides(function: Function) -> Function:
    """QUERIES and ITEMS, and the options that say what is relevant."""
    items = click.argument("items", metavar="ITEMS")
    return click.argument("queries", metavar="QUERIES")(items(relevance_options(function)))


def read_sides(queries: str, items: str, given: dict[str, Any]) -> tuple[Embeddings, Any]:
    """Both files with what the options say of them, and what is relevant."""
    from judged.cli._terminal import working
    from judged.embeddings.embeddings import Embeddings

    with working("Reading vectors"):
        relevance, excluded = relations(given)
        return Embeddings(
            queries,
            items,
            similarity=given.get("similarity", "cosine"),
            exclude=excluded or None,
            **read_options(given),
        ), relevance


def read_options(given: dict[str, Any]) -> dict[str, Any]:
    """What --dims, --query-ids, --item-ids and --memory say, by the names that the library has for
    it."""
    return {
        "query_ids": labels(given["query_ids"]),
        "item_ids": labels(given["item_ids"]),
        "dims": given["dims"],
        "memory": given["memory"],
    }


def relations(given: dict[str, Any], *, optional: bool = False) -> tuple[Any, list[Any]]:
    """What is relevant, and what is to be excluded, from the options."""
    from judged.embeddings.relevance import (
        listed,
        pairs,
        revisited,
        same_id,
        same_label,
        same_row,
        shared_label,
    )
    from judged.inputs.vectors.labels import labels_lists_from, revisited_from

    chosen = [name for name in RELEVANCE if given[name.replace("-", "_")]]
    if len(chosen) > 1 or not (chosen or optional):
        known = ", ".join(f"--{name}" for name in RELEVANCE)
        got = f"; got {' and '.join(f'--{name}' for name in chosen)}" if chosen else ""
        raise click.UsageError(f"say what is relevant by one of {known}{got}.")
    excluded: list[Any] = []
    if given["exclude_self"]:
        excluded.append(same_row())
    if given["exclude_same_id"]:
        excluded.append(same_id())
    if given["exclude_groups"]:
        excluded.append(same_label(*map(labels, given["exclude_groups"])))
    if given["junk"]:
        excluded.append(listed(given["junk"]))
    relevance: Any = None
    match chosen:
        case ["qrels"]:
            relevance = given["qrels"]
        case ["labels"]:
            relevance = same_label(*map(labels, given["labels"]))
        case ["shared-labels"]:
            relevance = shared_label(*map(labels_lists_from, given["shared_labels"]))
        case ["groups"]:
            relevance = same_label(*map(labels, given["groups"]))
        case ["diagonal"]:
            relevance = pairs()
        case ["revisited"]:
            relevance, passed = revisited(revisited_from(given["revisited"]), given["protocol"])
            excluded.append(passed)
    return relevance, excluded


def labels(path: str | None) -> Any:
    from judged.inputs.vectors.labels import labels_from

    return None if path is None else labels_from(path)


def check_targets(
    targets: Iterable[str | None], queries: str, items: str, given: dict[str, Any]
) -> None:
    """Refuse files to write to that cannot be written, or that this command reads, before any work
    is done."""
    from judged.outputs import check_target

    named = (
        each
        for value in given.values()
        for each in (value if isinstance(value, tuple) else (value,))
    )
    read = [each.partition("::")[0] for each in (queries, items, *named) if isinstance(each, str)]
    for target in targets:
        if target is not None:
            check_target(target, reads=read)
