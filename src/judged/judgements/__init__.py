"""What to judge next, by whom, and how far judges agree."""
