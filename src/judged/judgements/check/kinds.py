"""What is looked for, by name."""

from __future__ import annotations

KINDS = {
    "query-twins": "the same or nearly the same query, with other relevant items",
    "item-twins": "the same or nearly the same as a relevant item, and not judged for its query",
    "two-grades": "judged twice, with different grades",
    "unreachable": "relevant, and not there to be returned",
    "unknown-items": "judged items that occur nowhere else",
    "unknown-queries": "judged queries that are not among the queries given",
    "missing-queries": "judged queries that no run has",
    "unjudged-queries": "queries of runs that nobody judged",
    "all-relevant": "queries with everything relevant",
    "nothing-relevant": "queries with nothing relevant",
    "query-ids": "ids of queries that differ only in their spelling",
    "item-ids": "ids of items that differ only in their spelling",
    "training-queries": "queries that are in the training set",
    "training-pairs": "relevant items that are relevant to the same query in the training set",
}
"""Each finding that there may be, in the order in which they are said."""
EXAMPLES = 3
"""So many examples of each are shown."""
NEAR = 0.9
"""Texts are nearly the same with this share of words in common, unless another is said."""
NEAR_VECTORS = 0.999
"""And vectors with this cosine."""
MEASURES = "nDCG@10"
"""What is computed with and without, unless others are said."""
