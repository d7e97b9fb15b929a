"""Haystack's evaluators of documents: lists of ground-truth and of retrieved documents."""

from __future__ import annotations

from judged.conventions.spec import Caution, Convention, Name, Option

FIRST = "What a retriever with top_k=k finds."

REPEATED = Caution(
    "repeated",
    "Haystack leaves a document that was retrieved twice at both ranks, which moves what follows "
    "down; here it was kept once.",
)
LISTED = Caution(
    "not relevant",
    "Haystack takes every ground-truth document as relevant but for nDCG, whatever its score; "
    "judgements with a grade below 1 do not count here.",
)


def _names(
    evaluator: str, ours: str, note: str = "", *, cautions: tuple[Caution, ...] = (LISTED,)
) -> tuple[Name, Name]:
    """Return an evaluator of the whole list, and of the first k results."""
    bare = evaluator.removesuffix("()")
    other = () if bare == evaluator else (bare,)
    return (
        Name(evaluator, ours, note, aliases=other, cautions=cautions),
        Name(
            f"{evaluator}@{{k}}",
            f"{ours}@{{k}}",
            f"{FIRST} {note}".strip(),
            aliases=tuple(f"{alias}@{{k}}" for alias in other),
            cautions=cautions,
        ),
    )


CONVENTION = Convention(
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
        *_names("DocumentMRREvaluator()", "RR", cautions=(LISTED, REPEATED)),
        *_names("DocumentMAPEvaluator()", "AP", cautions=(LISTED, REPEATED)),
        *_names(
            "DocumentRecallEvaluator()",
            "Success",
            "1 if any ground-truth document was retrieved: the default mode, single_hit, is a hit "
            "rate.",
        ),
        *_names("DocumentRecallEvaluator(mode='single_hit')", "Success", "A hit rate."),
        *_names("DocumentRecallEvaluator(mode='multi_hit')", "R"),
        Name(
            "DocumentNDCGEvaluator()",
            "nDCG",
            "The gain is the score of the ground-truth document; 1 where it has none.",
            aliases=("DocumentNDCGEvaluator",),
            cautions=(
                REPEATED,
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
