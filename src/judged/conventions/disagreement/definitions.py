"""The family of a measure: every distinct definition that some library has under its name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from judged.conventions import THRESHOLDS, Convention, conventions
from judged.measures import Measure
from judged.measures.conventions import Named, relatives
from judged.measures.params import show
from judged.policy import Policy


@dataclass(frozen=True)
class User:
    """A library that uses a definition, and what it calls it."""

    convention: Convention
    named: Named

    def __str__(self) -> str:
        return f"{self.convention.name} {self.named.theirs}"


@dataclass(frozen=True)
class Meaning:
    """All that decides a number: the measure, the policy, and two things that few libraries have
    beside them."""

    measure: Measure
    policy: Policy
    rule: str = ""
    """A key of `conventions.THRESHOLDS`, where a library finds out by itself what is relevant."""
    undefined: float | None = None
    """What a query counts for which the measure is undefined, where no policy says so."""


@dataclass(frozen=True)
class Choice:
    """One thing in which a definition is unlike the one that was asked for, alone: all the rest is
    as asked for."""

    name: str
    """norm=capped, ties=input, or the name of another measure."""
    says: str
    """What it means, in words."""
    meaning: Meaning
    """What was asked for, with this choice alone."""


@dataclass(frozen=True)
class Definition:
    """A measure and a policy, the libraries that have them, and the choices that set them apart."""

    meaning: Meaning
    users: tuple[User, ...]
    choices: tuple[Choice, ...]

    @property
    def measure(self) -> Measure:
        """The measure with the parameters that this definition has."""
        return self.meaning.measure

    @property
    def policy(self) -> Policy:
        """What it assumes."""
        return self.meaning.policy

    @property
    def name(self) -> str:
        """The measure, and the choices of the policy that are not the default.

        >>> from judged import AP
        >>> Definition(Meaning(AP @ 10, Policy(ties="input")), (), ()).name
        'AP@10, ties=input'
        """
        return ", ".join([str(self.measure), *_beside(self.meaning), *_unlike(self.policy)])


def _beside(meaning: Meaning) -> dict[str, str]:
    """What is neither a parameter nor policy, as it is written, and in words."""
    said = {}
    if meaning.rule:
        said[f"rel={meaning.rule}"] = THRESHOLDS[meaning.rule]
    if meaning.undefined is not None:
        number = show(meaning.undefined)
        said[f"undefined={number}"] = f"a query for which it is undefined counts {number}"
    return said


def _unlike(policy: Policy) -> dict[str, str]:
    """The choices of a policy that are not the default, by how they are written."""
    usual = Policy().to_dict()
    return {
        f"{name}={value}": name for name, value in policy.to_dict().items() if value != usual[name]
    }


@lru_cache(maxsize=256)
def family(measure: Measure) -> tuple[Definition, ...]:
    """The definition that was asked for, then the others, the nearest first."""
    users: dict[Meaning, list[User]] = {Meaning(measure, Policy()): []}
    for convention in conventions().values():
        for named in relatives(convention, measure):
            policy = Policy.of({**convention.policy, **named.name.policy})
            rule = named.name.threshold if _usual(named.measure) else ""
            meaning = Meaning(named.measure, policy, rule, named.name.undefined)
            users.setdefault(meaning, []).append(User(convention, named))
    found = [
        Definition(meaning, tuple(who), _choices(measure, meaning))
        for meaning, who in users.items()
    ]
    return tuple(sorted(found, key=lambda each: (*_distance(each, measure), each.name)))


def _usual(measure: Measure) -> bool:
    """Whether nobody says which grades are relevant: a library's rule for that holds then."""
    return "rel" in measure.params and measure.params["rel"] == measure.spec.param("rel").default


def _distance(own: Definition, asked: Measure) -> tuple[bool, bool, bool, str, int]:
    """How far a definition is from the one that was asked for: another cutoff is farther than
    another parameter."""
    measure = own.measure
    other = measure.spec.name != asked.spec.name
    beside = len(_beside(own.meaning)) + len(_unlike(own.policy))
    cutoff = not other and measure.params.get("k") != asked.params.get("k")
    return other, cutoff, measure != asked, str(measure), beside


def _choices(asked: Measure, meaning: Meaning) -> tuple[Choice, ...]:
    own, usual = meaning.measure, Policy()
    if own.spec.name != asked.spec.name:
        found = [
            Choice(
                str(own),
                f"it is another measure, {own.spec.title}. {own.spec.says}".rstrip("."),
                Meaning(own, usual),
            )
        ]
    else:
        found = [
            Choice(
                _written(name, value),
                own.spec.param(name).describe(value),
                Meaning(asked(**{name: value}), usual),
            )
            for name, value in own.items
            if value != asked.params[name]
        ]
    found += [
        Choice(said, words, Meaning(asked, usual, meaning.rule, meaning.undefined))
        for said, words in _beside(meaning).items()
    ]
    words, values = meaning.policy.sentences(), meaning.policy.to_dict()
    found += [
        Choice(said, words[name], Meaning(asked, Policy.of({name: values[name]})))
        for said, name in _unlike(meaning.policy).items()
    ]
    return tuple(found)


def _written(name: str, value: Any) -> str:
    return f"{name}={'none' if value is None else show(value)}"
