"""Image search as one sees it: queries, their first results, and which of them are right."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

import numpy as np
import polars as pl

from judged.charts.canvas import Canvas, Design
from judged.charts.chart import Figure
from judged.charts.kinds import takes_design
from judged.charts.pictures import address, check_pictures, painted, read_pictures
from judged.charts.sources import checked_k, place_of
from judged.charts.svg import ThemeName, theme_named
from judged.errors import InputError
from judged.inputs import Lookup, read_judgements
from judged.inputs.blocks import MEMORY, Room
from judged.inputs.large_runs import read_query
from judged.inputs.tables import Run
from judged.matching.matcher import Matcher
from judged.matching.pool import pool_of
from judged.options import whole
from judged.policy import Policy
from judged.results import DisplayOptions
from judged.text import html

if TYPE_CHECKING:
    from judged.charts.pictures import PictureLike, PicturesLike
    from judged.options import JudgementsLike, RunLike

KIND = "gallery"
DEFAULT_K = 10
DEFAULT_QUERIES = 8
MOST = 5_000  # pictures that a gallery has room for


def _spaced(found: Any, there: Any, names: tuple[str, ...], count: int) -> list[str]:
    order = np.flatnonzero(there)[np.argsort(-found[there], kind="stable")]
    places = np.unique(
        np.rint(np.linspace(0, len(order) - 1, min(count, len(order)))).astype(np.int64)
    )
    return [names[at] for at in order[places].tolist()]


def _first(run: Run | Lookup, query: str, depth: int) -> pl.DataFrame:
    if isinstance(run, Lookup):
        rows = [(query, item, float(score)) for item, score in run.lists.get(query, {}).items()]
        frame = pl.DataFrame(
            rows, schema={"query": pl.String, "item": pl.String, "score": pl.Float64}, orient="row"
        )
    else:
        frame = run.frame.filter(pl.col("query") == query)
    ordered = (
        frame.select("query", "item", "score").sort("score", "item", descending=True).head(depth)
    )
    return ordered.with_columns(rank=pl.int_range(1, ordered.height + 1, dtype=pl.Int64))


@takes_design(
    judgements="A file, {query: {item: grade}}, or a table.",
    run="A file, {query: {item: score}}, {query: [items, best first]}, or a table.",
    pictures=(
        "{id: picture} for all queries and items that are shown, or a CSV or TSV file "
        "with the columns id and picture. A picture is a path, the bytes of a file, an "
        "array of 8-bit grey or RGB pixels, or an image of Pillow."
    ),
    query=("The id of one query; by default some, evenly spaced from the best to the worst."),
    k="How many results are shown, by default 10.",
    design=(
        "How it is drawn: `theme` (light or dark), `title`, `notes`; its pictures give it its size."
    ),
    returns="The data, the pictures and the notes; `save` writes a page or a picture.",
)
def gallery(
    judgements: JudgementsLike,
    run: RunLike,
    *,
    pictures: PicturesLike,
    query: str | None = None,
    k: int | None = None,
    queries: int = DEFAULT_QUERIES,
    rel: float = 1,
    **design: Unpack[Design],
) -> Gallery:
    """Draw queries and their first k results as pictures, with frames around right and wrong ones.

    >>> dot = np.zeros((8, 8), np.uint8)
    >>> shown = gallery({"q": {"a": 1}}, {"q": ["b", "a"]}, pictures={"q": dot, "a": dot, "b": dot})
    >>> shown.data.select("item", "relevant").rows()
    [('b', False), ('a', True)]
    """
    depth = checked_k(k, DEFAULT_K, DEFAULT_K)
    queries = whole("queries", queries)
    if depth * (queries if query is None else 1) > MOST:
        raise InputError(
            f"a gallery has room for {MOST:,} pictures; {queries:,} queries with {depth:,} results "
            "are more. Show fewer."
        )
    pool = pool_of(read_judgements(judgements))
    read = read_query(run, query, Room.of(MEMORY))
    r = Matcher(pool, Policy())(read)
    shown = (
        [r.queries[place_of(query, r.queries)]]
        if query is not None
        else _spaced(r.found(depth, rel), r.retrieved > 0, r.queries, queries)
    )
    frames = [_first(read, name, depth) for name in shown]
    grades = pool.frame.with_columns(grade=pl.Series(pool.grades)).filter(
        pl.col("query").is_in(shown)
    )
    table = (
        pl.concat(frames)
        .join(grades, on=["query", "item"], how="left", maintain_order="left")
        .select(
            pl.lit(read.name).alias("run"),
            pl.lit(len(r)).alias("queries"),
            "query",
            "rank",
            "item",
            "score",
            "grade",
            (pl.col("grade") >= rel).fill_null(False).alias("relevant"),
        )
    )
    return _draw(table, read_pictures(pictures), Canvas.of(design))


def _draw(table: pl.DataFrame, pictures: Mapping[str, PictureLike], canvas: Canvas) -> Gallery:
    if canvas.width is not None or canvas.height is not None:
        raise InputError(
            "a gallery is as large as its pictures; choose how many with k and queries."
        )
    if canvas.in_page:
        raise InputError("theme of a gallery must be light or dark; got 'page'.")
    names = table["query"].unique(maintain_order=True).to_list()
    check_pictures(pictures, [*names, *table["item"].unique(maintain_order=True).to_list()])
    every, right = int(table["queries"][0]), int(table["relevant"].sum())
    notes = [
        "A whole frame is a right result, a broken frame with a cross a wrong one; unjudged "
        "results count as wrong.",
        f"{right:,} of the {table.height:,} results shown are right.",
    ]
    if len(names) < every:
        spaced = (
            ", evenly spaced from the best to the worst by these results" if len(names) > 1 else ""
        )
        notes.append(f"{len(names)} of {every:,} queries{spaced}.")
    title = canvas.title or f"First results of {table['run'][0]}"
    shown = tuple(notes) if canvas.notes else ()
    return Gallery(KIND, table, title, shown, pictures, canvas.name)


@dataclass(frozen=True, eq=False, repr=False)
class Gallery(Figure):
    """A chart whose marks are pictures: drawn by Pillow or as a page, not by Vega-Lite.

    `save` writes an .html with the pictures in it, a .png, or its data.

    >>> dot = np.zeros((8, 8), np.uint8)
    >>> shown = gallery({"q": {"a": 1}}, {"q": ["b", "a"]}, pictures={"q": dot, "a": dot, "b": dot})
    >>> shown.title, shown.sentences()[-1]
    ('First results of run', '1 of the 2 results shown are right.')
    """

    SAVED_AS: ClassVar[dict[str, str]] = {
        ".html": "to_html",
        ".png": "to_png",
        ".json": "to_json",
        ".csv": "to_csv",
    }
    pictures: Mapping[str, PictureLike]
    """The picture of each query and item, by id."""
    theme: ThemeName
    """The colours."""

    def rows(self) -> list[pl.DataFrame]:
        """Return the results of each query, in the order of the gallery.

        Returns
        -------
        list of polars.DataFrame
            One table per query.
        """
        return self.data.partition_by("query", maintain_order=True)

    def to_html(self, **display: Unpack[DisplayOptions]) -> str:
        """Draw a page that holds everything, also the pictures, in the reader's light or dark.

        Parameters
        ----------
        **display : Unpack[DisplayOptions]
            Options of `Display`; none has a meaning here.

        Returns
        -------
        str
            An HTML document.
        """
        self._display("to_html", display)
        from judged.web.pages.templating import document

        page = document(
            "gallery.html",
            title=self.title,
            styles=("tokens", "base", "parts", "explanation", "print"),
            scripts=(),
            scheme="dark" if self.theme == "dark" else "",
            notes=self.notes,
            queries=[self._query(part) for part in self.rows()],
        )
        return f"{page}\n"

    def _query(self, part: pl.DataFrame) -> dict[str, Any]:
        query = part["query"][0]
        results = [
            {"item": item, "rank": rank, "relevant": relevant, **self._picture(item)}
            for item, rank, relevant in part.select("item", "rank", "relevant").rows()
        ]
        right = int(part["relevant"].sum())
        shown = {"query": query, "right": right, "shown": part.height, "results": results}
        return {**shown, **self._picture(query)}

    def _picture(self, name: str) -> dict[str, Any]:
        source, tiny = address(self.pictures[name], name)
        return {"source": source, "tiny": tiny}

    def to_png(self) -> bytes:
        """All pictures in one.

        Returns
        -------
        bytes
            A PNG file.
        """
        return painted(self.title, self.notes, self.rows(), self.pictures, theme_named(self.theme))

    def _repr_html_(self) -> str:
        words = html(" ".join((self.title, *self.notes)))
        png = base64.b64encode(self.to_png()).decode()
        return f'<img src="data:image/png;base64,{png}" alt="{words}">'
