"""Pictures: their facts, what they show and what differs in two versions; never written.

`handler` declares the format. `decoder` knows by its bytes what a file is, and whether its end is
there, and opens one of the kinds that are allowed, within limits. `facts` is what `metadata`
answers, also as text; of svg it reads the markup. `previews` draws a picture, upright and small.
`comparison` tells two versions of a picture apart.
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
