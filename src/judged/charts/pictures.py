"""Pictures by id, painted into one picture or embedded into pages."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from judged.errors import InputError, MissingExtraError
from judged.options import Path, later
from judged.text import few, visible

if TYPE_CHECKING:
    import polars as pl
    from PIL.Image import Image

    from judged.charts.svg import Theme
else:  # loaded by `typing.get_type_hints` only
    Image = later("PIL.Image:Image")

PictureLike: TypeAlias = Path | bytes | ArrayLike | Image
"""A path, the bytes of a file, an array of 8-bit grey or RGB pixels, or an image of Pillow."""
PicturesLike: TypeAlias = Path | Mapping[str, PictureLike]
"""{id: picture}, or a CSV or TSV file with the columns id and picture."""

HINT = 'galleries need Pillow: pip install "judged[charts]".'
COLUMNS = ("id", "picture")
SHOWN = 8  # how many columns of another table a message names
LARGEST = 256  # pictures on a page are made no larger than this, so that it stays small
MAX_PIXELS = 50_000_000  # of a picture that is opened; a few bytes can claim to have billions
TILE, GAP, MARGIN = 68, 12, 18  # pixels of a picture, between pictures, and around all


def read_pictures(given: PicturesLike) -> dict[str, PictureLike]:
    """Return {id: picture} from a dict, or from a CSV or TSV file with paths relative to it."""
    if isinstance(given, Mapping):
        return {str(name): picture for name, picture in given.items()}
    if not isinstance(given, (str, os.PathLike)):
        raise InputError(
            "pictures are given as {id: picture}, or as a CSV or TSV file with the columns id and "
            "picture."
        )
    import polars as pl

    from judged.inputs.formats import without_compression
    from judged.inputs.polars_errors import POLARS_ERRORS
    from judged.inputs.source import open_source
    from judged.inputs.tables import Kind
    from judged.text import quote

    source = open_source(
        os.fspath(given), Kind("a table of pictures", "picture", "the columns id and picture")
    )
    path = source.path
    separator = "\t" if without_compression(path).suffix.lower() == ".tsv" else ","
    try:
        table = pl.read_csv(source.for_polars(), separator=separator, infer_schema=False)
    except POLARS_ERRORS as error:
        first = str(error).partition("\n")[0]
        raise InputError(
            f"{source.label}: cannot be read as a CSV or TSV table ({first})."
        ) from None
    if not set(COLUMNS) <= set(table.columns):
        found = ", ".join(map(quote, table.columns[:SHOWN])) + (
            ", …" if len(table.columns) > SHOWN else ""
        )
        raise InputError(
            f"{source.label}: has the columns {found}; it needs {' and '.join(COLUMNS)}."
        )
    return {
        name: path.parent / place for name, place in table.select(COLUMNS).rows() if name and place
    }


def check_pictures(pictures: Mapping[str, PictureLike], ids: Iterable[str]) -> None:
    if lost := [each for each in ids if each not in pictures]:
        raise InputError(
            f"pictures must have all queries and items that are shown; {few(lost)} is missing."
        )


def check_pillow() -> None:
    try:
        import PIL  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(HINT) from error


_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "PPM", "ICO")
"""Formats that are opened. For others Pillow starts programs (Ghostscript for EPS)."""


def opened(picture: PictureLike, name: str) -> Image:
    """Return a picture as an image of Pillow, in RGB."""
    check_pillow()
    from PIL import Image

    if isinstance(picture, Image.Image):
        return picture.convert("RGB")
    try:
        if isinstance(picture, (bytes, str, os.PathLike)):
            source = BytesIO(picture) if isinstance(picture, bytes) else picture
            with Image.open(source, formats=_FORMATS) as image:
                if image.width * image.height > MAX_PIXELS:
                    raise ValueError(f"it has more than {MAX_PIXELS:,} pixels")
                return image.convert("RGB")
    except FileNotFoundError:
        raise InputError(f"the picture of {name}: {picture}: no such file.") from None
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise InputError(f"the picture of {name} cannot be read ({error}).") from None
    array = np.asarray(picture)
    if array.dtype != np.uint8 or array.ndim not in (2, 3):
        raise InputError(
            f"the picture of {name} must be a path, bytes, an image of Pillow, or an array of "
            "8-bit grey or RGB pixels; got "
            f"{type(picture).__name__}{f' of {array.dtype} {array.shape}' if array.ndim else ''}."
        )
    return Image.fromarray(array).convert("RGB")


def pixels_of(content: bytes) -> int:
    """Return how many pixels a picture claims to have; 0 if that is not known."""
    try:
        from PIL import Image

        with Image.open(BytesIO(content), formats=_FORMATS) as image:
            return int(image.width * image.height)
    except (ImportError, OSError, ValueError, SyntaxError):
        return 0
    except Image.DecompressionBombError:
        return MAX_PIXELS + 1


def fitted(image: Image, size: int) -> Image:
    """Return a picture that fits into a square; small ones are enlarged by whole pixels."""
    from PIL import Image

    scale = size / max(image.size)
    shape = max(1, round(image.width * scale)), max(1, round(image.height * scale))
    return image.resize(shape, Image.Resampling.NEAREST if scale > 1 else Image.Resampling.LANCZOS)


def address(picture: PictureLike, name: str) -> tuple[str, bool]:
    """Return the picture as a `data:` address, and whether its pixels should stay visible."""
    image = opened(picture, name)
    tiny = max(image.size) <= 32
    if max(image.size) > LARGEST:
        image = fitted(image, LARGEST)
    buffer = BytesIO()
    image.save(buffer, "PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}", tiny


def painted(
    title: str,
    notes: Sequence[str],
    rows: Sequence[pl.DataFrame],
    pictures: Mapping[str, PictureLike],
    theme: Theme,
) -> bytes:
    """Paint lists of pictures into one PNG, each query before its results."""
    check_pillow()
    from PIL import Image, ImageDraw

    title = _cut(title, 100)

    def paint(name: str, x: int, y: int) -> None:
        image = fitted(opened(pictures[name], name), TILE)
        canvas.paste(image, (x + (TILE - image.width) // 2, y + (TILE - image.height) // 2))

    most = max(part.height for part in rows)
    top = MARGIN + 28 + 18 * len(notes) + 12
    step, line = TILE + GAP, TILE + GAP + 22
    words = [_font(18).getlength(title), *(_font(12).getlength(note) for note in notes)]
    width = max(2 * MARGIN + (most + 1) * step + 2 * GAP, int(max(words)) + 2 * MARGIN)
    canvas = Image.new("RGB", (width, top + line * len(rows) + MARGIN), theme.background)
    pen = ImageDraw.Draw(canvas)
    pen.text((MARGIN, MARGIN), title, theme.ink, font=_font(18))
    for at, note in enumerate(notes):
        pen.text((MARGIN, MARGIN + 28 + 18 * at), note, theme.muted, font=_font(12))
    for number, part in enumerate(rows):
        y = top + number * line
        query = part["query"][0]
        paint(query, MARGIN, y)
        pen.text(
            (MARGIN + TILE / 2, y + TILE + 8), _cut(query), theme.ink, font=_font(11), anchor="mt"
        )
        pen.line((MARGIN + step + 2, y, MARGIN + step + 2, y + TILE), theme.muted)
        for at, (item, rank, relevant) in enumerate(
            part.select("item", "rank", "relevant").rows(), 1
        ):
            x = MARGIN + at * step + 2 * GAP
            paint(item, x, y)
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
    buffer = BytesIO()
    canvas.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def _font(size: int) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size)


def _cut(name: str, most: int = 9) -> str:
    name = visible(name)
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _frame(pen: Any, x: int, y: int, colour: str, *, dashed: bool) -> None:
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
