"""What belongs to the format, and how a file of it is opened."""

from collections.abc import Iterator
from contextlib import contextmanager

from kbd.formats import Source
from kbd.office.suffixes import Suffixes
from kbd.opc import Family, Identity, identify
from kbd.opc.package import Package, reading_errors

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


@contextmanager
def opened(source: Source) -> Iterator[tuple[Package, Identity]]:
    """Open a file of the format; what is damaged in it raises FileReadFailed.

    Raises:
        FileReadFailed: It is not of the format, encrypted, damaged, or past a limit.
    """
    with Package(source) as package, reading_errors(source.name):
        yield package, identify(package, FAMILY)
