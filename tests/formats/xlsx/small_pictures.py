"""Small pictures, made byte by byte."""

import struct
import zlib

__all__ = ["png"]


def png(width: int, height: int, dpi: int = 0) -> bytes:
    """A picture of one color."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    per_meter = round(dpi * 39.37007874)
    physical = chunk(b"pHYs", struct.pack(">IIB", per_meter, per_meter, 1)) if dpi else b""
    rows = b"".join(b"\0" + b"\xff\x80\0" * width for _ in range(height))
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return (
        b"\x89PNG\r\n\x1a\n" + head + physical + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )  # fmt: skip
