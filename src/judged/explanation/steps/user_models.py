"""Steps of measures that model a user who reads down the list and stops."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import accumulate
from math import fsum, inf, isinf, log

import numpy as np

from judged.explanation.arithmetic import Expression, Number, num, total
from judged.explanation.listing import ANY, Equation, Listing, Steps, divided, steps
from judged.measures.user_models import inverse_squares
from judged.rankings.rankings import Cutoff


@steps("RBP")
def rank_biased_precision(
    q: Listing, *, k: Cutoff, rel: float, p: float, gain: str, max_grade: float
) -> Steps:
    end = q.cutoff(k, rel)
    own = {rank: num(1) for rank in q.found(end, rel)}
    if gain == "graded":
        gaining = [(rank, grade) for rank, grade in q.hits if rank <= end and grade > 0]
        own = {rank: num(grade) / max_grade for rank, grade in gaining}

    def weight(rank: int) -> Expression:
        return num(p) ** (rank - 1)

    terms = {
        rank: weight(rank) if each.value == 1 else each * weight(rank) for rank, each in own.items()
    }
    columns = (
        q.column("gain", lambda rank: own.get(rank, num(0)), end),
        q.column("weight", weight, end),
    )
    adds = {rank: (1 - num(p)) * term for rank, term in terms.items()}
    return Steps((1 - num(p)) * total(terms.values()), columns, adds, end=end)


@steps("ERR")
def expected_reciprocal_rank(q: Listing, *, k: Cutoff, max_grade: float) -> Steps:
    end = q.cutoff(k, ANY)
    reading, adds = 1.0, {}
    stops, here = {}, {}
    for rank, grade in q.hits:
        stop = (num(2) ** grade - 1) / num(2) ** max_grade if grade > 0 else num(0)
        stops[rank], here[rank] = num(stop.value), num(reading)
        if rank <= end and stop.value > 0:
            adds[rank] = num(1) / rank * stop.value * reading
        reading *= 1 - stop.value
    columns = (
        q.column("chance to stop here", lambda rank: stops.get(rank, num(0)), end),
        q.column("chance to get here", here.get, end),
    )
    return Steps(total(adds.values()), columns, adds, end=end)


Chances = Callable[[float, float, float, float], float]
"""(rank, its gain, the gain so far, the goal T or the patience p) -> a chance, or a sum of some."""


def _rate(
    q: Listing,
    goes_on: Chances,
    tail: Chances | None = None,
    *,
    k: Cutoff,
    min_rel: float,
    max_rel: float,
    T: float = 0.0,  # noqa: N803
    p: float = 0.0,
) -> Steps:
    """Return the gain per result read, down to k or without end if the tail has a closed sum.

    `goes_on` is the chance to go on, `tail` the sum of the chances to get to later ranks.
    """
    user = T or p
    end = q.cutoff(k, float(np.nextafter(min_rel, inf)))
    gains = {
        rank: (grade - min_rel) / (max_rel - min_rel)
        for rank, grade in q.hits
        if grade > min_rel and rank <= end
    }
    last = int(end) if not isinf(end) else max(gains, default=0)
    chance, chances, sums = 1.0, {}, 0.0
    for rank in range(1, last + 1):
        chances[rank] = chance
        sums += (q.grades[rank] - min_rel) if rank in gains else 0.0
        chance *= goes_on(rank, gains.get(rank, 0.0), sums / (max_rel - min_rel), user)
    read = [*chances.values()]
    if isinf(end) and tail is not None:
        read.append(chance * tail(last, 0.0, sums / (max_rel - min_rel), user))
    reads = fsum(read)
    columns = (
        q.column("gain", lambda rank: num(gains.get(rank, 0.0)), end),
        q.column("chance to get here", {at: num(each) for at, each in chances.items()}.get, end),
    )
    if reads == 0:
        return Steps(num(0), columns, {}, says="No result is read.", end=end)
    far = "all ranks, those after the end of the list too"
    far = far if isinf(end) else f"ranks 1 to {last}, where the list has ended too"
    says = f"how many results this user reads on average: the chances to get to {far}"
    divisor = Equation("ΣS", Number(reads), says)
    terms = {rank: num(gain) * chances[rank] for rank, gain in gains.items()}
    return divided(terms, divisor, columns, end=end)


def _hoping(rank: float, gain: float, gained: float, goal: float) -> float:
    """Return the chance to go on of a user who hopes for a gain, of which some was gained."""
    x = rank + 2 * goal - gained
    return ((x - 1) / x) ** 2


def _hoping_on(rank: float, gain: float, gained: float, goal: float) -> float:
    x = rank + 2 * goal - gained
    return x**2 * float(inverse_squares(np.array([x]))[0])


def _insq(rank: float, gain: float, gained: float, goal: float) -> float:
    return _hoping(rank, gain, 0.0, goal)


def _insq_on(rank: float, gain: float, gained: float, goal: float) -> float:
    return _hoping_on(rank, gain, 0.0, goal)


USERS: dict[str, tuple[Chances, Chances | None]] = {
    "SDCG": (lambda rank, *_: log(rank + 1) / log(rank + 2), None),
    "INSQ": (_insq, _insq_on),
    "INST": (_hoping, _hoping_on),
    "BPM": (lambda rank, gain, gained, goal: float(gained < goal), None),
    "NERR8": (lambda rank, gain, *_: 1 - gain, None),
    "NERR9": (lambda rank, gain, *_: rank / (rank + 1) * (1 - gain), None),
    "NERR10": (
        lambda rank, gain, gained, p: p * (1 - gain),
        lambda rank, gain, gained, p: 1 / (1 - p),
    ),
    "NERR11": (lambda rank, gain, _, goal: _insq(rank, 0.0, 0.0, goal) * (1 - gain), _insq_on),
}
"""The chance to go on of each measure's user, and the sum of the chances to get to later ranks."""

