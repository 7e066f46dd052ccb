"""Hostile files, generated: packages and their XML, PDF files, pictures, tables and texts.

Each has the numbers by which the list of threats knows it (C for packages, D for the others), and
the answer that is due: "ok" where a file is read as far as it goes, with a word that is then in its
text, or the code of a refusal, with a word of its message.
"""

import zlib
from collections.abc import Callable

import msgspec

from hostile_pages import doing_and_hiding, nested_forms, pages, pictures, tables_and_texts
from hostile_record import LAUGHS, OK, OLE, REFUSED, Hostile
from odt_texts import flat
from office_formats import DOCX, PPTX, XLSX
from pdf_forge import text_pages
from zipforge import Member, deflated, forge, members

__all__ = ["APART", "HOSTILE", "Hostile", "nested_forms"]

Parts = dict[str, bytes]

BOOK, SHEET, TYPES = "xl/workbook.xml", "xl/worksheets/sheet1.xml", "[Content_Types].xml"
STYLES, STRINGS = "xl/styles.xml", "xl/sharedStrings.xml"
SHEET_RELATIONS, BOOK_RELATIONS = "xl/worksheets/_rels/sheet1.xml.rels", f"xl/_rels/{BOOK[3:]}.rels"
DOCUMENT, DOCUMENT_RELATIONS = "word/document.xml", "word/_rels/document.xml.rels"
SETTINGS = "word/settings.xml"
SLIDE, SLIDE_RELATIONS = "ppt/slides/slide1.xml", "ppt/slides/_rels/slide1.xml.rels"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
KINDS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
FAR = "XFD1048576"
HUGE = "1000000000"


APART = {
    "C50": "it is about what a writer loses, not about what a file does: test_office_fidelity",
}
"""Numbers that no file is made for, each with the reason."""


def book(**changed: bytes) -> bytes:
    """A good workbook with parts put in place of others; names have __ for slashes."""
    return put(XLSX.parts(), **changed)


def put(parts: Parts, **changed: bytes) -> bytes:
    """Good parts with some put or added."""
    return forge(members({**parts, **{name.replace("__", "/"): x for name, x in changed.items()}}))


def swapped(parts: Parts, part: str, old: str, new: str) -> bytes:
    """Good parts with a text in one of them replaced."""
    assert old.encode() in parts[part], (part, old)
    return forge(members({**parts, part: parts[part].replace(old.encode(), new.encode(), 1)}))


def sheet(body: str, head: str = "", tail: str = "") -> bytes:
    """A workbook whose first sheet has these rows."""
    data = f'<worksheet xmlns="{MAIN}">{head}<sheetData>{body}</sheetData>{tail}</worksheet>'
    return forge(members({**XLSX.parts(), SHEET: data.encode()}))


ONE = '<row r="1"><c r="A1" t="str"><v>apple</v></c></row>'
DECLARATIONS = {
    "billion laughs": f"<!DOCTYPE x [{LAUGHS}]>",
    "quadratic blowup": f'<!DOCTYPE x [<!ENTITY a9 "{"a" * 100_000}">]>',
    "XXE of a file": '<!DOCTYPE x [<!ENTITY a9 SYSTEM "file:///etc/passwd">]>',
    "XXE of an address": '<!DOCTYPE x [<!ENTITY a9 SYSTEM "http://127.0.0.1:9/x">]>',
}


def declaring(parts: Parts, part: str, which: str) -> bytes:
    """Good parts with a document type before the root of one, and its entity in a text of it."""
    body = parts[part].decode().split("?>", 1)[-1].lstrip()
    times = 10_000 if which == "quadratic blowup" else 1
    body = body.replace("apple", "apple" + "&a9;" * times, 1)
    return forge(members({**parts, part: (DECLARATIONS[which] + body).encode()}))


