"""A run matched with judgements: ties, duplicates, unjudged items and depth are decided here.

A run is never sorted as a whole. The rank of a judged item is one more than the number of greater
scores in its list, found by bisection in the list's scores. Item ids are compared only where
scores tie, and only for ties that a judged item takes part in.
"""
