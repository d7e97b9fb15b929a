"""Spark MLlib: pairs of a predicted ranking and the set of relevant items."""

from __future__ import annotations

from judged.conventions.spec import Caution, Convention, Name

CONVENTION = Convention(
    name="spark",
    title="Spark MLlib",
    aliases=("pyspark", "spark-mllib", "mllib"),
    package="pyspark",
    version="4.3.0",
    held="run",
    verified="Run side by side on generated data.",
    names=(
        Name("precisionAt({k})", "P@{k}", aliases=("precisionAtK(k={k})",)),
        Name("recallAt({k})", "R@{k}", aliases=("recallAtK(k={k})",)),
        Name("meanAveragePrecision", "AP"),
        Name(
            "meanAveragePrecisionAt({k})",
            "AP(norm=capped)@{k}",
            "Divided by min(N, k), the most that k results can hold.",
            aliases=("meanAveragePrecisionAtK(k={k})",),
        ),
        Name(
            "ndcgAt({k})",
            "nDCG(gain=binary)@{k}",
            "Everything relevant gains 1.",
            aliases=("ndcgAtK(k={k})",),
        ),
        Name(
            "ndcgAt({k}) with relevance values",
            "",
            "Its documentation says that the gain is 2^g - 1; from Python the values are not "
            "looked at.",
        ),
    ),
    cautions=(
        Caution(
            "not relevant",
            "Spark takes every item of the second list as relevant; judgements with a grade "
            "below 1 do not count here.",
        ),
        Caution(
            "tied",
            "Spark takes lists in their order, without scores; tied results were ordered by id "
            "here, policy ties=input keeps the order of the input.",
        ),
    ),
    differences=(
        "Every item of the second list is relevant; judgements must hold the relevant items only.",
        "A query that has no ranking does not exist, unless it is given with an empty one.",
        "Lists come in rank order, so there are no ties.",
    ),
    wrong=(
        "From Python, relevance values are accepted and ignored: everything relevant gains 1.",
        "An item that is predicted twice counts twice: recall can exceed 1.",
    ),
)
