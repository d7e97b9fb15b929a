"""The playground: one list, what every measure makes of it, and what each library calls by that
name."""
