"""Elasticsearch, OpenSearch and Quepid."""

from __future__ import annotations

from judged.conventions.spec import Caution, Convention, Name, Option

ELASTICSEARCH = Convention(
    name="elasticsearch",
    title="Elasticsearch (_rank_eval)",
    aliases=("elastic", "rank_eval"),
    version="8.x",
    held="reading",
    verified=(
        "The source was read and written again by hand, and that was compared on generated data."
    ),
    names=(
        Name(
            "precision(k={k})",
            "P(short=shrink)@{k}",
            "A list shorter than k is divided by its own length.",
            aliases=("precision@{k}",),
        ),
        Name("recall(k={k})", "R@{k}", aliases=("recall@{k}",)),
        Name("mean_reciprocal_rank(k={k})", "RR@{k}", aliases=("mean_reciprocal_rank@{k}",)),
        Name("dcg(k={k})", "DCG(gain=exp)@{k}", "The gain is 2^g - 1.", aliases=("dcg@{k}",)),
        Name(
            "dcg(k={k}, normalize=true)",
            "nDCG(gain=exp, ideal=shown)@{k}",
            "The gain is 2^g - 1, and the ideal list ends where the list ends: short lists are "
            "compared with a short ideal.",
            aliases=("ndcg@{k}",),
        ),
        Name(
            "expected_reciprocal_rank(k={k}, maximum_relevance={m})",
            "ERR(max_grade={m})@{k}",
            "The highest grade has to be said.",
        ),
    ),
    policy={"ties": "input"},
    options=(
        Option(
            "relevant_rating_threshold=N",
            "Items are relevant from grade N on.",
            params={"rel": "N"},
        ),
        Option(
            "ignore_unlabeled=true",
            "Unrated results among the first k do not count, in precision: judged's depth=k, "
            "and unjudged items are removed.",
            {"unjudged": "removed"},
            depth=True,
        ),
    ),
    differences=(
        "The order of the response counts.",
        "Ratings are whole numbers from 0.",
        "Every request is a query of its own; one that fails is reported and left out of the mean.",
    ),
    wrong=("Older versions divide by 0 in a normalised dcg where nothing is relevant.",),
)

RULE = "half or tenth"

OPENSEARCH = Convention(
    name="opensearch",
    title="OpenSearch (search relevance workbench)",
    aliases=("search-relevance",),
    version="3.6",
    held="reading",
    verified=(
        "The source was read and written again by hand, and that was compared on generated data."
    ),
    names=(
        Name(
            "Precision@{k}",
            "P(short=shrink)@{k}",
            "A list shorter than k is divided by its own length.",
            threshold=RULE,
        ),
        Name("MAP@{k}", "AP@{k}", threshold=RULE),
        Name("NDCG@{k}", "nDCG(gain=exp)@{k}", "The gain is 2^g - 1."),
        Name("DCG@{k}", "DCG(gain=exp)@{k}", "The gain is 2^g - 1."),
        Name("Recall@{k}", "R@{k}", threshold=RULE),
        Name(
            "MRR",
            "RR",
            "Of the first k results, where k is the size of the experiment: give lists of that "
            "length.",
            threshold=RULE,
        ),
        Name("MRR (k={k})", "RR@{k}", aliases=("MRR@{k}",), threshold=RULE),
        Name(
            "Coverage@{k}",
            "",
            "The share of judged results of the whole list, rounded; judged has Judged@k.",
        ),
    ),
    policy={"ties": "input"},
    options=(
        Option("releases before 3.6", "Every rating above 0 is relevant: judged's rel, if said."),
    ),
    differences=(
        "The order of the response counts.",
        "Each query's value is rounded to two decimals.",
        "From 3.6 on, relevant for a query are the ratings above 0 that reach half of its best "
        "rating and the 90th percentile of all its ratings (the nearest rank), in Precision, "
        "Recall, MAP and MRR. judged does so too, unless rel says otherwise.",
    ),
    tolerance=0.005000001,
)

QUEPID = Convention(
    name="quepid",
    title="Quepid",
    version="7.x",
    held="reading",
    verified=(
        "The source was read and written again by hand, and that was compared on generated data."
    ),
    names=(
        Name("P@{k}", "P(short=shrink)@{k}", "A list shorter than k is divided by its own length."),
        Name(
            "AP@{k}",
            "AP@{k}",
            cautions=(
                Caution(
                    "nothing relevant",
                    "Quepid's AP is not a number where nothing is relevant; it counts as 0 here.",
                ),
            ),
        ),
        Name("RR@{k}", "RR@{k}"),
        Name("DCG@{k}", "DCG(gain=exp)@{k}", "The gain is 2^g - 1."),
        Name("NDCG@{k}", "nDCG(gain=exp)@{k}", "The gain is 2^g - 1."),
        Name("ERR@{k}", "ERR(max_grade=3)@{k}", "The highest grade is 3."),
        Name("CG@{k}", "", "Ratings added up without a discount are not a measure of judged."),
    ),
    policy={"ties": "input"},
    cautions=(Caution("fractional", "Quepid takes every rating above 0 as relevant, 0.5 too."),),
    differences=(
        "The order of the response counts.",
        "Scorers are scripts with k = 10 or 5 written in them, which users copy and change.",
    ),
    wrong=(
        "AP is not a number where nothing is relevant.",
        "The NDCG of some releases cuts the list at k but not the ideal list, so that a perfect "
        "list scores below 1.",
    ),
)
