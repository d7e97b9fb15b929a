"""CLIP-like models of images and texts, as open_clip and CLIP_benchmark evaluate them."""

from __future__ import annotations

from judged.conventions.spec import Caution, Convention, Name

HIT = "A hit rate: 1 if any of the first k is right, however many are."

CONVENTION = Convention(
    name="clip",
    title="CLIP evaluation (open_clip, CLIP_benchmark)",
    aliases=("open_clip", "clip_benchmark"),
    version="2024",
    held="reading",
    verified=(
        "The source of CLIP_benchmark was read and written again by hand, and that was compared on "
        "generated data."
    ),
    names=(
        Name(
            "R@{k}",
            "Success@{k}",
            HIT,
            aliases=(
                "image_to_text_R@{k}",
                "text_to_image_R@{k}",
                "recall@{k}",
                "image_retrieval_recall@{k}",
                "text_retrieval_recall@{k}",
            ),
        ),
        Name("mean_rank", "Rank", aliases=("image_to_text_mean_rank", "text_to_image_mean_rank")),
        Name(
            "median_rank",
            "Rank(aggregate=median)",
            "Rounded down: of an even number of queries, the lower of the two middle ranks where "
            "they are neighbours.",
            aliases=("image_to_text_median_rank", "text_to_image_median_rank", "MedR"),
            cautions=(Caution("not whole", "open_clip rounds a median rank down."),),
        ),
    ),
    policy={"ties": "input", "empty": "skip"},
    cautions=(
        Caution(
            "nothing relevant",
            "CLIP_benchmark counts a query without a match as 0; it is left out here.",
        ),
        Caution("tied", "The order of tied scores is left to torch in CLIP_benchmark."),
    ),
    differences=(
        "Recall is a hit rate. With one right answer per query the two are the same; with five "
        "captions an image they are not.",
        "The whole collection is ranked.",
    ),
    wrong=(
        "The order of tied scores is whatever torch returns: equal embeddings may all come first.",
    ),
)
