"""Documents with looks, written by hand, part by part; and what is looked at in results."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lxml import etree
from PIL import Image

from kbd.formats import Applied, AssetPick, Source
from kbd.opc import strict
from kbd_docx import DocxFormat

__all__ = [
    "FORMAT",
    "Relation",
    "W",
    "brand",
    "copy",
    "names_in_order",
    "part",
    "parts_of",
    "picture",
    "plain",
    "png",
    "source",
    "style",
    "styles_of",
    "theme",
    "written", "zipped",
]  # fmt: skip

FORMAT = DocxFormat()
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
Relation = tuple[str, str, str]
"""A relation: its id, the last word of its type, and its target; an address is external."""

_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_SPACES = " ".join(
    f'xmlns:{prefix}="{space}"'
    for prefix, space in {
        "w": W[1:-1],
        "r": _OFFICE,
        "v": "urn:schemas-microsoft-com:vml",
        "o": "urn:schemas-microsoft-com:office:office",
        "wp": "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
        "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
        "pic": "http://schemas.openxmlformats.org/drawingml/2006/picture",
        "w14": "http://schemas.microsoft.com/office/word/2010/wordml",
        "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
    }.items()
)
_ROOTS = {"header": "hdr", "footer": "ftr"}
_THEME = (
    '<a:theme xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" name="t">'
    '<a:themeElements><a:clrScheme name="c">{colors}</a:clrScheme><a:fontScheme name="f">'
    '<a:majorFont><a:latin typeface="{major}"/><a:ea typeface=""/><a:cs typeface=""/>'
    '</a:majorFont><a:minorFont><a:latin typeface="{minor}"/><a:ea typeface=""/>'
    '<a:cs typeface=""/></a:minorFont></a:fontScheme><a:fmtScheme name="m"/></a:themeElements>'
    "</a:theme>"
)


def png(color: str = "#204080", size: tuple[int, int] = (60, 20)) -> bytes:
    """Return a picture of one colour."""
    made = io.BytesIO()
    Image.new("RGB", size, color).save(made, "PNG")
    return made.getvalue()


def theme(major: str, minor: str, accent: str) -> str:
    """Return a theme's part."""
    slots = {"dk1": "000000", "lt1": "FFFFFF", "dk2": "222222", "lt2": "EEEEEE"}
    slots |= {f"accent{number}": accent for number in range(1, 7)}
    slots |= {"hlink": "0000FF", "folHlink": "800080"}
    colors = "".join(f'<a:{k}><a:srgbClr val="{v}"/></a:{k}>' for k, v in slots.items())
    return _THEME.format(colors=colors, major=major, minor=minor)


def style(id_: str, inside: str = "", *, kind: str = "paragraph", name: str = "", more: str = "",
          ) -> str:  # fmt: skip
    """Return a style's element."""
    return (
        f'<w:style w:type="{kind}" w:styleId="{id_}" {more}><w:name w:val="{name or id_}"/>'
        f"{inside}</w:style>"
    )


def picture(relation: str, *, name: str = "Logo", alt: str = "", id_: int = 1, link: str = "",
            size: tuple[int, int] = (914400, 457200)) -> str:  # fmt: skip
    """Return a run with a picture in its line."""
    blip = f'r:link="{link}"' if link else f'r:embed="{relation}"'
    return (
        f'<w:r><w:drawing><wp:inline><wp:extent cx="{size[0]}" cy="{size[1]}"/>'
        f'<wp:docPr id="{id_}" name="{name}" descr="{alt}"/><a:graphic><a:graphicData '
        'uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic><pic:nvPicPr>'
        f'<pic:cNvPr id="0" name="x"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip {blip}/>'
        "<a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm>"
        f'<a:off x="0" y="0"/><a:ext cx="{size[0]}" cy="{size[1]}"/></a:xfrm>'
        '<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic></a:graphicData>'
        "</a:graphic></wp:inline></w:drawing></w:r>"
    )


