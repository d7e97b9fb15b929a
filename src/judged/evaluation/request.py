"""What is asked for: measures and a policy, said by the caller or by the convention of another
library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import Floats
from judged.errors import ConventionError, MeasureError
from judged.evaluation.preparation import prepared
from judged.inputs.blocks import RunBlocks
from judged.measures import DEFAULT, Measure, parse_measure
from judged.measures.grammar import each_of, labelled, read_all
from judged.policy import Policy

if TYPE_CHECKING:
    from judged.conventions import Convention
    from judged.measures.conventions import Named
    from judged.options import ConventionLike, MeasuresLike, PolicyLike


@dataclass(frozen=True)
class Request:
    """What is to be computed, and what is to be assumed."""

    measures: tuple[Measure, ...]
    policy: Policy
    convention: Conventional | None = None
    labels: Mapping[Measure, str] = field(default_factory=dict)
    """What each measure is called in tables and files: as it was asked for."""

    @classmethod
    def of(
        cls,
        measures: MeasuresLike | None,
        policy: PolicyLike | None,
        convention: ConventionLike | None = None,
        *,
        prepares: bool = False,
        **otherwise: str,
    ) -> Request:
        """A request from what a caller may pass; `prepares` is whether runs will go through
        `prepare`, `otherwise` holds the choices of a policy that nobody says, not even the
        convention."""
        if convention is None:
            labels = read_all(DEFAULT if measures is None else measures)
            return cls(tuple(labels), Policy.of(policy, **otherwise), labels=labels)
        from judged.conventions import Convention, find
        from judged.measures.conventions import named_all, named_among

        chosen = convention if isinstance(convention, Convention) else find(convention)
        Policy.of(policy)
        if measures is None:
            named = _of_one_policy(named_among(chosen, DEFAULT))
        else:
            named = named_all(chosen, each_of(measures))
        if not named:
            raise MeasureError(
                f"no measure was given; name one that {chosen.title} has, such as "
                f"{chosen.names[0].theirs}."
            )
        if not isinstance(policy, Policy):
            policy = _shared_policy(chosen, named, policy or {}, otherwise)
        _check_one_meaning(chosen, named)
        return cls(
            tuple(dict.fromkeys(each.measure for each in named)),
            policy,
            Conventional(chosen, tuple(named), prepares),
            labelled((each.measure, each.label or str(each.measure)) for each in named),
        )

    def prepare(self, run: Any) -> Any:
        """A run as the convention's library takes it, before it is judged."""
        if isinstance(run, RunBlocks):
            return run if self.convention is None else run.then(self.prepare)
        return prepared(run, self.convention.convention if self.convention else None)


def _of_one_policy(named: list[Named]) -> list[Named]:
    """Of measures that nobody asked for one by one, those that have the policy of most."""
    policies = [each.name.policy for each in named]
    usual = max(policies, key=policies.count, default=None)
    return [each for each in named if each.name.policy == usual]


def _shared_policy(
    convention: Convention, named: list[Named], given: Mapping[str, str], otherwise: dict[str, str]
) -> Policy:
    """The policy that holds for all of these measures, with what the caller chose; an error where
    they differ."""
    policies = [
        (each.theirs, Policy.of({**otherwise, **convention.policy, **each.name.policy, **given}))
        for each in named
    ]
    (first, policy), *others = policies
    for other, own in others:
        for choice, value in policy.to_dict().items():
            if own.to_dict()[choice] != value:
                raise ConventionError(
                    f"{convention.title} has {choice}={value} for {first} and "
                    f"{choice}={own.to_dict()[choice]} for {other}; "
                    f"evaluate them one at a time, or choose {choice} for both."
                )
    return policy


def _check_one_meaning(convention: Convention, named: list[Named]) -> None:
    """No two of the names are one measure of ours to which the library gives other values where it
    is undefined, or that is about other grades."""
    first: dict[Measure, Named] = {}
    for each in named:
        known = first.setdefault(each.measure, each)
        if (known.name.undefined, known.name.threshold) != (
            each.name.undefined,
            each.name.threshold,
        ):
            raise ConventionError(
                f"{known.theirs} and {each.theirs} are both {each.measure} here, though "
                f"{convention.title} gives them different values for some queries; evaluate them "
                "one at a time."
            )


@dataclass(frozen=True)
class Conventional:
    """The library whose numbers an evaluation has, and what it calls them."""

    convention: Convention
    named: tuple[Named, ...]
    prepared: bool = False
    """Whether the data were made ready as the library does it."""

    def __str__(self) -> str:
        return f"{self.convention.title} {self.convention.version}".strip()

    def read(self, measure: str | Measure) -> Measure:
        """One of the library's names, or a measure as it stands in the evaluation."""
        if isinstance(measure, str) and any(self.convention.read(measure)):
            from judged.measures.conventions import named_all

            return named_all(self.convention, [measure])[0].measure
        return parse_measure(measure)

    def theirs(self, measure: Measure) -> Named | None:
        """What the library calls a measure."""
        return next((each for each in self.named if each.measure == measure), None)

    def threshold(self, measure: Measure) -> str:
        """The rule by which the library finds out what is relevant, unless `rel` says it."""
        named = self.theirs(measure)
        usual = (
            "rel" in measure.params and measure.params["rel"] == measure.spec.param("rel").default
        )
        return named.name.threshold if named and usual else ""

    def undefined(self, measure: Measure) -> float | None:
        """What a query counts for which a measure is undefined, where the library says so."""
        named = self.theirs(measure)
        return named.name.undefined if named else None

    def filled(self, measure: Measure, values: Floats) -> Floats:
        """A measure's values, with what the library counts where there is none."""
        fixed = self.undefined(measure)
        return values if fixed is None else np.where(np.isnan(values), fixed, values)

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.convention.name,
            "version": self.convention.version,
            "held": self.convention.held,
            "names": {
                str(each.measure): each.theirs
                for each in self.named
                if each is self.theirs(each.measure)
            },
        }
