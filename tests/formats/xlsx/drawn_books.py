"""Workbooks with looks, pictures and charts for others to take, made part by part."""

import zipfile
from pathlib import Path

import openpyxl
from openpyxl.chart import BarChart, Reference
from openpyxl.formatting.rule import ColorScale, FormatObject, Rule
from openpyxl.styles import Border, Font, NamedStyle, PatternFill, Side
from openpyxl.styles.colors import Color
from openpyxl.styles.differential import DifferentialStyle

__all__ = ["PICTURE", "chart_book", "drawn_book", "looks_book", "repacked"]

PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d494844520000000100000001080600000"
    "01f15c4890000000d49444154789c6360f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)
"""A picture of one point."""

_DRAWING = """<xdr:wsDr xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing"
 xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"
 xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">{anchors}</xdr:wsDr>"""
_PICTURE = """<xdr:pic><xdr:nvPicPr><xdr:cNvPr id="2" name="{name}"><a:hlinkClick r:id="rId2"/>
</xdr:cNvPr><xdr:cNvPicPr/></xdr:nvPicPr><xdr:blipFill><a:blip r:{how}="{relation}"/>
</xdr:blipFill><xdr:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="914400" cy="457200"/></a:xfrm>
</xdr:spPr></xdr:pic>"""
_ANCHOR = """<xdr:twoCellAnchor{edit}><xdr:from><xdr:col>1</xdr:col><xdr:colOff>9</xdr:colOff>
<xdr:row>2</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:from><xdr:to><xdr:col>3</xdr:col>
<xdr:colOff>0</xdr:colOff><xdr:row>5</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:to>{object}
<xdr:clientData/></xdr:twoCellAnchor>"""
_TYPES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_RELATIONS = f"""<Relationships
 xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="rId1" Type="{_TYPES}/image" Target="../media/image1.png"/>
<Relationship Id="rId2" Type="{_TYPES}/hyperlink" Target="https://example.org/"
 TargetMode="External"/>
<Relationship Id="rId3" Type="{_TYPES}/image" Target="https://example.org/a.png"
 TargetMode="External"/>
</Relationships>"""


def looks_book(path: Path) -> None:
    """Write sheet Data with looks of all kinds.

    A1 is bold on blue, B1 in colours of the theme, C1 follows style "Mine", D1 has a format of its
    own; widths, and rules with and without a look of their own.
    """
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "Data"
    sheet.append([1, 2, 3, 4])
    sheet["A1"].font = Font(name="Arial", size=14, bold=True, color="FFFFFFFF")
    sheet["A1"].fill = PatternFill("solid", fgColor="FF2F5496")
    sheet["A1"].border = Border(bottom=Side("double", color="FF112233"))
    sheet["B1"].font = Font(name="Arial", size=10, color=Color(theme=4, tint=-0.25))
    sheet["B1"].fill = PatternFill("solid", fgColor=Color(theme=5, tint=0.4))
    mine = NamedStyle("Mine", font=Font(name="Courier New", size=9, italic=True))
    book.add_named_style(mine)
    sheet["C1"].style = "Mine"
    sheet["D1"].number_format = '0.0 "kg"'
    sheet.column_dimensions["A"].width = 31
    sheet.column_dimensions["C"].width = 7.5
    sheet.freeze_panes = "B2"
    red = DifferentialStyle(font=Font(color="FFFF0000"), fill=PatternFill(bgColor="FFFFFF00"))
    rule = Rule(type="cellIs", operator="greaterThan", formula=["10"], dxf=red)
    sheet.conditional_formatting.add("A2:A9", rule)
    ends = [FormatObject(type="min"), FormatObject(type="max")]
    colours = [Color("FF00FF00"), Color("FF0000FF")]
    scale = Rule(type="colorScale", colorScale=ColorScale(cfvo=ends, color=colours))
    sheet.conditional_formatting.add("B2:B9", scale)
    book.save(path)


def chart_book(path: Path) -> None:
    """Write sheet Data with numbers and a chart "Chart 1" of them at E2."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "Data"
    for row in (("Item", "Cost"), ("Tea", 4), ("Milk", 2)):
        sheet.append(row)
    chart = BarChart()
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)
    sheet.add_chart(chart, "E2")
    book.save(path)


def drawn_book(path: Path) -> None:
    """Write sheet Data with pictures.

    "Logo" at B3 is 1 inch wide and half as high, and leads to an address; "Linked" is not in the
    file; "Inner" is in a group; there are two called "Twin".
    """
    plain = path.with_name("plain.xlsx")
    chart_book(plain)
    picture = _PICTURE.format(name="Logo", how="embed", relation="rId1")
    linked = _PICTURE.format(name="Linked", how="link", relation="rId3")
    twin = _PICTURE.format(name="Twin", how="embed", relation="rId1")
    inner = _PICTURE.format(name="Inner", how="embed", relation="rId1")
    anchors = [
        _ANCHOR.format(edit=' editAs="oneCell"', object=picture),
        _ANCHOR.format(edit="", object=linked),
        *[_ANCHOR.format(edit="", object=twin)] * 2,
        _ANCHOR.format(edit="", object=f"<xdr:grpSp>{inner}</xdr:grpSp>"),
    ]
    repacked(plain, path, {
        "xl/drawings/drawing1.xml": _DRAWING.format(anchors="".join(anchors)).encode(),
        "xl/drawings/_rels/drawing1.xml.rels": _RELATIONS.encode(),
        "xl/media/image1.png": PICTURE,
    }, types='<Default Extension="png" ContentType="image/png"/>')  # fmt: skip


def repacked(old: Path, new: Path, parts: dict[str, bytes], types: str = "") -> None:
    """Write a package anew with some parts replaced or added.

    Args:
        old: The package.
        new: Where it goes.
        parts: The parts by name.
        types: Entries for the table of content types.
    """
    with zipfile.ZipFile(old) as source, zipfile.ZipFile(new, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            if name == "[Content_Types].xml" and types:
                data = data.replace(b"<Default ", types.encode() + b"<Default ", 1)
            target.writestr(name, parts.get(name, data))
        for name in parts.keys() - set(source.namelist()):
            target.writestr(name, parts[name])