def written(
    path: Path,
    body: str,
    parts: Mapping[str, str | bytes] | None = None,
    relations: Mapping[str, Sequence[Relation]] | None = None,
) -> Path:
    """Write a document and return its path.

    Args:
        path: Where.
        body: What is in its body.
        parts: What is in its other parts, by their names without a suffix ("styles", "header1");
            "theme" whole; one with a "." is bytes.
        relations: More relations by part ("document", "header1"). The main part is related to
            every part that is no bytes by "r" and its name.
    """
    insides: dict[str, str | bytes] = {"document": f"<w:body>{body}</w:body>", **(parts or {})}
    related = {key: list(value) for key, value in (relations or {}).items()}
    types = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, inside in insides.items():
            kind = name.rstrip("0123456789")
            if "." in name:
                archive.writestr(f"word/{name}", inside)
                continue
            root = f"w:{_ROOTS.get(kind, kind)}"
            whole = inside if kind == "theme" else f"<{root} {_SPACES}>{inside!s}</{root}>"
            archive.writestr(f"word/{name}.xml", whole)
            type_ = f"{_WORD}.{'document.main' if kind == 'document' else kind}+xml"
            if kind == "theme":
                type_ = "application/vnd.openxmlformats-officedocument.theme+xml"
            types.append((f"/word/{name}.xml", type_))
            if kind != "document":
                related.setdefault("document", []).append((f"r{name}", kind, f"{name}.xml"))
        for name, rows in related.items():
            archive.writestr(f"word/_rels/{name}.xml.rels", _relations(rows))
        main = _relations([("r1", "officeDocument", "word/document.xml")])
        archive.writestr("_rels/.rels", main)
        archive.writestr("[Content_Types].xml", _types(types))
    return path


def _brand_styles() -> str:
    """Styles of every kind, in a chain, with numbers and the theme's fonts and colours."""
    return (
        '<w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:asciiTheme="minorHAnsi" '
        'w:hAnsiTheme="minorHAnsi"/><w:sz w:val="22"/></w:rPr></w:rPrDefault><w:pPrDefault><w:pPr>'
        '<w:spacing w:after="160" w:line="259" w:lineRule="auto"/></w:pPr></w:pPrDefault>'
        "</w:docDefaults>"
        + style("Normal", more='w:default="1"')
        + style("DefaultParagraphFont", kind="character", name="Default Paragraph Font",
                more='w:default="1"')
        + style("TableNormal", kind="table", name="Normal Table", more='w:default="1"')
        + style("BrandBase", '<w:basedOn w:val="Normal"/><w:pPr><w:keepNext/><w:jc w:val="center"/>'
                '</w:pPr><w:rPr><w:i/></w:rPr>', name="Brand Base")
        + style("BrandHeading", '<w:basedOn w:val="BrandBase"/><w:next w:val="BrandBody"/>'
                '<w:link w:val="BrandHeadingChar"/><w:qFormat/><w:pPr><w:numPr><w:numId '
                'w:val="7"/></w:numPr><w:spacing w:before="240" w:after="120"/><w:outlineLvl '
                'w:val="0"/></w:pPr><w:rPr><w:rFonts w:asciiTheme="majorHAnsi" '
                'w:hAnsiTheme="majorHAnsi"/><w:b/><w:color w:val="112233" w:themeColor="accent1"/>'
                '<w:sz w:val="44"/></w:rPr>', name="Brand Heading")
        + style("BrandHeadingChar", '<w:basedOn w:val="DefaultParagraphFont"/><w:link '
                'w:val="BrandHeading"/><w:rPr><w:b/><w:sz w:val="44"/></w:rPr>', kind="character",
                name="Brand Heading Char")
        + style("BrandBody", '<w:basedOn w:val="Normal"/><w:pPr><w:ind w:left="720" '
                'w:hanging="360"/></w:pPr>', name="Brand Body")
        + style("Shout", '<w:rPr><w:caps/><w:u w:val="single"/><w14:ligatures w14:val="all"/>'
                '</w:rPr>', kind="character")
        + style("Grid", '<w:basedOn w:val="TableNormal"/><w:tblPr><w:tblBorders><w:top '
                'w:val="single" w:sz="8" w:color="auto" w:themeColor="accent1"/></w:tblBorders>'
                '</w:tblPr><w:tblStylePr w:type="firstRow"><w:rPr><w:b/></w:rPr></w:tblStylePr>',
                kind="table", name="Brand Grid")
        + style("Legal", '<w:pPr><w:numPr><w:numId w:val="8"/></w:numPr></w:pPr>',
                kind="numbering")
    )  # fmt: skip


