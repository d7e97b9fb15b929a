"""The family of a measure: every distinct definition that some library has under its name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from judged.conventions import Convention, conventions
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
class Choice:
    """One thing in which a definition is unlike the one that was asked for, alone: all the rest is
    as asked for."""

    name: str
    """norm=capped, ties=input, or the name of another measure."""
    says: str
    """What it means, in words."""
    measure: Measure
    """The measure that was asked for with this choice alone."""
    policy: Policy


@dataclass(frozen=True)
class Definition:
    """A measure and a policy, the libraries that have them, and the choices that set them apart."""

    measure: Measure
    policy: Policy
    users: tuple[User, ...]
    choices: tuple[Choice, ...]

    @property
    def name(self) -> str:
        """The measure, and the choices of the policy that are not the default.

        >>> from judged import AP
        >>> Definition(AP @ 10, Policy(ties="input"), (), ()).name
        'AP@10, ties=input'
        """
        return ", ".join([str(self.measure), *_unlike(self.policy)])


def _unlike(policy: Policy) -> dict[str, str]:
    """The choices of a policy that are not the default, by how they are written."""
    usual = Policy().to_dict()
    return {
        f"{name}={value}": name for name, value in policy.to_dict().items() if value != usual[name]
    }


def family(measure: Measure) -> list[Definition]:
    """The definition that was asked for, then the others, the nearest first."""
    users: dict[tuple[Measure, Policy], list[User]] = {(measure, Policy()): []}
    for convention in conventions().values():
        for named in relatives(convention, measure):
            policy = Policy.of({**convention.policy, **named.name.policy})
            users.setdefault((named.measure, policy), []).append(User(convention, named))
    found = [
        Definition(own, policy, tuple(who), _choices(measure, own, policy))
        for (own, policy), who in users.items()
    ]
    return sorted(
        found,
        key=lambda each: (*_distance(each.measure, measure), len(_unlike(each.policy)), each.name),
    )


def _distance(own: Measure, asked: Measure) -> tuple[bool, bool, bool, str]:
    """How far a measure is from the one that was asked for: another cutoff is farther than another
    parameter."""
    other = own.spec.name != asked.spec.name
    return other, not other and own.params.get("k") != asked.params.get("k"), own != asked, str(own)


def _choices(asked: Measure, own: Measure, policy: Policy) -> tuple[Choice, ...]:
    usual = Policy()
    if own.spec.name != asked.spec.name:
        found = [
            Choice(
                str(own),
                f"it is another measure, {own.spec.title}. {own.spec.says}".rstrip("."),
                own,
                usual,
            )
        ]
    else:
        found = [
            Choice(
                _written(name, value),
                own.spec.param(name).describe(value),
                asked(**{name: value}),
                usual,
            )
            for name, value in own.items
            if value != asked.params[name]
        ]
    words, values = policy.sentences(), policy.to_dict()
    found += [
        Choice(said, words[name], asked, Policy.of({name: values[name]}))
        for said, name in _unlike(policy).items()
    ]
    return tuple(found)


def _written(name: str, value: Any) -> str:
    return f"{name}={'none' if value is None else show(value)}"
