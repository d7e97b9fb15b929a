"""Spark sessions: addresses, settings and commands, and errors of one line."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import judged
from judged.cli import cli
from judged.engines.spark import session
from judged.engines.spark.session import spark_errors
from judged.errors import EngineError, MissingExtraError

pytestmark = pytest.mark.full


@pytest.fixture
def closed_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.mark.parametrize("scheme", ["spark", "sc"])
def test_what_does_not_answer_is_named(scheme: str, closed_port: int) -> None:
    pytest.importorskip("pyspark")
    address = f"{scheme}://127.0.0.1:{closed_port}"
    with pytest.raises(EngineError) as caught:
        session.session(address)
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
    options = ["--spark", address, "-o", "out.json"]
    done = CliRunner().invoke(cli, ["evaluate", "qrels", "run.parquet", *options])
    assert isinstance(done.exception, EngineError)
    assert address in str(done.exception)
    assert Path("out.json").read_text() == "before"


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


@pytest.mark.parametrize("address", ["nonsense", "yarn"])  # refused at once, or by Java
def test_a_master_that_is_none(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    def fails(*given: object) -> None:
        raise RuntimeError("[JAVA_GATEWAY_EXITED] Java gateway process exited")

    monkeypatch.setattr(session, "check_installed", lambda: None)
    monkeypatch.setattr(session, "_check_java", lambda: None)
    monkeypatch.setattr(session, "_start", fails)
    with pytest.raises(EngineError) as caught:
        session.session(address)
    assert str(caught.value) == (
        f"Spark at {address} did not start. Check the address (such as local[4], "
        "spark://host:7077 or yarn), the settings, and that `java -version` is 17 or later."
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--spark-conf", "a=1"], "--spark-conf needs --spark ADDRESS."),
        (["--spark-conf", "x"], "'x' is not KEY=VALUE (spark.executor.memory=8g)."),
        (["--spark-conf", "a=1", "--spark-conf", "a=2"], "a is given twice."),
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


EACH = ["--weights", "weights.csv", "--groups", "groups.csv", "--format", "json"]


@pytest.fixture
def files(folder: Path) -> Path:
    """Judgements, runs of three formats, weights and groups of queries."""
    rng = np.random.default_rng(3)
    Path("qrels").write_text(
        "".join(
            f"q{query} 0 d{item} {rng.integers(-1, 4)}\n"
            for query in range(12)
            for item in rng.choice(40, 8, False)
        )
    )
    for number in range(3):
        rows = [
            (f"q{query}", f"d{item}", float(rng.integers(0, 6)))
            for query in range(2, 15)
            for item in rng.choice(40, 20 + query, False)
        ]
        types = {"query": pl.String, "item": pl.String, "score": pl.Float32}
        run = pl.DataFrame(rows, schema=types, orient="row")
        if number == 0:
            run.write_parquet("one.parquet")
        elif number == 1:
            run.write_csv("two.csv")
        else:
            lines = (f"{query} Q0 {item} 0 {score} tag" for query, item, score in run.rows())
            Path("three.run").write_text("\n".join(lines))
    for name, values in (("weight", range(1, 13)), ("group", (f"g{at % 5}" for at in range(12)))):
        rows = (f"q{query},{value}\n" for query, value in enumerate(values))
        Path(f"{name}s.csv").write_text("".join([f"query,{name}\n", *rows]))
    return folder


def commands(folder: Path) -> list[list[str]]:
    """What is asked; Spark takes paths as they are from where it runs."""
    one, two, three = (str(folder / name) for name in ("one.parquet", "two.csv", "three.run"))
    return [
        ["evaluate", "qrels", one, two, three, "-m", "AP, nDCG@10", "--per-query", "--format=json"],
        ["evaluate", "qrels", one, "-m", "AP", "--interval", "--per-query", *EACH],
    ]


def numbers(text: str) -> Any:
    """All that was said but the warnings on ties and short lists: these come from rankings, which
    Spark does not bring back, and a warning says so."""
    return {name: value for name, value in json.loads(text).items() if name != "warnings"}


def in_memory(asked: list[str]) -> tuple[int, Any]:
    done = CliRunner().invoke(cli, asked)
    assert done.exit_code in (0, 1), done.output
    assert not isinstance(done.exception, Exception), done.output
    return done.exit_code, numbers(done.stdout)


def test_in_a_session(spark: Any, files: Path) -> None:
    for asked in commands(files)[1:]:
        done = CliRunner().invoke(cli, [*asked, "--spark", "default"])
        assert done.exit_code in (0, 1), done.output
        assert not isinstance(done.exception, Exception), done.output
        assert (done.exit_code, numbers(done.stdout)) == in_memory(asked)


ASKED = """
import json, sys
from click.testing import CliRunner
from judged.cli import cli

done = [CliRunner().invoke(cli, asked) for asked in json.loads(sys.argv[1])]
print(json.dumps([[each.exit_code, each.stdout, each.stderr] for each in done]))
"""


def test_through_spark_connect(spark: Any, files: Path) -> None:
    """In a process of its own: one that has a session already can have no remote one."""
    port = spark.conf.get("spark.connect.grpc.binding.port")
    there = ["--spark", f"sc://localhost:{port}"]
    asked = [[*each, *there] for each in commands(files)]
    done = subprocess.run(
        [sys.executable, "-c", ASKED, json.dumps(asked)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(Path(judged.__file__).parents[1])},
    )
    assert done.returncode == 0, done.stderr
    for own, (code, said, errors) in zip(commands(files), json.loads(done.stdout), strict=True):
        assert code in (0, 1), errors
        assert (code, numbers(said)) == in_memory(own)


def test_weights_in_a_column_of_judgements_in_spark(spark: Any, settings: Any) -> None:
    """With groups, in partitions."""
    settings(partitionRows=12)
    rng = np.random.default_rng(4)
    grades = [
        (f"q{query}", f"d{item}", int(rng.integers(0, 3)), query / 4 + 1)
        for query in range(6)
        for item in range(5)
    ]
    rows = [
        (f"q{query}", f"d{item}", float(rng.integers(0, 4)))
        for query in range(6)
        for item in rng.choice(12, 4 + query % 3, False)
    ]
    names = ["query", "item", "grade", "weight"]
    judgements = pl.DataFrame(grades, schema=names, orient="row")
    run = pl.DataFrame(rows, schema=["query", "item", "score"], orient="row")
    frames = (
        spark.createDataFrame(grades, "query string, item string, grade int, weight double"),
        spark.createDataFrame(rows, "query string, item string, score double"),
    )
    groups = {f"q{query}": f"g{query // 2}" for query in range(6)}
    found = judged.evaluate(*frames, "AP, RR").showing(groups=groups, intervals=True)
    wanted = judged.evaluate(judgements, run, "AP, RR").showing(groups=groups, intervals=True)
    assert numbers(found.to_json(per_query=True)) == numbers(wanted.to_json(per_query=True))
