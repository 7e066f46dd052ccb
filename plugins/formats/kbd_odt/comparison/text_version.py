"""One version of an OpenDocument text, read for a comparison: blocks, margins, styles, parts.

Automatic styles have names that each save gives anew: they count as what they say.
"""

import hashlib
from collections.abc import Mapping
from itertools import groupby
from pathlib import PurePath
from typing import Any

import msgspec
from lxml import etree

from kbd.formats import Source
from kbd.office.open_document import (
    DRAW,
    META,
    OFFICE,
    STYLE,
    SVG,
    TABLE,
    TEXT,
    XLINK,
    count,
    part_digests,
)
from kbd.office.open_text.renderer import OpenNotices, OpenTextRenderer
from kbd.office.open_text.styles import OpenStyles
from kbd.opc import reading_errors
from kbd_odt.document import HEADING, MARGINS, OdtDocument, read_document, read_pieces
from kbd_odt.packages import FLAT_SUFFIX, open_metadata, open_package, open_parts

__all__ = ["Inset", "Look", "OdtVersion", "TextBlock", "read_version"]

Look = tuple[tuple[str, str], ...]
"""Formatting by name, sorted."""

_BODY = f"{OFFICE}text"
_NAMES = {
    "font-weight": "bold", "font-style": "italic", "font-size": "size", "font-name": "font",
    "text-align": "alignment", "text-underline-style": "underline",
    "background-color": "background",
}  # fmt: skip
_STYLE_NAMES = ("name", "display-name", "family", "parent-style-name")
_PARAGRAPH_FACTS = ("style-name", "outline-level", "id")
_SIGNS = {f"{TEXT}tab": "\t", f"{TEXT}line-break": "\n"}
_LOOKING = (f"{TEXT}span", f"{TEXT}a")
_LINK_FACTS = (f"{OFFICE}name", f"{OFFICE}title", f"{OFFICE}target-frame-name")
_DERIVED = ("Thumbnails/", "META-INF/", "layout-cache", "mimetype", "Configurations2/")
"""Parts that are made of others at each save."""

_READ = ("content.xml", "styles.xml", "meta.xml")
_MAX_SPACES = 1_000
_MAX_DEPTH = 60
_STAMPS = ("date", "editing-cycles", "editing-duration", "generator", "document-statistic",
           "print-date", "printed-by")  # fmt: skip
_COUNTED = (f"{TEXT}note-citation", f"{TEXT}soft-page-break")
"""What programs count or find anew."""

_MASTER = f"{STYLE}master-page"
_TOLD = frozenset((
    f"{OFFICE}automatic-styles", f"{OFFICE}meta", f"{STYLE}style", f"{TEXT}list-style",
    f"{STYLE}page-layout", f"{STYLE}default-style", _MASTER,
))  # fmt: skip
"""What is compared by itself, with all that is in it."""

_HOLDING = (f"{OFFICE}automatic-styles", f"{OFFICE}meta")
_DECLARED = ("-decl", "}form")
"""Endings of what stands in the body and not in its blocks."""


class Inset(msgspec.Struct, frozen=True):
    """What is in a paragraph and no text of it: a note, a comment, a picture, a text box.

    Args:
        kind: What it is, one noun.
        text: What it says, or what is said of it.
        digest: Equal for equal ones.
    """

    kind: str
    text: str
    digest: str


class TextBlock(msgspec.Struct, frozen=True):
    """A paragraph or a table.

    Args:
        kind: "paragraph", "table" or "other".
        number: Its index among its kind.
        text: The paragraph's text, without labels and notes.
        runs: The same in stretches with their looks.
        look: The paragraph's formatting.
        insets: What is in it beside text.
        rows: The table's texts by row.
        digest: Equal for blocks that differ in nothing.
        marks: What is in the paragraph and neither text nor seen: bookmarks, fields, and where; of
            a table all that is no text.
    """

    kind: str
    number: int
    text: str
    runs: tuple[tuple[str, Look], ...]
    look: Look
    insets: tuple[Inset, ...]
    rows: tuple[tuple[str, ...], ...]
    digest: str
    marks: tuple[str, ...] = ()


