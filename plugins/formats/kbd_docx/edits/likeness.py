"""Paragraphs, rows and cells that look like others: their settings copied, without what is theirs.

What is not copied: ends of sections, marks of tracked changes, hints of the table's style that
hang on the place, and the ids by which programs tell elements apart.
"""

from copy import deepcopy

from docx.oxml.parser import OxmlElement
from lxml import etree

from kbd_docx.document import PARAGRAPH, W, blocks
from kbd_docx.edits.settings import take_settings

__all__ = ["alike_cell", "alike_paragraph", "alike_row", "first_paragraph", "run_properties"]

_CHANGES = ("ins", "del", "moveFrom", "moveTo", "rPrChange")
_OWN = {
    "pPr": ("sectPr", "pPrChange", "cnfStyle"),
    "rPr": _CHANGES,
    "trPr": ("ins", "del", "trPrChange", "cnfStyle", "tblHeader"),
    "tcPr": ("cellIns", "cellDel", "cellMerge", "tcPrChange", "cnfStyle", "vMerge"),
    "tblPrEx": ("tblPrExChange",),
}
"""Of each element of settings, what belongs to its own place."""


def _copied(found: etree._Element | None, kind: str) -> etree._Element | None:
    if found is None:
        return None
    made = deepcopy(found)
    made.tail = None
    take_settings(made, *_OWN[kind])
    return made


def run_properties(paragraph: etree._Element) -> etree._Element | None:
    """Return a copy of the settings of a paragraph's first run, else of its end; None if plain."""
    run = next(paragraph.iter(f"{W}r"), None)
    found = run.find(f"{W}rPr") if run is not None else paragraph.find(f"{W}pPr/{W}rPr")
    # The new text is no tracked change, though the run that it looks like may be one.
    made = _copied(found, "rPr")
    return made if made is not None and len(made) else None


def alike_paragraph(model: etree._Element | None) -> etree._Element:
    """Return a paragraph without text that looks like another one; a plain one for None."""
    made: etree._Element = OxmlElement("w:p")
    settings = _copied(model.find(f"{W}pPr"), "pPr") if model is not None else None
    if settings is not None:
        take_settings(settings.find(f"{W}rPr"), *_CHANGES)
        made.append(settings)
    return made


def first_paragraph(cell: etree._Element) -> etree._Element | None:
    """Return the first paragraph of a cell, None if it has none."""
    return next((block for block in blocks(cell) if block.tag == PARAGRAPH), None)


def alike_cell(model: etree._Element) -> etree._Element:
    """Return a cell of one paragraph without text that looks like another cell.

    Its columns are those of the other one; it is not part of a vertical merge.
    """
    made: etree._Element = OxmlElement("w:tc")
    for each in list(made):
        made.remove(each)
    settings = _copied(model.find(f"{W}tcPr"), "tcPr")
    if settings is not None:
        made.append(settings)
    made.append(alike_paragraph(first_paragraph(model)))
    return made


def alike_row(model: etree._Element) -> etree._Element:
    """Return a row without cells that looks like another one; it does not repeat as a header."""
    made: etree._Element = OxmlElement("w:tr")
    for kind in ("tblPrEx", "trPr"):
        settings = _copied(model.find(f"{W}{kind}"), kind)
        if settings is not None and len(settings):
            made.append(settings)
    return made
