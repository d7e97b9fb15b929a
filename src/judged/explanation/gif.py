"""The walk down a ranking as a GIF, sized for slides and READMEs."""

from __future__ import annotations

from io import BytesIO
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from judged.errors import MissingExtraError
from judged.explanation.animation import Animation, Frame

if TYPE_CHECKING:
    from PIL.Image import Image

    from judged.explanation.explanation import Explanation

WIDTH, HEIGHT = 800, 500
SCALE = 2
"""Drawn so many times larger and made smaller afterwards: Pillow draws slanted lines without
smoothing."""

FIRST, EACH, RELEVANT, LAST = 1200, 550, 1100, 4000
"""How long the frames stand, in milliseconds."""

PAPER, INK, SOFT, LINE, TILE = "#ffffff", "#1d2327", "#5c6770", "#d8dcdf", "#eceff1"
GOOD, GOOD_SOFT, AREA, NOW = "#0b7a5c", "#cdeee2", "#bfe3d8", "#d9730d"

A_ROW = 15
"""So many results stand beside each other."""


def to_gif(e: Explanation) -> bytes:
    """The animation of an explanation; it starts again after its end."""
    try:
        import PIL  # noqa: F401
    except ImportError:
        raise MissingExtraError('GIFs need Pillow: pip install "judged[charts]".') from None
    scene = e.animation
    pictures = [_picture(scene, frame) for frame in scene.frames]
    relevant = {row.rank for row in scene.rows if row.relevant}
    times = [RELEVANT if frame.rank in relevant else EACH for frame in scene.frames]
    times[0], times[-1] = FIRST, LAST
    written = BytesIO()
    pictures[0].save(
        written,
        format="GIF",
        save_all=True,
        append_images=pictures[1:],
        duration=times,
        loop=0,
        optimize=True,
    )
    return written.getvalue()


class _Pen:
    """Drawing in the coordinates of the small picture."""

    def __init__(self, image: Image) -> None:
        from PIL import ImageDraw

        self.draw = ImageDraw.Draw(image)
        self.fonts: dict[int, Any] = {}

    def text(
        self, x: float, y: float, text: str, *, size: int = 15, fill: str = INK, anchor: str = "lm"
    ) -> None:
        from PIL import ImageFont

        font = self.fonts.setdefault(size, ImageFont.load_default(size * SCALE))
        self.draw.text((x * SCALE, y * SCALE), text, fill=fill, font=font, anchor=anchor)

    def box(
        self,
        left: float,
        top: float,
        right: float,
        bottom: float,
        *,
        fill: str,
        edge: str,
        width: int,
        round_: int,
    ) -> None:
        corners = [value * SCALE for value in (left, top, right, bottom)]
        self.draw.rounded_rectangle(
            corners, round_ * SCALE, fill=fill, outline=edge, width=width * SCALE
        )

    def line(self, points: list[tuple[float, float]], *, fill: str, width: float) -> None:
        self.draw.line(
            [(x * SCALE, y * SCALE) for x, y in points],
            fill=fill,
            width=round(width * SCALE),
            joint="curve",
        )

    def dot(self, x: float, y: float, radius: float, *, fill: str) -> None:
        self.draw.ellipse(
            [
                (x - radius) * SCALE,
                (y - radius) * SCALE,
                (x + radius) * SCALE,
                (y + radius) * SCALE,
            ],
            fill=fill,
        )

    def tick(self, x: float, y: float, size: float, *, fill: str) -> None:
        """A check mark: the font that comes with Pillow has none."""
        self.line(
            [(x - size, y), (x - size / 4, y + size * 0.7), (x + size, y - size * 0.8)],
            fill=fill,
            width=3.5,
        )


