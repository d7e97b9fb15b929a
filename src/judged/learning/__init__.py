"""Learned similarities, and the temperature of a softmax over scores."""
