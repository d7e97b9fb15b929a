"""Options of `judged embeddings` that make vectors first: the encoder, what it encodes, and where
vectors are kept."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from judged.cli._files import READS
from judged.cli._modules import imported
from judged.cli._options import Function, said

if TYPE_CHECKING:
    from judged.inputs.vectors.vectors import Vectors

ENCODERS = ("encoder", "query_encoder", "item_encoder")
OPTIONS = {
    "encoder": click.option(
        "--encoder",
        metavar="MODULE:NAME",
        help="Encode --queries and --items by this first: a function from a list of texts or paths "
        "to an array, or an object with .encode, .embed_documents or .get_text_embedding_batch, in "
        "a module that can be imported from the current folder. What it prints goes to standard "
        "error.",
    ),
    "query_encoder": click.option(
        "--query-encoder", metavar="MODULE:NAME", help="The encoder of the queries, of two towers."
    ),
    "item_encoder": click.option(
        "--item-encoder", metavar="MODULE:NAME", help="The encoder of the items, of two towers."
    ),
    "query_texts": click.option(
        "--queries",
        "query_texts",
        metavar="FILE",
        type=READS,
        help="What is encoded: a file with an id and a text in each row (CSV, TSV, NDJSON, JSON or "
        "Parquet), or a folder of files, as of pictures.",
    ),
    "item_texts": click.option(
        "--items", "item_texts", metavar="FILE", type=READS, help="The same for the items."
    ),
    "paths": click.option(
        "--paths",
        type=click.Choice(["queries", "items", "both"]),
        help="Which side's texts are the paths of files.",
    ),
    "query_prompt": click.option(
        "--query-prompt", metavar="TEXT", help="Put this before the text of each query."
    ),
    "item_prompt": click.option(
        "--item-prompt", metavar="TEXT", help="Put this before the text of each item."
    ),
    "batch_size": click.option(
        "--batch-size",
        type=int,
        default=64,
        show_default=True,
        metavar="N",
        help="How many are given to the encoder at once.",
    ),
    "cache": click.option(
        "--cache",
        metavar="FOLDER",
        help="Keep vectors in this folder, and read those that are there.",
    ),
    "encoder_name": click.option(
        "--encoder-name",
        metavar="TEXT",
        help="Keep vectors under this name; by default that of the model or function.",
    ),
}
"""By the name of each parameter, in the order of the help."""


def encoder_options(function: Function) -> Function:
    """--encoder and all that goes with it."""
    for option in reversed(OPTIONS.values()):
        function = option(function)
    return function


@dataclass(frozen=True)
class Encoding:
    """What is to be encoded, by what, and how."""

    queries: str
    items: str
    options: dict[str, Any]

    @classmethod
    def asked(
        cls, queries: str | None, items: str | None, given: dict[str, Any]
    ) -> Encoding | None:
        """What the options say, which are taken out of `given`; None where vectors are given."""
        options = {name: given.pop(name) for name in OPTIONS}
        if all(options[name] is None for name in ENCODERS):
            _check_vectors(queries, items)
            return None
        if queries is not None:
            raise click.UsageError(
                "QUERIES and ITEMS are files of vectors; with an encoder, give --queries FILE and "
                "--items FILE."
            )
        texts = options.pop("query_texts"), options.pop("item_texts")
        for name, each in zip(("--queries", "--items"), texts, strict=True):
            if each is None:
                raise click.UsageError(f"an encoder needs something to encode; give {name} FILE.")
        options["prompts"] = options.pop("query_prompt"), options.pop("item_prompt")
        return cls(*texts, options)

    def vectors(self) -> tuple[Vectors, Vectors]:
        """Encode what is not there yet; what the encoder prints goes to standard error."""
        from judged.cli._terminal import counting, working
        from judged.inputs.encode import EncodingTask

        options = dict(self.options)
        both, *towers = (options.pop(name) for name in ENCODERS)
        if (both is None) == (None in towers) or (both and any(towers)):
            raise click.UsageError(
                "give --encoder for queries and items, or both --query-encoder and --item-encoder."
            )
        with redirect_stdout(sys.stderr):
            names = [both, both] if both else towers
            encoders = {
                name: imported(name, "an encoder", "models:encode") for name in dict.fromkeys(names)
            }
            with working("Reading what is to be encoded"):
                pair = tuple(encoders[name] for name in names)
                task = EncodingTask.of(self.queries, self.items, pair, **options)
            with counting("Encoding", task.todo, task.unit) as progress:
                found = task.run(progress)
        _say_kept(task)
        return found


def _check_vectors(queries: str | None, items: str | None) -> None:
    """Refuse a call without vectors and without an encoder."""
    unmeant = [
        option.opts[-1]
        for option in click.get_current_context().command.params
        if option.name in OPTIONS and said(option.name)
    ]
    if unmeant:
        raise click.UsageError(f"{unmeant[0]} has no meaning without --encoder; leave it out.")
    for name, each in {"QUERIES": queries, "ITEMS": items}.items():
        if each is None:
            raise click.UsageError(
                f"Missing argument '{name}': two files of vectors are needed, or --encoder "
                "MODULE:NAME --queries FILE --items FILE."
            )


def _say_kept(task: Any) -> None:
    """Where vectors were kept, as other commands say what they wrote."""
    from judged.cli._terminal import looks, say
    from judged.text import counted

    for folder, number in {} if looks().get("quiet") else task.written.items():
        say(f"kept {counted(number, 'vector')} in {folder}", err=True)
