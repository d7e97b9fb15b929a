"""The output of trec_eval 10.0, byte for byte: loaded when `judged trec-eval` computes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from judged.arrays import Floats
from judged.conventions.libraries.trec_eval import (
    DEFAULT_PARAMETERS,
    GROUPS,
    NAMES,
    REFUSED,
    PrintedLine,
    as_long,
    lines,
)
from judged.errors import InputError, MeasureError, did_you_mean
from judged.inputs import read_table
from judged.inputs.blocks import MEMORY, Room, RunBlocks
from judged.inputs.source import may_be_large
from judged.inputs.tables import JUDGEMENTS, RUN, Judgements, Lookup, Run
from judged.matching.matcher import Matcher
from judged.matching.pool import pool_of
from judged.measures import parse_measure
from judged.measures.average import ROUNDED, recall_points
from judged.options import MOST, OPTIONS, whole
from judged.policy import Policy
from judged.rankings.rankings import Rankings
from judged.statistics.samples import GEOMETRIC_FLOOR
from judged.text import listed


@dataclass(frozen=True)
class TrecEvalOptions:
    """Options of trec_eval.

    >>> TrecEvalOptions(measures=("map",)).level
    1
    """

    measures: tuple[str, ...] = ("official",)
    queries: bool = False  # -q
    summary: bool = True  # not -n
    complete: bool = False  # -c
    level: int = 1  # -l
    depth: int | None = None  # -M
    judged_only: bool = False  # -J
    collection: int = 0  # -N

    def __post_init__(self) -> None:
        if self.depth is not None:
            OPTIONS["depth"]("depth", self.depth)
        whole("collection", self.collection, at_least=0)
        whole("level", self.level, at_least=-MOST)


def chosen_lines(measures: tuple[str, ...]) -> list[PrintedLine]:
    """Return the lines of -m options, in trec_eval's order; a name's first parameters count.

    >>> [line.name for line in chosen_lines(("P.5,10", "map"))]
    ['map', 'P_5', 'P_10']
    """
    wanted: dict[str, str | None] = {}
    for text in measures:
        root, _, parameters = text.partition(".")
        if root in REFUSED:
            raise MeasureError(
                f"judged trec-eval has no {root!r}: it needs {REFUSED[root]}, which judged does "
                "not read."
            )
        if root not in NAMES and root not in GROUPS:
            raise MeasureError(
                f"trec_eval has no measure {text!r}{did_you_mean(root, [*NAMES, *GROUPS])} "
                f"Its groups are {listed(list(GROUPS))}."
            )
        if text.endswith(".") and not parameters:
            raise MeasureError(f"there are no parameters behind the dot of {text!r}.")
        for name in GROUPS.get(root, (root,)):
            wanted[name] = wanted.get(name) or parameters or None
    found: list[PrintedLine] = []
    for name in NAMES:
        if name in wanted:
            try:
                found += lines(name, wanted[name])
            except ValueError as error:
                raise MeasureError(
                    f"trec_eval's {name} cannot take the parameters {wanted[name]!r}: {error}."
                ) from None
    return found


def printed(judgements: str, run: str, options: TrecEvalOptions) -> Iterator[str]:
    """Yield the lines that trec_eval prints for a run.

    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> written = (folder / "qrels").write_text("1 0 a 1")
    >>> written = (folder / "run").write_text("1 Q0 a 1 0.5 mine")
    >>> options = TrecEvalOptions(measures=("map",))
    >>> list(printed(str(folder / "qrels"), str(folder / "run"), options))
    ['map                   \\tall\\t1.0000']
    """
    wanted = chosen_lines(options.measures)
    policy = Policy(
        unjudged="removed" if options.judged_only else "nonrelevant", depth=options.depth
    )
    table = _run(run, Room.of(MEMORY))
    graded = read_table(judgements, JUDGEMENTS, format="trec", small=True)
    pool = pool_of(_in_whole_grades(graded))
    rankings = Matcher(pool, policy, options.collection)(table)
    tag = str(table.tag or table.name)
    counted = np.arange(len(rankings)) if options.complete else np.flatnonzero(~rankings.missing)
    if not len(counted):
        raise InputError("no query has both judgements and results.")
    # Queries in the order of their bytes, as trec_eval sorts them; sums are made in this order too.
    order = sorted(counted.tolist(), key=lambda at: rankings.queries[at].encode())
    rankings = rankings.take(order)
    values = {line.name: _values(line, rankings, options) for line in wanted if line.measure}
    if options.queries:
        yield from _per_query(wanted, values, rankings, options)
    if options.summary:
        yield from _summary(wanted, values, rankings, tag, options)


def _run(run: str, room: Room) -> Run | Lookup | RunBlocks:
    """Return the run, in blocks if it is large."""
    if not may_be_large(run):
        small: Run | Lookup = read_table(run, RUN, format="trec", small=True)
        return small
    from judged.inputs.large_runs import read_run_or_blocks

    return read_run_or_blocks(run, room, format="trec")


def _in_whole_grades(judgements: Judgements | Lookup) -> Judgements | Lookup:
    """Return grades as trec_eval reads them: without decimals."""
    if isinstance(judgements, Lookup):
        lists = {
            query: {item: float(int(grade)) for item, grade in grades.items()}
            for query, grades in judgements.lists.items()
        }
        return replace(judgements, lists=lists)
    whole = judgements.frame["grade"].cast(int, strict=False).cast(float)
    return replace(judgements, frame=judgements.frame.with_columns(grade=whole))


def _values(line: PrintedLine, r: Rankings, options: TrecEvalOptions) -> Floats:
    """Return one value per query; trec_eval prints 0 for undefined values."""
    measure = parse_measure(line.measure)
    if "rel" in measure.params:
        measure = measure(rel=options.level)
    computed = measure.compute(r)
    values = np.nan_to_num(computed, nan=0.0)
    if line.root == "Rndcg":
        # It divides 0 by 0 where items are relevant and none has a gain, as with -l 0.
        values[np.isnan(computed) & (r.relevant(options.level) > 0)] = np.nan
    if _is_geometric(line):
        return np.log(np.maximum(values, GEOMETRIC_FLOOR))
    if line.root in ("iprec_at_recall", "11pt_avg") and options.judged_only:
        # No result is left, and 0 of 0 is divided where a recall point asks for no relevant item.
        given: Any = measure.params
        lowest = given["recall"] if "recall" in given else min(recall_points(given["points"]))
        asks = np.floor(lowest * r.relevant(options.level) + ROUNDED["trec_eval"])
        values[(r.retrieved == 0) & (asks <= 0)] = np.nan
    if r.missing.any():
        # A query that the run lacks is scored there as if it had one unjudged result, and some of
        # what comes of it is set to 0 again, but only under the name without parameters.
        given = line.name != line.root
        if line.root == "rbp_resid" and not given:
            values[r.missing] = 0.0
        elif line.root == "utility" and given and not options.judged_only:
            values[r.missing] += measure.params["b"] - measure.params["d"]
    return values


def _is_geometric(line: PrintedLine) -> bool:
    return "aggregate=geometric" in line.measure


def _per_query(
    wanted: list[PrintedLine], values: Mapping[str, Floats], r: Rankings, options: TrecEvalOptions
) -> Iterator[str]:
    columns: list[tuple[str, list[str]]] = []
    for line in wanted:
        if not NAMES[line.root].queries:
            continue
        if line.root == "relstring":
            given = line.name.partition("_")[2]
            texts = relevance_strings(r, as_long(given or DEFAULT_PARAMETERS["relstring"]))
            if given and not options.judged_only:  # see _values
                texts = ["-" if lost else text for text, lost in zip(texts, r.missing, strict=True)]
            columns.append((f"{line.name:<22}", [f"'{text}'" for text in texts]))
        else:
            numbers = (_shown(line, value) for value in values[line.name].tolist())
            columns.append((f"{line.name:<22}", list(numbers)))
    for at, query in enumerate(r.queries):
        for name, texts in columns:
            yield f"{name}\t{query}\t{texts[at]}"


def _summary(
    wanted: list[PrintedLine],
    values: Mapping[str, Floats],
    r: Rankings,
    tag: str,
    options: TrecEvalOptions,
) -> Iterator[str]:
    for line in wanted:
        if line.root == "runid":
            yield f"{line.name:<22}\tall\t{tag}"
        elif NAMES[line.root].summary:
            value = _aggregated(line, values[line.name], r, options)
            yield f"{line.name:<22}\tall\t{_shown(line, value)}"


def _aggregated(line: PrintedLine, values: Floats, r: Rankings, options: TrecEvalOptions) -> float:
    if line.root == "num_q":
        return len(r)
    if line.root == "num_rel" and options.complete:
        return float(r.relevant(1).sum())  # whatever -l says
    if NAMES[line.root].whole:
        return _added(values)
    mean = _added(values) / len(values)
    return float(np.exp(mean)) if _is_geometric(line) else mean


def _added(values: Floats) -> float:
    # Rounded after each addition, as in C: the fourth decimal of a mean can depend on it. Python's
    # own `sum` rounds once from 3.12 on.
    return reduce(add, values.tolist(), 0.0)


def _shown(line: PrintedLine, value: float) -> str:
    if math.isnan(value):
        return "  -nan"  # as C prints 0 divided by 0
    return f"{int(value)}" if NAMES[line.root].whole else f"{value:6.4f}"


def relevance_strings(r: Rankings, length: int) -> list[str]:
    """Return the grades of each query's first results as text.

    A digit, > above 9, . for pooled but unjudged, - for not pooled.

    >>> relevance_strings(Rankings.from_relevance([[0, None, 2]]), 10)
    ['0-2']
    """
    shown = np.minimum(r.retrieved, length)
    letters = np.full((len(r), max(length, 0)), "-", dtype="<U1")
    top = r.hit_rank <= length
    query, rank, grade = r.hit_query[top], r.hit_rank[top], r.hit_grade[top]
    signs = np.where(
        grade < 0,
        ".",
        np.where(grade > 9, ">", np.clip(grade, 0, 9).astype(np.int64).astype("<U1")),
    )
    letters[query, rank - 1] = signs
    return ["".join(row[:size]) for row, size in zip(letters.tolist(), shown.tolist(), strict=True)]
