"""Packages written by hand, with a bit of everything that an edit might lose.

They hold what real files hold and libraries know nothing of: extension lists, ignorable
namespaces, custom XML, parts that nothing leads to.
"""

import zipfile
from collections.abc import Mapping
from pathlib import Path

__all__ = ["PNG", "pack", "rich_deck", "rich_document", "rich_workbook"]

_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_RELS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_SHOW = "application/vnd.openxmlformats-officedocument.presentationml"
_SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_THEME = "application/vnd.openxmlformats-officedocument.theme+xml"
_OUTSIDE = ' TargetMode="External"'
_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_R = f'xmlns:r="{_OFFICE}"'
_A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
_P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
_X = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_MC = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63f8cfc000000301010018dd8db00000000049454e44ae426082"
)
"""A picture of one red dot."""


def pack(parts: Mapping[str, bytes], path: Path) -> Path:
    """Write parts as a zip and return the path."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return path


def _types(overrides: Mapping[str, str]) -> bytes:
    rows = [
        f'<Override PartName="/{part}" ContentType="{type_}"/>' for part, type_ in overrides.items()
    ]
    return (
        f'{_XML}<Types xmlns="{_TYPES}"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Default Extension="png" ContentType="image/png"/>{"".join(rows)}</Types>'
    ).encode()


def _relations(*rows: tuple[str, str, str]) -> bytes:
    """A part of relations: id, last word of the type, target; one with a colon is outside."""
    made = [
        f'<Relationship Id="{identity}" Type="{_OFFICE}/{kind}" Target="{target}"'
        f"{_OUTSIDE if ':' in target else ''}/>"
        for identity, kind, target in rows
    ]
    return f'{_XML}<Relationships xmlns="{_RELS}">{"".join(made)}</Relationships>'.encode()


_STORY = f"""{_XML}<w:document {_W} {_R} {_A} {_MC}
 xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"
 xmlns:w15="http://schemas.microsoft.com/office/word/2012/wordml"
 xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"
 xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"
 xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"
 xmlns:v="urn:schemas-microsoft-com:vml" mc:Ignorable="w14 w15"><w:body>
<w:p w14:paraId="1A2B3C4D"><w:pPr><w:pStyle w:val="Heading1"/></w:pPr>
 <w:bookmarkStart w:id="0" w:name="top"/><w:r><w:t>Harvest report</w:t></w:r>
 <w:bookmarkEnd w:id="0"/></w:p>
<w:p w:rsidR="00AB12CD"><w:pPr><w:jc w:val="both"/><w:rPr><w:b/></w:rPr></w:pPr>
 <w:commentRangeStart w:id="4"/><w:r><w:rPr><w:b/><w:color w:val="FF0000"/></w:rPr>
 <w:t xml:space="preserve">The apple </w:t></w:r><w:r>\
<w:t xml:space="preserve">harvest was </w:t></w:r>
 <w:r><w:rPr><w:i/></w:rPr><w:t xml:space="preserve"> good</w:t></w:r><w:commentRangeEnd w:id="4"/>
 <w:r><w:commentReference w:id="4"/></w:r><w:del w:id="9" w:author="Ann"><w:r>
 <w:delText>very bad</w:delText></w:r></w:del><w:ins w:id="10" w:author="Ann"><w:r><w:t>indeed</w:t>
 </w:r></w:ins><w:r><w:footnoteReference w:id="2"/></w:r></w:p>
<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> PAGE </w:instrText></w:r>
 <w:r><w:fldChar w:fldCharType="end"/></w:r><w:hyperlink r:id="rId7"><w:r><w:t>the orchard</w:t>
 </w:r></w:hyperlink></w:p>
<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr>
 <w:r><w:t>a list</w:t><w:tab/><w:t>item</w:t><w:br/></w:r></w:p>
<w:tbl><w:tblPr><w:tblStyle w:val="Grid"/></w:tblPr><w:tblGrid><w:gridCol w:w="900"/></w:tblGrid>
 <w:tr><w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr><w:p><w:r><w:t>apple trees</w:t></w:r></w:p>
 </w:tc></w:tr></w:tbl>
