"""One writer at a time, among all threads and programs that have a file open."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_FAR = 1 << 40
"""Windows locks bytes and not files, and keeps others from reading them: one that is not there."""


@contextmanager
def locked(descriptor: int) -> Iterator[None]:
    """Wait until nobody else has the lock of an open file, and hold it."""
    if sys.platform == "win32":
        import msvcrt
        import os
        import time

        while True:
            os.lseek(descriptor, _FAR, os.SEEK_SET)
            try:
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
                break
            except OSError:
                time.sleep(0.01)
        try:
            yield
        finally:
            os.lseek(descriptor, _FAR, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(descriptor, fcntl.LOCK_UN)
