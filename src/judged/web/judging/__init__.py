"""The judging page: who judges, what, in which order, and what a key does."""
