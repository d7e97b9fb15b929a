"""Tests and intervals by resampling, flipping and permuting."""
