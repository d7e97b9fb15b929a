"""Lists to start from: the worked examples of the texts that judged grew from, and some more."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Example:
    """A list, and what it shows."""

    key: str
    """What the address calls it."""
    title: str
    says: str
    parameters: tuple[tuple[str, str], ...]
    """Those of an address."""


TEXTS = (
    Example(
        "four-relevant",
        "Average precision, worked out: four relevant",
        "Relevant results at ranks 2, 5, 7 and 9, and no others: AP is 0.4433.",
        (("list", "0 1 0 0 1 0 1 0 1 0"), ("relevant", "4")),
    ),
    Example(
        "image-search",
        "Image search: relevant at ranks 3, 5 and 8",
        "AP@10 is 0.3694; the area under the interpolated curve is larger, 0.3917.",
        (("list", "0 0 1 0 1 0 0 1 0 0"), ("relevant", "3")),
    ),
    Example(
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
    Example(
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
    Example(
        "search-phone",
        "MAP of two searches: phone",
        "AP is 13/15 = 0.8667; the mean of both searches is 599/840 = 0.7131.",
        (("list", "1 1 0 0 1 0 0"), ("relevant", "3")),
    ),
    Example(
        "search-watch",
        "MAP of two searches: watch",
        "AP is 47/84 = 0.5595; the mean of both searches is 599/840 = 0.7131.",
        (("list", "0 1 1 0 0 1 1"), ("relevant", "4")),
    ),
)
"""The worked lists of the texts, with the right values where a text slips."""

MORE = (
    Example(
        "not-all-retrieved",
        "Two relevant items were not retrieved",
        "Libraries divide by different numbers of relevant items, so AP has many values.",
        (("list", "0 1 0 0 1 0 1 0 1 0"), ("relevant", "6")),
    ),
    Example(
        "graded",
        "Grades up to 3, and two results that nobody judged",
        "Gains g and 2^g − 1 differ, and what is unjudged counts as not relevant, or not at all.",
        (("list", "3 - 2 1 - 0 0 1 3 0 0 0"), ("relevant", "7"), ("card", "nDCG@k")),
    ),
    Example(
        "tied",
        "Results that share a score",
        "Their order is nobody's choice: see what it could be, and who takes the mean.",
        (("list", "0 (0 1 1) 0 (1 0)"), ("relevant", "3")),
    ),
    Example(
        "nothing-relevant",
        "Nothing relevant at all",
        "Most measures are undefined here; libraries say 0, 1, or leave the query out.",
        (("list", "0 0 0 0 0"), ("relevant", "0"), ("card", "nDCG@k")),
    ),
)
"""Lists where definitions come apart."""

EXAMPLES = {each.key: each for each in (*TEXTS, *MORE)}
START = EXAMPLES["not-all-retrieved"]
"""What stands there at first."""
