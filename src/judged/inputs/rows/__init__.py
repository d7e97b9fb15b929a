"""Rows that hold everything: a query, the ids that are relevant for it, and those retrieved."""
