"""What an edit touches without being named: told, for it cannot be brought up to date here."""

from docx.document import Document
from docx.opc.constants import RELATIONSHIP_TYPE as RT
from docx.opc.part import XmlPart
from lxml import etree

from kbd.opc.package import Package
from kbd_docx.blocks import W
from kbd_docx.edits.noticing import Notices

__all__ = ["tell_bystanders"]

_OFF = frozenset(("0", "false", "off"))
_PROTECTIONS = {
    "comments": "only comments may be made",
    "forms": "only forms may be filled in",
    "readOnly": "nothing may be changed",
    "trackedChanges": "changes must be tracked",
}


def tell_bystanders(package: Package, document: Document, notices: Notices) -> None:
    """Warn of a signature, of protection, and of changes that are to be tracked."""
    if any("digital-signature" in relation.type for relation in package.relations("")):
        notices.warn("The document was signed; after this change the signature is void.")
    settings = _settings(document)
    if settings is None:
        return
    for protection in settings.findall(f"{W}documentProtection"):
        kind = protection.get(f"{W}edit", "none")
        if kind in _PROTECTIONS and protection.get(f"{W}enforcement", "0") not in _OFF:
            notices.warn(
                f"The document is protected ({_PROTECTIONS[kind]}): a person would have to lift "
                "that before making this change."
            )
    for tracking in settings.findall(f"{W}trackRevisions"):
        if tracking.get(f"{W}val", "1") not in _OFF:
            notices.warn(
                "The document tracks changes; this one is made directly and not marked as a change."
            )


def _settings(document: Document) -> etree._Element | None:
    """Return the document's settings, None if it has none; the library would make some."""
    for relation in document.part.rels.values():
        if relation.reltype == RT.SETTINGS and not relation.is_external:
            part = relation.target_part
            return part.element if isinstance(part, XmlPart) else None
    return None
