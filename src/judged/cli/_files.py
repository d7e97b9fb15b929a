"""Files that commands read and write: no command overwrites what it reads."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, TypeVar

import click

from judged.errors import InputError, JudgedError, OutputError


def _whole(given: str) -> Iterable[str]:
    """Yield the file, also of FILE::NAME, NAME=FILE and NAME=FILE,FILE."""
    named = given.partition("=")[2]
    repeats = [each.strip() for each in named.split(",") if each.strip()]
    return dict.fromkeys((given, given.partition("::")[0], named or given, *repeats))


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
"""How items become documents, which a file may say."""


Kind = TypeVar("Kind", Reads, Writes)


class Command(click.Command):
    """A command that checks where it writes before it does anything, and shows an example."""

    def __init__(self, *args: Any, example: str = "", **settings: Any) -> None:
        self.example = example
        shown = f"\b\nExample:\n  {example}\n" if example else ""
        settings["epilog"] = "\n\n".join(filter(None, [shown, settings.get("epilog")]))
        super().__init__(*args, **settings)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse several values of an option that takes one: click would keep the last."""
        given = list(args)
        rest = super().parse_args(ctx, args)
        order = self.make_parser(ctx).parse_args(args=given)[2]
        for param in dict.fromkeys(order):
            if isinstance(param, click.Option) and not (
                param.multiple or param.is_flag or param.count
            ):
                times = order.count(param)
                if times > 1:
                    raise click.UsageError(
                        f"{' / '.join(param.opts)} was given {times} times, but takes one value. "
                        f"Give it once, or run 'judged {ctx.info_name}' once for each.",
                        ctx,
                    )
        return rest

    def invoke(self, ctx: click.Context) -> Any:
        from judged.outputs import check_distinct, check_target

        reads = [file for kind, _, value in _given(self, ctx, Reads) for file in kind.files(value)]
        if reads.count("-") > 1:
            raise InputError("standard input (-) can be read only once; give the other as a file.")
        written = {name: value for _, name, value in _given(self, ctx, Writes)}
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


def _name_options(message: str, params: Iterable[click.Parameter]) -> str:
    """Name an option as it is typed, where a message of the library begins with its keyword."""
    names = {str(param.name): param.opts[-1] for param in params if param.opts[-1][0] == "-"}
    if {"judgements_format", "run_format"} <= {*names}:
        names["format"] = "--qrels-format or --run-format"
    names["threshold"] = "--answer-threshold"
    message = re.sub(
        r"(?:^|(?<=; ))\w+(?= (?:must|takes|needs|is about) )",
        lambda match: names.get(match[0], match[0]),
        message,
    )
    return re.sub(r"\b\w+=True \((--[\w-]+)\)", r"\1", message)


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
) -> Iterator[tuple[Kind, str, str]]:
    """Yield type, option and value of the given parameters of a kind."""
    for param in command.params:
        own = param.type.types[0] if isinstance(param.type, click.Tuple) else param.type
        if isinstance(own, kind) and param.name is not None:
            for value in flat(ctx.params.get(param.name)):
                yield own, param.opts[-1], value


def flat(given: Any) -> Iterator[str]:
    """Yield the values of an option that may have several."""
    if isinstance(given, (tuple, list)):
        for each in given:
            yield from flat(each)
    elif given is not None:
        yield given


_LIKE_AN_OPTION = re.compile(r"-[\d\s,.()][^a-zA-Z]*")
"""A relevance list that begins like an option."""


class ListCommand(Command):
    """A command whose relevance list may begin with - or a grade below 0."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put a space before such a list, so that it is not taken for an option."""
        valued = {
            name
            for option in self.params
            if isinstance(option, click.Option) and not option.is_flag
            for name in option.opts
        }
        given = [
            f" {each}" if _LIKE_AN_OPTION.fullmatch(each) and last not in valued else each
            for last, each in zip(["", *args], args, strict=False)
        ]
        return super().parse_args(ctx, given)


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
