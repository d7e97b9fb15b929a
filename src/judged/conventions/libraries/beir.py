"""BEIR: pytrec_eval's measures at several cutoffs, and a few of its own."""

from __future__ import annotations

from judged.conventions.spec import SINGLE, Caution, Convention, Name

OWN = {"ties": "input", "missing": "zero"}
OTHER = "Tied results keep the order of the input, and queries that the run lacks count as 0."

SINGLE_PRECISION = Caution(
    "tied in single precision",
    f"BEIR computes this with pytrec_eval, which holds scores in {SINGLE}.",
)

CONVENTION = Convention(
    name="beir",
    title="BEIR",
    package="beir",
    version="2.2.0",
    held="run",
    verified="Run side by side on generated data.",
    names=(
        Name("NDCG@{k}", "nDCG@{k}", cautions=(SINGLE_PRECISION,)),
        Name("MAP@{k}", "AP@{k}", cautions=(SINGLE_PRECISION,)),
        Name("Recall@{k}", "R@{k}", cautions=(SINGLE_PRECISION,)),
        Name("P@{k}", "P@{k}", cautions=(SINGLE_PRECISION,)),
        Name("MRR@{k}", "RR@{k}", OTHER, policy=OWN),
        Name(
            "R_cap@{k}",
            "R(norm=capped)@{k}",
            f"Divided by min(N, k). {OTHER}",
            policy={**OWN, "empty": "error"},
            plain=False,
        ),
        Name("Accuracy@{k}", "Success@{k}", OTHER, policy=OWN, aliases=("top_k_accuracy@{k}",)),
        Name(
            "Hole@{k}",
            "",
            "The share of results that nobody judged for any query, not for this one.",
        ),
    ),
    policy={"missing": "skip"},
    drops_own_id=True,
    differences=(
        "Queries that the run lacks are left out of NDCG, MAP, Recall and P, and count as 0 in "
        "the others.",
        "An item whose id is that of the query is removed from the run first, unless "
        "ignore_identical_ids=False. judged does so too.",
        "Values are rounded to five decimals.",
    ),
    wrong=(
        "The run that is passed in is changed: items with the id of their query are taken out of "
        "it. MRR, R_cap and Accuracy do not take them out, but see the changed run after NDCG.",
        "R_cap stops with a division by zero where a query has nothing relevant.",
        "The measures of its own stop with an error where the run has a query that nobody judged.",
    ),
    tolerance=0.5000001e-5,
)
