"""Re-identification of people and vehicles, as torchreid and fast-reid evaluate it."""

from __future__ import annotations

from judged.conventions.spec import Caution, Convention, Name

CONVENTION = Convention(
    name="reid",
    title="re-identification (torchreid, fast-reid)",
    aliases=("torchreid", "fast-reid", "fastreid", "re-id", "market1501"),
    version="2021",
    held="reading",
    verified=(
        "The source was read and written again by hand, and that was compared on generated data."
    ),
    names=(
        Name(
            "Rank-{k}",
            "Success@{k}",
            "The point of the CMC curve at rank k, a hit rate.",
            aliases=("CMC@{k}", "R-{k}"),
        ),
        Name("mAP", "AP"),
        Name("mINP", "INP"),
        Name(
            "Rank-{k} (cuhk03)",
            "",
            "Draws one gallery image an identity at random, ten times over.",
        ),
    ),
    policy={"ties": "input", "empty": "skip", "unjudged": "removed"},
    cautions=(Caution("tied", "The order of equal distances is left to numpy's sort there."),),
    differences=(
        "Images of the query's own identity and camera are taken out. Judge every other image, "
        "and leave those unjudged.",
        "Queries without a right image in the gallery are left out.",
        "The whole gallery is ranked.",
    ),
    wrong=("The order of equal distances is whatever numpy's sort returns.",),
)
