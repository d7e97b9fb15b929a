"""OpenSearch's search relevance workbench (the plugin search-relevance)."""

from __future__ import annotations

from judged.conventions.spec import Convention, Name, Option

CONVENTION = Convention(
    name="opensearch",
    title="OpenSearch (search relevance workbench)",
    aliases=("search-relevance",),
    version="3.x",
    verified="A twin by hand from the published formulas, on generated data.",
    names=(
        Name(
            "Precision@{k}",
            "P(short=shrink)@{k}",
            "A list shorter than k is divided by its own length.",
        ),
        Name("MAP@{k}", "AP@{k}"),
        Name("NDCG@{k}", "nDCG(gain=exp)@{k}", "The gain is 2^g - 1."),
        Name("DCG@{k}", "DCG(gain=exp)@{k}", "The gain is 2^g - 1."),
        Name("Recall@{k}", "R@{k}"),
        Name("MRR@{k}", "RR@{k}"),
    ),
    policy={"ties": "input"},
    options=(
        Option(
            "threshold=N", "Items are relevant from rating N on, and above 0.", params={"rel": "N"}
        ),
    ),
    differences=(
        "The order of the response counts.",
        "Each query's value is rounded to two decimals.",
        "Without a threshold every rating above 0 is relevant, 0.1 too; judged starts at 1 unless "
        "told otherwise.",
    ),
    tolerance=0.005000001,
)
