"""What is done when something breaks: the terminal gets the details, whoever asked gets a name."""

from __future__ import annotations

import sys
import traceback
from secrets import token_hex


def reported(error: BaseException) -> str:
    """Write the traceback of a crash to the terminal, and give its name."""
    id = token_hex(2)
    sys.stderr.write(f"judged: request {id} failed:\n{''.join(traceback.format_exception(error))}")
    return id
