"""Changes of what is related to a sheet: tables, comments, charts, pictures and shapes."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from lxml import etree

from kbd.formats import ChangeList, Place
from kbd.opc.element_names import local_name, local_part
from kbd.opc.package import Package
from kbd.sheets.areas import MAX_COLUMN, MAX_ROW, cell_name
from kbd_xlsx.comparison.book_side import SheetSide
from kbd_xlsx.comparison.item_changes import (
    FLAGS,
    SheetItem,
    add_item_changes,
    as_followed,
    content_of,
)
from kbd_xlsx.comparison.line_maps import NO_SHIFT, BookMaps, SheetMap, Shift
from kbd_xlsx.comparison.places import cell_place, object_place, range_place
from kbd_xlsx.drawings.chart_facts import (
    LEGEND_SIDES,
    axis_titles,
    chart_settings,
    chart_title,
    chart_types,
)
from kbd_xlsx.parts.markup import area_of
from kbd_xlsx.styles.drawings import (
    RELATION_SPACES,
    DrawnObject,
    anchored_range,
    drawing_of,
    drawn_objects,
)

__all__ = ["compare_objects", "find_object", "own_parts"]

_ANCHORS = ("twoCellAnchor", "oneCellAnchor", "absoluteAnchor")
_CACHES = frozenset((
    "numCache", "strCache", "multiLvlStrCache", "AlternateContent", "printSettings",
    "lvl", "userShapes", "externalData", "date1904", "lang",
))  # fmt: skip
_KINDS = {"image": "picture", "chart": "chart"}
_TOLD = frozenset((
    "comments", "threadedComment", "drawing", "table", "image", "chart", "hyperlink",
    # They are of a program and a printer, not of the workbook's contents.
    "printerSettings",
    "chartStyle", "chartColorStyle",
))  # fmt: skip
_OF_CHARTS = frozenset(("chartUserShapes", "themeOverride"))
_UNTOLD = _OF_CHARTS | frozenset((
    "vmlDrawing", "chartEx", "slicer", "pivotTable", "oleObject", "control", "ctrlProp", "package",
))  # fmt: skip
_TOTALS = ("totalsRowLabel", "totalsRowFunction", "totalsRowFormula")
_NOTE = re.compile(rb'<x:ClientData ObjectType="Note">(.*?)</x:ClientData>', re.DOTALL)
_SHAPE = re.compile(rb"<(?:[\w.-]+:)?(?:shape|rect|roundrect|oval|line|polyline|group|image)[\s/>]")
_NOTE_AT = re.compile(rb"<x:(Row|Column)>\s*(\d{1,7})\s*</x:")
_EMU = 12_700
"""Units of a drawing in a point."""


def compare_objects(
    before: SheetSide, after: SheetSide, maps: BookMaps, sheet: SheetMap, changes: ChangeList
) -> None:
    """Add the changes of what is related to a sheet; raises FileReadFailed."""
    shift = Shift(maps, sheet)
    for what, read in (
        ("table", _tables), ("comment", _comments), ("chart", _charts), ("picture", _pictures),
        ("shape", _shapes),
    ):  # fmt: skip
        new = list(read(after, NO_SHIFT))
        gone = as_followed(list(read(before, shift)), list(read(before, NO_SHIFT)), new)
        # A comment on a cell that is gone went with it.
        gone = [item for item in gone if item.name != "#REF!"]
        add_item_changes(what, gone, new, changes)


def find_object(side: SheetSide, part: str) -> Place | None:
    """Return a chart, picture or shape by the `part` of its place; raises FileReadFailed."""
    for read in (_charts, _pictures, _shapes):
        for item in read(side, NO_SHIFT):
            if (item.place.part or "").casefold() == part.casefold():
                return item.place
    return None


class RelatedPart(NamedTuple):
    """A part that belongs to a sheet alone.

    Args:
        is_told: Whether it is compared in the sheet's terms.
        goes_with: Otherwise the part of the chart that it comes and goes with, "" for none.
    """

    is_told: bool
    goes_with: str = ""


def own_parts(side: SheetSide) -> dict[str, RelatedPart]:
    """Return the parts that belong to a sheet alone.

    Raises:
        FileReadFailed: The relations are damaged.
    """
    package = side.book.package
    found: dict[str, RelatedPart] = {}
    if package is None or not side.part:
        return found
    found[side.part] = RelatedPart(is_told=True)
    waiting = [side.part]
    while waiting:
        part = waiting.pop()
        for relation in package.relations(part):
            target, kind = relation.target, relation.kind
            if relation.external or target not in package or target in found:
                continue
            if kind == "image" and not found[part].is_told:
                # Nothing but the part itself tells of the pictures in it.
                found[target] = RelatedPart(is_told=False)
                continue
            if kind not in _TOLD | _UNTOLD:
                continue
            is_told = kind in _TOLD
            if kind == "vmlDrawing":
                is_told = _holds_notes_only(package, target)
            # A chart of a newer kind is listed, but not what is in it.
            goes_with = target if kind == "chartEx" else part if kind in _OF_CHARTS else ""
            found[target] = RelatedPart(is_told, goes_with)
            waiting.append(target)
    return found


def _holds_notes_only(package: Package, part: str) -> bool:
    """Tell whether a drawing is that of comments: no controls, no pictures of headers."""
    data = package.read(part)
    note = b'ObjectType="Note"'
    if note not in data:
        # Without shapes it is what the last comment left.
        return _SHAPE.search(data) is None and not package.relations(part)
    return b"ObjectType=" not in data.replace(note, b"")


def _related(side: SheetSide, kind: str) -> Iterator[str]:
    package = side.book.package
    if package is None or not side.part:
        return
    for relation in package.relations(side.part):
        if relation.kind == kind and not relation.external and relation.target in package:
            yield relation.target


def _tables(side: SheetSide, shift: Shift) -> Iterator[SheetItem]:
    assert side.book.package is not None or not side.part
    for part in _related(side, "table"):
        root = _root(side, part)
        name = root.get("displayName") or root.get("name") or ""
        ref = root.get("ref", "")
        columns = [each.get("name", "") for each in root.iterfind("{*}tableColumns/{*}tableColumn")]
        style = root.find("{*}tableStyleInfo")
        value = {
            "name": name,
            "range": ref,
            "columns": columns,
            "style": style.get("name", "") if style is not None else "",
            "has_totals": root.get("totalsRowCount", "0") != "0",
        }
        details = {
            **value,
            "has_headers": root.get("headerRowCount", "1") != "0",
            "totals": _of_columns(root, _TOTALS, shift),
            "formulas": _of_columns(root, ("calculatedColumnFormula",), shift),
        }
        content = content_of(root, shift), side.book.looks.pointed(root)
        yield SheetItem(name, content, range_place(side.name, ref), value, details)


def _of_columns(table: etree._Element, names: Sequence[str], shift: Shift) -> dict[str, str]:
    """Return attributes or formulas of a table's columns."""
    found = {}
    for column in table.iterfind("{*}tableColumns/{*}tableColumn"):
        texts = [
            column.get(name) or shift.formula(column.findtext(f"{{*}}{name}") or "")
            for name in names
        ]
        if any(texts):
            found[column.get("name", "")] = " ".join(filter(None, texts))
    return found


