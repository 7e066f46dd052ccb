"""Pictures of the allowed kinds, opened within limits.

Pillow's own limit of pixels warns in one place and refuses in another, and it would refuse to tell
the size of what is too large; so its limit is lifted while a file is opened, which decodes nothing,
and ours are kept before anything is decoded. This runs in a worker's process alone, in which
nothing else uses Pillow at the same time.
"""

import contextlib
import warnings
from collections.abc import Iterator

from PIL import Image, ImageFile, UnidentifiedImageError

from kbd.errors import FileReadFailed, KbdError
from kbd.formats import Source
from kbd_image.kinds import RASTERS, refusal, webp_size

__all__ = ["MOST_FRAMES", "MOST_PIXELS", "PIXELS_IN_ALL", "check_pixels", "kind_of", "opened"]

MOST_PIXELS = 50_000_000
"""Of a frame (reliability, section 4)."""

PIXELS_IN_ALL = 200_000_000
"""Of all frames that are decoded for one (likewise)."""

MOST_FRAMES = 100
"""Frames that are looked at (likewise)."""


@contextlib.contextmanager
def opened(source: Source, *, tolerant: bool = False) -> Iterator[Image.Image]:
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
            ImageFile.LOAD_TRUNCATED_IMAGES = tolerant
            with _opened(source) as picture:
                yield picture
        except (KbdError, MemoryError):
            raise
        except UnidentifiedImageError as error:
            raise refusal(source) from error
        except Exception as error:
            # Of a damaged file Pillow raises what Python does: ValueError, SyntaxError, EOFError…
            raise FileReadFailed(f"{source.name} is damaged ({type(error).__name__}).") from error
        finally:
            ImageFile.LOAD_TRUNCATED_IMAGES = was_tolerant


def kind_of(picture: Image.Image) -> str:
    """Return the kind of a picture; several JPEG pictures in one file are one of them."""
    kind = picture.format or ""
    return "JPEG" if kind == "MPO" else kind


def check_pixels(name: str, width: int, height: int, frames: int = 1) -> None:
    """See that so many frames of a size may be decoded; raises FileReadFailed."""
    if width * height > MOST_PIXELS:
        msg = f"{name} has {width:,} x {height:,} pixels; more than {MOST_PIXELS:,} are not decoded"
        raise FileReadFailed(f"{msg}.")
    if frames > MOST_FRAMES or width * height * frames > PIXELS_IN_ALL:
        msg = f"{name} would need {frames} frames of {width:,} x {height:,} pixels to be decoded"
        raise FileReadFailed(f"{msg}; that is past the limit.")


def _opened(source: Source) -> Image.Image:
    limit = Image.MAX_IMAGE_PIXELS
    try:
        Image.MAX_IMAGE_PIXELS = None
        return Image.open(source.path, formats=RASTERS)
    finally:
        Image.MAX_IMAGE_PIXELS = limit
