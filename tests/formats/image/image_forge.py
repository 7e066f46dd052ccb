"""Small pictures, written by Pillow or byte by byte."""

import io
import struct
import zlib
from typing import Any

from PIL import Image

__all__ = ["chunk", "gif_of", "png_claiming", "saved", "svg"]


def saved(picture: Image.Image, kind: str, **how: Any) -> bytes:
    """A picture as a file of some kind."""
    buffer = io.BytesIO()
    picture.save(buffer, kind, **how)
    return buffer.getvalue()


def chunk(name: bytes, data: bytes) -> bytes:
    """A chunk of a PNG file."""
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png_claiming(width: int, height: int, *more: bytes, pixels: bytes = b"") -> bytes:
    """A PNG file of grey pixels, as many as it claims or fewer, with more chunks before them."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = (chunk(b"IHDR", header), *more, chunk(b"IDAT", zlib.compress(pixels, 9)))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts) + chunk(b"IEND", b"")


def gif_of(frames: int, width: int, height: int) -> bytes:
    """A GIF file of as many frames of a size; the first has one pixel, the others are the same."""
    head = b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff"
    place = struct.pack("<BHHHHB", 0x2C, 0, 0, width, height, 0)
    return head + (place + b"\x02\x02\x4c\x01\x00") * frames + b";"


def svg(attributes: str, inside: str = "") -> bytes:
    """An svg file."""
    return f'<svg xmlns="http://www.w3.org/2000/svg" {attributes}>{inside}</svg>'.encode()
