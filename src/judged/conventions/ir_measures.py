"""ir_measures: the notation that judged shares, computed by one of several providers."""

from __future__ import annotations

from judged.conventions.spec import SINGLE, Caution, Convention, Name, Option

PLACES = "A recall point p asks for floor(p N + 0.9) relevant items, as trec_eval 9 does."

ASCENDING = Caution(
    "tied",
    "ir_measures orders tied results by ascending id in RR@k and Judged@k, which no policy of "
    "judged does.",
)

SINGLE_PRECISION = Caution(
    "tied in single precision",
    f"ir_measures computes this with pytrec_eval, which holds scores in {SINGLE}.",
)


def _by_pytrec_eval(theirs: str, ours: str, note: str = "") -> Name:
    return Name(theirs, ours, note, cautions=(SINGLE_PRECISION,))


CONVENTION = Convention(
    name="ir_measures",
    title="ir_measures",
    aliases=("ir-measures",),
    package="ir_measures",
    version="0.4.3",
    held="run",
    verified="Run side by side on generated data, query by query.",
    names=(
        _by_pytrec_eval("P@{k}", "P@{k}"),
        Name("SetP", "P"),
        _by_pytrec_eval("R@{k}", "R@{k}"),
        Name("SetR", "R"),
        Name("SetF", "F"),
        _by_pytrec_eval("AP", "AP"),
        _by_pytrec_eval("AP@{k}", "AP@{k}"),
        _by_pytrec_eval("RR", "RR"),
        Name(
            "RR@{k}",
            "RR@{k}",
            "Computed by MS MARCO's script, which orders tied results by ascending id.",
            cautions=(ASCENDING,),
        ),
        _by_pytrec_eval("Rprec", "Rprec"),
        _by_pytrec_eval("Bpref", "Bpref"),
        _by_pytrec_eval("infAP", "infAP"),
        _by_pytrec_eval("Success@{k}", "Success@{k}"),
        _by_pytrec_eval("nDCG", "nDCG"),
        _by_pytrec_eval("nDCG@{k}", "nDCG@{k}"),
        Name(
            "nDCG(dcg='exp-log2')@{k}",
            "nDCG(gain=exp)@{k}",
            "Computed by gdeval, which prints five decimals.",
            aliases=("nDCG(dcg=exp-log2)@{k}",),
        ),
        Name(
            "ERR@{k}",
            "ERR@{k}",
            "Computed by gdeval, which prints five decimals; the highest grade is 4 in all data.",
        ),
        Name(
            "RBP(p={p},rel={rel})",
            "RBP(p={p}, rel={rel})@1000",
            "Computed by cwl_eval, which reads 1000 results; tied ones come in whatever order a "
            "sort leaves them in.",
            cautions=(
                Caution("tied", "ir_measures has no rule for the order of tied results in RBP."),
            ),
        ),
        _by_pytrec_eval("IPrec@{x}", "IPrec(rounding=trec_eval9)@{x}", PLACES),
        Name(
            "Judged@{k}",
            "Judged@{k}",
            "A negative grade counts as a judgement, and tied results are ordered by ascending id.",
            cautions=(
                ASCENDING,
                Caution(
                    "negative", "A negative grade counts as a judgement in ir_measures' Judged."
                ),
            ),
        ),
        Name("NumRet", "NumRet"),
        Name("NumRet(rel={rel})", "NumRelRet(rel={rel})"),
    ),
    options=(
        Option("rel=N in brackets", "Items are relevant from grade N on.", params={"rel": "N"}),
    ),
    differences=(
        "NumRel and NumQ count a query that the run lacks as 0.",
        "A negative grade counts as a judgement in Judged; for judged and trec_eval it is none.",
    ),
    wrong=(
        "The order of tied results depends on which provider computes the measure: RR orders "
        "them by descending id, RR@10 and Judged by ascending id, and RBP has no rule.",
    ),
)
