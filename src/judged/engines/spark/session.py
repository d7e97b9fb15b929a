"""A session of Spark: the one that was asked for, or an error that says what is missing."""

from __future__ import annotations

import os
import re
import shutil
import socket
import sys
import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooLate
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from judged.engines.spark.failures import failures
from judged.errors import EngineError, InputError, MissingExtraError

WAIT = 20.0
"""So many seconds may pass until a machine answers."""
LONGEST_WAIT = 50.0
"""So many until a server of Spark Connect does."""
_QUIET = {
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
"""What a session of its own is told where nobody says otherwise."""


def session(
    *, master: str | None = None, remote: str | None = None, conf: Mapping[str, str] | None = None
) -> Any:
    """A Spark session for the command line.

    Parameters
    ----------
    master : str, optional
        The address of a cluster, such as "spark://host:7077" or "local[4]"; by default what Spark
        is configured with, and otherwise this machine.
    remote : str, optional
        The address of a server of Spark Connect, such as "sc://host:15002".
    conf : mapping, optional
        Settings of Spark by their names.

    Returns
    -------
    pyspark.sql.SparkSession
    """
    check_installed()
    if master is not None and remote is not None:
        raise InputError("master (--master) and remote (--remote) both say where; give one.")
    address = remote or master or os.environ.get("SPARK_REMOTE") or os.environ.get("MASTER")
    remotely = remote is not None or (master is None and "SPARK_REMOTE" in os.environ)
    if not remotely:
        _check_java()
    for host, port in _machines(address or ""):
        _check_reachable(host, port, str(address))
    with failures(address), _silently():
        if remotely:
            return _remote(str(address), conf)
        try:
            return _classic(master, conf or {})
        except Exception as error:
            if "JAVA_GATEWAY_EXITED" not in str(error):
                raise
            raise EngineError(_not_started(address)) from None


def check_installed() -> None:
    """Refuse where the extra is not installed."""
    for package in ("pyspark", "pyarrow", "pandas"):
        if find_spec(package) is None:
            raise MissingExtraError(f'Spark needs {package}: pip install "judged[spark]".')


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (home and os.path.isfile(f"{home}/bin/java")):
        raise MissingExtraError(
            "Spark needs Java, and there is none: install Java 17 (such as apt install "
            "openjdk-17-jre-headless), or set JAVA_HOME to where it is."
        )


def _not_started(address: str | None) -> str:
    where = f" at {address}" if address else ""
    return (
        f"Spark{where} did not start: is the master one (such as local[4], spark://host:7077 or "
        "yarn), are the settings right, and does `java -version` name 17 or later?"
    )


def _machines(address: str) -> Iterator[tuple[str, int]]:
    """The machines that an address names, where it names some: one of them has to answer."""
    found = re.match(r"(?:spark|sc|k8s://https?)://([^/;]+)", address)
    for each in found.group(1).split(",") if found else ():
        host, _, port = each.rpartition(":") if re.search(r":\d+$", each) else (each, "", "")
        default = {"spark": 7077, "sc": 15002}.get(address.partition(":")[0], 443)
        yield host.strip("[]"), int(port or default)


def _check_reachable(host: str, port: int, address: str) -> None:
    try:
        socket.create_connection((host, port), timeout=WAIT).close()
    except OSError as error:
        reason = error.strerror or str(error) or type(error).__name__
        raise EngineError(
            f"Spark at {address} cannot be reached: {reason}. Is the address right, and does it "
            "run?"
        ) from None


def _remote(address: str, conf: Mapping[str, str] | None) -> Any:
    from pyspark.sql import SparkSession

    def connected() -> Any:
        builder = SparkSession.builder.remote(address)
        for name, value in (conf or {}).items():
            builder = builder.config(name, value)
        found = builder.getOrCreate()
        found.version  # noqa: B018  # the first question, which is answered or not
        return found

    thread = ThreadPoolExecutor(1)
    try:
        return thread.submit(connected).result(LONGEST_WAIT)
    except TooLate:
        raise EngineError(
            f"Spark at {address} did not answer within {LONGEST_WAIT:.0f} seconds. Is it a server "
            "of Spark Connect?"
        ) from None
    finally:
        thread.shutdown(wait=False, cancel_futures=True)


def _classic(master: str | None, conf: Mapping[str, str]) -> Any:
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

    known = SparkConf()
    where = master or conf.get("spark.master") or known.get("spark.master", "local[*]")
    assert where is not None
    if where.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("judged").master(where)
    settings = {name: value for name, value in _QUIET.items() if not known.contains(name)}
    for name, value in {**settings, **conf}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def is_connect(frame: Any) -> bool:
    """Whether a frame is one of Spark Connect."""
    return ".connect." in type(frame).__module__


def address_of(frame: Any) -> str | None:
    """Where a frame lives, for messages; None where that is not known."""
    try:
        spark = frame.sparkSession
        return spark.client.host if is_connect(frame) else spark.sparkContext.master
    except Exception:  # a name for messages is not worth an error
        return None


@contextmanager
def _silently() -> Iterator[None]:
    """What Java prints goes nowhere, for what goes wrong is said by `failures`; and so do Spark's
    doubts about pandas."""
    streams = (sys.stdout, sys.stderr)
    for stream in filter(None, streams):
        stream.flush()
    kept = [os.dup(number) for number in (1, 2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(nowhere, number)
    os.close(nowhere)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for number, before in enumerate(kept, 1):
            os.dup2(before, number)
            os.close(before)
