"""Active content of a package, whatever its format: what its parts refer to, run, fetch or embed.

Told by the kinds of relations and by what stands in the few parts that they lead to. What is in
the text itself (formulas, fields) the formats add. What is embedded is compared by its bytes, so
that a macro which was changed is another one.
"""

import hashlib
import io
import posixpath
import re
import zlib
from collections.abc import Callable, Iterator
from zipfile import BadZipFile, ZipFile, ZipInfo

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.formats.active import ActiveContent
from kbd.opc.package import Package, Relation, reading_errors

__all__ = ["AddContent", "active_content", "parts_of", "sends_or_opens"]

AddContent = Callable[[Package, ActiveContent], None]
"""Adds what a format has in its text."""

_LINK = "hyperlink"
_SENDS = re.compile(
    r"\?.|^[^/]*//[^/?#]*@|^(?:file|smb|ftp):|^\\\\|^//|^javascript:|^vbscript:", re.IGNORECASE
)

_BY_KIND = {
    "vbaProject": "macros",
    "wordVbaData": "",
    "xlMacrosheet": "sheet of macros",
    "xlIntlMacrosheet": "sheet of macros",
    "control": "control",
    "activeXControlBinary": "control",
    "oleObject": "embedded object",
    "package": "embedded file",
    "aFChunk": "inserted file",
    "extensibility": "commands that call code",
    "customUI": "commands that call code",
    "userCustomization": "commands that call code",
    "keyMapCustomizations": "keys that call code",
    "attachedToolbars": "commands that call code",
    "webextension": "add-in",
    "webextensiontaskpane": "add-in",
    "taskpane": "add-in",
    "afChunk": "inserted file",
}
"""What a relation's kind says of the part that it leads to."""

_IN_PARTS = {
    "connections": (
        "data connection",
        re.compile(rb"<(?:\w+:)?(?:connection|dbPr|webPr|textPr)\s[^>]*>"),
    ),
    "queryTable": ("query", re.compile(rb"<(?:\w+:)?queryTable\s[^>]*>")),
    "externalLink": ("link to a program", re.compile(rb"<(?:\w+:)?(?:ddeLink|oleLink)\s[^>]*>")),
    "pivotCacheDefinition": (
        "data that is refreshed when it is opened",
        re.compile(rb"<(?:\w+:)?pivotCacheDefinition\s[^>]*refreshOnLoad=[\"'](?:1|true)[^>]*>"),
    ),
    "customXml": ("query", re.compile(rb"<(?:\w+:)?DataMashup\b[^>]*>[^<]{0,4096}")),
    "settings": ("mail merge", re.compile(rb"<(?:\w+:)?(?:mailMerge|query|connectString)\b[^>]*>")),
}
"""Elements that fetch, in the parts that relations of a kind lead to."""

_ACTION = re.compile(
    rb"\saction=[\"'](ppaction://(?:macro|program|hlinkfile|ole|hlinkpres)[^\"']*)"
)
_HOVERED = re.compile(
    rb"<(?:\w+:)?hlink(?:MouseOver|Hover)\s[^>]*?\b(?:\w+:)?id\s*=\s*[\"']([^\"']*)[\"']"
)
_CHART_TYPE = "drawingml.chart+xml"
_PLAIN_PARTS = re.compile(
    r"\[Content_Types\]\.xml|_rels/\.rels|docProps/(?:app|core)\.xml|xl/(?:workbook|styles|"
    r"sharedStrings|worksheets/sheet\d+|theme/theme\d+|tables/table\d+)\.xml|"
    r"xl/(?:worksheets/)?_rels/[\w.]+\.rels"
)
"""What a workbook of plain values is made of (ECMA-376, part 1, 12.2)."""
_MORE_THAN_VALUES = re.compile(
    rb"\0|<(?:\w+:)?(?:f|definedName|calculatedColumnFormula|oleObject|control|legacyDrawing)[\s/>]|"
    rb"TargetMode\s*=\s*[\"']External|<!DOCTYPE|macroEnabled",
    re.IGNORECASE,
)
_MAX_DATA_PARTS = 100
_MAX_DATA_BYTES = 4 * 1024 * 1024
_MAX_PART_BYTES = 32 * 1024 * 1024


def sends_or_opens(target: str) -> bool:
    """Tell whether a link sends something on, or opens what is no page, when it is followed."""
    return _SENDS.search(target) is not None


