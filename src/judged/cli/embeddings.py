"""`judged embeddings`: evaluate vectors of queries and items."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from judged.cli._files import NORMALISATION, WRITES, command, imported
from judged.cli._options import (
    check_format,
    choice,
    convention_option,
    file,
    flag,
    interval_options,
    is_given,
    measures_option,
    number,
    per_query_option,
    policy_options,
    repeated_command,
    result_options,
    table_options,
    text,
    tie_range_option,
    together,
    unanswerable_options,
    weights_option,
)
from judged.cli._vectors import memory_option, read_sides, sides, similarity_option, vector_options
from judged.errors import InputError
from judged.policy import PRECISIONS
from judged.results import EVALUATION_SAVED_AS, Result

if TYPE_CHECKING:
    from judged.embeddings.top_k import TopK
    from judged.inputs.vectors.vectors import Vectors

TOP = 100
"""Items of each query for --save-run and --index."""
SHOWN = ("tie_range", "interval", "level", "unanswerable", "answer_threshold")
"""Options of what is shown beside the values."""
ENCODERS = ("encoder", "query_encoder", "item_encoder")
ENCODING = {
    "encoder": text("--encoder", "MODULE:NAME", "Encode --queries and --items with this first."),
    "query_encoder": text("--query-encoder", "MODULE:NAME", "Encode the queries with this."),
    "item_encoder": text("--item-encoder", "MODULE:NAME", "Encode the items with this."),
    "query_texts": file(
        "--queries", "Encode these texts with ids, or files of a folder.", "query_texts"
    ),
    "item_texts": file("--items", "Encode these items, as --queries.", "item_texts"),
    "paths": choice("--paths", ["queries", "items", "both"], "Treat texts as paths of files."),
    "query_prompt": text("--query-prompt", "TEXT", "Put this before the text of each query."),
    "item_prompt": text("--item-prompt", "TEXT", "Put this before the text of each item."),
    "batch_size": number("--batch-size", int, "N", "Pass N texts to the encoder at once.", 64),
    "cache": text("--cache", "FOLDER", "Keep vectors in this folder, and read those there."),
    "encoder_name": text(
        "--encoder-name", "TEXT", "Keep vectors under this name; by default the encoder's."
    ),
}
"""Options of encoding by parameter name."""


@command(example="judged embeddings queries.npy items.npy --qrels qrels.txt -m nDCG@10")
@partial(sides, required=False)
@together(*ENCODING.values())
@similarity_option
@vector_options
@flag("--both", "Search items among queries, too.")
@text(
    "--normalise",
    "NAME",
    "Normalise scores: min-max, z-score, softmax, csls(k=10), inverted-softmax, "
    "qb-norm(bank=FILE), dual-softmax, mutual-proximity or alpha-query-expansion.",
    type=NORMALISATION,
)
@file("--unique", "Rank categories by their best item; one label per item, or a table.")
@choice("--precision", PRECISIONS, "Compute scores in this precision.", PRECISIONS[0])
@memory_option
@text(
    "--save-run", "FILE", "Write the first items of each query: TREC text or .parquet.", type=WRITES
)
@number("--top", int, "K", f"Use K items for --save-run and --index, by default {TOP}.")
@file("--index", "Compare a faiss or usearch index with exact search.")
@text("--name", "TEXT", "Name the row of the table.")
@text("--report", "FILE", "Write an HTML report, too.", type=WRITES)
@flag("--diagnose", "Diagnose the vectors instead of scoring them.")
@measures_option
@convention_option
@policy_options
@tie_range_option
@interval_options
@weights_option
@unanswerable_options
@per_query_option
@table_options
@result_options(EVALUATION_SAVED_AS)
def embeddings(
    queries: str | None,
    items: str | None,
    save_run: str | None,
    top: int | None,
    index: str | None,
    report: str | None,
    diagnose: bool,
    both: bool,
    per_query: bool,
    form: str | None,
    output: str | None,
    **options: Any,
) -> None:
    """Evaluate embeddings with exact nearest-neighbour search of QUERIES among ITEMS.

    Files may be .npy, .npz, .h5, .parquet, .fvecs, .bvecs, .fbin, .safetensors, .csv, .tsv, .ndjson
    or text. FILE::NAME means one array or column of a file that has several. One of --qrels,
    --labels, --shared-labels, --pairs and --revisited defines relevance.

    Texts or files can be encoded first: --encoder MODULE:NAME --queries FILE --items FILE. The
    encoder is a function from a list of texts or paths to an array, or an object with .encode,
    .embed_documents or .get_text_embedding_batch, in a module that can be imported from the current
    folder. Its output goes to standard error.
    """
    from judged.cli._terminal import counting, deliver, working
    from judged.evaluation.settings import EvaluationSettings
    from judged.outputs import checked_ending

    if report is not None:
        checked_ending(report, [".html"])
    name, weights, groups = (options.pop(option) for option in ("name", "weights", "groups"))
    shown = {option: options.pop(option) for option in SHOWN}
    as_json = form == "json" or (form is None and (output or "").lower().endswith(".json"))
    of_scores = {
        "--name": name,
        "--report": report,
        "--normalise": options["normalise"],
        "--unique": options["unique"],
        "--tie-range": shown["tie_range"],
        "--interval": shown["interval"],
        "--level": is_given("level"),
        "--groups": groups,
        "--weights": weights,
        "--unanswerable": shown["unanswerable"],
        "--answer-threshold": shown["answer_threshold"] is not None,
        "--per-query": per_query and not (index and as_json),
    }
    _check_options(both, save_run, top, index, diagnose, of_scores)
    check_format(form, output, Result.SAVED_AS if index or diagnose else EVALUATION_SAVED_AS)
    encoding = _Encoding.requested(queries, items, options)
    scoring: dict[str, Any] = {
        "measures": options.pop("measures") or None,
        "policy": options.pop("policy"),
        "convention": options.pop("convention"),
    }
    if encoding is not None:
        EvaluationSettings.of(**scoring)  # errors come before anything is encoded
    embeddings, relevance = read_sides(
        queries,
        items,
        options,
        optional=diagnose,
        encode=None if encoding is None else encoding.vectors,
    )
    if diagnose:
        with working("Diagnosing the vectors"):
            diagnosis = embeddings.diagnose(relevance)
        deliver(diagnosis, form, output)
        return
    more: dict[str, Any] = {"weights": weights, **({"name": name} if name else {})}
    if both and (groups or shown["unanswerable"]):
        raise InputError(
            "--groups and --unanswerable are about the queries, but with --both the items are "
            "queries too. Evaluate one direction at a time."
        )
    searches = len(embeddings.queries) + (len(embeddings.items) if both else 0)
    first: TopK | None = None
    with counting("Searching", searches) as progress:
        if index is not None:
            compared = embeddings.evaluate_index(
                index, relevance, k=top or TOP, progress=progress, **scoring
            )
        elif save_run is not None or (report is not None and not both):
            evaluation, first = embeddings.evaluate_and_top_k(
                relevance, k=top or TOP, progress=progress, **scoring, **more
            )
        else:
            evaluation = embeddings.evaluate(
                relevance, both=both, progress=progress, **scoring, **more
            )
    if index is not None:
        deliver(compared, form, output, **({"per_query": True} if per_query else {}))
        return
    evaluation = evaluation.showing(
        intervals=shown["interval"],
        level=shown["level"],
        groups=groups,
        tie_range=shown["tie_range"],
        unanswerable=shown["unanswerable"],
        threshold=shown["answer_threshold"],
    )
    if save_run is not None and first is not None:
        first.save(save_run)
    if report is not None:
        from judged.web.report.provenance import input_files

        sides_read = {"queries": queries, "items": items}
        if encoding is not None:
            sides_read = {"queries": encoding.queries, "items": encoding.items}
        read = {**sides_read, **options, "weights": weights, "groups": groups}
        evaluation.report(
            top_k=None if both else first,
            groups=groups,
            files=input_files(read),
            again=repeated_command(),
        ).save(report)
    deliver(evaluation, form, output, per_query=per_query)


def _check_options(
    both: bool,
    save_run: str | None,
    top: int | None,
    index: str | None,
    diagnose: bool,
    of_scores: dict[str, Any],
) -> None:
    """Fail on options that have no meaning together."""
    if top is not None and not (save_run or index):
        raise click.UsageError(
            "--top says how many items --save-run and --index look at; give one of them."
        )
    if top is not None and top < 1:
        raise click.BadParameter(f"must be a whole number from 1; got {top}.", param_hint="--top")
    modes = {"--both": both, "--save-run": save_run, "--index": index, "--diagnose": diagnose}
    chosen = [name for name, value in modes.items() if value]
    if len(chosen) > 1:
        raise click.UsageError(f"{' and '.join(chosen)} cannot be had in one call; leave one out.")
    for name, value in of_scores.items():
        if value and (index or diagnose):
            raise click.UsageError(
                f"{name} has no meaning with {'--index' if index else '--diagnose'}; leave it out."
            )


@dataclass(frozen=True)
class _Encoding:
    """Texts or files to encode, and the options of `judged.inputs.encode`."""

    queries: str
    items: str
    options: dict[str, Any]

    @classmethod
    def requested(
        cls, queries: str | None, items: str | None, options: dict[str, Any]
    ) -> _Encoding | None:
        """Take the options of encoding out of all options; return None if vectors are given."""
        encoding = {name: options.pop(name) for name in ENCODING}
        if all(encoding[name] is None for name in ENCODERS):
            _check_vectors(queries, items)
            return None
        if queries is not None:
            raise click.UsageError(
                "QUERIES and ITEMS are files of vectors; with an encoder, give --queries FILE and "
                "--items FILE."
            )
        texts = encoding.pop("query_texts"), encoding.pop("item_texts")
        for name, path in zip(("--queries", "--items"), texts, strict=True):
            if path is None:
                raise click.UsageError(f"an encoder needs something to encode; give {name} FILE.")
        encoding["prompts"] = encoding.pop("query_prompt"), encoding.pop("item_prompt")
        return cls(*texts, encoding)

    def vectors(self) -> tuple[Vectors, Vectors]:
        """Encode what is not cached; the encoder's output goes to standard error."""
        from judged.cli._terminal import counting, display_options, say, working
        from judged.inputs.encode import EncodingTask
        from judged.text import counted

        options = dict(self.options)
        both, *towers = (options.pop(name) for name in ENCODERS)
        if (both is None) == (None in towers) or (both and any(towers)):
            raise click.UsageError(
                "give --encoder for queries and items, or both --query-encoder and --item-encoder."
            )
        names = [both, both] if both else towers
        with redirect_stdout(sys.stderr):
            encoders = {
                name: imported(name, "an encoder", "models:encode") for name in dict.fromkeys(names)
            }
            with working("Reading texts"):
                pair = tuple(encoders[name] for name in names)
                task = EncodingTask.of(self.queries, self.items, pair, **options)
            with counting("Encoding", task.todo, task.unit) as progress:
                vectors = task.run(progress)
        if not display_options().get("quiet"):
            for folder, written in task.written.items():
                say(f"kept {counted(written, 'vector')} in {folder}", err=True)
        return vectors


def _check_vectors(queries: str | None, items: str | None) -> None:
    """Fail without vectors and without an encoder."""
    for option in click.get_current_context().command.params:
        if option.name in ENCODING and is_given(option.name):
            raise click.UsageError(
                f"{option.opts[-1]} has no meaning without --encoder; leave it out."
            )
    for name, path in {"QUERIES": queries, "ITEMS": items}.items():
        if path is None:
            raise click.UsageError(
                f"Missing argument '{name}': two files of vectors are needed, or --encoder "
                "MODULE:NAME --queries FILE --items FILE."
            )
