"""Quepid's scorers: scripts that its users may edit."""

from __future__ import annotations

from judged.conventions.spec import Caution, Convention, Name

CONVENTION = Convention(
    name="quepid",
    title="Quepid",
    version="7.x",
    held="reading",
    verified=(
        "The source was read and written again by hand, and that was compared on generated data."
    ),
    names=(
        Name("P@{k}", "P(short=shrink)@{k}", "A list shorter than k is divided by its own length."),
        Name(
            "AP@{k}",
            "AP@{k}",
            cautions=(
                Caution(
                    "nothing relevant",
                    "Quepid's AP is not a number where nothing is relevant; it counts as 0 here.",
                ),
            ),
        ),
        Name("RR@{k}", "RR@{k}"),
        Name("DCG@{k}", "DCG(gain=exp)@{k}", "The gain is 2^g - 1."),
        Name("NDCG@{k}", "nDCG(gain=exp)@{k}", "The gain is 2^g - 1."),
        Name("ERR@{k}", "ERR(max_grade=3)@{k}", "The highest grade is 3."),
        Name("CG@{k}", "", "Ratings added up without a discount are not a measure of judged."),
    ),
    policy={"ties": "input"},
    cautions=(Caution("fractional", "Quepid takes every rating above 0 as relevant, 0.5 too."),),
    differences=(
        "The order of the response counts.",
        "Scorers are scripts with k = 10 or 5 written in them, which users copy and change.",
    ),
    wrong=(
        "AP is not a number where nothing is relevant.",
        "The NDCG of some releases cuts the list at k but not the ideal list, so that a perfect "
        "list scores below 1.",
    ),
)
