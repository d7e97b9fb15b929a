"""Where Spark is looked for, and what is said where it is not."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from click.testing import CliRunner

from judged.cli import cli
from judged.engines.spark import session
from judged.engines.spark.session import spark_errors
from judged.errors import EngineError, InputError, MissingExtraError

pytestmark = pytest.mark.full


@pytest.fixture
def closed_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.mark.parametrize(("option", "scheme"), [("master", "spark"), ("remote", "sc")])
def test_what_does_not_answer_is_named(option: str, scheme: str, closed_port: int) -> None:
    pytest.importorskip("pyspark")
    address = f"{scheme}://127.0.0.1:{closed_port}"
    with pytest.raises(EngineError) as caught:
        session.session(**{option: address})
    assert str(caught.value) == (
        f"Spark at {address} cannot be reached: Connection refused. Check the address, and "
        "that Spark is running."
    )


def test_the_command_ends_with_2_and_writes_nothing(
    folder: Path, closed_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyspark")
    Path("out.json").write_text("before")
    Path("qrels").write_text("q 0 a 1\n")
    address = f"sc://127.0.0.1:{closed_port}"
    options = ["--engine", "spark", "--remote", address, "-o", "out.json"]
    done = CliRunner().invoke(cli, ["evaluate", "qrels", "run.parquet", *options])
    assert isinstance(done.exception, EngineError)
    assert address in str(done.exception)
    assert Path("out.json").read_text() == "before"


def test_one_place_is_enough() -> None:
    pytest.importorskip("pyspark")
    with pytest.raises(InputError) as caught:
        session.session(master="local", remote="sc://localhost")
    assert str(caught.value) == ("give master (--master) or remote (--remote), not both.")


def test_what_is_missing_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError) as caught:
        session.session()
    assert str(caught.value) == 'Spark needs pyspark: pip install "judged[spark]".'


def test_java_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "find_spec", lambda name: True)
    monkeypatch.setattr("shutil.which", lambda name: None)
    for name in ("JAVA_HOME", "SPARK_REMOTE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(MissingExtraError) as caught:
        session.session()
    assert str(caught.value) == (
        "Spark needs Java, which was not found: install Java 17 (such as apt install "
        "openjdk-17-jre-headless), or set JAVA_HOME."
    )


def test_a_master_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*given: object) -> None:
        raise RuntimeError("[JAVA_GATEWAY_EXITED] Java gateway process exited")

    monkeypatch.setattr(session, "check_installed", lambda: None)
    monkeypatch.setattr(session, "_check_java", lambda: None)
    monkeypatch.setattr(session, "_start", fails)
    with pytest.raises(EngineError) as caught:
        session.session(master="nonsense")
    assert str(caught.value) == (
        "Spark at nonsense did not start. Check the master (such as local[4], spark://host:7077 "
        "or yarn), the settings, and that `java -version` is 17 or later."
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--master", "local"], "--master needs --engine spark."),
        (
            ["--engine", "spark", "--spark-conf", "x"],
            "'x' is not KEY=VALUE (spark.executor.memory=8g).",
        ),
        (
            ["--engine", "spark", "--spark-conf", "a=1", "--spark-conf", "a=2"],
            "a is given twice.",
        ),
    ],
)
def test_options_that_say_nothing(options: list[str], message: str) -> None:
    done = CliRunner().invoke(cli, ["evaluate", "qrels", "run", *options])
    assert done.exit_code == 2
    assert message in done.output


def test_a_lost_cluster_is_one_line() -> None:
    with pytest.raises(EngineError) as caught, spark_errors("spark://head:7077"):
        raise ConnectionResetError(104, "Connection reset by peer")
    assert str(caught.value) == (
        "Spark at spark://head:7077 failed or was lost: [Errno 104] Connection reset by peer"
    )


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(KeyError), spark_errors():
        raise KeyError("ours")
