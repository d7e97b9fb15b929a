"""Vectors from arrays and files."""
