"""`judged conventions`: the libraries whose definitions are known, one of them, or all of them on
your data."""

from __future__ import annotations

from os.path import isfile
from typing import TYPE_CHECKING, Any

import click

from judged.cli._options import (
    RESULT,
    complete_convention,
    deliver,
    depth_option,
    duplicates_option,
    format_options,
    measures_option,
)
from judged.text import aligned
from judged.types import FileFormat

if TYPE_CHECKING:
    from judged.conventions import Convention, Name, Option
    from judged.types import Duplicates


@click.command(short_help="Say how other libraries define the same measures.")
@click.argument("what", metavar="[NAME | QRELS RUN]", nargs=-1, shell_complete=complete_convention)
@measures_option
@depth_option
@duplicates_option
@format_options
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "markdown"]),
    show_default="table",
    help="How to print the result.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=RESULT,
    help="Write the result to a file; its ending may say the format.",
)
def conventions(
    what: tuple[str, ...],
    measures: tuple[str, ...],
    depth: int | None,
    duplicates: Duplicates,
    qrels_format: FileFormat | None,
    run_format: FileFormat | None,
    form: str | None,
    output: str | None,
) -> None:
    """List the libraries whose definitions are known, explain the one called NAME, or compare all
    of them on a RUN.

    With QRELS and RUN: every definition that some library has for a measure, its value, who uses
    it, in what it differs from judged's default and why, and how many queries that touches. The
    measures are AP@10, nDCG@10, P@10, R@10 and RR@10 unless -m names others.
    """
    from judged.conventions import conventions as known
    from judged.conventions import find
    from judged.outputs import check_target

    if len(what) > 2:
        raise click.UsageError(f"give one run: QRELS RUN; got {len(what)} files.")
    if len(what) < 2:
        asked = click.get_current_context()
        said = [
            name
            for name in ("measures", "depth", "duplicates", "qrels_format", "run_format")
            if _given(asked, name)
        ]
        if said or (what and isfile(what[0])):
            raise click.UsageError("to compare conventions give two files: QRELS RUN.")
    if output is not None:
        check_target(output, reads=what)
    if not what:
        every = list(known().values())
        deliver(
            lambda: {each.name: _record(each) for each in every},
            lambda: _list(every),
            form,
            output,
            lambda: _table(every),
        )
        return
    if len(what) == 1:
        one = find(what[0])
        deliver(lambda: _record(one), lambda: _page(one), form, output, lambda: page_markdown(one))
        return

    from judged.cli._terminal import show_comparison, working
    from judged.disagreement import compare_conventions
    from judged.inputs import read_judgements, read_run

    with working("Comparing conventions"):
        found = compare_conventions(
            read_judgements(what[0], format=qrels_format),
            read_run(what[1], format=run_format),
            measures or None,
            depth=depth,
            duplicates=duplicates,
        )
    deliver(
        found.to_dict,
        found.to_text,
        form,
        output,
        found.to_markdown,
        show=lambda: show_comparison(found),
    )


def _given(context: click.Context, name: str) -> bool:
    from click.core import ParameterSource

    return context.get_parameter_source(name) != ParameterSource.DEFAULT


def _policy(convention: Convention) -> str:
    return ", ".join(f"{choice}={value}" for choice, value in convention.policy.items())


def _list(every: list[Convention]) -> str:
    rows = [("name", "version", "library", "policy, where it is not the default")]
    rows += [(each.name, each.version, each.title, _policy(each)) for each in every]
    footer = (
        "'judged conventions NAME' explains one of them; 'judged conventions QRELS RUN' "
        "compares all of them on a run."
    )
    return "\n".join([*aligned(rows), "", footer])


def _page(convention: Convention) -> str:
    from judged.policy import Policy

    also = f" (also {', '.join(convention.aliases)})" if convention.aliases else ""
    named = [(name.theirs, _ours(name), _remark(name)) for name in convention.names]
    parts = {
        "names": aligned([("its name", "judged", ""), *named]),
        "policy": list(Policy.of(dict(convention.policy)).sentences().values()),
        "options": [
            f"{option.theirs}: {option.says}{_same(option)}" for option in convention.options
        ],
        "differences": list(convention.differences),
        "not imitated, as it is wrong or left to chance": list(convention.wrong),
    }
    lines = [
        f"{convention.name}: {convention.title} {convention.version}".rstrip() + also,
        convention.verified,
    ]
    for title, said in parts.items():
        lines += ["", title, *(f"  {line}" for line in said)] if said else []
    return "\n".join(lines)


def _ours(name: Name) -> str:
    """Our notation with k for the place of a cutoff."""
    return name.ours.replace("{k}", "k") or "–"


def _remark(name: Name) -> str:
    return " ".join(
        filter(None, [name.note, *(f"{choice}={value}." for choice, value in name.policy.items())])
    )


def _same(option: Option, quote: str = "") -> str:
    """The same in judged: choices of the policy, and parameters."""
    same = [
        f"{quote}{choice}={value}{quote}"
        for choice, value in {**option.policy, **option.params}.items()
    ]
    return f" Here: {', '.join(same)}." if same else ""


def _table(every: list[Convention]) -> str:
    rows = [
        "| convention | library | version | policy, where it is not the default |",
        "|---|---|---|---|",
    ]
    return "\n".join(
        [
            *rows,
            *(
                f"| `{each.name}` | {each.title} | {each.version} | {_policy(each)} |"
                for each in every
            ),
        ]
    )


def page_markdown(convention: Convention) -> str:
    """All that is known of a library: a section of the documentation."""
    also = (
        f" Also called {', '.join(f'`{name}`' for name in convention.aliases)}."
        if convention.aliases
        else ""
    )
    names = ["| its name | judged | |", "|---|---|---|"]
    for name in convention.names:
        own = "".join(f" `{choice}={value}`." for choice, value in name.policy.items())
        names.append(
            f"| `{name.theirs}` | {f'`{_ours(name)}`' if name.ours else '–'} | {name.note}{own} |"
        )
    parts = [
        f"### {convention.name}",
        f"**{convention.title}**, {convention.version}.{also} {convention.verified}",
        "\n".join(names),
    ]
    options = [
        f"`{option.theirs}`: {option.says}{_same(option, '`')}" for option in convention.options
    ]
    for title, said in {
        "Options": options,
        "Differences": convention.differences,
        "Not imitated": convention.wrong,
    }.items():
        if said:
            parts.append(f"{title}:\n\n" + "\n".join(f"- {sentence}" for sentence in said))
    return "\n\n".join(parts)


def _record(convention: Convention) -> dict[str, Any]:
    """A convention for programs: all its data but the function that reads texts."""
    from dataclasses import fields, is_dataclass

    def plain(value: Any) -> Any:
        if is_dataclass(value):
            return {
                each.name: plain(getattr(value, each.name))
                for each in fields(value)
                if each.name != "reads"
            }
        if isinstance(value, tuple):
            return [plain(each) for each in value]
        return dict(value) if hasattr(value, "keys") else value

    record: dict[str, Any] = plain(convention)
    return record
