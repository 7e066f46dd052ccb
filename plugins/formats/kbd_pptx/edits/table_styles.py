"""Styles of tables: those that a deck defines by name, and the one that it takes by default.

A style is named by a number (ECMA-376, part 1, 20.1.4.2.27). PowerPoint knows those of its own by
it, whether a deck defines them or not.
"""

from collections.abc import Mapping
from types import MappingProxyType

from lxml import etree
from pptx.opc.constants import RELATIONSHIP_TYPE as RT

from kbd.errors import ValidationFailed
from kbd_pptx.edits.deck import DeckEdit
from kbd_pptx.edits.found_shapes import near_names
from kbd_pptx.edits.warnings import quoted_list, shorten
from kbd_pptx.presentation import A

__all__ = ["find_table_style"]

_USUAL = "{5C22544A-7EE6-4342-B048-85BDC9FD1C3A}"
_KNOWN: Mapping[str, str] = MappingProxyType({
    "No Style, No Grid": "{2D5ABB26-0587-4C30-8999-92F81FD0307C}",
    "No Style, Table Grid": "{5940675A-B579-460E-94D1-54222C63F5DA}",
    "Medium Style 2": "{073A0DAA-6AF3-43AB-8588-CEC1D06C72B9}",
    "Medium Style 2 - Accent 1": _USUAL,
    "Medium Style 2 - Accent 2": "{21E4AEA4-8DFA-4A89-87EB-49C32662AFE0}",
    "Medium Style 2 - Accent 3": "{F5AB1C69-6EDB-4FF4-983F-18BD219EF322}",
    "Medium Style 2 - Accent 4": "{00A15C55-8517-42AA-B614-E9B94910E393}",
    "Medium Style 2 - Accent 5": "{7DF18680-E054-41AD-8BC1-D1AEF772440D}",
    "Medium Style 2 - Accent 6": "{93296810-A885-4BE3-A3E7-6D5BEEA58F35}",
})  # fmt: skip
"""Styles of PowerPoint that it and LibreOffice know by number."""


def find_table_style(deck: DeckEdit, wanted: str | None) -> str:
    """Return the number of a table style by its name; without one, that of the deck's default.

    Raises:
        ValidationFailed: There is no such style.
    """
    root = _styles(deck)
    if wanted is None:
        default = "" if root is None else root.get("def", "")
        return default or _USUAL
    own = {} if root is None else {
        each.get("styleName", ""): each.get("styleId", "")
        for each in root.iterchildren(f"{A}tblStyle")
    }  # fmt: skip
    names = {**_KNOWN, **own}
    plain = {name.casefold(): number for name, number in names.items()}
    found = names.get(wanted) or plain.get(wanted.strip().casefold())
    if found is None and wanted.strip().upper() in {each.upper() for each in names.values()}:
        found = wanted.strip().upper()
    if found is None:
        near = near_names(wanted, list(names))
        hint = f"near it: {near}" if near else f"there are: {quoted_list(list(names))}"
        raise ValidationFailed(f"there is no table style {shorten(wanted)!r}; {hint}")
    return found


def _styles(deck: DeckEdit) -> etree._Element | None:
    for relation in deck.main.rels.values():
        if relation.reltype == RT.TABLE_STYLES and not relation.is_external:
            try:
                return etree.fromstring(relation.target_part.blob)
            except etree.LxmlError:
                # Damaged styles style nothing.
                return None
    return None
