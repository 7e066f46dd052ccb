"""Decks written part by part, for tests of reading: every element is the test's own."""

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from kbd.formats import Source

__all__ = [
    "EMU",
    "NAMES",
    "PACKAGE",
    "box",
    "deck",
    "frame",
    "group",
    "paragraph",
    "placeholder",
    "relations",
    "shape",
    "slide_xml",
]

EMU = 914_400
KINDS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
NAMES = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    f'xmlns:r="{KINDS}" '
    'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" '
    'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main" '
    'xmlns:p14="http://schemas.microsoft.com/office/powerpoint/2010/main"'
)
_MAIN = "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"
_LAYOUT_SHAPES = """
<p:sp><p:nvSpPr><p:cNvPr id="2" name="T"/><p:cNvSpPr/><p:nvPr><p:ph type="ctrTitle"/></p:nvPr>
 </p:nvSpPr><p:spPr><a:xfrm><a:off x="914400" y="457200"/><a:ext cx="7315200" cy="914400"/>
 </a:xfrm></p:spPr></p:sp>
<p:sp><p:nvSpPr><p:cNvPr id="3" name="B"/><p:cNvSpPr/><p:nvPr><p:ph idx="1"/></p:nvPr></p:nvSpPr>
 <p:spPr/></p:sp>
<p:sp><p:nvSpPr><p:cNvPr id="4" name="C"/><p:cNvSpPr/><p:nvPr><p:ph type="body" idx="13"/></p:nvPr>
 </p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:lstStyle><a:lvl1pPr><a:buNone/></a:lvl1pPr>
 </a:lstStyle><a:p/></p:txBody></p:sp>
"""
_MASTER_SHAPES = """
<p:sp><p:nvSpPr><p:cNvPr id="2" name="T"/><p:cNvSpPr/><p:nvPr><p:ph type="title"/></p:nvPr>
 </p:nvSpPr><p:spPr/></p:sp>
<p:sp><p:nvSpPr><p:cNvPr id="3" name="B"/><p:cNvSpPr/><p:nvPr><p:ph type="body" idx="1"/></p:nvPr>
 </p:nvSpPr><p:spPr><a:xfrm><a:off x="914400" y="1828800"/><a:ext cx="7315200" cy="3657600"/>
 </a:xfrm></p:spPr></p:sp>
"""


def deck(
    folder: Path,
    slides: Sequence[str],
    *,
    named: Mapping[int, str] = {},
    parts: Mapping[str, str] = {},
    more: str = "",
    name: str = "a.pptx",
    is_strict: bool = False,
    without: Sequence[str] = (),
    is_packed: bool = True,
) -> Source:
    """Write a deck with one layout, "Lay", and one master.

    Args:
        folder: Where.
        slides: Its slides, as `slide_xml` makes them.
        named: By a slide's index, more of its relations, as `relations` makes them.
        parts: More parts, by name.
        more: What follows the size of the slides in the main part.
        name: The name of the file.
        is_strict: Whether it is written with the strict names.
        without: Names of parts that are left out.
        is_packed: Whether its parts are compressed.
    """
    found = _frame_parts(len(slides), more)
    for index, slide in enumerate(slides):
        found[f"ppt/slides/s{index}.xml"] = slide
        found[f"ppt/slides/_rels/s{index}.xml.rels"] = _rels(
            relations(("l", "slideLayout", "../l.xml")), named.get(index, "")
        )
    path = folder / name
    method = zipfile.ZIP_DEFLATED if is_packed else zipfile.ZIP_STORED
    with zipfile.ZipFile(path, "w", method) as archive:
        for part, text in {**found, **parts}.items():
            if part not in without:
                archive.writestr(part, _strict(text) if is_strict else text)
    return Source(path, name)


def slide_xml(*shapes: str, show: str = "1") -> str:
    """Write a slide of shapes."""
    return (
        f'<p:sld {NAMES} show="{show}"><p:cSld><p:spTree><p:nvGrpSpPr/><p:grpSpPr/>'
        f"{''.join(shapes)}</p:spTree></p:cSld></p:sld>"
    )


def box(x: float, y: float, width: float, height: float) -> str:
    """Write where something is, in inches."""
    sides = [round(side * EMU) for side in (x, y, width, height)]
    return (
        f'<a:xfrm><a:off x="{sides[0]}" y="{sides[1]}"/><a:ext cx="{sides[2]}" cy="{sides[3]}"/>'
        "</a:xfrm>"
    )


def paragraph(text: str, properties: str = "") -> str:
    """Write a paragraph of one run."""
    return f"<a:p>{properties}<a:r><a:t>{text}</a:t></a:r></a:p>"


def placeholder(
    type_: str, *texts: str, index: int | None = None, where: str = "", id_: int = 2
) -> str:
    """Write a placeholder; texts that begin with < are paragraphs as they are."""
    mark = (f' type="{type_}"' if type_ else "") + ("" if index is None else f' idx="{index}"')
    return _shape(f"<p:ph{mark}/>", "", texts, where, id_, f'name="{type_ or "Content"}"')


