"""MTEB's retrieval scores: pytrec_eval's measures at several cutoffs, and reciprocal rank."""

from __future__ import annotations

from judged.conventions.spec import SINGLE, Caution, Convention, Name

SINGLE_PRECISION = Caution(
    "tied in single precision",
    f"MTEB computes this with pytrec_eval, which holds scores in {SINGLE}.",
)

CONVENTION = Convention(
    name="mteb",
    title="MTEB",
    package="mteb",
    version="2.26.24",
    held="run",
    verified="Run side by side on generated data.",
    names=(
        Name("ndcg_at_{k}", "nDCG@{k}", aliases=("NDCG@{k}",), cautions=(SINGLE_PRECISION,)),
        Name("map_at_{k}", "AP@{k}", aliases=("MAP@{k}",), cautions=(SINGLE_PRECISION,)),
        Name("recall_at_{k}", "R@{k}", aliases=("Recall@{k}",), cautions=(SINGLE_PRECISION,)),
        Name("precision_at_{k}", "P@{k}", aliases=("P@{k}",), cautions=(SINGLE_PRECISION,)),
        Name(
            "hit_rate_at_{k}", "Success@{k}", aliases=("HitRate@{k}",), cautions=(SINGLE_PRECISION,)
        ),
        Name("mrr_at_{k}", "RR@{k}", aliases=("MRR@{k}",)),
        Name(
            "accuracy",
            "R@1",
            "The recall at 1 by another name; the share of right answers where one item is "
            "relevant.",
            cautions=(SINGLE_PRECISION,),
        ),
        Name(
            "R_cap_at_{k}",
            "R(norm=capped)@{k}",
            "Divided by min(N, k). Queries with nothing relevant are left out.",
            policy={"empty": "skip"},
            plain=False,
        ),
        Name(
            "nauc_ndcg_at_{k}_max",
            "",
            "How well scores tell good queries from bad ones, which needs the scores themselves.",
        ),
    ),
    policy={"missing": "skip"},
    cautions=(
        Caution(
            "own ids",
            "Some of MTEB's tasks (ArguAna, Quora and others) take such results out first, the "
            "others keep them; they are kept here.",
        ),
    ),
    differences=(
        "Queries that the run lacks are left out.",
        "Values are rounded to five decimals, but for mrr.",
    ),
    wrong=(
        "The Accuracy@k of its top_k_accuracy has one entry for each query with a hit and none "
        "for the others.",
    ),
    tolerance=0.5000001e-5,
)
