"""The state of the playground, which is all in its address: a list, and how to look at it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from shlex import quote
from typing import TYPE_CHECKING, Any

from judged.errors import InputError, JudgedError
from judged.measures import Measure, parse_measure
from judged.policy import Policy
from judged.rankings.relevance import RelevanceList, pool_list, relevance_list
from judged.web.errors import RefusedError
from judged.web.visit import Params

if TYPE_CHECKING:
    from judged.rankings.rankings import Rankings

MAX_RESULTS = 100
MAX_CHARACTERS = 4_000
MAX_K = 1_000
MAX_RELEVANT = 1_000_000
MAX_ADDED = 24
DEFAULT_GRADES = 3
"""Clicks go through the grades up to this one, unless the list has a higher one."""
CARDS = (
    *("P@k", "R@k", "F@k", "AP@k", "RR", "DCG@k", "nDCG@k", "nDCG(gain=exp)@k"),
    *("Rprec", "Success@k", "RBP", "ERR@k"),
)
"""The measures that are always shown; k stands for the cutoff."""
DEFAULT_CARD = "AP@k"
POLICY_PARAMS = {"list_ties": "ties", "list_unjudged": "unjudged", "list_empty": "empty"}
"""Choices of the policy by parameter; the names differ from those of other pages, whose settings
the links of the playground keep."""
NUMBER_PARAMS = ("list", "relevant", "pool", "collection", "k", *POLICY_PARAMS)
"""Parameters that numbers depend on."""
PLAYGROUND_PARAMS = (*NUMBER_PARAMS, "grades", "add", "card", "before")


@dataclass(frozen=True)
class PlaygroundExample:
    """A list to start from, and what it shows."""

    key: str
    title: str
    says: str
    parameters: tuple[tuple[str, str], ...]


TEXTS = (
    PlaygroundExample(
        "four-relevant",
        "Average precision, worked out: four relevant",
        "Relevant results at ranks 2, 5, 7 and 9, and no others: AP is 0.4433.",
        (("list", "0 1 0 0 1 0 1 0 1 0"), ("relevant", "4")),
    ),
    PlaygroundExample(
        "image-search",
        "Image search: relevant at ranks 3, 5 and 8",
        "AP@10 is 0.3694; the area under the interpolated curve is larger, 0.3917.",
        (("list", "0 0 1 0 1 0 0 1 0 0"), ("relevant", "3")),
    ),
    PlaygroundExample(
        "eight-predictions",
        "Eight predictions: P, R, F1 at 4",
        "Three of the first four are relevant, of four in all: P@4, R@4 and F@4 are 0.75. AP is "
        "37/48 = 0.7708.",
        (
            ("list", "1 0 1 1 0 1 0 0"),
            ("relevant", "4"),
            ("k", "4"),
            ("add", "AP"),
            ("card", "F@k"),
        ),
    ),
    PlaygroundExample(
        "eight-predictions-dcg",
        "Eight predictions: DCG and nDCG at 8",
        "The same list down to rank 8.",
        (
            ("list", "1 0 1 1 0 1 0 0"),
            ("relevant", "4"),
            ("k", "8"),
            ("card", "nDCG(gain=exp)@k"),
            ("add", "DCG(gain=exp)@8"),
        ),
    ),
    PlaygroundExample(
        "search-phone",
        "MAP of two searches: phone",
        "AP is 13/15 = 0.8667; the mean of both searches is 599/840 = 0.7131.",
        (("list", "1 1 0 0 1 0 0"), ("relevant", "3")),
    ),
    PlaygroundExample(
        "search-watch",
        "MAP of two searches: watch",
        "AP is 47/84 = 0.5595; the mean of both searches is 599/840 = 0.7131.",
        (("list", "0 1 1 0 0 1 1"), ("relevant", "4")),
    ),
)
"""Worked examples of well-known texts, with corrected values."""

MORE = (
    PlaygroundExample(
        "not-all-retrieved",
        "Two relevant items were not retrieved",
        "Libraries divide by different numbers of relevant items, so AP has many values.",
        (("list", "0 1 0 0 1 0 1 0 1 0"), ("relevant", "6")),
    ),
    PlaygroundExample(
        "graded",
        "Grades up to 3, and two unjudged results",
        "Gains g and 2^g − 1 differ. Unjudged results count as not relevant, or not at all.",
        (("list", "3 - 2 1 - 0 0 1 3 0 0 0"), ("relevant", "7"), ("card", "nDCG@k")),
    ),
    PlaygroundExample(
        "tied",
        "Results that share a score",
        "Their order is arbitrary: see the possible values, and which libraries take the mean.",
        (("list", "0 (0 1 1) 0 (1 0)"), ("relevant", "3")),
    ),
    PlaygroundExample(
        "nothing-relevant",
        "No relevant item",
        "Most measures are undefined here; libraries give 0, 1, or leave the query out.",
        (("list", "0 0 0 0 0"), ("relevant", "0"), ("card", "nDCG@k")),
    ),
)
"""Lists on which definitions differ."""
EXAMPLES = {example.key: example for example in (*TEXTS, *MORE)}
START = EXAMPLES["not-all-retrieved"]


@dataclass(frozen=True)
class PlaygroundState:
    """A list, and how to look at it.

    >>> state = PlaygroundState.of(Params.read("list=0+1+(-+2)&relevant=4&k=3&card=nDCG@k"))
    >>> str(state.listed), state.relevant, str(state.chosen)
    ('0 1 (- 2)', 4, 'nDCG@3')
    """

    listed: RelevanceList
    relevant: int | None = None
    """How many items are relevant; None if the list or the pool holds them all."""
    pool: str = ""
    """The grades of all judged items, as typed."""
    collection: int | None = None
    k: int | None = 10
    grades: int = DEFAULT_GRADES
    policy: Policy = field(default_factory=Policy)
    added: tuple[str, ...] = ()
    """Further measures."""
    refused: tuple[tuple[str, str], ...] = ()
    """Unknown measures, each with its error message."""
    card: str = DEFAULT_CARD
    """The measure that is shown in detail: one of `CARDS`, or one that was added."""
    was: PlaygroundState | None = None
    """The state before the last change."""
    raised: int | None = None
    """The stated number of relevant items, if the list holds more."""

    @classmethod
    def of(cls, params: Params, *, before: bool = True) -> PlaygroundState:
        """Read an address; an example provides what it does not have."""
        example = params.one("example")
        if example is not None and example not in EXAMPLES:
            raise RefusedError(
                f"There is no example {example!r}; there is {', '.join(EXAMPLES)}.", "example"
            )
        if example is not None or params.one("list") is None:
            start = Params((EXAMPLES[example] if example else START).parameters)
            typed = {name: list(params.all(name)) for name in PLAYGROUND_PARAMS if params.all(name)}
            params = start.with_(typed if example is None else {})
        listed = _read_list(params.text("list"))
        pool = params.text("pool")
        in_list = sum(_is_relevant(grade) for grade in listed.grades)
        relevant = _whole(params, "relevant")
        added, refused = _read_measures(params.all("add"))
        chosen = {name: value for own, name in POLICY_PARAMS.items() if (value := params.one(own))}
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
        return state if was is None else replace(state, was=_state_before(was))

    @property
    def measures(self) -> dict[str, Measure]:
        """The measure of each card; added ones come last."""
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
        """The measure that is shown in detail."""
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
        """The choices of the policy that are not defaults."""
        usual = Policy().to_dict()
        chosen = self.policy.to_dict()
        return {name: value for name, value in chosen.items() if value != usual[name]}

    @property
    def has_no_order(self) -> bool:
        """Whether values are means over orders of ties, which cannot be explained."""
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
        """The parameters that numbers depend on."""
        return Params(tuple(pair for pair in self._pairs() if pair[0] in NUMBER_PARAMS))

    def _pairs(self) -> Iterator[tuple[str, str]]:
        """Yield the parameters that are not defaults."""
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
        yield from ((own, changed[name]) for own, name in POLICY_PARAMS.items() if name in changed)
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
    return params.whole(name, 0, at_least=0, at_most=MAX_RELEVANT)


def _read_measures(texts: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Return known measures, and unknown ones with their error messages."""
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