def declared() -> list[Hostile]:
    """C1 to C4: a document type in a text part, the relations, the types, and other parts."""
    found = []
    places = (
        (XLSX, SHEET), (XLSX, BOOK), (XLSX, BOOK_RELATIONS), (XLSX, TYPES), (XLSX, STRINGS),
        (DOCX, DOCUMENT), (DOCX, DOCUMENT_RELATIONS), (PPTX, "ppt/presentation.xml"),
    )  # fmt: skip
    for number, which in enumerate(DECLARATIONS, 1):
        for case, part in places:
            build = lambda case=case, part=part, which=which: declaring(  # noqa: E731
                case.parts(), part, which
            )
            what = f"{which} in {part}"
            found.append(
                Hostile(f"C{number}", what, f"a{case.suffix}", build, word="document type")
            )
        custom = lambda which=which: with_custom(which)  # noqa: E731
        what = f"{which} in customXml"
        found.append(Hostile(f"C{number}", what, "a.docx", custom, word="document type"))
    return found


def with_custom(which: str) -> bytes:
    """A document with a part of its own XML that has a document type."""
    own = f"{DECLARATIONS[which]}<a>&a9;</a>".encode()
    return holding(DOCX.parts(), DOCUMENT_RELATIONS, "customXml", own)


def text_entry(**how: object) -> bytes:
    """A workbook whose sheet's entry is told otherwise than it is."""
    found = members(XLSX.parts())
    at = [member.name for member in found].index(SHEET.encode())
    found[at] = msgspec.structs.replace(found[at], **how)
    return forge(found)


def beside(*more: Member, is_zip64: bool = False) -> bytes:
    """A workbook with more entries."""
    return forge([*members(XLSX.parts()), *more], is_zip64=is_zip64)


def two_directories() -> bytes:
    """A zip64 whose locator leads to a record that does not end where the locator begins."""
    data = bytearray(forge(members(XLSX.parts()), is_zip64=True))
    at = data.index(b"PK\x06\x06")
    # A record more, beside which the locator still leads to the first one.
    data[at + 56 : at + 56] = data[at : at + 56]
    return bytes(data)


def overlapping() -> bytes:
    """An entry that shares the bytes of another one."""
    return beside(msgspec.structs.replace(members(XLSX.parts())[0], name=b"twin.xml", offset=0))


def zipped() -> list[Hostile]:
    """C5 to C17: what the zip says of itself."""
    evil = b"<a/>"
    cases: list[tuple[str, str, Callable[[], bytes], str]] = [
        ("C5", "a part of 200 MiB of zeros", lambda: beside(
            Member(name=b"m.bin", packed=deflated(bytes(200 << 20)), size=200 << 20,
                   crc=zlib.crc32(bytes(200 << 20)))), "too large"),
        ("C5", "a sheet of 60 MB of blanks", lambda: sheet(ONE + " " * 60_000_000), "unpacks to"),
        ("C6", "entries that overlap", overlapping, "damaged"),
        ("C8", "100,000 entries", lambda: beside(
            *(Member(name=b"m/%d" % n, method=0) for n in range(100_000)), is_zip64=True), "parts"),
        ("C9", "two parts of one name", lambda: beside(Member(name=SHEET.encode(), data=evil)),
         "one name"),
        ("C10", "two parts but for case", lambda: beside(
            Member(name=SHEET.upper().encode(), data=evil)), "one name"),
        ("C11", "a name upwards", lambda: beside(Member(name=b"../../evil", data=evil)), "leaves"),
        ("C12", "a name from the root", lambda: beside(Member(name=b"/abs", data=evil)), "leaves"),
        ("C13", "a name upwards by backslashes", lambda: beside(
            Member(name=b"a\\..\\b", data=evil)), "leaves"),
        ("C14", "a size that is a lie", lambda: text_entry(size=99_999), "damaged"),
        ("C14", "a smaller size", lambda: text_entry(size=50), "damaged"),
        ("C15", "a sum that is a lie", lambda: text_entry(crc=1), "damaged"),
        ("C16", "two directories of a zip64", two_directories, "damaged"),
        ("C17", "a PDF file before it", lambda: forge(
            members(XLSX.parts()), prefix=text_pages(["page"])), "%PDF"),
        ("C17", "junk after it", lambda: forge(members(XLSX.parts())) + b"<html>" * 99, "damaged"),
    ]  # fmt: skip
    found = [
        Hostile(number, what, "a.xlsx", build, word=word) for number, what, build, word in cases
    ]
    nested = Member(name=b"xl/embeddings/a.xlsx", data=forge(members(XLSX.parts())))
    return [
        *found,
        Hostile("C7", "a zip in the zip", "a.xlsx", lambda: beside(nested), OK, "apple"),
    ]


