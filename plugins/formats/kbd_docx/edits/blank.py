"""Blank document: the library's template, without thumbnail, authors and old parts.

The template brings a thumbnail, names of a program and of an author, and parts that only one old
program reads; none of it is copied.
"""

from functools import cache
from pathlib import Path

import docx
from docx.oxml.parser import parse_xml
from lxml import etree

from kbd.formats import Source
from kbd.opc.element_names import local_name
from kbd.opc.package import Package
from kbd.opc.rewriter import Rewriting
from kbd_docx.document import W

__all__ = ["TEMPLATE", "strip_template", "template_roots", "update_settings"]

_PATH = Path(docx.__file__).parent / "templates" / "default.docx"

TEMPLATE = Source(_PATH, "A new document")
"""The library's template, under the name that messages give it."""

_LEFT_BEHIND = frozenset(("customXml", "stylesWithEffects", "thumbnail"))
_COMPATIBILITY = "15"
"""Of Word 2013 and later; with an older one Word says that a document is in compatibility mode."""

_CORE = (
    b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
    b'<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/'
    b'core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title/><dc:creator/>'
    b"</cp:coreProperties>"
)
_PROPERTIES = (
    b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
    b'<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/'
    b'extended-properties"/>'
)


def update_settings(settings: etree._Element) -> None:
    """Set a new document's compatibility to a current Word, and drop its template's traces."""
    # By hand: python-docx has no interface to compatibility settings.
    for setting in settings.iter(f"{W}compatSetting"):
        if setting.get(f"{W}name") == "compatibilityMode":
            setting.set(f"{W}val", _COMPATIBILITY)
    for element in list(settings):
        if local_name(element) in ("docId", "rsids", "savePreviewPicture", "proofState"):
            settings.remove(element)


def strip_template(rewriting: Rewriting, main: str) -> None:
    """Remove the template's thumbnail, properties and foreign parts from a new document."""
    for part in ("", main):
        for relation in rewriting.relations(part):
            if relation.kind in _LEFT_BEHIND:
                rewriting.unrelate(part, relation.id)
                rewriting.drop(relation.target)
            elif relation.kind == "core-properties":
                rewriting.put(relation.target, _CORE)
            elif relation.kind == "extended-properties":
                rewriting.put(relation.target, _PROPERTIES)
    # The properties of custom XML hang on that part, so no relation above leads to them.
    for name in rewriting.parts():
        if name.startswith("customXml/"):
            rewriting.drop(name)


@cache
def template_roots() -> tuple[etree._Element, etree._Element]:
    """Return the template's styles and its lists, to copy from; they are never changed."""
    with Package(TEMPLATE) as package:
        styles, lists = (package.read(f"word/{name}.xml") for name in ("styles", "numbering"))
    return parse_xml(styles), parse_xml(lists)
