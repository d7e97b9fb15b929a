"""The bundled collections: image search with handwritten digits, and text search with questions
and passages."""

from __future__ import annotations

from judged.demo.images import (
    COMPARED,
    MEASURES,
    DemoFiles,
    Digits,
    System,
    load_digits,
    pictures,
    systems,
    write_demo,
    write_gallery,
    write_report,
)
from judged.demo.texts import TextFiles, Texts, load_texts, planned_text_demo, write_text_demo

__all__ = [
    "COMPARED",
    "MEASURES",
    "DemoFiles",
    "Digits",
    "System",
    "TextFiles",
    "Texts",
    "load_digits",
    "load_texts",
    "pictures",
    "planned_text_demo",
    "systems",
    "write_demo",
    "write_gallery",
    "write_report",
    "write_text_demo",
]
