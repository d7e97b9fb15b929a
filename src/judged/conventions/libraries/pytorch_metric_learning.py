"""pytorch-metric-learning's AccuracyCalculator: nearest neighbours with the query's label."""

from __future__ import annotations

from judged.conventions.spec import Caution, Convention, Name, Option

CONVENTION = Convention(
    name="pytorch-metric-learning",
    title="pytorch-metric-learning",
    aliases=("pml", "pytorch_metric_learning"),
    package="pytorch-metric-learning",
    version="2.9.0",
    held="run",
    verified="Its functions run side by side on generated lists of neighbours' labels.",
    names=(
        Name("precision_at_1", "P@1"),
        Name("r_precision", "Rprec"),
        Name(
            "mean_average_precision_at_r",
            "AP@R",
            "Only the first R neighbours count, and the sum is divided by R.",
            aliases=("MAP@R",),
        ),
        Name("mean_average_precision", "AP", aliases=("mean_average_precision(k=None)",)),
        Name("mean_average_precision(k={k})", "AP@{k}"),
        Name("mean_reciprocal_rank", "RR", aliases=("mean_reciprocal_rank(k=None)",)),
        Name("mean_reciprocal_rank(k={k})", "RR@{k}"),
        Name("NMI", "", "Compares clusters, not rankings."),
        Name("AMI", "", "Compares clusters, not rankings."),
    ),
    policy={"ties": "input", "empty": "skip"},
    cautions=(
        Caution("tied", "The order of neighbours at the same distance is left to the search."),
    ),
    options=(
        Option(
            "avg_of_avgs=True",
            "Queries are averaged by label first, then labels; judged does not average by groups.",
        ),
    ),
    differences=(
        "Queries whose label no reference has are left out.",
        "Where the reference contains the query, the query itself is taken out, and R is one less.",
        "The order of neighbours at the same distance is whatever the search returns.",
    ),
    wrong=(
        "Labels are held in single precision, so that labels above 2^24 may become one.",
        "With a k below R both r_precision and MAP@R see k neighbours only; the one then divides "
        "by k, the other by R.",
    ),
)
