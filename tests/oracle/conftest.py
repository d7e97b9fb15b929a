"""Peers have to be right here, not fast: without its compiler, ranx answers in a second instead of
half a minute."""

from __future__ import annotations

import os

os.environ.setdefault("NUMBA_DISABLE_JIT", "1")
