"""How a measure grows or falls with its cutoff, for one or more systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from judged.charts.canvas import Canvas, Design, Frame, rank_axis, share_axis
from judged.charts.chart import HEIGHT, WIDTH, Chart, chart, layers
from judged.charts.kinds import takes_design
from judged.charts.lines import curves
from judged.charts.sources import Source, Systems, asked, checked_k, cutoffs
from judged.errors import MeasureError
from judged.measures import Measure, parse_all, parse_measure

if TYPE_CHECKING:
    from judged.options import MeasuresLike

KIND = "measure-at-k"
DEEPEST = 100  # where curves end by default
DEFAULT = ("nDCG",)
NARROW, GAP = 300, 40  # pixels that a panel needs at least with its names, and between two


@takes_design(measures="Measures that have a cutoff, by default nDCG.")
def measure_at_k(
    source: Source,
    *,
    measures: MeasuresLike | None = None,
    k: int | None = None,
    **design: Unpack[Design],
) -> Chart:
    """Measures at every cutoff down to k: one panel per measure, one curve per system.

    >>> from judged import Rankings
    >>> chart = measure_at_k(Rankings.from_relevance([[1, 0, 1, 1]]), measures="P")
    >>> chart.data["value"].to_list()[:2]
    [1.0, 0.5]
    """
    systems = Systems.of(source)
    wanted = parse_all(DEFAULT if measures is None else measures)
    for measure in wanted:
        if measure.spec.at != "k":
            raise MeasureError(
                f"{measure} has no cutoff k, so there is no curve of it along k; take one such as "
                "P or nDCG."
            )
    depths = cutoffs(checked_k(k, systems.longest, DEEPEST))
    evaluation = systems.evaluate([measure(k=depth) for measure in wanted for depth in depths])
    rows = [
        (
            run.name,
            len(run.rankings),
            _without_cutoff(measure),
            depth,
            run.summary[measure(k=depth)],
        )
        for measure in wanted
        for run in evaluation.runs
        for depth in depths
    ]
    table = pl.DataFrame(
        rows,
        schema=["run", "queries", "measure", "k", "value"],
        orient="row",
        infer_schema_length=None,
    )
    return draw(table, **design, sentences=systems.sentences())


def _without_cutoff(measure: Measure) -> str:
    return str(measure(k=None))


def draw(table: pl.DataFrame, *, sentences: Sequence[str] = (), **design: Unpack[Design]) -> Chart:
    canvas = Canvas.of(design)
    names = table["measure"].unique(maintain_order=True).to_list()
    columns = canvas.columns(len(names), NARROW)
    rows = -(-len(names) // columns)
    frame = canvas.frame(
        WIDTH, HEIGHT, table["run"], panels=columns, gap=GAP, rows=rows, row_gap=GAP
    )
    panels = [
        _panel(part, canvas, frame) for part in table.partition_by("measure", maintain_order=True)
    ]
    last, shown = int(table["k"].max()), table["k"].n_unique()  # type: ignore[arg-type]
    who, each = asked(table)
    notes = [
        f"Mean over {who}{each}.",
        f"Computed at {shown} of the {last:,} cutoffs." if shown < last else "",
        *sentences,
    ]
    title = f"{', '.join(names)} of the first k results, as k grows"
    parts = (
        panels[0] if len(panels) == 1 else {"concat": panels, "columns": columns, "spacing": GAP}
    )
    return chart(KIND, table, canvas, title, notes, parts)


def _panel(part: pl.DataFrame, canvas: Canvas, frame: Frame) -> dict[str, Any]:
    measure, last = part["measure"][0], int(part["k"].max())  # type: ignore[arg-type]
    greatest = float(part["value"].max())  # type: ignore[arg-type]
    share = parse_measure(measure).spec.range == (0, 1)
    high = 1.0 if share else greatest * 1.05 or 1.0
    y = share_axis(f"{measure}@k", "value", top=high)
    x = rank_axis("k", "k", last)
    lines = curves(part, "run", x=x, y=y, canvas=canvas, frame=frame, high=high)
    for line in lines[:-1]:
        line["transform"] = [{"filter": {"field": "measure", "equal": measure}}]
    return layers(*lines, width=frame.width, height=frame.height)