<w:sdt><w:sdtPr><w:tag w:val="season"/><w:showingPlcHdr/></w:sdtPr>
 <w:sdtContent><w:p><w:r><w:t>autumn</w:t></w:r>
 </w:p></w:sdtContent></w:sdt>
<w:p><w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:inline>
 <wp:extent cx="914400" cy="914400"/><wp:docPr id="1" name="Box" descr="a box"/><a:graphic>
 <a:graphicData uri="x"><wps:wsp><wps:txbx><w:txbxContent><w:p><w:r><w:t>an apple in a box</w:t>
 </w:r></w:p></w:txbxContent></wps:txbx></wps:wsp></a:graphicData></a:graphic></wp:inline>
 </w:drawing></mc:Choice><mc:Fallback><w:pict><v:shape><v:textbox><w:txbxContent><w:p><w:r>
 <w:t>an apple in a box</w:t></w:r></w:p></w:txbxContent></v:textbox></v:shape></w:pict>
 </mc:Fallback></mc:AlternateContent></w:r></w:p>
<w:p><w:r><w:drawing><wp:inline><wp:extent cx="914400" cy="914400"/>
 <wp:docPr id="2" name="Picture 2" descr="a dot"/><a:graphic><a:graphicData uri="y"><pic:pic>
 <pic:blipFill><a:blip r:embed="rId5"><a:extLst>
 <a:ext uri="{{28A0092B-C50C-407E-A947-70E740481C1C}}"/>
 </a:extLst></a:blip></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing>
 </w:r></w:p>
<w:sectPr><w:headerReference w:type="default" r:id="rId4"/>
 <w:pgSz w:w="11906" w:h="16838"/></w:sectPr>
