"""ir_measures: the notation that judged shares, computed by one of several providers."""

from __future__ import annotations

import math
import re
from dataclasses import replace

from judged.conventions.spec import SINGLE, Caution, Convention, Name, Option

PLACES = "A recall point p asks for floor(p N + 0.9) relevant items, as trec_eval 9 does."
READS = "Computed by cwl_eval, which reads 1000 results."
SCALE = "Computed by cwl_eval: gains are grades divided by max_rel."
NO_CUTOFF = "ir_measures cannot compute it without a cutoff: name one."
NO_PROVIDER = "None of the providers of ir_measures computes it."

ASCENDING = Caution(
    "tied",
    "ir_measures orders tied results by ascending id in RR@k and Judged@k, which no policy of "
    "judged does.",
)
SINGLE_PRECISION = Caution(
    "tied in single precision",
    f"ir_measures computes this with pytrec_eval, which holds scores in {SINGLE}.",
)
UNRULED = Caution("tied", "cwl_eval has no rule for the order of tied results.")
NEGATIVE = Caution("negative", "A negative grade counts as a judgement in ir_measures' Judged.")
LACKING = Caution(
    "missing", "ir_measures counts 0 for a query that the run lacks, also in NumRel and NumQ."
)
BY_JUDGEMENTS = "A query that the run lacks counts as 0."
BY_NDEVAL = "Computed by ndeval, of judgements by subtopic, with cutoffs up to 20."
AT_RANK_1 = f"{BY_NDEVAL} At rank 1 it is not divided by the number of subtopics."

_AT_ONE_CUTOFF = (
    *(("alpha_nDCG", BY_NDEVAL), ("alpha_DCG", AT_RANK_1), ("ERR_IA", AT_RANK_1)),
    *(("nERR_IA", BY_NDEVAL), ("P_IA", BY_NDEVAL), ("StRecall", BY_NDEVAL)),
)
_GREEK = {"alpha_nDCG": ("α_nDCG",), "alpha_DCG": ("α_DCG",)}


def _of_subtopics() -> list[Name]:
    """Return the measures of ndeval, which need a cutoff or have none."""
    found = []
    for name, note in _AT_ONE_CUTOFF:
        other = _GREEK.get(name, ())
        aliases = tuple(f"{each}@{{k}}" for each in other)
        found.append(Name(f"{name}@{{k}}", f"{name}@{{k}}", note, aliases=aliases))
        found.append(Name(name, "", NO_CUTOFF, aliases=other))
    found.append(Name("AP_IA", "AP_IA", BY_NDEVAL, aliases=("MAP_IA",)))
    return [*found, *(Name(name, name, BY_NDEVAL) for name in ("NRBP", "nNRBP"))]


def _of_user_models() -> list[Name]:
    """Return the measures of cwl_eval, whose gains need the highest grade."""
    at_k, whole = ("BPM", "NERR8", "NERR9", "SDCG"), ("INST", "INSQ", "NERR10", "NERR11")
    limit = "(max_rel={m})"
    return [
        *(
            Name(f"{name}{limit}@{{k}}", f"{name}{limit}@{{k}}", SCALE, cautions=(UNRULED,))
            for name in at_k
        ),
        *(
            Name(f"{name}{limit}", f"{name}{limit}@1000", f"{READS} {SCALE}", cautions=(UNRULED,))
            for name in whole
        ),
    ]


