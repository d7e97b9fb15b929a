"""`Rankings`, which every measure reads, and what was found when they were made."""
