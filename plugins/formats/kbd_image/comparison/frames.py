"""Frames of a picture: digests of their pixels, and how much of two frames differs."""

import hashlib
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from PIL import Image, ImageChops

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.formats.alignment import align
from kbd_image.comparison.metadata import has_deep_colors
from kbd_image.decoder import MAX_FRAMES, MAX_TOTAL_PIXELS, check_pixels, open_picture
from kbd_image.facts import count_frames

__all__ = ["Difference", "Frame", "differing_pixels", "pair_frames", "pair_in_order", "read_frames"]

MAX_COMPARED_PIXELS = 12_000_000
"""Of a frame whose pixels are counted; a larger one is counted smaller."""

_STRIP = 256
_DEEP_MODES = ("I", "I;16", "I;16B", "I;16L", "F")
_PRINTED_MODES = ("CMYK", "LAB")
"""Modes of which several colors are the same one in RGB."""


class Frame(NamedTuple):
    """A frame.

    Args:
        digest: Of its pixels.
        size: Its width and height.
        duration_ms: How long it is shown, 0 where that is not said.
    """

    digest: str
    size: tuple[int, int]
    duration_ms: float


class Difference(NamedTuple):
    """Difference of two frames.

    Args:
        share: Of the pixels, from 0 to 1.
        box: Left, top, width and height of what differs, None if nothing that is seen does.
        most: By how much a pixel differs at most, of 255.
    """

    share: float
    box: tuple[int, int, int, int] | None
    most: int


ItemPair = tuple[int | None, int | None]
"""The index of a frame or a line before and after; None where it is not there."""


def read_frames(source: Source, warnings: dict[str, None]) -> list[Frame]:
    """Return the frames of a picture, as far as they may be decoded.

    Args:
        source: The file.
        warnings: Where it goes what was left out.

    Raises:
        FileReadFailed: It is no picture, or its pixels cannot be decoded.
    """
    try:
        return _read_frames(source, warnings, tolerant=False)
    except FileReadFailed as error:
        try:
            found = _read_frames(source, warnings, tolerant=True)
        except FileReadFailed:
            # The first error says what is wrong; this one only that leniency did not help.
            raise error from None
        warnings[f"{source.name} is damaged: what is missing was compared as black."] = None
        return found


def _read_frames(source: Source, warnings: dict[str, None], *, tolerant: bool) -> list[Frame]:
    found = []
    with open_picture(source, tolerant=tolerant) as picture:
        check_pixels(source.name, *picture.size)
        count = count_frames(source, picture)
        if has_deep_colors(source, picture):
            warnings[
                f"{source.name} has more than 8 bits a channel, of which the upper 8 were compared."
            ] = None
        size = max(1, picture.width * picture.height)
        most = max(1, min(count, MAX_FRAMES, MAX_TOTAL_PIXELS // size))
        if count > most:
            warnings[f"Of the frames of {source.name} the first {most} were compared."] = None
        for index in range(most):
            picture.seek(index)
            check_pixels(source.name, *picture.size)
            shown = _plain(picture)
            sums = hashlib.sha256(f"{shown.mode} {shown.size}".encode())
            # In strips: all bytes at once would be the picture in memory a third time.
            for top in range(0, shown.height, _STRIP):
                bottom = min(shown.height, top + _STRIP)
                sums.update(shown.crop((0, top, shown.width, bottom)).tobytes())
            given = picture.info.get("duration", 0)
            duration = float(given) if isinstance(given, int | float) and count > 1 else 0.0
            found.append(Frame(sums.hexdigest(), picture.size, duration))
    return found


def _plain(picture: Image.Image) -> Image.Image:
    """Return a picture with its colors, whatever way they were stored in."""
    if picture.mode in _DEEP_MODES or picture.mode in _PRINTED_MODES:
        picture.load()
        return picture
    return picture.convert("RGBA")


def pair_in_order(before: Sequence[Hashable], after: Sequence[Hashable]) -> list[ItemPair]:
    """Pair what is equal in two sequences, and between that what took the place of the other."""
    pairs: list[ItemPair] = []
    for block in align(before, after):
        olds, news = range(block.i1, block.i2), range(block.j1, block.j2)
        both = min(len(olds), len(news))
        pairs += zip(olds[:both], news[:both], strict=True)
        pairs += [(i, None) for i in olds[both:]]
        pairs += [(None, j) for j in news[both:]]
    return pairs


def pair_frames(before: Sequence[Frame], after: Sequence[Frame]) -> list[ItemPair]:
    """Pair the frames of two versions, in order, by their pixels."""
    return pair_in_order([each.digest for each in before], [each.digest for each in after])


def differing_pixels(before: Source, i: int, after: Source, j: int) -> Difference | None:
    """Return how much of two frames differs; None for pixels of more than 8 bits.

    Args:
        before: The file before.
        i: The frame, from 0.
        after: The file after.
        j: The frame there, of the same size.

    Raises:
        FileReadFailed: A frame cannot be decoded.
    """
    old, factor = _compared(before, i)
    new, _ = _compared(after, j)
    if old is None or new is None:
        return None
    bands = ImageChops.difference(old, new).split()
    most = bands[0]
    for band in bands[1:]:
        most = ImageChops.lighter(most, band)
    shades = most.histogram()
    box = most.getbbox()
    highest = max((shade for shade in range(256) if shades[shade]), default=0)
    share = sum(shades[1:]) / max(1, most.width * most.height)
    if box is None:
        return Difference(0.0, None, 0)
    left, top, right, bottom = (side * factor for side in box)
    return Difference(share, (left, top, right - left, bottom - top), highest)


def _compared(source: Source, index: int) -> tuple[Image.Image | None, int]:
    """Return a frame as it is compared, and how many times smaller it was made."""
    with open_picture(source, tolerant=True) as picture:
        picture.seek(index)
        check_pixels(source.name, *picture.size)
        if picture.mode in _DEEP_MODES:
            return None, 1
        shown: Any = picture.convert("RGBA")
        factor = 1
        while shown.width * shown.height > MAX_COMPARED_PIXELS * factor * factor:
            factor += 1
        if factor > 1:
            shown = shown.reduce(factor)
        # Colors under what is wholly transparent are seen by nobody.
        return shown.convert("RGBa"), factor