def active_content(
    source: Source, known: tuple[Source, ...], add: AddContent | None = None
) -> tuple[str, ...]:
    """Return the active content of a package that none of some others has.

    Args:
        source: The package.
        known: The others.
        add: Adds what stands in its text.

    Raises:
        FileReadFailed: It is damaged, encrypted, or past a limit.
    """
    found = _collect(source, add)
    return found.new_texts(_collect(each, add) for each in known)


def _collect(source: Source, add: AddContent | None) -> ActiveContent:
    found = ActiveContent()
    with Package(source) as package, reading_errors(source.name):
        for part in parts_of(package):
            relations = _relations(package, part)
            for relation in relations:
                if not _is_chart_data(package, part, relation):
                    _add_relation(found, package, relation)
            if any(relation.external and relation.kind == _LINK for relation in relations):
                _add_hovered(found, package, part, relations)
        if add is not None:
            add(package, found)
    return found


def parts_of(package: Package) -> Iterator[str]:
    """Yield the parts that have relations, and the package itself as ""."""
    for info in package.entries:
        folder, base = posixpath.split(info.filename.replace("\\", "/"))
        if base.endswith(".rels") and posixpath.basename(folder) == "_rels":
            owner = base.removesuffix(".rels")
            yield posixpath.join(posixpath.dirname(folder), owner) if owner else ""


def _relations(package: Package, part: str) -> tuple[Relation, ...]:
    try:
        return package.relations(part)
    except FileReadFailed:
        return ()  # Damaged ones lead nowhere, for programs as for us.


def _add_relation(found: ActiveContent, package: Package, relation: Relation) -> None:
    if relation.external:
        if relation.kind != _LINK:
            found.add(f"external {relation.kind}", relation.target)
        elif sends_or_opens(relation.target):
            found.add("link that sends or opens", relation.target)
        return
    if relation.target not in package:
        return
    if kind := _BY_KIND.get(relation.kind, ""):
        digest = hashlib.sha256(package.read(relation.target)).hexdigest()
        found.add(kind, digest, shown=posixpath.basename(relation.target))
    elif relation.kind in _IN_PARTS:
        name, pattern = _IN_PARTS[relation.kind]
        for element in pattern.findall(_data(package, relation.target)):
            found.add(name, element.decode("utf-8", "replace"))
    if relation.kind in ("slide", "slideLayout", "slideMaster"):
        for action in _ACTION.findall(_data(package, relation.target)):
            found.add("action", action.decode("utf-8", "replace"))


def _is_chart_data(package: Package, part: str, relation: Relation) -> bool:
    """Tell whether a relation leads to the values behind a chart, and to nothing else.

    Programs keep them as a workbook of their own, which people open to edit the chart. One that
    holds more than values in cells (formulas, code, references to the outside) is an embedded file.
    """
    if relation.kind != "package" or relation.external or relation.target not in package:
        return False
    if not package.content_type(part).endswith(_CHART_TYPE):
        return False
    with package.open(relation.target) as file:
        data = file.read(_MAX_PART_BYTES + 1)
    if len(data) > _MAX_PART_BYTES:
        return False
    try:
        with ZipFile(io.BytesIO(data)) as book:
            parts = book.infolist()
            return len(parts) <= _MAX_DATA_PARTS and all(
                _holds_values(book, each) for each in parts
            )
    # What the library raises on a damaged file.
    except (BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError, OSError):
        return False


def _holds_values(book: ZipFile, info: ZipInfo) -> bool:
    """Tell whether a part of a workbook holds values or looks, or leads to such."""
    if not _PLAIN_PARTS.fullmatch(info.filename) or info.file_size > _MAX_DATA_BYTES:
        return False
    with book.open(info) as file:
        data = file.read(_MAX_DATA_BYTES + 1)
    return len(data) <= _MAX_DATA_BYTES and not _MORE_THAN_VALUES.search(data)


def _add_hovered(
    found: ActiveContent, package: Package, part: str, relations: tuple[Relation, ...]
) -> None:
    """Add the links of a part that a program follows when the pointer only passes over them."""
    if part not in package:
        return
    data = _data(package, part)
    hovered = {key.decode("utf-8", "replace") for key in _HOVERED.findall(data)}
    for relation in relations:
        if relation.external and relation.id in hovered:
            found.add("link that is followed by hovering", relation.target)


def _data(package: Package, part: str) -> bytes:
    """Return a part's bytes, of a long one the beginning."""
    with package.open(part) as file:
        data = file.read(_MAX_PART_BYTES)
    # Zero bytes give UTF-16 away, where patterns of ASCII bytes would find nothing.
    return data.replace(b"\0", b"") if b"\0" in data[:4] or data[:2] in _MARKS else data


_MARKS = (b"\xff\xfe", b"\xfe\xff")
