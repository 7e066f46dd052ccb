"""Asset references of documents: kinds, and the places that assets go to."""

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Literal, get_args

import msgspec

from kbd.errors import ValidationFailed
from kbd.formats import AssetPick
from kbd.office.assets import AssetRef, parse_asset_ref
from kbd_docx.styles.stylesheet import folded

__all__ = ["AssetKind", "DocxAssetRef", "DocxPlace", "PlaceKind", "missing", "parse_ref"]

AssetKind = Literal[
    "theme",
    "page_setup",
    "paragraph_style",
    "character_style",
    "table_style",
    "numbering_style",
    "list",
    "header",
    "footer",
    "image",
]
PlaceKind = Literal["section", "paragraph", "table"]

_PLACES: Mapping[AssetKind, PlaceKind] = {
    "page_setup": "section",
    "paragraph_style": "paragraph",
    "table_style": "table",
    "list": "paragraph",
    "header": "section",
    "footer": "section",
    "image": "paragraph",
}
"""What each kind can be put on."""

_PLACE = re.compile(
    r"\s*(section|paragraph|table)s?\s*:?\s*(\d{1,7})(?:\s*-\s*(\d{1,7}))?\s*", re.IGNORECASE
)
_SHOWN = 60


class DocxPlace(msgspec.Struct, frozen=True):
    """Where something goes: the sections (from 0), paragraphs (from 1) or tables (from 0)."""

    kind: PlaceKind
    first: int
    last: int


DocxAssetRef = AssetRef[AssetKind, DocxPlace]
"""Something to be copied."""


def parse_ref(pick: AssetPick) -> DocxAssetRef:
    """Parse what is to be copied; raises ValidationFailed."""
    kinds = get_args(AssetKind)
    return parse_asset_ref(pick, kinds, lambda kind, text: _place(pick.asset_id, kind, text))


def missing(kind: str, name: str, known: Iterable[str]) -> ValidationFailed:
    """Return the error for an asset that is not there, with those of nearly its name."""
    names = {folded(each): each for each in known}
    near = get_close_matches(folded(name), names, 3, 0.5)
    hint = f" Near: {', '.join(f'{kind}:{names[each]}' for each in near)}." if near else ""
    return ValidationFailed(
        f"The source has no {kind} {name[:_SHOWN]!r}.{hint} get_styles lists what there is."
    )


def _place(asset_id: str, kind: AssetKind, text: str) -> DocxPlace:
    """Parse a target: "section:0", "paragraph:12", "paragraph:3-7", "table:0"."""
    wanted = _PLACES.get(kind)
    if wanted is None:
        raise ValidationFailed(f"{asset_id[:_SHOWN]} takes no target; leave it out.")
    found = _PLACE.fullmatch(text)
    if found is None or found[1].lower() != wanted:
        raise ValidationFailed(
            f"{asset_id[:_SHOWN]}: the target {text[:_SHOWN]!r} is none; write {wanted}:1."
        )
    first, last = int(found[2]), int(found[3] or found[2])
    if last < first or (first != last and kind in ("image", "header", "footer")):
        raise ValidationFailed(
            f"{asset_id[:_SHOWN]}: the target {text[:_SHOWN]!r} is no place for it."
        )
    return DocxPlace(wanted, first, last)