def _brand_lists() -> str:
    """Two lists; the levels of one belong to styles, the other is a style's."""
    levels = "".join(
        f'<w:lvl w:ilvl="{level}"><w:start w:val="1"/><w:numFmt w:val="{form}"/>{linked}'
        f'<w:lvlText w:val="%{level + 1}."/><w:lvlJc w:val="left"/><w:pPr><w:ind w:left="'
        f'{360 * (level + 1)}" w:hanging="360"/></w:pPr></w:lvl>'
        for level, form, linked in (
            (0, "decimal", '<w:pStyle w:val="BrandHeading"/>'),
            (1, "lowerLetter", '<w:pStyle w:val="BrandBody"/>'),
        )
    )
    return (
        f'<w:abstractNum w:abstractNumId="3"><w:nsid w:val="1A2B3C4D"/>{levels}</w:abstractNum>'
        '<w:abstractNum w:abstractNumId="4"><w:nsid w:val="0000AAAA"/><w:styleLink '
        'w:val="Legal"/><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="upperRoman"/>'
        '<w:lvlText w:val="%1)"/></w:lvl></w:abstractNum>'
        '<w:num w:numId="7"><w:abstractNumId w:val="3"/></w:num>'
        '<w:num w:numId="8"><w:abstractNumId w:val="4"/></w:num>'
    )


def brand(path: Path) -> Path:
    """Write a document with every kind of thing that can be copied."""
    head = (
        '<w:p><w:pPr><w:pStyle w:val="BrandBody"/></w:pPr>'
        + picture("rL", name="Logo", alt="The sign", id_=1)
        + '<w:hyperlink r:id="rH"><w:r><w:t>acme.example</w:t></w:r></w:hyperlink></w:p>'
    )
    body = (
        '<w:p><w:pPr><w:pStyle w:val="BrandHeading"/></w:pPr><w:r><w:t>Title</w:t></w:r></w:p>'
        '<w:p><w:r><w:rPr><w:rStyle w:val="Shout"/></w:rPr><w:t>text</w:t></w:r></w:p>'
        f"<w:p>{picture('rP', name='Chart', alt='Sales by year', id_=2, size=(1828800, 914400))}"
        '</w:p><w:tbl><w:tblPr><w:tblStyle w:val="Grid"/></w:tblPr><w:tblGrid><w:gridCol/>'
        "</w:tblGrid><w:tr><w:tc><w:p/></w:tc></w:tr></w:tbl><w:p/>"
        '<w:sectPr><w:headerReference w:type="default" r:id="rheader1"/><w:headerReference '
        'w:type="first" r:id="rheader2"/><w:footerReference w:type="default" r:id="rfooter1"/>'
        '<w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="720" w:right="1440" w:bottom="720" '
        'w:left="1440" w:header="500" w:footer="500" w:gutter="0"/></w:sectPr>'
    )
    footer = (
        '<w:p><w:r><w:t xml:space="preserve">Page </w:t></w:r><w:r><w:fldChar '
        'w:fldCharType="begin"/></w:r><w:r><w:instrText> PAGE </w:instrText></w:r><w:r>'
        '<w:fldChar w:fldCharType="end"/></w:r></w:p>'
    )
    return written(
        path,
        body,
        {
            "styles": _brand_styles(),
            "numbering": _brand_lists(),
            "header1": head,
            "header2": "<w:p><w:r><w:t>First page</w:t></w:r></w:p>",
            "footer1": footer,
            "theme": theme("Georgia", "Verdana", "AA3300"),
            "media/logo.png": png("#204080"),
            "media/chart.png": png("#804020", (80, 40)),
        },
        {
            "document": [("rP", "image", "media/chart.png")],
            "header1": [
                ("rL", "image", "media/logo.png"),
                ("rH", "hyperlink", "https://acme.example/"),
            ],
        },
    )


