"""White space in bulk: whether a text is evenly spaced, and making it so; and what is a number.

Spaces and tabs separate fields; LF, CRLF and CR end lines. A number is what polars reads as one, so
that each path through the readers agrees.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO, Protocol

import numpy as np
import numpy.typing as npt

COMMENT = b"#"


class Readable(Protocol):
    """What bytes are read from."""

    def read(self, size: int, /) -> bytes: ...


_SPACE, _NEWLINE, _MARK = b' \n"'
_ONE_KIND = bytes.maketrans(b"\t\r", b" \n")
_IN_CACHE = 1 << 18
_BLOCK = 1 << 24


def is_number(text: str) -> bool:
    """As `float` takes them, without its "1_000", its digits of other scripts and blanks around."""
    if "_" in text or not text.isascii() or text != text.strip():
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True


def is_whole(text: str) -> bool:
    """As ranks are written."""
    return text.isascii() and text.isdigit()


def split(line: bytes) -> list[bytes]:
    """The fields of a line."""
    return [field for field in line.replace(b"\t", b" ").split(b" ") if field]


def data_lines(lines: Iterable[bytes], first: int = 1) -> Iterator[tuple[int, bytes]]:
    """Lines that are rows, with their numbers: neither blank nor comments."""
    for number, line in enumerate(lines, first):
        text = line.lstrip(b" \t")
        if text and not text.startswith(COMMENT):
            yield number, line


def count_fields(handle: BinaryIO, separator: bytes) -> int | None:
    """How many fields there are in all where each gap is one separator or one LF and no line is a
    comment; None where not.

    polars can split such lines by itself. The look stays in the processor's cache, so that it costs
    a fraction of the parse that it makes safe.
    """
    strange = (b" " if separator == b"\t" else b"\t", b"\r")
    block = bytearray(_IN_CACHE)
    block[0] = _NEWLINE  # byte 0 is the last of the block before, and a line starts at the start
    characters = np.frombuffer(block, np.uint8)
    gap, pair = np.empty(_IN_CACHE, bool), np.empty(_IN_CACHE, bool)
    view = memoryview(block)[1:]
    fields = 0
    while size := handle.readinto(view):  # type: ignore[attr-defined]
        if any(block.find(character, 1, size + 1) >= 0 for character in strange):
            return None
        if block.find(COMMENT, 1, size + 1) >= 0 and block.find(b"\n" + COMMENT, 0, size + 1) >= 0:
            return None
        np.less_equal(characters[: size + 1], _SPACE, out=gap[: size + 1])
        if np.logical_and(gap[:size], gap[1 : size + 1], out=pair[:size]).any():
            return None
        fields += int(np.count_nonzero(gap[1 : size + 1]))
        block[0] = block[size]
    return None if block[0] == separator[0] else fields + (block[0] != _NEWLINE)


def blocks(handle: Readable, size: int = _BLOCK) -> Iterator[bytes]:
    """Whole lines at a time, some `size` bytes, each line ended."""
    rest = b""
    while data := handle.read(size):
        # A CR at the very end may be the first half of a CRLF.
        cut = (data.rfind(b"\n") + 1) or (data.rfind(b"\r", 0, len(data) - 1) + 1)
        if cut:
            yield rest + data[:cut]
            rest = data[cut:]
        else:
            rest += data
    if rest:
        yield rest + b"\n"


def count_lines(block: bytes) -> int:
    return block.count(b"\n") + (block.count(b"\r") - block.count(b"\r\n") if b"\r" in block else 0)


def has_lone_returns(block: bytes) -> bool:
    """Whether CR stands anywhere but before LF; polars knows no such line ends."""
    return b"\r" in block and block.count(b"\r") != block.count(b"\r\n")


def is_plain(handle: BinaryIO, separator: bytes) -> bool:
    """Whether all readers of comma-separated text agree on what a text says: CR stands only before
    LF, and quotation marks only in pairs, around a whole cell or beside each other inside one."""
    around = np.frombuffer(separator + b'\r\n"', np.uint8)
    inside = 0
    for block in blocks(handle):
        if has_lone_returns(block):
            return False
        if b'"' in block:
            characters = np.frombuffer(b"\n" + block, np.uint8)
            marks = np.flatnonzero(characters == _MARK)
            opening, closing = marks[inside::2], marks[1 - inside :: 2]
            beside = np.concatenate([characters[opening - 1], characters[closing + 1]])
            if not np.isin(beside, around).all():
                return False
            inside = (inside + len(marks)) % 2
    return not inside


def even_out(block: bytes) -> tuple[bytes, list[bytes]]:
    """The block with one space between fields and neither blank lines nor comments; and the
    comments that it had."""
    if b"\t" in block or b"\r" in block:
        block = block.translate(_ONE_KIND)
    characters: npt.NDArray[np.uint8] = np.frombuffer(b"\n" + block, np.uint8).copy()
    newline = characters == _NEWLINE
    gap = (characters == _SPACE) | newline
    first = gap.copy()
    first[1:] &= ~gap[:-1]
    # Only the first character of a gap stays; where an LF comes later in the gap, that character
    # becomes the LF.
    late = np.flatnonzero(newline & ~first)
    if late.size:
        starts = np.flatnonzero(first)
        characters[starts[np.searchsorted(starts, late, side="right") - 1]] = _NEWLINE
    first |= ~gap
    return _without_comments(characters[first].tobytes())


def _without_comments(text: bytes) -> tuple[bytes, list[bytes]]:
    """`text` starts with a newline, so that each comment follows one."""
    if COMMENT not in text:
        return text[1:], []
    kept: list[bytes] = []
    comments: list[bytes] = []
    position = 1
    while (comment := text.find(b"\n#", position - 1)) >= 0:
        kept.append(text[position : comment + 1])
        position = text.index(b"\n", comment + 1) + 1
        comments.append(text[comment + 1 : position - 1])
    kept.append(text[position:])
    return b"".join(kept), comments
