"""The playground: a list to change, the value of every measure, and the values of libraries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import isfinite, isnan, nan
from shlex import quote
from typing import TYPE_CHECKING, Any

from judged.conventions.disagreement import CLOSE, DefinitionRow, compare_conventions
from judged.errors import InputError, JudgedError
from judged.evaluation.evaluation import evaluate_rankings
from judged.explanation import Explanation, explain
from judged.explanation.improvement import Effect
from judged.matching.ties import cut, list_variants
from judged.measures import REGISTRY, Measure, parse_measure
from judged.policy import CHOICES, SHORT, Policy
from judged.rankings.relevance import (
    RelevanceList,
    rankings_of_lists,
    relevance_list,
    written_grade,
)
from judged.text import shown
from judged.web.errors import RefusedError
from judged.web.pages.calculations import calculation_of
from judged.web.pages.templating import figure
from judged.web.visit import Page, Params, Visit

if TYPE_CHECKING:
    from judged.rankings.rankings import Rankings

MAX_RESULTS = 100
MAX_CHARACTERS = 4_000
MAX_K = 1_000
MAX_RELEVANT = 10_000  # a million takes a minute
MAX_COLLECTION = 10**9
MAX_ADDED = 24
DEFAULT_GRADES = 3  # clicks go through the grades up to this one, unless the list has a higher one
CARDS = (
    *("P@k", "R@k", "F@k", "AP@k", "RR", "DCG@k", "nDCG@k", "nDCG(gain=exp)@k"),
    *("Rprec", "Success@k", "RBP", "ERR@k"),
)
"""The measures that are always shown; k is the cutoff."""
DEFAULT_CARD = "AP@k"
POLICY_PARAMS = {"list_ties": "ties", "list_unjudged": "unjudged", "list_empty": "empty"}
"""Choices of the policy by parameter. Other pages have other names, so that links can keep both."""
NUMBER_PARAMS = ("list", "relevant", "pool", "collection", "k", *POLICY_PARAMS)
"""Parameters that numbers depend on."""
PLAYGROUND_PARAMS = (*NUMBER_PARAMS, "grades", "add", "card", "before")
NARROWEST, WIDEST, CURVE_HEIGHT = 240, 1_600, 280
AS_REQUESTED = "as requested"
_ORDERS = {name: words for name, words in SHORT["ties"][1].items() if name not in ("id", "input")}
CHOICE_WORDS = {
    "list_ties": (SHORT["ties"][0], {"id": "as in the list", **_ORDERS}),
    "list_unjudged": SHORT["unjudged"],
    "list_empty": SHORT["empty"],
}
"""The choices of the policy that apply to a list without item ids, as clauses of a sentence."""
WORKED_EXAMPLES = {
    "four-relevant": (
        "Average precision, worked out: four relevant",
        "Relevant results at ranks 2, 5, 7 and 9, and no others: AP is 0.4433.",
        "list=0+1+0+0+1+0+1+0+1+0&relevant=4",
    ),
    "image-search": (
        "Image search: relevant at ranks 3, 5 and 8",
        "AP@10 is 0.3694; the area under the interpolated curve is larger, 0.3917.",
        "list=0+0+1+0+1+0+0+1+0+0&relevant=3",
    ),
    "eight-predictions": (
        "Eight predictions: P, R, F1 at 4",
        "Three of the first four are relevant, of four in all: P@4, R@4 and F@4 are 0.75. AP is "
        "37/48 = 0.7708.",
        "list=1+0+1+1+0+1+0+0&relevant=4&k=4&add=AP&card=F@k",
    ),
    "eight-predictions-dcg": (
        "Eight predictions: DCG and nDCG at 8",
        "The same list down to rank 8.",
        "list=1+0+1+1+0+1+0+0&relevant=4&k=8&card=nDCG(gain=exp)@k&add=DCG(gain=exp)@8",
    ),
    "search-phone": (
        "MAP of two searches: phone",
        "AP is 13/15 = 0.8667; the mean of both searches is 599/840 = 0.7131.",
        "list=1+1+0+0+1+0+0&relevant=3",
    ),
    "search-watch": (
        "MAP of two searches: watch",
        "AP is 47/84 = 0.5595; the mean of both searches is 599/840 = 0.7131.",
        "list=0+1+1+0+0+1+1&relevant=4",
    ),
}
"""Worked examples of well-known texts, with corrected values: title, result and address."""
DISPUTED_EXAMPLES = {
    "not-all-retrieved": (
        "Two relevant items were not retrieved",
        "Libraries divide by different numbers of relevant items, so AP has many values.",
        "list=0+1+0+0+1+0+1+0+1+0&relevant=6",
    ),
    "graded": (
        "Grades up to 3, and two unjudged results",
        "Gains g and 2^g − 1 differ. Unjudged results count as not relevant, or not at all.",
        "list=3+-+2+1+-+0+0+1+3+0+0+0&relevant=7&card=nDCG@k",
    ),
    "tied": (
        "Results that share a score",
        "Their order is arbitrary: see the possible values, and which libraries take the mean.",
        "list=0+(0+1+1)+0+(1+0)&relevant=3",
    ),
    "nothing-relevant": (
        "No relevant item",
        "Most measures are undefined here; libraries give 0, 1, or leave the query out.",
        "list=0+0+0+0+0&relevant=0&card=nDCG@k",
    ),
}
"""Lists on which definitions differ."""
EXAMPLES = {**WORKED_EXAMPLES, **DISPUTED_EXAMPLES}
START = "not-all-retrieved"


@dataclass(frozen=True)
class PlaygroundState:
    """A list, and how to look at it.

    >>> state = PlaygroundState.of(Params.read("list=0+1+(-+2)&relevant=4&k=3&card=nDCG@k"))
    >>> str(state.listed), state.relevant, str(state.chosen)
    ('0 1 (- 2)', 4, 'nDCG@3')
    """

    listed: RelevanceList
    relevant: int | None = None
    """The number of relevant items; None if the list or the pool has all of them."""
    pool: str = ""  # the grades of all judged items, as typed
    collection: int | None = None
    k: int | None = 10
    grades: int = DEFAULT_GRADES
    policy: Policy = field(default_factory=Policy)
    added: tuple[str, ...] = ()  # further measures
    refused: tuple[tuple[str, str], ...] = ()  # unknown measures, each with its error message
    card: str = DEFAULT_CARD
    """The measure that is shown in detail: one of `CARDS`, or one that was added."""
    was: PlaygroundState | None = None  # the state before the last change
    raised: int | None = None  # the stated number of relevant items, if the list holds more

    @classmethod
    def of(cls, params: Params, *, before: bool = True) -> PlaygroundState:
        """Read an address; an example provides what it does not have."""
        example = params.one("example")
        if example is not None and example not in EXAMPLES:
            raise RefusedError(
                f"Unknown example {example!r}; the examples are {', '.join(EXAMPLES)}.", "example"
            )
        if example is not None or params.one("list") is None:
            start = Params.read(EXAMPLES[example or START][2])
            typed = {name: list(params.all(name)) for name in PLAYGROUND_PARAMS if params.all(name)}
            params = start.with_(typed if example is None else {})
        listed = _read_list(params.text("list"))
        pool = params.text("pool")
        in_list = sum(_is_relevant(grade) for grade in listed.grades)
        relevant = _whole(params, "relevant")
        added, refused = _read_measures(params.all("add"))
        chosen = {
            name: value for param, name in POLICY_PARAMS.items() if (value := params.one(param))
        }
        state = cls(
            listed,
            relevant if pool or relevant is None else max(relevant, in_list),
            pool,
            _whole(params, "collection"),
            None if params.text("k") == "all" else params.whole("k", 10, at_least=1, at_most=MAX_K),
            params.whole("grades", DEFAULT_GRADES, at_least=1, at_most=9),
            Policy.of(chosen),
            added,
            refused,
            params.text("card"),
            raised=relevant if relevant is not None and not pool and relevant < in_list else None,
        )
        if state.card not in state.measures:
            state = replace(state, card=state.first_card)
        was = params.one("before") if before else None
        if was is not None:
            with suppress(JudgedError):
                return replace(state, was=cls.of(Params.read(was), before=False))
        return state

    @property
    def measures(self) -> dict[str, Measure]:
        cutoff = "" if self.k is None else f"@{self.k}"
        cards = {
            card: _measure(card.removesuffix("@k") + cutoff if card.endswith("@k") else card)
            for card in CARDS
        }
        known = set(cards.values())
        for text in self.added:
            measure = _measure(text)
            if measure not in known:
                known.add(measure)
                cards[str(measure)] = measure
        return cards

    @property
    def first_card(self) -> str:
        """The default card: the last one added, or AP@k."""
        last = _measure(self.added[-1]) if self.added else None
        return next((key for key, known in self.measures.items() if known == last), DEFAULT_CARD)

    @property
    def chosen(self) -> Measure:
        return self.measures[self.card]

    @property
    def top(self) -> int:
        """The grade after which a click gives "not judged"."""
        grades = [g for g in self.listed.grades if isinstance(g, int) and 0 < g <= 9]
        return max(self.grades, *grades) if grades else self.grades

    @property
    def options(self) -> dict[str, Any]:
        """The counts as `judged.explain` and `judged.compare_conventions` take them."""
        counts = {
            "relevant": self.relevant,
            "pool": self.pool or None,
            "collection": self.collection,
        }
        return {name: value for name, value in counts.items() if value is not None}

    @property
    def changed_policy(self) -> dict[str, str]:
        usual = Policy().to_dict()
        chosen = self.policy.to_dict()
        return {name: value for name, value in chosen.items() if value != usual[name]}

    @property
    def has_no_order(self) -> bool:
        """True if values are means over orders of ties, which cannot be explained."""
        return self.policy.ties == "expected" and bool(self.listed.tied)

    def parameters(self, **changes: Any) -> Params:
        """Return the address with changes; if numbers change, this state becomes `before`."""
        before = self if any(name in NUMBER_PARAMS for name in changes) else self.was
        changed = dict(changes)
        if before is not None:
            changed["before"] = str(before.numbers)
        return Params(tuple(self._pairs())).with_(changed)

    @property
    def numbers(self) -> Params:
        return Params(tuple(pair for pair in self._pairs() if pair[0] in NUMBER_PARAMS))

    def _pairs(self) -> Iterator[tuple[str, str]]:
        yield "list", str(self.listed)
        for name, value in (
            ("relevant", self.relevant),
            ("pool", self.pool or None),
            ("collection", self.collection),
        ):
            if value is not None:
                yield name, str(value)
        if self.k != 10:
            yield "k", "all" if self.k is None else str(self.k)
        if self.grades != DEFAULT_GRADES:
            yield "grades", str(self.grades)
        changed = self.changed_policy
        yield from (
            (param, changed[name]) for param, name in POLICY_PARAMS.items() if name in changed
        )
        yield from (("add", text) for text in self.added)
        if self.card != self.first_card:
            yield "card", self.card


def _is_relevant(grade: Any) -> bool:
    best = max(grade.values(), default=0) if isinstance(grade, Mapping) else grade or 0
    return isinstance(best, (int, float)) and best > 0


def _read_list(text: str) -> RelevanceList:
    if len(text) > MAX_CHARACTERS:
        raise InputError(
            f"the list has {len(text):,} characters; the playground takes {MAX_CHARACTERS:,}."
        )
    listed = relevance_list(text)
    if len(listed.grades) > MAX_RESULTS:
        raise InputError(
            f"the list has {len(listed.grades):,} results; the playground takes {MAX_RESULTS}. "
            "judged explain takes longer ones."
        )
    return listed


def _whole(params: Params, name: str) -> int | None:
    if params.one(name) is None:
        return None
    most = MAX_COLLECTION if name == "collection" else MAX_RELEVANT
    return params.whole(name, 0, at_least=0, at_most=most)


def _read_measures(texts: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    if len(texts) > MAX_ADDED:
        raise RefusedError(
            f"{len(texts)} measures were added; the maximum is {MAX_ADDED}.", "measure"
        )
    added: dict[str, None] = {}
    refused: dict[str, str] = {}
    for text in texts:
        try:
            added[str(_measure(text))] = None
        except JudgedError as error:
            refused[text] = str(error)
    return tuple(added), tuple(refused.items())


@lru_cache(maxsize=512)
def _measure(text: str) -> Measure:
    return parse_measure(text)


# -- the numbers


def tiles_of(state: PlaygroundState, precision: Explanation | str) -> list[dict[str, Any]]:
    """Return the tiles of a list, each with the list after a click on it."""
    grades, tied, k = state.listed.grades, state.listed.tied, state.k
    ordered = not tied or state.policy.ties in ("id", "input")
    under = _precisions(precision) if ordered and not isinstance(precision, str) else {}
    ties: dict[int, str] = {}
    for first, last in tied:
        ties |= {**dict.fromkeys(range(first, last + 1), "inside"), first: "first", last: "last"}
    top = max([1.0, *map(_best, grades)])
    tiles, place = [], 0
    for rank, grade in enumerate(grades, 1):
        removed = state.policy.unjudged == "removed" and _is_unjudged(grade)
        place += not removed
        clicked = _clicked(grade, state.top)
        after = RelevanceList((*grades[: rank - 1], clicked, *grades[rank:]), tied)
        sign, look = _sign_and_look(grade, top)
        tiles.append(
            {
                "rank": rank,
                "grade": written_grade(grade),
                "sign": sign,
                "look": look,
                "words": _words(grade),
                "under": "" if removed else under.get(place, ""),
                "beyond": k is not None and (place if ordered else rank) > k,
                "removed": removed,
                "tie": ties.get(rank, ""),
                "next_list": str(after),
                "next_words": _words(clicked),
            }
        )
    return tiles


def _precisions(told: Explanation) -> dict[int, str]:
    """Return precision at each relevant rank, from the explanation of P."""
    if told.steps is None:
        return {}
    precisions = dict(told.steps.columns)["precision"]
    return {
        row.rank: str(cell.stages()[0]) if hasattr(cell, "stages") else str(cell)
        for row, cell in zip(told.rows, precisions, strict=True)
        if row.relevant and cell is not None
    }


def _clicked(grade: Any, top: int) -> Any:
    """Return the grade after a click: the next one, then not judged, then 0 again."""
    if grade is None or isinstance(grade, Mapping):
        return 0
    if not float(grade).is_integer() or grade < 0:
        return 0
    return int(grade) + 1 if grade < top else None


def _best(grade: Any) -> float:
    if grade is None:
        return 0.0
    return float(max(grade.values(), default=0)) if isinstance(grade, Mapping) else float(grade)


def _is_unjudged(grade: Any) -> bool:
    return grade is None or _best(grade) < 0  # a grade below 0 is not a judgement


def _sign_and_look(grade: Any, top: float) -> tuple[str, str]:
    """Return the sign and the CSS class; grades above 3 are spread over the three colours."""
    best = _best(grade)
    if _is_unjudged(grade):
        return "?", "unjudged"
    if best == 0:
        return "·", "none"
    spread = round(best) if top <= 3 else 1 + int(3 * ((best - 1) / top))
    return "✓" if best == 1 else f"{best:g}", f"g{min(3, max(1, spread))}"


def _words(grade: Any) -> str:
    if grade is None:
        return "not judged"
    best = _best(grade)
    if best < 0:
        return f"grade {best:g}, which is no judgement"
    return f"grade {best:g}" if best > 0 else "not relevant"


# -- other libraries


def libraries_of(state: PlaygroundState, value: float) -> dict[str, Any]:
    """Return the chosen measure by every library's definition, each with its own policy."""
    disagreement = compare_conventions(str(state.listed), measures=[state.chosen], **state.options)
    groups = [_group(rows, value) for rows in disagreement.compared().by_value]
    differs = not any(group["own"] for group in groups)
    if differs:
        sentences = state.policy.sentences()
        line = {
            "notations": (str(state.chosen),),
            "reasons": tuple(map(sentences.get, state.changed_policy)) or (AS_REQUESTED,),
            "matters": True,
            "users": [_user("judged", "judged, as chosen above", str(state.chosen))],
        }
        groups.append({"value": value, "stops": "", "lines": [line], "own": True})
        groups.sort(key=lambda group: (not _has_value(group), -(group["value"] or 0.0)))
    users = {user["name"] for group in groups for line in group["lines"] for user in line["users"]}
    values = [group["value"] for group in groups if group["value"] is not None]
    return {
        "measure": str(state.chosen),
        "groups": groups,
        "disagreement": disagreement,
        "count": len(users - {"judged"}),
        "numbers": len(values),
        "most": max([1.0, *filter(isfinite, values)]),
        "differs": differs,
    }


