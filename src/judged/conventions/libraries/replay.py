"""RePlay: recommendations with ratings, and ground truth that is all relevant."""

from __future__ import annotations

from judged.conventions.spec import Caution, Convention, Name

CONVENTION = Convention(
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
