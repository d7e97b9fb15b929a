"""ranx: names of its own, and a cutoff behind @."""

from __future__ import annotations

from judged.conventions.spec import Convention, Name, Option


def _both(theirs: str, ours: str, note: str = "") -> tuple[Name, Name]:
    return Name(theirs, ours, note), Name(f"{theirs}@{{k}}", f"{ours}@{{k}}", note)


CONVENTION = Convention(
    name="ranx",
    title="ranx",
    package="ranx",
    version="0.3.21",
    verified="Run side by side on generated data, query by query, without ties.",
    names=(
        *_both("hits", "NumRelRet(aggregate=mean)", "The mean of the counts; judged sums them unless told otherwise."),
        *_both("hit_rate", "Success"),
        *_both("precision", "P"),
        *_both("recall", "R"),
        *_both("f1", "F"),
        Name("r-precision", "Rprec"),
        *_both("mrr", "RR"),
        *_both("map", "AP"),
        *_both("dcg", "DCG"),
        *_both("dcg_burges", "DCG(gain=exp)", "The gain is 2^g - 1."),
        *_both("ndcg", "nDCG"),
        *_both("ndcg_burges", "nDCG(gain=exp)", "The gain is 2^g - 1."),
        Name(
            "rbp.{p}",
            "RBP(p=0.{p})",
            "Equal for grades 0 and 1; ranx gains the bare grade, so that higher grades lead above 1.",
        ),
        Name("bpref", "", "Divides by the smaller of the numbers of relevant and other items without trec_eval's bound."),
    ),
    policy={"ties": "input", "missing": "error"},
    options=(
        Option("make_comparable=True", "A judged query that the run lacks counts as an empty list.", {"missing": "zero"}),
        Option(
            "-lN behind the name",
            "Items are relevant from grade N on; in nDCG, lower grades gain nothing.",
            params={"rel": "N"},
        ),
    ),
    differences=(
        "A run that lacks a judged query is refused, unless make_comparable=True counts it as an empty list.",
        "Tied results keep the order that its own sort leaves them in, which is mostly that of the input.",
        "With -l2 behind nDCG, grades below 2 gain nothing; judged takes a table, nDCG(gains={1:0}).",
    ),
    wrong=("RBP of grades above 1 can exceed 1.",),
)
