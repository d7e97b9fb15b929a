"""Engines under test: one Spark session for all tests of a process."""

from __future__ import annotations

import os
import socket
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.parts import Needs

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """PySpark warns of versions of pandas that it does not know yet, wherever it is used; and it
    leaves its sockets to Python."""
    for item in items:
        if HERE in item.path.parents:
            for ignored in ("PySpark does not yet fully support pandas:FutureWarning",):
                item.add_marker(pytest.mark.filterwarnings(f"ignore:{ignored}"))
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as found:
        found.bind(("localhost", 0))
        return int(found.getsockname()[1])


@pytest.fixture(scope="session")
def spark(needs: Needs) -> Iterator[Any]:
    """A Spark session on this machine, which serves Spark Connect too."""
    needs("spark")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        session = (
            # A task is tried four times, as on a cluster.
            SparkSession.builder.master("local[2,4]")
            .appName("judged tests")
            .config("spark.plugins", "org.apache.spark.sql.connect.SparkConnectPlugin")
            .config("spark.connect.grpc.binding.port", str(free_port()))
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.log.level", "OFF")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.session.timeZone", "UTC")
            .config("spark.driver.memory", "1g")
            # A session that is short compiles little.
            .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
            .getOrCreate()
        )
    yield session
    session.stop()


@pytest.fixture
def settings(spark: Any) -> Any:
    """Settings of Spark, which are as before afterwards."""
    names: list[str] = []

    def change(**given: int) -> None:
        for name, value in given.items():
            names.append(f"spark.judged.{name}")
            spark.conf.set(names[-1], str(value))

    yield change
    for name in names:
        spark.conf.unset(name)
