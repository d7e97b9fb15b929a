"""Retrieval for generation: Evidently, Haystack, LlamaIndex and ragas."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from judged.conventions.spec import Caution, Choices, Convention, Name, Option


def _with_cutoff(
    about: str,
    theirs: str,
    ours: str,
    note: str = "",
    *,
    at_k: str = "",
    policy: Choices | None = None,
    aliases: tuple[str, ...] = (),
    plain: bool = True,
    cautions: tuple[Caution, ...] = (),
) -> tuple[Name, Name]:
    """Return a metric of the whole list, and of the first k results, which `about` describes."""
    whole = Name(theirs, ours, note, policy or {}, aliases, plain, cautions=cautions)
    cut = replace(
        whole,
        theirs=f"{theirs}@{{k}}",
        ours=f"{at_k or ours}@{{k}}",
        note=about.format(note).strip(),
        aliases=tuple(f"{alias}@{{k}}" for alias in aliases),
    )
    return whole, cut


RANKED = (
    Caution(
        "tied",
        "Evidently gives tied results the mean of their ranks, rounded down; here they are "
        "ordered.",
    ),
    Caution(
        "unlisted",
        "Evidently knows the rows of its frame alone: relevant items that were not recommended "
        "count there only if they have a row.",
    ),
)
ROWS = {"empty": "zero"}
SCORED = "Grades are the scores that a model gives the contexts of a row, 0 to 1."
THRESHOLD = "aggregation_method_params={'threshold': {rel}}"


def _contexts(method: str, ours: str, note: str) -> tuple[Name, Name]:
    """Return what the contexts of a row come to, with the usual threshold and with another."""
    theirs = f"ContextRelevance(aggregation_method='{method}'"
    note = f"{note} {SCORED}"
    return (
        Name(f"{theirs})", f"{ours}(rel=0.8)", note, ROWS, plain=False),
        Name(f"{theirs}, {THRESHOLD})", f"{ours}(rel={{rel}})", note, ROWS, plain=False),
    )


EVIDENTLY = Convention(
    name="evidently",
    title="Evidently",
    package="evidently",
    version="0.7.23",
    held="run",
    verified=(
        "Run side by side on generated data, without ties and, for MAP, with lists of one length "
        "in rank order. ContextRelevance with scores that were given, as those of a model."
    ),
    names=(
        Name(
            "PrecisionTopK(k={k})",
            "P(short=shrink)@{k}",
            "A list shorter than k is divided by its own length.",
            aliases=("PrecisionTopKMetric(k={k})",),
            cautions=RANKED,
        ),
        Name("RecallTopK(k={k})", "R@{k}", aliases=("RecallTopKMetric(k={k})",), cautions=RANKED),
        Name(
            "FBetaTopK(k={k})",
            "F(average=means, short=shrink)@{k}",
            "Computed once, from the mean precision and the mean recall.",
            aliases=("FBetaTopKMetric(k={k})",),
            cautions=RANKED,
        ),
        Name(
            "FBetaTopK(k={k}, beta={b})",
            "F(beta={b}, average=means, short=shrink)@{k}",
            "Computed once, from the mean precision and the mean recall.",
            aliases=("FBetaTopKMetric(k={k}, beta={b})",),
            cautions=RANKED,
        ),
        Name(
            "MAP(k={k})",
            "AP@{k}",
            aliases=("MAPKMetric(k={k})",),
            cautions=(
                *RANKED,
                Caution(
                    "uneven",
                    "Evidently's MAP goes on adding after the end of a list that is shorter than "
                    "others, and can exceed 1; here it does not.",
                ),
            ),
        ),
        Name("NDCG(k={k})", "nDCG@{k}", aliases=("NDCGKMetric(k={k})",), cautions=RANKED),
        Name("MRR(k={k})", "RR@{k}", aliases=("MRRKMetric(k={k})",), cautions=RANKED),
        Name("HitRate(k={k})", "Success@{k}", aliases=("HitRateKMetric(k={k})",), cautions=RANKED),
        Name(
            "MARKMetric(k={k})",
            "",
            "Recall at the rank of each relevant item, summed and divided by N.",
        ),
        *_contexts("hit", "Success", "1 if a context of the row scores at least 0.8, or as said."),
        *_contexts(
            "hit_share", "P", "The share of the contexts that score at least 0.8, or as said."
        ),
        Name(
            "ContextRelevance",
            "",
            "The mean of the scores that a model gives the contexts of a row, whatever their rank.",
            aliases=("ContextRelevance()", "ContextRelevance(aggregation_method='mean')"),
        ),
        Name("ContextQualityLLMEval", "", "A language model's verdict on all contexts together."),
    ),
    policy={"empty": "skip"},
    options=(
        Option(
            "no_feedback_users=True",
            "Users without a positive target count too, as 0.",
            {"empty": "zero"},
        ),
        Option(
            "min_rel_score=N",
            "Items are relevant from grade N on; nDCG then gains 1 for each.",
            params={"rel": "N"},
        ),
    ),
    differences=(
        "Users without a positive target are left out by default.",
        "Only what is in the frame exists: relevant items that were not recommended are unknown "
        "unless they have a row.",
        "nDCG gains the bare target, the other metrics take every target above 0 as relevant.",
        "Rows with contexts are another matter: a model scores the contexts, nothing is judged, "
        "and a hit is a score from 0.8 on.",
    ),
    wrong=(
        "Tied scores get the mean of their ranks, rounded down: precision at 1 of two tied "
        "relevant items is 2.",
        "MAP goes on adding after the end of a list that is shorter than others, and can exceed 1.",
        "MAP takes the last row down to rank k for the row of rank k: it is wrong where rows are "
        "not in rank order.",
        "Values at a k greater than the longest list and 10 do not exist.",
        "In the newer interface the ranks shown beside the values of NDCG and MRR are too great "
        "by one.",
        "A row without contexts is scored as if it had one, an empty text.",
    ),
)

HAYSTACK_REPEATED = Caution(
    "repeated",
    "Haystack leaves a document that was retrieved twice at both ranks, which moves what follows "
    "down; here it was kept once.",
)
HAYSTACK_LISTED = Caution(
    "not relevant",
    "Haystack takes every ground-truth document as relevant but for nDCG, whatever its score; "
    "judgements with a grade below 1 do not count here.",
)


_haystack_names = partial(
    _with_cutoff, "What a retriever with top_k=k finds. {}", cautions=(HAYSTACK_LISTED,)
)


HAYSTACK = Convention(
    name="haystack",
    title="Haystack",
    aliases=("haystack-ai",),
    package="haystack-ai",
    version="3.4.1",
    held="run",
    verified=(
        "Run side by side on generated data, query by query, with documents compared by id and by "
        "contents that differ; names with @k on lists cut at k."
    ),
    names=(
        *_haystack_names(
            "DocumentMRREvaluator()",
            "RR",
            aliases=("DocumentMRREvaluator",),
            cautions=(HAYSTACK_LISTED, HAYSTACK_REPEATED),
        ),
        *_haystack_names(
            "DocumentMAPEvaluator()",
            "AP",
            aliases=("DocumentMAPEvaluator",),
            cautions=(HAYSTACK_LISTED, HAYSTACK_REPEATED),
        ),
        *_haystack_names(
            "DocumentRecallEvaluator()",
            "Success",
            "1 if any ground-truth document was retrieved: the default mode, single_hit, is a hit "
            "rate.",
            aliases=("DocumentRecallEvaluator",),
        ),
        *_haystack_names("DocumentRecallEvaluator(mode='single_hit')", "Success", "A hit rate."),
        *_haystack_names("DocumentRecallEvaluator(mode='multi_hit')", "R"),
        Name(
            "DocumentNDCGEvaluator()",
            "nDCG",
            "The gain is the score of the ground-truth document; 1 where it has none.",
            aliases=("DocumentNDCGEvaluator",),
            cautions=(
                HAYSTACK_REPEATED,
                Caution(
                    "negative",
                    "Haystack takes negative scores of ground-truth documents off the DCG, and off "
                    "that of the ideal list; here they gain nothing.",
                ),
            ),
        ),
        Name(
            "DocumentNDCGEvaluator()@{k}",
            "",
            "Its ideal list holds all ground-truth documents, even those that k results have no "
            "room for; cut the lists with depth=k and ask for DocumentNDCGEvaluator.",
            aliases=("DocumentNDCGEvaluator@{k}",),
        ),
    ),
    policy={"ties": "input"},
    options=(
        Option(
            "document_comparison_field='content'",
            "Documents are the same where their texts are; the default. judged compares ids: give "
            "documents of the same text the same id.",
        ),
        Option("document_comparison_field='id'", "Documents are the same where their ids are."),
        Option(
            "document_comparison_field='meta.KEY'",
            "Documents are the same where this part of their meta data is, as that of chunks of "
            "one file; those without it match nothing.",
        ),
    ),
    differences=(
        "DocumentRecallEvaluator is a hit rate by default; with mode='multi_hit' it is recall.",
        "Documents are compared by their text by default, not by id.",
        "Every ground-truth document is relevant, whatever its score; only nDCG reads scores.",
        "Lists come in their order, whatever the scores of the documents, so there are no ties.",
        "There is no cutoff: lists are as long as the retriever makes them.",
    ),
    wrong=(
        "A text that is empty matches nothing in DocumentRecallEvaluator, and any other empty text "
        "in the other evaluators.",
        "Negative scores of ground-truth documents can make nDCG negative or more than 1.",
    ),
)

LLAMA_INDEX_REPEATED = Caution(
    "repeated",
    "LlamaIndex leaves an id that was retrieved twice at both ranks, and counts it twice in ap, "
    "ndcg and the granular hit rate; here it was kept once.",
)


_llama_index_names = partial(_with_cutoff, "What a retriever with similarity_top_k=k finds. {}")


LLAMA_INDEX = Convention(
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
        *_llama_index_names("hit_rate", "Success", aliases=("HitRate", "HitRate()")),
        *_llama_index_names("mrr", "RR", aliases=("MRR()",), cautions=(LLAMA_INDEX_REPEATED,)),
        *_llama_index_names(
            "precision",
            "P",
            at_k="P(short=shrink)",
            note="A list is divided by its own length.",
            aliases=("Precision()",),
        ),
        *_llama_index_names("recall", "R", aliases=("Recall()",)),
        *_llama_index_names(
            "ap",
            "AP",
            aliases=("AveragePrecision", "AveragePrecision()"),
            cautions=(LLAMA_INDEX_REPEATED,),
        ),
        Name(
            "ndcg",
            "nDCG(gain=binary)",
            "Every expected id gains 1, in either mode.",
            aliases=("NDCG()", "NDCG(mode='linear')", "NDCG(mode='exponential')"),
            cautions=(LLAMA_INDEX_REPEATED,),
        ),
        Name(
            "ndcg@{k}",
            "",
            "Its ideal list holds all expected ids, even those that k results have no room for; "
            "cut the lists with depth=k and ask for ndcg.",
        ),
        *_llama_index_names(
            "HitRate(use_granular_hit_rate=True)",
            "R",
            "Hits divided by the number of expected ids, which is recall.",
            aliases=("granular_hit_rate",),
            plain=False,
            cautions=(LLAMA_INDEX_REPEATED,),
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

RAGAS_LISTED = Caution(
    "not relevant",
    "ragas takes every reference context as relevant; judgements with a grade below 1 do not count "
    "here.",
)
RAGAS_REPEATED = Caution(
    "repeated",
    "ragas counts a context that was retrieved twice at both ranks in its average precision; here "
    "it was kept once.",
)
FOUND = "Average precision, divided by the number of relevant contexts that were retrieved."


_ragas_names = partial(_with_cutoff, "{} Of rows that hold the first k contexts.")


RAGAS = Convention(
    name="ragas",
    title="ragas",
    package="ragas",
    version="0.4.3",
    held="run",
    verified=(
        "Run side by side on generated data, row by row; texts were alike only where ids were, and "
        "verdicts of a language model were given. Names with @k on rows cut at k."
    ),
    names=(
        *_ragas_names(
            "id_based_context_precision",
            "P",
            "Divided by the number of retrieved contexts.",
            at_k="P(short=shrink)",
            policy={"missing": "skip", "empty": "zero"},
            aliases=("IDBasedContextPrecision", "IDBasedContextPrecision()"),
            cautions=(RAGAS_LISTED,),
        ),
        *_ragas_names(
            "id_based_context_recall",
            "R",
            policy={"missing": "zero", "empty": "skip"},
            aliases=("IDBasedContextRecall", "IDBasedContextRecall()"),
            cautions=(RAGAS_LISTED,),
        ),
        *_ragas_names(
            "context_precision",
            "AP(norm=retrieved)",
            f"{FOUND} Which are relevant is the verdict of a language model there; here, the "
            "judgement.",
            policy={"missing": "zero", "empty": "zero"},
            aliases=(
                "ContextPrecision",
                "llm_context_precision_with_reference",
                "LLMContextPrecisionWithReference",
                "context_utilization",
                "ContextUtilization",
                "llm_context_precision_without_reference",
                "LLMContextPrecisionWithoutReference",
            ),
            cautions=(RAGAS_REPEATED,),
        ),
        *_ragas_names(
            "non_llm_context_precision_with_reference",
            "AP(norm=retrieved)",
            f"{FOUND} Relevant there is a text that is at least half like a reference, by edit "
            "distance; here, what is judged so.",
            policy={"missing": "zero", "empty": "skip"},
            aliases=(
                "NonLLMContextPrecisionWithReference",
                "NonLLMContextPrecisionWithReference()",
            ),
            plain=False,
            cautions=(RAGAS_LISTED, RAGAS_REPEATED),
        ),
        *_ragas_names(
            "non_llm_context_recall",
            "R",
            "Found there is a reference to which a retrieved text is more than half like, by edit "
            "distance; here, one whose id was retrieved.",
            policy={"missing": "skip", "empty": "skip"},
            aliases=("NonLLMContextRecall", "NonLLMContextRecall()"),
            plain=False,
            cautions=(RAGAS_LISTED,),
        ),
        Name(
            "context_recall",
            "",
            "The share of the statements of a reference answer that a language model finds in the "
            "contexts; it is not about items.",
            aliases=("ContextRecall", "LLMContextRecall"),
        ),
        Name(
            "context_entity_recall",
            "",
            "The share of the entities of a reference answer that occur in the contexts; it is not "
            "about items.",
            aliases=("ContextEntityRecall",),
        ),
    ),
    policy={"ties": "input"},
    needs_results=True,
    differences=(
        "Context precision means two things: with ids, the share of the retrieved contexts that "
        "are relevant; with texts or a language model, average precision.",
        "That average precision is divided by the relevant contexts that were retrieved, so "
        "contexts that were not found cost nothing: one hit at rank 1 scores 1.",
        "A row without retrieved ids is left out of precision by id, and counts 0 in recall by id; "
        "one without reference ids counts 0 in precision, and is left out of recall.",
        "Rows where a metric fails are left out of its mean.",
        "There is no cutoff: rows are as long as the retriever made them.",
    ),
    wrong=(
        "By texts, a row without references fails and is left out of precision, but counts 0 if "
        "nothing was retrieved either.",
        "A text that is exactly half like a reference is relevant to precision by texts, and not "
        "found to recall by texts.",
        "A context that was retrieved twice counts twice in average precision.",
        "1e-10 is added to what average precision is divided by, so that a perfect list scores "
        "0.9999999999.",
    ),
)
