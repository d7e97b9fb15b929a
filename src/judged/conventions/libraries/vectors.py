"""Models of images, sounds, people and places: neighbours of a query's vector."""

from __future__ import annotations

from judged.conventions.spec import Caution, Convention, Name, Option

DOWN = Caution("not whole", "LAION-CLAP rounds a median rank down to a whole number.")

CLAP = Convention(
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

HIT = "A hit rate: 1 if any of the first k is right, however many are."

CLIP = Convention(
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

GLDV2 = Convention(
    name="gldv2",
    title="Google Landmarks v2 and Kaggle's MAP@k",
    aliases=("kaggle", "google-landmarks"),
    version="2019",
    held="reading",
    verified=(
        "The source was read and written again by hand, and that was compared on generated data."
    ),
    names=(
        Name(
            "mAP@{k}",
            "AP(norm=capped)@{k}",
            "Divided by min(N, k), the most that k results can hold.",
            aliases=("MAP@{k}",),
        ),
        Name(
            "GAP",
            "",
            "One list of all queries' answers in order of confidence: make one query of them, and "
            "take AP.",
        ),
    ),
    policy={"ties": "input", "empty": "skip"},
    cautions=(
        Caution(
            "nothing relevant",
            "Kaggle's function counts a query without a relevant item as 0; it is left out here, "
            "as for landmarks.",
        ),
        Caution(
            "repeated",
            "A repeated item keeps its place in the list there, and counts nothing; here it is "
            "taken out, and what follows moves up.",
        ),
    ),
    differences=(
        "Lists come in order, so there are no ties.",
        "Queries without a relevant image are left out for landmarks; Kaggle's own function "
        "counts them as 0.",
        "An item counts once, at its first place, and keeps its other places; judged refuses it, "
        "or takes the others out with duplicates=first.",
    ),
)

PYTORCH_METRIC_LEARNING = Convention(
    name="pytorch-metric-learning",
    title="pytorch-metric-learning",
    aliases=("pml", "pytorch_metric_learning"),
    package="pytorch-metric-learning",
    version="2.9.0",
    held="run",
    verified="Its functions run side by side on generated lists of neighbours' labels.",
    names=(
        Name("precision_at_1", "P@1"),
        Name("r_precision", "Rprec"),
        Name(
            "mean_average_precision_at_r",
            "AP@R",
            "Only the first R neighbours count, and the sum is divided by R.",
            aliases=("MAP@R",),
        ),
        Name("mean_average_precision", "AP", aliases=("mean_average_precision(k=None)",)),
        Name("mean_average_precision(k={k})", "AP@{k}"),
        Name("mean_reciprocal_rank", "RR", aliases=("mean_reciprocal_rank(k=None)",)),
        Name("mean_reciprocal_rank(k={k})", "RR@{k}"),
        Name("NMI", "", "Compares clusters, not rankings."),
        Name("AMI", "", "Compares clusters, not rankings."),
    ),
    policy={"ties": "input", "empty": "skip"},
    cautions=(
        Caution("tied", "The order of neighbours at the same distance is left to the search."),
    ),
    options=(
        Option(
            "avg_of_avgs=True",
            "Queries are averaged by label first, then labels; judged does not average by groups.",
        ),
    ),
    differences=(
        "Queries whose label no reference has are left out.",
        "Where the reference contains the query, the query itself is taken out, and R is one less.",
        "The order of neighbours at the same distance is whatever the search returns.",
    ),
    wrong=(
        "Labels are held in single precision, so that labels above 2^24 may become one.",
        "With a k below R both r_precision and MAP@R see k neighbours only; the one then divides "
        "by k, the other by R.",
    ),
)

REID = Convention(
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

REVISITOP = Convention(
    name="revisitop",
    title="Revisited Oxford and Paris",
    aliases=("roxford", "rparis", "oxford5k", "paris6k"),
    version="2018",
    held="reading",
    verified=(
        "The source was read and written again by hand, and that was compared on generated data."
    ),
    names=(
        Name(
            "mAP",
            "AP(area=trapezoid)",
            "The area under the precision-recall curve by trapezoids: higher than the usual AP.",
        ),
        Name(
            "mP@{k}",
            "",
            "Precision at k or at the rank of the last relevant item, whichever comes first.",
        ),
    ),
    policy={"ties": "input", "empty": "skip", "unjudged": "removed"},
    differences=(
        "Junk images are taken out of the lists. Judge every other image, 0 or 1, and leave the "
        "junk unjudged.",
        "Queries without a positive image are left out.",
        "Easy, medium and hard are three sets of judgements: which images are positive and which "
        "are junk.",
    ),
)
