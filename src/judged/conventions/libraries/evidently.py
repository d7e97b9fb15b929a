"""Evidently: metrics of a frame of users, items, targets and predictions, and contexts of rows."""

from __future__ import annotations

from judged.conventions.spec import Caution, Convention, Name, Option

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


CONVENTION = Convention(
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
