"""Package of an OpenDocument text: its XML parts, zipped or flat."""

from contextlib import AbstractContextManager
from typing import IO

from lxml import etree

from kbd.formats import Source
from kbd.office import open_document
from kbd.office.open_document import DocumentKind
from kbd.opc.package import Package

__all__ = ["FLAT_SUFFIX", "KIND", "open_metadata", "open_package", "open_parts"]

FLAT_SUFFIX = ".fodt"

KIND = DocumentKind(
    "an OpenDocument text",
    ("text", "text-template", "text-master", "text-master-template", "text-web"),
    FLAT_SUFFIX,
)


def open_parts(source: Source) -> AbstractContextManager[tuple[IO[bytes], ...]]:
    """Open a text and give its XML, as `kbd.office.open_document.open_parts` does."""
    return open_document.open_parts(source, KIND)


def open_metadata(source: Source) -> AbstractContextManager[etree._Element | None]:
    """Open a text and give its metadata, as `kbd.office.open_document.open_metadata` does."""
    return open_document.open_metadata(source, KIND)


def open_package(source: Source) -> AbstractContextManager[Package]:
    """Open a text that is a zip, as `kbd.office.open_document.open_package` does."""
    return open_document.open_package(source, KIND)