def _has_value(group: Mapping[str, Any]) -> bool:
    return group["value"] is not None and not isnan(group["value"])


def _group(rows: tuple[DefinitionRow, ...], value: float) -> dict[str, Any]:
    """Return the definitions of one value; those that do not differ on this list together."""
    lines: dict[tuple[tuple[str, ...], bool], dict[str, Any]] = {}
    for row in rows:
        notation, reasons, matters = _reasons_of(row)
        line = lines.setdefault(
            (reasons, matters),
            {"notations": {}, "reasons": reasons, "matters": matters, "users": {}},
        )
        line["notations"][notation] = None
        _add_users(line["users"], row)
    theirs = rows[0].value
    same = theirs is not None and (abs(theirs - value) <= CLOSE or (isnan(theirs) and isnan(value)))
    used = [
        {**line, "notations": tuple(line["notations"]), "users": list(line["users"].values())}
        for line in lines.values()
        if line["users"]
    ]
    return {"value": theirs, "stops": rows[0].stops or "", "lines": used, "own": same}


def _user(name: str, title: str, *theirs: str) -> dict[str, Any]:
    return {"name": name, "title": title, "theirs": list(theirs), "notes": []}


def _add_users(users: dict[str, dict[str, Any]], row: DefinitionRow) -> None:
    """Add the libraries with a definition, each once, with its names for it."""
    if not row.differences:
        users["judged"] = _user("judged", "judged, by default", str(row.measure))
    for convention, named in row.users:
        note = named.name.note
        title = f"{convention.title} {convention.version}".strip()
        known = users.setdefault(convention.name, _user(convention.name, title))
        known["theirs"].append(named.theirs)
        known["notes"] += [note] if note else []


