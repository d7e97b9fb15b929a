"""Runs without judgements: fusion and overlap.

Choices and defaults are here because the command line lists them before it loads the functions.
"""

from judged.policy import CHOICES

METHODS = {
    "rrf": "sum of 1 / (k + rank) over the lists that have the item (reciprocal rank fusion)",
    "combsum": "sum of normalised scores over the lists that have the item",
    "combmnz": "combsum times the number of lists that have the item",
    "weighted": "combsum with weights, which must be given",
}
"""Methods, and an item's score by each."""
NORMALISATIONS = {
    "minmax": "(score - lowest) / (highest - lowest) of its list",
    "zscore": "(score - mean) / standard deviation of its list",
    "max": "score / highest of its list",
    "sum": "(score - lowest) / the sum of these differences in its list",
    "rank": "1 - (rank - 1) / length of its list",
    "none": "the score itself",
}
"""Normalisations of scores before they are added."""
TIES = {
    "id": CHOICES["ties"]["id"],
    "input": CHOICES["ties"]["input"],
    "expected": "tied results share the mean contribution of their ranks",
}
"""Rules for ties that need no judgements."""
K = 60  # constant of reciprocal rank fusion in its paper
DEPTH = 1_000  # default number of results of each list that count, and that a fused list keeps
PERSISTENCE = 0.9  # default persistence of rank-biased overlap