MANY_STYLES = "<cellXfs>" + '<xf numFmtId="0" fontId="0"/>' * 65_000 + "</cellXfs>"


def many_names() -> bytes:
    """A workbook of two million defined names."""
    names = "".join(f'<definedName name="N{n}">{n}</definedName>' for n in range(2_000_000))
    return swapped(XLSX.parts(), BOOK, "<definedNames>", f"<definedNames>{names}")


def many_strings(count: str) -> bytes:
    """A workbook whose table of texts claims to be longer than any memory."""
    return swapped(
        XLSX.parts(), STRINGS, 'count="1" uniqueCount="1"', f'count="{count}" uniqueCount="{count}"'
    )


def columns() -> bytes:
    """A sheet of 16,384 columns, each with a style of its own, many times over."""
    own = "".join(f'<col min="{n}" max="{n}" width="9" style="{n % 3}"/>' for n in range(1, 16_385))
    return sheet(ONE, head=f"<cols>{own}</cols>")


def told_by_numbers() -> list[Hostile]:
    """C18 to C24: workbooks whose numbers ask for more memory than there is, and deep XML."""
    far = f'<row r="1048576"><c r="{FAR}"><v>1</v></c></row>'
    sheets: list[tuple[str, str, Callable[[], bytes], str, str]] = [
        ("C18", f"a cell at {FAR}", lambda: sheet(ONE + far), REFUSED, "too large"),
        ("C18", "a cell as far as is read", lambda: sheet(
            ONE + '<row r="999"><c r="RID999"><v>1</v></c></row>'), OK, "apple"),
        ("C18", "a row of spans without end", lambda: sheet(
            ONE.replace('r="1"', 'r="1" spans="1:99999999999"', 1)), OK, "apple"),
        ("C19", "a merge of the whole sheet", lambda: sheet(
            ONE, tail=f'<mergeCells count="{HUGE}"><mergeCell ref="A2:{FAR}"/></mergeCells>'), OK,
         "apple"),
        ("C20", "a dimension that is a lie", lambda: sheet(
            ONE, head=f'<dimension ref="A1:{FAR}"/>'), OK, "apple"),
        ("C20", "a table of 4,294,967,295 texts", lambda: many_strings("4294967295"), REFUSED,
         "more than"),
        ("C20", "a table of 10^18 texts", lambda: many_strings("1" + "0" * 18), REFUSED,
         "more than"),
        ("C20", "a text past the table", lambda: sheet(
            ONE + '<row r="2"><c r="A2" t="s"><v>4294967295</v></c></row>'), REFUSED, "damaged"),
        ("C21", "16,384 columns with styles", columns, OK, "apple"),
        ("C21", "columns 1 to 16,384 a thousand times", lambda: sheet(ONE, head="<cols>" + (
            '<col min="1" max="16384" width="9" style="1"/>' * 1000) + "</cols>"), OK, "apple"),
        ("C22", "65,000 styles", lambda: put(XLSX.parts(), **{
            STYLES.replace("/", "__"): f'<styleSheet xmlns="{MAIN}">{MANY_STYLES}</styleSheet>'
            .encode()}), OK, "apple"),
        ("C22", "2,000,000 defined names", many_names, REFUSED, "elements"),
        ("C23", "XML of 200,000 levels", lambda: put(XLSX.parts(), xl__workbook=b"", **{
            BOOK.replace("/", "__"): b"<a>" * 200_000 + b"</a>" * 200_000}), REFUSED, "damaged"),
    ]  # fmt: skip
    return [Hostile(n, what, "a.xlsx", build, *due) for n, what, build, *due in sheets]


