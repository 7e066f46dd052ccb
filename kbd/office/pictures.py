"""Pictures that are put into office files: what they are by their bytes, and how large.

Only kinds that every office program shows are taken, by what their bytes are and not by their
names: a drawing with a script (SVG), or something else under a picture's name, is none of them.
"""

import io
import warnings
from collections.abc import Mapping

import msgspec
from PIL import Image, UnidentifiedImageError

from kbd.errors import ValidationFailed

__all__ = ["MAX_PICTURE_BYTES", "PictureFacts", "picture_facts"]

MAX_PICTURE_BYTES = 50_000_000
"""A larger picture makes a file that programs open slowly, or not at all."""

MAX_SIDE = 100_000
"""Pixels that a picture may be wide, or high."""

_EMU_PER_INCH = 914_400
_SCREEN_DPI = 96
_MIN_DPI, _MAX_DPI = 10, 2_400
"""Resolutions that are believed; others stand in files by mistake."""


class PictureFacts(msgspec.Struct, frozen=True):
    """A picture.

    Args:
        suffix: Of a part that holds it, without a dot.
        mime_type: Its type.
        width: As it is shown at its own resolution, in English Metric Units (914,400 an inch).
        height: Likewise.
    """

    suffix: str
    mime_type: str
    width: int
    height: int


def picture_facts(data: bytes, name: str, kinds: Mapping[str, str]) -> PictureFacts:
    """Return what a picture is.

    Args:
        data: Its bytes.
        name: Its name, for messages.
        kinds: Those that are taken, as Pillow calls them, with their suffixes.

    Raises:
        ValidationFailed: It is no picture that office files can show, is damaged or too large.
    """
    if len(data) > MAX_PICTURE_BYTES:
        raise ValidationFailed(
            f"{name} is larger than {MAX_PICTURE_BYTES // 1_000_000} MB; make it smaller first"
        )
    *others, last = dict.fromkeys(suffix.upper() for suffix in kinds.values())
    told = f"{', '.join(others)} and {last}"
    try:
        with warnings.catch_warnings():
            # Of pictures with very many points, whose header alone is read here.
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data), formats=list(kinds)) as image:
                (width, height) = image.size
                # Of several pictures in one file the class is derived from that of the first.
                names = [str(getattr(each, "format", "")) for each in type(image).__mro__]
                dpi = image.info.get("dpi", (0, 0))
    except UnidentifiedImageError:
        raise ValidationFailed(
            f"{name} is no picture that can be put in, or a damaged one; {told} can"
        ) from None
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        raise ValidationFailed(f"{name} is damaged, or has too many points to be shown") from None
    if not 0 < width < MAX_SIDE or not 0 < height < MAX_SIDE:
        raise ValidationFailed(f"{name} is damaged: it is {width} by {height} pixels")
    # Some kinds count points a meter as whole numbers, so that 191.9986 is 192.
    across, down = (round(float(each), 2) for each in dpi)
    across, down = (e if _MIN_DPI <= e <= _MAX_DPI else _SCREEN_DPI for e in (across, down))
    suffix = next(kinds[name] for name in names if name in kinds)
    return PictureFacts(
        suffix,
        f"image/{suffix}",
        round(width * _EMU_PER_INCH / across),
        round(height * _EMU_PER_INCH / down),
    )
