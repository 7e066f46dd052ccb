"""Settings of a document that operations switch on or add to."""

from docx.opc.constants import CONTENT_TYPE as CT
from docx.opc.constants import RELATIONSHIP_TYPE as RT
from docx.oxml.parser import parse_xml
from lxml import etree

from kbd_docx.document import W, is_on
from kbd_docx.edits.document import DocumentEdit
from kbd_docx.styles.properties import insert_child

__all__ = ["settings_root", "switch_on"]

_EMPTY = f'<w:settings xmlns:w="{W.strip("{}")}"/>'.encode()


def settings_root(edit: DocumentEdit) -> etree._Element:
    """Return the root of the settings, which are made where there are none."""
    found = edit.parts.root(RT.SETTINGS)
    if found is None:
        found = parse_xml(_EMPTY)
        edit.parts.add(RT.SETTINGS, CT.WML_SETTINGS, "settings", found)
    return found


def switch_on(edit: DocumentEdit, name: str) -> bool:
    """Switch a setting on; return whether it was off."""
    root = settings_root(edit)
    found = root.find(f"{W}{name}")
    if is_on(found):
        return False
    if found is not None:
        root.remove(found)
    insert_child(root, root.makeelement(f"{W}{name}"))
    return True
