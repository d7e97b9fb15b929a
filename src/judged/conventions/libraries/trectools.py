"""trectools: trec_eval's measures over pandas."""

from __future__ import annotations

from judged.conventions.spec import Caution, Convention, Name, Option

CONVENTION = Convention(
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
