"""Evidently's ranking metrics: a frame of users, items, targets and predictions."""

from __future__ import annotations

from judged.conventions.spec import Caution, Convention, Name, Option

CONVENTION = Convention(
    name="evidently",
    title="Evidently",
    package="evidently",
    version="0.7.23",
    held="run",
    verified=(
        "Run side by side on generated data, without ties and, for MAP, with lists of one length "
        "in rank order."
    ),
    names=(
        Name(
            "PrecisionTopK(k={k})",
            "P(short=shrink)@{k}",
            "A list shorter than k is divided by its own length.",
            aliases=("PrecisionTopKMetric(k={k})",),
        ),
        Name("RecallTopK(k={k})", "R@{k}", aliases=("RecallTopKMetric(k={k})",)),
        Name(
            "FBetaTopK(k={k})",
            "F(average=means, short=shrink)@{k}",
            "Computed once, from the mean precision and the mean recall.",
            aliases=("FBetaTopKMetric(k={k})",),
        ),
        Name(
            "FBetaTopK(k={k}, beta={b})",
            "F(beta={b}, average=means, short=shrink)@{k}",
            "Computed once, from the mean precision and the mean recall.",
            aliases=("FBetaTopKMetric(k={k}, beta={b})",),
        ),
        Name(
            "MAP(k={k})",
            "AP@{k}",
            aliases=("MAPKMetric(k={k})",),
            cautions=(
                Caution(
                    "uneven",
                    "Evidently's MAP goes on adding after the end of a list that is shorter than "
                    "others, and can exceed 1; here it does not.",
                ),
            ),
        ),
        Name("NDCG(k={k})", "nDCG@{k}", aliases=("NDCGKMetric(k={k})",)),
        Name("MRR(k={k})", "RR@{k}", aliases=("MRRKMetric(k={k})",)),
        Name("HitRate(k={k})", "Success@{k}", aliases=("HitRateKMetric(k={k})",)),
        Name(
            "MARKMetric(k={k})",
            "",
            "Recall at the rank of each relevant item, summed and divided by N.",
        ),
    ),
    policy={"empty": "skip"},
    cautions=(
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
    ),
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
    ),
)
