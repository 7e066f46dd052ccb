"""Slide decks of LibreOffice and its relatives: mapped, read and compared; never written.

`handler` declares the format; `packages` opens a file of it, zipped or flat; `deck` reads it slide
by slide, with `shapes` for what stands on one, `boxes` for where, `charts` for the charts in it,
and `backgrounds` for what slides are painted with. `slide_text` writes a slide as text; `deck_map`
and `regions` answer with the map and with text, with `warnings` of what a reader must know;
`comparison` with what differs between two versions.
"""

from collections.abc import Sequence

from kbd import hookimpl
from kbd.formats import FormatHandler
from kbd_odp.handler import OdpFormat

__all__ = ["OdpFormat", "kbd_register_formats"]


@hookimpl
def kbd_register_formats() -> Sequence[FormatHandler]:
    """Offer the format."""
    return (OdpFormat(),)
