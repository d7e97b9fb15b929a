"""Texts, pictures and sounds to vectors, by an encoder of one's own; what is done is kept."""

from __future__ import annotations
