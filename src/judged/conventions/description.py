"""Other libraries: a list of all, and a description of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from judged.conventions import HELD, WHEN, Convention, Option
from judged.policy import Policy
from judged.results import Display, Document, Frame, Result, Table, plain_value
from judged.text import Left


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
