"""Judgements: what to judge next, annotators, and their agreement.

Choices and defaults are here because the command line lists them before it loads the functions.
"""

from judged.results import Result

FINDING_KINDS = {
    "query-twins": "(nearly) identical queries with different relevant items",
    "item-twins": "unjudged items that are (nearly) identical to a relevant one",
    "two-grades": "items judged more than once, with different grades",
    "unreachable": "relevant items that cannot be returned",
    "unknown-items": "judged items that occur nowhere else",
    "unknown-queries": "judged queries that are not among the given queries",
    "missing-queries": "judged queries that no run has",
    "unjudged-queries": "queries of runs without judgements",
    "all-relevant": "queries with only relevant judgements",
    "nothing-relevant": "queries without relevant items",
    "query-ids": "query ids that differ only in spelling",
    "item-ids": "item ids that differ only in spelling",
    "training-queries": "queries that are in the training set",
    "training-pairs": "relevant items that are relevant to the same query in the training set",
}
"""Kinds of findings, in the order of the report."""
NEAR = 0.9  # default share of common words of nearly identical texts
NEAR_VECTORS = 0.999  # default cosine of nearly identical vectors
MERGE_RULES = {
    "majority": "the most frequent grade, the lowest of several",
    "mean": "the mean of all grades",
    "median": "the median of all grades; the mean of the two in the middle",
    "highest": "the highest grade",
    "lowest": "the lowest grade",
    "first": "the grade of the first assessor, in the order given, who judged the item",
}
"""Rules of `merge_judgements`, and the grade that an item gets by each."""
QUEUE_ORDERS = {
    "effect": "the change of the query's difference between two runs (the largest over all pairs), "
    "or of the only run's value, if the item alone gets the top grade",
    "depth": "the best rank in any run, queries in turn",
}
"""Orders of a queue, and their meaning."""
QUEUE_SAVED_AS = {".csv": "to_csv", ".tsv": "to_tsv", ".ndjson": "to_ndjson"}
"""File extensions of the annotators' file besides .parquet, and the method that makes each."""
QUEUE_PRINTED_AS = {**Result.SAVED_AS, **QUEUE_SAVED_AS}
"""Formats that can be printed; those not in `QUEUE_SAVED_AS` are for the organiser only."""
QUEUE_DEPTH = 10  # default number of results of each run that a queue considers
MEASURE = "nDCG@10"  # default measure of runs
OVERLAP = 1.0  # default share of items that every annotator judges