</w:body></w:document>"""


def rich_document() -> dict[str, bytes]:
    """The parts of a document that holds a bit of everything."""
    story = {
        "word/document.xml": f"{_WORD}.document.main+xml",
        "word/styles.xml": f"{_WORD}.styles+xml",
        "word/header1.xml": f"{_WORD}.header+xml",
        "word/comments.xml": f"{_WORD}.comments+xml",
        "word/footnotes.xml": f"{_WORD}.footnotes+xml",
        "customXml/itemProps1.xml": (
            "application/vnd.openxmlformats-officedocument.customXmlProperties+xml"
        ),
    }
    return {
        "[Content_Types].xml": _types(story),
        "_rels/.rels": _relations(("rId1", "officeDocument", "word/document.xml")),
        "word/document.xml": _STORY.encode(),
        "word/_rels/document.xml.rels": _relations(
            ("rId1", "styles", "styles.xml"),
            ("rId2", "comments", "comments.xml"),
            ("rId3", "footnotes", "footnotes.xml"),
            ("rId4", "header", "header1.xml"),
            ("rId5", "image", "media/image1.png"),
            ("rId6", "customXml", "../customXml/item1.xml"),
            ("rId7", "hyperlink", "https://example.org/"),
        ),
        "word/styles.xml": (
            f'{_XML}<w:styles {_W}><w:style w:type="paragraph" w:default="1" w:styleId="Normal">'
            '<w:name w:val="Normal"/></w:style><w:style w:type="paragraph" w:styleId="Heading1">'
            '<w:name w:val="heading 1"/><w:rPr><w:sz w:val="32"/></w:rPr></w:style>'
            '<w:style w:type="table" w:styleId="Grid"><w:name w:val="Grid"/></w:style></w:styles>'
        ).encode(),
        "word/header1.xml": (
            f"{_XML}<w:hdr {_W}><w:p><w:r><w:t>Apple growers</w:t></w:r></w:p></w:hdr>"
        ).encode(),
        "word/comments.xml": (
            f'{_XML}<w:comments {_W}><w:comment w:id="4" w:author="Ann"><w:p><w:r>'
            "<w:t>Is it?</w:t></w:r></w:p></w:comment></w:comments>"
        ).encode(),
        "word/footnotes.xml": (
            f'{_XML}<w:footnotes {_W}><w:footnote w:id="2"><w:p><w:r><w:t>One apple each.</w:t>'
            "</w:r></w:p></w:footnote></w:footnotes>"
        ).encode(),
        "word/media/image1.png": PNG,
        "customXml/item1.xml": b"<season><name>autumn</name></season>",
        "customXml/_rels/item1.xml.rels": _relations(("rId1", "customXmlProps", "itemProps1.xml")),
        "customXml/itemProps1.xml": b'<ds xmlns="urn:x" id="{1}"/>',
        "customXml/loose.xml": b"<loose/>",
    }


def _shape(identity: int, kind: str, paragraphs: str) -> str:
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="{identity}" name="Shape {identity}"/><p:cNvSpPr/>'
        f'<p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr><p:spPr/><p:txBody>'
        f'<a:bodyPr anchor="b"/><a:lstStyle/>{paragraphs}</p:txBody></p:sp>'
    )


def _tree(shapes: str) -> str:
    return (
        '<p:spTree><p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr>'
        f"<p:grpSpPr/>{shapes}</p:spTree>"
    )


def _slide(shapes: str) -> bytes:
    return (
        f"{_XML}<p:sld {_P} {_A} {_R}><p:cSld>{_tree(shapes)}</p:cSld><p:clrMapOvr>"
        '<a:masterClrMapping/></p:clrMapOvr><p:transition spd="slow"/></p:sld>'
    ).encode()


_TITLE = (
    '<a:p><a:pPr algn="ctr"/><a:r><a:rPr lang="en-US" sz="4400" b="1"/><a:t>Apple harvest</a:t>'
    '</a:r><a:r><a:rPr lang="en-US"><a:hlinkClick r:id="rId2"/></a:rPr><a:t> of 2024</a:t></a:r>'
    '<a:endParaRPr lang="en-US"/></a:p>'
)
_BODY = (
    '<a:p><a:pPr lvl="1"/><a:r><a:rPr i="1"/><a:t>The apple</a:t></a:r><a:r><a:t> was </a:t></a:r>'
    '<a:br/><a:fld id="{AB}" type="slidenum"><a:t>1</a:t></a:fld></a:p>'
    "<a:p><a:r><a:t>Second</a:t></a:r></a:p>"
)
_PICTURE = (
    '<p:pic><p:nvPicPr><p:cNvPr id="4" name="Picture" descr="a dot"/><p:cNvPicPr/><p:nvPr/>'
    '</p:nvPicPr><p:blipFill><a:blip r:embed="rId3"/><a:stretch><a:fillRect/></a:stretch>'
    '</p:blipFill><p:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="99" cy="99"/></a:xfrm>'
    '<a:prstGeom prst="rect"/></p:spPr></p:pic>'
)
_GRID = (
    '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="5" name="Table"/><p:cNvGraphicFramePr/>'
    '<p:nvPr/></p:nvGraphicFramePr><p:xfrm><a:off x="0" y="0"/><a:ext cx="9" cy="9"/></p:xfrm>'
    '<a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/table">'
    '<a:tbl><a:tblGrid><a:gridCol w="99"/></a:tblGrid><a:tr h="9"><a:tc><a:txBody><a:bodyPr/>'
    "<a:p><a:r><a:t>apple trees</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl>"
    "</a:graphicData></a:graphic></p:graphicFrame>"
)


def _deck_frame() -> dict[str, bytes]:
    """The parts of a deck that are not its slides."""
    holder = _tree(_shape(2, "title", "<a:p/>"))
    return {
        "ppt/presentation.xml": (
            f"{_XML}<p:presentation {_P} {_A} {_R}><p:sldMasterIdLst>"
            '<p:sldMasterId id="2147483648" r:id="rId1"/></p:sldMasterIdLst>'
            '<p:sldIdLst><p:sldId id="256" r:id="rId2"/>'
            '<p:sldId id="257" r:id="rId3"/></p:sldIdLst><p:sldSz cx="9144000" cy="6858000"/>'
            '<p:notesSz cx="9" cy="9"/><p:extLst>'
            '<p:ext uri="{521415D9-36F7-43E2-AB2F-B90AF26B5E84}">'
            '<p14:sectionLst xmlns:p14="http://schemas.microsoft.com/office/powerpoint/2010/main">'
            '<p14:section name="All" id="{1}"/></p14:sectionLst></p:ext></p:extLst>'
            "</p:presentation>"
        ).encode(),
        "ppt/_rels/presentation.xml.rels": _relations(
            ("rId1", "slideMaster", "slideMasters/slideMaster1.xml"),
            ("rId2", "slide", "slides/slide1.xml"),
            ("rId3", "slide", "slides/slide2.xml"),
            ("rId4", "tags", "tags/tag1.xml"),
        ),
        "ppt/slideMasters/slideMaster1.xml": (
            f"{_XML}<p:sldMaster {_P} {_A} {_R}><p:cSld>{holder}</p:cSld><p:clrMap "
            'bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" accent1="accent1" accent2="accent2" '
            'accent3="accent3" accent4="accent4" accent5="accent5" accent6="accent6" '
            'hlink="hlink" folHlink="folHlink"/><p:sldLayoutIdLst><p:sldLayoutId id="2147483649" '
            'r:id="rId1"/></p:sldLayoutIdLst></p:sldMaster>'
        ).encode(),
        "ppt/slideMasters/_rels/slideMaster1.xml.rels": _relations(
            ("rId1", "slideLayout", "../slideLayouts/slideLayout1.xml"),
            ("rId2", "theme", "../theme/theme1.xml"),
        ),
        "ppt/slideLayouts/slideLayout1.xml": (
            f'{_XML}<p:sldLayout {_P} {_A} {_R} type="titleOnly"><p:cSld name="Title Only">'
            f"{holder}</p:cSld></p:sldLayout>"
        ).encode(),
        "ppt/slideLayouts/_rels/slideLayout1.xml.rels": _relations(
            ("rId1", "slideMaster", "../slideMasters/slideMaster1.xml")
        ),
        "ppt/theme/theme1.xml": (
            f'{_XML}<a:theme {_A} name="Plain"><a:themeElements/></a:theme>'
        ).encode(),
    }


def rich_deck() -> dict[str, bytes]:
    """The parts of a deck of two slides that holds a bit of everything."""
    types = {
        "ppt/presentation.xml": f"{_SHOW}.presentation.main+xml",
        "ppt/slideMasters/slideMaster1.xml": f"{_SHOW}.slideMaster+xml",
        "ppt/slideLayouts/slideLayout1.xml": f"{_SHOW}.slideLayout+xml",
        "ppt/theme/theme1.xml": _THEME,
        "ppt/slides/slide1.xml": f"{_SHOW}.slide+xml",
        "ppt/slides/slide2.xml": f"{_SHOW}.slide+xml",
        "ppt/tags/tag1.xml": f"{_SHOW}.tags+xml",
    }
    return {
        "[Content_Types].xml": _types(types),
        "_rels/.rels": _relations(("rId1", "officeDocument", "ppt/presentation.xml")),
        **_deck_frame(),
        "ppt/slides/slide1.xml": _slide(
            _shape(2, "title", _TITLE) + _shape(3, "body", _BODY) + _PICTURE + _GRID
        ),
        "ppt/slides/_rels/slide1.xml.rels": _relations(
            ("rId1", "slideLayout", "../slideLayouts/slideLayout1.xml"),
            ("rId2", "hyperlink", "https://example.org/"),
            ("rId3", "image", "../media/image1.png"),
        ),
        "ppt/slides/slide2.xml": _slide(_shape(2, "title", "<a:p/>")),
        "ppt/slides/_rels/slide2.xml.rels": _relations(
            ("rId1", "slideLayout", "../slideLayouts/slideLayout1.xml")
        ),
        "ppt/tags/tag1.xml": f'{_XML}<p:tagLst {_P}><p:tag name="A" val="1"/></p:tagLst>'.encode(),
        "ppt/media/image1.png": PNG,
    }


_ROWS = f"""{_XML}<worksheet {_X} {_R} {_MC} mc:Ignorable="x14ac"
 xmlns:x14ac="http://schemas.microsoft.com/office/spreadsheetml/2009/9/ac">
