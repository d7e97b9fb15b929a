"""What trec_eval 10.0 printed for the runs in `trec_eval/`, line by line, to the printed digit."""

from __future__ import annotations

import re
from math import sqrt
from pathlib import Path
from typing import Any

from judged import evaluate
from judged.measures import Measure, parse_measure
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
LEFT_OUT: dict[str, Any] = {"missing": "skip"}
POLICIES: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("official", "all_q", "params", "all_q_level2"), LEFT_OUT),
    "all_q_complete": {"missing": "zero"},
    "all_q_max10": {**LEFT_OUT, "depth": 10},
    "all_q_judged_only": {**LEFT_OUT, "unjudged": "removed"},
}
CASES = sorted(
    (path.parent.name, path.stem) for path in FOLDER.glob("*/*.out") if path.stem in POLICIES
)


def printed(case: str, flags: str) -> list[tuple[str, str, str]]:
    """Return name, query and value of all lines."""
    text = (FOLDER / case / f"{flags}.out").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines()]
    return [(name.strip(), query, value) for name, query, value in rows]


def measure_of(name: str, rel: int = 1) -> Measure | None:
    text = NAMES.get(name)
    if text is None:
        found = re.fullmatch(r"([A-Za-z_]+_)([\d.]+)", name)
        if not found or found[1] not in CUTOFFS:
            return None
        text = CUTOFFS[found[1]] + found[2]
    measure = parse_measure(text)
    return measure(rel=rel) if "rel" in measure.params else measure


@for_each(("case", "flags"), CASES)
def test_every_line(case: str, flags: str) -> None:
    rows, rel = printed(case, flags), 2 if flags == "all_q_level2" else 1
    measures = {name: found for name, _, _ in rows if (found := measure_of(name, rel))}
    files = FOLDER / case / "qrels", FOLDER / case / "run"
    scored = evaluate(*files, list(measures.values()), policy=POLICIES[flags]).scored()
    place = {query: at for at, query in enumerate(scored.rankings.queries)}
    wrong, compared = [], 0
    for name, query, text in (row for row in rows if row[0] in measures):
        measure = measures[name]
        value = scored.summary[measure] if query == "all" else scored.values[measure][place[query]]
        compared += 1
        if abs(value - float(text)) > (HALF_A_DIGIT if "." in text else 0):
            wrong.append(f"{name} of {query}: trec_eval printed {text}, judged has {value!r}")
    assert wrong == []
    # 28 measures in the official summary; 16 in `params` and 70 in the others, for each query and
    # for all of them (there with num_q and gm_map, of which `params` has neither).
    queries = len({query for _, query, _ in rows} - {"all"})
    expected = {"official": 28, "params": 16 * (queries + 1)}
    assert compared == expected.get(flags, 70 * (queries + 1) + 2)


def test_all_cases_flags_and_names_are_here() -> None:
    assert {flags for _, flags in CASES} == set(POLICIES)
    # Ten cases with everything, and `missing`, which needs -c.
    assert len(CASES) == 10 * len(POLICIES) + 1
    seen = {name for case, flags in CASES for name, _, _ in printed(case, flags)}
    assert set(NAMES) <= seen
    assert all(any(name.startswith(prefix) for name in seen) for prefix in CUTOFFS)


def test_single_precision_ties_are_not_imitated() -> None:
    # trec_eval 9 held scores in single precision, where these two are equal and the id decides (b
    # first).
    run = {"q": {"a": 1.00000001, "b": 1.0}}
    assert evaluate({"q": {"a": 1}}, run, ["RR"]).value() == 1.0
