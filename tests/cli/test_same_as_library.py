"""Each command prints what the function of the library gives, with the same options."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import judged as library
from judged import errors
from judged.embeddings.relevance import pairs, same_id, same_label, same_row
from judged.evaluation.advice import advise
from judged.learning.temperature import study, sweep
from judged.runs.funnel import funnel
from support.loops import for_each

RUNS = ["a.run", "b.run"]


def embeddings(relevance: Any = None, **options: Any) -> library.Embeddings:
    return library.Embeddings("q.npy", "i.npy", labels=relevance, **options)


def evaluate(*measures: str, **options: Any) -> Any:
    return library.evaluate("many.qrels", RUNS, list(measures), **options)


LABELS = (["0", "1", "2", "3"] * 10, ["0", "1", "2", "3"] * 10)
IDS = [f"i{number}" for number in range(40)]
EVALUATE = "evaluate many.qrels a.run b.run -m RR"
VECTORS = "q.npy i.npy --labels labels labels"
TRAIN = f"temperature --train {VECTORS} -t 0.1 -t 3 --iterations 4"
SAME: dict[str, Callable[[], Any]] = {
    f"{EVALUATE} -m P@2 --ties best --missing skip --empty zero --depth 2": lambda: evaluate(
        "RR", "P@2", policy={"ties": "best", "missing": "skip", "empty": "zero", "depth": 2}
    ),
    f"{EVALUATE} --unjudged removed": lambda: evaluate("RR", policy={"unjudged": "removed"}),
    "evaluate many.qrels twice.run -m RR --duplicates first": lambda: library.evaluate(
        "many.qrels", "twice.run", "RR", policy={"duplicates": "first"}
    ),
    f"{EVALUATE} --interval": lambda: evaluate("RR").showing(intervals=True),
    f"{EVALUATE} --ci --level 0.9 --groups groups.csv": lambda: evaluate("RR").showing(
        intervals=True, level=0.9, groups="groups.csv"
    ),
    f"{EVALUATE} --tie-range --unjudged-range": lambda: evaluate("RR").showing(
        tie_range=True, unjudged_range=True
    ),
    f"{EVALUATE} --unanswerable --answer-threshold 7": lambda: evaluate("RR").showing(
        unanswerable=True, threshold=7.0
    ),
    f"{EVALUATE} --weights weights.csv": lambda: evaluate("RR", weights="weights.csv"),
    f"{EVALUATE} --trusted people.qrels": lambda: evaluate("RR", trusted="people.qrels"),
    f"{EVALUATE} --item-to doc:- --exclude-same-id": lambda: evaluate(
        "RR", item_to="doc:-", exclude_same_id=True
    ),
    f"{EVALUATE} --unique unique.csv": lambda: evaluate("RR", unique="unique.csv"),
    f"{EVALUATE} -m TN@3 --collection 9": lambda: evaluate("RR", "TN@3", collection=9),
    f"{EVALUATE.replace('RR', 'map')} --convention pytrec_eval --missing zero": lambda: evaluate(
        "map", convention="pytrec_eval", policy={"missing": "zero"}
    ),
    "evaluate named.csv table.csv -m RR --columns query=question,item=file+page,score=points": (
        lambda: library.evaluate(
            *("named.csv", "table.csv", "RR"),
            columns={"query": "question", "item": ["file", "page"], "score": "points"},
        )
    ),
    "compare many.qrels a.run b.run -m RR --baseline b --test sign --correction bonferroni "
    "--level 0.9 --margin 0.1 --slices groups.csv": lambda: library.compare(
        *("many.qrels", RUNS, "RR"),
        baseline="b",
        test="sign",
        correction="bonferroni",
        level=0.9,
        margin=0.1,
        slices="groups.csv",
    ),
    "compare many.qrels a.run b.run c.run -m RR,P@2 --orders": lambda: library.compare(
        "many.qrels", [*RUNS, "c.run"], "RR,P@2"
    ).orders(),
    "gate many.qrels a.run --baseline b.run -m RR --rule safe --max-drop RR=0.6 --min 0.1 "
    "--level 0.9 --groups groups.csv --depth 3": lambda: library.gate(
        *("many.qrels", "a.run", "RR"),
        baseline="b.run",
        rule="safe",
        max_drop={"RR": 0.6},
        minimum=0.1,
        level=0.9,
        groups="groups.csv",
        policy={"depth": 3},
    ),
    "plan --difference 0.1 --level 0.9 --comparisons 3 --margin 0.2 --power 0.7 --pilot many.qrels "
    "a.run b.run -m RR --groups groups.csv": lambda: library.plan(
        difference=0.1,
        level=0.9,
        comparisons=3,
        margin=0.2,
        power=0.7,
        pilot=library.compare("many.qrels", RUNS, "RR", groups="groups.csv"),
    ),
    "agreement many.qrels people.qrels --judge A=few.qrels a.run -m RR --rel 2": lambda: (
        library.agreement(
            ["many.qrels", "people.qrels", "A=few.qrels"], None, ["a.run"], measures="RR", rel=2
        )
    ),
    "overlap a.run b.run --p 0.8 --depth 3": lambda: library.overlap(
        RUNS, p=0.8, policy={"depth": 3}
    ),
    "queue few.qrels a.run b.run -m P@2 --by depth --depth 3 --budget 5": lambda: library.queue(
        "few.qrels", RUNS, "P@2", by="depth", depth=3, budget=5
    ),
    "advise many.qrels a.run b.run": lambda: advise("many.qrels", RUNS),
    "check many.qrels a.run --training few.qrels --ignore training-pairs": lambda: library.check(
        "many.qrels", ("a.run",), training="few.qrels", ignore=["training-pairs"]
    ),
    "funnel many.qrels a.run b.run -k 2 --rel 2": lambda: funnel("many.qrels", RUNS, k=2, rel=2),
    "conventions many.qrels a.run -m AP@2": lambda: library.compare_conventions(
        "many.qrels", "a.run", measures=("AP@2",)
    ),
    "identify 0.5 many.qrels a.run -m RR": lambda: library.identify(
        "0.5", "many.qrels", "a.run", measures="RR"
    ),
    "explain many.qrels a.run --query q03 -m AP --ties worst --rows 2": lambda: library.explain(
        *("many.qrels", "a.run", "AP"), query="q03", rows=2, policy={"ties": "worst"}
    ),
    f"embeddings {VECTORS} -m RR,AP --similarity dot --exclude-self --dims 3": lambda: embeddings(
        LABELS, similarity="dot", exclude=same_row(), dims=3
    ).evaluate(None, "RR,AP"),
    f"embeddings {VECTORS} -m RR --query-ids ids --item-ids ids --exclude-same-id "
    "--ties worst": lambda: embeddings(
        LABELS, exclude=same_id(), query_ids=IDS, item_ids=IDS
    ).evaluate(None, "RR", policy={"ties": "worst"}),
    f"embeddings {VECTORS} -m RR --normalise softmax(temperature=0.1) --both": lambda: embeddings(
        LABELS, normalise="softmax(temperature=0.1)"
    ).evaluate(None, "RR", both=True),
    "embeddings q.npy i.npy --pairs --exclude-labels labels labels --diagnose": lambda: embeddings(
        exclude=same_label(*LABELS)
    ).diagnose(pairs()),
    f"temperature {VECTORS} -t 0.1 --temperature 2 --in-batch 8 --symmetric --positives apart "
    "--similarity dot --exclude-self": lambda: sweep(
        embeddings(similarity="dot", exclude=same_row()),
        *(same_label(*LABELS), [0.1, 2.0]),
        batch_size=8,
        both=True,
        positives="apart",
    ),
    f"{TRAIN} --exclude-self --kind diagonal --positives apart": lambda: study(
        embeddings(exclude=same_row()),
        *(same_label(*LABELS), [0.1, 3.0]),
        iterations=4,
        kind="diagonal",
        positives="apart",
    ),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Judgements of several assessors, runs, tables about queries and items, and vectors."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    queries = [f"q{number:02}" for number in range(24)]
    for name, asked in (("many", queries), ("people", queries), ("few", queries[:12])):
        lines = [f"{q} 0 d-{item} {random.integers(0, 3)}" for q in asked for item in range(5)]
        Path(f"{name}.qrels").write_text("\n".join([*lines, *(f"{q} 0 d-0x 2" for q in asked)]))
    for name in ("a", "b", "c"):
        lines = [
            f"{q} Q0 d-{item} {rank} {(9 - rank) // 2} {name}\n"
            for q in queries[:23]
            for rank, item in enumerate(random.permutation(7), 1)
        ]
        Path(f"{name}.run").write_text("".join([*lines, f"q23 Q0 q23 1 1 {name}\n"]))
    Path("twice.run").write_text("q00 Q0 d-1 1 2 t\nq00 Q0 d-1 2 1 t\n")
    Path("groups.csv").write_text(
        "query,group\n" + "".join(f"{q},g{at % 5}\n" for at, q in enumerate(queries))
    )
    Path("weights.csv").write_text(
        "query,weight\n" + "".join(f"{q},{at + 1}\n" for at, q in enumerate(queries))
    )
    items = [*(f"d-{item}" for item in range(7)), "d-0x", *queries]
    Path("unique.csv").write_text(
        "item,category\n" + "".join(f"{item},{item[-1]}\n" for item in items)
    )
    Path("named.csv").write_text("question,file,page,grade\nq,a,1,1\nq,b,2,0\n")
    Path("table.csv").write_text("question,file,page,points\nq,b,2,0.5\nq,a,1,0.25\n")
    vectors = random.normal(size=(40, 6))
    np.save("q.npy", vectors)
    np.save("i.npy", vectors + random.normal(size=vectors.shape))
    Path("ids").write_text("".join(f"{name}\n" for name in IDS))
    Path("labels").write_text("".join(f"{label}\n" for label in LABELS[0]))
    return tmp_path


@for_each("call", SAME)
@pytest.mark.filterwarnings("ignore::judged.JudgedWarning")
def test_a_command_prints_what_the_library_gives(
    judged: Any, folder: Path, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = judged(call, "--format", "json")
    assert result.out, result.err
    monkeypatch.setattr(errors, "in_shell", True)
    assert json.loads(result.out) == json.loads(SAME[call]().to_json())
