"""`judged embeddings`: evaluate vectors of queries and items."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from judged.cli import _options as opt
from judged.cli._command import NORMALISATION, READS, WRITES, command, imported
from judged.cli._vectors import (
    PAIR,
    exclude_self_option,
    read_relevance,
    read_sides,
    revisited_options,
    sides,
    similarity_option,
)
from judged.results import EVALUATION_SAVED_AS

if TYPE_CHECKING:
    from judged.inputs.vectors.vectors import Vectors

TOP = 100
"""Items of each query for --save-run and --index."""
ALONE = ("save_run", "top", "index", "diagnose")
"""Options that are about one model."""
OF_SCORES = ("normalise", "unique", "tie_range", "intervals", "level")
"""Options that have no meaning with --index and --diagnose."""
ENCODING = ("encoder", "query_texts", "item_texts", "query_prompt", "item_prompt", "cache")
encoding_options = opt.together(
    opt.text(
        "--encoder",
        "MODULE:NAME",
        "Encode --queries and --items with this first; QUERIES,ITEMS for two encoders.",
        group="encoding",
    ),
    opt.file(
        "--queries query_texts",
        "Encode these texts with ids, or files of a folder.",
        group="encoding",
    ),
    opt.file("--items item_texts", "Encode these items, as --queries.", group="encoding"),
    opt.text("--query-prompt", "TEXT", "Put this before each query.", group="encoding"),
    opt.text("--item-prompt", "TEXT", "Put this before each item.", group="encoding"),
    opt.text(
        *("--cache", "FOLDER", "Keep vectors in this folder, and read those there."),
        group="encoding",
    ),
)


@command(example="judged embeddings queries.npy items.npy --qrels qrels.txt -m nDCG@10")
@partial(sides, required=False)
@revisited_options
@opt.option(
    *("--model", "models"),
    multiple=True,
    type=READS,
    metavar="NAME=QUERIES,ITEMS",
    help="Compare several models: give this once for each.",
    group="vectors",
)
@opt.columns_option
@encoding_options
@similarity_option
@opt.flag(
    "--allow-training-queries",
    "Score queries that a learned similarity was trained on, too.",
    group="vectors",
)
@opt.number("--dims", int, "N", "Use only the first N dimensions (Matryoshka).", group="vectors")
@opt.file("--query-ids", "Read ids of the queries, one per line.", group="vectors")
@opt.file("--item-ids", "Read ids of the items, one per line.", group="vectors")
@exclude_self_option
@opt.flag("--exclude-same-id", "Exclude the item with the query's own id.", group="relevance")
@opt.option(
    "--exclude-labels",
    type=PAIR,
    metavar="QFILE IFILE",
    help="Exclude items with the query's label; one label per vector.",
    group="relevance",
)
@opt.file(
    "--exclude-listed",
    "Exclude the items listed for a query, in any format of judgements.",
    group="relevance",
)
@opt.flag("--both", "Search items among queries, too.")
@opt.text(
    "--normalise",
    "NAME",
    "Normalise scores: min-max, z-score, softmax, csls(k=10), inverted-softmax, "
    "qb-norm(bank=FILE), dual-softmax, mutual-proximity or alpha-query-expansion.",
    type=NORMALISATION,
    group="vectors",
    aliases=["--normalize"],
)
@opt.unique_option
@opt.text(
    "--save-run",
    "FILE",
    "Write the first items of each query: TREC text or .parquet.",
    type=WRITES,
    group="output",
)
@opt.number(
    "--top", int, "K", f"Use K items for --save-run and --index, by default {TOP}.", group="output"
)
@opt.file("--index", "Compare a faiss or usearch index with exact search.")
@opt.flag("--diagnose", "Diagnose the vectors instead of scoring them.")
@opt.measures_option
@opt.convention_option
@opt.policy_options("ties", "empty")
@opt.tie_range_option
@opt.interval_option
@opt.level_option()
@opt.per_query_option
@opt.result_options(EVALUATION_SAVED_AS, plain=["index", "diagnose"], verbose=True, quiet=True)
def embeddings(
    queries: str | None,
    items: str | None,
    models: tuple[str, ...],
    save_run: str | None,
    top: int | None,
    index: str | None,
    diagnose: bool,
    both: bool,
    **options: Any,
) -> Any:
    """Evaluate embeddings with exact nearest-neighbour search of QUERIES among ITEMS.

    Files may be .npy, .npz, .h5, .parquet, .fvecs, .bvecs, .fbin, .safetensors, .csv, .tsv, .ndjson
    or text. FILE::NAME means one array or column of a file that has several. One of --qrels,
    --labels, --shared-labels, --pairs and --revisited defines relevance. With --model instead of
    QUERIES and ITEMS, each model becomes a run; -o models.rankings keeps all for 'judged compare'.

    Texts or files can be encoded first: --encoder MODULE:NAME --queries FILE --items FILE. The
    encoder is a function from a list of texts or paths to an array, or an object with .encode,
    .embed_documents or .get_text_embedding_batch, in a module that can be imported from the current
    folder. Its output goes to standard error.
    """
    from judged.cli._terminal import working
    from judged.evaluation.settings import EvaluationSettings

    modes = {"--both": both, "--save-run": save_run, "--index": index, "--diagnose": diagnose}
    _check_options([mode for mode, value in modes.items() if value], top)
    shown = opt.take_shown(options)
    if options.pop("allow_training_queries"):
        options["similarity"] = _allow_training_queries(options["similarity"])
    scoring = {option: options.pop(option) for option in ("measures", "convention")}
    scoring["policy"] = opt.take_policy(options)
    encoding = {option: options.pop(option) for option in ENCODING}
    if models:
        evaluation = _evaluate_models(models, queries, both, options, scoring)
        return evaluation.showing(**shown) if shown else evaluation
    encode = None
    if encoding["encoder"]:
        EvaluationSettings.of(**scoring)  # errors come before anything is encoded
        if queries is not None:
            raise click.UsageError(
                "QUERIES and ITEMS are files of vectors; with an encoder, give --queries FILE and "
                "--items FILE."
            )
        queries, items = encoding.pop("query_texts"), encoding.pop("item_texts")
        encode = partial(_encode, queries, items, **encoding)
    else:
        opt.refuse(ENCODING, "has no meaning without --encoder; leave it out")
    for name, path in {"QUERIES": queries, "ITEMS": items}.items():
        if path is None and encode:
            raise click.UsageError(
                f"an encoder needs something to encode; give --{name.lower()} FILE."
            )
        if path is None:
            raise click.UsageError(
                f"Missing argument '{name}': two files of vectors are needed, or --encoder "
                "MODULE:NAME --queries FILE --items FILE."
            )
    embeddings, relevance = read_sides(queries, items, options, optional=diagnose, encode=encode)
    if diagnose:
        with working("Diagnosing the vectors"):
            return embeddings.diagnose(relevance)
    searches = len(embeddings.queries) + (len(embeddings.items) if both else 0)
    with working("Searching", searches) as progress:
        scoring["progress"] = progress
        if index is not None:
            return embeddings.evaluate_index(index, relevance, k=top or TOP, **scoring)
        if save_run is None:
            evaluation = embeddings.evaluate(relevance, both=both, **scoring)
        else:
            evaluation, first = embeddings.evaluate_and_top_k(relevance, k=top or TOP, **scoring)
    evaluation = evaluation.showing(**shown) if shown else evaluation
    if save_run is not None:
        first.save(save_run)
    return evaluation


def _evaluate_models(
    models: tuple[str, ...],
    queries: str | None,
    both: bool,
    options: dict[str, Any],
    scoring: dict[str, Any],
) -> Any:
    """Evaluate each NAME=QUERIES,ITEMS as a run."""
    from judged.cli._terminal import working
    from judged.embeddings import evaluate_embeddings

    opt.refuse((*ALONE, *ENCODING), "has no meaning with --model; leave it out")
    if queries is not None:
        raise click.UsageError("give QUERIES and ITEMS, or --model NAME=QUERIES,ITEMS; not both.")
    pairs: dict[str, Any] = {}
    for text in models:
        name, equals, files = text.partition("=")
        pair = files.split(",")
        if not name or not equals or len(pair) != 2 or not all(pair):
            raise click.BadParameter(
                f"must be NAME=QUERIES,ITEMS, such as clip=queries.npy,items.npy; got {text!r}.",
                param_hint="--model",
            )
        if name in pairs:
            raise click.BadParameter(f"two models are called {name!r}.", param_hint="--model")
        pairs[name] = (pair[0], pair[1])
    with working("Reading vectors"):
        relevance, compared = read_relevance(options, pairs.values())
    with working("Searching"):
        return evaluate_embeddings(pairs, relevance=relevance, both=both, **compared, **scoring)


def _check_options(modes: list[str], top: int | None) -> None:
    """Fail on options that have no meaning together."""
    if top is not None and not {"--save-run", "--index"} & {*modes}:
        raise click.UsageError(
            "--top says how many items --save-run and --index look at; give one of them."
        )
    if top is not None and top < 1:
        raise click.BadParameter(f"must be a whole number from 1; got {top}.", param_hint="--top")
    if len(modes) > 1:
        raise click.UsageError(f"{' and '.join(modes)} exclude each other; give one of them.")
    for mode in {"--index", "--diagnose"} & {*modes}:
        context = click.get_current_context().params
        output = str(context["output"] or "").lower()
        as_json = context["form"] == "json" or (not context["form"] and output.endswith(".json"))
        per_query = () if mode == "--index" and as_json else ("per_query",)
        opt.refuse((*OF_SCORES, *per_query), f"has no meaning with {mode}; leave it out")


def _encode(queries: str, items: str, **options: Any) -> tuple[Vectors, Vectors]:
    """Encode what is not cached; the encoder's output goes to standard error."""
    from judged.cli._terminal import working
    from judged.inputs.encode import EncodingTask

    options["prompts"] = options.pop("query_prompt"), options.pop("item_prompt")
    names = [name.strip() for name in options.pop("encoder").split(",")]
    if len(names) > 2:
        raise click.UsageError(
            "give --encoder one encoder, or two with a comma: of the queries, of the items."
        )
    pair = names[0], names[-1]
    with redirect_stdout(sys.stderr):
        encoders = {
            name: imported(name, "an encoder", "models:encode") for name in dict.fromkeys(pair)
        }
        with working("Reading texts"):
            chosen = tuple(encoders[name] for name in pair)
            task = EncodingTask(queries, items, chosen, **options)
        with working("Encoding", task.todo, task.unit) as progress:
            return task.run(progress)


def _allow_training_queries(similarity: str) -> Any:
    from judged.embeddings.learned import Learned, as_similarity

    learned = as_similarity(similarity)
    if not isinstance(learned, Learned):
        raise click.UsageError(
            f"--allow-training-queries is for a similarity that 'judged learn' wrote; {similarity} "
            "is another. Leave it out."
        )
    return learned.allow_training_queries()