def told_by_spans() -> list[Hostile]:
    """C20 to C24 of other formats: spans, repeats and levels without end."""
    wide = '<w:tc><w:tcPr><w:gridSpan w:val="1000000000"/></w:tcPr><w:p/></w:tc>'
    table = (
        f"<w:tbl><w:tblGrid>{'<w:gridCol/>' * 100_000}</w:tblGrid><w:tr>{wide * 100}</w:tr></w:tbl>"
    )
    cell = f'<table:table-cell table:number-columns-repeated="{HUGE}"><text:p>apple</text:p>'
    repeated = (
        f'<text:p>a<text:s text:c="{HUGE}"/></text:p><table:table><table:table-row '
        f'table:number-rows-repeated="{HUGE}">{cell}</table:table-cell></table:table-row></table:table>'
    )
    span = (
        f'<a:tbl><a:tr><a:tc gridSpan="{HUGE}" rowSpan="{HUGE}"><a:txBody><a:p/></a:txBody></a:tc>'
        "</a:tr></a:tbl>"
    )
    framed = (
        '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="77" name="T"/></p:nvGraphicFramePr>'
        '<a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/table">'
        f"{span}</a:graphicData></a:graphic></p:graphicFrame></p:spTree>"
    )
    deep = "<x>" * 200_000 + "</x>" * 200_000
    long = f'<w:p a="{"b" * 100_000_000}"/><w:sectPr>'
    return [
        Hostile("C20", "a span of 10^9 grid columns", "a.docx", lambda: swapped(
            DOCX.parts(), DOCUMENT, "<w:sectPr>", f"{table}<w:p/><w:sectPr>"), OK, "apple"),
        Hostile("C20", "tables in tables, 2,000 deep", "a.docx", lambda: swapped(
            DOCX.parts(), DOCUMENT, "<w:sectPr>", "<w:tbl><w:tr><w:tc>" * 2_000
            + "<w:p/></w:tc></w:tr></w:tbl>" * 2_000 + "<w:sectPr>"), REFUSED, "damaged"),
        Hostile("C20", "10^9 repeated cells and blanks", "a.fodt", lambda: flat(repeated), OK,
                "apple"),
        Hostile("C20", "a span of 10^9 cells", "a.pptx", lambda: swapped(
            PPTX.parts(), SLIDE, "</p:spTree>", framed), OK, "apple"),
        Hostile("C23", "a document of 200,000 levels", "a.docx", lambda: swapped(
            DOCX.parts(), DOCUMENT, "<w:sectPr>", f"{deep}<w:sectPr>"), REFUSED, "damaged"),
        Hostile("C24", "an attribute of 100 MB", "a.docx", lambda: swapped(
            DOCX.parts(), DOCUMENT, "<w:sectPr>", long), REFUSED, ""),
    ]  # fmt: skip


FORMULAS = {
    "C25": ('WEBSERVICE("http://127.0.0.1:9/")', "WEBSERVICE"),
    "C26": ('HYPERLINK("http://127.0.0.1:9/")', "HYPERLINK"),
    "C27": ('IMAGE("http://127.0.0.1:9/")', "IMAGE"),
    "C28": ('RTD("a.b",,"c")', "RTD"),
    "C29": ('FILTERXML("&lt;a/&gt;","//a")', "FILTERXML"),
    "C30": ("cmd|'/c calc'!A1", "cmd"),
}


def outside(kind: str, target: str) -> str:
    """A relation that leads out of the package."""
    return (
        f'<Relationship Id="rIdX" Type="{KINDS}/{kind}" Target="{target}" TargetMode="External"/>'
        "</Relationships>"
    )


def related(parts: Parts, relations: str, kind: str, target: str, part: str, more: str) -> bytes:
    """Good parts with a relation that leads out, and what uses it before the end of a part."""
    tail = parts[part].decode()
    at = tail.index("<w:sectPr") if "<w:sectPr" in tail else tail.rindex("</")
    changed = {
        relations: parts[relations].replace(b"</Relationships>", outside(kind, target).encode()),
        part: (tail[:at] + more + tail[at:]).encode(),
    }
    return forge(members({**parts, **changed}))


def document(kind: str, target: str, more: str = "") -> Callable[[], bytes]:
    """A document with a relation that leads out."""
    return lambda: related(DOCX.parts(), DOCUMENT_RELATIONS, kind, target, DOCUMENT, more)


def field(code: str) -> Callable[[], bytes]:
    """A document with a field."""
    more = f'<w:p><w:fldSimple w:instr="{code}"><w:r><w:t>x</w:t></w:r></w:fldSimple></w:p>'
    return lambda: swapped(DOCX.parts(), DOCUMENT, "<w:sectPr>", f"{more}<w:sectPr>")


MICROSOFT = "http://schemas.microsoft.com/office/2006/relationships"
MAIN_RELATIONS = "_rels/.rels"


