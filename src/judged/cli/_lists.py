"""A relevance list on the command line, in place of files."""

from __future__ import annotations

import re
from typing import Any

import click

from judged.cli._files import Command

_LIKE_AN_OPTION = re.compile(r"-[\d\s,.()][^a-zA-Z]*")
"""A relevance list that begins like an option."""


class ListCommand(Command):
    """A command whose relevance list may begin with - or a grade below 0."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """With a space before such a list, so that nobody takes it for an option."""
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


def relevance_options(function: Any) -> Any:
    """What is said of a relevance list beside its grades."""
    for option in (
        click.option(
            "--pool",
            metavar="GRADES",
            help="With a relevance list: the grades of all judged items, in any order.",
        ),
        click.option(
            "--relevant",
            type=int,
            metavar="N",
            help="With a relevance list: how many items are relevant in all.",
        ),
    ):
        function = option(function)
    return function
