"""Contenders that fuse runs: `python -m bench.fusion NAME RUN RUN OUT` reads two files and writes
one.

Under `ranx` the whole process is timed; under names that end in `-call` only the calls, from files
to a file, after one that nobody times.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from bench.contenders import clocked

Report = dict[str, Any]


def ranx(one: str, other: str, out: str) -> Report:
    _ranx(one, other, out)
    return {}


def ranx_call(one: str, other: str, out: str) -> Report:
    return _timed(_ranx, one, other, out)


def judged_call(one: str, other: str, out: str) -> Report:
    return _timed(_judged, one, other, out)


def _ranx(one: str, other: str, out: str) -> None:
    from ranx import Run, fuse

    runs = [Run.from_file(path, kind="trec") for path in (one, other)]
    fuse(runs, norm=None, method="rrf", params={"k": 60}).save(out, kind="trec")


def _judged(one: str, other: str, out: str) -> None:
    import judged

    judged.fuse([one, other]).save(out)


def _timed(call: Callable[[str, str, str], None], one: str, other: str, out: str) -> Report:
    few = [f"{out}.{at}.run" for at in (1, 2)]
    for path, source in zip(few, (one, other), strict=True):
        with open(source) as lines, open(path, "w") as shorter:
            shorter.writelines(line for line, _ in zip(lines, range(1_000), strict=False))
    call(*few, out)  # imports, and what is compiled or loaded at the first call
    return {"calls": clocked(lambda: call(one, other, out), 1)}


CONTENDERS: dict[str, Callable[[str, str, str], Report]] = {
    "ranx": ranx,
    "ranx-call": ranx_call,
    "judged-call": judged_call,
}


if __name__ == "__main__":
    print(json.dumps(CONTENDERS[sys.argv[1]](*sys.argv[2:])))
