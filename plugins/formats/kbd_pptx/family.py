"""What belongs to the format, and how a file of it is opened."""

from collections.abc import Iterator
from contextlib import contextmanager

from kbd.formats import Source
from kbd.office.suffixes import Suffixes
from kbd.opc import Family, Identity, identify
from kbd.opc.package import Package, reading_errors

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


@contextmanager
def opened(source: Source) -> Iterator[tuple[Package, Identity]]:
    """Open a file of the format; what is damaged in it raises FileReadFailed.

    Raises:
        FileReadFailed: It is not of the format, encrypted, damaged, or past a limit.
    """
    with Package(source) as package, reading_errors(source.name):
        yield package, identify(package, FAMILY)