def holding(
    parts: Parts, relations: str, kind: str, data: bytes, name: str = "held.bin", space: str = KINDS
) -> bytes:
    """Good parts with one more, to which the part that some relations are of is related."""
    folder = relations.partition("_rels/")[0]
    relation = f'<Relationship Id="rIdX" Type="{space}/{kind}" Target="{name}"/></Relationships>'
    held = parts.get(relations, b'<Relationships xmlns="http://schemas.openxmlformats.org/package/'
                                b'2006/relationships"></Relationships>')  # fmt: skip
    changed = {
        relations: held.replace(b"</Relationships>", relation.encode()),
        TYPES: parts[TYPES].replace(
            b"</Types>", b'<Default Extension="bin" ContentType="application/x"/></Types>'
        ),
        folder + name: data,
    }
    return forge(members({**parts, **changed}))


def bound() -> bytes:
    """A document with a content control that is bound to data which it does not hold."""
    control = (
        "<w:sdt><w:sdtPr><w:dataBinding w:xpath='/a' w:storeItemID='{0}'/></w:sdtPr>"
        "<w:sdtContent><w:p/></w:sdtContent></w:sdt>"
    )
    return swapped(DOCX.parts(), DOCUMENT, "<w:sectPr>", f"{control}<w:sectPr>")


def hovered(kind: str = "hlinkMouseOver", target: str = "http://127.0.0.1:9/") -> bytes:
    """A deck with a text that is a link for a pointer which only passes over it."""
    parts = PPTX.parts()
    link = f'<a:rPr><a:{kind} r:id="rIdX"/></a:rPr><a:t>apple'
    parts = {**parts, SLIDE: parts[SLIDE].replace(b"<a:t>apple", link.encode(), 1)}
    assert kind.encode() in parts[SLIDE], parts[SLIDE]
    return related(parts, SLIDE_RELATIONS, "hyperlink", target, SLIDE, "")


def led_out() -> list[Hostile]:
    """C25 to C40: formulas, references and fields, which are read as text, and named."""
    unc = r"\\127.0.0.1\share\x"
    found = [
        Hostile(number, f"={text}", "a.xlsx", lambda text=text: sheet(  # type: ignore[misc]
            ONE + f'<row r="2"><c r="A2"><f>{text}</f><v>1</v></c></row>'), OK, word,
            f"formula: ={word}")
        for number, (text, word) in FORMULAS.items()
    ]  # fmt: skip
    web = "http://127.0.0.1:9/"
    chunk = '<w:altChunk r:id="rIdX"/>'
    away: list[tuple[str, str, str, Callable[[], bytes], str]] = [
        ("C31", "a template elsewhere", "a.docx", document("attachedTemplate", f"file:///{unc}"),
         "external attachedTemplate"),
        ("C32", "a book elsewhere", "a.xlsx", lambda: related(
            XLSX.parts(), BOOK_RELATIONS, "externalLinkPath", f"file:///{unc}", STYLES, ""),
         "external externalLinkPath"),
        ("C33", "a picture elsewhere", "a.docx", document(
            "image", f"{web}a.png", '<w:p><a:blip r:link="rIdX"/></w:p>'), "external image"),
        ("C34", "an object elsewhere", "a.docx", document("oleObject", f"file:///{unc}"),
         "external oleObject"),
        ("C35", "a chunk elsewhere", "a.docx", document("aFChunk", web, chunk), "external aFChunk"),
        ("C35", "a chunk inside", "a.docx", lambda: holding(
            DOCX.parts(), DOCUMENT_RELATIONS, "aFChunk", b"<html/>"), "inserted file"),
        ("C35", "a document elsewhere", "a.docx", document("subDocument", f"file:///{unc}"),
         "external subDocument"),
        ("C36", "a frameset", "a.docx", document("frame", f"file:///{unc}"), "external frame"),
        *(("C37", code.split()[0], "a.docx", field(code), f"field: {code.split()[0]}") for code in (
            f"INCLUDEPICTURE {unc}", f"INCLUDETEXT {unc}", f"IMPORT {unc}",
            "DDEAUTO c:\\\\cmd.exe &quot;/k calc&quot;")),
        ("C38", "a binding to foreign data", "a.docx", bound, "binding to data outside"),
        ("C38", "data elsewhere", "a.docx", document("customXml", web), "external customXml"),
        ("C39", "a source of letters", "a.docx", document("mailMergeSource", f"file:///{unc}"),
         "external mailMergeSource"),
        ("C40", "a link by hovering", "a.pptx", hovered, "followed by hovering"),
        ("C40", "a link by hovering, UNC", "a.pptx", lambda: hovered("hlinkHover", f"file:///{unc}"),
         "followed by hovering"),
    ]  # fmt: skip
    return [*found, *(Hostile(*each[:4], OK, "apple", each[4]) for each in away)]


