"""Under which terms numbers are computed: what the bar above every table of numbers says, and the
address with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from judged.conventions import find
from judged.errors import JudgedError, PolicyError
from judged.evaluation.settings import Settings
from judged.measures import DEFAULT
from judged.options import LEVEL, choice, level, whole
from judged.policy import CHOICES, DUPLICATES, SHORT, SHORT_DUPLICATES, Policy, add_choices
from judged.web.params import Params

NAMES = ("measure", *CHOICES, "convention", "depth", "duplicates", "level", "baseline", "was")
"""The parameters of an address that are terms."""
USUAL = "usual"
"""What stands for terms before a change, where nobody had chosen anything."""


@dataclass(frozen=True)
class Terms:
    """What is computed and what is assumed; only what somebody chose is there.

    >>> terms = Terms.of(Params.read("measure=AP&ties=best&depth=10"))
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
    def of(cls, params: Params) -> Terms:
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
                Settings.of([text], None, convention)
                measures.append(text)
            except JudgedError as error:
                refused.append((text, str(error)))
        given_level, was = params.one("level"), params.one("was")
        return cls(
            tuple(dict.fromkeys(measures)),
            chosen,
            convention,
            _depth(params.one("depth")),
            choice("duplicates", params.text("duplicates", "error"), DUPLICATES, error=PolicyError),
            LEVEL if given_level is None else level("level", _number(given_level)),
            params.one("baseline"),
            tuple(dict.fromkeys(refused)),
            None if was is None else Params.read(was.removeprefix(USUAL)),
        )

    @cached_property
    def request(self) -> Settings:
        """What `judged.evaluate` makes of the same options."""
        return Settings.of(self.asked, self.chosen, self.convention, prepares=True)

    @property
    def asked(self) -> list[str] | None:
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

    def was(self) -> Terms | None:
        """The terms before the last change; None where nothing changed, or where they are not
        terms."""
        if self.before is None:
            return None
        try:
            terms = Terms.of(self.before.without("was"))
        except JudgedError:
            return None
        return None if terms.key == replace(self, before=None).key else terms

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

    def changes(self, was: Terms) -> list[tuple[str, str, str]]:
        """What differs from the terms before: its name, what it was and what it is, in words."""
        return [
            (name, old, new)
            for (name, old), (_, new) in zip(was.said(), self.said(), strict=True)
            if old != new
        ]

    def differing(self, was: Terms) -> frozenset[str]:
        """The names of the terms that differ from those before."""
        now, then = ({**terms.policy.to_dict()} for terms in (self, was))
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


def _depth(given: str | None) -> int | None:
    if given is None:
        return None
    digits = given.isascii() and given.isdigit() and len(given) < 20
    return whole("depth", int(given) if digits else given, error=PolicyError)


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text
