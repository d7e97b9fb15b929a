"""RecBole: every user's scores of all items, and the items of the test set."""

from __future__ import annotations

from judged.conventions.spec import Caution, Convention, Name, Option

CATALOGUE = "It is about which items are recommended to anybody, not about relevance."
SCORES = "It is about the scores themselves, not about an order."


CONVENTION = Convention(
    name="recbole",
    title="RecBole",
    package="recbole",
    version="1.2.1",
    held="run",
    verified=(
        "Its collector and evaluator run side by side on generated data, without ties, with every "
        "relevant item scored; as printed, and with more decimals."
    ),
    names=(
        Name("recall@{k}", "R@{k}"),
        Name("mrr@{k}", "RR@{k}"),
        Name("ndcg@{k}", "nDCG(gain=binary)@{k}", "Every item of the test set gains 1."),
        Name("hit@{k}", "Success@{k}"),
        Name("precision@{k}", "P@{k}"),
        Name(
            "map@{k}",
            "AP(norm=capped)@{k}",
            "Divided by min(N, k), the most that k results can hold.",
        ),
        Name(
            "gauc",
            "",
            "The area under the ROC curve of each user, weighted by the user's number of relevant "
            "items; RankAUC weighs all users the same.",
        ),
        Name("auc", "", "One ROC curve for all users' items together."),
        Name("itemcoverage@{k}", "", CATALOGUE),
        Name("averagepopularity@{k}", "", CATALOGUE),
        Name("shannonentropy@{k}", "", CATALOGUE),
        Name("giniindex@{k}", "", CATALOGUE),
        Name("tailpercentage@{k}", "", CATALOGUE),
        Name("mae", "", SCORES),
        Name("rmse", "", SCORES),
        Name("logloss", "", SCORES),
    ),
    policy={"ties": "expected", "empty": "skip"},
    cautions=(
        Caution(
            "not relevant",
            "RecBole takes every item of the test set as relevant; judgements with a grade below 1 "
            "do not count here.",
        ),
        Caution(
            "tied",
            "RecBole leaves the order of tied results to torch; here it is the mean over their "
            "orders.",
        ),
    ),
    options=(
        Option(
            "eval_args: mode: full",
            "All items that the user has not met in training are ranked; the default.",
        ),
        Option(
            "eval_args: mode: uniN or popN",
            "Only the relevant items and N drawn ones for each are ranked, which makes all numbers "
            "greater: the run must hold the same items.",
        ),
    ),
    differences=(
        "Every item of the test set is relevant, and all gain 1; users without one do not exist.",
        "Items of the training set are taken out of the lists first.",
        "Every user is scored for every item, so that no list is missing or short.",
        "Numbers are rounded to 4 decimals, metric_decimal_place says otherwise.",
    ),
    wrong=("Scores are in single precision, where scores that differ become tied.",),
    tolerance=0.500001e-4,
)