def _reasons_of(row: DefinitionRow) -> tuple[str, tuple[str, ...], bool]:
    """Return the notation, the reasons for another value, and whether they affect the list."""
    matter = [difference for difference in row.differences if difference["touched"]]
    in_notation = {*row.measure.params, str(row.measure)}
    named = [d for d in row.differences if d["choice"].partition("=")[0] in in_notation]
    beside = [d["choice"] for d in matter if d not in named and d["choice"] != str(row.measure)]
    reasons = tuple(dict.fromkeys(d["says"] for d in matter or named)) or (AS_REQUESTED,)
    return ", ".join([str(row.measure), *beside]), reasons, bool(matter)


# -- cards


class PlaygroundAnswer:
    """Everything that the page shows of a state, computed on demand.

    >>> params = Params.read("list=0+1+0+0+1+0+1+0+1+0&relevant=4")
    >>> answer = PlaygroundAnswer(PlaygroundState.of(params))
    >>> [(str(card["measure"]), round(card["value"], 4)) for card in answer.cards][3]
    ('AP@10', 0.4433)
    """

    def __init__(self, state: PlaygroundState) -> None:
        self.state = state
        self.listed = rankings_of_lists(
            state.listed,
            relevant=state.relevant,
            pool=state.pool or None,
            collection=state.collection,
        )
        policy = state.policy
        self.rankings = list_variants(self.listed).under(policy.ties, policy.unjudged)
        self._explanations: dict[Measure, Explanation | str] = {}

    @property
    def relevant(self) -> int:
        return int((self.listed.pool_grade > 0).sum())

    @property
    def retrieved(self) -> int:
        return int((self.listed.hit_grade > 0).sum())

    @cached_property
    def values(self) -> dict[str, float | str]:
        """The value of each card, or the error message."""
        measures = self.state.measures
        try:
            return dict(zip(measures, self._evaluated(list(measures.values())), strict=True))
        except JudgedError:
            return {key: self._alone(measure) for key, measure in measures.items()}

    def _evaluated(self, measures: list[Measure]) -> list[float]:
        evaluation = evaluate_rankings([self.rankings], measures, policy=self.state.policy)
        return [evaluation.value(measure) for measure in measures]

    def _alone(self, measure: Measure) -> float | str:
        try:
            return self._evaluated([measure])[0]
        except JudgedError as error:
            return str(error)

    @cached_property
    def cards(self) -> list[dict[str, Any]]:
        return [self._card(key, measure) for key, measure in self.state.measures.items()]

    @cached_property
    def _values_before(self) -> Mapping[str, float | str]:
        was, now = self.state.was, self.state
        if was is None:
            return {}
        try:
            return PlaygroundAnswer(replace(was, added=now.added, card=now.card)).values
        except JudgedError:
            return {}

    def _card(self, key: str, measure: Measure) -> dict[str, Any]:
        value, before = self.values[key], self._values_before.get(key)
        refused = isinstance(value, str)
        effect = None
        if isinstance(value, float) and isinstance(before, float):
            effect = Effect(measure, before, value)
        return {
            "key": key,
            "measure": measure,
            "value": nan if refused else value,
            "arithmetic": "" if refused else self._arithmetic(measure),
            "effect": effect,
            "refused": value if refused else "",
            "added": key in self.state.added,
            "chosen": key == self.state.card,
        }

    def _arithmetic(self, measure: Measure) -> str:
        """Return the calculation on one line: its first stage that has only numbers."""
        told = self.explained(measure)
        if isinstance(told, str):
            return "mean over all orders of the ties"
        if told.steps is None:
            return f"undefined: {measure.spec.undefined.text}"
        stages = told.steps.value.stages()
        numbers = (stage for stage in stages[:-1] if not re.search(r"[A-Za-z]", stage))
        return next(numbers, stages[0])

    def explained(self, measure: Measure) -> Explanation | str:
        if measure not in self._explanations:
            try:
                self._explanations[measure] = explain(
                    self.rankings, measure=measure, policy=self.state.policy, rows=None
                )
            except JudgedError as error:
                self._explanations[measure] = str(error)
        return self._explanations[measure]

    @cached_property
    def chosen(self) -> dict[str, Any]:
        return next(card for card in self.cards if card["chosen"])

    @cached_property
    def tiles(self) -> list[dict[str, Any]]:
        return tiles_of(self.state, self.explained(self.state.measures["P@k"](k=None)))

    @cached_property
    def libraries(self) -> dict[str, Any] | str:
        value = self.values[self.state.card]
        try:
            return libraries_of(self.state, nan if isinstance(value, str) else value)
        except JudgedError as error:
            return str(error)

    @property
    def curve(self) -> Rankings:
        """The list down to k, for its curve; without an order of ties, ties stay as typed."""
        rankings = self.listed if self.rankings.ties == "expected" else self.rankings
        return rankings if self.state.k is None else cut(rankings, self.state.k)


