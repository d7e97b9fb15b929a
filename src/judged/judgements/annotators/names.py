"""The names of annotators: they become names of files, so not everything is one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from unicodedata import normalize

from judged.errors import InputError, quoted

SETTLED = "settled"
"""The judge whose grades settle what others see differently; nobody else may be called so."""
LONGEST = 40
_NAME = re.compile(rf"[^\W_][\w-]{{0,{LONGEST - 1}}}")
_DEVICES = re.compile(r"con|prn|aux|nul|com\d|lpt\d", re.IGNORECASE)


def check_name(given: Any, known: Iterable[str] = ()) -> str:
    """The name of an annotator, checked; `known` are those that there are already.

    >>> check_name("ar", known=["bo"])
    'ar'
    """
    name = normalize("NFC", given) if isinstance(given, str) else ""
    if not _NAME.fullmatch(name):
        raise InputError(
            "an annotator's name has letters, digits, - and _, begins with a letter or a digit, "
            f"and has at most {LONGEST} characters; got {quoted(given)}."
        )
    if name.casefold() == SETTLED:
        raise InputError(
            f"{SETTLED!r} is the judge whose grades settle differences; choose another name."
        )
    if _DEVICES.fullmatch(name):
        raise InputError(f"{quoted(name)} is the name of a device on Windows; choose another name.")
    for other in known:
        if other != name and other.casefold() == name.casefold():
            raise InputError(
                f"there is an annotator {other!r} already, and {quoted(name)} would be the same "
                f"file on some machines; judge as {other!r}, or choose another name."
            )
    return name