def _root(side: SheetSide, part: str) -> etree._Element:
    assert side.book.package is not None
    return side.book.package.root(part)


def _comments(side: SheetSide, shift: Shift) -> Iterator[SheetItem]:
    threaded: set[str] = set()
    for part in _related(side, "threadedComment"):
        for element in _root(side, part).iterfind("{*}threadedComment"):
            ref = element.get("ref", "")
            threaded.add(ref)
            text = element.findtext("{*}text") or ""
            done = element.get("done", "0")
            yield _comment(side, shift, ref, text, (element.get("personId", ""), done))
    shown = _shown_notes(side)
    for part in _related(side, "comments"):
        root = _root(side, part)
        authors = [author.text or "" for author in root.iterfind("{*}authors/{*}author")]
        for element in root.iterfind("{*}commentList/{*}comment"):
            ref = element.get("ref", "")
            # Beside a thread stands a copy of it for programs that know none.
            if ref in threaded:
                continue
            number = element.get("authorId", "")
            known = number.isdigit() and len(number) < 6 and int(number) < len(authors)
            text = "".join(each.text or "" for each in element.iter("{*}t"))
            author = authors[int(number)] if known else ""
            looks = tuple(map(content_of, element.iterfind("{*}text/{*}r")))
            yield _comment(side, shift, ref, text, author, looks, is_shown=ref in shown)


def _shown_notes(side: SheetSide) -> set[str]:
    """Return the cells whose comments are always shown."""
    found: set[str] = set()
    for part in _related(side, "vmlDrawing"):
        assert side.book.package is not None
        for note in _NOTE.findall(side.book.package.read(part)):
            at = {name: int(digits) for name, digits in _NOTE_AT.findall(note)}
            is_in = at.get(b"Row", MAX_ROW) < MAX_ROW and at.get(b"Column", MAX_COLUMN) < MAX_COLUMN
            if b"<x:Visible" in note and is_in:
                found.add(cell_name(at[b"Row"] + 1, at[b"Column"] + 1))
    return found


