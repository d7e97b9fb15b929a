"""Shared by all tests: how hypothesis draws, and what a test may need that is not installed everywhere."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

from support.parts import Needs, missing_part

settings.register_profile(
    "steady",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=15,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("explore", settings.get_profile("steady"), derandomize=False, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


@pytest.fixture(scope="session")
def needs() -> Needs:
    """`needs("spark")` skips the test where Spark is missing, and fails it where JUDGED_REQUIRE says it has to be there."""
    return missing_part
