"""A browser for the tests of pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from support.browser import launched


@pytest.fixture(scope="session")
def browser(needs: Callable[[str], None]) -> Iterator[Any]:
    needs("browser")
    with launched() as found:
        yield found
