"""The command line: `python -m judged`, and what `judged` starts."""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line as a process of its own."""
    signal.signal(signal.SIGINT, _interrupted)
    from judged.cli import main as run

    try:
        run()
    finally:  # nothing is left to do that an interrupt could spoil
        signal.signal(signal.SIGINT, _leave)


def _interrupted(number: int, frame: FrameType | None) -> None:
    """End what runs, and clean up behind it; while modules are loaded there is nothing to clean up,
    and what loads them may hang on an exception, or hide it."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            _leave()
        frame = frame.f_back
    raise KeyboardInterrupt


def _leave(*_: object) -> NoReturn:
    show_cursor = b"\x1b[?25h" if os.isatty(2) else b""
    try:
        os.write(2, show_cursor + b"judged: interrupted\n")
    finally:
        os._exit(130)


if __name__ == "__main__":
    main()
