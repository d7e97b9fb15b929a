"""ragas: retrieved and reference contexts, compared by id, by text or by a language model."""

from __future__ import annotations

from judged.conventions.spec import Caution, Choices, Convention, Name

LISTED = Caution(
    "not relevant",
    "ragas takes every reference context as relevant; judgements with a grade below 1 do not count "
    "here.",
)
REPEATED = Caution(
    "repeated",
    "ragas counts a context that was retrieved twice at both ranks in its average precision; here "
    "it was kept once.",
)
FOUND = "Average precision, divided by the number of relevant contexts that were retrieved."


def _names(
    metric: str,
    ours: str,
    note: str = "",
    *,
    short: str = "",
    policy: Choices,
    aliases: tuple[str, ...],
    plain: bool = True,
    cautions: tuple[Caution, ...] = (),
) -> tuple[Name, Name]:
    """Return a metric of all contexts, and of the first k."""
    return (
        Name(metric, ours, note, policy, aliases, plain, cautions=cautions),
        Name(
            f"{metric}@{{k}}",
            f"{ours}{short}@{{k}}",
            f"{note} Of rows that hold the first k contexts.".strip(),
            policy,
            tuple(f"{alias}@{{k}}" for alias in aliases),
            plain,
            cautions=cautions,
        ),
    )


CONVENTION = Convention(
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
        *_names(
            "id_based_context_precision",
            "P",
            "Divided by the number of retrieved contexts.",
            short="(short=shrink)",
            policy={"missing": "skip", "empty": "zero"},
            aliases=("IDBasedContextPrecision", "IDBasedContextPrecision()"),
            cautions=(LISTED,),
        ),
        *_names(
            "id_based_context_recall",
            "R",
            policy={"missing": "zero", "empty": "skip"},
            aliases=("IDBasedContextRecall", "IDBasedContextRecall()"),
            cautions=(LISTED,),
        ),
        *_names(
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
            cautions=(REPEATED,),
        ),
        *_names(
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
            cautions=(LISTED, REPEATED),
        ),
        *_names(
            "non_llm_context_recall",
            "R",
            "Found there is a reference to which a retrieved text is more than half like, by edit "
            "distance; here, one whose id was retrieved.",
            policy={"missing": "skip", "empty": "skip"},
            aliases=("NonLLMContextRecall", "NonLLMContextRecall()"),
            plain=False,
            cautions=(LISTED,),
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
