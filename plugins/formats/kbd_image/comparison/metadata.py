"""What a picture says of itself, by name: its facts, EXIF, texts, the profile of its colors."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from PIL import ExifTags, Image

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd_image.decoder import kind_of, open_picture
from kbd_image.facts import metadata

__all__ = ["has_deep_colors", "read_properties"]

MAX_CHARACTERS = 500
"""Of a value."""

MAX_ENTRIES = 1_000
"""Of one table of EXIF."""

MAX_CHUNKS = 100_000
MAX_CHUNK_BYTES = 16 << 20
"""Chunks of a PNG file that are looked at, and bytes of one."""

_SHALLOW = frozenset(("L", "LA", "RGB", "RGBA", "CMYK"))
"""Modes with 8 bits a channel."""

_APART = frozenset(("width", "height", "size_bytes", "warnings", "frames", "upright", "depth"))
"""Facts that are compared otherwise, or follow from others."""

_TABLES = (("", None), ("", ExifTags.IFD.Exif), ("GPS ", ExifTags.IFD.GPSInfo))
_POINTERS = frozenset(int(each) for each in (ExifTags.IFD.Exif, ExifTags.IFD.GPSInfo))
_DERIVED = frozenset((
    "exif", "xmp", "dpi", "duration", "icc_profile", "photoshop", "progression", "version",
    "background", "transparency", "Raw profile type exif", "jfif", "jfif_version", "jfif_unit",
    "jfif_density", "extension", "timestamp", "mp", "mpoffset", "adobe", "adobe_transform",
    "resolution", "compression",
))  # fmt: skip
"""Entries that are compared under other names, say how the file is packed, or are of pixels."""


def read_properties(source: Source) -> dict[str, Any]:
    """Return what a picture says of itself; raises FileReadFailed if it is none."""
    found: dict[str, Any] = {
        name: value for name, value in metadata(source).items() if name not in _APART
    }
    try:
        with open_picture(source, tolerant=True) as picture:
            found |= _exif(picture)
            found |= _texts(picture.info)
            found |= _resources(picture.info.get("photoshop"))
            if kind_of(picture) == "PNG":
                found |= _behind_pixels(source)
    except FileReadFailed:
        # An svg, or so damaged that the facts are all that is known.
        return found
    return found


def _exif(picture: Image.Image) -> dict[str, Any]:
    if kind_of(picture) == "PNG" and not {"exif", "Raw profile type exif"} & set(picture.info):
        # Pillow would decode all of it, to look for what may stand at its end.
        return {}
    exif = picture.getexif()
    is_tiff = kind_of(picture) == "TIFF"
    found: dict[str, Any] = {}
    for before, table in _TABLES:
        entries: Mapping[int, Any] = exif if table is None else exif.get_ifd(table)
        names = ExifTags.GPSTAGS if before else ExifTags.TAGS
        for tag in sorted(entries)[:MAX_ENTRIES]:
            is_packing = is_tiff and table is None and tag in _PACKING
            if tag not in _POINTERS and not is_packing:
                name = names.get(tag, f"tag {tag}")
                # Where it was taken is told nowhere: only whether that is the same.
                value = str(entries[tag]).encode() if before else entries[tag]
                found[f"EXIF {before}{name}"] = _value(value)
    return found


_PACKING = frozenset((
    254, 256, 257, 258, 259, 262, 273, 277, 278, 279, 284, 317, 322, 323, 324, 325, 338, 339,
    34675,
))  # fmt: skip
"""Tags of TIFF that say how its pixels lie in the file."""


def _texts(info: Mapping[Any, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in ("xmp", "icc_profile"):
        if value := info.get(name):
            found[name] = _value(value if isinstance(value, bytes) else str(value).encode())
    for key, value in info.items():
        if isinstance(key, str) and key not in _DERIVED:
            found[key] = _value(value)
    return found


def _resources(found: Any) -> dict[str, Any]:
    """Return a sum of what Photoshop and press agencies write into a JPEG file."""
    if not isinstance(found, Mapping) or not found:
        return {}
    written = sorted((str(key), str(value)) for key, value in found.items())
    return {"IPTC and Photoshop": _value(str(written).encode("utf-8", "replace"))}


def _behind_pixels(source: Source) -> dict[str, Any]:
    """Return texts of a PNG file that stand behind its pixels, where Pillow reads them last."""
    found: dict[str, Any] = {}
    is_behind = False
    for kind, data in _chunks(source):
        is_behind |= kind == b"IDAT"
        if not is_behind or kind not in _TEXT_CHUNKS:
            continue
        keyword, _, text = data.partition(b"\0")
        if kind not in (b"tEXt", b"zTXt", b"iTXt"):
            keyword, text = kind, data
        stem = name = f"{_value(keyword.decode('latin-1'))} (behind the pixels)"
        count = 1
        while name in found:
            count += 1
            name = f"{stem} [{count}]"
        found[name] = _value(text.decode("latin-1") if kind == b"tEXt" else text)
    return found


_TEXT_CHUNKS = frozenset((b"tEXt", b"zTXt", b"iTXt", b"eXIf", b"tIME"))


def _chunks(source: Source) -> Iterator[tuple[bytes, bytes]]:
    """Yield the chunks of a PNG file, of which only those that say something are read."""
    with source.path.open("rb") as file:
        file.seek(8)
        for _ in range(MAX_CHUNKS):
            head = file.read(8)
            if len(head) < 8:
                return
            size, kind = int.from_bytes(head[:4], "big"), head[4:]
            is_read = kind in _TEXT_CHUNKS or kind == b"IHDR"
            data = file.read(min(size, MAX_CHUNK_BYTES)) if is_read else b""
            yield kind, data
            file.seek(size - len(data) + 4, 1)


def has_deep_colors(source: Source, picture: Image.Image) -> bool:
    """Tell whether a picture has more than 8 bits a channel, of which Pillow reads the upper 8."""
    if picture.mode not in _SHALLOW:
        return False
    if kind_of(picture) == "PNG":
        header = next((data for kind, data in _chunks(source) if kind == b"IHDR"), b"")
        return header[8:9] == b"\x10"
    tags: Mapping[int, Any] = getattr(picture, "tag_v2", {})
    bits = tags.get(258, ())
    return max(bits if isinstance(bits, tuple) else (bits,), default=0) > 8


def _value(value: Any) -> Any:
    """Return a value as a plain one; bytes as what identifies them."""
    if isinstance(value, bytes):
        return {"size_bytes": len(value), "sha256": hashlib.sha256(value).hexdigest()}
    if isinstance(value, bool | int | float):
        return value if abs(value) < 1e300 else str(value)
    text = " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    text = "".join(each for each in text if each.isprintable() or each in "\n\t").strip()
    if len(text) <= MAX_CHARACTERS:
        return text
    # Two long texts may differ behind what is shown of them.
    found = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    return f"{text[:MAX_CHARACTERS]}… ({len(text):,} characters, SHA-256 {found})"
