"""The document that new ones begin as: the library's template, without what is nobody's.

The template brings a thumbnail, names of a program and of an author, and parts that only one old
program reads; none of it comes along.
"""

from functools import cache
from pathlib import Path, PurePosixPath

import docx
from docx.oxml.parser import parse_xml
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.formats import Source
from kbd.opc.package import Package
from kbd.opc.rewriter import Rewriting
from kbd_docx.blocks import W
from kbd_docx.family import FAMILY

__all__ = ["TEMPLATE", "check_new_name", "cleaned", "fit", "modernized", "template_roots"]

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


def check_new_name(name: str) -> None:
    """Refuse to make a file whose suffix promises macros, which a new document has not.

    Raises:
        ValidationFailed: It promises them.
    """
    suffix = PurePosixPath(name).suffix.lower()
    if "macroEnabled" in _type_of(suffix):
        wanted = ".dotx" if suffix == ".dotm" else ".docx"
        # The name is not told: that of a file being written means nothing to anybody.
        raise ValidationFailed(f"A new document has no macros; name it {wanted}, not {suffix}.")


def fit(rewriting: Rewriting, main: str, suffix: str) -> None:
    """Have a document be what its file's suffix promises, a template or none.

    Programs refuse a file whose type is not that of its suffix. Macros are neither dropped nor
    promised.

    Args:
        rewriting: The document.
        main: Its main part.
        suffix: Of the file that is written (".docx"); any other promises nothing.

    Raises:
        ValidationFailed: It has macros and the suffix promises none, or the reverse.
    """
    found, wanted = rewriting.content_type(main), _type_of(suffix.lower())
    if not wanted or found == wanted:
        return
    has_macros = "macroEnabled" in found
    if has_macros and "macroEnabled" not in wanted:
        raise ValidationFailed(
            f"The document has macros, which a {suffix} file may not have; write it as .docm."
        )
    if not has_macros and "macroEnabled" in wanted:
        raise ValidationFailed(
            f"The document has no macros, which {suffix} promises; write it as .docx."
        )
    rewriting.add(main, rewriting.read(main), wanted)


def modernized(settings: etree._Element) -> None:
    """Have a new document's settings be those of today, with nothing of where they come from."""
    for setting in settings.iter(f"{W}compatSetting"):
        if setting.get(f"{W}name") == "compatibilityMode":
            setting.set(f"{W}val", _COMPATIBILITY)
    for element in list(settings):
        if etree.QName(element).localname in ("docId", "rsids", "savePreviewPicture", "proofState"):
            settings.remove(element)


def cleaned(rewriting: Rewriting, main: str) -> None:
    """Take out of a new document what the template alone had."""
    for part in ("", main):
        for relation in rewriting.relations(part):
            if relation.kind in _LEFT_BEHIND:
                rewriting.unrelate(part, relation.id)
                rewriting.drop(relation.target)
            elif relation.kind == "core-properties":
                rewriting.put(relation.target, _CORE)
            elif relation.kind == "extended-properties":
                rewriting.put(relation.target, _PROPERTIES)
    for name in rewriting.parts():
        if name.startswith("customXml/"):
            rewriting.drop(name)


@cache
def template_roots() -> tuple[etree._Element, etree._Element]:
    """Return the template's styles and its lists, to copy from; they are never changed."""
    with Package(TEMPLATE) as package:
        styles, lists = (package.read(f"word/{name}.xml") for name in ("styles", "numbering"))
    return parse_xml(styles), parse_xml(lists)


def _type_of(suffix: str) -> str:
    return next((type_ for type_, each in FAMILY.types.items() if each == suffix), "")
