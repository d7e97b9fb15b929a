"""sentence-transformers' InformationRetrievalEvaluator: a set of relevant documents per query."""

from __future__ import annotations

from judged.conventions.spec import Caution, Convention, Name

CONVENTION = Convention(
    name="sentence-transformers",
    title="sentence-transformers (InformationRetrievalEvaluator)",
    aliases=("sbert", "sentence_transformers"),
    package="sentence-transformers",
    version="6.2.0",
    held="run",
    verified="Run side by side on generated data, without ties.",
    names=(
        Name("accuracy@{k}", "Success@{k}"),
        Name("precision@{k}", "P@{k}"),
        Name("recall@{k}", "R@{k}"),
        Name("ndcg@{k}", "nDCG(gain=binary)@{k}", "Everything relevant gains 1."),
        Name("mrr@{k}", "RR@{k}"),
        Name(
            "map@{k}",
            "AP(norm=capped)@{k}",
            "Divided by min(N, k), the most that k results can hold.",
        ),
    ),
    policy={"empty": "skip"},
    cautions=(
        Caution(
            "not relevant",
            "sentence-transformers takes every document of a query's set as relevant; judgements "
            "with a grade below 1 do not count here.",
        ),
        Caution(
            "tied",
            "sentence-transformers orders tied results by ascending id, which no policy of judged "
            "does.",
        ),
    ),
    differences=(
        "Every document of a query's set is relevant to the same degree; judgements must hold the "
        "relevant items only.",
        "Queries without a relevant document are left out when the evaluator is made.",
        "Tied results are ordered by ascending id, which no policy of judged does.",
    ),
)
