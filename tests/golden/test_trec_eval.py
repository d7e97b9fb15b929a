"""What trec_eval 10.0 printed for the runs in `trec_eval/`, line by line, to the printed digit."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path

from judged import Policy, evaluate
from judged.measures import Measure, parse_measure
from support.evaluating import add_choices
from support.loops import for_each

FOLDER = Path(__file__).parent / "trec_eval"

NAMES = {
    "num_q": "NumQ",
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
    "map": "AP",
    "gm_map": "GMAP",
    "Rprec": "Rprec",
    "recip_rank": "RR",
    "11pt_avg": "IAP(rounding=trec_eval)",
    "11pt_avg_.25,.5,.75": "IAP(points=[0.25,0.5,0.75], rounding=trec_eval)",
    "ndcg": "nDCG",
    "ndcg_1=3,2=9": "nDCG(gains={1:3,2:9})",
    "set_P": "P",
    "set_recall": "R",
    "set_F": "F",
    # trec_eval takes its parameter for beta squared.
    "set_F_2.0": f"F(beta={sqrt(2)})",
}
CUTOFFS = {
    "P_": "P@",
    "recall_": "R@",
    "relative_P_": "R(norm=capped)@",
    "success_": "Success@",
    "map_cut_": "AP@",
    "ndcg_cut_": "nDCG@",
    "iprec_at_recall_": "IPrec(rounding=trec_eval)@",
}

HALF_A_DIGIT = 0.00005 + 1e-15
"""Four decimals are printed; a value half-way between two of them (0.36875) may go either way."""

# Version 10.0 stops at a judged query that the run lacks unless -c; only such a case (`missing`)
# tells skip from zero.
LEFT_OUT = Policy(missing="skip")


@dataclass(frozen=True)
class Flags:
    """What a flag set is called here."""

    policy: Policy = LEFT_OUT
    depth: int | None = None
    rel: int = 1


FLAGS = {
    "official": Flags(),
    "all_q": Flags(),
    "params": Flags(),
    "all_q_complete": Flags(policy=Policy(missing="zero")),
    "all_q_level2": Flags(rel=2),
    "all_q_max10": Flags(depth=10),
    "all_q_judged_only": Flags(policy=Policy(missing="skip", unjudged="removed")),
}
CASES = sorted(
    (path.parent.name, path.stem) for path in FOLDER.glob("*/*.out") if path.stem in FLAGS
)


@dataclass
class Comparison:
    compared: int = 0
    queries: int = 0
    names: set[str] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)


def measure_of(name: str, rel: int) -> Measure | None:
    text = NAMES.get(name)
    if text is None:
        found = re.fullmatch(r"([A-Za-z_]+_)([\d.]+)", name)
        if not found or found[1] not in CUTOFFS:
            return None
        text = CUTOFFS[found[1]] + found[2]
    measure = parse_measure(text)
    return measure(rel=rel) if "rel" in measure.params else measure


def compare(case: str, flagset: str) -> Comparison:
    flags = FLAGS[flagset]
    folder = FOLDER / case
    rows = [
        line.split("\t")
        for line in (folder / f"{flagset}.out").read_text(encoding="utf-8").splitlines()
    ]
    rows = [(name.strip(), query, printed) for name, query, printed in rows]
    measures = {name: found for name, _, _ in rows if (found := measure_of(name, flags.rel))}
    evaluation = evaluate(
        folder / "qrels",
        folder / "run",
        list(measures.values()),
        policy=add_choices(flags.policy, depth=flags.depth),
    )
    scored = evaluation.scored()
    place = {query: at for at, query in enumerate(scored.rankings.queries)}
    result = Comparison(queries=len({query for _, query, _ in rows} - {"all"}), names=set(measures))
    for name, query, printed in rows:
        if name not in measures:
            continue
        measure = measures[name]
        value = scored.summary[measure] if query == "all" else scored.values[measure][place[query]]
        result.compared += 1
        if abs(value - float(printed)) > (HALF_A_DIGIT if "." in printed else 0):
            result.wrong.append(
                f"{name} of {query}: trec_eval printed {printed}, judged has {value!r}"
            )
    return result


@for_each(("case", "flagset"), CASES)
def test_every_line(case: str, flagset: str) -> None:
    comparison = compare(case, flagset)
    assert comparison.wrong == []
    # 28 measures in the official summary; 16 in `params` and 70 in the others, for each query and
    # for all of them (there with num_q and gm_map, of which `params` has neither).
    if flagset == "official":
        assert comparison.compared == 28
    elif flagset == "params":
        assert comparison.compared == 16 * (comparison.queries + 1)
    else:
        assert comparison.compared == 70 * (comparison.queries + 1) + 2


def test_all_cases_and_flag_sets_are_here() -> None:
    assert {flagset for _, flagset in CASES} == set(FLAGS)
    assert (
        len(CASES) == 10 * len(FLAGS) + 1
    )  # ten cases with everything, and `missing`, which needs -c


def test_every_name_is_compared_somewhere() -> None:
    seen = {
        name
        for case, flagset in CASES
        if case in ("plain", "missing")
        for name in compare(case, flagset).names
    }
    assert set(NAMES) <= seen
    assert all(any(name.startswith(prefix) for name in seen) for prefix in CUTOFFS)


def test_single_precision_ties_are_not_imitated() -> None:
    # trec_eval 9 held scores in single precision, where these two are equal and the id decides (b
    # first).
    run = {"q": {"a": 1.00000001, "b": 1.0}}
    assert evaluate({"q": {"a": 1}}, run, ["RR"]).value() == 1.0