def _comment(
    side: SheetSide,
    shift: Shift,
    ref: str,
    text: str,
    author: Any,
    looks: tuple[Any, ...] = (),
    *,
    is_shown: bool = False,
) -> SheetItem:
    area = area_of(ref)
    place = cell_place(side.name, area.top, area.left) if area else range_place(side.name, ref)
    details = {"author": author, "shown": is_shown} if isinstance(author, str) else {}
    name = shift.ranges(ref)
    return SheetItem(name, (text, author, looks, is_shown), place, text, details)


def _drawn(side: SheetSide) -> tuple[str, etree._Element | None]:
    package = side.book.package
    part = drawing_of(package, side.part) if package is not None and side.part else ""
    return part, _root(side, part) if part else None


def _charts(side: SheetSide, shift: Shift) -> Iterator[SheetItem]:
    part, root = _drawn(side)
    package = side.book.package
    if root is None or package is None:
        return
    targets = {each.id: each.target for each in package.relations(part) if not each.external}
    for drawn in drawn_objects(root):
        if drawn.kind != "chart":
            continue
        frame = drawn.element.find(".//{*}graphicData/{*}chart")
        target = targets.get(_relation(frame, "id"), "")
        chart = package.root(target) if target in package else None
        details = {"range": drawn.range, **_chart_details(chart)}
        content: list[Any] = [_position(drawn, shift)]
        content += map(content_of, drawn.element.iterfind("*/{*}cNvPr"))
        if chart is not None:
            content += _chart_content(chart, shift), _pointed(side, target, chart)
        value = {"name": drawn.name, **details}
        place = object_place(side.name, "chart", drawn.name, drawn.range)
        yield SheetItem(drawn.name, tuple(content), place, value, details)


def _relation(element: etree._Element | None, name: str) -> str:
    if element is None:
        return ""
    return next((str(v) for k, v in element.attrib.items() if str(k).endswith("}" + name)), "")


def _chart_details(chart: etree._Element | None) -> dict[str, Any]:
    """Return what a chart shows: its kinds, title and series."""
    if chart is None:
        return {}
    found: dict[str, Any] = {"kind": chart_types(chart), "title": chart_title(chart)}
    found |= axis_titles(chart) | chart_settings(chart)
    legend = chart.find("{*}chart/{*}legend/{*}legendPos")
    found["legend"] = "none" if legend is None else LEGEND_SIDES.get(legend.get("val", "r"), "")
    for number, series in enumerate(chart.iter("{*}ser"), 1):
        found[f"series {number}"] = {
            key: (series.findtext(f"{{*}}{tag}/*/{{*}}f") or series.findtext(f"{{*}}{tag}/{{*}}v")
                  or "")
            for key, tag in (("name", "tx"), ("categories", "cat"), ("values", "val"),
                             ("x", "xVal"), ("y", "yVal"), ("sizes", "bubbleSize"))
            if series.find(f"{{*}}{tag}") is not None
        }  # fmt: skip
    return found


def _chart_content(element: etree._Element, shift: Shift) -> tuple[Any, ...]:
    """Return what a chart is made of, without what is stored of the cells that it shows."""
    name = local_name(element)
    text = (element.text or "").strip()
    if name == "f":
        text = shift.formula(text)
    attributes = tuple(sorted(
        (str(key), FLAGS.get(str(value), str(value))) for key, value in element.attrib.items()
        if not str(key).startswith("{")
    ))  # fmt: skip
    if name == "extLst":
        # Of what later versions added, only the cells that it shows are more than a look.
        ranges = sorted(shift.formula(each.text or "") for each in element.iter("{*}f"))
        return name, (), tuple(ranges), ()
    children = tuple(
        _chart_content(child, shift)
        for child in element
        if isinstance(child.tag, str)
        and local_name(child) not in _CACHES
        and (local_name(child) != "extLst" or child.find(".//{*}f") is not None)
    )
    return name, attributes, text, children


