"""Whether this process was forked while polars' threads were alive: they do not come along, and
whatever waits for them waits for ever."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

_alive = _lost = False


def polars_is_lost() -> bool:
    """Whether polars cannot be used in this process any more."""
    return _lost


def _before() -> None:
    global _alive
    _alive = "polars" in sys.modules and _has_threads()


def _in_child() -> None:
    global _lost
    _lost = _lost or _alive


def _has_threads() -> bool:
    """Whether polars has started its pool, which it does at its first task; taken for granted where
    the system does not tell the names of threads."""
    if not os.path.isdir("/proc/self/task"):
        return True
    for task in os.listdir("/proc/self/task"):
        with suppress(OSError), open(f"/proc/self/task/{task}/comm") as file:
            name, _, number = file.read().strip().partition("-")
            if name == "polars" and number.isdigit():
                return True
    return False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_child=_in_child)
