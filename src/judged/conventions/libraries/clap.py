"""CLAP and other models of audio and text, as LAION-CLAP evaluates them."""

from __future__ import annotations

from judged.conventions.spec import Caution, Convention, Name

DOWN = Caution("not whole", "LAION-CLAP rounds a median rank down to a whole number.")

CONVENTION = Convention(
    name="clap",
    title="CLAP evaluation (LAION-CLAP)",
    aliases=("laion-clap", "laion_clap"),
    version="2023",
    held="reading",
    verified=(
        "The source was read and written again by hand, and that was compared on generated data "
        "with one right answer per query."
    ),
    names=(
        Name(
            "R@{k}",
            "Success@{k}",
            "A hit rate: of several captions of one recording, the best counts.",
            aliases=("text_to_audio_R@{k}", "audio_to_text_R@{k}"),
        ),
        Name(
            "text_to_audio_mAP@10",
            "RR@10",
            "With one right answer per query, average precision is reciprocal rank.",
            aliases=("mAP@10",),
            cautions=(
                Caution(
                    "several relevant",
                    "With several right answers per query, LAION-CLAP has another mAP@10, which "
                    "counts them in the order of the file; RR@10 looks at the first alone.",
                ),
            ),
        ),
        Name("mean_rank", "Rank", aliases=("text_to_audio_mean_rank", "audio_to_text_mean_rank")),
        Name(
            "median_rank",
            "Rank(aggregate=median)",
            "Rounded down: of an even number of queries, the lower of the two middle ranks where "
            "they are neighbours.",
            aliases=("text_to_audio_median_rank", "audio_to_text_median_rank", "MedR"),
            cautions=(DOWN,),
        ),
        Name(
            "audio_to_text_mAP@10",
            "",
            "AP@10 if it took the captions in the order of their ranks, which it does not.",
        ),
    ),
    policy={"ties": "input", "empty": "skip"},
    cautions=(Caution("tied", "The order of tied scores is left to torch in LAION-CLAP."),),
    differences=(
        "With five captions a recording, text to audio is evaluated five times and averaged.",
        "The whole collection is ranked.",
    ),
    wrong=(
        "The mAP@10 of audio to text counts captions in the order of the file and not in that of "
        "their ranks: it can exceed 1.",
    ),
)