def _state_before(text: str) -> PlaygroundState | None:
    try:
        return PlaygroundState.of(Params.read(text), before=False)
    except JudgedError:
        return None


# -- commands, and links from other pages


def shell_commands(state: PlaygroundState) -> str:
    """Return commands that print the chosen number, and the values of all libraries."""
    listed, measure = quote(str(state.listed)), quote(str(state.chosen))
    options = "".join(f" --{name} {quote(str(value))}" for name, value in state.options.items())
    chosen = "".join(f" --{name} {value}" for name, value in state.changed_policy.items())
    lines = [f"judged conventions {listed} -m {measure}{options}"]
    if not state.has_no_order:
        lines.insert(0, f"judged explain {listed} -m {measure}{options}{chosen}")
    return "\n".join(lines)


def python_code(state: PlaygroundState) -> str:
    """Return the same in Python, with all numbers of the page."""
    options = "".join(f", {name}={value!r}" for name, value in state.options.items())
    counts = {name: value for name, value in state.options.items() if name != "pool"}
    numbers = "".join(f", {name}={value!r}" for name, value in counts.items())
    chosen = f", policy={state.changed_policy!r}" if state.changed_policy else ""
    measures = [str(measure) for measure in state.measures.values()]
    pool = ", pool=[pool]" if state.pool else ""
    lines = [
        "import judged",
        "",
        f"grades = {list(state.listed.grades)!r}",
        *([f"pool = {pool_list(state.pool)!r}"] if state.pool else []),
        "rankings = judged.Rankings.from_relevance(",
        f"    [grades]{numbers}{pool}, tied={[list(state.listed.tied)]!r}",
        ")",
        f"print(rankings.evaluate({measures!r}{chosen}))",
        f"listed = {str(state.listed)!r}",
    ]
    measure = repr(str(state.chosen))
    if not state.has_no_order:
        lines.append(f"print(judged.explain(listed, measure={measure}{options}{chosen}))")
    lines.append(f"print(judged.compare_conventions(listed, measures={measure}{options}))")
    return "\n".join(lines)


def link_of(rankings: Rankings, measure: Measure | None = None) -> dict[str, str] | None:
    """Return the parameters that open the list of one query, down to its first 100 results.

    None if the list is empty, or judged by subtopic.

    >>> from judged import Rankings
    >>> link_of(Rankings.from_relevance([[0, 2, None]], relevant=[3]))
    {'list': '0 2 -', 'relevant': '3'}
    """
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
