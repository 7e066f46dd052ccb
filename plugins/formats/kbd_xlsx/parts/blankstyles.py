"""The style sheet of an empty workbook."""

from lxml import etree

__all__ = ["MAIN", "STRICT_MAIN", "blank_styles"]

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
STRICT_MAIN = "http://purl.oclc.org/ooxml/spreadsheetml/main"

# The first two fills are fixed by the format, and the first font is the one that column widths are
# measured with.
_BLANK = """<styleSheet xmlns="{namespace}"><fonts count="1"><font><sz val="11"/>\
<color theme="1"/><name val="Calibri"/><family val="2"/><scheme val="minor"/></font></fonts>\
<fills count="2"><fill><patternFill patternType="none"/></fill>\
<fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border>{sides}\
<top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1">\
<xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="1">\
<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/></cellXfs><cellStyles count="1">\
<cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles><dxfs count="0"/>\
<tableStyles count="0" defaultTableStyle="TableStyleMedium2" \
defaultPivotStyle="PivotStyleLight16"/></styleSheet>"""


def blank_styles(*, strict: bool) -> etree._Element:
    """Return the root of a style sheet with what programs expect: one font, two fills, Normal.

    Args:
        strict: Whether it is of the strict variant.
    """
    namespace = STRICT_MAIN if strict else MAIN
    sides = "<start/><end/>" if strict else "<left/><right/>"
    return etree.fromstring(_BLANK.format(namespace=namespace, sides=sides))
