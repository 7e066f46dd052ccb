"""Package of an OpenDocument presentation: its XML parts, zipped or flat."""

from kbd.office.open_document import DocumentKind

__all__ = ["ANIM", "CHART", "KIND", "MAX_MARKS", "PRESENTATION"]

_OASIS = "urn:oasis:names:tc:opendocument:xmlns:"
PRESENTATION = f"{{{_OASIS}presentation:1.0}}"
CHART = f"{{{_OASIS}chart:1.0}}"
ANIM = f"{{{_OASIS}animation:1.0}}"
"""Names of elements and attributes as lxml has them. OpenDocument 1.3, part 3: 10 (drawings and
slides), 11 (charts)."""

MAX_MARKS = 600_000
"""Angle brackets in one part: one slide may be all of it, and a parsed element takes some 100
bytes."""

KIND = DocumentKind(
    "an OpenDocument presentation",
    ("presentation", "presentation-template"),
    ".fodp",
)
"""The kind of document that is read here."""
