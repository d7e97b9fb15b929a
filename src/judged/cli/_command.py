"""Commands: their help, their options, and the files they read and write.

`judged CMD --help` shows the common options and an example, `--help-all` every option by group.
An option's group and whether it is common are declared where the option is. No command overwrites
what it reads.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, TypeVar

import click

from judged.errors import InputError, JudgedError, OutputError

# -- types of arguments and options


def _whole(given: str) -> Iterable[str]:
    """Yield the file, also of FILE::NAME, NAME=FILE and NAME=FILE,FILE::NAME."""
    named = given.partition("=")[2]
    files = [file.strip() for file in (given, named, *named.split(","))]
    return dict.fromkeys(part for file in files if file for part in (file, file.partition("::")[0]))


class Reads(click.Path):
    """A file to read, or "-"; `files` are those that are named by what was given."""

    def __init__(self, files: Callable[[str], Iterable[str]] = _whole) -> None:
        super().__init__(allow_dash=True)
        self.files = files


class Writes(click.Path):
    """A file to write."""

    def __init__(self) -> None:
        super().__init__(readable=False)


READS, WRITES = Reads(), Writes()
NORMALISATION = Reads(lambda given: re.findall(r"bank\s*=\s*([^,)]*[^,)\s])", given))
"""A name with options, one of which may be a file."""
ITEM_TO = Reads(lambda given: re.findall(r"^table:(.+)", given))
"""A rule from items to documents, which may name a file."""

Kind = TypeVar("Kind", Reads, Writes)

# -- options and help

GROUPS = (
    *("options", "relevance", "encoding", "vectors", "measures", "policy", "statistics"),
    *("comparison", "training", "drawing", "data", "Spark", "output"),
)
"""Headings of --help-all, in this order."""
HELP_ALL = "judged.help_all"
"""Key under which click's context keeps that all options are asked for."""
ARGUMENTS = "judged.arguments"
"""Key under which click's context keeps the arguments of the running command."""
_LIKE_AN_OPTION = re.compile(r"-[\d\s,.()][^a-zA-Z]*")
"""A relevance list that begins like an option."""


class GroupedOption(click.Option):
    """An option with its group, and whether it is common, for the help.

    `meanings` explains its choices, and `aliases` are further names; --help-all shows the former.
    """

    def __init__(
        self,
        names: Iterable[str],
        *args: Any,
        group: str = "options",
        common: bool = False,
        meanings: Mapping[str, str] | None = None,
        aliases: Iterable[str] = (),
        **settings: Any,
    ) -> None:
        self.group, self.common, self.meanings = group, common, dict(meanings or {})
        aliases = tuple(aliases)
        super().__init__([*names, *aliases], *args, **settings)
        self.names = [name for name in self.opts if name not in aliases]

    @property
    def flag(self) -> str:
        """The option as messages name it."""
        return max(self.names, key=len)

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        known, self.opts = self.opts, self.names
        record = super().get_help_record(ctx)
        self.opts = known
        if record is None or not (self.meanings and ctx.meta.get(HELP_ALL)):
            return record
        shown, words = record
        told = "; ".join(f"{word}: {meaning}" for word, meaning in self.meanings.items())
        return shown, f"{words} {told}."


def option(*names: str, **settings: Any) -> Callable[[Any], Any]:
    """Return a decorator that adds a `GroupedOption`."""
    return click.option(*names, cls=GroupedOption, **settings)


