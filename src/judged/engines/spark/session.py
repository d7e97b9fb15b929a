"""Start or find a Spark session, and turn Spark's exceptions into errors of one line."""

from __future__ import annotations

import os
import re
import shutil
import socket
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from judged import __version__
from judged.errors import EngineError, InputError, JudgedError, MissingExtraError

CONNECT_SECONDS = 20.0  # the time that a machine may take to accept a connection
_QUIET = {
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
"""Settings of a new session that the user has not set."""
_SPARK_PACKAGES = ("pyspark", "py4j", "grpc", "google")
_INPUT_EXCEPTIONS = {"AnalysisException", "ParseException"}
_INPUT_MESSAGES = (
    "MALFORMED_CSV_RECORD",
    "MALFORMED_RECORD_IN_PARSING",
    "CSV header does not conform",
)
_ADDRESS = re.compile(r"(local|local-cluster)(\[.+\])?|yarn|\w+://.+")
_EXCEPTION_LINE = re.compile(r"(Caused by: |: )?[\w.]*(Error|Exception)\b")


def session(address: str | None = None, conf: Mapping[str, str] | None = None) -> Any:
    """Start a Spark session for the command line.

    Parameters
    ----------
    address : str, optional
        The address of a cluster, such as "spark://host:7077", "yarn" or "local[4]", or of a Spark
        Connect server, such as "sc://host:15002"; by default what Spark is configured with, and
        otherwise this machine.
    conf : mapping, optional
        Spark settings by their names.
    """
    check_installed()
    address = address or os.environ.get("SPARK_REMOTE") or os.environ.get("MASTER")
    is_remote = (address or "").startswith("sc://")
    if address and not _ADDRESS.fullmatch(address):  # what Java would find out in seconds
        raise _not_started(address)
    if not is_remote:
        _check_java()
    for host, port in _machines(address or ""):
        _check_reachable(host, port, str(address))
    with spark_errors(address), _silenced():
        try:
            return _connect(str(address), conf or {}) if is_remote else _start(address, conf or {})
        except Exception as error:
            if "JAVA_GATEWAY_EXITED" not in str(error):
                raise
            raise _not_started(address) from None


def _not_started(address: str | None) -> EngineError:
    where = f" at {address}" if address else ""
    return EngineError(
        f"Spark{where} did not start. Check the address (such as local[4], "
        "spark://host:7077 or yarn), the settings, and that `java -version` is 17 or later."
    )


def check_installed() -> None:
    for package in ("pyspark", "pyarrow", "pandas"):
        if find_spec(package) is None:
            raise MissingExtraError(f'Spark needs {package}: pip install "judged[spark]".')


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (home and os.path.isfile(f"{home}/bin/java")):
        raise MissingExtraError(
            "Spark needs Java, which was not found: install Java 17 (such as apt install "
            "openjdk-17-jre-headless), or set JAVA_HOME."
        )


def _machines(address: str) -> Iterator[tuple[str, int]]:
    parts = re.match(r"(?:spark|sc|k8s://https?)://([^/;]+)", address)
    for machine in parts.group(1).split(",") if parts else ():
        has_port = re.search(r":\d+$", machine)
        host, _, port = machine.rpartition(":") if has_port else (machine, "", "")
        default = {"spark": 7077, "sc": 15002}.get(address.partition(":")[0], 443)
        yield host.strip("[]"), int(port or default)


def _check_reachable(host: str, port: int, address: str) -> None:
    try:
        socket.create_connection((host, port), timeout=CONNECT_SECONDS).close()
    except OSError as error:
        reason = error.strerror or str(error) or type(error).__name__
        raise EngineError(
            f"Spark at {address} cannot be reached: {reason}. Check the address, and that Spark "
            "is running."
        ) from None


def _connect(address: str, conf: Mapping[str, str]) -> Any:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.remote(address)
    for name, value in conf.items():
        builder = builder.config(name, value)
    connected = builder.getOrCreate()
    connected.version  # noqa: B018  # the first request shows whether it answers
    return connected


def _start(master: str | None, conf: Mapping[str, str]) -> Any:
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

    configured = SparkConf()
    where = master or conf.get("spark.master") or configured.get("spark.master", "local[*]")
    assert where is not None
    if where.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("judged").master(where)
    settings = {name: value for name, value in _QUIET.items() if not configured.contains(name)}
    for name, value in {**settings, **conf}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def address_of(frame: Any) -> str | None:
    """Return where a frame lives, for messages; None if that is unknown."""
    try:
        spark = frame.sparkSession
        is_connect = ".connect." in type(frame).__module__
        return spark.client.host if is_connect else spark.sparkContext.master
    except Exception:  # a name for messages is not worth an error
        return None


@contextmanager
def _silenced() -> Iterator[None]:
    """Discard what Java prints and Spark's warnings about pandas; errors are raised anyway."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()
    saved = [os.dup(number) for number in (1, 2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(nowhere, number)
    os.close(nowhere)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for number, before in enumerate(saved, 1):
            os.dup2(before, number)
            os.close(before)


@contextmanager
def spark_errors(address: str | None = None) -> Iterator[None]:
    """Turn Spark's exceptions into one of our errors, without traces of Java or of a worker."""
    try:
        yield
    except JudgedError:
        raise
    except (ConnectionError, EOFError) as error:
        raise EngineError(_lost_message(address, error)) from None
    except Exception as error:
        bases = type(error).__mro__
        if not any(base.__module__.partition(".")[0] in _SPARK_PACKAGES for base in bases):
            raise
        text = str(error)
        if missing := re.search(r"No module named '?\"?([\w.]+)", text):
            raise EngineError(packages_missing(missing.group(1).partition(".")[0])) from None
        is_input = {base.__name__ for base in bases} & _INPUT_EXCEPTIONS
        if is_input or any(message in text for message in _INPUT_MESSAGES):
            raise InputError(f"Spark cannot read it: {_main_line(text)}") from None
        raise EngineError(_lost_message(address, error)) from None


def other_version(version: str) -> str:
    return (
        f"the Spark workers have judged {version}, but this is {__version__}: install the same "
        "version there."
    )


def packages_missing(package: str) -> str:
    return (
        f"the Spark workers lack the Python package {package}: install judged {__version__}, "
        "pyarrow and pandas there."
    )


def _lost_message(address: str | None, error: BaseException) -> str:
    where = f" at {address}" if address else ""
    return f"Spark{where} failed or was lost: {_main_line(str(error) or type(error).__name__)}"


def _main_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line for line in lines if _EXCEPTION_LINE.match(line)]
    aborted = next((line for line in lines if "Job aborted due to stage failure" in line), None)
    first = aborted or (lines[0] if lines else "no reason was given")
    if first.startswith(("An error occurred while calling", "An exception was thrown")) and causes:
        first = causes[-1]
    first = re.sub(r"^(: )?(Caused by: )?([\w$]+\.)+([\w$]+):\s*", "", first)
    return first if len(first) <= 300 else f"{first[:300]}…"