def shape(
    *texts: str, at: tuple[float, float, float, float] | None = None, id_: int = 9, more: str = ""
) -> str:
    """Write a text box; `more` are attributes of its name."""
    where = box(*at) if at else ""
    return _shape("", ' txBox="1"', texts, where, id_, more or 'name="Box"')


def group(inner: str, where: str, id_: int = 20) -> str:
    """Write a group with its transform."""
    return (
        f'<p:grpSp><p:nvGrpSpPr><p:cNvPr id="{id_}" name="Group"/></p:nvGrpSpPr>'
        f"<p:grpSpPr>{where}</p:grpSpPr>{inner}</p:grpSp>"
    )


def frame(uri: str, inner: str, id_: int = 30) -> str:
    """Write a frame with what it holds."""
    where = box(1, 2, 3, 4).replace("a:xfrm", "p:xfrm")
    return (
        f'<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="{id_}" name="Frame"/>'
        f"</p:nvGraphicFramePr>{where}<a:graphic><a:graphicData "
        f'uri="http://schemas.openxmlformats.org/{uri}">{inner}</a:graphicData></a:graphic>'
        "</p:graphicFrame>"
    )


def relations(*wanted: tuple[str, str, str], is_external: bool = False) -> str:
    """Write relations: an id, the last word of the type, and the target."""
    mode = ' TargetMode="External"' if is_external else ""
    return "".join(
        f'<Relationship Id="{id_}" Type="{KINDS}/{kind}" Target="{target}"{mode}/>'
        for id_, kind, target in wanted
    )


def _frame_parts(count: int, more: str) -> dict[str, str]:
    """Write what is around so many slides."""
    ids = range(count)
    listed = "".join(f'<p:sldId id="{256 + i}" r:id="s{i}"/>' for i in ids)
    main = (
        f"<p:presentation {NAMES}><p:sldMasterIdLst><p:sldMasterId id='1' r:id='m'/>"
        f"</p:sldMasterIdLst><p:sldIdLst>{listed}</p:sldIdLst>"
        f"<p:sldSz cx='9144000' cy='6858000'/>{more}</p:presentation>"
    )
    slide_relations = "".join(relations((f"s{i}", "slide", f"slides/s{i}.xml")) for i in ids)
    return {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="xml" '
        'ContentType="application/xml"/><Override PartName="/ppt/presentation.xml" '
        f'ContentType="{_MAIN}"/></Types>',
        "_rels/.rels": _rels(relations(("m", "officeDocument", "ppt/presentation.xml"))),
        "ppt/presentation.xml": main,
        "ppt/_rels/presentation.xml.rels": _rels(
            slide_relations, relations(("m", "slideMaster", "masters/m.xml"))
        ),
        "ppt/masters/m.xml": f"<p:sldMaster {NAMES}><p:cSld><p:spTree>{_MASTER_SHAPES}</p:spTree>"
        "</p:cSld><p:sldLayoutIdLst><p:sldLayoutId id='2' r:id='l'/></p:sldLayoutIdLst>"
        "<p:txStyles><p:titleStyle/><p:bodyStyle>"
        "<a:lvl1pPr><a:buChar char='*'/></a:lvl1pPr><a:lvl2pPr><a:buChar char='-'/></a:lvl2pPr>"
        "</p:bodyStyle></p:txStyles></p:sldMaster>",
        "ppt/masters/_rels/m.xml.rels": _rels(
            relations(("l", "slideLayout", "../l.xml"), ("t", "theme", "../t.xml"))
        ),
        "ppt/l.xml": f"<p:sldLayout {NAMES}><p:cSld name='Lay'><p:spTree>{_LAYOUT_SHAPES}"
        "</p:spTree></p:cSld></p:sldLayout>",
        "ppt/_rels/l.xml.rels": _rels(relations(("m", "slideMaster", "masters/m.xml"))),
        "ppt/t.xml": f"<a:theme {NAMES} name='Look'/>",
    }


def _rels(*found: str) -> str:
    return f'<Relationships xmlns="{PACKAGE}/relationships">{"".join(found)}</Relationships>'


def _shape(mark: str, marks: str, texts: Sequence[str], where: str, id_: int, names: str) -> str:
    body = "".join(text if text.startswith("<") else paragraph(text) for text in texts)
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="{id_}" {names}/><p:cNvSpPr{marks}/><p:nvPr>{mark}</p:nvPr>'
        f"</p:nvSpPr><p:spPr>{where}</p:spPr><p:txBody><a:bodyPr/>{body}</p:txBody></p:sp>"
    )


def _strict(text: str) -> str:
    """Write a part with the strict names."""
    for name in ("presentationml", "drawingml", "officeDocument"):
        usual = f"http://schemas.openxmlformats.org/{name}/2006/"
        text = text.replace(usual, f"http://purl.oclc.org/ooxml/{name}/")
    return text
