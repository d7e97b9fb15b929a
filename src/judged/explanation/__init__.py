"""Calculation of one value of one query, step by step: text, tables, pages and animations."""

from judged.explanation.explanation import Explanation, Explanations
from judged.explanation.improvement import Change, Variant
from judged.explanation.listing import RankRow
from judged.explanation.question import ROWS, explain

__all__ = [
    "ROWS",
    "Change",
    "Explanation",
    "Explanations",
    "RankRow",
    "Variant",
    "explain",
]
