"""What has to be the same for two numbers to be comparable: definitions, policy, judgements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judged.comparison.sentences import some
from judged.policy import CHOICES

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.rankings.rankings import Rankings


@dataclass(frozen=True)
class Conditions:
    """How numbers came about; a baseline file keeps it beside them."""

    measures: Mapping[str, Mapping[str, Any]]
    """Of each measure, by our notation: what it is called, its parameters and its definition."""
    policy: Mapping[str, str]
    convention: str | None
    """The library whose numbers these are, with its version."""
    depth: int | None
    collection: int | Mapping[str, int] | None
    ranked: Sequence[str]
    """What was done to what is ranked, in words."""
    judgements: Mapping[str, str] = field(repr=False)
    """The fingerprint of each query's judgements."""

    @classmethod
    def of(
        cls,
        evaluation: Evaluation,
        judgements: Mapping[str, str],
        *,
        depth: int | None,
    ) -> Conditions:
        """Those of an evaluation."""
        measures = {}
        for measure in evaluation.measures:
            words = measure.definition()
            measures[str(measure)] = {
                "label": evaluation.label(measure),
                "parameters": {name: str(value) for name, value in words["parameters"].items()},
                "definition": words["definition"],
            }
        convention = evaluation.convention
        return cls(
            measures,
            evaluation.policy.to_dict(),
            None if convention is None else str(convention),
            depth,
            _collection(evaluation.runs[0].rankings),
            list(evaluation.runs[0].rankings.basis),
            judgements,
        )

    def unlike(self, then: Conditions) -> list[str]:
        """What is not as it was, each as a phrase; judgements are `Changes`' business."""
        return list(_unlike(self, then))


def _collection(r: Rankings) -> int | dict[str, int] | None:
    """How many items there were to retrieve: one number where it is the same for all queries."""
    if r.collection is None:
        return None
    sizes = dict(zip(r.queries, r.collection.tolist(), strict=True))
    return sizes if len(set(sizes.values())) != 1 else int(r.collection[0])


def _unlike(now: Conditions, then: Conditions) -> Iterator[str]:
    for name, own in now.measures.items():
        if name not in then.measures:
            yield f"it has no {own['label']}, only {', '.join(_labels(then))}"
        elif then.measures[name]["parameters"] != own["parameters"]:
            before, after = then.measures[name]["parameters"], own["parameters"]
            odd = next(key for key in {**before, **after} if before.get(key) != after.get(key))
            yield f"its {own['label']} has {odd}={before.get(odd)}, not {after.get(odd)}"
    for choice in CHOICES:
        before, after = str(then.policy.get(choice)), str(now.policy.get(choice))
        if before != after:
            yield f"it was made with {choice}={before}, not {choice}={after}"
    if then.convention != now.convention:
        yield f"it follows {then.convention or 'no convention'}, not {now.convention or 'none'}"
    if then.depth != now.depth:
        yield f"its depth is {_or_none(then.depth)}, not {_or_none(now.depth)}"
    if then.collection != now.collection:
        yield "it was made with another collection"
    if list(then.ranked) != list(now.ranked):
        before, after = ("; ".join(each.ranked) or "items as they are" for each in (then, now))
        yield f"what it ranks is otherwise ({before}, not {after})"


def _labels(conditions: Conditions) -> list[str]:
    return [str(each["label"]) for each in conditions.measures.values()]


def _or_none(depth: int | None) -> str:
    return "unlimited" if depth is None else str(depth)


@dataclass(frozen=True)
class Changes:
    """The queries whose judgements are not as they were."""

    changed: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    @classmethod
    def between(cls, then: Mapping[str, str], now: Mapping[str, str]) -> Changes:
        """Those between two sets of fingerprints.

        >>> Changes.between({"a": "1", "b": "2"}, {"b": "3", "c": "4"})
        Changes(changed=('b',), new=('c',), removed=('a',))
        """
        return cls(
            tuple(sorted(query for query in now if then.get(query, now[query]) != now[query])),
            tuple(sorted(query for query in now if query not in then)),
            tuple(sorted(query for query in then if query not in now)),
        )

    def __bool__(self) -> bool:
        return bool(self.changed or self.new or self.removed)

    def __str__(self) -> str:
        named = {"changed": self.changed, "new": self.new, "removed": self.removed}
        return ", ".join(f"{word}: {some(queries)}" for word, queries in named.items() if queries)

    def to_dict(self) -> dict[str, list[str]]:
        """As plain values for JSON."""
        return {
            "changed": list(self.changed),
            "new": list(self.new),
            "removed": list(self.removed),
        }
