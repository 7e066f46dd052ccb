"""Texts of a workbook by the cells that hold them, and the parts in whose bytes a text is found.

Both are read without the code under test.
"""

import posixpath
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape, unescape

from lxml import etree

__all__ = [
    "MIN_LENGTH",
    "CellTexts",
    "book_texts",
    "deleted_texts",
    "found_in",
    "left_behind",
    "own_places",
    "pack",
    "share_texts",
    "unpacked",
]

MIN_LENGTH = 6
"""Characters of a text that is distinctive enough to be searched for in bytes."""

CellTexts = dict[str, dict[str, str]]
"""Texts by the title of their sheet and the name of their cell."""

# Parts that say something of their own, which no cell's text is kept in.
_OWN = (
    "comments", "threadedcomments", "drawings", "docprops/core", "docprops/custom", "theme",
    "styles", "persons", "workbook.xml", "diagrams", "docmetadata", "_rels/", "tables/",
    "ctrlprops", "activex", "embeddings", "media", "connections.xml", "querytables", "xmlmaps",
    "[content_types]", "worksheets/",
)  # fmt: skip


def unpacked(path: Path) -> dict[str, bytes]:
    """Return the parts of a package."""
    with zipfile.ZipFile(path) as archive:
        return {
            info.filename.replace("\\", "/"): archive.read(info)
            for info in archive.infolist()
            if not info.is_dir()
        }


def _root(data: bytes) -> etree._Element:
    parser = etree.XMLParser(remove_comments=True, remove_pis=True, huge_tree=True)
    return etree.fromstring(data, parser)


def _text(element: etree._Element | None) -> str:
    return "" if element is None else "".join(each.text or "" for each in element.iter("{*}t"))


def _related(parts: Mapping[str, bytes], part: str) -> dict[str, tuple[str, str]]:
    folder, name = posixpath.split(part)
    rels = parts.get(posixpath.join(folder, "_rels", f"{name}.rels"), b"<x/>")
    return {
        each.get("Id", ""): (
            each.get("Type", "").rpartition("/")[2],
            posixpath.normpath(posixpath.join("/", folder, each.get("Target", ""))).lstrip("/"),
        )
        for each in _root(rels)
    }


def book_texts(parts: Mapping[str, bytes]) -> CellTexts:
    """Return the texts of all cells: shared ones, those of their own, results of formulas."""
    main = next(target for kind, target in _related(parts, "").values() if kind == "officeDocument")
    related = _related(parts, main)
    shared = [t for kind, t in related.values() if kind == "sharedStrings" and t in parts]
    strings = [_text(item) for item in _root(parts[shared[0]]).iter("{*}si")] if shared else []
    found: CellTexts = {}
    for sheet in _root(parts[main]).iterfind("{*}sheets/{*}sheet"):
        number = next((str(v) for k, v in sheet.attrib.items() if str(k).endswith("}id")), "")
        _, part = related.get(number, ("", ""))
        cells = found.setdefault(sheet.get("name", ""), {})
        for cell in _root(parts.get(part, b"<x/>")).iter("{*}c"):
            value = (cell.findtext("{*}v") or "").strip()
            match cell.get("t"):
                case "s" if value:
                    text = strings[int(value)] if int(value) < len(strings) else ""
                case "inlineStr":
                    text = _text(cell.find("{*}is"))
                case "str":
                    text = value
                case _:
                    continue
            cells[cell.get("r", "")] = text
    return found


def share_texts(path: Path) -> None:
    """Have a workbook that openpyxl wrote, with texts in its cells, share them between cells."""
    parts, texts, uses = unpacked(path), list[bytes](), 0

    def shared(found: re.Match[bytes]) -> bytes:
        nonlocal uses
        uses += 1
        if found[1] not in texts:
            texts.append(found[1])
        return b't="s"><v>%d</v>' % texts.index(found[1])

    inline = re.compile(b't="inlineStr"><is><t>([^<]*)</t></is>')
    for name in [name for name in parts if "worksheets/sheet" in name]:
        parts[name] = inline.sub(shared, parts[name])
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings"
    items = b"".join(b"<si><t>%b</t></si>" % text for text in texts)
    head = f'<sst xmlns="{main}" count="{uses}" uniqueCount="{len(texts)}">'
    parts["xl/sharedStrings.xml"] = head.encode() + items + b"</sst>"
    rels, types = "xl/_rels/workbook.xml.rels", "[Content_Types].xml"
    relation = f'<Relationship Id="texts" Type="{kind}" Target="sharedStrings.xml"/>'
    parts[rels] = parts[rels].replace(b"</Rel", relation.encode() + b"</Rel")
    if b"sharedStrings" not in parts[types]:
        entry = (
            '<Override PartName="/xl/sharedStrings.xml" ContentType="application/'
            'vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/>'
        )
        parts[types] = parts[types].replace(b"</Types", entry.encode() + b"</Types")
    pack(path, parts)


def pack(path: Path, parts: Mapping[str, bytes]) -> None:
    """Write a package of parts."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)


def own_places(part: str) -> bool:
    """Tell whether a part has texts of its own, which are not copies of cells."""
    folded = part.lower()
    return any(each in folded for each in _OWN)


def found_in(text: str, parts: Mapping[str, bytes]) -> list[str]:
    """Return the parts that have a text: anywhere in shared strings, as a whole value elsewhere."""
    forms = {
        re.escape(escape(text, entities).encode())
        for entities in ({}, {'"': "&quot;"}, {'"': "&quot;", "'": "&apos;"})
    }
    anywhere = re.compile(b"|".join(forms))
    whole = re.compile(b"(?<=[>\"'\\[])(?:" + b"|".join(forms) + b")(?=[<\"'\\]])")
    return [
        name
        for name, data in parts.items()
        if (anywhere if "sharedstrings" in name.lower() else whole).search(data)
    ]


def deleted_texts(before: CellTexts, parts: Mapping[str, bytes], title: str = "") -> list[str]:
    """Return the texts of cells before, and the title of a sheet, that no cell or name has now."""
    after = book_texts(parts)
    # The workbook part has the titles and names that there are.
    kept = "\0".join({text for cells in after.values() for text in cells.values()})
    kept += unescape(parts.get("xl/workbook.xml", b"").decode())
    texts = {text for cells in before.values() for text in cells.values()} | {title}
    return [text for text in texts if len(text) >= MIN_LENGTH and text not in kept]


def left_behind(
    gone: Sequence[str], parts: Mapping[str, bytes], warnings: Sequence[str]
) -> list[tuple[str, str]]:
    """Return where deleted texts are found all the same, in parts that no warning names."""
    return [
        (part, text)
        for text in gone
        if not _is_number(text)
        for part in found_in(text, parts)
        if not any(part in warning for warning in warnings) and not own_places(part)
    ]


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).replace("-", "", 1).isdigit()