def help_all_option() -> click.Option:
    """Return --help-all."""

    def show(ctx: click.Context, param: click.Parameter, value: bool) -> None:
        if value and not ctx.resilient_parsing:
            from judged.cli._terminal import say

            ctx.meta[HELP_ALL] = True
            say(ctx.get_help())
            ctx.exit()

    return click.Option(
        ["--help-all"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help="Show all options.",
    )


class Command(click.Command):
    """A command that checks where it writes before it does anything, and shows an example."""

    FEW = 10
    """Options that --help shows at once, without a choice of the common ones."""

    def __init__(self, *args: Any, example: str = "", **settings: Any) -> None:
        self.example = example
        shown = f"\b\nExample:\n  {example}\n" if example else ""
        settings["epilog"] = "\n\n".join(filter(None, [shown, settings.get("epilog")]))
        super().__init__(*args, **settings)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        names = self.get_help_option_names(ctx)
        return [*super().get_params(ctx), *([help_all_option()] if names else [])]

    def options(self) -> list[GroupedOption]:
        """Return the options of the command, in the order of the help."""
        found = [param for param in self.params if isinstance(param, GroupedOption)]
        return sorted(found, key=lambda param: GROUPS.index(param.group))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the common options, or all of them by group."""
        options = self.options()
        if not all(isinstance(param, (GroupedOption, click.Argument)) for param in self.params):
            return super().format_options(ctx, formatter)
        common = [param for param in options if param.common or len(options) <= self.FEW]
        groups = {"options": common}
        if ctx.meta.get(HELP_ALL):
            groups = {group: [p for p in options if p.group == group] for group in GROUPS}
        for group, params in groups.items():
            if records := [record for param in params if (record := param.get_help_record(ctx))]:
                with formatter.section(group[0].upper() + group[1:]):
                    formatter.write_dl(records)
        if not ctx.meta.get(HELP_ALL) and (
            len(common) < len(options) or any(param.meanings for param in options)
        ):
            formatter.write_paragraph()
            formatter.write_text(f"--help-all shows all {len(options)} options and their choices.")
        return None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse several values of an option that takes one: click would keep the last."""
        ctx.meta[ARGUMENTS] = tuple(args)
        args = self._quote_lists(args)
        given = list(args)
        try:
            rest = super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if error.option_name == "-k" and any(param.name == "measures" for param in self.params):
                raise click.UsageError(
                    "No such option: -k. Write the cutoff into the measure: -m nDCG@10.", ctx
                ) from None
            raise
        order = self.make_parser(ctx).parse_args(args=given)[2]
        for param in dict.fromkeys(order):
            if isinstance(param, GroupedOption) and not (param.multiple or param.is_flag):
                times = order.count(param)
                if times > 1:
                    raise click.UsageError(
                        f"{' / '.join(param.names)} was given {times} times, but takes one value. "
                        f"Give it once, or run 'judged {ctx.info_name}' once for each.",
                        ctx,
                    )
        return rest

    def _quote_lists(self, args: list[str]) -> list[str]:
        """Put a space before a relevance list that begins like an option; read md as markdown."""
        valued = {
            name
            for param in self.params
            if isinstance(param, click.Option) and not param.is_flag
            for name in param.opts
        }
        return [
            "markdown"
            if (last, word) == ("--format", "md")
            else f" {word}"
            if _LIKE_AN_OPTION.fullmatch(word) and last not in valued
            else word
            for last, word in zip(["", *args], args, strict=False)
        ]

    def invoke(self, ctx: click.Context) -> Any:
        from judged.outputs import check_distinct, check_target

        reads: list[str] = []
        for param, kind, value in _given(self, ctx, Reads):
            reads += kind.files(value)
            if isinstance(param, click.Argument) and not os.path.exists(value):
                _check_not_a_measure(ctx, value)
        if reads.count("-") > 1:
            raise InputError("standard input (-) can be read only once; give the other as a file.")
        written = {
            f"{param.opts[-1]} {value}" if param.multiple else param.opts[-1]: value
            for param, _, value in _given(self, ctx, Writes)
        }
        for name, target in written.items():
            if target == "-":
                raise OutputError(
                    f"{name} - names no file; give one, or /dev/stdout for standard output."
                )
            check_target(target, reads=reads)
        if written:
            check_distinct(written)
        if reads:
            # Loaded from here, and not by modules that load each other: with so many calls below
            # it, Python gives the memory of a call back and asks for it again a thousand times.
            import numpy  # noqa: F401
        try:
            done = super().invoke(ctx)
        except JudgedError as error:
            error.args = (_name_options(str(error), self.params),)
            raise
        for target in () if ctx.params.get("quiet") else written.values():
            _say_written(target)
        return done


def _check_not_a_measure(ctx: click.Context, word: str) -> None:
    """Fail if a measure stands where files do, as in -m nDCG@10 RR."""
    if not ctx.params.get("measures") or not re.fullmatch(r"[A-Za-z][\w@().=,]*", word):
        return
    from judged.measures import parse_all

    try:
        parse_all(word)
    except JudgedError:
        return
    together = ",".join([*ctx.params["measures"], word])
    raise click.UsageError(f"{word} is a measure: write -m {together}", ctx)


def _name_options(message: str, params: Iterable[click.Parameter]) -> str:
    """Name an option as it is typed, where a message of the library begins with its keyword."""
    names = {str(param.name): param.flag for param in params if isinstance(param, GroupedOption)}
    return re.sub(
        r"(?:^|(?<=; ))\w+(?= (?:must|takes|needs|is about) )",
        lambda match: names.get(match[0], match[0]),
        message,
    )


def _say_written(target: str) -> None:
    """Print what was written, and how much, unless it is a device."""
    from os.path import getsize, isfile

    from judged.cli._terminal import say
    from judged.text import counted

    if isfile(target):
        say(f"wrote {target} ({counted(getsize(target), 'byte')})", err=True)


command = partial(click.command, cls=Command)
"""Every command is made by this."""


def _given(
    command: click.Command, ctx: click.Context, kind: type[Kind]
) -> Iterator[tuple[click.Parameter, Kind, str]]:
    """Yield the given parameters of a kind, with their types and values."""
    for param in command.params:
        own = param.type.types[0] if isinstance(param.type, click.Tuple) else param.type
        if isinstance(own, kind) and param.name is not None:
            for value in flat(ctx.params.get(param.name)):
                yield param, own, value


def flat(given: Any) -> Iterator[str]:
    """Yield the values of an option that may have several."""
    if isinstance(given, (tuple, list)):
        for each in given:
            yield from flat(each)
    elif given is not None:
        yield given


def imported(given: str, what: str, example: str) -> Any:
    """Import MODULE:NAME, also from the current folder."""
    from pkgutil import resolve_name

    module, colon, name = given.partition(":")
    if not colon or not module or not name:
        raise InputError(f"{what} is named as MODULE:NAME, as {example}; got {given!r}.")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        return resolve_name(given)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise InputError(f"{given} cannot be imported ({why}).") from error
