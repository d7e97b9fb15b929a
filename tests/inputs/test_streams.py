"""Bytes as they come: whole lines, whatever the parts in which they come and however lines end."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judged.inputs import source
from judged.inputs.source import ByteStream, blocks, open_stream

LINES = st.lists(st.sampled_from(["", "x", "yyy", "z" * 9, "w" * 40]), max_size=12)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])
SIZES = st.sampled_from([1, 5, 8, 20, 64, 1000])


@st.composite
def texts(draw: Any) -> bytes:
    """Lines that end in one way or in several, or not at the end."""
    ends = draw(st.one_of(st.just("\n"), ENDS, st.none()))
    lines = draw(LINES)
    text = "".join(line + (ends or draw(ENDS)) for line in lines)
    return (text + draw(st.sampled_from(["", "last"]))).encode()


def lines_of(parts: list[bytes]) -> list[bytes]:
    assert all(block.endswith((b"\n", b"\r")) for block in parts)
    return [line for block in parts for line in block.splitlines()]


@given(text=texts(), size=SIZES, cuts=st.lists(st.integers(0, 100)), back=st.integers(0, 50))
def test_lines_of_parts(text: bytes, size: int, cuts: list[int], back: int) -> None:
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    reader = ByteStream(text[begin:end] for begin, end in pairwise(places) if begin < end)
    reader.put_back(reader.read(back))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "BYTES_PER_READ", 7)
        assert lines_of(list(blocks(reader, size))) == text.splitlines()


@given(text=texts(), size=SIZES, mark=st.booleans())
def test_lines_of_a_file(text: bytes, size: int, mark: bool, tmp_path_factory: Any) -> None:
    path: Path = tmp_path_factory.mktemp("lines") / "run"
    path.write_bytes(b"\xef\xbb\xbf" * mark + text)
    told: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "BYTES_PER_READ", 7)
        with open_stream(path, "run", told.append) as reader:
            assert lines_of(list(blocks(reader, size))) == text.splitlines()
    assert told == sorted(told)
    if len(text) + 3 * mark > 16:  # more than the first bytes, which show the compression
        assert told[-1] == len(text) + 3 * mark
