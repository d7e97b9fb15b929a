"""Gallery: queries and their first results as pictures, right and wrong ones told apart by colour,
frame and sign."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING, Any

from judged.charts.chart import write_as
from judged.charts.pictures import address, check_pillow, fitted, opened
from judged.charts.themes import theme_named
from judged.errors import MissingExtraError

if TYPE_CHECKING:
    import polars as pl

TILE, GAP, MARGIN = 68, 12, 18
"""Pixels of a picture, between pictures, and around all."""
SIGNS = {True: "✓", False: "✗"}


@dataclass(frozen=True, eq=False)
class Gallery:
    """A chart whose marks are pictures: it has the ways of `Chart`, but is drawn by Pillow or as a
    page, not by Vega-Lite."""

    kind: str
    data: pl.DataFrame
    title: str
    pictures: Mapping[str, Any]
    theme: str = "light"
    notes: tuple[str, ...] = ()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an .html with the pictures in it, or a .png."""
        write_as(self, path, FORMATS)

    def rows(self) -> list[pl.DataFrame]:
        """The results of each query, in the order of the gallery."""
        return self.data.partition_by("query", maintain_order=True)

    def to_html(self) -> str:
        """A page with everything in it."""
        head = f'<meta charset="utf-8"><title>{escape(self.title)}</title>'
        return f'<!DOCTYPE html>\n<html lang="en">{head}\n{self._body()}</html>\n'

    def _body(self) -> str:
        theme = theme_named(self.theme)
        style = f"""<style>
.judged-gallery {{ font: 14px Helvetica, Arial, sans-serif; padding: 16px; }}
.judged-gallery {{ background: {theme.background}; color: {theme.ink}; }}
.judged-gallery h1 {{ font-size: 19px; margin: 0 0 6px; }} .judged-gallery p {{ color: {theme.muted}; margin: 2px 0; }}
.judged-gallery section {{ display: flex; overflow-x: auto; gap: 10px; margin: 18px 0 0; align-items: flex-start; }}
.judged-gallery figure {{ margin: 0; text-align: center; font-size: 12px; }}
.judged-gallery img {{ width: {TILE}px; height: {TILE}px; object-fit: contain; display: block; border: 4px solid transparent; }}
.judged-gallery img.tiny {{ image-rendering: pixelated; }}
.judged-gallery .query {{ padding-right: 14px; border-right: 1px solid {theme.muted}; }}
.judged-gallery .right img {{ border: 4px solid {theme.right}; }}
.judged-gallery .wrong img {{ border: 4px dashed {theme.wrong}; }}
</style>"""
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        lists = "\n".join(self._section(part) for part in self.rows())
        return (
            f"{style}\n<main "
            f'class="judged-gallery"><h1>{escape(self.title)}</h1>{notes}\n{lists}\n</main>\n'
        )

    def _section(self, part: pl.DataFrame) -> str:
        query = part["query"][0]
        right = int(part["relevant"].sum())
        tiles = [
            _tile(
                self.pictures[query],
                query,
                "query",
                f"query {escape(query)}<br>{right} of {part.height} right",
            )
        ]
        for item, rank, relevant in part.select("item", "rank", "relevant").rows():
            words = f"{rank} {SIGNS[relevant]} {escape(item)}"
            tiles.append(_tile(self.pictures[item], item, "right" if relevant else "wrong", words))
        return f"<section>{''.join(tiles)}</section>"

    def to_png(self) -> bytes:
        """All pictures in one."""
        image = self._painted()
        buffer = BytesIO()
        image.save(buffer, "PNG", optimize=True)
        return buffer.getvalue()

    def _painted(self) -> Any:
        check_pillow()
        from PIL import Image, ImageDraw

        theme, rows = theme_named(self.theme), self.rows()
        most = max(part.height for part in rows)
        top = MARGIN + 28 + 18 * len(self.notes) + 12
        step, line = TILE + GAP, TILE + GAP + 22
        words = [
            _font(18).getlength(self.title),
            *(_font(12).getlength(note) for note in self.notes),
        ]
        width = max(2 * MARGIN + (most + 1) * step + 2 * GAP, int(max(words)) + 2 * MARGIN)
        canvas = Image.new("RGB", (width, top + line * len(rows) + MARGIN), theme.background)
        pen = ImageDraw.Draw(canvas)
        pen.text((MARGIN, MARGIN), self.title, theme.ink, font=_font(18))
        for at, note in enumerate(self.notes):
            pen.text((MARGIN, MARGIN + 28 + 18 * at), note, theme.muted, font=_font(12))
        for number, part in enumerate(rows):
            y = top + number * line
            query = part["query"][0]
            self._paint(canvas, query, MARGIN, y)
            pen.text(
                (MARGIN + TILE / 2, y + TILE + 8),
                _cut(query),
                theme.ink,
                font=_font(11),
                anchor="mt",
            )
            pen.line((MARGIN + step + 2, y, MARGIN + step + 2, y + TILE), theme.muted)
            for at, (item, rank, relevant) in enumerate(
                part.select("item", "rank", "relevant").rows(), 1
            ):
                x = MARGIN + at * step + 2 * GAP
                self._paint(canvas, item, x, y)
                _frame(pen, x, y, theme.right if relevant else theme.wrong, dashed=not relevant)
                if not relevant:
                    _cross(pen, x + TILE - 16, y + 4, theme.wrong, theme.background)
                pen.text(
                    (x + TILE / 2, y + TILE + 8),
                    f"{rank}: {_cut(item)}",
                    theme.ink,
                    font=_font(11),
                    anchor="mt",
                )
        return canvas

    def _paint(self, canvas: Any, name: str, x: int, y: int) -> None:
        image = fitted(opened(self.pictures[name], name), TILE)
        canvas.paste(image, (x + (TILE - image.width) // 2, y + (TILE - image.height) // 2))

    def __repr__(self) -> str:
        return "\n".join([f"<Gallery: {self.title}>", *(f"  {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        return self._body()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """A page for notebooks; words where the extra is missing."""
        try:
            return {"text/plain": repr(self), "text/html": self._repr_html_()}
        except MissingExtraError as missing:
            return {"text/plain": f"{self!r}\n  {missing}"}


FORMATS: dict[str, Callable[[Gallery], bytes]] = {
    ".html": lambda gallery: gallery.to_html().encode(),
    ".png": Gallery.to_png,
}
"""What a gallery can be written as, by the ending of the file."""


def _tile(picture: Any, name: str, kind: str, words: str) -> str:
    source, tiny = address(picture, name)
    look = ' class="tiny"' if tiny else ""
    return (
        f'<figure class="{kind}"><img{look} src="{source}" '
        f'alt="{escape(name)}"><figcaption>{words}</figcaption></figure>'
    )


def _font(size: int) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size)


def _cut(name: str, most: int = 9) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _frame(pen: Any, x: int, y: int, colour: str, *, dashed: bool) -> None:
    """A frame around a picture; a dashed one is seen as such in grey too."""
    if not dashed:
        pen.rectangle((x - 4, y - 4, x + TILE + 3, y + TILE + 3), outline=colour, width=4)
        return
    for start in range(-4, TILE + 4, 12):
        end = min(start + 7, TILE + 3)
        for low, high in ((-4, -1), (TILE, TILE + 3)):
            pen.rectangle((x + start, y + low, x + end, y + high), fill=colour)
            pen.rectangle((x + low, y + start, x + high, y + end), fill=colour)


def _cross(pen: Any, x: int, y: int, colour: str, ground: str) -> None:
    pen.rectangle((x, y, x + 12, y + 12), fill=ground)
    pen.line((x + 2, y + 2, x + 10, y + 10), colour, width=3)
    pen.line((x + 10, y + 2, x + 2, y + 10), colour, width=3)
