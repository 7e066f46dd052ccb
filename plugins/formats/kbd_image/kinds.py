"""What a file is by its bytes, whatever its name says; and whether its end is there."""

import mmap
from pathlib import Path, PurePosixPath

from kbd.errors import FileReadFailed
from kbd.formats import Source

__all__ = ["RASTERS", "gif_frames", "is_cut", "is_vector", "misnamed", "refusal", "webp_size"]

RASTERS = ("PNG", "JPEG", "GIF", "WEBP", "TIFF", "BMP")
"""The kinds that are decoded (reliability, section 4): the others have cost too many faults."""

_BY_SUFFIX = {
    ".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".gif": "GIF", ".webp": "WEBP",
    ".bmp": "BMP", ".tif": "TIFF", ".tiff": "TIFF", ".svg": "SVG",
}  # fmt: skip
_OTHERS = (
    (b"%!PS", "an EPS file"), (b"\xc5\xd0\xd3\xc6", "an EPS file"), (b"8BPS", "a Photoshop file"),
    (b"%PDF", "a PDF file"), (b"SIMPLE  =", "a FITS file"), (b"\x1f\x8b", "a compressed file"),
    (b"PK\x03\x04", "a zip file"), (b"\xd0\xcf\x11\xe0", "an old office file"),
    (b"\x00\x00\x01\x00", "an icon file"), (b"<", "markup"),
)  # fmt: skip
_HEAD_BYTES = 4096
_TAIL_BYTES = 4096


def is_vector(source: Source) -> bool:
    """Tell whether a file is markup that draws; raises FileReadFailed if it cannot be opened."""
    head = _head(source)
    text = head.decode("utf-16", "ignore") if head[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
    plain = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if plain.startswith(b"<") and b"<svg" in head:
        return True
    # A long licence may stand before the first element.
    is_named = PurePosixPath(source.name).suffix.lower() == ".svg"
    return "<svg" in text or (is_named and plain.startswith(b"<"))


def misnamed(source: Source, kind: str) -> tuple[str, ...]:
    """Return a warning where a file's name says something else than its bytes."""
    suffix = PurePosixPath(source.name).suffix.lower()
    if _BY_SUFFIX.get(suffix, kind) == kind:
        return ()
    return (f"It is a {kind} file, though its name ends in {suffix}.",)


def refusal(source: Source) -> FileReadFailed:
    """Return the error for a file that is no picture of an allowed kind."""
    head = _head(source)
    if not head:
        return FileReadFailed(f"{source.name} is empty.")
    what = next((words for mark, words in _OTHERS if head.startswith(mark)), None)
    known = ", ".join(RASTERS)
    if what is None:
        return FileReadFailed(f"{source.name} is damaged, or no picture ({known} or SVG).")
    return FileReadFailed(f"{source.name} is {what}, not a picture ({known} or SVG).")


def webp_size(source: Source) -> tuple[int, int] | None:
    """Return the size that a WEBP file claims: Pillow takes the memory for it when it opens one."""
    head = _head(source)
    if head[:4] != b"RIFF" or head[8:12] != b"WEBP":
        return None
    match head[12:16]:
        case b"VP8X":
            wide, high = head[24:27], head[27:30]
            return int.from_bytes(wide, "little") + 1, int.from_bytes(high, "little") + 1
        case b"VP8L":
            bits = int.from_bytes(head[21:25], "little")
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case _:
            wide, high = head[26:28], head[28:30]
            return int.from_bytes(wide, "little") & 0x3FFF, int.from_bytes(high, "little") & 0x3FFF


def gif_frames(path: Path, most: int) -> int:
    """Count the frames of a GIF file up to a number; Pillow would unpack them to count."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        size = len(data)
        place = 13 + _table_bytes(data[10]) if size > 13 else size
        frames = 0
        while place + 10 < size and frames < most:
            match data[place]:
                case 0x2C:
                    frames += 1
                    place += 11 + _table_bytes(data[place + 9])
                case 0x21:
                    place += 2
                case _:
                    break
            while place < size and data[place]:
                place += data[place] + 1
            place += 1
        return frames


def is_cut(path: Path, kind: str) -> bool:
    """Tell whether the end of a file is missing, as far as its bytes tell it without decoding."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        match kind:
            case "PNG":
                return data.rfind(b"IEND", max(0, len(data) - _TAIL_BYTES)) < 0
            case "JPEG":
                return data.find(b"\xff\xd9", _scan(data)) < 0
            case "GIF":
                return not data[-_TAIL_BYTES:].rstrip(b"\0").endswith(b";")
            case "WEBP":
                return int.from_bytes(data[4:8], "little") + 8 > len(data)
            case _:
                return False


def _head(source: Source) -> bytes:
    try:
        with source.path.open("rb") as file:
            return file.read(_HEAD_BYTES)
    except OSError as error:
        raise FileReadFailed(f"{source.name} cannot be opened.") from error


def _table_bytes(flags: int) -> int:
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


def _scan(data: mmap.mmap) -> int:
    """Return where the picture itself begins: a small one may stand in the parts before."""
    place = 2
    while place + 4 < len(data) and data[place] == 0xFF and data[place + 1] != 0xDA:
        place += 2 + int.from_bytes(data[place + 2 : place + 4])
    return place
