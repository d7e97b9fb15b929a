"""RecTools: recommendations with ranks, and interactions that are all relevant."""

from __future__ import annotations

from judged.conventions.spec import Caution, Convention, Name

ALL = (
    "Needs the size of the collection. Lists must have k results: a missing one counts as a false "
    "positive there."
)

CONVENTION = Convention(
    name="rectools",
    title="RecTools",
    package="RecTools",
    version="0.19.0",
    held="run",
    verified="Run side by side on generated data, user by user.",
    names=(
        Name("Precision(k={k})", "P@{k}"),
        Name(
            "Precision(k={k}, r_precision=True)",
            "R(norm=capped)@{k}",
            "Hits divided by min(N, k); judged's Rprec cuts the list at N instead.",
            plain=False,
        ),
        Name("Recall(k={k})", "R@{k}"),
        Name("F1Beta(k={k})", "F@{k}"),
        Name("F1Beta(k={k}, beta={b})", "F(beta={b})@{k}"),
        Name("HitRate(k={k})", "Success@{k}"),
        Name("Accuracy(k={k})", "Accuracy@{k}", ALL),
        Name("MRR(k={k})", "RR@{k}"),
        Name("MAP(k={k})", "AP@{k}"),
        Name("MAP(k={k}, divide_by_k=True)", "AP(norm=cutoff)@{k}", "Divided by k."),
        Name(
            "NDCG(k={k})",
            "nDCG(gain=binary, ideal=cutoff)@{k}",
            "Divided by the DCG of k hits, even for a user with fewer relevant items: a perfect "
            "list may score below 1.",
        ),
        Name(
            "NDCG(k={k}, divide_by_achievable=True)",
            "nDCG(gain=binary)@{k}",
            "Every interaction gains 1.",
        ),
        Name("MCC(k={k})", "", "The correlation of Matthews is not a measure of judged."),
        Name(
            "PartialAUC(k={k})",
            "",
            "The area left of the k-th false positive is not a measure of judged.",
        ),
        Name(
            "PAP(k={k})", "", "The area left of the k-th false positive is not a measure of judged."
        ),
    ),
    cautions=(
        Caution(
            "not relevant",
            "RecTools takes every interaction as relevant; judgements with a grade "
            "below 1 do not count here.",
        ),
        Caution(
            "tied",
            "RecTools takes lists in their order, without scores; tied results were ordered by id "
            "here, policy ties=input keeps the order of the input.",
        ),
    ),
    differences=(
        "Every interaction is relevant, whatever its weight; judgements must hold the relevant "
        "items only.",
        "Users without interactions do not exist.",
        "Lists come with ranks, so there are no ties.",
    ),
    wrong=("An interaction that occurs twice counts twice.",),
)