<sheetPr codeName="Sheet1"><tabColor rgb="FF00AA00"/></sheetPr><dimension ref="A1:C4"/>
<sheetViews><sheetView tabSelected="1" zoomScale="85" workbookViewId="0"/></sheetViews>
<sheetFormatPr defaultRowHeight="15" x14ac:dyDescent="0.25"/>
<cols><col min="1" max="1" width="24.7109375" customWidth="1"/></cols><sheetData>
<row r="1" spans="1:3" x14ac:dyDescent="0.25"><c r="A1" s="1" t="inlineStr"><is><t>Fruit</t></is>
 </c><c r="B1" t="inlineStr"><is><t>Crates</t></is></c></row>
<row r="2" ht="20" customHeight="1"><c r="A2" t="inlineStr"><is><r><rPr><b/></rPr>
<t xml:space="preserve">The apple </t></r><r><t>harvest</t></r></is></c><c r="B2"><v>2</v></c></row>
<row r="3"><c r="A3" t="inlineStr"><is><t>pear</t></is></c><c r="B3"><v>3</v></c></row>
<row r="4"><c r="C4" s="1"/></row></sheetData>
<dataValidations count="1"><dataValidation type="whole" sqref="B2:B3"><formula1>0</formula1>
 </dataValidation></dataValidations>
