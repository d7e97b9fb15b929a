"""recommenders, formerly Microsoft Recommenders: ratings and predictions in pandas."""

from __future__ import annotations

from judged.conventions.spec import Caution, Convention, Name

ALL = {"missing": "zero"}

CONVENTION = Convention(
    name="recommenders",
    title="recommenders",
    package="recommenders",
    version="1.2.1",
    held="run",
    verified="Run side by side on generated data.",
    names=(
        Name("precision_at_k(k={k})", "P@{k}", aliases=("precision_at_{k}",)),
        Name("recall_at_k(k={k})", "R@{k}", aliases=("recall_at_{k}",)),
        Name("map(k={k})", "AP@{k}"),
        Name(
            "map_at_k(k={k})",
            "AP(norm=capped)@{k}",
            "Divided by min(N, k), the most that k results can hold.",
            aliases=("map_at_{k}",),
        ),
        Name(
            "ndcg_at_k(k={k})",
            "nDCG(gain=binary)@{k}",
            "Every rating gains 1. Users that the predictions lack count as 0.",
            policy=ALL,
            aliases=("ndcg_at_{k}",),
        ),
        Name(
            "ndcg_at_k(k={k}, score_type='raw')",
            "nDCG@{k}",
            "Users that the predictions lack count as 0.",
            policy=ALL,
        ),
        Name(
            "ndcg_at_k(k={k}, score_type='exp')",
            "nDCG(gain=exp)@{k}",
            "The gain is 2^g - 1. Users that the predictions lack count as 0.",
            policy=ALL,
        ),
        Name(
            "r_precision_at_k(k={k})",
            "",
            "The mean over those users only who have a hit among their first R results.",
        ),
    ),
    policy={"ties": "input", "missing": "skip"},
    cautions=(
        Caution(
            "not relevant",
            "recommenders takes every row of the true ratings as relevant; judgements with a grade "
            "below 1 do not count here.",
        ),
    ),
    differences=(
        "Every row of the true ratings is relevant, whatever its rating; judgements must hold the "
        "relevant items only.",
        "Users that the predictions lack are left out for precision, recall and MAP, and count as "
        "0 for nDCG.",
        "map has a cutoff too, k=10 unless given, and differs from map_at_k only in what it "
        "divides by.",
    ),
    wrong=(
        "r_precision_at_k leaves out every user without a hit, so that it rises when hits are "
        "lost.",
        "An item that is predicted twice counts twice: recall can exceed 1.",
    ),
)