class OdtVersion(msgspec.Struct, frozen=True):
    """All of a version.

    Args:
        document: What the map is made of.
        blocks: Its paragraphs and tables, in order.
        styles: The looks of common styles, and the digests of pages, by what people call them.
        properties: What the file says of itself, by name.
        parts: Size and digest of all other parts.
        margins: The digests of headers and footers by kind, page style and type.
        digest: Of all that the contents hold beside these, whether it is known here or not.
    """

    document: OdtDocument
    blocks: tuple[TextBlock, ...]
    styles: Mapping[str, Look]
    properties: Mapping[str, str]
    parts: Mapping[str, tuple[int, str]]
    margins: Mapping[tuple[str, str, str], str]
    digest: str


def read_version(source: Source) -> OdtVersion:
    """Read a version of a text.

    Raises:
        FileReadFailed: It is no text, encrypted, damaged, or past a limit.
    """
    document = read_document(source)
    parts: dict[str, tuple[int, str]] = {}
    if PurePath(source.name).suffix.lower() != FLAT_SUFFIX:
        with open_package(source) as package:
            parts = part_digests(package, (*_DERIVED, *_READ))
    reader = _VersionReader(source.name, {name: digest for name, (_, digest) in parts.items()})
    with open_parts(source) as files:
        for file in files:
            reader.read(file)
    with open_parts(source) as files, reading_errors(source.name):
        for file in files:
            reader.read_pages(file)
    return OdtVersion(
        document, tuple(reader.blocks), reader.common, _properties(source), parts, reader.margins,
        reader.whole.hexdigest(),
    )  # fmt: skip


def _properties(source: Source) -> dict[str, str]:
    """Return what a file says of itself; what each save writes anew comes under one name."""
    found: dict[str, str] = {}
    stamps: list[str] = []
    with open_metadata(source) as root:
        around = None if root is None else root.find(f"{OFFICE}meta")
        for element in around if around is not None else ():
            name = _local(element)
            text = "".join(map(str, element.itertext())).strip()
            if name in _STAMPS:
                stamps.append(text)
            elif name:
                text = text or ", ".join(str(value) for value in element.attrib.values())
                key = element.get(f"{META}name") or name
                found[key] = f"{found[key]}, {text}" if key in found else text
    return found | ({"saved": " ".join(filter(None, stamps))} if stamps else {})


class _Gathered:
    """What a paragraph holds, while it is gathered."""

    def __init__(self) -> None:
        self.runs: list[tuple[str, Look]] = []
        self.insets: list[Inset] = []
        self.marks: list[str] = []
        self._length = 0

    def put(self, text: str, look: Look) -> None:
        """Add text as it is."""
        self.runs.append((text, look))
        self._length += len(text)

    def add(self, text: str | None, look: Look) -> None:
        """Add text as it flows: blanks in a row are one."""
        shown = _flat(text or "")
        if shown.startswith(" ") and (not self.runs or self.runs[-1][0].endswith(" ")):
            shown = shown[1:]
        if shown:
            self.put(shown, look)

    def mark(self, what: str) -> None:
        """Add what is no text, behind the text so far."""
        self.marks.append(f"{self._length} {what}")

    def merged(self) -> tuple[tuple[str, Look], ...]:
        """Return the runs, those as one that look alike: programs divide them as they like."""
        alike = groupby(self.runs, key=lambda run: run[1])
        return tuple(("".join(text for text, _ in runs), look) for look, runs in alike)


