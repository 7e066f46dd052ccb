"""Kinds of pictures by their bytes, and those that are allowed opened within limits.

Pillow's own limit of pixels warns in one place and refuses in another, and it would refuse to tell
the size of what is too large; so its limit is lifted while a file is opened, which decodes nothing,
and ours are kept before anything is decoded. This runs in a worker's process alone, in which
nothing else uses Pillow at the same time.
"""

import contextlib
import mmap
import warnings
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from PIL import Image, ImageFile, UnidentifiedImageError

from kbd.errors import FileReadFailed, KbdError
from kbd.formats import Source

__all__ = [
    "MAX_FRAMES",
    "MAX_PIXELS",
    "MAX_TOTAL_PIXELS",
    "RASTERS",
    "check_pixels",
    "gif_frames",
    "is_truncated",
    "is_vector",
    "kind_of",
    "open_picture",
    "suffix_warnings",
    "unsupported_error",
    "webp_size",
]

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
    # XML may be UTF-16, which its byte order mark shows (XML 1.0, appendix F).
    text = head.decode("utf-16", "ignore") if head[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
    plain = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if plain.startswith(b"<") and b"<svg" in head:
        return True
    # A long license may stand before the first element.
    is_named = PurePosixPath(source.name).suffix.lower() == ".svg"
    return "<svg" in text or (is_named and plain.startswith(b"<"))


def suffix_warnings(source: Source, kind: str) -> tuple[str, ...]:
    """Return a warning where a file's name says something else than its bytes."""
    suffix = PurePosixPath(source.name).suffix.lower()
    if _BY_SUFFIX.get(suffix, kind) == kind:
        return ()
    return (f"It is a {kind} file, though its name ends in {suffix}.",)


def unsupported_error(source: Source) -> FileReadFailed:
    """Return the error for a file that is no picture of an allowed kind."""
    head = _head(source)
    if not head:
        return FileReadFailed(f"{source.name} is empty")
    what = next((words for mark, words in _OTHERS if head.startswith(mark)), None)
    known = ", ".join(RASTERS)
    if what is None:
        return FileReadFailed(f"{source.name} is damaged, or no picture ({known} or SVG)")
    return FileReadFailed(f"{source.name} is {what}, not a picture ({known} or SVG)")


def webp_size(source: Source) -> tuple[int, int] | None:
    """Return the size that a WEBP file claims: Pillow takes the memory for it when it opens one."""
    head = _head(source)
    if head[:4] != b"RIFF" or head[8:12] != b"WEBP":
        return None
    # The first chunk of the RIFF container says where the size is: extended files hold it less
    # one in 24 bits, lossless ones less one in 14 bits, lossy ones as it is in 14 bits.
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
        place = 13 + _color_table_bytes(data[10]) if size > 13 else size
        frames = 0
        while place + 10 < size and frames < most:
            match data[place]:
                # GIF89a: an image descriptor (2C) may have a color table of its own, an extension
                # (21) has a label; the data of both are sub-blocks, each with its length before it.
                case 0x2C:
                    frames += 1
                    place += 11 + _color_table_bytes(data[place + 9])
                case 0x21:
                    place += 2
                case _:
                    break
            while place < size and data[place]:
                place += data[place] + 1
            place += 1
        return frames


def is_truncated(path: Path, kind: str) -> bool:
    """Tell whether the end of a file is missing, as far as its bytes tell it without decoding."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        match kind:
            case "PNG":
                return data.rfind(b"IEND", max(0, len(data) - _TAIL_BYTES)) < 0
            case "JPEG":
                return data.find(b"\xff\xd9", _scan_start(data)) < 0
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
        raise FileReadFailed(f"{source.name} cannot be opened") from error


def _color_table_bytes(flags: int) -> int:
    """Return the size of the color table that a GIF block's flags announce."""
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


def _scan_start(data: mmap.mmap) -> int:
    """Return where the picture itself begins: a small one may stand in the parts before."""
    place = 2
    while place + 4 < len(data) and data[place] == 0xFF and data[place + 1] != 0xDA:
        place += 2 + int.from_bytes(data[place + 2 : place + 4])
    return place


MAX_PIXELS = 50_000_000
"""Of a frame (reliability, section 4)."""

MAX_TOTAL_PIXELS = 200_000_000
"""Of all frames that are decoded for one (likewise)."""

MAX_FRAMES = 100
"""Frames that are looked at (likewise)."""


@contextlib.contextmanager
def open_picture(source: Source, *, tolerant: bool = False) -> Iterator[Image.Image]:
    """Open a picture; what goes wrong inside the `with` is told as a damaged file, too.

    Args:
        source: The file.
        tolerant: Whether what is missing or wrong in it is left out.

    Raises:
        FileReadFailed: It is not of an allowed kind, or damaged.
    """
    claimed = webp_size(source)
    if claimed is not None:
        check_pixels(source.name, *claimed)
    was_tolerant = ImageFile.LOAD_TRUNCATED_IMAGES
    with warnings.catch_warnings(action="ignore"):
        try:
            # A setting of the whole process: only its worker uses Pillow, one picture at a time.
            ImageFile.LOAD_TRUNCATED_IMAGES = tolerant
            with _open_unlimited(source) as picture:
                yield picture
        # Memory that runs out is the end of the worker, not damage of the file.
        except (KbdError, MemoryError):
            raise
        except UnidentifiedImageError as error:
            raise unsupported_error(source) from error
        except Exception as error:
            # Of a damaged file Pillow raises what Python does: ValueError, SyntaxError, EOFError…
            raise FileReadFailed(f"{source.name} is damaged ({type(error).__name__})") from error
        finally:
            ImageFile.LOAD_TRUNCATED_IMAGES = was_tolerant


def kind_of(picture: Image.Image) -> str:
    """Return the kind of a picture; several JPEG pictures in one file are one of them."""
    kind = picture.format or ""
    return "JPEG" if kind == "MPO" else kind


def check_pixels(name: str, width: int, height: int, frames: int = 1) -> None:
    """See that so many frames of a size may be decoded; raises FileReadFailed."""
    if width * height > MAX_PIXELS:
        msg = f"{name} has {width:,} x {height:,} pixels; more than {MAX_PIXELS:,} are not decoded"
        raise FileReadFailed(msg)
    if frames > MAX_FRAMES or width * height * frames > MAX_TOTAL_PIXELS:
        msg = f"{name} would need {frames} frames of {width:,} x {height:,} pixels to be decoded"
        raise FileReadFailed(f"{msg}; that is past the limit")


def _open_unlimited(source: Source) -> Image.Image:
    limit = Image.MAX_IMAGE_PIXELS
    try:
        # Pillow would refuse to open, and so to give the size, of what is too large to decode.
        Image.MAX_IMAGE_PIXELS = None
        # No other kind is tried: each of Pillow's decoders is more code that a file can reach.
        return Image.open(source.path, formats=RASTERS)
    finally:
        Image.MAX_IMAGE_PIXELS = limit
