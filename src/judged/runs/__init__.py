"""Runs without judgements: fusion and overlap."""
