"""What an address asks for, after its question mark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from judged.conventions import find
from judged.errors import JudgedError, PolicyError, did_you_mean, quoted
from judged.evaluation.settings import EvaluationSettings
from judged.measures import DEFAULT
from judged.options import LEVEL, choice, level, whole
from judged.policy import CHOICES, DUPLICATES, SHORT, SHORT_DUPLICATES, Policy, add_choices
from judged.web.calculations import Calculations
from judged.web.errors import RefusedError
from judged.web.workspace import FILE_PARAMS

if TYPE_CHECKING:
    from judged.web.settings import ServerSettings
    from judged.web.work import Cache
    from judged.web.workspace import ServedFiles, Session, Workspace


MAX_PARAMS = 1_000
"""So many parameters an address may have."""
NAMES_FROM_DATA = (
    *("system", "against", "baseline", "of", "query", "item", "run", "judgements", "file", "name"),
    *("queries", "items", "query_labels", "item_labels", "query_ids", "item_ids"),
    *("slice", "slices", "sort", "range"),
)
"""Parameters that name what is in the files, where white space around a name belongs to it."""


@dataclass(frozen=True)
class Params:
    """The parameters of an address, in its order.

    >>> params = Params.read("measure=AP&measure=RR&depth=10")
    >>> params.all("measure"), params.one("depth"), params.one("sort", "name")
    (('AP', 'RR'), '10', 'name')
    """

    pairs: tuple[tuple[str, str], ...] = ()

    @classmethod
    def read(cls, text: str) -> Params:
        """Parameters from the text of an address."""
        try:
            pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_PARAMS)
        except ValueError:
            raise RefusedError(
                f"an address may have {MAX_PARAMS:,} parameters; this has more."
            ) from None
        return cls(tuple((name, _clean(name, value)) for name, value in pairs))

    def all(self, name: str) -> tuple[str, ...]:
        """All values of a parameter; empty ones are none."""
        return tuple(value for each, value in self.pairs if each == name and value != "")

    def one(self, name: str, default: str | None = None) -> str | None:
        """The value of a parameter that may stand there once."""
        values = self.all(name)
        if len(set(values)) > 1:
            raise RefusedError(f"{name} stands there {len(values)} times; give it once.", name)
        return values[0] if values else default

    def text(self, name: str, default: str = "") -> str:
        """As `one`, never None."""
        return self.one(name, default) or default

    def whole(
        self, name: str, default: int, *, at_least: int = 0, at_most: int | None = None
    ) -> int:
        """A whole number."""
        from judged.options import whole

        given = self.one(name)
        if given is None:
            return default
        digits = given.isascii() and given.isdigit() and len(given) < 20
        return whole(name, int(given) if digits else given, at_least=at_least, at_most=at_most)

    def number(self, name: str, default: float | None = None) -> float | None:
        """A finite number."""
        from judged.options import number

        given = self.one(name)
        if given is None:
            return default
        try:
            return number(name, float(given))
        except ValueError as error:
            raise RefusedError(
                f"{name} must be a finite number; got {quoted(given)}.", name
            ) from error

    def choice(self, name: str, known: Sequence[str], default: str) -> str:
        """One of a few words."""
        from judged.options import choice

        return choice(name, self.text(name, default), known)

    def flag(self, name: str) -> bool:
        """Whether a box is ticked: 1, or not there."""
        return self.choice(name, ("0", "1"), "0") == "1"

    def refuse_unknown(self, known: Iterable[str]) -> None:
        """Refuse parameters that the page does not have, with the nearest that it has."""
        names = list(known)
        for name, _ in self.pairs:
            if name not in names:
                raise RefusedError(
                    f"There is no parameter {quoted(name)} here{did_you_mean(name, names)}", name
                )

    def without(self, *names: str) -> Params:
        """The others."""
        return Params(tuple(pair for pair in self.pairs if pair[0] not in names))

    def with_(self, changes: Mapping[str, object]) -> Params:
        """Some of them changed: None takes one out, a list gives it several times."""
        pairs = list(self.pairs)
        for name, value in changes.items():
            at = next((at for at, pair in enumerate(pairs) if pair[0] == name), len(pairs))
            pairs = [pair for pair in pairs if pair[0] != name]
            if value is None:
                continue
            several = value if isinstance(value, (list, tuple)) else [value]
            pairs[at:at] = [(name, str(each)) for each in several]
        return Params(tuple(pairs))

    def __str__(self) -> str:
        return urlencode(self.pairs)


def _clean(name: str, value: str) -> str:
    """A value without half characters, and, where people type it, without white space around it."""
    whole = value.encode("utf-8", "replace").decode()
    return whole if name in NAMES_FROM_DATA else whole.strip()


SCORING_NAMES = (
    "measure",
    *CHOICES,
    "convention",
    "depth",
    "duplicates",
    "level",
    "baseline",
    "was",
)
"""The parameters of an address that are terms."""
DEFAULTS = "usual"
"""What stands for terms before a change, where nobody had chosen anything."""


@dataclass(frozen=True)
class ScoringSettings:
    """What is computed and what is assumed; only what somebody chose is there.

    >>> terms = ScoringSettings.of(Params.read("measure=AP&ties=best&depth=10"))
    >>> print(terms.policy)
    ties=best, missing=zero, empty=zero, unjudged=nonrelevant
    >>> terms.to_params()
    [('measure', 'AP'), ('ties', 'best'), ('depth', '10')]
    """

    measures: tuple[str, ...] = ()
    """The measures as they were typed; none for the usual ones."""
    chosen: Mapping[str, str] = field(default_factory=dict)
    """The choices of the policy that somebody made."""
    convention: str | None = None
    depth: int | None = None
    duplicates: str = "error"
    level: float = LEVEL
    baseline: str | None = None
    refused: tuple[tuple[str, str], ...] = ()
    """Measures that do not exist, each with the sentence that says so."""
    before: Params | None = None
    """The terms before the last change, as parameters."""

    @classmethod
    def of(cls, params: Params) -> ScoringSettings:
        """The terms of an address; a measure that does not exist is put apart, everything else
        that is wrong is an error."""
        chosen = {name: value for name in CHOICES if (value := params.one(name)) is not None}
        Policy.of(chosen)
        convention = params.one("convention")
        if convention is not None:
            convention = find(convention).name
        measures, refused = [], []
        for text in params.all("measure"):
            try:
                EvaluationSettings.of([text], None, convention)
                measures.append(text)
            except JudgedError as error:
                refused.append((text, str(error)))
        given_level, was = params.one("level"), params.one("was")
        return cls(
            tuple(dict.fromkeys(measures)),
            chosen,
            convention,
            _read_depth(params.one("depth")),
            choice("duplicates", params.text("duplicates", "error"), DUPLICATES, error=PolicyError),
            LEVEL if given_level is None else level("level", _number(given_level)),
            params.one("baseline"),
            tuple(dict.fromkeys(refused)),
            None if was is None else Params.read(was.removeprefix(DEFAULTS)),
        )

    @cached_property
    def request(self) -> EvaluationSettings:
        """What `judged.evaluate` makes of the same options."""
        return EvaluationSettings.of(
            self.requested_measures, self.chosen, self.convention, prepares=True
        )

    @property
    def requested_measures(self) -> list[str] | None:
        """The measures as `judged.evaluate` takes them."""
        return list(self.measures) or None

    @property
    def policy(self) -> Policy:
        """All choices: those that were made, those of the convention, and the usual ones."""
        return self.request.policy

    @property
    def labels(self) -> tuple[str, ...]:
        """What the measures are called in tables."""
        request = self.request
        return tuple(request.labels.get(each, str(each)) for each in request.measures)

    def was(self) -> ScoringSettings | None:
        """The terms before the last change; None where nothing changed, or where they are not
        terms."""
        if self.before is None:
            return None
        try:
            scoring = ScoringSettings.of(self.before.without("was"))
        except JudgedError:
            return None
        return None if scoring.key == replace(self, before=None).key else scoring

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells these terms from others."""
        chosen = tuple(sorted(self.chosen.items()))
        options = self.convention, self.depth, self.duplicates, self.level, self.baseline
        return self.measures, chosen, *options

    def to_params(self) -> list[tuple[str, str]]:
        """The terms as parameters of an address, without those before."""
        pairs = [("measure", text) for text in self.measures]
        pairs += [(name, self.chosen[name]) for name in CHOICES if name in self.chosen]
        if self.convention is not None:
            pairs.append(("convention", self.convention))
        if self.depth is not None:
            pairs.append(("depth", str(self.depth)))
        if self.duplicates != "error":
            pairs.append(("duplicates", self.duplicates))
        if self.level != LEVEL:
            pairs.append(("level", repr(self.level)))
        if self.baseline is not None:
            pairs.append(("baseline", self.baseline))
        return pairs

    def options(self) -> dict[str, Any]:
        """The terms as `judged.evaluate` takes them, without the measures."""
        options: dict[str, Any] = {}
        if self.chosen:
            options["policy"] = dict(self.chosen)
        if self.convention is not None:
            options["convention"] = self.convention
        if self.depth is not None:
            options["depth"] = self.depth
        if self.duplicates != "error":
            options["duplicates"] = self.duplicates
        return options

    def scoring(self) -> dict[str, Any]:
        """Return the settings as keyword arguments of `judged.evaluate`, without the measures."""
        options = self.options()
        chosen = {name: options.pop(name, None) for name in ("depth", "duplicates")}
        return {**options, "policy": add_choices(options.get("policy"), **chosen)}

    def changes(self, was: ScoringSettings) -> list[tuple[str, str, str]]:
        """What differs from the terms before: its name, what it was and what it is, in words."""
        return [
            (name, old, new)
            for (name, old), (_, new) in zip(was.said(), self.said(), strict=True)
            if old != new
        ]

    def differing(self, was: ScoringSettings) -> frozenset[str]:
        """The names of the terms that differ from those before."""
        now, then = ({**scoring.policy.to_dict()} for scoring in (self, was))
        names = {name for name in CHOICES if now[name] != then[name]}
        others = ("convention", "depth", "duplicates", "level", "measures")
        return frozenset(
            names | {name for name in others if getattr(self, name) != getattr(was, name)}
        )

    def said(self) -> list[tuple[str, str]]:
        """All terms in words, by name; the measures are columns and stand for themselves."""
        policy = self.policy.to_dict()
        said = [(SHORT[name][0], SHORT[name][1][value]) for name, value in policy.items()]
        return [
            *said,
            ("the convention", "judged's own" if self.convention is None else self.convention),
            ("depth", "whole lists" if self.depth is None else f"the first {self.depth:,}"),
            (SHORT_DUPLICATES[0], SHORT_DUPLICATES[1][self.duplicates]),
            ("the level of intervals", f"{100 * self.level:g} %"),
        ]


