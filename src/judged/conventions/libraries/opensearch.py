"""OpenSearch's search relevance workbench (the plugin search-relevance)."""

from __future__ import annotations

from judged.conventions.spec import Convention, Name, Option

RULE = "half or tenth"

CONVENTION = Convention(
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
