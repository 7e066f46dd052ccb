"""Warnings of what an edit touches without being named, and cannot bring up to date."""

from docx.document import Document
from docx.opc.constants import RELATIONSHIP_TYPE as RT
from docx.opc.part import XmlPart
from lxml import etree

from kbd.office.operations import EditWarnings
from kbd.opc.package import Package
from kbd_docx.blocks import W

__all__ = ["warn_of_bystanders"]

_OFF = frozenset(("0", "false", "off"))
_PROTECTIONS = {
    "comments": "only comments may be made",
    "forms": "only forms may be filled in",
    "readOnly": "nothing may be changed",
    "trackedChanges": "changes must be tracked",
}


def warn_of_bystanders(package: Package, document: Document, warnings: EditWarnings) -> None:
    """Warn of a signature, of protection, and of changes that are to be tracked."""
    warnings.warn_of_signature(package.relations(""), "document")
    settings = _settings(document)
    if settings is None:
        return
    for protection in settings.findall(f"{W}documentProtection"):
        kind = protection.get(f"{W}edit", "none")
        if kind in _PROTECTIONS and protection.get(f"{W}enforcement", "0") not in _OFF:
            warnings.warn(
                f"The document is protected ({_PROTECTIONS[kind]}): a person would have to lift "
                "that before making this change."
            )
    for tracking in settings.findall(f"{W}trackRevisions"):
        if tracking.get(f"{W}val", "1") not in _OFF:
            warnings.warn(
                "The document tracks changes; this one is made directly and not marked as a change."
            )


def _settings(document: Document) -> etree._Element | None:
    """Return the document's settings, None if it has none; the library would make some."""
    for relation in document.part.rels.values():
        if relation.reltype == RT.SETTINGS and not relation.is_external:
            part = relation.target_part
            return part.element if isinstance(part, XmlPart) else None
    return None