def usual_measures() -> tuple[str, ...]:
    """The measures of whoever names none."""
    return tuple(map(str, DEFAULT))


def _read_depth(given: str | None) -> int | None:
    if given is None:
        return None
    digits = given.isascii() and given.isdigit() and len(given) < 20
    return whole("depth", int(given) if digits else given, error=PolicyError)


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


SHARED_PARAMS = (*FILE_PARAMS, *(name for name in SCORING_NAMES if name != "was"))
"""The parameters that go along from page to page."""


@dataclass(frozen=True, eq=False)
class Visit:
    """A question to a view: the address, and everything there is to answer it."""

    path: str
    params: Params
    session: Session
    library: ServedFiles
    cache: Cache
    settings: ServerSettings

    @cached_property
    def scoring(self) -> ScoringSettings:
        """The terms of the address."""
        return ScoringSettings.of(self.params)

    @cached_property
    def workspace(self) -> Workspace:
        """The files, and which of them numbers are made of."""
        return self.session.workspace(self.library, self.params)

    @cached_property
    def calculations(self) -> Calculations:
        """All numbers; an error where it is not clear of which files."""
        self.workspace.refuse_undecided()
        return Calculations(self.workspace, self.cache)

    def url(self, path: str | None = None, **changes: object) -> str:
        """An address: this page, or another one with the same terms; some parameters changed, and
        None takes one out.

        A parameter whose name is a word of Python is written with _ behind it, as `from_`.
        """
        params = self.params
        if path is not None and path != self.path:
            params = Params(tuple(pair for pair in params.pairs if pair[0] in SHARED_PARAMS))
        wanted = {name.removesuffix("_"): value for name, value in changes.items()}
        text = str(params.with_(wanted))
        return (path or self.path) + (f"?{text}" if text else "")


@dataclass(frozen=True, eq=False)
class Page:
    """An answer: a template, and what it needs."""

    template: str
    title: str
    context: Mapping[str, Any] = field(default_factory=dict)
    command: CommandText | None = None
    """What reproduces the numbers of the page."""
    status: int = 200


@dataclass(frozen=True)
class CommandText:
    """What reproduces the numbers of a view, for a terminal and for Python."""

    shell: str
    python: str


@dataclass(frozen=True)
class RawContent:
    """An answer that is no page: a file to save, a picture."""

    content: bytes
    media_type: str
    name: str | None = None
    """What a browser calls it when it saves it; None to show it."""
    status: int = 200
