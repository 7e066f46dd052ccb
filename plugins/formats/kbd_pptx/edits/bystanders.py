"""What an edit touches without being named: told, for it cannot be brought up to date here."""

from kbd.opc import read_transitional
from kbd.opc.package import Package, xml_root
from kbd_pptx.edits.noticing import Notices
from kbd_pptx.slides import P

__all__ = ["tell_of_bystanders"]

_CUSTOM = frozenset(("custom-properties", "customProperties"))

_FINAL = "_MarkAsFinal"
"""The custom property by which office programs ask people not to edit a file."""


def tell_of_bystanders(package: Package, main: str, notices: Notices) -> None:
    """Warn of a signature, of a deck that is marked as final, and of one that asks a password.

    Args:
        package: The deck.
        main: Its main part.
        notices: Where warnings go.
    """
    relations = package.relations("")
    if any("digital-signature" in relation.type for relation in relations):
        notices.warn("The deck was signed; after this change the signature is void.")
    for relation in relations:
        is_inside = not relation.external and relation.target in package
        if relation.kind in _CUSTOM and is_inside and _is_final(package, relation.target):
            notices.warn("The deck is marked as final; whoever marked it may not want changes.")
    root = xml_root(read_transitional(package, main), package.name)
    if root.find(f"{P}modifyVerifier") is not None:
        notices.warn("The deck asks for a password before it is changed; it was changed without.")


def _is_final(package: Package, part: str) -> bool:
    root = xml_root(read_transitional(package, part), package.name)
    for entry in root.iterfind("{*}property"):
        if entry.get("name") == _FINAL:
            text = "".join(str(each) for each in entry.itertext()).strip().lower()
            return text in {"true", "1"}
    return False
