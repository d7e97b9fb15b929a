"""Users who read on with some chance (the C/W/L models)."""

from __future__ import annotations

from collections.abc import Callable
from math import fsum, inf, isinf, log

import numpy as np

from judged.explanation.arithmetic import Number, num
from judged.explanation.listing import Line, Listing, Steps, divided, steps
from judged.measures.cwl import inverse_squares
from judged.rankings.rankings import Cutoff


def _rate(
    q: Listing,
    k: Cutoff,
    min_rel: float,
    max_rel: float,
    goes_on: Callable[[int, float, float], float],
    tail: Callable[[int, float], float] | None = None,
) -> Steps:
    """Return the gain per result read, down to k or without end if the tail has a closed sum.

    `goes_on` takes a rank, its gain and the gain so far, and returns the chance to go on. `tail`
    takes a rank and the gain so far, and returns the sum of the chances to get to later ranks.
    """
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
        chance *= goes_on(rank, gains.get(rank, 0.0), sums / (max_rel - min_rel))
    read = [*chances.values()]
    if isinf(end) and tail is not None:
        read.append(chance * tail(last, sums / (max_rel - min_rel)))
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
    return _rate(q, k, min_rel, max_rel, lambda rank, *_: log(rank + 1) / log(rank + 2))


@steps("INSQ")
def insq(q: Listing, *, k: Cutoff, T: float, min_rel: float, max_rel: float) -> Steps:  # noqa: N803
    return _rate(
        *(q, k, min_rel, max_rel),
        lambda rank, *_: ((rank + 2 * T - 1) / (rank + 2 * T)) ** 2,
        lambda rank, _: (2 * T + rank) ** 2 * _trigamma(2 * T + rank),
    )


@steps("INST")
def inst(q: Listing, *, k: Cutoff, T: float, min_rel: float, max_rel: float) -> Steps:  # noqa: N803
    return _rate(
        *(q, k, min_rel, max_rel),
        lambda rank, _, gained: ((rank + 2 * T - gained - 1) / (rank + 2 * T - gained)) ** 2,
        lambda rank, gained: (2 * T + rank - gained) ** 2 * _trigamma(2 * T + rank - gained),
    )


@steps("BPM")
def bejeweled_player(q: Listing, *, k: Cutoff, T: float, min_rel: float, max_rel: float) -> Steps:  # noqa: N803
    return _rate(q, k, min_rel, max_rel, lambda _rank, _gain, gained: float(gained < T))


@steps("NERR8")
def nerr8(q: Listing, *, k: Cutoff, min_rel: float, max_rel: float) -> Steps:
    return _rate(q, k, min_rel, max_rel, lambda _, gain, __: 1 - gain)


@steps("NERR9")
def nerr9(q: Listing, *, k: Cutoff, min_rel: float, max_rel: float) -> Steps:
    return _rate(q, k, min_rel, max_rel, lambda rank, gain, _: rank / (rank + 1) * (1 - gain))


@steps("NERR10")
def nerr10(q: Listing, *, k: Cutoff, p: float, min_rel: float, max_rel: float) -> Steps:
    return _rate(q, k, min_rel, max_rel, lambda _, gain, __: p * (1 - gain), lambda *_: 1 / (1 - p))


@steps("NERR11")
def nerr11(q: Listing, *, k: Cutoff, T: float, min_rel: float, max_rel: float) -> Steps:  # noqa: N803
    return _rate(
        *(q, k, min_rel, max_rel),
        lambda rank, gain, _: ((rank + 2 * T - 1) / (rank + 2 * T)) ** 2 * (1 - gain),
        lambda rank, _: (2 * T + rank) ** 2 * _trigamma(2 * T + rank),
    )
