"""LightFM's evaluation: scores of all items for every user, and a matrix of test interactions."""

from __future__ import annotations

from judged.conventions.spec import Caution, Convention, Name, Option

UNLISTED = Caution(
    "unlisted",
    "LightFM ranks all items: relevant items that the run lacks have a rank there.",
)

CONVENTION = Convention(
    name="lightfm",
    title="LightFM",
    aliases=("lightfm-next",),
    package="lightfm-next",
    version="1.19.0",
    held="run",
    verified=(
        "lightfm-next, which is LightFM 1.17 for newer Pythons, run side by side on generated "
        "data, user by user; of several tied results at most one was relevant."
    ),
    names=(
        Name("precision_at_k(k={k})", "P@{k}", aliases=("precision_at_{k}",)),
        Name("recall_at_k(k={k})", "R@{k}", aliases=("recall_at_{k}",)),
        Name("reciprocal_rank", "RR", cautions=(UNLISTED,)),
        Name(
            "auc_score",
            "RankAUC",
            "Needs the number of items, without those that the user met in training.",
            cautions=(UNLISTED,),
        ),
    ),
    policy={"ties": "worst", "empty": "skip"},
    cautions=(
        Caution(
            "not relevant",
            "LightFM takes every stored test interaction as relevant, even one of weight 0 or "
            "less; judgements with a grade below 1 do not count here.",
        ),
        Caution(
            "tied",
            "LightFM puts every tied relevant item behind all that are tied with it, so that "
            "several share the last rank; here they follow each other, behind the irrelevant ones.",
        ),
    ),
    options=(
        Option(
            "preserve_rows=True",
            "Users without test interactions count too, as 0; as 0.5 in auc_score.",
            {"empty": "zero"},
        ),
        Option(
            "train_interactions=…",
            "Items that the user met in training are not ranked: leave them out of the run.",
        ),
    ),
    differences=(
        "Every test interaction is relevant, whatever its weight.",
        "Users without test interactions are left out.",
        "Tied results count against the model: an irrelevant item stands before a relevant one "
        "that has the same score.",
        "Every user is scored for every item, so that no list is missing or short.",
        "The functions return one value a user; means are taken by whoever calls them.",
    ),
    wrong=(
        "Tied relevant items also count against each other: of three tied results of which two are "
        "relevant, none is among the first two, and 1/rank is 1/3.",
        "auc_score is too low where relevant items are tied with each other, even with nothing "
        "irrelevant between them.",
        "auc_score is not a number for a user to whom every item is relevant.",
        "recall_at_k(preserve_rows=True) is not a number for a user without test interactions.",
        "A matrix of a single user is an error, but for auc_score.",
        "Everything is computed in single precision.",
    ),
    tolerance=1e-6,
)
