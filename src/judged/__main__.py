"""The command line: `python -m judged`, and what `judged` starts."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line as a process of its own."""
    signal.signal(signal.SIGINT, _interrupted)
    # What is loaded stays until the end: to look through it for garbage, again and again and once
    # more at the end, takes as long as a small evaluation.
    gc.set_threshold(50_000)
    from judged.cli import main as run
    from judged.process import declare_own

    declare_own()
    code: object = None
    try:
        run()
    except SystemExit as ended:
        code = ended.code
        raise
    finally:  # nothing is left to do that an interrupt could spoil
        signal.signal(signal.SIGINT, _leave)
        _clean_up()
        if "_duckdb" not in sys.modules:  # it complains of what is still there at the end
            gc.freeze()
        _end(code)


def _end(code: object) -> None:
    """Leave without taking all modules apart, which takes as long as a good part of a small
    evaluation; not while other threads have something to end."""
    threading = sys.modules.get("threading")
    if not isinstance(code, int) or (threading and threading.active_count() > 1):
        return
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError, ValueError):  # closed, or its reader has gone
                stream.flush()
    os._exit(code)


def _interrupted(number: int, frame: FrameType | None) -> None:
    """End what runs, and clean up behind it; while modules are loaded there is nothing to clean up,
    and what loads them may hang on an exception, or hide it."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            _leave()
        frame = frame.f_back
    raise KeyboardInterrupt


def _clean_up() -> None:
    """Remove temporary folders that an interrupt left."""
    room = sys.modules.get("judged.inputs.blocks.room")
    for folder in tuple(getattr(room, "FOLDERS", ())):
        import shutil

        shutil.rmtree(folder, ignore_errors=True)


def _leave(*_: object) -> NoReturn:
    show_cursor = b"\x1b[?25h" if os.isatty(2) else b""
    _clean_up()
    try:
        os.write(2, show_cursor + b"judged: interrupted\n")
    finally:
        os._exit(130)


if __name__ == "__main__":
    main()