class _VersionReader:
    """Reader of the parts of one version, styles before contents."""

    def __init__(self, name: str, parts: Mapping[str, str]) -> None:
        self._name, self._parts = name, parts
        self.blocks: list[TextBlock] = []
        self.common: dict[str, Look] = {}
        self.margins: dict[tuple[str, str, str], str] = {}
        self.whole = hashlib.sha256()
        self._page_style = ""
        self._automatic: dict[tuple[str, str], Look] = {}
        self._automatic_names: set[str] = set()
        styles = OpenStyles()
        self._styles = styles
        self._renderer = OpenTextRenderer(styles, OpenNotices())
        self._counts = {"paragraph": 0, "table": 0, "other": 0}
        self._is_body = False
        self._depth = 0

    def read(self, file: Any) -> None:
        """Read a part."""
        for event, element in read_pieces(file, self._name):
            tag = str(element.tag)
            if event == "piece":
                self._read_piece(element, tag)
            elif tag == _BODY:
                self._is_body = event == "start"
            elif tag == _MASTER and event == "start":
                name = element.get(f"{STYLE}name", "")
                self._page_style = element.get(f"{STYLE}display-name", name)
            elif tag == f"{TEXT}list":
                self._depth += 1 if event == "start" else -1

    def read_pages(self, file: Any) -> None:
        """Read the layouts of pages and the default formatting of a part, and the rest's digest."""
        told: list[etree._Element] = []
        for event, element in etree.iterparse(
            file, events=("start", "end"), resolve_entities=False, no_network=True, load_dtd=False,
            remove_comments=True, remove_pis=True,
        ):  # fmt: skip
            tag = element.tag
            if not isinstance(tag, str):
                continue
            if event == "start":
                if tag in _TOLD or tag == _BODY:
                    told.append(element)
                elif not told or tag.endswith(_DECLARED):
                    self._update(element, self.whole)
                continue
            if told and told[-1] is element:
                told.pop()
            if tag == f"{STYLE}page-layout":
                self.common[f"page layout {element.get(f'{STYLE}name', '')}"] = self._style(element)
            elif tag == f"{STYLE}default-style":
                name = f"default formatting of {element.get(f'{STYLE}family', '')}"
                self.common[name] = self._style(element)
            elif tag == _MASTER:
                facts = {str(key).rpartition("}")[2]: str(each) for key, each in element.items()}
                self.common[f"page style {facts.get('name', '')}"] = tuple(sorted(facts.items()))
            # What layouts and defaults are made of is still needed when they end.
            if not told or told[-1].tag not in _TOLD or told[-1].tag in _HOLDING:
                element.clear(keep_tail=True)

    def _style(self, element: etree._Element) -> Look:
        return _style_look(element, self._parts)

    def _read_piece(self, element: etree._Element, tag: str) -> None:
        if tag in (f"{STYLE}style", f"{TEXT}list-style"):
            self._styles.add(element)
            self._add_style(element, tag)
        elif tag in MARGINS:
            kind, type_ = MARGINS[tag]
            self.margins[kind, self._page_style, type_] = self._digest(element)
        elif self._is_body:
            self._add_block(element, tag)

    def _add_style(self, element: etree._Element, tag: str) -> None:
        family = "list" if tag == f"{TEXT}list-style" else element.get(f"{STYLE}family", "")
        name = element.get(f"{STYLE}name", "")
        look = self._style(element)
        parent = element.getparent()
        if parent is not None and parent.tag == f"{OFFICE}styles":
            shown = element.get(f"{STYLE}display-name", name)
            self.common[f"style {shown}" + ("" if family == "paragraph" else f" ({family})")] = look
        else:
            self._automatic[family, name] = look
            self._automatic_names.add(name)

    def _add_block(self, element: etree._Element, tag: str) -> None:
        kind = {f"{TEXT}p": "paragraph", HEADING: "paragraph", f"{TABLE}table": "table"}.get(
            tag, "other"
        )
        rows: tuple[tuple[str, ...], ...] = ()
        content = _Gathered()
        look = self._around(element)
        if kind == "table":
            rows = self._renderer.table(element).rows
            content.marks.append(self._digest(element, with_texts=False))
        elif kind == "paragraph":
            self._gather(element, (), content, 0)
            look = self._paragraph_look(element, tag, look)
        else:
            content.insets.append(self._inset(element))
        self._renderer.drawn.clear()
        text = "".join(text for text, _ in content.runs).strip()
        digest = self._digest(element) if kind != "paragraph" else ""
        block = TextBlock(
            kind, self._counts[kind], text, content.merged(), look, tuple(content.insets), rows,
            digest, tuple(content.marks),
        )  # fmt: skip
        whole = hashlib.sha256(msgspec.msgpack.encode(
            (digest, look, *((block.runs, block.insets, block.marks) if not digest else ()))
        ))  # fmt: skip
        self.blocks.append(msgspec.structs.replace(block, digest=whole.hexdigest()))
        self._counts[kind] += 1

    def _around(self, element: etree._Element) -> Look:
        """Return what lists and sections around a block say of what is in them."""
        found: dict[str, str] = {}
        for around in element.iterancestors():
            if around.tag == _BODY:
                break
            for key, value in around.attrib.items():
                name = f"{_local(around)} {str(key).rpartition('}')[2]}"
                if meaning := self._meaning(str(key), str(value)):
                    found[name] = f"{found[name]}, {meaning}" if name in found else meaning
        return tuple(sorted(found.items()))

    def _paragraph_look(self, element: etree._Element, tag: str, around: Look) -> Look:
        found = dict(around)
        for key, value in element.attrib.items():
            name = str(key).rpartition("}")[2]
            if name not in _PARAGRAPH_FACTS:
                found[name] = str(value)
        found |= self._look("paragraph", element.get(f"{TEXT}style-name", ""))
        if tag == HEADING:
            found["outline_level"] = element.get(f"{TEXT}outline-level", "1")
        if self._depth:
            found["list_level"] = str(self._depth)
        return tuple(sorted(found.items()))

    def _look(self, family: str, name: str) -> Look:
        own = self._automatic.get((family, name))
        return own if own is not None else ((("style", name),) if name else ())

    def _gather(self, element: etree._Element, look: Look, found: "_Gathered", depth: int) -> None:
        """Gather the text of a paragraph with its looks, and what is in it beside text."""
        found.add(element.text, look)
        for child in element:
            tag = child.tag
            if tag in _SIGNS:
                found.put(_SIGNS[tag], look)
            elif tag == f"{TEXT}s":
                spaces = count(child.get(f"{TEXT}c"), _MAX_SPACES)
                found.put(" " * spaces, look)
                if spaces == _MAX_SPACES:
                    found.mark(self._digest(child))
            elif tag in (f"{TEXT}note", f"{OFFICE}annotation") or str(tag).startswith(DRAW):
                inset = self._inset(child)
                found.insets.append(inset)
                found.mark(f"{inset.kind} stands here")
            elif isinstance(tag, str) and depth < _MAX_DEPTH:
                if tag not in _LOOKING and tag not in _COUNTED:
                    found.mark(self._facts(child))
                self._gather(child, self._inner_look(child, look), found, depth + 1)
            elif isinstance(tag, str):
                found.mark(self._digest(child))
            found.add(child.tail, look)

    def _inner_look(self, element: etree._Element, around: Look) -> Look:
        """Return the formatting of a stretch of text, or where it leads."""
        inner = dict(around)
        if element.tag == f"{TEXT}span":
            inner |= self._look("text", element.get(f"{TEXT}style-name", ""))
        elif element.tag == f"{TEXT}a":
            inner["link"] = element.get(f"{XLINK}href", "")
            for name in _LINK_FACTS:
                if fact := element.get(name):
                    inner[f"link {name.rpartition('}')[2]}"] = fact
        return tuple(sorted(inner.items()))

    def _facts(self, element: etree._Element) -> str:
        """Return what an element says itself, in text."""
        facts = (f"{str(key).rpartition('}')[2]} {self._meaning(str(key), str(value))}"
                 for key, value in sorted(element.attrib.items()))  # fmt: skip
        return f"{_local(element)} {', '.join(facts)}"

    def _inset(self, element: etree._Element) -> Inset:
        tag = element.tag
        digest = self._digest(element)
        if tag == f"{TEXT}note":
            body = element.find(f"{TEXT}note-body")
            text = "" if body is None else self._renderer.text(body)
            return Inset("note", text, digest)
        if tag == f"{OFFICE}annotation":
            return Inset("comment", self._renderer.text(element), digest)
        if element.find(f"{DRAW}text-box") is not None:
            return Inset("text box", self._renderer.other(element), digest)
        is_picture = element.find(f"{DRAW}image") is not None
        alt = element.findtext(f"{SVG}desc", "") or element.findtext(f"{SVG}title", "")
        return Inset(
            "picture" if is_picture else "shape", alt or self._renderer.other(element), digest
        )

    def _digest(self, element: etree._Element, *, with_texts: bool = True) -> str:
        """Return what is equal for equal elements, whatever automatic styles are called."""
        found = hashlib.sha256()
        walk = etree.iterwalk(element, events=("start", "end"))
        for event, each in walk:
            if event == "end":
                tail = "" if each is element or not with_texts else each.tail or ""
                # What is passed over divides no text.
                sign = "" if each.tag in _COUNTED else "\0/"
                found.update(f"{sign}{_flat(tail)}".encode("utf-8", "surrogatepass"))
            elif each.tag in _COUNTED:
                walk.skip_subtree()
            elif isinstance(each.tag, str):
                self._update(each, found, with_values=with_texts)
                text = each.text or "" if with_texts else ""
                found.update(_flat(text).encode("utf-8", "surrogatepass"))
        return found.hexdigest()

    def _update(
        self, element: etree._Element, found: "hashlib._Hash", *, with_values: bool = True
    ) -> None:
        pieces = [str(element.tag)]
        for name, value in sorted(element.attrib.items()):
            if not with_values and str(name).startswith(OFFICE):
                # What a cell's text is calculated from, or says in another way.
                continue
            pieces += (str(name), self._meaning(str(name), str(value)))
        pieces.append("")
        found.update("\0".join(pieces).encode("utf-8", "surrogatepass"))

    def _meaning(self, name: str, value: str) -> str:
        if name.endswith(("}id", "}change-id")):
            return ""
        if name == f"{STYLE}name" and value in self._automatic_names:
            return ""
        if name == f"{XLINK}href":
            return self._parts.get(value.removeprefix("./"), value)
        if name.endswith("style-name"):
            for family in ("paragraph", "text", "table", "table-cell", "table-row", "table-column",
                           "graphic", "list", "section"):  # fmt: skip
                look = self._automatic.get((family, value))
                if look is not None:
                    return repr(look)
        return value


