"""Small PDF files, written object by object; good ones, and such as no program would write."""

import zlib
from collections.abc import Sequence
from hashlib import md5

__all__ = [
    "FLATE",
    "FONT",
    "forged",
    "locked_by_owner",
    "one_page",
    "packed",
    "rows",
    "shown",
    "stream",
    "text_pages",
]

FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
FLATE = b"/Filter/FlateDecode"


def forged(objects: Sequence[bytes], trailer: bytes = b"", head: bytes = b"%PDF-1.7\n") -> bytes:
    """A file of objects, numbered from 1; the first is the catalogue."""
    data, places = bytearray(head), []
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    data += b"".join(b"%010d 00000 n \n" % place for place in places)
    data += b"trailer\n<</Size %d/Root 1 0 R%s>>\n" % (len(objects) + 1, trailer)
    return bytes(data + b"startxref\n%d\n%%%%EOF\n" % start)


def stream(data: bytes, entries: bytes = b"") -> bytes:
    """A stream with its length and other entries of its dictionary."""
    return b"<</Length %d%s>>stream\n%s\nendstream" % (len(data), entries, data)


def packed(unit: bytes, times: int, entries: bytes = FLATE) -> bytes:
    """A stream that unpacks to a unit many times over, without packing it as often."""
    packer = zlib.compressobj(9, wbits=-15)
    block = packer.compress(unit * 1000) + packer.flush(zlib.Z_FULL_FLUSH)
    body = block * (times // 1000) + packer.compress(unit * (times % 1000)) + packer.flush()
    # The checksum at the end is a wrong one, which readers of these files let pass.
    return stream(b"\x78\xda" + body + bytes(4), entries)


def shown(text: str, place: str = "72 700", extra: str = "") -> bytes:
    """What paints a line of text."""
    return f"BT {extra} /F 12 Tf {place} Td ({text}) Tj ET\n".encode("latin-1")


def one_page(
    content: bytes,
    *more: bytes,
    page: bytes = b"",
    resources: bytes = b"",
    catalogue: bytes = b"",
    trailer: bytes = b"",
) -> bytes:
    """A file of one page; its content is object 4, the font 5, and what is more 6 and on."""
    objects = (
        b"<</Type/Catalog/Pages 2 0 R%s>>" % catalogue,
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R"
        b"/Resources<</Font<</F 5 0 R>>%s>>%s>>" % (resources, page),
        content,
        FONT,
        *more,
    )
    return forged(objects, trailer)


def text_pages(
    texts: Sequence[str], *more: bytes, catalogue: bytes = b"", page: bytes = b""
) -> bytes:
    """A file with a page for each text; "" is a page without any.

    The font is object 3, page n is 2n+2 and its content 2n+3, both counted from 1; what is more
    comes after them.
    """
    kids = b" ".join(b"%d 0 R" % (2 * place + 4) for place in range(len(texts)))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R%s>>" % catalogue,
        b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, len(texts)),
        FONT,
    ]
    for place, text in enumerate(texts):
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents %d 0 R"
            b"/Resources<</Font<</F 3 0 R>>>>%s>>" % (2 * place + 5, page)
        )
        objects.append(stream(shown(text) if text else b""))
    return forged([*objects, *more])


def rows(count: int) -> list[str]:
    """A line of text for each of many pages."""
    return [f"This is page {number}" for number in range(1, count + 1)]


def locked_by_owner(content: bytes) -> bytes:
    """A file of one page for which its user needs a password and its owner an empty one.

    Revision 2 of the standard encryption (ISO 32000-1, 7.6.3): RC4 with 40 bits.
    """
    empty, user, permissions = _PADDING, b"user" + _PADDING[:28], 0xFFFFFFFC
    owner = _rc4(md5(empty).digest()[:5], user)
    key = md5(user + owner + permissions.to_bytes(4, "little")).digest()[:5]
    object_key = md5(key + bytes((4, 0, 0, 0, 0))).digest()[:10]
    about = b"/Encrypt<</Filter/Standard/V 1/R 2/P %d/O<%s>/U<%s>>>/ID[<><>]" % (
        permissions - (1 << 32), owner.hex().encode(), _rc4(key, _PADDING).hex().encode()
    )  # fmt: skip
    return one_page(stream(_rc4(object_key, content)), trailer=about)


_PADDING = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")


def _rc4(key: bytes, data: bytes) -> bytes:
    state, place = list(range(256)), 0
    for step in range(256):
        place = (place + state[step] + key[step % len(key)]) % 256
        state[step], state[place] = state[place], state[step]
    out, place = bytearray(), 0
    for count, byte in enumerate(data, 1):
        step = count % 256
        place = (place + state[step]) % 256
        state[step], state[place] = state[place], state[step]
        out.append(byte ^ state[(state[step] + state[place]) % 256])
    return bytes(out)
