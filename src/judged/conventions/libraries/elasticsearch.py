"""Elasticsearch's ranking evaluation API, _rank_eval."""

from __future__ import annotations

from judged.conventions.spec import Convention, Name, Option

CONVENTION = Convention(
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
