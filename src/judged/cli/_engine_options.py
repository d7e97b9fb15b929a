"""Options of the commands that evaluate tables in Spark: --engine and where Spark runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

ENGINE = ("engine", "master", "remote", "spark_conf")
"""Names of these options."""

Function = TypeVar("Function", bound=Callable[..., Any])


def _read_settings(
    ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]
) -> dict[str, str]:
    """Read KEY=VALUE, each key once."""
    settings: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise click.BadParameter(f"{text!r} is not KEY=VALUE (spark.executor.memory=8g).")
        if name.strip() in settings:
            raise click.BadParameter(f"{name.strip()} is given twice.")
        settings[name.strip()] = value
    return settings


def engine_options(function: Function) -> Function:
    """Add the options; the function gets their values in one dict, `engine`."""

    def gather(*args: Any, **options: Any) -> Any:
        engine = {name: options.pop(name) for name in ENGINE}
        for name in ENGINE[1:]:
            if engine[name] and not engine["engine"]:
                option = f"--{name.replace('_', '-')}"
                raise click.UsageError(f"{option} needs --engine spark.")
        return function(*args, engine=engine, **options)

    gather.__name__, gather.__doc__ = function.__name__, function.__doc__
    gather.__click_params__ = getattr(function, "__click_params__", [])  # type: ignore[attr-defined]
    for option in (
        click.option(
            "--spark-conf",
            metavar="KEY=VALUE",
            multiple=True,
            callback=_read_settings,
            help="Set a Spark setting; may be given more than once.",
        ),
        click.option(
            "--remote",
            metavar="URL",
            help="Use the Spark Connect server sc://HOST:PORT.",
        ),
        click.option(
            "--master",
            metavar="URL",
            help="Use this cluster: spark://HOST:PORT, yarn or local[4].",
        ),
        click.option(
            "--engine",
            type=click.Choice(["spark"]),
            help="Evaluate in Spark: RUN, and QRELS unless it is a local file, are paths that "
            "Spark reads (Parquet, Delta, CSV, TSV, TREC text) or table:NAME.",
        ),
    ):
        gather = option(gather)
    return gather  # type: ignore[return-value]


def opened(
    engine: dict[str, Any], judgements: str, runs: tuple[str, ...], options: dict[str, Any]
) -> tuple[Any, Any]:
    """Return judgements and runs as they are or, with --engine spark, as tables of Spark.

    Options that Spark's reader has used are removed.
    """
    if not engine["engine"]:
        return judgements, runs or None
    from judged.cli._terminal import working
    from judged.engines.spark import reading

    used = {name: options.pop(name) for name in ("columns", "judgements_format", "run_format")}
    with working("Starting Spark"):
        return reading.opened(_start_spark(engine), judgements, runs, **used)


def opened_run(engine: dict[str, Any], run: str, options: dict[str, Any]) -> Any:
    """Return one more run, as it is unless Spark has to read it."""
    if not engine["engine"] or not ("://" in run or run.startswith("table:")):
        return run
    from judged.engines.spark import reading

    used = {name: options[name] for name in ("columns", "run_format")}
    return reading.opened_run(_start_spark(engine), run, **used)


def _start_spark(engine: dict[str, Any]) -> Any:
    from judged.engines.spark.session import session

    return session(master=engine["master"], remote=engine["remote"], conf=engine["spark_conf"])
