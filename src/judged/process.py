"""What may be done with this process: whether it is the command line's own, may fork, and may keep
memory; and whether it was forked while polars' threads were alive. They do not come along, and
whatever waits for them waits for ever."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

_own = _alive = _lost = False


def declare_own() -> None:
    """Say that nothing runs in this process but judged."""
    global _own
    _own = True


def may_fork() -> bool:
    """Whether work may be left to processes forked from this one: not where others may have threads
    here, nor where Python or polars has some. Elsewhere than on Linux, what systems bring along may
    have."""
    threading = sys.modules.get("threading")
    return (
        _own
        and sys.platform == "linux"
        and not _alive_now()
        and (threading is None or threading.active_count() == 1)
    )


def polars_is_lost() -> bool:
    """Whether polars cannot be used in this process any more."""
    return _lost


def _before() -> None:
    global _alive
    _alive = _alive_now()


def keep_memory() -> None:
    """Have what is freed in pieces of some megabytes used again, and not given back to the system
    and asked for anew: where a large file is read, that takes a tenth of the time."""
    if _own and sys.platform == "linux":
        from ctypes import CDLL

        with suppress(AttributeError):  # it is glibc that has it
            for option, size in _KEPT:
                CDLL(None).mallopt(option, size)


_KEPT = ((-1, 64 << 20), (-3, 32 << 20))
"""What may lie free at the end of memory, and from where on pieces are asked of the system."""


def _alive_now() -> bool:
    return "polars" in sys.modules and _has_threads()


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
