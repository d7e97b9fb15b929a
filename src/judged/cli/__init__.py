"""The command line: one thin file per command. Nothing heavy is imported before a command runs."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from importlib import import_module
from io import StringIO
from typing import TYPE_CHECKING, Any, NoReturn

import click

from judged import __version__, errors
from judged.cli._command import HELP_ALL, help_all_option
from judged.cli._terminal import abandon, prepare_streams, say
from judged.errors import JudgedError, JudgedWarning, did_you_mean
from judged.outputs import StandardOutputError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

TOPICS = {
    "commands": {
        "demo": "Search bundled images and texts, and evaluate it.",
        "evaluate": "Score runs against judgements.",
        "compare": "Test whether runs differ significantly.",
        "explain": "Show how a value is calculated for one query.",
        "report": "Write an evaluation of runs into one HTML file.",
        "serve": "Explore files in the browser.",
    },
    "data sources": {
        "bench": "Evaluate systems on several collections.",
        "embeddings": "Evaluate embeddings with exact nearest-neighbour search.",
        "retriever": "Query a retriever and score its results.",
        "spans": "Score chunks by the characters of evidence that they cover.",
    },
    "CI": {
        "gate": "Fail CI when a run is worse than its baseline.",
    },
    "judgements": {
        "queue": "List the unjudged results to judge next.",
        "agreement": "Measure how far assessors agree.",
        "merge": "Combine several assessors' judgements.",
        "check": "Check a test collection for errors.",
    },
    "runs": {
        "fuse": "Fuse several runs into one.",
        "overlap": "Measure how far runs agree, without judgements.",
        "funnel": "Find the stage of a pipeline that lost relevant items.",
        "abstain": "Find the score from which on a run should answer.",
        "plot": "Draw a chart.",
    },
    "planning": {
        "advise": "Recommend measures that suit the data.",
        "plan": "Work out how many queries you need (power analysis).",
    },
    "other tools": {
        "conventions": "Show how other libraries define the same measures.",
        "identify": "Find the definitions that give a number.",
        "trec-eval": "Print what trec_eval 10.0 prints.",
        "mcp": "Serve evaluation tools to agents.",
    },
    "reference": {
        "measures": "List all measures and presets, or explain some.",
        "doctor": "Check the installation.",
    },
    "learning": {
        "learn": "Learn a similarity from vectors and relevance.",
        "temperature": "Show what a temperature does to loss and confidence.",
    },
}
"""Each command, in the module of this package of the same name, and its line in the help, below the
headings of the help. --help explains the commands of the first, --help-all all of them."""
COMMANDS = {name: line for commands in TOPICS.values() for name, line in commands.items()}
COMPLETION = "_JUDGED_COMPLETE"
"""The environment variable that shells set to ask for completions."""


class Commands(click.Group):
    """A group whose commands are loaded when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        attribute = name.replace("-", "_")
        module = import_module(f"judged.cli.{attribute}")
        command = f"{attribute}_command" if name == "doctor" else attribute
        return getattr(module, command)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return [*super().get_params(ctx), help_all_option()]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the first commands with what they do, and the names of the others."""
        first, *others = TOPICS
        for topic in TOPICS if ctx.meta.get(HELP_ALL) else [first]:
            with formatter.section(topic[0].upper() + topic[1:]):
                formatter.write_dl([*TOPICS[topic].items()])
        if not ctx.meta.get(HELP_ALL):
            with formatter.section("More commands"):
                formatter.write_dl([(topic, ", ".join(TOPICS[topic])) for topic in others])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        names = [name for name in COMMANDS if name.startswith(incomplete)]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [*(CompletionItem(name, help=COMMANDS[name]) for name in names), *options]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = did_you_mean(args[0], COMMANDS)
            raise click.UsageError(f"There is no command {args[0]!r}{near}", ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Explain a command: judged COMMAND --help. Explain all: judged --help-all.",
)
@click.version_option(__version__, "-V", "--version", prog_name="judged")
@click.pass_context
def cli(context: click.Context) -> None:
    """Evaluate retrieval: numbers to trust, with definitions and an audit of data."""
    threads = os.environ.get("POLARS_MAX_THREADS", "")
    if threads.isdecimal() and not int(threads) and context.invoked_subcommand != "doctor":
        raise JudgedError(
            "the environment variable POLARS_MAX_THREADS is 0, and polars needs a thread: set it "
            "to 1 or more, or unset it."
        )


DONE, NO, REFUSED, FAULT, INTERRUPTED = 0, 1, 2, 70, 130
"""Exit codes, the same in all commands: done; done, and the answer is no (a gate, a check); refused
or called wrongly; an internal error; stopped by Ctrl-C."""
TRACEBACK = "JUDGED_TRACEBACK"
"""The environment variable that asks for the traceback of an internal error."""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line; an error is one message and a non-zero exit code, no traceback."""
    warnings.simplefilter("ignore", JudgedWarning)  # results say them: see `deliver`
    prepare_streams()
    errors.in_shell = True
    code = DONE
    try:
        if sys.stdout is None:  # closed from the start, as by >&-
            _stop("standard output is closed; send it to a file, or to /dev/null.")
        code = _run(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
    except (click.exceptions.Abort, KeyboardInterrupt):
        _stop("interrupted", INTERRUPTED)
    except click.ClickException as error:
        shown = StringIO()
        error.show(shown)
        say(shown.getvalue().rstrip("\n"), err=True)
        code = REFUSED
    except JudgedError as error:
        _stop(str(error))
    except BrokenPipeError:  # the reader (`| head`) has gone before the help was printed
        abandon(sys.stdout)
    except StandardOutputError as error:
        abandon(sys.stdout)
        _stop(f"standard output cannot be written ({error.strerror}).")
    except OSError as error:
        if not _is_of_device(error):
            _report_fault(error)
        place = "a file" if error.filename is None else f"{os.fsdecode(error.filename)}:"
        _stop(f"{place} cannot be read or written ({error.strerror}).")
    except MemoryError:
        _stop("there is not enough memory for this.")
    except SystemExit:
        raise
    except BaseException as error:  # a panic of polars is no Exception
        _report_fault(error)
    finally:
        errors.in_shell = False
    raise SystemExit(code)


def _report_fault(error: BaseException) -> NoReturn:
    """End with an error that no code expected: a bug, and no answer of a gate or a check."""
    if os.environ.get(TRACEBACK):
        import traceback

        say("".join(traceback.format_exception(error)).rstrip("\n"), err=True)
    reason = f"{type(error).__name__}: {error}".partition("\n")[0].removesuffix(": ")
    _stop(
        f"internal error ({reason[:200]}). This is a bug in judged. Please report it "
        f"with the output of judged doctor and the traceback, which {TRACEBACK}=1 prints.",
        FAULT,
    )


def _run(arguments: list[str]) -> int:
    """Run a command as click's `main` does, which ends with 1 if a pipe is closed."""
    if instruction := os.environ.get(COMPLETION):
        from click.shell_completion import shell_complete

        return shell_complete(cli, {}, "judged", COMPLETION, instruction)
    try:
        with cli.make_context("judged", list(arguments)) as context:
            code: Any = cli.invoke(context)
    except click.exceptions.Exit as ended:
        code = ended.exit_code
    return code if isinstance(code, int) else DONE


def _is_of_device(error: OSError) -> bool:
    """Return whether a disk is full or fails, which no code can expect."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def _stop(message: str, code: int = REFUSED) -> NoReturn:
    say(f"judged: {message}", err=True)
    raise SystemExit(code)