def plain(path: Path, sections: int = 1, **parts: str | bytes) -> Path:
    """Write a document of other defaults, with five paragraphs a section."""
    sheet = (
        '<w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="Courier New" '
        'w:hAnsi="Courier New"/><w:b/></w:rPr></w:rPrDefault></w:docDefaults>'
        + style("a", '<w:pPr><w:ind w:right="200"/></w:pPr>', name="Normal", more='w:default="1"')
    )
    page = '<w:sectPr><w:pgSz w:w="12240" w:h="15840"/></w:sectPr>'
    body = ""
    for number in range(sections):
        ends = f"<w:p><w:pPr>{page}</w:pPr></w:p>" if number < sections - 1 else page
        lines = "".join(f"<w:p><w:r><w:t>Line {line}</w:t></w:r></w:p>" for line in range(1, 5))
        body += lines + ends
    return written(path, body, {"styles": sheet, **parts})


def source(path: Path) -> Source:
    """Return a file as a source."""
    return Source(path, path.name)


def copy(path: Path, into: Path | None, *picks: str | tuple[str, str]) -> tuple[Path, Applied]:
    """Copy assets into a document, or into a new one; return what was written and told."""
    number = len(list(path.parent.glob("out*.docx")))
    target = path.parent / f"out{number}.docx"
    wanted = [AssetPick(each) if isinstance(each, str) else AssetPick(*each) for each in picks]
    found = FORMAT.copy_assets(source(path), source(into) if into else None, tuple(wanted), target)
    assert found.applied == len(picks) == len(found.changed)
    return target, found


def parts_of(path: Path) -> dict[str, bytes]:
    """Return a package's parts; that none comes twice and that all are whole is checked."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        assert len(names) == len(set(names))
        assert archive.testzip() is None
        return {name: archive.read(name) for name in names}


def part(path: Path, name: str) -> etree._Element:
    """Return a part's root."""
    return etree.fromstring(parts_of(path)[f"word/{name}.xml"])


def strictly(path: Path, target: Path) -> Path:
    """Write a document with the strict variant's names, and `start` in place of `left`."""
    parts = {
        name: strict(data) if name.endswith((".xml", ".rels")) else data
        for name, data in parts_of(path).items()
    }
    parts["word/styles.xml"] = parts["word/styles.xml"].replace(b"w:left=", b"w:start=")
    return zipped(target, parts)


def zipped(target: Path, parts: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    """Write parts as a package."""
    with zipfile.ZipFile(target, "w", method) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return target


def styles_of(path: Path) -> dict[str, dict[str, Any]]:
    """Return what get_styles tells of a document's styles, by their names without blanks."""
    told = FORMAT.get_styles(source(path), None)
    lists = ("paragraph_styles", "character_styles", "table_styles", "numbering_styles")
    return {entry["name"].replace(" ", ""): entry for key in lists for entry in told[key]}


def names_in_order(element: etree._Element) -> list[str]:
    """Return the names of an element's children."""
    return [etree.QName(each).localname for each in element if isinstance(each.tag, str)]


def _relations(rows: Sequence[Relation]) -> str:
    made = "".join(
        f'<Relationship Id="{id_}" Type="{_OFFICE}/{kind}" Target="{target}"'
        + (' TargetMode="External"/>' if ":" in target else "/>")
        for id_, kind, target in rows
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{made}</Relationships>'


def _types(rows: Sequence[tuple[str, str]]) -> str:
    made = "".join(f'<Override PartName="{name}" ContentType="{type_}"/>' for name, type_ in rows)
    defaults = (
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        '<Default Extension="png" ContentType="image/png"/>'
    )
    return f'<Types xmlns="{_PACKAGE}/content-types">{defaults}{made}</Types>'
