"""Run the command line: `python -m judged`, and the script `judged`."""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import NoReturn

from judged.outputs import TEMPORARY, open_standard_streams, print_last_words, remove_temporary


def main() -> NoReturn:
    """Run the command line as a process of its own."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_leave_to_parent)
    # Modules stay until the end. Looking through them for garbage, again and again and once more at
    # the end, took 17 % of the time of a small evaluation.
    gc.set_threshold(50_000)
    open_standard_streams()
    try:
        from judged.cli import main as run

        run()
    except ImportError as error:  # exit code 1 would mean that a gate failed
        print_last_words(f"the installation is broken ({error}); install judged again.")
        raise SystemExit(70) from None
    finally:
        remove_temporary()
        if "_duckdb" not in sys.modules:  # it reports what was not collected
            gc.freeze()


def _leave_to_parent() -> None:
    """Leave signals and temporary files to the process that forked this one."""
    TEMPORARY.clear()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _stop(number: int, frame: object) -> NoReturn:
    """End at once: an exception may get lost while modules load or threads work."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        remove_temporary()
        print_last_words("interrupted" if number == signal.SIGINT else "terminated")
    finally:
        os._exit(128 + number)


if __name__ == "__main__":
    main()