# -- commands, and links from other pages


def shell_commands(state: PlaygroundState) -> str:
    """Return commands that print the chosen number, and the values of all libraries."""
    listed, measure = quote(str(state.listed)), quote(str(state.chosen))
    options = "".join(f" --{name} {quote(str(value))}" for name, value in state.options.items())
    chosen = "".join(f" --{name} {value}" for name, value in state.changed_policy.items())
    lines = [] if state.has_no_order else [f"judged explain {listed} -m {measure}{options}{chosen}"]
    if not {"pool", "collection"} & {*state.options}:  # no options of that command
        lines.append(f"judged conventions {listed} -m {measure}{options}")
    return "\n".join(lines)


def link_of(rankings: Rankings, measure: Measure | None = None) -> dict[str, str] | None:
    """Return the parameters that open the list of one query; None if it has no grades."""
    length = min(int(rankings.retrieved[0]), MAX_RESULTS)
    if not length or rankings.subtopics is not None:
        return None
    grades = dict(zip(rankings.hit_rank.tolist(), rankings.hit_grade.tolist(), strict=True))
    first, last = (ends.tolist() for ends in rankings.spans)
    ties = {(begin, min(end, length)) for begin, end in zip(first, last, strict=True)}
    listed = RelevanceList(
        tuple(grades.get(rank) for rank in range(1, length + 1)),
        tuple(sorted(tie for tie in ties if tie[0] < tie[1])),
    )
    link = {"list": str(listed)}
    left = rankings.pool_grade.tolist()
    for grade in listed.grades:
        if grade is not None:
            left.remove(grade)
    if all(grade <= 0 or grade == 1 for grade in left):
        link["relevant"] = str(int((rankings.pool_grade > 0).sum()))
    else:
        link["pool"] = " ".join(f"{grade:g}" for grade in rankings.pool_grade.tolist())
    if rankings.ties in ("best", "worst", "expected") and listed.tied:
        link["list_ties"] = rankings.ties
    if measure is not None:
        k = measure.params.get("k")
        link |= {"add": str(measure), "k": str(k) if isinstance(k, int) and k <= MAX_K else "all"}
    return link


