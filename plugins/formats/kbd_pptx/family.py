"""What belongs to the format, and how a file of it is opened."""

from functools import partial

from kbd.office.suffixes import Suffixes
from kbd.opc import Family, open_member

__all__ = ["FAMILY", "PLAIN_TYPE", "SUFFIXES", "opened"]

_OPEN_XML = "application/vnd.openxmlformats-officedocument.presentationml"
_POWERPOINT = "application/vnd.ms-powerpoint"

PLAIN_TYPE = f"{_OPEN_XML}.presentation.main+xml"
"""The type of an ordinary deck's main part."""

FAMILY = Family(
    "a slide deck",
    {
        PLAIN_TYPE: ".pptx",
        f"{_POWERPOINT}.presentation.macroEnabled.main+xml": ".pptm",
        f"{_OPEN_XML}.template.main+xml": ".potx",
        f"{_POWERPOINT}.template.macroEnabled.main+xml": ".potm",
        f"{_OPEN_XML}.slideshow.main+xml": ".ppsx",
        f"{_POWERPOINT}.slideshow.macroEnabled.main+xml": ".ppsm",
    },
)
"""What the main part of a deck may be (ECMA-376, part 1, 13.3.6)."""

SUFFIXES = Suffixes(FAMILY, "deck")

opened = partial(open_member, FAMILY)
"""Opens a source of the format as a context: its package, and what kind of one it is."""
