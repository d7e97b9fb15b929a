"""What may be chosen, in words; nothing heavy is loaded for it."""

from __future__ import annotations

MEASURE = "nDCG@10"
"""What runs are scored by, where nothing is said."""

RULES = {
    "majority": "the grade that most judges gave, and of several such the lowest",
    "mean": "the mean of all grades",
    "median": "the median of all grades, of two in the middle their mean",
    "highest": "the highest grade",
    "lowest": "the lowest grade",
    "first": "the grade of the first judge, in the order given, who judged it",
}
"""What an item gets by each rule."""
