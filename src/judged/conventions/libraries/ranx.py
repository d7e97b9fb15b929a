"""ranx: names of its own, and a cutoff behind @."""

from __future__ import annotations

from judged.conventions.spec import Caution, Convention, Name, Option


def _both(theirs: str, ours: str, note: str = "") -> tuple[Name, Name]:
    return Name(theirs, ours, note), Name(f"{theirs}@{{k}}", f"{ours}@{{k}}", note)


CONVENTION = Convention(
    name="ranx",
    title="ranx",
    package="ranx",
    version="0.3.21",
    held="run",
    verified="Run side by side on generated data, query by query, without ties.",
    names=(
        *_both(
            "hits",
            "NumRelRet(aggregate=mean)",
            "The mean of the counts; judged sums them unless told otherwise.",
        ),
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
            "Equal for grades 0 and 1; ranx gains the bare grade, so that higher grades lead "
            "above 1.",
            cautions=(
                Caution(
                    "graded",
                    "ranx gains the bare grade in RBP, so that grades above 1 lead above 1; here "
                    "every relevant item gains 1.",
                ),
            ),
        ),
        Name(
            "bpref",
            "Bpref",
            cautions=(
                Caution(
                    "nothing relevant",
                    "ranx's bpref is not a number for a query with nothing relevant, nor is the "
                    "mean; it counts as 0 here.",
                ),
                Caution(
                    "all relevant",
                    "ranx's bpref is not a number for a query with nothing judged irrelevant, nor "
                    "is the mean; here it is.",
                ),
                Caution("negative", "ranx's bpref takes negative grades for irrelevant ones."),
            ),
        ),
    ),
    policy={"ties": "input", "missing": "error"},
    cautions=(
        Caution(
            "tied",
            "ranx leaves the order of tied results to a sort that need not keep that of the input, "
            "as is done here.",
        ),
    ),
    options=(
        Option(
            "make_comparable=True",
            "A judged query that the run lacks counts as an empty list.",
            {"missing": "zero"},
        ),
        Option(
            "-lN behind the name",
            "Items are relevant from grade N on; in nDCG, lower grades gain nothing.",
            params={"rel": "N"},
        ),
    ),
    differences=(
        "A run that lacks a judged query is refused, unless make_comparable=True counts it as an "
        "empty list.",
        "Tied results come in the order that its sort leaves them in: mostly that of the input in "
        "short lists, none in long ones.",
        "With -l2 behind nDCG, grades below 2 gain nothing; judged takes a table, "
        "nDCG(gains={1:0}).",
    ),
    wrong=(
        "Plain dicts whose queries come in another order than those of the judgements are scored "
        "against the wrong queries.",
        "RBP of grades above 1 can exceed 1.",
        "bpref is not a number where nothing was judged relevant, or nothing irrelevant, and then "
        "the mean is none either.",
        "bpref takes negative grades for irrelevant ones; for trec_eval and judged they are no "
        "judgements.",
    ),
)
