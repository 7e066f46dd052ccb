"""Answers that show a file: a picture of it, or a grid of its cells."""

from base64 import b64encode

import msgspec

from kbd.formats import Grid, Preview
from kbd.requests.formats import PreviewGrid, PreviewPicture

__all__ = ["render_grid", "render_picture"]


def render_picture(shown: Preview) -> PreviewPicture:
    """Return a page, slide or picture as clients get it."""
    return PreviewPicture(
        base64=b64encode(shown.data).decode(),
        mime_type=shown.mime_type,
        width=shown.width,
        height=shown.height,
        count=shown.count,
        warnings=shown.warnings,
    )


def render_grid(grid: Grid) -> PreviewGrid:
    """Return a window of cells as clients get it."""
    # The same fields; only what a plugin leaves out at its default is spelled out.
    plain = {"merged": (), "warnings": (), **msgspec.to_builtins(grid)}
    return msgspec.convert(plain, PreviewGrid)
