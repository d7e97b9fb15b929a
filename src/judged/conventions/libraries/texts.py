"""Text retrieval: BEIR, MTEB, MS MARCO, sentence-transformers, and trec_eval in Python."""

from __future__ import annotations

from dataclasses import replace

from judged.conventions.libraries import trec_eval
from judged.conventions.spec import SINGLE, Caution, Convention, Name, Option

OWN = {"ties": "input", "missing": "zero"}
OTHER = "Tied results keep the order of the input, and queries that the run lacks count as 0."

BEIR_SINGLE_PRECISION = Caution(
    "tied in single precision",
    f"BEIR computes this with pytrec_eval, which holds scores in {SINGLE}.",
)

BEIR = Convention(
    name="beir",
    title="BEIR",
    package="beir",
    version="2.2.0",
    held="run",
    verified="Run side by side on generated data.",
    names=(
        Name("NDCG@{k}", "nDCG@{k}", cautions=(BEIR_SINGLE_PRECISION,)),
        Name("MAP@{k}", "AP@{k}", cautions=(BEIR_SINGLE_PRECISION,)),
        Name("Recall@{k}", "R@{k}", cautions=(BEIR_SINGLE_PRECISION,)),
        Name("P@{k}", "P@{k}", cautions=(BEIR_SINGLE_PRECISION,)),
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

MTEB_SINGLE_PRECISION = Caution(
    "tied in single precision",
    f"MTEB computes this with pytrec_eval, which holds scores in {SINGLE}.",
)

MTEB = Convention(
    name="mteb",
    title="MTEB",
    package="mteb",
    version="2.26.24",
    held="run",
    verified="Run side by side on generated data.",
    names=(
        Name("ndcg_at_{k}", "nDCG@{k}", aliases=("NDCG@{k}",), cautions=(MTEB_SINGLE_PRECISION,)),
        Name("map_at_{k}", "AP@{k}", aliases=("MAP@{k}",), cautions=(MTEB_SINGLE_PRECISION,)),
        Name("recall_at_{k}", "R@{k}", aliases=("Recall@{k}",), cautions=(MTEB_SINGLE_PRECISION,)),
        Name("precision_at_{k}", "P@{k}", aliases=("P@{k}",), cautions=(MTEB_SINGLE_PRECISION,)),
        Name(
            "hit_rate_at_{k}",
            "Success@{k}",
            aliases=("HitRate@{k}",),
            cautions=(MTEB_SINGLE_PRECISION,),
        ),
        Name("mrr_at_{k}", "RR@{k}", aliases=("MRR@{k}",)),
        Name(
            "accuracy",
            "R@1",
            "The recall at 1 by another name; the share of right answers where one item is "
            "relevant.",
            cautions=(MTEB_SINGLE_PRECISION,),
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

MSMARCO = Convention(
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

SENTENCE_TRANSFORMERS = Convention(
    name="sentence-transformers",
    title="sentence-transformers (InformationRetrievalEvaluator)",
    aliases=("sbert", "sentence_transformers"),
    package="sentence-transformers",
    version="6.2.0",
    held="run",
    verified="Run side by side on generated data, without ties.",
    names=(
        Name("accuracy@{k}", "Success@{k}"),
        Name("precision@{k}", "P@{k}"),
        Name("recall@{k}", "R@{k}"),
        Name("ndcg@{k}", "nDCG(gain=binary)@{k}", "Everything relevant gains 1."),
        Name("mrr@{k}", "RR@{k}"),
        Name(
            "map@{k}",
            "AP(norm=capped)@{k}",
            "Divided by min(N, k), the most that k results can hold.",
        ),
    ),
    policy={"empty": "skip"},
    cautions=(
        Caution(
            "not relevant",
            "sentence-transformers takes every document of a query's set as relevant; judgements "
            "with a grade below 1 do not count here.",
        ),
        Caution(
            "tied",
            "sentence-transformers orders tied results by ascending id, which no policy of judged "
            "does.",
        ),
    ),
    differences=(
        "Every document of a query's set is relevant to the same degree; judgements must hold the "
        "relevant items only.",
        "Queries without a relevant document are left out when the evaluator is made.",
        "Tied results are ordered by ascending id, which no policy of judged does.",
    ),
)

DEPTH = "It reads 1000 results."
SCALE = "Gains are grades divided by the highest grade, here 4."

CWL_EVAL = Convention(
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

NOT_THERE = ("runid", "relstring", "dcg", "ideal_dcg", "yaap", "rbp", "rbp_resid", "unj")
"""Printed by trec_eval 10, not by version 9 or not as a number."""
OLDER = (
    "A recall point p asks for floor(p N + 0.9) relevant items, not for the least number that "
    "reaches it."
)


def _older(text: str) -> str:
    """Version 9 rounds recall points in another way."""
    return text.replace("rounding=trec_eval", "rounding=trec_eval9")


def _read(text: str) -> list[Name] | None:
    measures = None if text.partition(".")[0] in NOT_THERE else trec_eval.understood(text)
    return [Name(name, _older(measure)) for name, measure in measures or []] or None


PYTREC_EVAL = Convention(
    name="pytrec_eval",
    title="pytrec_eval (pytrec_eval-terrier)",
    aliases=("pytrec_eval-terrier", "pytrec-eval"),
    package="pytrec_eval-terrier",
    version="0.5.11",
    held="run",
    verified="Run side by side on generated data, query by query.",
    names=tuple(
        replace(name, ours=_older(name.ours), note=OLDER if "rounding" in name.ours else name.note)
        for name in trec_eval.CONVENTION.names
        if name.theirs.partition("_{")[0] not in NOT_THERE
    ),
    policy={"missing": "skip"},
    cautions=(Caution("tied in single precision", f"pytrec_eval holds scores in {SINGLE}."),),
    options=(
        Option(
            "relevance_level=N",
            "Items are relevant from grade N on; nDCG ignores it.",
            params={"rel": "N"},
        ),
        Option(
            "judged_docs_only_flag=True",
            "Unjudged items are removed from the lists.",
            {"unjudged": "removed"},
        ),
    ),
    differences=(
        "A judged query that the run lacks is left out of the result, and so of the mean.",
    ),
    wrong=(
        "Scores are held in single precision: scores that differ only beyond it are tied, and the "
        "item's id decides.",
        "A query whose grades are all negative makes it read memory that was never set.",
    ),
    reads=_read,
)

TRECTOOLS = Convention(
    name="trectools",
    title="trectools",
    package="trectools",
    version="0.0.50",
    held="run",
    verified="Run side by side on generated data, query by query.",
    names=(
        Name("get_map(depth={k})", "AP@{k}", aliases=("MAP@{k}", "map@{k}")),
        Name("get_precision(depth={k})", "P@{k}", aliases=("P_{k}", "P@{k}")),
        Name("get_recall(depth={k})", "R@{k}", aliases=("R_{k}", "R@{k}")),
        Name("get_reciprocal_rank(depth={k})", "RR@{k}", aliases=("recip_rank@{k}",)),
        Name("get_rprec()", "Rprec", aliases=("Rprec",)),
        Name(
            "get_ndcg(depth={k})",
            "nDCG@{k}",
            "Tied results are ordered by ascending id when a file is read, and as given when a "
            "frame is.",
            aliases=("NDCG_{k}", "NDCG@{k}"),
            cautions=(
                Caution(
                    "tied",
                    "trectools orders tied results by ascending id in nDCG, which no policy of "
                    "judged does.",
                ),
            ),
        ),
        Name(
            "get_ndcg(depth={k}, trec_eval=False)",
            "nDCG(gain=exp)@{k}",
            "The gain is 2^g - 1.",
        ),
        Name(
            "get_bpref()",
            "Bpref",
            aliases=("bpref",),
            cautions=(
                Caution("negative", "trectools' bpref takes negative grades for relevant ones."),
                Caution(
                    "all relevant",
                    "trectools' bpref is 0 for a query with nothing judged irrelevant; here it is "
                    "not.",
                ),
            ),
        ),
        Name(
            "get_rbp(p={p}, depth={k})",
            "RBP(p={p})@{k}",
            "Weights are averaged over the tied results among the first k.",
            policy={"ties": "expected"},
            cautions=(
                Caution(
                    "tied",
                    "trectools cuts the list before it averages tied results in RBP; here it is "
                    "the mean over all their orders.",
                ),
            ),
        ),
        Name(
            "get_unjudged(depth={k})",
            "",
            "Divided by k even where the list is shorter; a negative grade is a judgement there.",
        ),
        Name(
            "get_geometric_map()",
            "",
            "NaN as soon as one query has no relevant item or is missing from the run.",
        ),
    ),
    policy={"missing": "skip"},
    cautions=(
        Caution(
            "unjudged queries",
            "trectools counts a query of the run that nobody judged as 0; it is left out here.",
        ),
    ),
    options=(
        Option(
            "trec_eval=False",
            "Results keep the order of the file; nDCG gains 2^g - 1.",
            {"ties": "input"},
        ),
        Option(
            "removeUnjudged=True",
            "Unjudged items are removed from the lists, for P, R, nDCG and RBP.",
            {"unjudged": "removed"},
        ),
    ),
    differences=(
        "Judged queries that the run lacks are left out.",
        "A query of the run that nobody judged counts as 0; judged leaves it out, as trec_eval "
        "does.",
        "nDCG and RBP order tied results by ascending id, the other measures by descending id.",
    ),
    wrong=(
        "RBP cuts the list before it averages, so that of a tie across rank k some results count "
        "and others do not.",
        "RBP takes the last result of a query and the first of the next for tied where their "
        "scores are equal.",
        "bpref is 0 where nothing was judged irrelevant, and takes negative grades for relevant "
        "ones.",
        "removeUnjudged=True changes nothing for RR and R-precision.",
        "R-precision stops with an error where the run has a query that nobody judged.",
        "Queries without a single relevant result are missing from the values by query.",
    ),
)
