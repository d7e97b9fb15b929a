"""How much of what was shown has been judged at all."""

from __future__ import annotations

from judged.measures.params import K
from judged.measures.spec import ITSELF, Example, Undefined, measure
from judged.rankings.rankings import Cutoff, Rankings
from judged.segments import Floats, divide


@measure(
    name="Judged",
    tells_unjudged=True,
    title="Share of judged results",
    says="Share of the first k results that were judged, relevant or not (a negative grade is "
    "no judgement); "
    "a list shorter than k is divided by its own length.",
    formula=r"\frac{|judged \cap first\ k|}{\min(k, |results|)}",
    reference="buckley2004",
    range=(0, 1),
    params=(K,),
    undefined=Undefined(
        "nothing was retrieved, or k=R with nothing relevant",
        lambda r, params: r.shown(params["k"], 1) == 0,
    ),
    rates_relevance=False,
    laws={"below_k_is_ignored"},
    example=Example("Judged@4", "1 - 0 -", 0.5),
    expected=ITSELF,
)
def judged_share(r: Rankings, *, k: Cutoff) -> Floats:
    return divide(r.counted(r.hit_grade >= 0, r.cutoff(k, 1)), r.shown(k, 1))
