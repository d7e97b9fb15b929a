"""Pictures by id, from wherever they are: as Pillow images for drawing, as data addresses for pages
that stand alone."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable, Mapping
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from PIL.Image import Image

HINT = 'galleries need Pillow: pip install "judged[charts]".'
COLUMNS = ("id", "picture")
SHOWN = 8
"""How many columns of another table a message names."""
LARGEST = 256
"""Pictures on a page are made no larger than this, so that it stays small."""


def read_pictures(given: Any) -> dict[str, Any]:
    """{id: picture} from a dict, or from a CSV or TSV file with the columns id and picture, whose
    paths are relative to it.

    A picture is a path, the bytes of a file, an array of 8-bit grey or RGB pixels, or an image of
    Pillow.
    """
    if isinstance(given, Mapping):
        return {str(name): picture for name, picture in given.items()}
    if not isinstance(given, (str, os.PathLike)):
        raise InputError(
            "pictures are given as {id: picture}, or as a CSV or TSV file with the columns id and "
            "picture."
        )
    import polars as pl

    from judged.inputs.formats import without_compression
    from judged.inputs.source import POLARS_ERRORS, open_source
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


def check_pictures(pictures: Mapping[str, Any], ids: Iterable[str]) -> None:
    """Refuse to draw a gallery with holes."""
    if lost := [each for each in ids if each not in pictures]:
        some = ", ".join(lost[:3]) + (", …" if len(lost) > 3 else "")
        raise InputError(
            f"there is no picture of {some}; pictures must have all queries and items that are "
            "shown."
        )


def check_pillow() -> None:
    """Say what to install where Pillow is missing."""
    try:
        import PIL  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(HINT) from error


def opened(picture: Any, name: str) -> Image:
    """A picture as an image of Pillow, in RGB."""
    check_pillow()
    from PIL import Image, UnidentifiedImageError

    if isinstance(picture, Image.Image):
        return picture.convert("RGB")
    try:
        if isinstance(picture, bytes):
            return Image.open(BytesIO(picture)).convert("RGB")
        if isinstance(picture, (str, os.PathLike)):
            return Image.open(picture).convert("RGB")
    except FileNotFoundError:
        raise InputError(f"the picture of {name}: {picture}: no such file.") from None
    except (OSError, UnidentifiedImageError) as error:
        raise InputError(f"the picture of {name} cannot be read ({error}).") from None
    array = np.asarray(picture)
    if array.dtype != np.uint8 or array.ndim not in (2, 3):
        raise InputError(
            f"the picture of {name} must be a path, bytes, an image of Pillow, or an array of "
            "8-bit grey or RGB pixels; "
            "got "
            f"{type(picture).__name__}{f' of {array.dtype} {array.shape}' if array.ndim else ''}."
        )
    return Image.fromarray(array).convert("RGB")


def fitted(image: Image, size: int) -> Image:
    """As large as fits into a square; small pictures are enlarged by whole pixels, so that they
    stay sharp."""
    from PIL import Image

    scale = size / max(image.size)
    shape = max(1, round(image.width * scale)), max(1, round(image.height * scale))
    return image.resize(shape, Image.Resampling.NEAREST if scale > 1 else Image.Resampling.LANCZOS)


def address(picture: Any, name: str) -> tuple[str, bool]:
    """The picture inside a `data:` address, and whether it is so small that its pixels should stay
    visible."""
    image = opened(picture, name)
    tiny = max(image.size) <= 32
    if max(image.size) > LARGEST:
        image = fitted(image, LARGEST)
    buffer = BytesIO()
    image.save(buffer, "PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}", tiny
