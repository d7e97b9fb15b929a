"""scikit-learn's ranking metrics: a row of grades and a row of scores for each query."""

from __future__ import annotations

from judged.conventions.spec import Caution, Convention, Name

STEP = (
    "Tied items are one step of the curve, with the precision at its end; judged puts them in an "
    "order."
)

TIED = Caution(
    "tied",
    "scikit-learn takes tied items for one step of the curve, in average precision; here it is the "
    "mean over their orders.",
)

CONVENTION = Convention(
    name="scikit-learn",
    title="scikit-learn",
    aliases=("sklearn",),
    package="scikit-learn",
    version="1.9.1",
    held="run",
    verified="Run side by side on generated data, row by row.",
    names=(
        Name("ndcg_score", "nDCG", "Tied scores are averaged."),
        Name(
            "ndcg_score(k={k})",
            "nDCG@{k}",
            "Tied scores are averaged.",
            aliases=("ndcg_score@{k}",),
        ),
        Name("dcg_score", "DCG", "Tied scores are averaged."),
        Name(
            "dcg_score(k={k})", "DCG@{k}", "Tied scores are averaged.", aliases=("dcg_score@{k}",)
        ),
        Name("dcg_score(k={k}, log_base={b})", "DCG(log={b})@{k}", "Tied scores are averaged."),
        Name("average_precision_score", "AP", STEP, cautions=(TIED,)),
        Name(
            "label_ranking_average_precision_score",
            "AP",
            f"{STEP} A row with nothing relevant, or with nothing else, scores 1.",
            policy={"empty": "one"},
            cautions=(TIED,),
        ),
        Name(
            "top_k_accuracy_score(k={k})",
            "Success@{k}",
            "One relevant item per query, its label.",
            aliases=("top_k_accuracy_score@{k}",),
        ),
        Name(
            "roc_auc_score",
            "RankAUC",
            "Needs the size of the collection, which is the length of the row there.",
        ),
        Name(
            "coverage_error",
            "",
            "The rank of the last relevant item, which judged has only as INP = N / rank.",
        ),
        Name(
            "label_ranking_loss",
            "",
            "1 - RankAUC where there are no ties, but 0 where nothing or everything is relevant.",
        ),
    ),
    policy={"ties": "expected"},
    cautions=(
        Caution(
            "unlisted",
            "scikit-learn knows its rows alone: relevant items that the run lacks count there only "
            "if they have a place in the row.",
        ),
    ),
    differences=(
        "Only what is in the row exists: relevant items that were not retrieved are unknown to it.",
        "DCG and nDCG average over the orders of tied scores.",
    ),
)
