"""Pictures: their facts and what they show; never written.

`handler` declares the format.
"""

from collections.abc import Sequence

from kbd import hookimpl
from kbd.formats import FormatHandler
from kbd_image.handler import ImageFormat

__all__ = ["ImageFormat", "kbd_register_formats"]


@hookimpl
def kbd_register_formats() -> Sequence[FormatHandler]:
    """Offer the format."""
    return (ImageFormat(),)
