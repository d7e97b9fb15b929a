"""--engine and what says where it runs: tables that live in Spark, for the commands that score
runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

ENGINES = {
    "spark": "in partitions, by judged on the workers",
    "tables": "by expressions that every engine knows, without judged on the workers, also of "
    "tables in databases (URL#TABLE)",
}
"""Who evaluates tables that live elsewhere, and how."""

ENGINE = ("engine", "master", "remote", "spark_conf")
"""The names of these options."""

Function = TypeVar("Function", bound=Callable[..., Any])


def _settings(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """KEY=VALUE, each key once."""
    found: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise click.BadParameter(f"{text!r} is no KEY=VALUE, as spark.executor.memory=8g.")
        if name.strip() in found:
            raise click.BadParameter(f"{name.strip()} is given twice.")
        found[name.strip()] = value
    return found


def engine_options(function: Function) -> Function:
    """--engine, --master, --remote and --spark-conf; what `opens` takes, in one dict, `engine`."""

    def gather(*args: Any, **given: Any) -> Any:
        engine = {name: given.pop(name) for name in ENGINE}
        for name in ENGINE[1:]:
            if engine[name] and not engine["engine"]:
                option = f"--{name.replace('_', '-')}"
                raise click.UsageError(f"{option} is for --engine spark or tables; give that too.")
        return function(*args, engine=engine, **given)

    gather.__name__, gather.__doc__ = function.__name__, function.__doc__
    gather.__click_params__ = getattr(function, "__click_params__", [])  # type: ignore[attr-defined]
    words = "; ".join(f"{name}: {how}" for name, how in ENGINES.items())
    for option in (
        click.option(
            "--spark-conf",
            metavar="KEY=VALUE",
            multiple=True,
            callback=_settings,
            help="With --engine: a setting of Spark; may be given more than once.",
        ),
        click.option(
            "--remote",
            metavar="URL",
            help="With --engine: a server of Spark Connect, sc://HOST:PORT.",
        ),
        click.option(
            "--master",
            metavar="URL",
            help="With --engine: the cluster, as spark://HOST:PORT, yarn or local[4]; by default "
            "what Spark is configured with, and otherwise this machine.",
        ),
        click.option(
            "--engine",
            type=click.Choice(list(ENGINES)),
            help="RUN, and QRELS unless it is a file here, are paths that Spark reads (Parquet, "
            "Delta, CSV, TSV, TREC text) or table:NAME, and are evaluated where they are. "
            f"{words}.",
        ),
    ):
        gather = option(gather)
    return gather  # type: ignore[return-value]


def opened(
    engine: dict[str, Any], judgements: str, runs: tuple[str, ...], options: dict[str, Any]
) -> tuple[Any, Any]:
    """Judgements and runs as the library takes them: as they are or, with an engine, as tables of
    Spark. `options` lose what has been used, and say the engine where it is not told by that."""
    if engine["engine"] == "tables":
        options["engine"] = "tables"
    if not engine["engine"] or _in_databases(engine, (judgements, *runs)):
        return judgements, runs or None
    from judged.cli._terminal import working
    from judged.engines.spark import reading
    from judged.engines.spark.session import session

    where = {name: options.pop(name) for name in ("columns", "judgements_format", "run_format")}
    with working("Starting Spark"):
        spark = session(master=engine["master"], remote=engine["remote"], conf=engine["spark_conf"])
        found = reading.opened(spark, judgements, runs, **where)
    return found if engine["engine"] == "spark" else reading.as_frames(*found)


def opened_run(engine: dict[str, Any], run: str, options: dict[str, Any]) -> Any:
    """One more run, which stays as it is where it is a file of this machine, or is to be one."""
    if engine["engine"] != "spark" or not ("://" in run or run.startswith("table:")):
        return run
    from judged.engines.spark import reading
    from judged.engines.spark.session import session

    where = {name: options[name] for name in ("columns", "run_format")}
    spark = session(master=engine["master"], remote=engine["remote"], conf=engine["spark_conf"])
    return reading.opened_run(spark, run, **where)


def _in_databases(engine: dict[str, Any], given: tuple[str, ...]) -> bool:
    """Whether something is a table of a database, URL#TABLE, which Spark does not read: then
    nothing is read by Spark."""
    asks = engine["master"] or engine["remote"] or engine["spark_conf"]
    return engine["engine"] == "tables" and not asks and any(map(_is_address, given))


def _is_address(run: str) -> bool:
    """Whether a run, or what NAME=RUN names, is in a database; Spark reads other URLs."""
    return "#" in run or "duckdb://" in run or "sqlite://" in run
