"""The facts of a picture as text; of an svg its markup, too."""

import re
from collections.abc import Iterator
from typing import Any

from kbd.errors import ValidationFailed
from kbd.formats import Passage, Reading, Region, Source
from kbd.plaintext import detect, open_text
from kbd_image.facts import metadata

__all__ = ["passages", "read"]

MOST_CHARACTERS = 200_000
"""Of the markup of an svg."""

_DATA = re.compile(r"(data:[^,\"'()\s]{0,100},)[^\"'()\s<>]{200,}")


def read(source: Source, region: Region) -> Reading:
    """Return the facts, a line each, and of an svg its markup without pictures inside of it.

    Raises:
        FileReadFailed: It is no picture of an allowed kind.
        ValidationFailed: Coordinates are given; a picture has none.
    """
    if region.named():
        msg = f"{source.name} is a picture; it is read whole, not by {region.named()[0]}."
        raise ValidationFailed(msg)
    told = metadata(source)
    warnings = tuple(told.pop("warnings", ()))
    text = "".join(f"{name}: {_plain(value)}\n" for name, value in told.items())
    if told["format"] != "SVG":
        return Reading(text, warnings=warnings)
    markup, notes = _markup(source)
    return Reading(f"{text}\n{markup}", warnings=(*warnings, *notes))


def passages(source: Source) -> Iterator[Passage]:
    """Yield what `read` returns; raises FileReadFailed."""
    yield Passage(read(source, Region()).text, "the picture", Region())


def _plain(value: Any) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case dict():
            return ", ".join(f"{name} {each}" for name, each in value.items())
        case list():
            return " x ".join(str(each) for each in value)
        case None:
            return "unknown"
        case _:
            return str(value)


def _markup(source: Source) -> tuple[str, tuple[str, ...]]:
    with open_text(source.path, detect(source.path)) as file:
        # Pictures inside are most of a large file, and are left out.
        text = file.read(8 * MOST_CHARACTERS)
    text = _DATA.sub(r"\1…", text)
    if len(text) <= MOST_CHARACTERS:
        return text, ()
    return text[:MOST_CHARACTERS], (f"Only the first {MOST_CHARACTERS:,} characters are shown.",)