_NAMES = (
    Name("P@{k}", "P@{k}", aliases=("Precision@{k}",)),
    Name("SetP", "P"),
    Name(
        "SetP(relative=True)",
        "R(norm=capped)",
        "Recall of the whole list divided by the most that it can hold.",
        aliases=("SetRelP",),
        plain=False,
    ),
    Name("R@{k}", "R@{k}", aliases=("Recall@{k}",)),
    Name("SetR", "R"),
    Name("SetF", "F"),
    Name("SetAP", "SetAP"),
    Name("AP", "AP", aliases=("MAP",)),
    Name("AP@{k}", "AP@{k}", aliases=("MAP@{k}",)),
    Name("RR", "RR", aliases=("MRR",)),
    Name(
        "RR@{k}",
        "RR@{k}",
        "Computed by MS MARCO's script, which orders tied results by ascending id.",
        aliases=("MRR@{k}",),
        cautions=(ASCENDING,),
    ),
    Name("Rprec", "Rprec"),
    Name("Bpref", "Bpref"),
    Name("infAP", "infAP"),
    Name("Success@{k}", "Success@{k}"),
    Name("nDCG", "nDCG"),
    Name("nDCG@{k}", "nDCG@{k}"),
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
    Name("ERR", "", NO_CUTOFF),
    Name(
        "RBP(p={p},rel={rel})",
        "RBP(p={p}, rel={rel})@1000",
        f"{READS} Tied results come in whatever order a sort leaves them in.",
        cautions=(UNRULED,),
    ),
    Name("RBP", "", "ir_measures computes it with rel only, as RBP(p=0.8,rel=1)."),
    Name("RBP@{k}", "", NO_PROVIDER),
    Name("IPrec@{x}", "IPrec(rounding=trec_eval9)@{x}", PLACES),
    Name(
        "Judged@{k}",
        "Judged@{k}",
        "A negative grade counts as a judgement, and tied results are ordered by ascending id.",
        cautions=(ASCENDING, NEGATIVE),
    ),
    Name("Judged", "Judged", "A negative grade counts as a judgement.", cautions=(NEGATIVE,)),
    Name("NumQ", "NumQ", BY_JUDGEMENTS, cautions=(LACKING,)),
    Name("NumRel", "NumRel", BY_JUDGEMENTS, cautions=(LACKING,)),
    Name("NumRet", "NumRet"),
    Name("NumRet(rel={rel})", "NumRelRet(rel={rel})", aliases=("NumRelRet(rel={rel})",)),
    *_of_subtopics(),
    *_of_user_models(),
    Name(
        "Compat",
        "",
        "It compares the lists down to the longer of the two, which differs from query to query; "
        "Compat@k does so down to rank k.",
    ),
    Name(
        "Accuracy",
        "",
        "It is the share of pairs of a relevant and another result that are in the right order, "
        "over queries with a relevant result.",
    ),
    Name("Accuracy@{k}", "", "It is Accuracy of the first k results."),
)
_BY_PYTREC_EVAL = {
    *("P@{k}", "R@{k}", "AP", "AP@{k}", "RR", "Rprec", "Bpref", "infAP", "Success@{k}"),
    *("nDCG", "nDCG@{k}", "IPrec@{x}"),
}
NAMES = tuple(
    replace(name, cautions=(*name.cautions, SINGLE_PRECISION))
    if name.theirs in _BY_PYTREC_EVAL
    else name
    for name in _NAMES
)

_TEXT = re.compile(r"([^\W\d]\w*)\((.*)\)(?:@([\d.]+))?")
_NUMERIC = re.compile(r"\d*\.?\d+")
_JUDGED_ONLY = {
    *("P@{k}", "SetP", "SetP(relative=True)", "R@{k}", "SetF", "SetAP", "AP", "AP@{k}", "RR"),
    *("Rprec", "Success@{k}", "nDCG", "nDCG@{k}", "IPrec@{x}"),
}
"""Names that are computed with judged_only=True too."""
_TAKES = {
    **dict.fromkeys(("alpha_nDCG", "alpha_DCG"), ("alpha",)),
    **dict.fromkeys(("NRBP", "nNRBP"), ("alpha", "beta")),
    **dict.fromkeys(("BPM", "INST", "INSQ", "NERR11"), ("T", "min_rel", "max_rel")),
    "NERR10": ("p", "min_rel", "max_rel"),
    **dict.fromkeys(("NERR8", "NERR9", "SDCG"), ("min_rel", "max_rel")),
    "RBP": ("p",),
    "SetF": ("beta",),
}
"""Parameters in the brackets of a name besides rel and judged_only."""


