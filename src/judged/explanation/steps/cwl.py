"""Users who read on with some chance (the C/W/L models)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import fsum, inf, isinf, log

import numpy as np

from judged.explanation.arithmetic import Number, num
from judged.explanation.listing import Line, Listing, Steps, divided
from judged.explanation.steps.registry import steps
from judged.measures.cwl import inverse_squares
from judged.rankings.rankings import Cutoff


@dataclass(frozen=True)
class User:
    """How a user reads on."""

    goes_on: Callable[[int, float, float], float]
    """(rank, its gain, gained so far with it) -> the chance to go on from there."""
    tail: Callable[[int, float], float] | None = None
    """(rank, gained so far) -> what the chances to get to all ranks after it sum to, where the
    first of them is 1."""


def _rate(q: Listing, user: User, *, k: Cutoff, min_rel: float, max_rel: float) -> Steps:
    """Return the gain per result read, down to k or without end if the tail has a closed sum."""
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
        chance *= user.goes_on(rank, gains.get(rank, 0.0), sums / (max_rel - min_rel))
    read = [*chances.values()]
    if isinf(end) and user.tail is not None:
        read.append(chance * user.tail(last, sums / (max_rel - min_rel)))
    reads = fsum(read)
    columns = (
        q.column("gain", lambda rank: num(gains.get(rank, 0.0)), end),
        q.column(
            "chance to get here", lambda rank: num(chances[rank]) if rank in chances else None, end
        ),
    )
    if reads == 0:
        return Steps(num(0), columns, {}, says="No result is read.", end=end)
    far = (
        "all ranks, those after the end of the list too"
        if isinf(end)
        else f"ranks 1 to {last}, where the list has ended too"
    )
    divisor = Line(
        "ΣS",
        Number(reads),
        f"how many results this user reads on average: the chances to get to {far}",
    )
    terms = {rank: num(gain) * chances[rank] for rank, gain in gains.items()}
    return divided(terms, divisor, columns, end=end)


def _trigamma(x: float) -> float:
    return float(inverse_squares(np.array([x]))[0])


@steps("SDCG")
def scaled_dcg(q: Listing, *, k: Cutoff, min_rel: float, max_rel: float) -> Steps:
    user = User(lambda rank, gain, gained: log(rank + 1) / log(rank + 2))
    return _rate(q, user, k=k, min_rel=min_rel, max_rel=max_rel)


@steps("INSQ")
def insq(q: Listing, *, k: Cutoff, T: float, min_rel: float, max_rel: float) -> Steps:  # noqa: N803
    user = User(
        lambda rank, gain, gained: ((rank + 2 * T - 1) / (rank + 2 * T)) ** 2,
        lambda rank, gained: (2 * T + rank) ** 2 * _trigamma(2 * T + rank),
    )
    return _rate(q, user, k=k, min_rel=min_rel, max_rel=max_rel)


@steps("INST")
def inst(q: Listing, *, k: Cutoff, T: float, min_rel: float, max_rel: float) -> Steps:  # noqa: N803
    user = User(
        lambda rank, gain, gained: ((rank + 2 * T - gained - 1) / (rank + 2 * T - gained)) ** 2,
        lambda rank, gained: (2 * T + rank - gained) ** 2 * _trigamma(2 * T + rank - gained),
    )
    return _rate(q, user, k=k, min_rel=min_rel, max_rel=max_rel)


@steps("BPM")
def bejeweled_player(q: Listing, *, k: Cutoff, T: float, min_rel: float, max_rel: float) -> Steps:  # noqa: N803
    return _rate(
        q, User(lambda rank, gain, gained: float(gained < T)), k=k, min_rel=min_rel, max_rel=max_rel
    )


@steps("NERR8")
def nerr8(q: Listing, *, k: Cutoff, min_rel: float, max_rel: float) -> Steps:
    return _rate(
        q, User(lambda rank, gain, gained: 1 - gain), k=k, min_rel=min_rel, max_rel=max_rel
    )


@steps("NERR9")
def nerr9(q: Listing, *, k: Cutoff, min_rel: float, max_rel: float) -> Steps:
    return _rate(
        q,
        User(lambda rank, gain, gained: rank / (rank + 1) * (1 - gain)),
        k=k,
        min_rel=min_rel,
        max_rel=max_rel,
    )


@steps("NERR10")
def nerr10(q: Listing, *, k: Cutoff, p: float, min_rel: float, max_rel: float) -> Steps:
    user = User(lambda rank, gain, gained: p * (1 - gain), lambda rank, gained: 1 / (1 - p))
    return _rate(q, user, k=k, min_rel=min_rel, max_rel=max_rel)


@steps("NERR11")
def nerr11(q: Listing, *, k: Cutoff, T: float, min_rel: float, max_rel: float) -> Steps:  # noqa: N803
    user = User(
        lambda rank, gain, gained: ((rank + 2 * T - 1) / (rank + 2 * T)) ** 2 * (1 - gain),
        lambda rank, gained: (2 * T + rank) ** 2 * _trigamma(2 * T + rank),
    )
    return _rate(q, user, k=k, min_rel=min_rel, max_rel=max_rel)
