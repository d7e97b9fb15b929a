"""The runs compared in slices of the queries."""
