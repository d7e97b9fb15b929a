"""The message of an error, in one expression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from judged.errors import InputError


def error_of(
    function: Callable[..., Any],
    *arguments: Any,
    error: type[Exception] = InputError,
    **options: Any,
) -> str:
    """Return the message of the error that a call raises, by default an `InputError`."""
    with pytest.raises(error) as caught:
        function(*arguments, **options)
    return str(caught.value)
