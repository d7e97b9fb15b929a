"""LlamaIndex's metrics of a retriever: a list of expected and a list of retrieved ids."""

from __future__ import annotations

from judged.conventions.spec import Caution, Convention, Name

FIRST = "What a retriever with similarity_top_k=k finds."

REPEATED = Caution(
    "repeated",
    "LlamaIndex leaves an id that was retrieved twice at both ranks, and counts it twice in ap, "
    "ndcg and the granular hit rate; here it was kept once.",
)


def _names(
    theirs: str,
    ours: str,
    note: str = "",
    *,
    first: str = "",
    aliases: tuple[str, ...],
    plain: bool = True,
    cautions: tuple[Caution, ...] = (),
) -> tuple[Name, Name]:
    """Return a metric of the whole list, and of the first k results."""
    return (
        Name(theirs, ours, note, aliases=aliases, plain=plain, cautions=cautions),
        Name(
            f"{theirs}@{{k}}",
            f"{first or ours}@{{k}}",
            f"{FIRST} {note}".strip(),
            aliases=tuple(f"{alias}@{{k}}" for alias in aliases),
            plain=plain,
            cautions=cautions,
        ),
    )


CONVENTION = Convention(
    name="llama-index",
    title="LlamaIndex",
    aliases=("llama-index-core",),
    package="llama-index-core",
    version="0.14.25",
    held="run",
    verified=(
        "Run side by side on generated data, query by query; names with @k on lists cut at k."
    ),
    names=(
        *_names("hit_rate", "Success", aliases=("HitRate", "HitRate()")),
        *_names("mrr", "RR", aliases=("MRR()",), cautions=(REPEATED,)),
        *_names(
            "precision",
            "P",
            first="P(short=shrink)",
            note="A list is divided by its own length.",
            aliases=("Precision()",),
        ),
        *_names("recall", "R", aliases=("Recall()",)),
        *_names(
            "ap", "AP", aliases=("AveragePrecision", "AveragePrecision()"), cautions=(REPEATED,)
        ),
        Name(
            "ndcg",
            "nDCG(gain=binary)",
            "Every expected id gains 1, in either mode.",
            aliases=("NDCG()", "NDCG(mode='linear')", "NDCG(mode='exponential')"),
            cautions=(REPEATED,),
        ),
        Name(
            "ndcg@{k}",
            "",
            "Its ideal list holds all expected ids, even those that k results have no room for; "
            "cut the lists with depth=k and ask for ndcg.",
        ),
        *_names(
            "HitRate(use_granular_hit_rate=True)",
            "R",
            "Hits divided by the number of expected ids, which is recall.",
            aliases=("granular_hit_rate",),
            plain=False,
            cautions=(REPEATED,),
        ),
        Name(
            "MRR(use_granular_mrr=True)",
            "",
            "The mean of 1/rank over the expected ids that were retrieved; it falls when one more "
            "is found further down.",
            aliases=("granular_mrr",),
        ),
        Name(
            "cohere_rerank_relevancy",
            "",
            "What a reranking model says of the texts, not what is judged.",
        ),
    ),
    policy={"ties": "input", "missing": "error", "empty": "error"},
    needs_results=True,
    cautions=(
        Caution(
            "not relevant",
            "LlamaIndex takes every expected id as relevant; judgements with a grade below 1 do "
            "not count here.",
        ),
    ),
    differences=(
        "Every expected id is relevant, and all are equally so.",
        "A query without retrieved or without expected ids is an error.",
        "Lists come in their order, without scores, so there are no ties.",
        "There is no cutoff: lists are as long as the retriever makes them.",
        "Values are of one query; means are taken by whoever collects them.",
    ),
    wrong=(
        "An id that was retrieved twice counts twice in ap, ndcg and the granular hit rate, which "
        "can exceed 1.",
        "An id that is expected twice counts twice in what ndcg and the granular hit rate are "
        "divided by, though it can be found once only.",
        "The granular mrr falls when another expected id is found further down.",
    ),
)
