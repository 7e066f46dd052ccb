"""Pictures that are put into office files: what they are by their bytes, and how large.

Only kinds that every office program shows are taken, by what their bytes are and not by their
names: a drawing with a script (SVG), or something else under a picture's name, is none of them.
"""

import struct

import msgspec

from kbd.errors import ValidationFailed

__all__ = ["MAX_PICTURE_BYTES", "PictureFacts", "picture_facts"]

MAX_PICTURE_BYTES = 50_000_000
"""A larger picture makes a file that programs open slowly, or not at all."""

_EMU_PER_INCH = 914_400
_SCREEN_DPI = 96
_MIN_DPI, _MAX_DPI = 10, 2_400
"""Resolutions that are believed; others stand in files by mistake."""

_INCHES_PER_METER = 39.37007874
"""Files count points a meter as whole numbers, so what comes of it is rounded: 191.9986 is 192."""

_START_OF_FRAME = frozenset((*range(0xC0, 0xC4), *range(0xC5, 0xC8), *range(0xC9, 0xCC),
                             *range(0xCD, 0xD0)))  # fmt: skip


class PictureFacts(msgspec.Struct, frozen=True):
    """A picture.

    Args:
        suffix: Of a part that holds it: "png", "jpeg", "gif", "bmp".
        mime_type: Its type.
        width: As it is shown at its own resolution, in English Metric Units (914,400 an inch).
        height: Likewise.
    """

    suffix: str
    mime_type: str
    width: int
    height: int


def picture_facts(data: bytes, name: str) -> PictureFacts:
    """Return what a picture is.

    Args:
        data: Its bytes.
        name: Its name, for messages.

    Raises:
        ValidationFailed: It is no picture that office files can show, is damaged or too large.
    """
    if len(data) > MAX_PICTURE_BYTES:
        raise ValidationFailed(
            f"{name} is larger than {MAX_PICTURE_BYTES // 1_000_000} MB; make it smaller first"
        )
    try:
        found = _facts(data)
    except (struct.error, IndexError):
        found = None
        if data.startswith(_SIGNATURES):
            raise ValidationFailed(f"{name} is damaged: it ends within its header") from None
    if found is None:
        raise ValidationFailed(
            f"{name} is no picture that can be put in; PNG, JPEG, GIF and BMP can"
        )
    suffix, width, height, dpi = found
    if not 0 < width < 100_000 or not 0 < height < 100_000:
        raise ValidationFailed(f"{name} is damaged: it is {width} by {height} pixels")
    across, down = (each if _MIN_DPI <= each <= _MAX_DPI else _SCREEN_DPI for each in dpi)
    return PictureFacts(
        suffix,
        f"image/{suffix}",
        round(width * _EMU_PER_INCH / across),
        round(height * _EMU_PER_INCH / down),
    )


_PNG, _JPEG, _GIF, _BMP = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", (b"GIF87a", b"GIF89a"), b"BM"
_SIGNATURES = (_PNG, _JPEG, *_GIF)
_UNKNOWN = (0.0, 0.0)

_Facts = tuple[str, int, int, tuple[float, float]]


def _facts(data: bytes) -> _Facts | None:
    """Return the kind, the width and height in pixels, and pixels an inch across and down."""
    if data.startswith(_PNG):
        return _png(data)
    if data.startswith(_JPEG):
        return _jpeg(data)
    if data.startswith(_GIF):
        width, height = struct.unpack_from("<HH", data, 6)
        return "gif", width, height, _UNKNOWN
    # Two letters are not enough to tell: the size of the header has to be one, too.
    if data.startswith(_BMP) and struct.unpack_from("<I", data, 14)[0] in (40, 52, 56, 108, 124):
        width, height = struct.unpack_from("<ii", data, 18)
        across, down = struct.unpack_from("<ii", data, 38)
        return "bmp", width, abs(height), (_per_inch(across), _per_inch(down))
    return None


def _per_inch(per_meter: int) -> float:
    return round(per_meter / _INCHES_PER_METER, 2)


def _png(data: bytes) -> _Facts | None:
    if data[12:16] != b"IHDR":
        return None
    width, height = struct.unpack_from(">II", data, 16)
    dpi, place = _UNKNOWN, 8
    while place + 8 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, place)
        if kind == b"pHYs" and length == 9:
            across, down, unit = struct.unpack_from(">IIB", data, place + 8)
            if unit == 1:
                dpi = _per_inch(across), _per_inch(down)
        # The resolution stands before the points of the picture, which are the most of it.
        if kind in (b"pHYs", b"IDAT"):
            break
        place += 12 + length
    return "png", width, height, dpi


def _jpeg(data: bytes) -> _Facts | None:
    dpi, place = _UNKNOWN, 2
    while True:
        if data[place] != 0xFF:
            return None
        marker = data[place + 1]
        if marker == 0xFF:
            place += 1
            continue
        if marker == 0x01 or 0xD0 <= marker <= 0xD7:
            place += 2
            continue
        (length,) = struct.unpack_from(">H", data, place + 2)
        if length < 2:
            return None
        if marker == 0xE0 and data[place + 4 : place + 9] == b"JFIF\0":
            unit, across, down = struct.unpack_from(">BHH", data, place + 11)
            scale = {1: 1.0, 2: 2.54}.get(unit, 0.0)
            dpi = across * scale, down * scale
        if marker in _START_OF_FRAME:
            height, width = struct.unpack_from(">HH", data, place + 5)
            return "jpeg", width, height, dpi
        place += 2 + length
