"""Pictures, charts, diagrams and embedded objects, described in words.

Of charts and diagrams these are their titles, names, values and texts, as they were last drawn.
ECMA-376, part 1, 20.2 and 20.4 (DrawingML), 21.2 (charts), 21.4 (diagrams); part 4, 14 and 19
(VML).
"""

import posixpath
from collections.abc import Iterator, Mapping

from lxml import etree

from kbd.errors import FileReadFailed
from kbd.opc.package import Package, Relation
from kbd_docx.document import EMU_PER_INCH, PIC, WP, A, O, R, V, number, parse_related, vector_size
from kbd_docx.reader.contents import DocxPicture

__all__ = [
    "Graphics",
    "chart",
    "drawn_picture",
    "embedded_object",
    "picture_label",
    "vector_picture",
]


_MAX_EMU = 1 << 40
_MAX_CHARS = 1_000
_DIGITS = 3

_WORDS = {"picture": "image", "object": "embedded object"}

_NO_RELATION = Relation("", "", "", external=False)


def picture_label(picture: DocxPicture, content: str = "") -> str:
    """Return the text label of a picture; `content` is the text of a chart or diagram."""
    word = _WORDS.get(picture.kind, picture.kind)
    name = picture.name if picture.kind == "object" else ""
    description = "; ".join(filter(None, (picture.alt_text or name, content)))
    return f"[{word}: {description}]" if description else f"[{word}]"


def drawn_picture(
    element: etree._Element,
    frame: etree._Element | None,
    relations: Mapping[str, Relation],
) -> DocxPicture:
    """Return a picture (`pic:pic`) that stands in a frame, alone or in a group."""
    own = element.find(f"{PIC}nvPicPr/{PIC}cNvPr")
    blip = element.find(f"{PIC}blipFill/{A}blip")
    size = element.find(f"{PIC}spPr/{A}xfrm/{A}ext")
    file = ""
    if blip is not None:
        key = blip.get(f"{R}embed") or blip.get(f"{R}link") or ""
        file = _file(relations.get(key, _NO_RELATION))
    outer = None if frame is None else frame.find(f"{WP}docPr")
    extent = None if frame is None else frame.find(f"{WP}extent")
    width, height = _extent_inches(size if extent is None else extent)
    name = _attribute(outer, "name") or _attribute(own, "name")
    return DocxPicture("picture", _alt_text(outer) or _alt_text(own), name, file, width, height)


def chart(kind: str, frame: etree._Element | None, relation: Relation | None) -> DocxPicture:
    """Return a chart or a diagram that stands in a frame."""
    outer = None if frame is None else frame.find(f"{WP}docPr")
    width, height = _extent_inches(None if frame is None else frame.find(f"{WP}extent"))
    return DocxPicture(
        kind,
        _alt_text(outer),
        _attribute(outer, "name"),
        _file(relation or _NO_RELATION),
        width,
        height,
    )


def vector_picture(element: etree._Element, relations: Mapping[str, Relation]) -> DocxPicture:
    """Return a picture of VML (`v:imagedata`)."""
    shape = element.getparent()
    key = element.get(f"{R}id") or element.get(f"{R}pict") or element.get(f"{O}relid") or ""
    width, height = _inches(*vector_size(shape))
    alt = _attribute(shape, "alt") or _clean(element.get(f"{O}title", ""))
    file = _file(relations.get(key, _NO_RELATION))
    name = _attribute(shape, "id")
    # The ids that Word gives by itself name nothing.
    return DocxPicture(
        "picture", alt, "" if name.startswith("_x0000_") else name, file, width, height
    )


def embedded_object(element: etree._Element, relations: Mapping[str, Relation]) -> DocxPicture:
    """Return an object of another program (`o:OLEObject`); its name is the program's."""
    parent = element.getparent()
    shape = None if parent is None else next(parent.iter(f"{V}shape", f"{V}rect"), None)
    width, height = _inches(*vector_size(shape))
    relation = relations.get(element.get(f"{R}id", ""), _NO_RELATION)
    program = _clean(element.get("ProgID", ""))
    return DocxPicture("object", _attribute(shape, "alt"), program, _file(relation), width, height)


def _file(relation: Relation) -> str:
    target = relation.target if relation.external else posixpath.basename(relation.target)
    return target[:_MAX_CHARS]


def _attribute(element: etree._Element | None, name: str) -> str:
    return "" if element is None else _clean(element.get(name, ""))


def _alt_text(element: etree._Element | None) -> str:
    return _attribute(element, "descr") or _attribute(element, "title")


def _clean(text: str) -> str:
    """Return a text in one line, cut where it is no description any more."""
    return " ".join(text[:_MAX_CHARS].split())


def _extent_inches(extent: etree._Element | None) -> tuple[float, float]:
    if extent is None:
        return 0.0, 0.0
    width, height = (number(extent.get(name), 0, 0, _MAX_EMU) for name in ("cx", "cy"))
    return _inches(width, height)


def _inches(width: int, height: int) -> tuple[float, float]:
    return round(width / EMU_PER_INCH, _DIGITS), round(height / EMU_PER_INCH, _DIGITS)


_MAX_GRAPHIC_CHARS = 2_000
_SERIES, _POINT = "{*}ser", "{*}pt"


class Graphics:
    """The charts and diagrams of a package, each read once.

    Args:
        package: The file.
    """

    def __init__(self, package: Package) -> None:
        self._package = package
        self._texts: dict[str, str] = {}

    def text(self, relation: Relation | None) -> str:
        """Return the text of a chart or diagram in one line, "" if it has none."""
        if relation is None or relation.external:
            return ""
        found = self._texts.get(relation.target)
        if found is None:
            try:
                root = parse_related(self._package, relation)
            except FileReadFailed:
                # A chart that is damaged is one that says nothing.
                root = None
            content = "; ".join(filter(None, _graphic_texts(root))) if root is not None else ""
            found = self._texts[relation.target] = content[:_MAX_GRAPHIC_CHARS]
        return found


def _graphic_texts(root: etree._Element) -> Iterator[str]:
    """Yield the title and the series of a chart, or the texts of a diagram."""
    if not root.tag.endswith("}chartSpace"):
        for text in root.iter(f"{A}p"):
            yield _line(text)
        return
    for title in root.iter("{*}title"):
        yield " ".join(filter(None, map(_line, title.iter(f"{A}p"))))
    for series in root.iter(_SERIES):
        name = ", ".join(_values(series, "tx"))
        categories = list(_values(series, "cat")) or list(_values(series, "xVal"))
        values = list(_values(series, "val")) or list(_values(series, "yVal"))
        if len(categories) == len(values):
            values = [f"{of} {value}" for of, value in zip(categories, values, strict=True)]
        yield f"{name}: {', '.join(values)}" if name else ", ".join(values)


def _values(series: etree._Element, name: str) -> Iterator[str]:
    """Yield the values that were stored of one side of a series."""
    side = series.find(f"{{*}}{name}")
    size = 0
    for point in side.iter(_POINT) if side is not None else ():
        value = " ".join(point.findtext("{*}v", "").split())
        size += len(value)
        if size > _MAX_GRAPHIC_CHARS:
            return
        yield value


def _line(paragraph: etree._Element) -> str:
    return " ".join("".join(text.text or "" for text in paragraph.iter(f"{A}t")).split())
