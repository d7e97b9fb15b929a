"""`judged trec-eval`: the output of trec_eval 10.0, byte for byte."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import click
import numpy as np

from judged.arrays import Floats
from judged.cli._files import READS, command
from judged.cli._options import memory_options
from judged.conventions.libraries.trec_eval import (
    DEFAULT_PARAMETERS,
    GROUPS,
    NAMES,
    REFUSED,
    Line,
    as_long,
    lines,
)
from judged.errors import InputError, MeasureError, PolicyError, did_you_mean
from judged.inputs import any_judgements, any_run, opened
from judged.inputs.blocks import MEMORY, Room, RunBlocks, may_be_large
from judged.inputs.tables import JUDGEMENTS, Judgements, Lookup, Run
from judged.matching.matcher import Matcher
from judged.matching.pool import pool_of
from judged.measures import parse_measure
from judged.measures.average import ROUNDED, recall_points
from judged.options import MOST, OPTIONS, whole
from judged.policy import Policy
from judged.rankings.rankings import Rankings
from judged.statistics.samples import GEOMETRIC_FLOOR
from judged.text import listed, quote

VERSION = "10.0"

EPILOG = """\b
Measures: names such as map, P.5,10, ndcg_cut.10, ndcg.1=3,2=9, or the groups
official (the default), all_trec and set. -h -m NAME explains one.
"""
MISSING_ZSCORE = -1_000_000.0
"""Printed for a value whose mean and deviation are not in the file."""


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
    zscores: str | None = None  # -Z
    memory: str | int = MEMORY
    temporary: str | None = None

    def __post_init__(self) -> None:
        if self.depth is not None:
            OPTIONS["depth"]("depth", self.depth)
        whole("collection", self.collection, at_least=0)
        whole("level", self.level, at_least=-MOST)


def chosen_lines(measures: tuple[str, ...]) -> list[Line]:
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
    found: list[Line] = []
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
    table = _run(run, Room.of(options.memory, options.temporary))
    source = opened(judgements, JUDGEMENTS, None)
    pool = pool_of(_in_whole_grades(any_judgements(source, format="trec")))
    rankings = Matcher(pool, policy, options.collection)(table)
    tag = str(table.tag or table.name)
    counted = np.arange(len(rankings)) if options.complete else np.flatnonzero(~rankings.missing)
    if not len(counted):
        raise InputError("no query has both judgements and results.")
    # Queries in the order of their bytes, as trec_eval sorts them; sums are made in this order too.
    order = sorted(counted.tolist(), key=lambda at: rankings.queries[at].encode())
    rankings = rankings.take(order)
    values = {line.name: _values(line, rankings, options) for line in wanted if line.measure}
    if options.zscores is not None:
        values = _standardised(values, rankings.queries, options.zscores)
    if options.queries:
        yield from _per_query(wanted, values, rankings, options)
    if options.summary:
        yield from _summary(wanted, values, rankings, tag, options)


def _run(run: str, room: Room) -> Run | Lookup | RunBlocks:
    """Return the run, in blocks if it is large."""
    if not may_be_large(run):
        return any_run(run, format="trec")
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


def _values(line: Line, r: Rankings, options: TrecEvalOptions) -> Floats:
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


def _is_geometric(line: Line) -> bool:
    return "aggregate=geometric" in line.measure


def _per_query(
    wanted: list[Line], values: Mapping[str, Floats], r: Rankings, options: TrecEvalOptions
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
            numbers = (_shown(line, value, options) for value in values[line.name].tolist())
            columns.append((_named(line, options), list(numbers)))
    for at, query in enumerate(r.queries):
        for name, texts in columns:
            yield f"{name}\t{query}\t{texts[at]}"


def _summary(
    wanted: list[Line],
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
            yield f"{_named(line, options)}\tall\t{_shown(line, value, options)}"


def _aggregated(line: Line, values: Floats, r: Rankings, options: TrecEvalOptions) -> float:
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


def _named(line: Line, options: TrecEvalOptions) -> str:
    return f"{'Z' if options.zscores is not None else ''}{line.name:<22}"


def _shown(line: Line, value: float, options: TrecEvalOptions) -> str:
    if math.isnan(value):
        return "  -nan"  # as C prints 0 divided by 0
    whole = NAMES[line.root].whole and options.zscores is None
    return f"{int(value)}" if whole else f"{value:6.4f}"


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


def _standardised(
    values: Mapping[str, Floats], queries: tuple[str, ...], path: str
) -> dict[str, Floats]:
    """Return z-scores, by a file of query, measure, mean and deviation."""
    known: dict[tuple[str, str], tuple[float, float]] = {}
    try:
        with open(path, encoding="utf-8") as file:
            for number, text in enumerate(file, 1):
                fields = text.split()
                if not fields:
                    continue
                try:
                    query, name, mean, deviation = fields
                    known[query, name] = float(mean), float(deviation)
                except ValueError:
                    raise InputError(
                        f"{path}, line {number}: expected query, measure, mean and standard "
                        f"deviation: {quote(text.strip())}."
                    ) from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text. Convert the file to UTF-8 first.") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}).") from None

    def standardised(name: str, query: str, value: float) -> float:
        mean, deviation = known.get((query, name), (math.nan, 0.0))
        if deviation:
            return (value - mean) / deviation
        return 0.0 if value == mean else MISSING_ZSCORE

    return {
        name: np.array(
            [
                standardised(name, query, value)
                for query, value in zip(queries, column.tolist(), strict=True)
            ]
        )
        for name, column in values.items()
    }


def explained(measures: tuple[str, ...]) -> Iterator[str]:
    """Yield an explanation of trec_eval's names.

    >>> list(explained(("map",)))[1]
    'map'
    """
    seen: dict[str, Any] = {}
    for line in chosen_lines(measures):
        if line.root not in seen:
            seen[line.root] = line
            yield ""
            yield line.root
            if not line.measure:
                text = {
                    "runid": "The run's name for itself, the last field of its lines.",
                    "relstring": (
                        "The grades of the first results as a text: a digit each, > above 9, - for "
                        "an item outside the pool, . for one in the pool that was not judged."
                    ),
                }[line.root]
                yield f"    {text}"
                continue
            measure = parse_measure(line.measure)
            cutoffs = NAMES[line.root].cutoffs
            yield f"    {measure.spec.title}: {measure.spec.says}"
            yield f"    {measure.formula}"
            yield f"    In judged: {measure}" + (
                f" and so on, for {', '.join(cutoffs)}." if cutoffs else "."
            )


def _whole(least: int) -> Callable[[str], int]:
    """Return a type of option: a number as trec_eval reads it, from the leading digits."""

    def number(text: str) -> int:
        try:
            found = as_long(str(text))
        except ValueError as error:
            raise click.BadParameter(f"{error}.") from None
        if not least <= found < 2**63:
            raise click.BadParameter(f"{text!r} is not a whole number from {least}.")
        return found

    return number


@command(
    "trec-eval",
    example="judged trec-eval -q -m map qrels.txt bm25.run",
    epilog=EPILOG,
    context_settings={"help_option_names": []},
    options_metavar="[OPTIONS]",
)
@click.argument("judgements", metavar="QRELS", type=READS, required=False)
@click.argument("run", metavar="RUN", type=READS, required=False)
@click.option(
    "-h",
    "--help",
    "help_wanted",
    is_flag=True,
    help="Explain the options and the measures named by -m.",
)
@click.option(
    "-v", "--version", "version_wanted", is_flag=True, help="Print the version of trec_eval."
)
@click.option(
    "-q",
    "--query_eval_wanted",
    "queries",
    is_flag=True,
    help="Print the values of every query too.",
)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="NAME[.PARAMETERS]",
    help="Print this measure or group; may be repeated.",
)
@click.option(
    "-c",
    "--complete_rel_info_wanted",
    "complete",
    is_flag=True,
    help="Average over all judged queries; missing ones count as 0.",
)
@click.option(
    "-l",
    "--level_for_rel",
    "level",
    type=_whole(0),
    default=1,
    show_default=True,
    metavar="N",
    help="Count grades from this one as relevant.",
)
@click.option("-n", "--nosummary", "no_summary", is_flag=True, help="Print no summary.")
@click.option("-D", "--Debug_level", "debug", metavar="N", help="Fail: judged has no debug output.")
@click.option(
    "-J", "--Judged_docs_only", "judged_only", is_flag=True, help="Remove unjudged items first."
)
@click.option(
    "-N",
    "--Number_docs_in_coll",
    "collection",
    type=_whole(0),
    default=0,
    metavar="N",
    help="Set the size of the collection.",
)
@click.option(
    "-M",
    "--Max_retrieved_per_topic",
    "depth",
    type=_whole(1),
    metavar="N",
    help="Count only the first N results.",
)
@click.option(
    "-R",
    "--Rel_info_format",
    "judgements_format",
    default="qrels",
    show_default=True,
    help="Read this format; only qrels is known.",
)
@click.option(
    "-T",
    "--Results_format",
    "run_format",
    default="trec_results",
    show_default=True,
    help="Read this format; only trec_results is known.",
)
@click.option(
    "-Z",
    "--Zscore",
    "zscores",
    metavar="FILE",
    type=READS,
    help="Print z-scores, from a file with query, measure, mean and deviation.",
)
@memory_options
@click.option("-o", "obsolete", is_flag=True, help="Do nothing (obsolete).")
@click.pass_context
def trec_eval(
    ctx: click.Context,
    /,
    judgements: str | None,
    run: str | None,
    help_wanted: bool,
    version_wanted: bool,
    measures: tuple[str, ...],
    no_summary: bool,
    debug: str | None,
    judgements_format: str,
    run_format: str,
    obsolete: bool,
    **options: Any,
) -> None:
    """Print what trec_eval 10.0 prints, for scripts that call it: RUN scored against QRELS."""
    from judged.cli._terminal import hand_over, say

    if version_wanted:
        say(f"trec_eval version {VERSION} (the output of judged trec-eval)", err=True)
        return
    if help_wanted:
        say(ctx.get_help())
        if measures:
            say("\n".join(explained(measures)))
        return
    if debug is not None:
        raise PolicyError("judged trec-eval has no -D: it prints no debug output.")
    for flag, given, known in (
        ("-R", judgements_format, "qrels"),
        ("-T", run_format, "trec_results"),
    ):
        if given in REFUSED:
            raise InputError(
                f"judged trec-eval does not read {REFUSED[given]} ({flag} {given}); it reads "
                f"{known}."
            )
        if given != known:
            raise InputError(f"judged trec-eval knows no format {given!r}; {flag} takes {known}.")
    if judgements is None or run is None:
        raise click.UsageError(
            "Give the judgements and the run: judged trec-eval [OPTIONS] QRELS RUN.", ctx
        )
    chosen = TrecEvalOptions(measures or ("official",), summary=not no_summary, **options)
    for text in measures:
        root, _, parameters = text.partition(".")
        if parameters and root in NAMES and NAMES[root].takes_nothing:
            say(f"warning: trec_eval ignores the parameters of {text!r}.", err=True)
    for line in printed(judgements, run, chosen):
        hand_over(f"{line}\n")
