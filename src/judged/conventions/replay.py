"""RePlay: recommendations with ratings, and ground truth that is all relevant."""

from __future__ import annotations

from judged.conventions.spec import Convention, Name

CONVENTION = Convention(
    name="replay",
    title="RePlay (replay-rec)",
    aliases=("replay-rec", "RePlay"),
    package="replay-rec",
    version="0.22.0",
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
    differences=(
        "Every row of the ground truth is relevant, whatever its rating; judgements must hold the "
        "relevant items only.",
        "Frames order tied results by descending item, as judged does by default; dicts keep the "
        "order of the input.",
    ),
    wrong=("An item that is recommended twice counts twice in MAP and nDCG; there is a warning.",),
)
