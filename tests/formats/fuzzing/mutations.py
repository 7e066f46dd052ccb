"""Mutations of files: each keeps what a reader checks first, so that what is behind is reached.

A package is changed part by part and packed anew with right checksums, a PDF file object by object
with a right table, a picture chunk by chunk; other files, and a share of these, byte by byte. The
same chance gives the same mutant.
"""

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from random import Random

from pdf_forge import forged

__all__ = ["mutant"]

Parts = dict[str, bytes]

VALUES: tuple[bytes, ...] = (
    b"", b"0", b"-1", b"1", b"2147483648", b"4294967295", b"-9223372036854775809",
    b"99999999999999999999", b"9" * 5000, b"1e999", b"-1e999", b"NaN", b"inf", b"0x10", b"1.5",
    b"true", b"none", "٣".encode(), "²".encode(), b"\xff\xfe", b" 1 ", b"1,2", b"A0", b"A1:",
    b"XFD1048576", b"A1:XFD1048576", b"XFE1", b"AAAAAAA1", b"$A$1", b"Sheet1!A1", b"'", b"rId1",
    b"rId999", b"../../x", b"/", b"%00", b"#REF!", b"#", b"&#0;", b"&lt;", b"red", b"ZZZZZZ",
    b"2024-13-45T99:99:99Z", b"a" * 40_000, b"_x0000_", b"{}", b"[", b"=1+", b"s", b"x:y:z",
    b"auto",
)  # fmt: skip
"""What a number, a name, a place or a date may be that no program writes."""

CHUNKS: tuple[bytes, ...] = (
    b"zTXt", b"iTXt", b"tEXt", b"iCCP", b"eXIf", b"acTL", b"fcTL", b"pHYs", b"tRNS", b"PLTE",
    b"gAMA", b"cHRM", b"IHDR", b"IEND",
)  # fmt: skip
"""The chunks of a PNG file that readers look into."""

_ATTRIBUTE = re.compile(rb'\s([\w:]+)="([^"]*)"')
_TEXT = re.compile(rb">([^<>]+)<")
_TAG = re.compile(rb"<(/?)([A-Za-z_][\w.:-]*)([^<>]*?)(/?)>")
_OBJECT = re.compile(rb"(\d+) 0 obj\s(.*?)\sendobj", re.DOTALL)
_STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)
_NUMBER = re.compile(rb"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])")
_NAME = re.compile(rb"/[A-Za-z][\w.#]*")
_REFERENCE = re.compile(rb"\d+ 0 R")


def mutant(sample: bytes, chance: Random) -> bytes:
    """Return a sample with one to four changes."""
    try:
        if sample.startswith(b"PK\x03\x04"):
            return _package(sample, chance)
        if sample.startswith(b"%PDF"):
            return _pdf(sample, chance)
        if sample.startswith(b"\x89PNG"):
            return _png(sample, chance)
        if sample.lstrip().startswith(b"<"):
            return _often(sample, chance, xml)
        return _often(sample, chance, plain if _is_text(sample) else raw)
    except (zipfile.BadZipFile, struct.error):
        return raw(sample, chance)


def _often(data: bytes, chance: Random, change: Callable[[bytes, Random], bytes]) -> bytes:
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        data = change(data, chance)
    return data


def _is_text(data: bytes) -> bool:
    return not data[:200].translate(None, bytes(range(9, 127)))


def _one(chance: Random, pattern: re.Pattern[bytes], data: bytes) -> re.Match[bytes] | None:
    found = list(pattern.finditer(data))
    return chance.choice(found) if found else None


def _put(data: bytes, span: tuple[int, int], new: bytes) -> bytes:
    return data[: span[0]] + new + data[span[1] :]


def raw(data: bytes, chance: Random) -> bytes:
    """Change bytes: flip, cut, repeat, swap, or write a number's limits over them."""
    if not data:
        return chance.randbytes(20)
    # Heads say most.
    reach = min(len(data), chance.choice((16, 64, 400, len(data))))
    at = chance.randrange(reach)
    match chance.randrange(6):
        case 0:
            return _put(data, (at, at + 1), bytes([data[at] ^ 1 << chance.randrange(8)]))
        case 1:
            return data[:at]
        case 2:
            end = min(len(data), at + chance.randrange(1, 200))
            return data[:end] + data[at:end] * chance.randrange(1, 30) + data[end:]
        case 3:
            return _put(data, (at, at + chance.randrange(1, 60)), b"")
        case 4:
            number = chance.choice((0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF))
            form = chance.choice(("<H", ">H", "<I", ">I"))
            new = struct.pack(form, number & (0xFFFF if form[1] == "H" else 0xFFFFFFFF))
            return _put(data, (at, at + len(new)), new)
        case _:
            return _put(data, (at, at), chance.randbytes(chance.randrange(1, 9)))


def plain(data: bytes, chance: Random) -> bytes:
    """Change a text: quotes, zeros, ends of lines, encodings, long lines and many fields."""
    at = chance.randrange(len(data) + 1)
    odd = (
        b'"', b'""', b"\0", b"\r", b"\n", b"\r\n", b"\t", b",", b";", b"\xef\xbb\xbf", b"\xff\xfe",
        b"\xff", "\u2028".encode(), "\u202e".encode(), b"\x1b[2J", b"," * 3000, b'"' * 999,
        b"x" * 70_000, b"\n" * 3000, b"=1+1", b"1e999", b"\x1a", b"[" * 2000, b"{" * 2000,
    )  # fmt: skip
    match chance.randrange(4):
        case 0:
            return raw(data, chance)
        case 1:
            encoding = chance.choice(("utf-16", "utf-32", "cp037"))
            return data.decode("utf-8", "replace").encode(encoding, "replace")
        case _:
            return _put(data, (at, at), chance.choice(odd))


