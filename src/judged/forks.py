"""Whether this process was forked while polars' threads were alive: they do not come along, and
whatever waits for them waits for ever. And whether it may fork itself."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

own_process = False
"""Whether nothing runs in this process but judged, as its command line says."""
_alive = _lost = False


def may_fork() -> bool:
    """Whether work may be left to processes forked from this one: not where others may have threads
    here, nor where Python or polars has some. Elsewhere than on Linux, what systems bring along may
    have."""
    threading = sys.modules.get("threading")
    return (
        own_process
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