def read(text: str) -> list[Name] | None:
    """Read a name whose brackets hold other parameters than its template, in any order."""
    found = _TEXT.fullmatch(re.sub(r"\s", "", text))
    if not found:
        return None
    called, inside, cutoff = found.groups()
    params = dict(part.partition("=")[::2] for part in inside.split(",") if part)
    shared = {"relative": params.pop("relative")} if "relative" in params else {}
    only = params.pop("judged_only", "False") == "True"
    if template := _refused(called, cutoff, params):
        return [Name(text, "", template.note)]
    template = _template(called, shared, cutoff, params)
    if template is None or not all(map(_NUMERIC.fullmatch, params.values())):
        return None
    own = template.theirs.partition("(")[0].partition("@")[0]
    if not params.keys() <= {"rel", *_TAKES.get(own, ())}:
        return None
    written = ",".join(f"{key}={value}" for key, value in {**shared, **params}.items())
    written += ",judged_only=True" if only else ""
    theirs = f"{own}({written.strip(',')})" + (f"@{cutoff}" if cutoff else "")
    if only and template.theirs not in _JUDGED_ONLY:
        return [Name(theirs, "", NO_PROVIDER)]
    return [
        Name(
            theirs,
            _expressed(template, params, cutoff),
            template.note,
            policy={"unjudged": "removed"} if only else {},
            cautions=template.cautions,
        )
    ]


def _refused(called: str, cutoff: str | None, params: dict[str, str]) -> Name | None:
    """Return a name of ir_measures that cannot be computed, whatever its brackets hold."""
    if called.lower() in ("ndcg", "compat", "accuracy") or "rel" not in params or cutoff:
        for name in NAMES:
            word, _, at = name.theirs.partition("@")
            if not name.ours and word.lower() == called.lower() and bool(at) == bool(cutoff):
                return name
    return None


def _template(
    called: str, shared: dict[str, str], cutoff: str | None, params: dict[str, str]
) -> Name | None:
    """Return the name with the same word and a cutoff, if there is one."""
    for name in NAMES:
        word = next(
            (
                each
                for each in (name.theirs, *name.aliases)
                if each.partition("(")[0].partition("@")[0].lower() == called.lower()
            ),
            None,
        )
        if word is None or not name.ours or ("@" in name.theirs) != (cutoff is not None):
            continue
        needs = set(re.findall(r"(\w+)=\{", name.theirs)) - {"p"}
        fixed = "relative=True" in name.theirs
        # A grade in the brackets of NumRet makes it another measure.
        if needs <= params.keys() and fixed == (shared.get("relative") == "True"):
            if "dcg=" in name.theirs or (called.lower() == "numret" and not needs and params):
                continue
            return name
    return None


def _expressed(template: Name, params: dict[str, str], cutoff: str | None) -> str:
    """Return our measure of a template with these parameters."""
    measure, _, at = template.ours.partition("@")
    name, _, inside = measure.rstrip(")").partition("(")
    own = dict(part.strip().partition("=")[::2] for part in inside.split(",") if part)
    kept = {key: value for key, value in own.items() if "{" not in value}
    given = dict(params)
    if name == "F" and "beta" in given:
        # The parameter of trec_eval's set_F is the square of the usual beta.
        given["beta"] = repr(math.sqrt(float(given["beta"])))
    merged = ", ".join(f"{key}={value}" for key, value in {**kept, **given}.items())
    end = cutoff if "{" in at else at
    return f"{name}({merged})" + (f"@{end}" if end else "")


CONVENTION = Convention(
    name="ir_measures",
    title="ir_measures",
    aliases=("ir-measures",),
    package="ir_measures",
    version="0.4.3",
    held="run",
    verified="Run side by side on generated data, query by query.",
    names=NAMES,
    options=(
        Option("rel=N in brackets", "Items are relevant from grade N on.", params={"rel": "N"}),
        Option(
            "judged_only=True in brackets",
            "Unjudged items are removed from the lists.",
            {"unjudged": "removed"},
        ),
    ),
    differences=(
        "NumRel and NumQ count a query that the run lacks as 0.",
        "A negative grade counts as a judgement in Judged; for judged and trec_eval it is none.",
        "SetF takes the square of the usual beta.",
    ),
    wrong=(
        "The order of tied results depends on which provider computes the measure: RR orders "
        "them by descending id, RR@10 and Judged by ascending id, and cwl_eval has no rule.",
        "ERR_IA@1 and alpha_DCG@1 are not divided by the number of subtopics, as at other ranks.",
        "judged_only ends in an error for measures of subtopics.",
    ),
    reads=read,
)