def xml(data: bytes, chance: Random) -> bytes:
    """Change a document of XML: attributes, texts, elements; mostly it stays well formed."""
    match chance.randrange(12):
        case 0 | 1 | 2 | 3:
            if found := _one(chance, _ATTRIBUTE, data):
                return _put(data, found.span(2), chance.choice(VALUES))
        case 4:
            if found := _one(chance, _ATTRIBUTE, data):
                return _put(data, found.span(), b"")
        case 5:
            if found := _one(chance, _TEXT, data):
                return _put(data, found.span(1), chance.choice(VALUES))
        case 6 | 7 | 8:
            return _element(data, chance)
        case 9:
            one, two = _one(chance, _ATTRIBUTE, data), _one(chance, _ATTRIBUTE, data)
            if one and two:
                return _put(data, one.span(2), two[2])
        case 10:
            one, two = _one(chance, _TAG, data), _one(chance, _TAG, data)
            # Another kind of element in its place.
            if one and two and one[4]:
                return _put(data, one.span(2), two[2])
        case _:
            return raw(data, chance)
    return raw(data, chance)


def _element(data: bytes, chance: Random) -> bytes:
    """Remove an element, repeat it, put it elsewhere, or into itself."""
    spans = _elements(data)
    if not spans:
        return raw(data, chance)
    start, end = chance.choice(spans)
    whole = data[start:end]
    match chance.randrange(4):
        case 0:
            return _put(data, (start, end), b"")
        case 1:
            times = min(chance.choice((1, 2, 50)), 200_000 // len(whole))
            return _put(data, (end, end), whole * times)
        case 2:
            other = chance.choice(spans)
            return _put(data, (other[0], other[0]), whole)
        case _:
            inner = whole.find(b">") + 1
            if whole[inner - 2 : inner] == b"/>":
                return _put(data, (start, end), b"")
            return _put(data, (start + inner, start + inner), whole)


def _elements(data: bytes) -> list[tuple[int, int]]:
    """Return where elements begin and end, those within others, too."""
    open_: list[tuple[bytes, int]] = []
    spans = []
    for tag in _TAG.finditer(data):
        if tag[4]:
            spans.append(tag.span())
        elif not tag[1]:
            open_.append((tag[2], tag.start()))
        elif open_ and open_[-1][0] == tag[2]:
            spans.append((open_.pop()[1], tag.end()))
    return spans


def _package(sample: bytes, chance: Random) -> bytes:
    if chance.random() < 0.1:
        return raw(sample, chance)
    with zipfile.ZipFile(io.BytesIO(sample)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        _change_part(parts, chance)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in parts.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _change_part(parts: Parts, chance: Random) -> None:
    names = sorted(parts)
    name, other = chance.choice(names), chance.choice(names)
    match chance.randrange(20):
        case 0:
            del parts[name]
            parts.setdefault("x", b"")
        case 1:
            parts[name] = parts[other]
        case 2:
            parts[name] = b""
        case 3:
            parts[name] = raw(parts[name], chance)
        case _:
            is_xml = parts[name].lstrip(b"\xef\xbb\xbf \r\n").startswith(b"<")
            parts[name] = (xml if is_xml else raw)(parts[name], chance)


def _pdf(sample: bytes, chance: Random) -> bytes:
    objects = [found[2] for found in _OBJECT.finditer(sample)]
    if chance.random() < 0.15 or not objects:
        return raw(sample, chance)
    for _ in range(chance.choice((1, 1, 2, 4))):
        at = chance.randrange(len(objects))
        objects[at] = _pdf_object(objects[at], objects, chance)
    return forged(objects)


def _pdf_object(body: bytes, objects: list[bytes], chance: Random) -> bytes:
    values = (b"0", b"-1", b"2000000000", b"99999999999999999999", b"1e30", b"0.0001", b"null",
              b"[]", b"<<>>", b"(x)", b"/X", b"true", b"[" * 500, b"<" * 50, b"<FEFF>")  # fmt: skip
    match chance.randrange(8):
        case 0 | 1:
            if found := _one(chance, _NUMBER, body):
                return _put(body, found.span(), chance.choice(values))
        case 2 | 3:
            if found := _one(chance, _REFERENCE, body):
                # Most often some other object, or the one that it stands in.
                return _put(body, found.span(), b"%d 0 R" % chance.randrange(len(objects) + 2))
        case 4:
            one, two = _one(chance, _NAME, body), _one(chance, _NAME, chance.choice(objects))
            if one and two:
                return _put(body, one.span(), two[0])
        case 5:
            if found := _one(chance, _STREAM, body):
                return _put(body, found.span(1), _stream(found[1], chance))
        case 6:
            return chance.choice(objects)
        case _:
            pass
    return raw(body, chance)


def _stream(packed: bytes, chance: Random) -> bytes:
    try:
        return zlib.compress(plain(zlib.decompress(packed), chance))
    except zlib.error:
        return plain(packed, chance)


def _png(sample: bytes, chance: Random) -> bytes:
    chunks, at = [], 8
    while at + 8 <= len(sample):
        size, kind = struct.unpack_from(">I4s", sample, at)
        chunks.append((kind, sample[at + 8 : at + 8 + size]))
        at += size + 12
    if chance.random() < 0.2 or not chunks:
        return raw(sample, chance)
    place = chance.randrange(len(chunks))
    kind, data = chunks[place]
    match chance.randrange(5):
        case 0:
            chunks.insert(place, chunks[place])
        case 1:
            chunks.insert(place, (chance.choice(CHUNKS), raw(data, chance)))
        case 2:
            del chunks[place]
        case _:
            chunks[place] = (kind, raw(data, chance))
    return sample[:8] + b"".join(
        struct.pack(">I4s", len(body), kind) + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )
