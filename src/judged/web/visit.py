"""A visit of a page: its address, the scoring settings in it, and what the page answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from judged.conventions import find
from judged.errors import JudgedError, MeasureError, did_you_mean, quoted
from judged.evaluation.settings import EvaluationSettings
from judged.measures.reference import find_topic
from judged.options import LEVEL, choice, level, number, whole
from judged.policy import CHOICES, SHORT, SHORT_DUPLICATES, Policy
from judged.web.calculations import Calculations
from judged.web.errors import RefusedError
from judged.web.workspace import FILE_PARAMS

if TYPE_CHECKING:
    from judged.web.settings import ServerSettings
    from judged.web.work import Cache
    from judged.web.workspace import LeftOut, ServedFiles, Session, Workspace

MAX_PARAMS = 1_000
MAX_MEASURES = 40
NAMES_FROM_DATA = (
    *("system", "against", "baseline", "of", "query", "item", "run", "judgements", "file", "name"),
    *("queries", "items", "query_labels", "item_labels", "query_ids", "item_ids"),
    *("slice", "slices", "sort", "range"),
)
"""Parameters whose values are names in the files, where surrounding white space counts."""
SCORING_NAMES = (
    *("measure", *CHOICES, "convention", "depth", "duplicates", "level", "baseline", "was"),
)
"""Parameters that are scoring settings."""
SHARED_PARAMS = (*FILE_PARAMS, *(name for name in SCORING_NAMES if name != "was"))
"""Parameters that links to other pages keep."""
HEADLINE = "nDCG@10"  # the measure that systems are ranked by if no measures are named
DEFAULTS = "usual"  # the value of `was` if all settings before the last change were defaults


@dataclass(frozen=True)
class Params:
    """The parameters of an address, in order.

    >>> params = Params.read("measure=AP&measure=RR&depth=10")
    >>> params.all("measure"), params.one("depth"), params.one("sort", "name")
    (('AP', 'RR'), '10', 'name')
    """

    pairs: tuple[tuple[str, str], ...] = ()

    @classmethod
    def read(cls, text: str) -> Params:
        try:
            pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_PARAMS)
        except ValueError:
            raise RefusedError(
                f"an address may have {MAX_PARAMS:,} parameters; this has more."
            ) from None
        return cls(tuple((name, _clean(name, value)) for name, value in pairs))

    def all(self, name: str) -> tuple[str, ...]:
        return tuple(value for key, value in self.pairs if key == name and value != "")

    def one(self, name: str, default: str | None = None) -> str | None:
        values = self.all(name)
        if len(set(values)) > 1:
            raise RefusedError(f"{name} occurs {len(values)} times; give it once.", name)
        return values[0] if values else default

    def text(self, name: str, default: str = "") -> str:
        return self.one(name, default) or default

    def whole(
        self, name: str, default: int, *, at_least: int = 0, at_most: int | None = None
    ) -> int:
        text = self.one(name)
        if text is None:
            return default
        return whole(name, _whole_or_text(text), at_least=at_least, at_most=at_most)

    def number(self, name: str, default: float | None = None) -> float | None:
        text = self.one(name)
        if text is None:
            return default
        try:
            return number(name, float(text))
        except ValueError as error:
            message = f"{name} must be a finite number; got {quoted(text)}."
            raise RefusedError(message, name) from error

    def choice(self, name: str, known: Sequence[str], default: str) -> str:
        return choice(name, self.text(name, default), known)

    def flag(self, name: str) -> bool:
        return self.choice(name, ("0", "1"), "0") == "1"

    def refuse_unknown(self, known: Iterable[str]) -> None:
        """Raise an error for a parameter that the page does not have."""
        names = list(known)
        for name, _ in self.pairs:
            if name not in names:
                raise RefusedError(
                    f"Unknown parameter {quoted(name)}{did_you_mean(name, names)}", name
                )

    def without(self, *names: str) -> Params:
        return Params(tuple(pair for pair in self.pairs if pair[0] not in names))

    def filled_without(self, *names: str) -> list[tuple[str, str]]:
        """Return the other parameters that are not empty, for the hidden fields of a form."""
        return [pair for pair in self.pairs if pair[0] not in names and pair[1] != ""]

    def with_(self, changes: Mapping[str, object]) -> Params:
        """Replace parameters in place: None removes one, a list gives it several times."""
        pairs = list(self.pairs)
        for name, value in changes.items():
            first = next((at for at, pair in enumerate(pairs) if pair[0] == name), len(pairs))
            pairs = [pair for pair in pairs if pair[0] != name]
            if value is not None:
                values = value if isinstance(value, (list, tuple)) else [value]
                pairs[first:first] = [(name, str(one)) for one in values]
        return Params(tuple(pairs))

    def __str__(self) -> str:
        return urlencode(self.pairs)


def _clean(name: str, value: str) -> str:
    """Remove half characters, and white space around what users type."""
    whole = value.encode("utf-8", "replace").decode()
    return whole if name in NAMES_FROM_DATA else whole.strip()


def _whole_or_text(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else text


@dataclass(frozen=True)
class ScoringSettings:
    """The measures and the assumptions of an address; only what the user chose.

    >>> scoring = ScoringSettings.of(Params.read("measure=AP&ties=best&depth=10"))
    >>> print(scoring.policy)
    ties=best, missing=zero, empty=zero, unjudged=nonrelevant, depth=10
    >>> scoring.to_params()
    [('measure', 'AP'), ('ties', 'best'), ('depth', '10')]
    """

    measures: tuple[str, ...] = ()  # as typed; empty for the default measures
    chosen: Mapping[str, Any] = field(default_factory=dict)
    """Choices of the policy, depth and duplicates among them."""
    convention: str | None = None
    level: float = LEVEL
    baseline: str | None = None
    refused: tuple[tuple[str, str], ...] = ()  # unknown measures, each with its error message
    before: Params | None = None  # the settings before the last change, as parameters

    @classmethod
    def of(cls, params: Params) -> ScoringSettings:
        """Read the settings of an address; unknown measures go to `refused`."""
        names = (*CHOICES, "depth", "duplicates")
        chosen: dict[str, Any] = {
            name: value for name in names if (value := params.one(name)) is not None
        }
        if "depth" in chosen:
            chosen["depth"] = _whole_or_text(chosen["depth"])
        if chosen.get("duplicates") == "error":
            del chosen["duplicates"]
        Policy.of(chosen)
        convention = params.one("convention")
        if convention is not None:
            convention = find(convention).name
        measures, refused = [], []
        if len(params.all("measure")) > MAX_MEASURES:
            raise RefusedError(
                f"a page shows up to {MAX_MEASURES} measures; the address has "
                f"{len(params.all('measure')):,}. Leave some out.",
                "measure",
            )
        for text in params.all("measure"):
            try:
                if topic := find_topic(text):
                    raise MeasureError(f"{quoted(text)} is not a measure. {topic[0]}")
                EvaluationSettings.of([text], None, convention)
                measures.append(text)
            except JudgedError as error:
                refused.append((text, str(error)))
        confidence, was = params.one("level"), params.one("was")
        return cls(
            tuple(dict.fromkeys(measures)),
            chosen,
            convention,
            LEVEL if confidence is None else level("level", _number_or_text(confidence)),
            params.one("baseline"),
            tuple(dict.fromkeys(refused)),
            None if was is None else Params.read(was.removeprefix(DEFAULTS)),
        )

    @property
    def depth(self) -> int | None:
        return self.chosen.get("depth")

    @property
    def duplicates(self) -> str:
        return str(self.chosen.get("duplicates", "error"))

    @property
    def choices(self) -> dict[str, str]:
        """The other part of the policy, which also applies to searches among vectors."""
        return {name: self.chosen[name] for name in CHOICES if name in self.chosen}

    @cached_property
    def request(self) -> EvaluationSettings:
        """The settings that `judged.evaluate` makes of the same options."""
        policy = dict(self.chosen)
        return EvaluationSettings.of(
            self.requested_measures, policy, self.convention, prepares=True
        )

    @property
    def requested_measures(self) -> list[str] | None:
        return list(self.measures) or None

    @property
    def headline(self) -> str:
        """The measure that systems are ranked by, unless an address names another."""
        typed = self.measures or self.convention is not None
        return self.labels[0] if typed else HEADLINE

    @property
    def policy(self) -> Policy:
        return self.request.policy

    @property
    def labels(self) -> tuple[str, ...]:
        request = self.request
        return tuple(request.labels.get(measure, str(measure)) for measure in request.measures)

    def was(self) -> ScoringSettings | None:
        """Return the settings before the last change; None if nothing changed."""
        if self.before is None:
            return None
        try:
            settings = ScoringSettings.of(self.before.without("was"))
        except JudgedError:
            return None
        return None if settings.key == self.key else settings

    @property
    def key(self) -> tuple[Any, ...]:
        """A key that distinguishes these settings from others."""
        return self.measures, *self.assumed, self.level, self.baseline

    @property
    def assumed(self) -> tuple[Any, ...]:
        """The part of the key that values depend on, besides the measures."""
        return tuple(sorted(self.chosen.items())), self.convention

    def to_params(self) -> list[tuple[str, str]]:
        others = {
            **self.chosen,
            "convention": self.convention,
            "level": None if self.level == LEVEL else repr(self.level),
            "baseline": self.baseline,
        }
        pairs = [("measure", text) for text in self.measures]
        return pairs + [(name, str(value)) for name, value in others.items() if value is not None]

    def scoring(self) -> dict[str, Any]:
        options: dict[str, Any] = {"policy": dict(self.chosen) or None}
        return options if self.convention is None else {**options, "convention": self.convention}

    def with_measures(self, measures: Sequence[str] | None) -> ScoringSettings:
        return self if measures is None else replace(self, measures=tuple(measures))

    def changes(self, was: ScoringSettings) -> dict[str, tuple[str, str, str]]:
        """Return what differs from earlier settings: in words, the name, old and new value."""
        now, then = self.in_words(), was.in_words()
        return {
            name: (words, then[name][1], value)
            for name, (words, value) in now.items()
            if then[name][1] != value
        }

    def in_words(self) -> dict[str, tuple[str, str]]:
        """Return all settings but the measures: in words, the name and the value."""
        policy = self.policy.to_dict()
        begins, duplicates = SHORT_DUPLICATES
        return {
            **{name: (SHORT[name][0], SHORT[name][1][policy[name]]) for name in CHOICES},
            "convention": ("the convention", self.convention or "judged's own"),
            "depth": ("depth", f"the first {self.depth:,}" if self.depth else "whole lists"),
            "duplicates": (begins, duplicates[self.duplicates]),
            "level": ("the confidence level", f"{100 * self.level:g} %"),
        }


def _number_or_text(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


@dataclass(frozen=True, eq=False)
class Visit:
    """One visit of a page: the address and everything that is needed to answer it."""

    path: str
    params: Params
    session: Session
    library: ServedFiles
    cache: Cache
    settings: ServerSettings
    left_out: LeftOut | None = None  # runs that cannot be evaluated; None refuses them

    @cached_property
    def scoring(self) -> ScoringSettings:
        return ScoringSettings.of(self.params)

    @cached_property
    def workspace(self) -> Workspace:
        return self.session.workspace(self.library, self.params, self.left_out)

    @cached_property
    def calculations(self) -> Calculations:
        """All numbers; an error if it is unclear which files to evaluate."""
        self.workspace.refuse_undecided()
        return Calculations(self.workspace, self.cache)

    @property
    def places(self) -> dict[str, int]:
        """The place of each system among the files, which gives its colour."""
        return {system.name: system.place for system in self.workspace.systems}

    def url(self, path: str | None = None, **changes: object) -> str:
        """Return an address of this page, or of another one with the same files and settings."""
        params = self.params
        if path is not None and path != self.path:
            params = Params(tuple(pair for pair in params.pairs if pair[0] in SHARED_PARAMS))
        # `from` is a keyword of Python, so it is written `from_`.
        changed = {name.removesuffix("_"): value for name, value in changes.items()}
        text = str(params.with_(changed))
        return (path or self.path) + (f"?{text}" if text else "")


@dataclass(frozen=True, eq=False)
class Page:
    """An answer that is a page: a template and its variables."""

    template: str
    title: str
    context: Mapping[str, Any] = field(default_factory=dict)
    command: str | None = None  # the command that reproduces its numbers
    status: int = 200


@dataclass(frozen=True)
class RawContent:
    """An answer that is not a page: a file to save, or a picture."""

    content: bytes
    media_type: str
    name: str | None = None  # the file name for saving; None to show it
    status: int = 200
