"""The message of an error, in one expression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from judged.errors import InputError


def error_of(function: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    """Return the message of the `InputError` that a call raises."""
    with pytest.raises(InputError) as error:
        function(*arguments, **options)
    return str(error.value)
