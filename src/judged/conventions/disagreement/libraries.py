"""What is known of the conventions of other libraries, as results: the list of all, and one of
them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from judged.results import Part, Result, Table
from judged.text import markdown_table

if TYPE_CHECKING:
    import polars as pl

    from judged.conventions import Convention, Name, Option


@dataclass(frozen=True, repr=False)
class Libraries(Result):
    """Every library whose definitions are known, a row each."""

    HEADER: ClassVar = ("name", "version", "library", "policy, where it is not the default")
    WORDS: ClassVar = frozenset(HEADER)
    BETWEEN: ClassVar = "\n\n"

    known: Mapping[str, Convention]

    def to_dict(self) -> dict[str, Any]:
        return {name: _record(each) for name, each in self.known.items()}

    def to_frame(self) -> pl.DataFrame:
        ((*names, _), rows), *_ = self.tables()
        return _frame((*names, "policy"), rows)

    def tables(self) -> list[Table]:
        rows = [
            (each.name, each.version, each.title, _policy(each)) for each in self.known.values()
        ]
        return [(self.HEADER, rows)]

    def sentences(self) -> list[str]:
        return [
            "'judged conventions NAME' explains one of them; 'judged conventions QRELS RUN' "
            "compares all of them on a run."
        ]


@dataclass(frozen=True, repr=False)
class Library(Result):
    """All that is known of one library."""

    WORDS: ClassVar = frozenset(("its name", "judged", ""))

    convention: Convention

    def to_dict(self) -> dict[str, Any]:
        return _record(self.convention)

    def to_frame(self) -> pl.DataFrame:
        (_, rows), *_ = self.tables()
        return _frame(("its name", "judged", "remark"), rows)

    def tables(self) -> list[Table]:
        named = [(each.theirs, _ours(each), _remark(each)) for each in self.convention.names]
        return [(("its name", "judged", ""), named)]

    def sentences(self) -> list[str]:
        return [sentence for said in self._sections().values() for sentence in said]

    def _sections(self) -> dict[str, list[str]]:
        from judged.policy import Policy

        known = self.convention
        return {
            "policy": list(Policy.of(dict(known.policy)).sentences().values()),
            "options": [f"{each.theirs}: {each.says}{_same(each)}" for each in known.options],
            "differences": list(known.differences),
            "warned of, where the data are such": _cautions(known),
            "not imitated, as it is wrong or left to chance": list(known.wrong),
        }

    def parts(self, *, verbose: bool = False, quiet: bool = False) -> list[Part]:
        if quiet:
            return super().parts(verbose=verbose, quiet=quiet)
        known = self.convention
        also = f" (also {', '.join(known.aliases)})" if known.aliases else ""
        first = f"{known.name}: {known.title} {known.version}".rstrip()
        said: list[Part] = [
            f"{first}{also}",
            f"{known.verified} ({_held(known)})",
            "",
            *self.tables(),
        ]
        for title, sentences in self._sections().items():
            said += ["", title, *(f"  {line}" for line in sentences)] if sentences else []
        return said

    def to_markdown(self) -> str:
        """A section of the documentation."""
        known = self.convention
        also = f" Also called {', '.join(f'`{name}`' for name in known.aliases)}."
        rows = [
            (
                f"`{each.theirs}`",
                f"`{_ours(each)}`" if each.ours else "–",
                each.note + "".join(f" `{name}={value}`." for name, value in each.policy.items()),
            )
            for each in known.names
        ]
        parts = [
            f"### {known.name}",
            f"**{known.title}**, {known.version} ({_held(known)}).{also if known.aliases else ''} "
            f"{known.verified}",
            markdown_table(("its name", "judged", ""), rows),
        ]
        sections = {
            "Options": [
                f"`{each.theirs}`: {each.says}{_same(each, '`')}" for each in known.options
            ],
            "Differences": known.differences,
            "Warned of, where the data are such": _cautions(known),
            "Not imitated": known.wrong,
        }
        for title, said in sections.items():
            if said:
                parts.append(f"{title}:\n\n" + "\n".join(f"- {sentence}" for sentence in said))
        return "\n\n".join(parts)


def _held(convention: Convention) -> str:
    """How the convention was held against the library, in two or three words."""
    from judged.conventions import HELD

    return HELD[convention.held]


def _cautions(convention: Convention) -> list[str]:
    """What the library does otherwise with some data, each sentence once, and with which data."""
    from judged.conventions import WHEN

    every = (convention.cautions, *(name.cautions for name in convention.names))
    found = dict.fromkeys(caution for cautions in every for caution in cautions)
    return [f"Where {WHEN[each.when]}: {each.says}" for each in found]


def _policy(convention: Convention) -> str:
    return ", ".join(f"{choice}={value}" for choice, value in convention.policy.items())


def _ours(name: Name) -> str:
    """Our notation with k for the place of a cutoff."""
    return name.ours.replace("{k}", "k") or "–"


def _remark(name: Name) -> str:
    own = [f"{choice}={value}." for choice, value in name.policy.items()]
    return " ".join(filter(None, [name.note, *own]))


def _same(option: Option, quote: str = "") -> str:
    """The same in judged: choices of the policy, and parameters."""
    same = [
        f"{quote}{choice}={value}{quote}"
        for choice, value in {**option.policy, **option.params}.items()
    ]
    return f" Here: {', '.join(same)}." if same else ""


def _frame(header: Any, rows: Any) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(rows, schema=list(header), orient="row")


def _record(convention: Convention) -> dict[str, Any]:
    """A convention for programs: all its data but the function that reads texts."""

    def plain(value: Any) -> Any:
        if is_dataclass(value):
            names = (each.name for each in fields(value) if each.name != "reads")
            return {name: plain(getattr(value, name)) for name in names}
        if isinstance(value, tuple):
            return [plain(each) for each in value]
        return dict(value) if hasattr(value, "keys") else value

    record: dict[str, Any] = plain(convention)
    return record