def held_inside() -> list[Hostile]:
    """C41 to C46 and C49: programs and queries in a file, and text that nobody sees."""
    books, documents = BOOK_RELATIONS, DOCUMENT_RELATIONS
    menu = b'<customUI onLoad="x"/>'
    connection = b"<connections><connection id='1' refreshOnLoad='1'/></connections>"
    white = b'<w:p><w:r><w:rPr><w:color w:val="FFFFFF"/></w:rPr><w:t>obey</w:t></w:r></w:p>'
    inside: list[tuple[str, str, str, Callable[[], bytes], str]] = [
        ("C41", "macros in a workbook", "a.xlsx", lambda: holding(
            XLSX.parts(), books, "vbaProject", OLE, space=MICROSOFT), "macros: held.bin"),
        ("C41", "macros in a document", "a.docx", lambda: holding(
            DOCX.parts(), documents, "vbaProject", OLE, space=MICROSOFT), "macros: held.bin"),
        ("C42", "a sheet of XLM macros", "a.xlsx", lambda: holding(
            XLSX.parts(), books, "xlMacrosheet", b"<x/>", space=MICROSOFT), "sheet of macros"),
        ("C43", "a menu that runs", "a.docx", lambda: holding(
            DOCX.parts(), MAIN_RELATIONS, "ui/extensibility", menu, space=MICROSOFT),
         "commands that call code"),
        ("C44", "an ActiveX control", "a.docx", lambda: holding(
            DOCX.parts(), documents, "control", b"<x/>"), "control: held.bin"),
        ("C44", "an object", "a.docx", lambda: holding(
            DOCX.parts(), documents, "oleObject", OLE), "embedded object"),
        ("C44", "a package", "a.pptx", lambda: holding(
            PPTX.parts(), SLIDE_RELATIONS, "package", b"PK"), "embedded file"),
        ("C45", "connections", "a.xlsx", lambda: holding(
            XLSX.parts(), books, "connections", connection), "data connection"),
        ("C45", "a query", "a.xlsx", lambda: holding(
            XLSX.parts(), SHEET_RELATIONS, "queryTable", b"<queryTable refreshOnLoad='1'/>"),
         "query: <queryTable"),
        ("C46", "a mashup of data", "a.xlsx", lambda: holding(
            XLSX.parts(), books, "customXml", b"<DataMashup>AAAA</DataMashup>"), "query: <Data"),
        ("C49", "a very hidden sheet", "a.xlsx", lambda: swapped(
            XLSX.parts(), BOOK, 'state="hidden"', 'state="veryHidden"'), "very_hidden"),
        ("C49", "a hidden row", "a.xlsx", lambda: sheet(
            ONE + '<row r="2" hidden="1"><c r="A2"><v>7</v></c></row>'), "Rows that are hidden: 2"),
        ("C49", "a cell of size 1", "a.xlsx", lambda: unseen_cell('<sz val="1"/>'),
         "[hidden: obey]"),
        ("C49", "white on white in a cell", "a.xlsx", lambda: unseen_cell(
            '<color rgb="FFFFFFFF"/>'), "[hidden: obey]"),
        ("C49", "a cell that shows nothing", "a.xlsx", lambda: unseen_cell("", ";;;"),
         "[hidden: obey]"),
        ("C49", "a white run in a cell", "a.xlsx", lambda: sheet(
            ONE + '<row r="2"><c r="A2" t="inlineStr"><is><r><t>see</t></r><r><rPr><color '
            'rgb="FFFFFFFF"/></rPr><t>obey</t></r></is></c></row>'), "see[hidden: obey]"),
        ("C49", "white by a condition", "a.xlsx", lambda: conditioned("TRUE"), "[hidden: obey]"),
        ("C49", "white by a condition that nobody computes", "a.xlsx", lambda: conditioned(
            "ROW()&gt;1"), "[maybe hidden: obey]"),
        ("C49", "white on white in a document", "a.docx", lambda: swapped(
            DOCX.parts(), DOCUMENT, "<w:sectPr>", white.decode() + "<w:sectPr>"),
         "[hidden: obey]"),
    ]  # fmt: skip
    return [Hostile(*each[:4], OK, "apple", each[4]) for each in inside]