for _name, (_goes_on, _tail) in USERS.items():
    steps(_name)(partial(_rate, goes_on=_goes_on, tail=_tail))


@steps("Compat")
def compatibility(q: Listing, *, k: Cutoff, p: float, normalize: str) -> Steps:
    end = q.cutoff(k, ANY)
    ideal = [grade for grade in q.pool if grade > 0]
    seen: dict[float, int] = {}
    later: dict[int, int] = {}
    for rank, grade in q.hits:
        if grade > 0:
            seen[grade] = seen.get(grade, 0) + 1
            later[rank] = max(rank, sum(each > grade for each in ideal) + seen[grade])
    weights = _weights_from(max([len(ideal), *later.values()]), end, p)
    terms = {rank: num(weights(at)) for rank, at in later.items() if at <= end}
    most: Expression
    if normalize == "true":
        most = total(weights(place) for place in range(1, len(ideal) + 1) if place <= end)
        says = "the ideal list's overlap with itself, the most that any list can reach"
    else:
        most = num((1 - p**end) / (1 - p))
        says = "the sum of all ranks' weights"
    divisor = Equation("most", most, says)
    columns = (
        q.column("in both lists from rank", {at: num(each) for at, each in later.items()}.get, end),
        q.column("weight of these ranks", terms.get, end),
    )
    return divided(terms, divisor, columns, by_symbol=True, end=end)


def _weights_from(last: int, end: float, p: float) -> Callable[[int], float]:
    """Return a function that sums p^(i - 1) / i from a rank to the end."""
    until = int(end) if not isinf(end) else last
    sums = [0.0, *accumulate(p ** (i - 1) / i for i in range(1, until + 1))]
    # Without an end it is -ln(1 - p) / p in all.
    whole = -log(1 - p) / p if isinf(end) else sums[-1]
    return lambda rank: whole - sums[rank - 1]
