"""Distributions: confusion counts, ranks of relevant items, scores, and scores as probabilities."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Unpack, cast

import numpy as np
import polars as pl

from judged.arrays import Floats, Ints, positions, starts_of
from judged.charts.canvas import (
    BELOW,
    HEIGHT,
    WIDTH,
    Canvas,
    Design,
    encode,
    keep_rows,
    layer,
    layers,
    mark,
    name_axis,
    number_axis,
    share_axis,
    text_width,
    when,
    widest,
)
from judged.charts.chart import Chart, Drawing, draws
from judged.charts.kinds import takes_design
from judged.charts.lines import LINE
from judged.charts.sources import Source, Systems, checked_k, unweighted
from judged.charts.svg import Theme
from judged.embeddings.diagnosis import Diagnosis
from judged.errors import InputError, for_caller
from judged.inputs import read_judgements, read_run
from judged.inputs.polars_errors import POLARS_ERRORS
from judged.matching.join import match
from judged.matching.pool import pool_of
from judged.measures import parse_measure
from judged.options import choice, whole
from judged.runs.funnel import Funnel
from judged.text import counted

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from judged.options import JudgementsLike, RunLike, Unjudged


# -- confusion

DEFAULT_K = 10
CELLS = {
    "TP": ("relevant", "among the first k", "true positives"),
    "FN": ("relevant", "not among them", "false negatives"),
    "FP": ("not relevant", "among the first k", "false positives"),
    "TN": ("not relevant", "not among them", "true negatives"),
}


@takes_design(k="How many results count, by default 10.")
def confusion(
    source: Source,
    *,
    query: str | None = None,
    k: int | None = None,
    rel: float = 1,
    **design: Unpack[Design],
) -> Chart:
    """Draw the confusion matrix at k, summed over queries.

    >>> from judged import Rankings
    >>> ranked = Rankings.from_relevance([[1, 0, 1, 1]], relevant=[5], collection=100)
    >>> confusion(ranked, k=3).data["count"].to_list()
    [2, 3, 1, 94]
    """
    systems = unweighted(Systems.of(source).one(query))
    r = systems.rankings[0]
    depth = checked_k(k, DEFAULT_K, DEFAULT_K)
    # TN is null where the size of the collection is unknown.
    known = [name for name in CELLS if name != "TN" or r.collection is not None]
    measures = {name: parse_measure(name)(k=depth, rel=rel) for name in known}
    [run] = systems.evaluate(list(measures.values())).runs
    counts = {name: round(run.summary[measure]) for name, measure in measures.items()}
    about = r.queries[0] if len(r) == 1 else None
    rows = [
        (r.name, about, len(r), depth, name, words, actual, shown, counts.get(name))
        for name, (actual, shown, words) in CELLS.items()
    ]
    names = ("run", "query", "queries", "k", "name", "words", "actual", "shown", "count")
    types = {"queries": pl.Int64, "k": pl.Int64, "count": pl.Int64}
    table = pl.DataFrame(
        rows, schema={name: types.get(name, pl.String) for name in names}, orient="row"
    )
    return draw_confusion(table, Canvas.of(design), Systems.of(source).sentences(query))


@draws("confusion")
def draw_confusion(table: pl.DataFrame, canvas: Canvas) -> Drawing:
    chosen = canvas.theme
    k, queries, query = int(table["k"][0]), int(table["queries"][0]), table["query"][0]
    unknown = table["count"].null_count() > 0
    x = name_axis(None, "shown", axis={"labelAngle": 0, "orient": "top"})
    y = name_axis(None, "actual")
    # Right decisions are dark and framed, wrong ones light: the difference is there in grey too.
    good = "indexof(['TP', 'TN'], datum.name) >= 0"
    cells = layer(
        mark("rect", stroke=chosen.background, strokeWidth=3),
        encode(x=x, y=y, color=when(good, chosen.fill, chosen.grid)),
    )
    place = {"x": x, "y": y}
    number = layer(
        mark("text", fontSize=24, dy=-8, fontWeight="bold"),
        encode(**place, text={"field": "label"}),
        transform=[
            {"calculate": "isValid(datum.count) ? format(datum.count, ',') : '?'", "as": "label"}
        ],
    )
    words = layer(
        mark("text", dy=16, fontSize=12),
        encode(**place, text={"field": "label"}),
        transform=[{"calculate": "datum.words + ' (' + datum.name + ')'", "as": "label"}],
    )
    notes = [
        "" if query else f"Summed over {counted(queries, 'query', 'queries')}.",
        _shares(table),
        for_caller("True negatives need the size of the collection: collection (--collection).")
        if unknown
        else "",
    ]
    about = f", query {query}" if query else ""
    title = f"Relevant or not, shown or not, at k = {k}: {table['run'][0]}{about}"
    width, height = canvas.across(380, beside=90), canvas.down(190, below=30)
    parts = layers(cells, number, words, width=width, height=height)
    return title, notes, parts


def _shares(table: pl.DataFrame) -> str:
    count = dict(zip(table["name"], table["count"], strict=True))
    shown, relevant = count["TP"] + count["FP"], count["TP"] + count["FN"]
    right = f"{count['TP']:,} of {shown:,} results shown are relevant"
    return (
        f"{right if shown else 'Nothing is shown'}; {count['TP']:,} of "
        f"{counted(relevant, 'relevant item')} are shown."
    )


# -- rank histogram

EACH = 20  # down to this rank, where no item stands further down, every rank has a bar of its own
LOST = "not retrieved"
Of = Literal["all", "first"]
OF: dict[Of, str] = {"all": "all relevant items", "first": "the first relevant item of each query"}


@takes_design(of="All relevant items, which is the default, or only the first of each query.")
def rank_histogram(
    source: Source, *, of: Of = "all", rel: float = 1, **design: Unpack[Design]
) -> Chart:
    """Draw how many relevant items have which ranks, and their median.

    >>> from judged import Rankings
    >>> chart = rank_histogram(Rankings.from_relevance([[0, 0, 1, 0, 1, 0, 0, 1]]))
    >>> chart.title
    'Ranks of all relevant items in run: the median is 5'
    """
    choice("of", of, OF)
    systems = unweighted(Systems.of(source).one())
    r = systems.rankings[0]
    query, rank, ordinal = r.relevant_hits(None, rel)
    if of == "first":
        query, rank = query[ordinal == 1], rank[ordinal == 1]
    wanted = r.relevant(rel).sum() if of == "all" else (r.relevant(rel) > 0).sum()
    if not wanted:
        raise InputError(f"{r.name} has no relevant items, so no ranks can be shown.")
    lost = int(wanted) - len(rank)
    first, last = _rank_bins(int(rank.max(initial=1)))
    counts = np.bincount(np.searchsorted(last, rank), minlength=len(last))
    ranks = np.concatenate([rank.astype(np.float64), np.full(lost, np.inf)])
    median = float(np.median(ranks))
    table = _rank_table(r.name, len(r), of, first, last, counts, lost, median)
    return draw_rank_histogram(table, Canvas.of(design), Systems.of(source).sentences())


def _rank_bins(deepest: int) -> tuple[Ints, Ints]:
    """Return first and last ranks of bins: each rank, or 1 to 5, 6–10, 11–20, 21–50, 51–100, …"""
    if deepest <= EACH:
        return np.arange(1, deepest + 1), np.arange(1, deepest + 1)
    last = [1, 2, 3, 4, 5]
    while last[-1] < deepest:
        power = 10 ** int(np.floor(np.log10(last[-1])))
        last.append({1: 2, 2: 5, 5: 10}[last[-1] // power] * power)
    ends = np.array(last)
    return np.concatenate([[1], ends[:-1] + 1]), ends


def _rank_table(
    run: str, queries: int, of: str, first: Ints, last: Ints, counts: Ints, lost: int, median: float
) -> pl.DataFrame:
    bins = list(zip(first.tolist(), last.tolist(), strict=True))
    labels = [f"{a}" if a == b else f"{a}–{b}" for a, b in bins]
    holds = [a - 0.5 <= median < b + 0.5 for a, b in bins]
    total = max(int(counts.sum()) + lost, 1)
    every: Floats = np.append(counts, lost) / total
    table = pl.DataFrame(
        {
            "run": run,
            "queries": queries,
            "of": of,
            "ranks": [*labels, LOST],
            "rank_from": pl.Series([*first.tolist(), None], dtype=pl.Int64),
            "rank_to": pl.Series([*last.tolist(), None], dtype=pl.Int64),
            "items": [*counts.tolist(), lost],
            "share": every,
            "holds_median": [*holds, bool(np.isinf(median))],
            "median": median,
        }
    )
    return table if lost else table.head(-1)


@draws("rank-histogram")
def draw_rank_histogram(table: pl.DataFrame, canvas: Canvas) -> Drawing:
    chosen = canvas.theme
    of, median, total = table["of"][0], float(table["median"][0]), int(table["items"].sum())
    lost = int(table.filter(ranks=LOST)["items"].sum())
    most = int(table["items"].max() or 1)  # type: ignore[arg-type]
    x = name_axis("rank", "ranks", axis={"labelAngle": 0})
    axis = {"values": list(range(most + 1)), "format": "d"} if most <= 10 else {"format": ",d"}
    y = number_axis("relevant items", "items", axis=axis)
    tooltip = [{"field": "ranks"}, {"field": "items"}, {"field": "share", "format": ".1%"}]
    bars = layer(
        mark("bar"),
        encode(
            x=x,
            y=y,
            color=when("datum.holds_median", chosen.wrong, chosen.series[0]),
            tooltip=tooltip,
        ),
    )
    numbers = layer(
        mark("text", dy=-7),
        encode(x=x, y=y, text={"field": "label"}),
        transform=[
            {"filter": "datum.items > 0"},
            {"calculate": "format(datum.items, ',')", "as": "label"},
        ],
    )
    word = layer(
        mark("text", dy=-21, fontWeight="bold", color=chosen.wrong),
        encode(x=x, y=y, text={"value": "median"}),
        transform=[{"filter": "datum.holds_median"}],
    )
    wide = table.filter(pl.col("rank_to") > pl.col("rank_from")).height > 0
    notes = [
        f"{counted(total, 'item')} in {counted(int(table['queries'][0]), 'query', 'queries')}"
        + (f"; {lost:,} were not retrieved and count as behind the last rank." if lost else "."),
        "Bars further down stand for several ranks." if wide else "",
    ]
    middle = "item was not retrieved" if np.isinf(median) else f"is {median:g}"
    title = f"Ranks of {OF[of]} in {table['run'][0]}: the median {middle}"
    width = canvas.across(max(300, (58 if wide else 34) * table.height + 40))
    drawn = layers(bars, numbers, word, width=width, height=canvas.down(HEIGHT))
    return title, notes, drawn


# -- scores

UNJUDGED = {
    "nonrelevant": "Unjudged results count as not relevant.",
    "removed": "Unjudged results are left out.",
}


@takes_design(bins="How many bins scores are put into, by default 40.")
def scores(
    judgements: JudgementsLike | ArrayLike,
    run: RunLike | ArrayLike,
    *,
    bins: int = 40,
    rel: float = 1,
    unjudged: Unjudged = "nonrelevant",
    **design: Unpack[Design],
) -> Chart:
    """Draw histograms of the scores of relevant results and of all others.

    >>> scores([1, 0, 0, 1], [0.9, 0.2, 0.4, 0.8], bins=2).data["count"].to_list()
    [0, 2, 2, 0]
    """
    bins = whole("bins", bins, at_most=10_000)
    *groups, name, note = _read_scores(judgements, run, rel, unjudged)
    finite = [scores[np.isfinite(scores)] for scores in groups]
    if not len(finite[1]):
        raise InputError(f"{name} has no finite score to show.")
    edges = np.histogram_bin_edges(finite[1], bins=int(bins))
    relevant, every = (np.histogram(each, bins=edges)[0] for each in finite)
    total, other = (float(each.sum()) for each in (finite[0], finite[1]))
    rest = len(finite[1]) - len(finite[0])
    means = {
        "relevant": total / len(finite[0]) if len(finite[0]) else np.nan,
        "other": (other - total) / rest if rest else np.nan,
    }
    counts = {"relevant": relevant.tolist(), "other": (every - relevant).tolist()}
    table = histogram(name, edges.tolist(), counts, means, note)
    return draw_scores(table, Canvas.of(design))


def _read_scores(
    judgements: JudgementsLike | ArrayLike, run: RunLike | ArrayLike, rel: float, unjudged: Unjudged
) -> tuple[Floats, Floats, str, str]:
    """Return the scores of relevant results and of all that count, the run, and a note."""
    choice("unjudged", unjudged, UNJUDGED)
    if _side_by_side(judgements, run):
        return _of_numbers(judgements, run, rel)
    pool = pool_of(read_judgements(cast("JudgementsLike", judgements)))
    table = read_run(cast("RunLike", run))
    found = match(pool, table, duplicates="error")
    grade = pool.grades[found.hit_judgement]
    every = judged = found.hit_score[grade >= 0]
    if unjudged != "removed":
        lists = found.list_of[found.list_of >= 0]
        every = found.scores[positions(starts_of(found.lengths)[lists], found.lengths[lists])]
    note = UNJUDGED[unjudged] if unjudged == "removed" or len(judged) < len(every) else ""
    return found.hit_score[grade >= rel], every, table.name, note


def _side_by_side(judgements: Any, run: Any) -> bool:
    """Return whether these are plain numbers instead of something with ids."""
    return all(isinstance(numbers, (list, tuple, np.ndarray)) for numbers in (judgements, run))


def _of_numbers(grades: Any, scores: Any, rel: float) -> tuple[Floats, Floats, str, str]:
    flat = [_flat(numbers) for numbers in (grades, scores)]
    if len(flat[0]) != len(flat[1]):
        raise InputError(
            f"there are {len(flat[0]):,} grades but {len(flat[1]):,} scores; the lengths must "
            "match."
        )
    if not all(np.isfinite(numbers).all() for numbers in flat):
        raise InputError("grades and scores must be finite numbers.")
    return flat[1][flat[0] >= rel], flat[1], "scores", ""


def _flat(values: Any) -> Floats:
    rows = [np.atleast_1d(np.asarray(row, dtype=np.float64)) for row in values]
    return np.concatenate([row.ravel() for row in rows]) if rows else np.zeros(0)


def histogram(
    run: str,
    edges: list[float],
    groups: dict[str, list[int]],
    means: dict[str, float],
    said: str = "",
) -> pl.DataFrame:
    """Return the table of a histogram of groups over the same bins."""
    frames = [
        pl.DataFrame(
            {
                "run": run,
                "group": name,
                "score_from": edges[:-1],
                "score_to": edges[1:],
                "count": pl.Series(counts, dtype=pl.Int64),
                "share": np.array(counts) / max(sum(counts), 1),
                "mean": float(means[name]),
                "said": said,
            }
        )
        for name, counts in groups.items()
    ]
    return pl.concat(frames)


def _draw_histograms(table: pl.DataFrame, canvas: Canvas) -> Drawing:
    chosen = canvas.theme
    shades = {"relevant": chosen.right, "other": chosen.wrong}
    high = float(table["share"].max()) * 1.15 or 1.0  # type: ignore[arg-type]
    x = number_axis("score", "score_from", scale={"zero": False, "nice": False})
    y = number_axis(
        "share of the group",
        "share",
        scale={"domain": [0, high], "nice": False},
        axis={"format": "%"},
    )
    parts: list[dict[str, Any]] = []
    # Others lie behind, filled; relevant results in front, with a heavy outline: in grey they
    # differ by that.
    for group, shade in reversed(shades.items()):
        if group not in table["group"]:
            continue
        only = [keep_rows("group", group)]
        tooltip = [{"field": name} for name in ("group", "score_from", "score_to", "count")]
        fill = layer(
            mark("rect", color=shade, opacity=0.4 if group == "other" else 0.25),
            encode(x=x, x2={"field": "score_to"}, y=y, y2={"datum": 0}, tooltip=tooltip),
            transform=only,
        )
        outline = layer(
            mark("line", color=shade, strokeWidth=2.4 if group == "relevant" else 1),
            encode(
                x={**x, "field": "x"},
                y={**y, "field": "y"},
                order={"field": "order", "type": "quantitative"},
            ),
            values=_outline(table, group),
        )
        parts += [fill, outline]
    width, height = canvas.across(WIDTH), canvas.down(HEIGHT, below=BELOW + 2 * LINE)
    parts += _names(table, x, shades, chosen, width)
    counts = dict(table.group_by("group").agg(pl.col("count").sum()).rows())
    means = dict(table.group_by("group").agg(pl.col("mean").first()).rows())
    averages = [
        f"{'relevant items' if group == 'relevant' else 'others'} {means[group]:.4g} on average "
        f"({counts[group]:,})"
        for group in shades
        if counts.get(group)
    ]
    notes = [f"{'; '.join(averages)[:1].upper()}{'; '.join(averages)[1:]}.", table["said"][0]]
    title = f"Scores of relevant items and of others: {table['run'][0]}"
    drawn = layers(*parts, width=width, height=height)
    return title, notes, drawn


draw_scores = draws("scores")(_draw_histograms)
draw_embedding_scores = draws("embedding-scores")(_draw_histograms)


def _outline(table: pl.DataFrame, group: str) -> list[dict[str, float]]:
    corners = []
    for left, right, share in (
        table.filter(group=group).select("score_from", "score_to", "share").rows()
    ):
        corners += [(left, share), (right, share)]
    first, last = corners[0][0], corners[-1][0]
    every = [(first, 0.0), *corners, (last, 0.0)]
    return [
        {"x": float(f"{x:.7g}"), "y": float(f"{y:.7g}"), "order": at}
        for at, (x, y) in enumerate(every)
    ]


def _names(
    table: pl.DataFrame, x: dict[str, Any], shades: dict[str, str], theme: Theme, width: int
) -> list[dict[str, Any]]:
    """Mark the mean of each group, with its name above the frame, on its own side."""
    low, end = float(table["score_from"].min()), float(table["score_to"].max())  # type: ignore[arg-type]
    known = [
        (float(own["mean"][0]), group, int(own["count"].sum()))
        for group in shades
        if (own := table.filter(group=group)).height and own["count"].sum()
    ]
    known = sorted(each for each in known if low <= each[0] <= end)
    words = [
        f"{'relevant' if group == 'relevant' else 'others'}: {count:,}, mean {mean:.4g}"
        for mean, group, count in known
    ]
    wide = [text_width(each, bold=True) for each in words]
    places = [(mean - low) / ((end - low) or 1.0) * width for mean, _, _ in known]
    lefts = [
        max(0.0, min(place - taken * lean, width - taken))
        for place, taken, lean in zip(
            places, wide, (1.0, 0.0) if len(known) > 1 else (0.5,), strict=True
        )
    ]
    meet = len(known) > 1 and lefts[0] + wide[0] + LINE > lefts[1]
    found: list[dict[str, Any]] = []
    for at, (mean, group, _) in enumerate(known):
        shade = shades[group]
        found += [
            layer(
                mark(
                    "rule",
                    color=shade,
                    strokeWidth=1.6,
                    strokeDash=[1, 0] if group == "relevant" else [4, 3],
                ),
                encode(x={**x, "field": "x"}),
                values=[{"x": float(f"{mean:.7g}")}],
            ),
            layer(
                mark(
                    "text",
                    fontWeight="bold",
                    baseline="bottom",
                    align="left",
                    clip=False,
                    color=theme.ink_of(shade),
                ),
                encode(
                    x={"value": round(lefts[at], 1)},
                    y={"value": -6 - (LINE if meet and at == 0 else 0)},
                    text={"field": "words"},
                ),
                values=[{"words": words[at]}],
            ),
        ]
    return found


# -- embedding scores


def _diagnosis_table(diagnosis: Diagnosis | Mapping[str, Any]) -> pl.DataFrame:
    fields = diagnosis.to_dict() if isinstance(diagnosis, Diagnosis) else diagnosis
    refused = InputError(
        "embedding-scores needs a diagnosis of embeddings; make one with Embeddings.diagnose or "
        "`judged embeddings … --diagnose`."
    )
    if not isinstance(fields, Mapping) or not {"scores", "similarity"} <= set(fields):
        raise refused
    if (bins := fields["scores"]) is None:
        raise InputError(
            "the diagnosis has no scores: one side has no vector that can be compared."
        )
    try:
        groups, means = {"other": bins["others"]}, {"other": bins["others_mean"]}
        if bins["relevant"] is not None:
            groups = {"relevant": bins["relevant"], **groups}
            means["relevant"] = bins["relevant_mean"]
        known = {name: float("nan") if mean is None else mean for name, mean in means.items()}
        queries, items = (fields[side]["count"] for side in ("queries", "items"))
        pairs = f"All pairs of {queries:,} queries and {items:,} items."
        return histogram(str(fields["similarity"]), list(bins["edges"]), groups, known, pairs)
    except (KeyError, TypeError, ValueError, OverflowError, *POLARS_ERRORS):
        raise refused from None


@takes_design()
def embedding_scores(diagnosis: Diagnosis | Mapping[str, Any], **design: Unpack[Design]) -> Chart:
    """Draw histograms of the scores of relevant pairs and of all others, exact over all pairs.

    >>> import judged
    >>> both = judged.Embeddings([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]])
    >>> found = both.diagnose(judged.relevance.same_label(["a", "b"], ["a", "b"]))
    >>> embedding_scores(found).data.filter(count=2)["group"].to_list()
    ['relevant', 'other']
    """
    return draw_embedding_scores(_diagnosis_table(diagnosis), Canvas.of(design))


# -- reliability

COUNTS, APART = 70, 18  # pixels of the counts below a diagram, and between the two
BELOW_MAIN = 2 * BELOW + COUNTS + APART


@takes_design(bins="How many bins scores are put into, by default 10.")
def reliability(
    judgements: JudgementsLike | ArrayLike,
    run: RunLike | ArrayLike,
    *,
    bins: int = 10,
    rel: float = 1,
    unjudged: Unjudged = "nonrelevant",
    **design: Unpack[Design],
) -> Chart:
    """Draw scores between 0 and 1 against the share of results that are relevant.

    >>> chart = reliability([1, 0, 0, 1], [1.0, 0.25, 0.25, 0.75], bins=2)
    >>> chart.data.select("score", "share_relevant").rows()
    [(0.25, 0.0), (0.875, 1.0)]
    """
    size = whole("bins", bins)
    relevant_scores, every, name, note = _read_scores(judgements, run, rel, unjudged)
    if not len(every):
        raise InputError(f"{name} has no score to show.")
    low, high = float(every.min(initial=0)), float(every.max(initial=1))
    if low < 0 or high > 1:
        raise InputError(
            f"{name}: scores must be probabilities, from 0 to 1; they go from {low:g} to "
            f"{high:g}. Convert them first, for example with a sigmoid or softmax."
        )
    places = [
        np.minimum((scores * size).astype(np.int64), size - 1)
        for scores in (relevant_scores, every)
    ]
    relevant, count = (np.bincount(place, minlength=size) for place in places)
    summed = np.bincount(places[1], every, minlength=size)
    there = count > 0
    edges = np.arange(size + 1) / size
    table = pl.DataFrame(
        {
            "run": name,
            "score_from": edges[:-1][there],
            "score_to": edges[1:][there],
            "score": (summed / np.maximum(count, 1))[there],
            "share_relevant": (relevant / np.maximum(count, 1))[there],
            "count": count[there],
            "said": note,
        }
    )
    return draw_reliability(table, Canvas.of(design))


def calibration_error(table: pl.DataFrame) -> float:
    """Return the mean gap between score and share of relevant results, weighted by their number."""
    count = table["count"].to_numpy()
    gap = np.abs(table["score"].to_numpy() - table["share_relevant"].to_numpy())
    return float((gap * count).sum() / count.sum())


@draws("reliability", width=360)
def draw_reliability(table: pl.DataFrame, canvas: Canvas) -> Drawing:
    notes = [
        "Points on the dashed line are right; the bars are the gaps. "
        f"Expected calibration error {calibration_error(table):.4f} over "
        f"{counted(int(table['count'].sum()), 'result')} in {counted(table.height, 'bin')}.",
        table["said"][0],
    ]
    title = f"Scores read as probabilities: {table['run'][0]}"
    width, height = canvas.across(340), canvas.down(300, below=BELOW_MAIN)
    return title, notes, diagram(canvas.theme, width=width, height=height)


def diagram(
    theme: Theme,
    *,
    score: str = "score",
    share: str = "share of relevant results",
    results: str = "results",
    only: dict[str, Any] | None = None,
    width: int = 340,
    height: int = 300,
    most: int | None = None,
) -> dict[str, Any]:
    """Return a reliability diagram above the counts of its bins, of rows that `only` selects."""
    x = share_axis(score, "score")
    y = share_axis(share, "share_relevant")
    perfect = layer(
        mark("line", color=theme.muted, strokeDash=[4, 3]),
        encode(x={**x, "field": "x"}, y={**y, "field": "y"}),
        values=[{"x": 0, "y": 0}, {"x": 1, "y": 1}],
    )
    rows: dict[str, Any] = {"transform": [only]} if only else {}
    gaps = layer(
        mark("rule", color=theme.wrong, strokeWidth=4, opacity=0.55),
        encode(x=x, y=y, y2={"field": "score"}),
        **rows,
    )
    line = layer(mark("line", color=theme.series[0], strokeWidth=2), encode(x=x, y=y), **rows)
    tooltip = [
        {"field": name} for name in ("score_from", "score_to", "score", "share_relevant", "count")
    ]
    points = layer(
        mark("point", filled=True, size=60, color=theme.series[0], opacity=1),
        encode(x=x, y=y, tooltip=tooltip),
        **rows,
    )
    ticks: dict[str, Any] = {"format": "~s", "tickCount": 3} | ({"tickMinStep": 1} if most else {})
    scale: dict[str, Any] = {"scale": {"domain": [0, most], "nice": False}} if most else {}
    counts = {
        **rows,
        "width": width,
        "height": COUNTS,
        "mark": {"type": "rect", "color": theme.series[0], "stroke": theme.background},
        "encoding": {
            "x": {**share_axis(score, "score_from"), "axis": {"grid": False}},
            "x2": {"field": "score_to"},
            "y": number_axis(results, "count", axis=ticks, **scale),
            "y2": {"datum": 0},
            "tooltip": tooltip,
        },
    }
    main = {"width": width, "height": height, "layer": [perfect, gaps, line, points]}
    return {"vconcat": [main, counts], "spacing": APART}


# -- funnel


@takes_design()
def funnel(funnel: Funnel, **design: Unpack[Design]) -> Chart:
    """Draw the relevant items that each stage of a pipeline lost, down to those in the top K.

    >>> import judged
    >>> stages = {"first": {"q": ["a", "b"]}, "last": {"q": ["b", "a"]}}
    >>> lost = judged.funnel({"q": {"a": 1, "b": 1, "c": 1}}, stages, k=1)
    >>> judged.charts.funnel(lost).data.select("reason", "items").rows()
    [('not retrieved', 1), ('demoted', 1), ('kept', 1)]
    """
    if not isinstance(funnel, Funnel):
        raise InputError("this chart is made from the result of judged.funnel; got something else.")
    losses = [
        (stage, reason, items)
        for stage, reasons in funnel.losses.items()
        for reason, items in reasons.items()
    ]
    last = funnel.stages[-1]
    counts = pl.DataFrame(
        [*losses, (last, "kept", funnel.kept)], schema=["stage", "reason", "items"], orient="row"
    )
    left = funnel.relevant - pl.col("items").cum_sum()
    kept = pl.col("reason") == "kept"
    word = pl.when(kept).then(pl.lit(f"in the top {funnel.k}")).otherwise("reason")
    table = counts.select(
        *("stage", "reason", "items"),
        share=pl.col("items") / funnel.relevant,
        row=pl.concat_str("stage", pl.lit(": "), word),
        left_from=pl.when(kept).then(0).otherwise(left),
        left_to=pl.when(kept).then(pl.col("items")).otherwise(left + pl.col("items")),
        k=pl.lit(funnel.k),
        queries=pl.lit(len(np.unique(funnel.query))),
    )
    warned = [f"Warning: {text}" for text in funnel.warnings()]
    return draw_funnel(table, Canvas.of(design), warned)


@draws("funnel")
def draw_funnel(table: pl.DataFrame, canvas: Canvas) -> Drawing:
    chosen = canvas.theme
    total = int(table["items"].sum())
    last, k = table["stage"][-1], table["k"][0]
    scale = {"domain": [0, total * 1.12], "nice": False}
    x = number_axis("relevant items", "left_to", scale=scale, axis={"format": ",d"})
    names = widest(table["row"])
    if canvas.width is not None:
        names = min(names, canvas.width / 2)
    y = name_axis(None, "row", axis={"labelLimit": math.ceil(names) + 4})
    tooltip = [{"field": "row"}, {"field": "items"}, {"field": "share", "format": ".1%"}]
    shade = when("datum.reason == 'kept'", chosen.series[0], chosen.wrong)
    bars = layer(
        mark("bar"), encode(x=x, x2={"field": "left_from"}, y=y, color=shade, tooltip=tooltip)
    )
    numbers = layer(
        mark("text", align="left", dx=5),
        encode(x=x, y=y, text={"field": "label"}),
        transform=[{"calculate": "format(datum.items, ',')", "as": "label"}],
    )
    notes = [
        f"Each of {counted(total, 'relevant item')} of "
        f"{counted(table['queries'][0], 'query', 'queries')} is in one bar: lost by one stage, or "
        f"in the top {k} of {last}."
    ]
    title = f"Relevant items on their way to the top {k} of {last}"
    width = canvas.across(WIDTH, beside=names + 20)
    height = canvas.down(28 * table.height + 10)
    return title, notes, layers(bars, numbers, width=width, height=height)
