"""What every engine is asked, and the measures it is asked for: data in which the ways of engines
part, in batches that share their options, so that an engine is started few times."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

GOLDEN = Path(__file__).parent.parent / "golden" / "trec_eval"
MEASURES = (
    "AP, nDCG@10, nDCG(gain=exp)@5, RR, P@5, R@10, Rprec, Bpref, ERR@5, RBP(p=0.8), GMAP, "
    "F(average=means)@10, Rank(of=all), infAP, IPrec@0.5, NumRet, NumRelRet"
)
RANGES = {"tie_range": True, "unjudged_range": True}

Rows = list[tuple[Any, Any, float | None]]
Grades = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Part:
    """Some queries with their results."""

    judgements: Grades
    rows: Rows

    def named(self, name: str) -> Part:
        """The same with queries that no other part has."""
        return Part(
            {f"{name} {query}": items for query, items in self.judgements.items()},
            [(f"{name} {query}", item, score) for query, item, score in self.rows],
        )


@dataclass(frozen=True)
class Batch:
    """Parts that are evaluated together, in one run, with the same options."""

    parts: Mapping[str, Callable[[], Part]]
    measures: str = MEASURES
    options: Mapping[str, Any] = field(default_factory=dict)
    shown: Mapping[str, Any] = field(default_factory=dict)
    """Options of `Evaluation.showing`."""
    types: Mapping[str, Any] = field(default_factory=dict)
    """Types of columns that are not the usual ones."""
    value: str = "score"
    """What the third column is called."""
    ordered: bool = False
    """Whether the order of rows counts."""
    collated: bool = False
    """Whether the columns of ids compare without regard to case, where an engine can."""
    refused: str | None = None
    """A pattern of the message, where it is refused everywhere."""

    @property
    def judgements(self) -> Grades:
        return {query: items for part in self._parts() for query, items in part.judgements.items()}

    @property
    def frame(self) -> pl.DataFrame:
        """The rows of the run, in an order that tells nothing."""
        rows = [row for part in self._parts() for row in part.rows]
        random.Random(8).shuffle(rows)
        types = {"query": pl.String, "item": pl.String, self.value: pl.Float64, **self.types}
        return pl.DataFrame(rows, schema=types, orient="row", strict=False)

    def _parts(self) -> list[Part]:
        if len(self.parts) == 1:
            return [make() for make in self.parts.values()]
        return [make().named(name) for name, make in self.parts.items()]


def golden(name: str) -> Callable[[], Part]:
    """A run that trec_eval was asked to score."""

    def read() -> Part:
        from judged.inputs import Judgements, Run, read_judgements, read_run

        judgements, run = read_judgements(GOLDEN / name / "qrels"), read_run(GOLDEN / name / "run")
        assert isinstance(judgements, Judgements)
        assert isinstance(run, Run)
        grades: Grades = {}
        for query, item, grade in judgements.frame.select("query", "item", "grade").iter_rows():
            grades.setdefault(query, {})[item] = grade
        return Part(grades, run.frame.select("query", "item", "score").rows())

    return read


def drawn(
    *,
    seed: int = 1,
    queries: int = 8,
    items: Callable[[int], str] = "d{}".format,
    scores: Callable[[random.Random], float] = lambda draw: draw.random(),
    judged: int = 8,
    pool: int = 24,
    lacking: bool = True,
) -> Callable[[], Part]:
    """Random lists, with queries that nobody judged and, where they are `lacking`, one that is
    judged and not there."""

    def make() -> Part:
        draw = random.Random(seed)
        grades: Grades = {}
        rows: Rows = []
        for number in range(queries + 2):
            name = f"q{number}"
            if number < queries + lacking:
                chosen = draw.sample(range(pool), judged)
                grades[name] = {items(each): draw.choice([0, 0, 1, 1, 2, -1]) for each in chosen}
            if number != queries:
                listed = draw.sample(range(pool), draw.randint(1, pool - 4))
                rows += [(name, items(each), scores(draw)) for each in listed]
        return Part(grades, rows)

    return make


def one_of(*scores: float) -> Callable[[random.Random], float]:
    return lambda draw: draw.choice(scores)


level = one_of(0.25, 0.5, 0.75)
zero = one_of(0.0, -0.0, 0.5)
endless = one_of(float("inf"), float("-inf"), 0.5, 1e308, -1e308)
single = one_of(0.1, 0.2, 0.3, 0.1 + 1e-9)  # more than single precision holds


SCRIPTS = [
    "a", "A", "á", "á", "Á", "ä", "z", "Z", "ß", "ss", "ẞ", "é", "é", "ø", "ł", "ı",
    "i", "İ", "I", "ſ", "Ω", "ω", "я", "Я", "ش", "ש", "ก", "中", "国", "日本", "한", "ﬀ",
    "ﬀx", "😀", "𐍈", "￮",
]  # fmt: skip
"""Ids whose order by bytes is neither that of UTF-16 nor that of any language."""
ODD = ["a b", "a  b", "a\\b", "a#b", "a'b", 'a"b', "a%b", "a_b", "a;b", "01", "1", "1.0", "-1"]
"""Ids that a query might break at."""


def script(number: int) -> str:
    return [*SCRIPTS, *ODD][number % len([*SCRIPTS, *ODD])]


MIXED = len(SCRIPTS) + len(ODD)


def cased(number: int) -> str:
    """Ids that differ in case alone."""
    return "".join(
        letter.upper() if number >> at & 1 else letter for at, letter in enumerate("abcde")
    )


def cased_queries() -> Part:
    """Queries too that differ in case alone, one of which nobody judged."""
    found = drawn(seed=5, queries=4, items=cased, scores=level, pool=32)()
    names = {f"q{number}": name for number, name in enumerate(["ab", "aB", "Ab", "c", "C", "AB"])}
    return Part(
        {names[query]: items for query, items in found.judgements.items()},
        [(names[query], item, score) for query, item, score in found.rows],
    )


def repeated() -> Part:
    """Items that a list has twice, with the same score or another."""
    found = drawn(seed=6, scores=level)()
    draw = random.Random(6)
    again = [(query, item, level(draw)) for query, item, _ in found.rows if draw.random() < 0.3]
    return Part(found.judgements, found.rows + again)


def own() -> Part:
    """Queries among their own results."""
    found = drawn(seed=7, items=lambda number: f"q{number}", scores=level, pool=16)()
    only = [("q0", "q0", 0.5)]
    return Part(found.judgements, [row for row in found.rows if row[0] != "q0"] + only)


def numbers() -> Part:
    """Ids that are whole numbers."""
    found = drawn(seed=9, items=str, scores=level)()
    return Part(
        {query[1:]: items for query, items in found.judgements.items()},
        [(int(query[1:]), int(item), score) for query, item, score in found.rows],
    )


def empty_lists() -> Part:
    """Queries that are named, with nothing in them: one judged, one not."""
    found = drawn(seed=10)()
    kept = [row for row in found.rows if row[0] not in ("q1", "q9")]
    return Part(found.judgements, [*kept, ("q1", None, None), ("q9", None, None)])


def nobody_judged() -> Part:
    """Rows of queries that nobody judged, which are counted and not checked."""
    found = drawn(seed=11)()
    odd = [("x", "a", float("nan")), ("x", "b", 1.0), ("x", "b", 1.0), ("y", "a", float("inf"))]
    return Part(found.judgements, found.rows + odd)


def with_bad_row(*rows: tuple[str, str, float | None]) -> Callable[[], Part]:
    """Rows that are refused, among others."""

    def make() -> Part:
        found = drawn(seed=12)()
        return Part(found.judgements, [*found.rows, *rows])

    return make


def ranks() -> Part:
    """Ranks, the smallest best, some of them twice."""
    found = drawn(seed=15)()
    draw = random.Random(15)
    return Part(found.judgements, [(q, item, draw.randint(1, 9)) for q, item, _ in found.rows])


def subtopics() -> Part:
    """Judgements by subtopic, equal ones among them."""
    found = drawn(seed=16, scores=level)()
    draw = random.Random(16)
    grades = {
        query: {
            item: {s: draw.choice([0, 1]) for s in "xyz"[: draw.randint(1, 3)]} for item in each
        }
        for query, each in found.judgements.items()
    }
    return Part(grades, found.rows)


EVERY = {
    "plain": drawn(),
    "ties": drawn(seed=2, scores=level),
    "all tied": drawn(seed=3, scores=lambda draw: 1.0),
    "zeros": drawn(seed=4, scores=zero),
    "infinite": drawn(seed=5, scores=endless),
    "few judged": drawn(seed=6, judged=1, pool=60),
    "scripts": drawn(seed=7, items=script, scores=level, pool=MIXED, judged=20),
    "nobody judged": nobody_judged,
}
TREC_EVAL = ("graded", "missing", "no_relevant", "one", "plain", "scores", "ties", "unjudged")
BATCHES = {
    "id": Batch(EVERY, shown=RANGES),
    **{
        ties: Batch(EVERY, options={"policy": {"ties": ties}})
        for ties in ("best", "worst", "expected")
    },
    "input": Batch(EVERY, options={"policy": {"ties": "input"}}, ordered=True),
    **{
        name: Batch({run: golden(run) for run in TREC_EVAL}, options={"policy": policy})
        for name, policy in {
            "golden": {"missing": "skip"},
            "golden, 10 deep": {"depth": 10},
            "golden, judged only": {"unjudged": "removed"},
        }.items()
    },
    "depth": Batch(EVERY, options={"policy": {"depth": 3}}, shown=RANGES),
    "removed": Batch(EVERY, options={"policy": {"unjudged": "removed"}}),
    "cut and removed": Batch(EVERY, options={"policy": {"depth": 5, "unjudged": "removed"}}),
    "first of duplicates": Batch(
        {"repeated": repeated, **EVERY}, options={"policy": {"duplicates": "first"}}
    ),
    "float32": Batch({"": drawn(scores=single)}, types={"score": pl.Float32}),
    "integers": Batch({"": numbers}, types={"query": pl.Int64, "item": pl.Int64}),
    "integer scores": Batch(
        {"": drawn(scores=lambda draw: draw.randint(2**53, 2**53 + 3))}, types={"score": pl.Int64}
    ),
    "collated": Batch({"": cased_queries}, collated=True),
    "empty lists": Batch({"": empty_lists}),
    "ranks": Batch({"": ranks}, types={"rank": pl.Int64}, value="rank"),
    "own ids": Batch({"": own}),
    "without own ids": Batch({"": own}, options={"exclude_same_id": True}),
    "weights": Batch(
        {"": drawn()}, "AP, nDCG@10", {"weights": {f"q{n}": n + 0.1 for n in range(9)}}
    ),
    "unanswerable": Batch({"": drawn(scores=zero)}, shown={"unanswerable": True}),
    "subtopics": Batch(
        {"": subtopics},
        "alpha_nDCG@5, ERR_IA@5, P_IA@5, StRecall@5, nDCG@5",
        shown={"tie_range": True},
    ),
    "categories": Batch(
        {"": drawn(scores=level)}, options={"unique": {f"d{n}": f"c{n % 5}" for n in range(24)}}
    ),
    **{
        f"as {name}": Batch(
            {"own": own, "ties": drawn(seed=2, scores=level, lacking=False)},
            "",
            {"convention": name, "policy": {"missing": "zero"}},
            ordered=name == "ranx",
        )
        for name in ("trec_eval", "ranx", "beir", "pytrec_eval")
    },
    "NaN": Batch(
        {"": with_bad_row(("q3", "bad", float("nan")))},
        refused=r"the score of item 'bad' for query 'q3' is NaN\. A NaN cannot be "
        r"ranked; give it a number or remove it\.$",
    ),
    "duplicates": Batch(
        {"": with_bad_row(("q3", "bad", 0.5), ("q3", "bad", 0.25))},
        refused=r"query 'q3' has item 'bad' more than once\. Remove the repetitions, or keep the "
        r"best-ranked of each with duplicates='first'\.$",
    ),
    "empty id": Batch({"": with_bad_row(("q3", "", 0.5))}, refused="the item is missing"),
    "no score": Batch({"": with_bad_row(("q3", "bad", None))}, refused="the score .*is missing"),
}
"""What every engine is asked."""
