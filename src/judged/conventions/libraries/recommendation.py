"""Recommendation: LightFM, RecBole, recommenders, RecTools, RePlay and Spark MLlib."""

from __future__ import annotations

from judged.conventions.spec import Caution, Convention, Name, Option

UNLISTED = Caution(
    "unlisted",
    "LightFM ranks all items: relevant items that the run lacks have a rank there.",
)

LIGHTFM = Convention(
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

CATALOGUE = "It is about which items are recommended to anybody, not about relevance."
SCORES = "It is about the scores themselves, not about an order."


RECBOLE = Convention(
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

RECOMMENDERS_ALL = {"missing": "zero"}

RECOMMENDERS = Convention(
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
            policy=RECOMMENDERS_ALL,
            aliases=("ndcg_at_{k}",),
        ),
        Name(
            "ndcg_at_k(k={k}, score_type='raw')",
            "nDCG@{k}",
            "Users that the predictions lack count as 0.",
            policy=RECOMMENDERS_ALL,
        ),
        Name(
            "ndcg_at_k(k={k}, score_type='exp')",
            "nDCG(gain=exp)@{k}",
            "The gain is 2^g - 1. Users that the predictions lack count as 0.",
            policy=RECOMMENDERS_ALL,
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

RECTOOLS_ALL = (
    "Needs the size of the collection. Lists must have k results: a missing one counts as a false "
    "positive there."
)

RECTOOLS = Convention(
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
        Name("Accuracy(k={k})", "Accuracy@{k}", RECTOOLS_ALL),
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

REPLAY = Convention(
    name="replay",
    title="RePlay (replay-rec)",
    aliases=("replay-rec", "RePlay"),
    package="replay-rec",
    version="0.22.0",
    held="run",
    verified="Run side by side on generated data, user by user.",
    names=(
        Name("Precision@{k}", "P@{k}", aliases=("Precision({k})",)),
        Name("Recall@{k}", "R@{k}", aliases=("Recall({k})",)),
        Name("HitRate@{k}", "Success@{k}", aliases=("HitRate({k})",)),
        Name("MRR@{k}", "RR@{k}", aliases=("MRR({k})",)),
        Name(
            "MAP@{k}",
            "AP(norm=capped)@{k}",
            "Divided by min(N, k), the most that k results can hold.",
            aliases=("MAP({k})",),
        ),
        Name(
            "NDCG@{k}",
            "nDCG(gain=binary)@{k}",
            "Everything relevant gains 1.",
            aliases=("NDCG({k})",),
        ),
        Name(
            "RocAuc@{k}",
            "",
            "Only among the first k results, and 1 where all of them are relevant.",
            aliases=("RocAuc({k})",),
        ),
    ),
    cautions=(
        Caution(
            "not relevant",
            "RePlay takes every row of the ground truth as relevant; judgements with a grade "
            "below 1 do not count here.",
        ),
        Caution(
            "tied",
            "RePlay orders tied items by descending id as judged does, but as numbers where ids "
            "are numbers: 10 before 9.",
        ),
    ),
    differences=(
        "Every row of the ground truth is relevant, whatever its rating; judgements must hold the "
        "relevant items only.",
        "Frames order tied results by descending item, as judged does by default, but as numbers "
        "where items are numbers; dicts keep the order of the input.",
    ),
    wrong=("An item that is recommended twice counts twice in MAP and nDCG; there is a warning.",),
)

SPARK = Convention(
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