def _picture(scene: Animation, frame: Frame) -> Image:
    from PIL import Image

    height = HEIGHT + 66 * max(0, -(-len(scene.rows) // A_ROW) - 2)
    image = Image.new("RGB", (WIDTH * SCALE, height * SCALE), PAPER)
    pen = _Pen(image)
    name = scene.title.partition(" = ")[0]
    pen.text(24, 26, name if not frame.finished else scene.title, size=20)
    bottom = _tiles(pen, scene, frame)
    for number, line in enumerate(_lines(frame.caption)):
        pen.text(24, bottom + 18 + 20 * number, line, size=15)
    top = bottom + 68
    if scene.area:
        _chart(pen, scene, frame, top, height)
    _readout(pen, frame, name, top, height)
    for number, line in enumerate(wrap(scene.area, 34)):
        pen.text(530, height - 68 + 18 * number, line, size=13, fill=SOFT)
    smaller = image.resize((WIDTH, height), Image.Resampling.LANCZOS)
    return smaller.quantize(128, dither=Image.Dither.NONE)


def _lines(caption: str) -> list[str]:
    """At most two lines, in the letters that the font has."""
    plain = (
        caption.replace("×", "x").replace("…", "...").replace("Σ", "sum").replace("∞", "infinite")
    )
    lines = wrap(plain, 96)
    return lines if len(lines) <= 2 else [lines[0], lines[1][:92] + " ..."]


def _tiles(pen: _Pen, scene: Animation, frame: Frame) -> float:
    """The results; returns where they end."""
    many = max(min(len(scene.rows), A_ROW), 1)
    step = min(60.0, (WIDTH - 48) / many)
    side = step - 8
    high = side + 34 if len(scene.rows) <= A_ROW else min(side, 34.0) + 32
    tall = min(side, 34.0) if len(scene.rows) > A_ROW else side
    top = 46.0
    for number, row in enumerate(scene.rows):
        x, y = 24 + number % A_ROW * step, top + number // A_ROW * high
        seen, now = row.rank <= frame.rank, row.rank == frame.rank and not frame.finished
        good = seen and row.relevant
        edge = NOW if now else GOOD if good else LINE if seen and row.grade is None else TILE
        pen.text(
            x + side / 2, y + 6, str(row.rank), size=11, fill=NOW if now else SOFT, anchor="mm"
        )
        fill = GOOD_SOFT if good else PAPER if seen and row.grade is None else TILE
        pen.box(
            x,
            y + 14,
            x + side,
            y + 14 + tall,
            fill=fill,
            edge=edge,
            width=3 if now else 2,
            round_=7,
        )
        if good:
            pen.tick(x + side / 2, y + 14 + tall / 2, tall / 4.5, fill=GOOD)
            pen.text(
                x + side / 2, y + 23 + tall, scene.labels[row.rank], size=12, fill=GOOD, anchor="mm"
            )
    return top + high * -(-max(len(scene.rows), 1) // A_ROW)


def _chart(pen: _Pen, scene: Animation, frame: Frame, top: float, height: int) -> None:
    left, right, high, low = 70.0, 500.0, top + 4, height - 50.0

    def x(share: float) -> float:
        return left + share * (right - left)

    def y(share: float) -> float:
        return low - share * (low - high)

    for at in (0, 0.25, 0.5, 0.75, 1):
        pen.line([(left, y(at)), (right, y(at))], fill=LINE, width=1)
        pen.text(left - 8, y(at), f"{at:g}", size=11, fill=SOFT, anchor="rm")
        pen.text(x(at), low + 12, f"{at:g}", size=11, fill=SOFT, anchor="mm")
    for bar in scene.bars:
        if bar.rank <= frame.rank:
            pen.box(
                x(bar.left),
                y(bar.height),
                x(bar.right),
                low,
                fill=AREA,
                edge=GOOD,
                width=1,
                round_=0,
            )
    seen = [point for point in scene.points if point.rank <= frame.rank]
    if len(seen) > 1:
        pen.line([(x(point.recall), y(point.precision)) for point in seen], fill=INK, width=2)
    for point in seen:
        if point.relevant:
            now = point.rank == frame.rank and not frame.finished
            pen.dot(x(point.recall), y(point.precision), 5, fill=NOW if now else GOOD)
    pen.line([(left, high), (left, low), (right, low)], fill=SOFT, width=1.5)
    pen.text((left + right) / 2, low + 30, scene.axis, size=13, fill=SOFT, anchor="mm")
    pen.text(left, high - 13, "precision", size=13, fill=SOFT, anchor="mm")


def _readout(pen: _Pen, frame: Frame, name: str, top: float, height: int) -> None:
    rows = [
        ("rank", str(frame.rank) if frame.rank else "-"),
        ("relevant so far", str(frame.found)),
        ("precision", frame.precision.replace("–", "-")),
        ("recall", frame.recall.replace("–", "-")),
    ]
    step = min(36.0, (height - 90 - top) / 5)
    for number, (what, value) in enumerate(rows):
        at = top + 14 + step * number
        pen.text(530, at, what, size=14, fill=SOFT)
        pen.text(WIDTH - 24, at, value, size=15, anchor="rm")
        pen.line([(530, at + step / 2), (WIDTH - 24, at + step / 2)], fill=LINE, width=1)
    if frame.score:
        at = top + 22 + step * len(rows)
        pen.text(530, at, name if len(name) < 16 else "value", size=14, fill=SOFT)
        pen.text(
            WIDTH - 24,
            at,
            frame.score.replace("∞", "infinite").replace("–", "-"),
            size=24,
            fill=GOOD,
            anchor="rm",
        )
