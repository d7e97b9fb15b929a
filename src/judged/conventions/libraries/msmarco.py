"""MS MARCO's evaluation script for passage and document ranking."""

from __future__ import annotations

from judged.conventions.spec import Caution, Convention, Name

CONVENTION = Convention(
    name="msmarco",
    title="MS MARCO's script",
    aliases=("ms-marco", "msmarco_eval"),
    version="2019-01-21",
    held="run",
    verified=(
        "Its function, as it comes with ir_measures, run side by side on generated data; the "
        "division is a twin by hand."
    ),
    names=(Name("MRR @10", "RR@10", "Ten results count.", aliases=("MRR@10", "RR@10")),),
    policy={"ties": "input"},
    cautions=(
        Caution(
            "not relevant",
            "MS MARCO's script takes every line of the judgements as relevant, whatever its "
            "grade; judgements with a grade below 1 do not count here.",
        ),
    ),
    differences=(
        "The rank column decides; there are no scores and no ties.",
        "The sum is divided by the number of judged queries, so one that the run lacks counts as "
        "0.",
        "Every line of the judgements is relevant, whatever its grade; judgements must hold the "
        "relevant items only.",
    ),
)
