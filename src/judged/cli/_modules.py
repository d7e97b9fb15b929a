"""What people name as MODULE:NAME: functions and objects of their own."""

from __future__ import annotations

import sys
from typing import Any

from judged.errors import InputError


def imported(given: str, what: str, example: str) -> Any:
    """What is called MODULE:NAME, also where the module is in the current folder."""
    from pkgutil import resolve_name

    module, colon, name = given.partition(":")
    if not colon or not module or not name:
        raise InputError(f"{what} is named as MODULE:NAME, as {example}; got {given!r}.")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        return resolve_name(given)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise InputError(f"{given} cannot be imported ({why}).") from error
