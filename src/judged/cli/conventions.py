"""`judged conventions`: how other libraries define the same measures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from os.path import isfile
from typing import Any

import click

from judged.cli import _options as opt
from judged.cli._command import READS, command
from judged.conventions import HELD, WHEN, Convention, Option, find
from judged.conventions import conventions as known_conventions
from judged.policy import Policy
from judged.results import Display, Document, Frame, Result, Table, plain_value
from judged.text import Left

LIST = re.compile(r"\s*[-\d.({]")
"""Start of a relevance list, and of no library's name."""


@command(example="judged conventions qrels.txt bm25.run -m AP@10")
@click.argument(
    "what",
    metavar="[NAME | QRELS [RUN] | LIST]",
    nargs=-1,
    type=READS,
    shell_complete=opt.complete_convention,
)
@opt.measures_option
@opt.relevant_option
@opt.columns_option
@opt.result_options(verbose=True)
def conventions(what: tuple[str, ...], **options: Any) -> Any:
    """List the known libraries, explain the one called NAME, or compare all of them on a RUN.

    With QRELS and RUN, a rankings file, or one file of rows with relevant and retrieved ids, each
    value of a measure is shown with the libraries that compute it, and with -v how their
    definitions differ from judged's default. A relevance LIST can replace the files: grades in rank
    order in one argument, such as "0 1 0 0 1", with - for an unjudged item and brackets around tied
    results. The measures are AP@10, nDCG@10, P@10, R@10 and RR@10 unless -m names others.
    """
    from judged.cli._terminal import working
    from judged.inputs.data import typed_lists

    lists = typed_lists(what[0], what[1:]) if what else None
    if len(what) > 2 and not lists:
        raise click.UsageError(f"give one run: QRELS RUN; got {len(what)} files.")
    files = len(what) == 2 or any(map(isfile, what)) or any(map(LIST.match, what))
    if not files and any(map(opt.is_given, options)):
        raise click.UsageError(
            "to compare conventions give two files: QRELS RUN; or one that holds both; or a "
            "relevance list."
        )
    if not what:
        return LibraryList(known_conventions())
    if not files:
        return LibraryDescription(find(what[0]))
    from judged.conventions.disagreement import compare_conventions

    data = [lists] if lists and len(lists) > 1 else what
    with working("Comparing conventions"):
        return opt.call_scoring(compare_conventions, *data, **options)


@dataclass(frozen=True, repr=False)
class LibraryList(Result):
    """All libraries whose definitions are known, a row each."""

    known: Mapping[str, Convention]

    def to_dict(self) -> dict[str, Any]:
        return {name: _as_record(convention) for name, convention in self.known.items()}

    def to_frame(self) -> Frame:
        import polars as pl

        header = ["name", "version", "library", "policy"]
        return pl.DataFrame(self._rows(), schema=header, orient="row")

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (
                convention.name,
                convention.version,
                convention.title,
                ", ".join(f"{choice}={value}" for choice, value in convention.policy.items()),
            )
            for convention in self.known.values()
        ]

    def document(self, display: Display) -> Document:
        rows = [
            (name, f"{title} {version}".rstrip(), policy)
            for name, version, title, policy in self._rows()
        ]
        header = [Left("name"), "library and version", "policy"]
        return Document(
            tables=[Table(header, rows, {"library and version", "policy"})],
            notes=[
                "An empty policy is judged's default.",
                "'judged conventions NAME' explains one of them; 'judged conventions QRELS RUN' "
                "compares all of them on a run.",
            ],
        )


@dataclass(frozen=True, repr=False)
class LibraryDescription(Result):
    """Everything that is known of one library."""

    convention: Convention

    def to_dict(self) -> dict[str, Any]:
        return _as_record(self.convention)

    def to_frame(self) -> Frame:
        import polars as pl

        header = ["its name", "judged", "remark"]
        return pl.DataFrame(self._rows(), schema=header, orient="row")

    def _rows(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = []
        for name in self.convention.names:
            policy = [f"{choice}={value}." for choice, value in name.policy.items()]
            remark = " ".join(filter(None, [name.note, *policy]))
            rows.append((name.theirs, name.ours.replace("{k}", "k") or "–", remark))
        return rows

    def document(self, display: Display) -> Document:
        known = self.convention
        also = f" (also {', '.join(known.aliases)})" if known.aliases else ""
        every = (known.cautions, *(name.cautions for name in known.names))
        cautions = dict.fromkeys(caution for group in every for caution in group)
        sections = {
            "Policy": Policy.of(dict(known.policy)).sentences().values(),
            "Option": [
                f"{option.theirs}: {option.says}{_in_judged(option)}" for option in known.options
            ],
            "Difference": known.differences,
            "Warning": [f"if {WHEN[each.when]}: {each.says}" for each in cautions],
            "Not imitated": known.wrong,
        }
        header = [Left("its name"), Left("judged"), "remark"]
        return Document(
            answer=[
                f"{known.name}: {known.title} {known.version}".rstrip() + also,
                f"{known.verified} ({HELD[known.held]})",
            ],
            tables=[Table(header, self._rows(), {"remark"})],
            notes=[f"{title}: {text}" for title, texts in sections.items() for text in texts],
        )


def _in_judged(option: Option) -> str:
    """Return the same in judged: choices of the policy, and parameters."""
    same = [f"{choice}={value}" for choice, value in {**option.policy, **option.params}.items()]
    return f" In judged: {', '.join(same)}." if same else ""


def _as_record(convention: Convention) -> dict[str, Any]:
    """Return a convention as plain values, without the function that reads texts."""
    record: dict[str, Any] = plain_value(asdict(replace(convention, reads=None)))
    del record["reads"]
    return record
