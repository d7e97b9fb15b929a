"""The walk down a ranking as a GIF, sized for slides and READMEs."""

from __future__ import annotations

from io import BytesIO
from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from judged.errors import MissingExtraError
from judged.explanation.animation import Animation, WalkChart, WalkFrame
from judged.explanation.arithmetic import figure
from judged.text import palette

if TYPE_CHECKING:
    from PIL.Image import Image

    from judged.explanation.explanation import Explanation

WIDTH, HEIGHT = 800, 500
SCALE = 2  # drawn larger, then reduced, because Pillow does not smooth slanted lines

FIRST, EACH, RELEVANT, LAST = 1200, 550, 1100, 4000  # frame durations in milliseconds

PAPER, INK, SOFT, LINE, TILE = "card", "ink", "soft", "line", "sunk"
GOOD, GOOD_SOFT, AREA, NOW, IDEAL = "better", "accent-soft", "area", "focus", "worse"
"""Names of colours in the palette of all pages."""

A_ROW = 15  # results side by side


def to_gif(e: Explanation) -> bytes:
    """Return the animation of an explanation as a GIF that repeats."""
    try:
        import PIL  # noqa: F401
    except ImportError:
        raise MissingExtraError('GIFs need Pillow: pip install "judged[charts]".') from None
    scene = e.animation
    pictures = [_picture(scene, frame) for frame in scene.frames]
    slow = {tile["rank"] for tile in scene.tiles if tile["label"]}
    if scene.rest:
        slow.add(scene.rest["last"])
    times = [RELEVANT if frame.rank in slow else EACH for frame in scene.frames]
    times[0], times[-1] = FIRST, LAST
    written = BytesIO()
    options: dict[str, Any] = {"save_all": True, "loop": 0, "optimize": True}
    pictures[0].save(written, "GIF", append_images=pictures[1:], duration=times, **options)
    return written.getvalue()


def _colour(name: str) -> str:
    return palette()[name][0]


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
        self.draw.text((x * SCALE, y * SCALE), text, fill=_colour(fill), font=font, anchor=anchor)

    def box(self, *corners: float, fill: str, edge: str, width: int = 1, radius: int = 0) -> None:
        """Draw a box from the left, top, right and bottom of its corners."""
        places = [place * SCALE for place in corners]
        colours = _colour(fill), _colour(edge)
        self.draw.rounded_rectangle(places, radius * SCALE, *colours, width * SCALE)

    def line(self, points: list[tuple[float, float]], *, fill: str, width: float) -> None:
        places = [(x * SCALE, y * SCALE) for x, y in points]
        self.draw.line(places, fill=_colour(fill), width=round(width * SCALE), joint="curve")

    def dashed(self, points: list[tuple[float, float]], *, fill: str, width: float) -> None:
        """Draw a dashed line along vertical and horizontal pieces."""
        for (x, y), (to_x, to_y) in pairwise(points):
            length = abs(to_x - x) + abs(to_y - y)
            for at in range(0, int(length), 9):
                begin, end = at / length, min(at + 5, length) / length
                piece = [(x + share * (to_x - x), y + share * (to_y - y)) for share in (begin, end)]
                self.line(piece, fill=fill, width=width)

    def dot(self, x: float, y: float, radius: float, *, fill: str) -> None:
        box = [x - radius, y - radius, x + radius, y + radius]
        self.draw.ellipse([value * SCALE for value in box], fill=_colour(fill))

    def tick(self, x: float, y: float, size: float, *, fill: str) -> None:
        """Draw a check mark, which the font of Pillow lacks."""
        corners = [(x - size, y), (x - size / 4, y + size * 0.7), (x + size, y - size * 0.8)]
        self.line(corners, fill=fill, width=3.5)


