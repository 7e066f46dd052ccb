"""What facts of formatting are called in changes: the names and units that the tools have."""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from kbd_pptx.comparison.markup import Difference, PartValue, Value
from kbd_pptx.reader.boxes import EMU_PER_INCH, parse_length

__all__ = ["MAX_DETAILS", "Details", "Named", "name_differences"]

MAX_DETAILS = 40
"""Of one change; a drawing has thousands of points."""

MAX_VALUE_CHARACTERS = 300

Details = dict[str, tuple[Any, Any]]


class Named(NamedTuple):
    """Differences in the words of people.

    Args:
        details: Formatting.
        links: Where links lead, before and after.
        parts: What is embedded, by the kind of its relation.
    """

    details: Details
    links: list[tuple[str | None, str | None]]
    parts: list[tuple[PartValue | None, PartValue | None]]


def _flag(text: str) -> Any:
    return {"1": True, "true": True, "0": False, "false": False}.get(text, text)


def _hundredths(text: str) -> Any:
    return int(text) / 100 if re.fullmatch(r"-?\d{1,9}", text) else text


def _inches(text: str) -> Any:
    length = parse_length(text)
    return text if length is None else round(length / EMU_PER_INCH, 4)


def _points(text: str) -> Any:
    length = parse_length(text)
    return text if length is None else round(length / 12_700, 2)


def _share(text: str) -> Any:
    # A hundred thousandth, or a number with its sign (ISO 29500-1, 22.9.2.9).
    return int(text) / 100_000 if re.fullmatch(r"-?\d{1,9}", text) else text


def _degrees(text: str) -> Any:
    return int(text) / 60_000 if re.fullmatch(r"-?\d{1,12}", text) else text


def _color(text: str) -> Any:
    return f"#{text}" if re.fullmatch(r"[0-9A-Fa-f]{6}", text) else text


def _plain(text: str) -> Any:
    return text


_Reading = Callable[[str], Any]


def _none(_: str) -> Any:
    return "none"


_LAST: Mapping[str, tuple[str, _Reading]] = {
    "@b": ("bold", _flag),
    "@i": ("italic", _flag),
    "@u": ("underline", _plain),
    "@strike": ("strikethrough", _plain),
    "@sz": ("font_size", _hundredths),
    "@cap": ("capitals", _plain),
    "@baseline": ("baseline", _share),
    "@spc": ("letter_spacing", _hundredths),
    "@lang": ("language", _plain),
    "latin@typeface": ("font_name", _plain),
    "solidFill/srgbClr@val": ("font_color", _color),
    "solidFill/schemeClr@val": ("font_color", _plain),
    "highlight/srgbClr@val": ("highlight_color", _color),
    "highlight/schemeClr@val": ("highlight_color", _plain),
    "pPr@algn": ("alignment", _plain),
    "pPr@lvl": ("level", _plain),
    "pPr@marL": ("left_margin", _inches),
    "pPr@indent": ("indent", _inches),
    "pPr/lnSpc/spcPct@val": ("line_spacing", _share),
    "pPr/lnSpc/spcPts@val": ("line_spacing_points", _hundredths),
    "pPr/spcBef/spcPts@val": ("space_before", _hundredths),
    "pPr/spcAft/spcPts@val": ("space_after", _hundredths),
    "pPr/buChar@char": ("bullet", _plain),
    "pPr/buAutoNum@type": ("numbering", _plain),
    "spPr/solidFill/srgbClr@val": ("fill_color", _color),
    "spPr/solidFill/schemeClr@val": ("fill_color", _plain),
    "spPr/noFill": ("fill_color", _none),
    "spPr/ln/noFill": ("line_color", _none),
    "tcPr/noFill": ("fill_color", _none),
    "spPr/prstGeom@prst": ("geometry", _plain),
    "spPr/ln@w": ("line_width", _points),
    "spPr/ln/solidFill/srgbClr@val": ("line_color", _color),
    "spPr/ln/solidFill/schemeClr@val": ("line_color", _plain),
    "spPr/ln/prstDash@val": ("line_dash", _plain),
    "txBody/bodyPr@anchor": ("vertical_alignment", _plain),
    "txBody/bodyPr@wrap": ("wrap", _plain),
    "txBody/bodyPr@rot": ("text_rotation", _degrees),
    "txBody/bodyPr/normAutofit@fontScale": ("font_scale", _share),
    "tcPr/solidFill/srgbClr@val": ("fill_color", _color),
    "tcPr/solidFill/schemeClr@val": ("fill_color", _plain),
    "tcPr@anchor": ("vertical_alignment", _plain),
    "@gridSpan": ("column_span", _plain),
    "@rowSpan": ("row_span", _plain),
}
"""Names with what reads the value, by path."""

_LINK = re.compile(r"(?:^|/)hlink(?:Click|Hover|MouseOver)(?:@|$)")
_JUMP = "ppaction://hlinksldjump"
_LENGTH = re.compile(r"/(?:off|chOff)@[xy]$|/(?:ext|chExt)@c[xy]$")
_LINK_TARGET = re.compile(r"@relationships:id$")


def name_differences(found: Mapping[str, Difference]) -> Named:
    """Return differences with their names, those of links and of embedded parts apart."""
    named = Named({}, [], [])
    left_out = 0
    jumps: Details = {}
    for path, (before, after) in found.items():
        if isinstance(before, PartValue) or isinstance(after, PartValue):
            named.parts.append((_part(before), _part(after)))
        elif _LINK.search(path) and _JUMP in (before, after):
            jumps["link_action"] = (_action(before), _action(after))
        elif _LINK.search(path):
            _add_link(named, path, before, after)
        elif len(named.details) >= MAX_DETAILS:
            left_out += 1
        else:
            _add_detail(named.details, path, before, after)
    # A jump to a slide is told by that slide, which is another fact.
    if not named.links:
        named.details.update(jumps)
    if left_out:
        named.details["more"] = (None, f"{left_out:,} more differ")
    return named


def _add_link(named: Named, path: str, before: Value | None, after: Value | None) -> None:
    if _LINK_TARGET.search(path):
        # An empty id is that of an action without a target, told below.
        if before or after:
            named.links.append((_link(before), _link(after)))
    elif path.endswith("@action"):
        named.links.append((_action(before), _action(after)))
    else:
        _add_detail(named.details, path, before, after)


def _add_detail(details: Details, path: str, before: Value | None, after: Value | None) -> None:
    reading: _Reading = _inches if _LENGTH.search(path) else _plain
    name, reading = _LAST.get(path, (path or "properties", reading))
    if name in details:
        # One of a theme's colors and one of its own have the same name: the two are one change.
        old, new = details[name]
        details[name] = (
            old if before is None else _read(before, reading),
            new if after is None else _read(after, reading),
        )
    else:
        details[name] = (_read(before, reading), _read(after, reading))


def _read(value: Value | None, reading: _Reading) -> Any:
    if value is None:
        return None
    if isinstance(value, PartValue):
        return {"sha256": value.digest, "size_bytes": value.size_bytes}
    found = reading(value)
    if isinstance(found, str) and len(found) > MAX_VALUE_CHARACTERS:
        return f"{found[:MAX_VALUE_CHARACTERS]}…"
    return found


def _part(value: Value | None) -> PartValue | None:
    return value if isinstance(value, PartValue) else None


def _link(value: Value | None) -> str | None:
    return value if isinstance(value, str) and value else None


def _action(value: Value | None) -> str | None:
    return value.removeprefix("ppaction://") if isinstance(value, str) and value else None