<hyperlinks><hyperlink ref="A3" r:id="rId2"/></hyperlinks>
<pageMargins left="0.7" right="0.7" top="0.75" bottom="0.75" header="0.3" footer="0.3"/>
<pageSetup paperSize="9" orientation="portrait" r:id="rId3"/><drawing r:id="rId1"/>
<tableParts count="1"><tablePart r:id="rId4"/></tableParts>
<extLst><ext uri="{{78C0D931-6437-407d-A8EE-F0AAD7539E65}}"/></extLst></worksheet>"""

_PLACED = f"""{_XML}<xdr:wsDr {_A} {_R}
 xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing">
<xdr:twoCellAnchor editAs="oneCell"><xdr:from><xdr:col>4</xdr:col><xdr:colOff>0</xdr:colOff>
<xdr:row>1</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:from><xdr:to><xdr:col>5</xdr:col>
<xdr:colOff>9</xdr:colOff><xdr:row>2</xdr:row><xdr:rowOff>9</xdr:rowOff></xdr:to><xdr:pic>
<xdr:nvPicPr><xdr:cNvPr id="2" name="Dot" descr="a dot"/><xdr:cNvPicPr/></xdr:nvPicPr><xdr:blipFill>
<a:blip r:embed="rId1"/><a:stretch><a:fillRect/></a:stretch></xdr:blipFill><xdr:spPr>
<a:prstGeom prst="rect"/></xdr:spPr></xdr:pic><xdr:clientData/></xdr:twoCellAnchor></xdr:wsDr>"""


def _book_frame() -> dict[str, bytes]:
    """The parts of a workbook that are not its first sheet."""
    return {
        "xl/workbook.xml": (
            f'{_XML}<workbook {_X} {_R}><workbookPr codeName="Book" defaultThemeVersion="124226"/>'
            '<bookViews><workbookView xWindow="1" yWindow="1"/></bookViews><sheets>'
            '<sheet name="Data" sheetId="3" r:id="rId1"/><sheet name="Spare" sheetId="5" '
            'state="hidden" r:id="rId2"/></sheets><definedNames><definedName name="Crates">'
            "Data!$B$2:$B$3</definedName></definedNames><extLst>"
            '<ext uri="{140A7094-0E35-4892-8432-C4D2E57EDEB5}"/></extLst></workbook>'
        ).encode(),
        "xl/_rels/workbook.xml.rels": _relations(
            ("rId1", "worksheet", "worksheets/sheet1.xml"),
            ("rId2", "worksheet", "worksheets/sheet2.xml"),
            ("rId3", "styles", "styles.xml"),
            ("rId4", "theme", "theme/theme1.xml"),
            ("rId5", "sharedStrings", "sharedStrings.xml"),
            ("rId6", "customXml", "../customXml/item1.xml"),
        ),
        "xl/worksheets/sheet2.xml": (
            f'{_XML}<worksheet {_X}><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c></row>'
            "</sheetData></worksheet>"
        ).encode(),
        "xl/sharedStrings.xml": (
            f'{_XML}<sst {_X} count="1" uniqueCount="1"><si><t>spare</t></si></sst>'
        ).encode(),
        "xl/styles.xml": (
            f'{_XML}<styleSheet {_X}><fonts count="2"><font><sz val="11"/><name val="Calibri"/>'
            '</font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2">'
            '<fill><patternFill patternType="none"/></fill><fill><patternFill '
            'patternType="gray125"/></fill></fills><borders count="1"><border/></borders>'
            '<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf/>'
            '<xf fontId="1" applyFont="1"/></cellXfs><cellStyles count="1">'
            '<cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
        ).encode(),
        "xl/theme/theme1.xml": (
            f'{_XML}<a:theme {_A} name="Plain"><a:themeElements/></a:theme>'
        ).encode(),
        "xl/drawings/drawing1.xml": _PLACED.encode(),
        "xl/drawings/_rels/drawing1.xml.rels": _relations(("rId1", "image", "../media/image1.png")),
        "xl/tables/table1.xml": (
            f'{_XML}<table {_X} id="1" name="Fruits" displayName="Fruits" ref="A1:B3">'
            '<autoFilter ref="A1:B3"/><tableColumns count="2"><tableColumn id="1" name="Fruit"/>'
            '<tableColumn id="2" name="Crates"/></tableColumns></table>'
        ).encode(),
        "xl/media/image1.png": PNG,
        "xl/printerSettings/printerSettings1.bin": bytes(range(256)),
    }


def rich_workbook() -> dict[str, bytes]:
    """The parts of a workbook of two sheets that holds a bit of everything."""
    types = {
        "xl/workbook.xml": f"{_SHEET}.sheet.main+xml",
        "xl/worksheets/sheet1.xml": f"{_SHEET}.worksheet+xml",
        "xl/worksheets/sheet2.xml": f"{_SHEET}.worksheet+xml",
        "xl/styles.xml": f"{_SHEET}.styles+xml",
        "xl/sharedStrings.xml": f"{_SHEET}.sharedStrings+xml",
        "xl/tables/table1.xml": f"{_SHEET}.table+xml",
        "xl/drawings/drawing1.xml": "application/vnd.openxmlformats-officedocument.drawing+xml",
        "xl/theme/theme1.xml": _THEME,
        "xl/printerSettings/printerSettings1.bin": f"{_SHEET}.printerSettings",
    }
    return {
        "[Content_Types].xml": _types(types),
        "_rels/.rels": _relations(("rId1", "officeDocument", "xl/workbook.xml")),
        **_book_frame(),
        "xl/worksheets/sheet1.xml": _ROWS.encode(),
        "xl/worksheets/_rels/sheet1.xml.rels": _relations(
            ("rId1", "drawing", "../drawings/drawing1.xml"),
            ("rId2", "hyperlink", "https://example.org/"),
            ("rId3", "printerSettings", "../printerSettings/printerSettings1.bin"),
            ("rId4", "table", "../tables/table1.xml"),
        ),
        "customXml/item1.xml": b"<season><name>autumn</name></season>",
        "customXml/loose.xml": b"<loose/>",
    }
