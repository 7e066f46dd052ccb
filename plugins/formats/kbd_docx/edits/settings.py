"""Settings of tables, rows, cells and paragraphs, put where the schema has them.

A setting is a child of an element of settings (`tcPr`), and programs refuse children that stand in
another order than the schema's: ECMA-376, part 1, 17.3.1 (pPr) and 17.4 (tables), annex A.
"""

from lxml import etree

from kbd.opc.element_names import local_name
from kbd_docx.document import W

__all__ = ["put_setting", "settings_of", "take_settings"]

_ORDERS = {
    "pPr": (
        "pStyle keepNext keepLines pageBreakBefore framePr widowControl numPr suppressLineNumbers "
        "pBdr shd tabs suppressAutoHyphens kinsoku wordWrap overflowPunct topLinePunct autoSpaceDE "
        "autoSpaceDN bidi adjustRightInd snapToGrid spacing ind contextualSpacing mirrorIndents "
        "suppressOverlap jc textDirection textAlignment textboxTightWrap outlineLvl divId cnfStyle "
        "rPr sectPr pPrChange"
    ),
    "rPr": (
        "ins del moveFrom moveTo rStyle rFonts b bCs i iCs caps smallCaps strike dstrike outline "
        "shadow emboss imprint noProof snapToGrid vanish webHidden color spacing w kern position "
        "sz szCs highlight u effect bdr shd fitText vertAlign rtl cs em lang eastAsianLayout "
        "specVanish oMath rPrChange"
    ),
    "tblPr": (
        "tblStyle tblpPr tblOverlap bidiVisual tblStyleRowBandSize tblStyleColBandSize tblW jc "
        "tblCellSpacing tblInd tblBorders shd tblLayout tblCellMar tblLook tblCaption "
        "tblDescription tblPrChange"
    ),
    "trPr": (
        "cnfStyle divId gridBefore gridAfter wBefore wAfter cantSplit trHeight tblHeader "
        "tblCellSpacing jc hidden ins del trPrChange"
    ),
    "tcPr": (
        "cnfStyle tcW gridSpan hMerge vMerge tcBorders shd noWrap tcMar textDirection tcFitText "
        "vAlign hideMark headers cellIns cellDel cellMerge tcPrChange"
    ),
}
_RANKS = {
    kind: {f"{W}{name}": rank for rank, name in enumerate(names.split())}
    for kind, names in _ORDERS.items()
}
_LAST = 1_000

_BEFORE = {"tbl": (), "tr": ("tblPrEx",), "tc": (), "p": (), "r": ()}
_KINDS = {"tbl": "tblPr", "tr": "trPr", "tc": "tcPr", "p": "pPr", "r": "rPr"}


def settings_of(element: etree._Element) -> etree._Element:
    """Return the settings of a table, row, cell, paragraph or run, which are made if missing."""
    name = local_name(element)
    found = element.find(f"{W}{_KINDS[name]}")
    if found is not None:
        return found
    made = etree.SubElement(element, f"{W}{_KINDS[name]}")
    before = [child for child in element if local_name(child) in _BEFORE[name]]
    element.insert(len(before), made)
    return made


def put_setting(settings: etree._Element, name: str, **values: str | int) -> etree._Element:
    """Set a setting in an element of settings; one that is there loses what it said.

    Args:
        settings: A `tblPr`, `trPr`, `tcPr`, `pPr` or `rPr`.
        name: The name of its child.
        values: The child's attributes, without their namespace.
    """
    ranks = _RANKS[local_name(settings)]
    take_settings(settings, name)
    made = etree.SubElement(settings, f"{W}{name}")
    for key, value in values.items():
        made.set(f"{W}{key}", str(value))
    rank = ranks[made.tag]
    behind = next((each for each in settings if ranks.get(each.tag, _LAST) > rank), None)
    if behind is not None:
        behind.addprevious(made)
    return made


def take_settings(settings: etree._Element | None, *names: str) -> None:
    """Take settings out of an element of settings, None of which has any."""
    if settings is None:
        return
    for name in names:
        for found in settings.findall(f"{W}{name}"):
            settings.remove(found)