def _flat(text: str) -> str:
    """Return a text with one blank for any between its words."""
    if not text.strip():
        return " " if text and "\n" not in text else ""
    words = " ".join(text.split())
    return f"{' ' if text[0].isspace() else ''}{words}{' ' if text[-1].isspace() else ''}"


def _local(element: etree._Element) -> str:
    return str(element.tag).rpartition("}")[2] if isinstance(element.tag, str) else ""


def _style_look(element: etree._Element, parts: Mapping[str, str]) -> Look:
    """Return what a style says, by name; pictures by what they hold."""
    found: dict[str, str] = {}
    parent = element.get(f"{STYLE}parent-style-name")
    if parent:
        found["style"] = parent
    for key, value in element.attrib.items():
        name = str(key).rpartition("}")[2]
        if name not in _STYLE_NAMES and value:
            found[name] = str(value)
    for each in element.iterdescendants():
        prefix = "" if _local(each).endswith("properties") else f"{_local(each)} "
        prefix += _level(each, element)
        for key, value in each.attrib.items():
            name = str(key).rpartition("}")[2]
            if key == f"{XLINK}href":
                value = parts.get(str(value).removeprefix("./"), value)
            own = shown = prefix + _NAMES.get(name, name)
            number = 1
            # Tab stops, and what is said of paragraphs and of their text, have the same names.
            while own in found:
                number += 1
                own = f"{shown} {number}"
            found[own] = str(value)
    return tuple(sorted(found.items()))


def _level(element: etree._Element, style: etree._Element) -> str:
    """Return the level of a list that an element in its style is about."""
    around: etree._Element | None = element
    while around is not None and around is not style:
        if level := around.get(f"{TEXT}level"):
            return f"{level} "
        around = around.getparent()
    return ""