# -- pages


def page(visit: Visit) -> Page:
    state = PlaygroundState.of(visit.params)
    answer = PlaygroundAnswer(state)
    others = visit.params.without(*PLAYGROUND_PARAMS, "example", "width").pairs

    def url(**changes: object) -> str:
        return f"/playground?{Params((*state.parameters(**changes).pairs, *others))}"

    def hidden(*without: str) -> tuple[tuple[str, str], ...]:
        return (*state.parameters(**dict.fromkeys(without)).pairs, *others)

    def stepper(name: str, label: str, value: int | None, least: int, most: int) -> dict[str, Any]:
        return {
            "name": name,
            "label": label,
            "value": "all" if value is None else str(value),
            "less": url(**{name: value - 1}) if value is not None and value > least else None,
            "more": url(**{name: value + 1}) if value is not None and value < most else None,
            "hidden": hidden(name),
        }

    counts = ("relevant", "relevant in all", answer.relevant, answer.retrieved, MAX_RELEVANT)
    longer = len(state.listed.grades) < MAX_RESULTS
    context = {
        "answer": answer,
        "state": state,
        "url": url,
        "hidden": hidden,
        "others": others,
        "example": EXAMPLES.get(visit.params.text("example")),
        "examples": (
            ("From the texts", WORKED_EXAMPLES),
            ("Where definitions differ", DISPUTED_EXAMPLES),
        ),
        "steppers": [
            *([] if state.pool else [stepper(*counts)]),
            stepper("k", "k", state.k, 1, MAX_RESULTS),
        ],
        "choices": [
            (name, begins, words, state.policy.to_dict()[choice], CHOICES[choice])
            for (name, (begins, words)), choice in zip(
                CHOICE_WORDS.items(), POLICY_PARAMS.values(), strict=True
            )
        ],
        "registry": [(name, spec.title) for name, spec in REGISTRY.items()],
        "curve": f"/playground/curve?{state.numbers}",
        "steps": f"/playground/steps?{state.parameters().without('before')}",
        "announced": announced(answer.chosen),
        "most": MAX_RESULTS,
        "longer": f"{state.listed} 0" if longer else None,
    }
    return Page("playground.html", "Playground", context, shell_commands(state))


