"""Compressed bytes, detected by their first ones, and the limit to which they are unpacked.

A small file may unpack to more than any memory holds. The user can raise the limit.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from judged.errors import InputError, JudgedError
from judged.options import size_in_bytes
from judged.text import counted

LIMIT_VARIABLE = "JUDGED_MAX_UNPACKED"
_DEFAULT_LIMIT = "8GB"
_MAX_ZSTD_BLOCK = 1 << 17
_BYTES_PER_PART = 1 << 22


@dataclass(frozen=True)
class Compression:
    name: str
    magic: tuple[bytes, ...]
    unpacker: Callable[[], Any]
    """A function that returns an object with `decompress(data, most)`, `eof` and `unused_data` for
    one part of a file; None if no library is installed."""


def _zstandard() -> Any:
    """Return the unpacker of Python from 3.14 on, or of `backports.zstd`."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        try:
            from backports import zstd
        except ImportError:
            return None
    return zstd.ZstdDecompressor()


def _gzip() -> Any:
    """Return the unpacker of isal if it is installed: it takes half of the time."""
    try:
        from isal import isal_zlib
    except ImportError:
        import zlib

        return zlib.decompressobj(wbits=31)
    return isal_zlib.decompressobj(wbits=31)


def _bzip2() -> Any:
    import bz2

    return bz2.BZ2Decompressor()


def _xz() -> Any:
    import lzma

    return lzma.LZMADecompressor()


_BZIP2 = tuple(
    b"BZh%d%s" % (level, block) for level in range(1, 10) for block in (b"1AY&SY", b"\x17rE8P\x90")
)
_COMPRESSIONS = (
    Compression("gzip", (b"\x1f\x8b",), _gzip),
    Compression("bzip2", _BZIP2, _bzip2),
    Compression("xz", (b"\xfd7zXZ\x00",), _xz),
    Compression("zstd", (b"\x28\xb5\x2f\xfd",), _zstandard),
)


def compression(start: bytes) -> Compression | None:
    return next((known for known in _COMPRESSIONS if start.startswith(known.magic)), None)


def unpacked(chunks: Iterable[bytes], packed: Compression, label: str) -> Iterator[bytes]:
    """Unpack bytes as they come, a few megabytes at a time, all parts of a file."""
    if packed.unpacker() is None:
        yield decompressed(b"".join(chunks), packed, label)
        return
    unpacker = None
    for chunk in chunks:
        data, part = chunk, b""
        while data or len(part) == _BYTES_PER_PART:  # there may be more to come of it
            if unpacker is None:
                data = data.lstrip(b"\0")  # some programs fill up the last block
                if not data:
                    break
                unpacker = packed.unpacker()
            part = _unpacked_part(unpacker, data, _BYTES_PER_PART, packed, label)
            data = getattr(unpacker, "unconsumed_tail", b"")
            if unpacker.eof:
                data, unpacker = unpacker.unused_data, None
            if part:
                yield part
    if unpacker is not None:
        raise _damaged(packed, label, "it ends before its end is marked")


def _unpacked_part(unpacker: Any, data: bytes, most: int, packed: Compression, label: str) -> bytes:
    try:
        return cast("bytes", unpacker.decompress(data, most))
    except MemoryError:
        raise
    except Exception as error:  # every library has errors of its own
        raise _damaged(packed, label, str(error)) from None


def decompressed(data: bytes, packed: Compression, label: str) -> bytes:
    limit = most_unpacked()
    if packed.unpacker() is None:
        return _by_polars(data, label, limit)
    parts, room = [], limit
    while data:
        unpacker = packed.unpacker()
        part = _unpacked_part(unpacker, data, room + 1, packed, label)
        if len(part) > room:
            raise too_large(label, len(data), limit)
        if not unpacker.eof:
            raise _damaged(packed, label, "it ends before its end is marked")
        parts.append(part)
        room -= len(part)
        data = unpacker.unused_data.lstrip(b"\0")  # some programs fill up the last block
    return b"".join(parts)


def most_unpacked() -> int:
    try:
        return size_in_bytes(os.environ.get(LIMIT_VARIABLE, _DEFAULT_LIMIT))
    except JudgedError as error:
        raise InputError(f"the environment variable {LIMIT_VARIABLE}: {error}") from None


def _damaged(packed: Compression, label: str, reason: str) -> InputError:
    return InputError(
        f"{label}: the {packed.name} data is damaged or cut off ({reason}); fetch or write the "
        "file again."
    )


def too_large(label: str, packed: int, limit: int) -> InputError:
    return InputError(
        f"{label}: its {counted(packed, 'byte')} unpack to more than {counted(limit, 'byte')}. If "
        f"that is meant, set the environment variable {LIMIT_VARIABLE} to a larger size (20GB, "
        "say), or unpack the file first: what is not compressed is not held in memory."
    )


def _by_polars(data: bytes, label: str, limit: int) -> bytes:
    """Unpack zstd by polars, which reads the text as one cell of a table."""
    import polars as pl

    from judged.inputs.polars_errors import POLARS_ERRORS

    if sum(_most_of_each_block(data)) > limit:
        raise too_large(label, len(data), limit)
    try:
        cells = pl.read_csv(
            data,
            separator="\x01",
            eol_char="\x00",
            has_header=False,
            quote_char=None,
            schema={"text": pl.String},
        )
    except pl.exceptions.NoDataError:
        return b""
    except POLARS_ERRORS as error:
        reason = f"damaged, cut off or not UTF-8 text ({error})"
        raise InputError(
            f"{label}: the zstd data is {reason}; fetch or write the file again."
        ) from None
    return b"\x00".join((text or "").encode() for text in cells["text"])


def _most_of_each_block(data: bytes) -> Iterator[int]:
    """Yield the most that each block of zstd data can hold, from the headers of blocks."""
    at = 0
    while data[at : at + 4] == b"\x28\xb5\x2f\xfd":
        described = data[at + 4] if at + 4 < len(data) else 0
        single, checksum = described >> 5 & 1, described >> 2 & 1
        size_of_size = (single, 2, 4, 8)[described >> 6]
        at += 5 + (not single) + (0, 1, 2, 4)[described & 3] + size_of_size
        last = False
        while not last and at + 3 <= len(data):
            header = int.from_bytes(data[at : at + 3], "little")
            last, kind, size = bool(header & 1), header >> 1 & 3, header >> 3
            at += 3 + (1 if kind == 1 else size)  # one byte that is repeated, or all of them
            yield _MAX_ZSTD_BLOCK if kind == 2 else size
        at += 4 * checksum
