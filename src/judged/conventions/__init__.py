"""How other libraries define the same names: data only, one file per library."""
