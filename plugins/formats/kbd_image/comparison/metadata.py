"""What a picture says of itself, by name: its facts, EXIF, texts, the profile of its colors."""

import hashlib
from collections.abc import Mapping
from typing import Any

from PIL import ExifTags, Image

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd_image.decoder import kind_of, open_picture
from kbd_image.facts import metadata

__all__ = ["read_properties"]

MAX_CHARACTERS = 500
"""Of a value."""

MAX_ENTRIES = 1_000
"""Of one table of EXIF."""

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


def _value(value: Any) -> Any:
    """Return a value as a plain one; bytes as what identifies them."""
    if isinstance(value, bytes):
        return {"size_bytes": len(value), "sha256": hashlib.sha256(value).hexdigest()}
    if isinstance(value, bool | int | float):
        return value if abs(value) < 1e300 else str(value)
    text = " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    text = "".join(each for each in text if each.isprintable() or each in "\n\t").strip()
    return text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}…"