def announced(card: Mapping[str, Any]) -> str:
    if card["refused"]:
        return str(card["refused"])
    value, effect = f"{card['measure']} is {shown(card['value'])}", card["effect"]
    if effect is not None and not effect.moved:
        return f"{value}, as before."
    if effect is None or isnan(effect.difference):
        return f"{value}."
    more = "more" if effect.difference > 0 else "less"
    return f"{value}, {shown(abs(effect.difference))} {more} than before."


def curve_page(visit: Visit) -> Page:
    from judged.charts import precision_recall

    width = visit.params.whole("width", 400, at_least=0, at_most=10_000)
    title = "Precision against recall"
    chart = precision_recall(
        PlaygroundAnswer(PlaygroundState.of(visit.params)).curve,
        theme="page",
        width=min(max(width, NARROWEST), WIDEST),
        height=CURVE_HEIGHT,
        title=title,
    )
    return Page("playground_curve.html", title, {"figure": figure(chart)})


def steps_page(visit: Visit) -> Page:
    answer = PlaygroundAnswer(PlaygroundState.of(visit.params))
    told = answer.explained(answer.state.chosen)
    if isinstance(told, str):
        raise InputError(told)
    title = f"{told.measure}, step by step"
    return Page("playground_steps.html", title, {"view": calculation_of(told)})