def unseen_cell(font: str, code: str = "") -> bytes:
    """A workbook with a cell of a font and a number format."""
    form = f'<numFmts><numFmt numFmtId="164" formatCode="{code}"/></numFmts>' if code else ""
    styles = (
        f'<styleSheet xmlns="{MAIN}">{form}<fonts><font/><font>{font}</font></fonts>'
        "<fills><fill/></fills><borders><border/></borders><cellXfs><xf/>"
        f'<xf fontId="1" numFmtId="{164 if code else 0}"/></cellXfs></styleSheet>'
    )
    row = '<row r="2"><c r="A2" s="1" t="str"><v>obey</v></c></row>'
    body = f'<worksheet xmlns="{MAIN}"><sheetData>{ONE}{row}</sheetData></worksheet>'
    return forge(members({**XLSX.parts(), SHEET: body.encode(), STYLES: styles.encode()}))


def conditioned(formula: str) -> bytes:
    """A workbook with a text that a condition makes white."""
    styles = (
        f'<styleSheet xmlns="{MAIN}"><fonts><font/></fonts><fills><fill/></fills><borders><border/>'
        '</borders><cellXfs><xf/></cellXfs><dxfs><dxf><font><color rgb="FFFFFFFF"/></font></dxf>'
        "</dxfs></styleSheet>"
    )
    row = '<row r="2"><c r="A2" t="str"><v>obey</v></c></row>'
    rule = f'<cfRule type="expression" dxfId="0" priority="1"><formula>{formula}</formula></cfRule>'
    body = (
        f'<worksheet xmlns="{MAIN}"><sheetData>{ONE}{row}</sheetData><conditionalFormatting '
        f'sqref="A2:A9">{rule}</conditionalFormatting></worksheet>'
    )
    return forge(members({**XLSX.parts(), SHEET: body.encode(), STYLES: styles.encode()}))


LOCKED = OLE + "EncryptedPackage".encode("utf-16-le")
BINARY = "application/vnd.ms-excel.sheet.binary.macroEnabled.main"
PLAIN = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"


def disguised() -> list[Hostile]:
    """C47 and C48: names that lie, and passwords."""
    cases: list[tuple[str, str, str, Callable[[], bytes], str]] = [
        ("C47", "a binary workbook", "a.xlsx", lambda: swapped(
            XLSX.parts(), TYPES, PLAIN, BINARY), "binary workbook"),
        ("C47", "a web page", "a.xlsx", lambda: b"<html><table/></html>", "a web page"),
        ("C47", "a text", "a.xlsx", lambda: b"a,b\n1,2\n", "it is text"),
        ("C47", "a program", "a.xlsx", lambda: b"\x7fELF" + bytes(900), "not an Office file"),
        ("C47", "a document", "a.xlsx", lambda: put(DOCX.parts()), ""),
        ("C47", "a workbook", "a.docx", lambda: put(XLSX.parts()), ""),
        ("C47", "a program", "a.pdf", lambda: b"\x7fELF" + bytes(5000), "no PDF file"),
        ("C47", "a PDF file", "a.png", lambda: text_pages(["page"]), ""),
        ("C48", "a workbook with a password", "a.xlsx", lambda: LOCKED, "encrypted"),
        ("C48", "a document with a password", "a.docx", lambda: LOCKED, "encrypted"),
        ("C48", "a deck with a password", "a.pptx", lambda: LOCKED, "encrypted"),
        ("C48", "an encrypted entry", "a.xlsx", lambda: text_entry(flags=1), "encrypted"),
    ]  # fmt: skip
    return [Hostile(n, what, name, build, REFUSED, word) for n, what, name, build, word in cases]


HOSTILE: tuple[Hostile, ...] = (
    *declared(), *zipped(), *told_by_numbers(), *told_by_spans(), *led_out(), *held_inside(),
    *disguised(), *pages(), *doing_and_hiding(), *pictures(), *tables_and_texts(),
)  # fmt: skip
