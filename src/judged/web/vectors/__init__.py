"""Vectors of the folder: which search is meant, what it finds, and the parts of its page."""
