"""Lists compared with an ideal one (compatibility)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from math import isinf, log

from judged.explanation.arithmetic import Expression, num, total
from judged.explanation.listing import ANY, Line, Listing, Steps, divided, steps
from judged.rankings.rankings import Cutoff


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
    divisor = Line("most", most, says)
    columns = (
        q.column(
            "in both lists from rank", lambda rank: num(later[rank]) if rank in later else None, end
        ),
        q.column("weight of these ranks", terms.get, end),
    )
    return divided(terms, divisor, columns, named=True, end=end)


def _weights_from(last: int, end: float, p: float) -> Callable[[int], float]:
    """Return a function that sums p^(i - 1) / i from a rank to the end."""
    until = int(end) if not isinf(end) else last
    sums = [0.0, *accumulate(p ** (i - 1) / i for i in range(1, until + 1))]
    # Without an end it is -ln(1 - p) / p in all.
    whole = -log(1 - p) / p if isinf(end) else sums[-1]
    return lambda rank: whole - sums[rank - 1]