def _pointed(side: SheetSide, part: str, element: etree._Element) -> tuple[Any, ...]:
    """Return what an element of a part is related to: addresses, and the bytes of pictures."""
    package = side.book.package
    assert package is not None
    relations = {each.id: each for each in package.relations(part)}
    found = []
    for each in element.iter():
        for key, value in sorted(each.attrib.items()):
            relation = relations.get(str(value))
            if relation is None or not str(key).startswith(RELATION_SPACES):
                continue
            target = relation.target if relation.external else ""
            if relation.kind == "image" and not relation.external and relation.target in package:
                target = hashlib.sha256(package.read(relation.target)).hexdigest()
            found.append((local_part(str(key)), target))
    return tuple(found)


def _position(drawn: DrawnObject, shift: Shift) -> tuple[Any, ...]:
    """Return where an object is, and how large."""
    return shift.ranges(drawn.range), *_offsets(drawn.anchor)


def _offsets(anchor: etree._Element) -> tuple[int, ...]:
    """Return the offsets of an anchor in points: programs round them in their own ways."""
    paths = ("from/{*}colOff", "from/{*}rowOff", "to/{*}colOff", "to/{*}rowOff")
    found = [_points(anchor.findtext("{*}" + path)) for path in paths]
    for name, keys in (("ext", ("cx", "cy")), ("pos", ("x", "y"))):
        element = anchor.find(f"{{*}}{name}")
        found.extend(_points(element.get(key) if element is not None else None) for key in keys)
    return tuple(found)


def _points(text: str | None) -> int:
    try:
        return round(int(text or "0") / _EMU)
    except ValueError:
        return 0


def _pictures(side: SheetSide, shift: Shift) -> Iterator[SheetItem]:
    part, root = _drawn(side)
    package = side.book.package
    if root is not None and package is not None:
        relations = {each.id: each for each in package.relations(part)}
        for drawn in drawn_objects(root):
            if drawn.kind != "image":
                continue
            blip = drawn.element.find(".//{*}blip")
            key = _relation(blip, "embed") or _relation(blip, "link")
            relation = relations.get(key)
            digest, size = "", 0
            if relation is not None and not relation.external and relation.target in package:
                data = package.read(relation.target)
                digest, size = hashlib.sha256(data).hexdigest(), len(data)
            value = {"name": drawn.name, "range": drawn.range, "size_bytes": size,
                     "sha256": digest}  # fmt: skip
            linked = relation.target if relation is not None and relation.external else ""
            content = (
                digest,
                linked,
                _position(drawn, shift),
                content_of(drawn.element),
                _pointed(side, part, drawn.element),
            )
            place = object_place(side.name, "picture", drawn.name, drawn.range)
            yield SheetItem(drawn.name, content, place, value, value)
    for target in _related(side, "image"):
        # A picture of the sheet itself lies behind its cells.
        data = package.read(target) if package is not None else b""
        digest = hashlib.sha256(data).hexdigest()
        value = {"size_bytes": len(data), "sha256": digest}
        yield SheetItem("", digest, object_place(side.name, "picture", "background"), value, value)


def _shapes(side: SheetSide, shift: Shift) -> Iterator[SheetItem]:
    """Yield the anchors that hold neither a picture nor a chart alone."""
    part, root = _drawn(side)
    if root is None:
        return
    count = 0
    for anchor, is_wrapped in _anchors(root):
        shapes = [
            each for each in anchor
            if local_name(each) in ("sp", "cxnSp", "grpSp", "graphicFrame", "contentPart",
                                    "AlternateContent")
            or (is_wrapped and local_name(each) == "pic")
        ]  # fmt: skip
        for shape in shapes:
            is_chart = shape.find("{*}graphic/{*}graphicData/{*}chart") is not None
            if local_name(shape) == "graphicFrame" and is_chart and not is_wrapped:
                continue
            count += 1
            properties = shape.find(".//{*}cNvPr")
            name = properties.get("name", "") if properties is not None else f"#{count}"
            drawn = DrawnObject(
                "shape", name, anchored_range(anchor), anchor, shape, is_grouped=False
            )
            text = "".join(each.text or "" for each in shape.iter("{*}t"))
            value = {"name": name, "text": text, "range": drawn.range}
            content = _position(drawn, shift), content_of(shape), _pointed(side, part, shape)
            place = object_place(side.name, "shape", name, drawn.range)
            yield SheetItem(name, content, place, value, value)


def _anchors(root: etree._Element) -> Iterator[tuple[etree._Element, bool]]:
    """Yield the anchors of a drawing, and whether each is one of alternative contents."""
    for anchor in root:
        if local_name(anchor) in _ANCHORS:
            yield anchor, False
        elif local_name(anchor) == "AlternateContent":
            choice = anchor.find("{*}Choice")
            for each in choice if choice is not None else ():
                if local_name(each) in _ANCHORS:
                    yield each, True
