"""The command line: `python -m judged`, and what `judged` starts."""

from __future__ import annotations

# `signal` loads enum first, which takes longer than all else here.
import _signal  # type: ignore[import-not-found]
import os
import sys

from judged.process import TEMPORARY, remove_temporary, show_last, take_streams

# Before `main` sets its handlers, Ctrl-C ends in a traceback of Python. What comes before is out of
# reach: the start of Python, the imports of the `judged` script, and `judged/__init__.py`, which
# must not set handlers because other programs import it. So nothing slow may be loaded there.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Run the command line as a process of its own."""
    for number in (_signal.SIGINT, _signal.SIGTERM):
        _signal.signal(number, _stop)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_let_go)
    import gc

    # What is loaded stays until the end: to look through it for garbage, again and again and once
    # more at the end, takes as long as a small evaluation.
    gc.set_threshold(50_000)
    take_streams()
    code: object = None
    try:
        from judged.cli import main as run

        run()
    except SystemExit as ended:
        code = ended.code
        raise
    except ImportError as error:  # exit code 1 would be the answer of a gate
        show_last(f"judged: the installation is broken ({error}); install it again.\n".encode())
        raise SystemExit(70) from None
    finally:
        remove_temporary()
        if "_duckdb" not in sys.modules:  # it complains of what is still there at the end
            gc.freeze()
        _end(code)


def _end(code: object) -> None:
    """Leave without taking all modules apart, which takes as long as a good part of a small
    evaluation; not while other threads have something to end."""
    threading = sys.modules.get("threading")
    if not isinstance(code, int) or (threading and threading.active_count() > 1):
        return
    import atexit
    from contextlib import suppress

    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError, ValueError):  # closed, or its reader has gone
                stream.flush()
    os._exit(code)


def _let_go() -> None:
    """Leave temporary files and messages to the process that this one was forked from."""
    TEMPORARY.clear()
    _signal.signal(_signal.SIGINT, _signal.default_int_handler)
    _signal.signal(_signal.SIGTERM, _signal.SIG_DFL)


def _stop(number: int, frame: object) -> NoReturn:
    """End at once on Ctrl-C or SIGTERM. An exception would come to nothing, or hang, where modules
    are being loaded or other threads are at work."""
    _signal.signal(_signal.SIGINT, _signal.SIG_IGN)
    _signal.signal(_signal.SIGTERM, _signal.SIG_IGN)
    try:
        remove_temporary()
        word = b"interrupted" if number == _signal.SIGINT else b"terminated"
        show_last(b"judged: " + word + b"\n")
    finally:
        os._exit(128 + number)


if __name__ == "__main__":
    main()