def _picture(scene: Animation, frame: WalkFrame) -> Image:
    from PIL import Image

    many = len(scene.tiles) + (scene.rest is not None)
    height = HEIGHT + 66 * max(0, -(-many // A_ROW) - 2)
    image = Image.new("RGB", (WIDTH * SCALE, height * SCALE), _colour(PAPER))
    pen = _Pen(image)
    name = scene.title.partition(" = ")[0]
    pen.text(24, 26, name if not frame.finished else scene.title, size=20)
    bottom = _tiles(pen, scene, frame)
    for number, line in enumerate(_lines(frame.caption)):
        pen.text(24, bottom + 18 + 20 * number, line, size=15)
    top = bottom + 68
    notes: list[str] = []
    if scene.chart is not None and scene.chart["kind"] == "area":
        _area(pen, scene.chart, frame, top, height)
        notes = [scene.chart["says"]]
    elif scene.chart is not None:
        _growth(pen, scene.chart, frame, top, height)
        notes = [f"{kind}: {what}" for kind, what in scene.chart["legend"]]
    lines = [line for note in notes for line in wrap(_spelled(note), 34)]
    _readout(pen, scene, frame, top, height - 30 - 18 * len(lines))
    for number, line in enumerate(lines):
        pen.text(530, height - 14 - 18 * (len(lines) - number), line, size=13, fill=SOFT)
    smaller = image.resize((WIDTH, height), Image.Resampling.LANCZOS)
    return smaller.quantize(128, dither=Image.Dither.NONE)


def _spelled(text: str) -> str:
    signs = {"×": "x", "…": "...", "Σ": "sum", "∞": "infinite", "–": "-", "·": "."}
    return "".join(signs.get(letter, letter) for letter in text)


def _lines(caption: str) -> list[str]:
    lines = wrap(_spelled(caption), 96)
    return lines if len(lines) <= 2 else [lines[0], lines[1][:92] + " ..."]


def _tiles(pen: _Pen, scene: Animation, frame: WalkFrame) -> float:
    all_of_them = len(scene.tiles) + (scene.rest is not None and scene.rest["results"] > 0)
    step = min(60.0, (WIDTH - 48) / max(min(all_of_them, A_ROW), 1))
    side = step - 8
    tall = min(side, 34.0) if all_of_them > A_ROW else side
    high = tall + (32 if all_of_them > A_ROW else 34)
    top = 46.0

    def place(number: int) -> tuple[float, float]:
        return 24 + number % A_ROW * step, top + number // A_ROW * high

    def box(x: float, y: float, fill: str, edge: str, width: int = 2) -> None:
        corners = x, y + 14, x + side, y + 14 + tall
        pen.box(*corners, fill=fill, edge=edge, width=width, radius=7)

    for number, tile in enumerate(scene.tiles):
        x, y = place(number)
        middle = x + side / 2
        seen, now = tile["rank"] <= frame.rank, tile["rank"] == frame.rank and not frame.finished
        good, blank = seen and tile["kind"] == "relevant", seen and tile["kind"] == "not judged"
        edge = NOW if now else GOOD if good else LINE if blank else TILE
        pen.text(middle, y + 6, str(tile["rank"]), size=11, fill=NOW if now else SOFT, anchor="mm")
        box(x, y, GOOD_SOFT if good else PAPER if blank else TILE, edge, 3 if now else 2)
        if seen and tile["mark"] not in "✓·":
            fill = GOOD if good else SOFT
            pen.text(middle, y + 14 + tall / 2, tile["mark"], size=16, fill=fill, anchor="mm")
        elif good:
            pen.tick(middle, y + 14 + tall / 2, tall / 4.5, fill=GOOD)
        if seen and tile["label"]:
            pen.text(middle, y + 23 + tall, tile["label"], size=12, fill=GOOD, anchor="mm")
    if scene.rest and scene.rest["results"]:
        x, y = place(len(scene.tiles))
        now = frame.rank == scene.rest["last"] and not frame.finished
        box(x, y, PAPER, NOW if now else LINE, 3 if now else 2)
        pen.text(x + side / 2, y + 14 + tall / 2, "...", size=16, fill=SOFT, anchor="mm")
        more = f"+{scene.rest['results']:,}"
        pen.text(x + side / 2, y + 23 + tall, more, size=12, fill=SOFT, anchor="mm")
    return top + high * -(-max(all_of_them, 1) // A_ROW)


LEFT, RIGHT = 70.0, 500.0  # where the chart begins and ends


def _frame(pen: _Pen, top: float, height: int, names: tuple[str, str]) -> tuple[float, float]:
    high, low = top + 4, height - 50.0
    pen.line([(LEFT, high), (LEFT, low), (RIGHT, low)], fill=SOFT, width=1.5)
    pen.text((LEFT + RIGHT) / 2, low + 30, _spelled(names[0]), size=13, fill=SOFT, anchor="mm")
    pen.text(LEFT, high - 13, _spelled(names[1]), size=13, fill=SOFT, anchor="mm")
    return high, low


def _across(share: float) -> float:
    return LEFT + share * (RIGHT - LEFT)


def _area(pen: _Pen, chart: WalkChart, frame: WalkFrame, top: float, height: int) -> None:
    high, low = top + 4, height - 50.0

    def y(share: float) -> float:
        return low - share * (low - high)

    for at in (0, 0.25, 0.5, 0.75, 1):
        pen.line([(LEFT, y(at)), (RIGHT, y(at))], fill=LINE, width=1)
        pen.text(LEFT - 8, y(at), f"{at:g}", size=11, fill=SOFT, anchor="rm")
        pen.text(_across(at), low + 12, f"{at:g}", size=11, fill=SOFT, anchor="mm")
    for bar in chart["bars"]:
        if bar["rank"] <= frame.rank:
            left, right = _across(bar["left"]), _across(bar["right"])
            edge = GOOD if bar["items"] == 1 else SOFT
            pen.box(left, y(bar["height"]), right, low, fill=AREA, edge=edge)
    seen = [point for point in chart["points"] if point["rank"] <= frame.rank]
    line = [(_across(point["recall"]), y(point["precision"])) for point in seen]
    if len(line) > 1:
        pen.line(line, fill=INK, width=2)
    for point, place in zip(seen, line, strict=True):
        if point["relevant"]:
            now = point["rank"] == frame.rank and not frame.finished
            pen.dot(*place, 5, fill=NOW if now else GOOD)
    _frame(pen, top, height, (chart["axis"], "precision"))


def _growth(pen: _Pen, chart: WalkChart, frame: WalkFrame, top: float, height: int) -> None:
    high, low = top + 4, height - 50.0
    most, many = chart["ticks"][-1], len(chart["stages"])

    def y(value: float) -> float:
        return low - value / most * (low - high)

    for tick in chart["ticks"]:
        pen.line([(LEFT, y(tick)), (RIGHT, y(tick))], fill=LINE, width=1)
        pen.text(LEFT - 8, y(tick), figure(tick), size=11, fill=SOFT, anchor="rm")
    every = -(-many // 12)
    own: list[tuple[float, float]] = [(LEFT, low)]
    best: list[tuple[float, float]] = [(LEFT, low)]
    for at, stage in enumerate(chart["stages"]):
        left, right = _across(at / many), _across((at + 1) / many)
        gap = 0.15 * (right - left)
        if at % every == 0 or at == many - 1:
            name = f"{'' if stage['first'] == stage['rank'] else 'to '}{stage['rank']:,}"
            pen.text((left + right) / 2, low + 12, name, size=11, fill=SOFT, anchor="mm")
        if stage["rank"] > frame.rank:
            continue
        for value, fill, edge in ((stage["gain"], PAPER, SOFT), (stage["added"], AREA, GOOD)):
            if value > 0:
                pen.box(left + gap, y(value), right - gap, low, fill=fill, edge=edge)
        own += [(left, y(stage["reached"])), (right, y(stage["reached"]))]
        if stage["ideal"] is not None:
            best += [(left, y(stage["ideal"])), (right, y(stage["ideal"]))]
    if len(best) > 1:
        pen.dashed(best, fill=IDEAL, width=2)
    if len(own) > 1:
        pen.line(own, fill=INK, width=2)
    _frame(pen, top, height, ("rank", chart["name"]))


def _readout(pen: _Pen, scene: Animation, frame: WalkFrame, top: float, bottom: float) -> None:
    rows = [
        ("rank", str(frame.rank) if frame.rank else "-"),
        *zip(scene.readings, frame.readings, strict=True),
    ]
    step = min(36.0, (bottom - top) / (len(rows) + 1.2))
    for number, (what, value) in enumerate(rows):
        at = top + 14 + step * number
        pen.text(530, at, _spelled(what), size=14, fill=SOFT)
        pen.text(WIDTH - 24, at, _spelled(value), size=15, anchor="rm")
        pen.line([(530, at + step / 2), (WIDTH - 24, at + step / 2)], fill=LINE, width=1)
    if frame.score:
        at = top + 22 + step * len(rows)
        name = scene.title.partition(" = ")[0]
        pen.text(530, at, name if len(name) < 16 else "value", size=14, fill=SOFT)
        pen.text(WIDTH - 24, at, _spelled(frame.score), size=24, fill=GOOD, anchor="rm")
