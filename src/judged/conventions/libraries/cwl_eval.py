"""cwl-eval: measures as models of a user who continues, stops and gains."""

from __future__ import annotations

from judged.conventions.spec import Convention, Name

DEPTH = "It reads 1000 results."
SCALE = "Gains are grades divided by the highest grade, here 4."

CONVENTION = Convention(
    name="cwl-eval",
    title="cwl-eval",
    aliases=("cwl", "cwl_eval"),
    package="cwl-eval",
    version="1.0.12",
    held="run",
    verified="Run side by side on generated data, query by query.",
    names=(
        Name("P@{k}", "P@{k}", "Of gains 0 and 1.", aliases=("PrecisionCWLMetric({k})",)),
        Name("RR", "RR@1000", f"{DEPTH} Of gains 0 and 1.", aliases=("RRCWLMetric()",)),
        Name(
            "AP",
            "AP(norm=retrieved)@1000",
            f"Divided by the number of relevant items that were retrieved. {DEPTH} Of gains 0 and "
            "1.",
            aliases=("APCWLMetric()",),
        ),
        Name(
            "NDCG-k@{k}",
            "SDCG@{k}",
            f"No ideal list: DCG divided by the sum of the discounts down to k. {SCALE}",
            aliases=("NDCGCWLMetric({k})",),
        ),
        Name("INST-T={T}", "INST(T={T})@1000", f"{DEPTH} {SCALE}", aliases=("INSTCWLMetric({T})",)),
        Name("INSQ-T={T}", "INSQ(T={T})@1000", f"{DEPTH} {SCALE}", aliases=("INSQCWLMetric({T})",)),
        Name("BPM-Static-T={T}-K={k}", "BPM(T={T})@{k}", SCALE, aliases=("BPMCWLMetric({T},{k})",)),
        Name("NERR-EQ8@k={k}", "NERR8@{k}", SCALE, aliases=("NERReq8CWLMetric({k})",)),
        Name("NERR-EQ9@k={k}", "NERR9@{k}", SCALE, aliases=("NERReq9CWLMetric({k})",)),
        Name(
            "NERR-EQ10@phi={p}",
            "NERR10(p={p})@1000",
            f"{DEPTH} {SCALE}",
            aliases=("NERReq10CWLMetric({p})",),
        ),
        Name(
            "NERR-EQ11@T={T}",
            "NERR11(T={T})@1000",
            f"{DEPTH} {SCALE}",
            aliases=("NERReq11CWLMetric({T})",),
        ),
        Name("RBP@{p}", "RBP(p={p}, gain=graded)", SCALE, aliases=("RBPCWLMetric({p})",)),
        Name(
            "TrAP",
            "",
            "Weights that do not sum to 1, divided by the relevant items that were retrieved.",
        ),
        Name("TBG-H@{x}", "", "Time-biased gain needs the cost of each item."),
        Name("U-L@{x}", "", "The U-measure needs the cost of each item."),
    ),
    policy={"ties": "input", "missing": "skip"},
    differences=(
        "The results are taken in the order of the file; neither score nor rank is looked at.",
        "Queries that the run lacks are left out. There are no means over queries.",
        "Values are printed with four decimals.",
    ),
    wrong=(
        "Gains that sum to the user's goal exactly may miss it by the rounding of binary "
        "fractions; the user then reads on.",
    ),
)
