"""How one number of one query comes about, step by step: text, tables, pages and animations."""

from judged.explanation.explanation import ROWS, Explanation, Row, explain

__all__ = ["ROWS", "Explanation", "Row", "explain"]
