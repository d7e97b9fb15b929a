"""torchmetrics' retrieval metrics: scores and targets of each query, all relevant items listed."""

from __future__ import annotations

from judged.conventions.spec import Caution, Convention, Name, Option


def _names(theirs: str, ours: str, note: str = "", *, function: str) -> tuple[Name, Name]:
    """Return a metric without and with a cutoff."""
    tied = () if theirs == "RetrievalNormalizedDCG" else (TIED,)
    cautions = (*tied, NOT_POSITIVE) if ours.partition("(")[0] in ("AP", "RR", "P", "R") else tied
    return (
        Name(
            theirs,
            ours,
            note,
            aliases=(function, f"{theirs}()"),
            cautions=cautions,
        ),
        Name(
            f"{theirs}(top_k={{k}})",
            f"{ours}@{{k}}",
            note,
            aliases=(f"{function}(top_k={{k}})", f"{theirs}@{{k}}", f"{function}@{{k}}"),
            cautions=cautions,
        ),
    )


LENGTH = "Needs the size of the collection, which is the length of the list there."

TIED = Caution(
    "tied",
    "torchmetrics leaves the order of tied results to torch, but for nDCG; here it is the mean "
    "over their orders.",
)


NOT_POSITIVE = Caution(
    "not positive",
    "torchmetrics counts relevant results with a score of 0 or less as not relevant in MAP, MRR, "
    "precision and recall; here they count. Add a constant that makes all scores positive.",
)


CONVENTION = Convention(
    name="torchmetrics",
    title="torchmetrics (retrieval)",
    package="torchmetrics",
    version="1.9.0",
    held="run",
    verified="Run side by side on generated data, query by query, with scores above 0.",
    names=(
        *_names(
            "RetrievalMAP",
            "AP(norm=retrieved)",
            "Divided by the number of relevant items among the first k, not by all: one hit at "
            "rank 1 scores 1.",
            function="retrieval_average_precision",
        ),
        *_names("RetrievalMRR", "RR", function="retrieval_reciprocal_rank"),
        *_names("RetrievalPrecision", "P", function="retrieval_precision"),
        Name(
            "RetrievalPrecision(top_k={k}, adaptive_k=True)",
            "P(short=shrink)@{k}",
            "A list shorter than k is divided by its own length.",
            aliases=("retrieval_precision(top_k={k}, adaptive_k=True)",),
            cautions=(TIED, NOT_POSITIVE),
        ),
        *_names("RetrievalRecall", "R", function="retrieval_recall"),
        *_names("RetrievalHitRate", "Success", function="retrieval_hit_rate"),
        Name(
            "RetrievalRPrecision",
            "Rprec",
            aliases=("retrieval_r_precision", "RetrievalRPrecision()"),
            cautions=(TIED,),
        ),
        Name(
            "RetrievalFallOut",
            "FallOut",
            f"{LENGTH} A query with nothing irrelevant counts 1.",
            aliases=("RetrievalFallOut()",),
            undefined=1.0,
            cautions=(TIED,),
        ),
        Name(
            "RetrievalFallOut(top_k={k})",
            "FallOut@{k}",
            f"{LENGTH} A query with nothing irrelevant counts 1.",
            aliases=("RetrievalFallOut@{k}",),
            undefined=1.0,
            cautions=(TIED,),
        ),
        Name("retrieval_fall_out", "FallOut", LENGTH, cautions=(TIED,)),
        Name(
            "retrieval_fall_out(top_k={k})",
            "FallOut@{k}",
            LENGTH,
            aliases=("retrieval_fall_out@{k}",),
            cautions=(TIED,),
        ),
        *_names(
            "RetrievalNormalizedDCG",
            "nDCG",
            "Tied scores are averaged.",
            function="retrieval_normalized_dcg",
        ),
        Name(
            "RetrievalAUROC",
            "RankAUC",
            f"{LENGTH} A query with nothing irrelevant counts 0.",
            aliases=("retrieval_auroc", "RetrievalAUROC()"),
            undefined=0.0,
            cautions=(TIED,),
        ),
    ),
    policy={"ties": "expected"},
    cautions=(
        Caution(
            "unlisted",
            "torchmetrics knows its lists alone: relevant items that the run lacks count there "
            "only if they have a place in the list.",
        ),
        Caution(
            "tied in single precision",
            "torchmetrics computes in single precision: scores that differ only beyond it are tied "
            "there, in whatever order torch leaves them.",
        ),
    ),
    options=(
        Option(
            "empty_target_action='neg'",
            "A query with nothing relevant scores 0; the default.",
            {"empty": "zero"},
        ),
        Option(
            "empty_target_action='pos'", "A query with nothing relevant scores 1.", {"empty": "one"}
        ),
        Option(
            "empty_target_action='skip'",
            "Queries with nothing relevant are left out.",
            {"empty": "skip"},
        ),
        Option(
            "empty_target_action='error'",
            "A query with nothing relevant is an error.",
            {"empty": "error"},
        ),
    ),
    differences=(
        "Only what is in the list exists: relevant items that were not retrieved are unknown to "
        "it.",
        "nDCG averages over the orders of tied scores; the other metrics take whatever order "
        "torch leaves them in.",
        "Targets are 0 and 1 except for nDCG.",
    ),
    wrong=(
        "Items with a score of 0 or less count as not relevant in MAP, MRR, precision and recall, "
        "but not in the others.",
        "The area under the ROC curve puts scores outside 0 to 1 through a sigmoid, which makes "
        "great scores equal.",
        "Everything is computed in single precision.",
    ),
    tolerance=1e-6,
)
