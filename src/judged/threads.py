"""One thread for each product, while several are worked on side by side or each is small."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_lock = threading.Lock()
_within = 0
_limits: Any = None


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Keep BLAS from having threads of its own until the last of all that are within has left.

    The number of its threads belongs to the whole process: were each to set it back to what it
    found, one that came while another was within would set it back to one, for ever.
    """
    global _within, _limits
    with _lock:
        if not _within:
            from threadpoolctl import threadpool_limits

            _limits = threadpool_limits(1, user_api="blas")
        _within += 1
    try:
        yield
    finally:
        with _lock:
            _within -= 1
            if not _within:
                _limits.restore_original_limits()
