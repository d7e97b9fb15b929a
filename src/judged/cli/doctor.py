"""`judged doctor`: what is installed here, and what is missing."""

from __future__ import annotations

from judged.cli._files import command
from judged.cli._options import check_format, result_options


@command(short_help="Say what is installed here, and what is missing.")
@result_options()
def doctor(form: str | None, output: str | None) -> int:
    """Print versions, threads, BLAS, the extras, and what is missing: the first thing to look at,
    or to send, when something does not work.

    Exit code 1 says that judged lacks something that it cannot work without; an extra that is not
    installed is no fault.
    """
    from judged.cli import DONE, NO
    from judged.cli._terminal import deliver, working
    from judged.installation import doctor as look

    check_format(form, output)
    with working("Looking at what is installed"):
        found = look()
    deliver(found, form, output)
    return DONE if found.well else NO
