"""What belongs to the format, and how a file of it is opened."""

from functools import partial

from kbd.office.suffixes import Suffixes
from kbd.opc import Family, open_member

__all__ = ["FAMILY", "PLAIN_TYPE", "SUFFIXES", "opened"]

_OPEN_XML = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_WORD = "application/vnd.ms-word"

PLAIN_TYPE = f"{_OPEN_XML}.document.main+xml"
"""The type of an ordinary document's main part."""

FAMILY = Family(
    "a document",
    {
        PLAIN_TYPE: ".docx",
        f"{_WORD}.document.macroEnabled.main+xml": ".docm",
        f"{_OPEN_XML}.template.main+xml": ".dotx",
        f"{_WORD}.template.macroEnabledTemplate.main+xml": ".dotm",
    },
)
"""What the main part of a document may be (ECMA-376, part 1, 11.3.10)."""

SUFFIXES = Suffixes(FAMILY, "document", makes_templates=True)

opened = partial(open_member, FAMILY)
"""Opens a source of the format as a context: its package, and what kind of one it is."""
