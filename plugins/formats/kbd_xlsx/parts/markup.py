"""XML as bytes: tags and attributes are found, and changed where they stand.

In well-formed XML a "<" is always the begin of a tag once comments, CDATA sections and processing
instructions are out of the way; a ">" may stand in a value. The patterns rely on no more than that.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple
from xml.parsers import expat

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.sheets.areas import Area, column_number, parse_area

__all__ = [
    "ATTRIBUTES",
    "EVERYWHERE",
    "Child",
    "Splice",
    "Tag",
    "area_of",
    "attribute",
    "check_well_formed",
    "children",
    "element",
    "masked",
    "may_have_marks",
    "opened",
    "plain",
    "start_tag",
    "tag_around",
    "utf8",
    "with_attributes",
    "without_mark",
]

# Possessive, so that a tag which does not fit fails at once; to try all ways of splitting a long
# one would take for ever. The group is so by `(?>…)`: `)*+` matches what it should not before
# Python 3.11.5 (CPython issue 106052).
ATTRIBUTES = rb"""[^<>"']*+(?>(?:(?:"[^"<]*+"|'[^'<]*+')[^<>"']*+)*)"""
"""All attributes of a tag, the slash of a closed one among them."""

EVERYWHERE = Area(1, 1, 1_048_576, 16_384)

_ATTRIBUTE = re.compile(rb"""\s*([^\s=<>"'/]+)\s*=\s*("[^"<]*+"|'[^'<]*+')""")
_TAG = re.compile(rb"<(/?)([^\s<>/!?]+)(" + ATTRIBUTES + rb")>")
# One without an end, a group, goes to the end: to look for an end from each begin takes for ever.
_OPAQUE = re.compile(
    rb"<!--.*?(?:-->|(\Z))|<!\[CDATA\[.*?(?:\]\]>|(\Z))|<\?.*?(?:\?>|(\Z))", re.DOTALL
)
_REFERENCE = re.compile(r"&(?:#x([0-9A-Fa-f]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos));")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_AREA = re.compile(r"([A-Z]{1,3})([1-9]\d{0,6})(?::([A-Z]{1,3})([1-9]\d{0,6}))?")
_DECLARED = re.compile(r"""\A\ufeff?<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]+)["']""")
_ENCODINGS = re.compile(
    r"(us-)?ascii|utf-?16(-?[lb]e)?|latin-?1|iso-?8859-\d+|(windows-|cp)125\d|koi8-[ru]"
    r"|shift_jis|gbk|gb2312|gb18030|big5|euc-(jp|kr)",
    re.IGNORECASE,
)


class Child(NamedTuple):
    """An element directly in another: its name as written, and where it lies."""

    name: bytes
    start: int
    end: int


class Splice(NamedTuple):
    """Bytes that stand in the place of others, or between them if `start` is `end`."""

    start: int
    end: int
    text: bytes


class Tag(NamedTuple):
    """An element taken apart: its name, its attributes as written, what is inside."""

    name: bytes
    attributes: bytes
    inner: bytes


def start_tag(name: bytes) -> bytes:
    """Return the pattern of a start tag; its first group is the attributes."""
    return b"<" + re.escape(name) + rb"(?=[\s/>])(" + ATTRIBUTES + b")>"


def attribute(attributes: bytes, name: bytes) -> str | None:
    """Return the value of an attribute, None if there is none."""
    for found in _ATTRIBUTE.finditer(attributes):
        if found[1] == name:
            return plain(found[2][1:-1])
    return None


def with_attributes(attributes: bytes, changes: Mapping[bytes, bytes | None]) -> bytes:
    """Return attributes with some changed in place, taken out (None), or added at the end."""
    if not changes:
        return attributes
    pieces, place, left = [], 0, dict(changes)
    for found in _ATTRIBUTE.finditer(attributes):
        if found[1] not in left:
            continue
        value = left.pop(found[1])
        # The match includes the blanks before the name, which are removed with it.
        pieces.append(attributes[place : found.start() if value is None else found.start(2)])
        if value is not None:
            pieces.append(b'"' + value + b'"')
        place = found.end()
    pieces.append(attributes[place:].rstrip())
    pieces += [b" " + name + b'="' + value + b'"' for name, value in left.items() if value]
    return b"".join(pieces)


def plain(value: bytes) -> str:
    """Return the text that a text or value stands for."""
    text = value.decode("utf-8", "replace")
    return _REFERENCE.sub(_character, text) if "&" in text else text


def _character(found: re.Match[str]) -> str:
    if found[3]:
        return _NAMED[found[3]]
    code = int(found[1], 16) if found[1] else int(found[2])
    return chr(code) if code < 0x110000 else found[0]


def children(scan: bytes, start: int, stop: int) -> Iterator[Child]:
    """Yield the elements directly between two places, in order."""
    depth, first = 0, 0
    for tag in _TAG.finditer(scan, start, stop):
        if tag[1]:
            depth -= 1
            # This is the end tag of the parent, so no more children follow.
            if depth < 0:
                return
        elif not depth:
            first = tag.start()
        if not tag[1] and not tag[3].endswith(b"/"):
            depth += 1
        elif not depth:
            # The names of both tags are equal in well-formed XML.
            yield Child(tag[2], first, tag.end())


def opened(text: bytes) -> Tag:
    """Take an element apart."""
    found = _TAG.match(text)
    assert found is not None
    if found[3].endswith(b"/"):
        return Tag(found[2], found[3][:-1].rstrip(), b"")
    return Tag(found[2], found[3].rstrip(), text[found.end() : text.rindex(b"</")])


def element(tag: Tag) -> bytes:
    """Put an element together."""
    if not tag.inner:
        return b"<" + tag.name + tag.attributes + b"/>"
    return b"<" + tag.name + tag.attributes + b">" + tag.inner + b"</" + tag.name + b">"


def may_have_marks(data: bytes) -> bool:
    """Tell whether a document may have comments, CDATA sections, instructions or a DTD."""
    # To look for the one rare character first takes a tenth of the time.
    if data.find(b"!") >= 0 and data.find(b"<!") >= 0:
        return True
    # The search starts past the XML declaration, which a byte order mark may precede.
    second = data.find(b">") if data.find(b"<?xml ", 0, 9) >= 0 else 0
    return data.find(b"?", second) >= 0 and data.find(b"<?", second) >= 0


def masked(data: bytes) -> bytes:
    """Return the same bytes with blanks for comments, CDATA sections and instructions.

    One that has no end stays.
    """
    # The length stays the same, so that offsets in the mask are offsets in the data.
    return _OPAQUE.sub(lambda found: found[0] if found.lastindex else b" " * len(found[0]), data)


def tag_around(scan: bytes, place: int) -> bytes:
    """Return the attributes of the tag that a place lies in, b"" if it lies in a text."""
    found = _TAG.match(scan, scan.rfind(b"<", 0, place))
    return found[3] if found is not None and found.end() > place else b""


def without_mark(data: bytes) -> bytes:
    """Return a part of a document with its comments out and its CDATA sections as text."""
    return _OPAQUE.sub(_unwrapped, data) if b"<!" in data or b"<?" in data else data


def _unwrapped(found: re.Match[bytes]) -> bytes:
    if not found[0].startswith(b"<![CDATA["):
        return b""
    return found[0][9:-3].replace(b"&", b"&amp;").replace(b"<", b"&lt;").replace(b">", b"&gt;")


def area_of(text: str) -> Area | None:
    """Return an area as a part has it, None if it is none."""
    found = _AREA.fullmatch(text)
    try:
        if found is None:
            # Rare forms such as $A$1 or A:C take the slower way.
            return parse_area(text, EVERYWHERE)
        top, left = int(found[2]), column_number(found[1])
        if found[3] is None:
            return Area(top, left, top, left)
        bottom, right = int(found[4]), column_number(found[3])
    except ValidationFailed:
        return None
    return Area(min(top, bottom), min(left, right), max(top, bottom), max(left, right))


def check_well_formed(data: bytes, name: str) -> None:
    """Check that a sheet's part is XML to its end.

    Raises:
        FileReadFailed: It is not, or not in the encoding that it declares.
    """
    # Not lxml, which takes four times as long; a document type is refused before.
    parser = expat.ParserCreate()
    try:
        parser.Parse(utf8(data, name), True)  # noqa: FBT003 - it takes no keyword
    except expat.ExpatError as error:
        raise FileReadFailed(
            f"sheet {name} is damaged: its part is no XML from line {error.lineno}, column "
            f"{error.offset + 1} on ({expat.ErrorString(error.code)}); have a spreadsheet program "
            "repair and save the workbook first"
        ) from error


def utf8(data: bytes, name: str) -> bytes:
    """Return a document in UTF-8, decoded once if it is in another encoding.

    Raises:
        FileReadFailed: It is not in the encoding that it declares, or that is unknown.
    """
    encoding = _encoding(data)
    if encoding.lower() in ("utf-8", "utf8"):
        return data
    # Only these are accepted, as Python also decodes names like unicode_escape, unknown to XML.
    if not _ENCODINGS.fullmatch(encoding):
        raise FileReadFailed(f"sheet {name} is damaged: its encoding {encoding[:40]} is unknown")
    try:
        text = data.decode(encoding)
    except (UnicodeError, LookupError) as error:
        raise FileReadFailed(f"sheet {name} is damaged: it is not in {encoding}") from error
    declared = _DECLARED.match(text)
    if declared is not None:
        # With the old declaration, parsers would decode the UTF-8 text as something else.
        text = text[: declared.start(1)] + "UTF-8" + text[declared.end(1) :]
    return text.removeprefix("\ufeff").encode("utf-8", "replace")


def _encoding(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    # XML begins with an ASCII character, so its zero byte tells the byte order.
    if data[1:2] == b"\0":
        return "utf-16-le"
    if data[:1] == b"\0":
        return "utf-16-be"
    declared = _DECLARED.match(data[:400].decode("latin-1").removeprefix("\xef\xbb\xbf"))
    return declared[1] if declared else "utf-8"
