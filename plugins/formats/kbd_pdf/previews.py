"""Previews of pages: upright, with notes and the values of forms drawn."""

import io
from itertools import islice

import pypdfium2 as pdfium
from PIL import Image
from pypdfium2 import raw

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Preview, Source
from kbd_pdf.documents import OpenedPdf, open_pdf

__all__ = ["draw_page", "preview"]

MAX_PIXELS = 200_000_000
"""Of all pictures on a page (reliability, section 4): drawing unpacks them."""

MAX_BYTES = 5 * 1024 * 1024
"""Of a preview (`kbd.formats.Preview`)."""

MAX_PICTURES = 2000
"""On a page, that are looked at."""

_ALMOST = 0.001
_MAX_POINTS = 1e7
_QUALITIES = (90, 75, 50)
_DEPTH = 4


def preview(source: Source, index: int, edge_px: int) -> Preview:
    """Return a page as a picture whose longer edge has `edge_px`; see `Previewable.preview`."""
    with open_pdf(source) as found:
        if not 0 <= index < found.page_count:
            msg = f"{source.name} has {found.page_count} pages; page {index + 1} is not one of them"
            raise ValidationFailed(msg)
        picture, size = _drawn_page(found, index, edge_px)
        data, mime_type = _encoded(picture)
        width, height = picture.size
        return Preview(data, mime_type, width, height, found.page_count, found.warnings, size)


def draw_page(found: OpenedPdf, index: int, edge_px: int) -> Image.Image:
    """Return a page as a picture whose longer edge has `edge_px`.

    Args:
        found: The file.
        index: Which page, from 0.
        edge_px: The size.

    Raises:
        FileReadFailed: The page is damaged, or past a limit.
    """
    return _drawn_page(found, index, edge_px)[0]


def _drawn_page(
    found: OpenedPdf, index: int, edge_px: int
) -> tuple[Image.Image, tuple[float, float]]:
    """Return a page as a picture, and its width and height in points; raises as `draw_page`."""
    if found.document is None:
        raise FileReadFailed(f"{found.name} is damaged: its pages cannot be drawn")
    found.cost.check(index)
    try:
        page = found.document[index]
    except pdfium.PdfiumError as error:
        msg = f"page {index + 1} of {found.name} is damaged and cannot be drawn"
        raise FileReadFailed(msg) from error
    try:
        _check_pictures(page, found.name, index)
        return _drawn(page, edge_px), page.get_size()
    finally:
        page.close()


def _check_pictures(page: pdfium.PdfPage, name: str, index: int) -> None:
    """Check that drawing a page unpacks no more pixels than the limit; raises FileReadFailed."""
    pixels: dict[tuple[int, int, int], int] = {}
    things = page.get_objects([raw.FPDF_PAGEOBJ_IMAGE], max_depth=_DEPTH)
    for picture in islice(things, MAX_PICTURES):
        width, height = picture.get_px_size()
        # One that is drawn a thousand times is unpacked once.
        size_bytes = raw.FPDFImageObj_GetImageDataRaw(picture, None, 0)
        pixels[width, height, size_bytes] = width * height
    if sum(pixels.values()) > MAX_PIXELS:
        msg = f"page {index + 1} of {name} holds pictures of more than"
        raise FileReadFailed(f"{msg} {MAX_PIXELS // 1_000_000} megapixels: it is not drawn")


def _drawn(page: pdfium.PdfPage, edge_px: int) -> Image.Image:
    # A page may be a thousand times as long as it is wide; then it is a line, one pixel wide.
    longer = max(page.get_size())
    if not 0 < longer < _MAX_POINTS:
        raise FileReadFailed("the page has no size that can be drawn")
    # Rounded up to whole pixels, so the edge is aimed at from just below.
    bitmap = page.render(scale=(edge_px - _ALMOST) / longer, rev_byteorder=True)
    try:
        picture: Image.Image = bitmap.to_pil().convert("RGB")
    finally:
        bitmap.close()
    return picture


def _encoded(picture: Image.Image) -> tuple[bytes, str]:
    """Return a picture as PNG, or as JPEG where that is too large, as of photographs."""
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", compress_level=4)
    if buffer.tell() <= MAX_BYTES:
        return buffer.getvalue(), "image/png"
    for quality in _QUALITIES:
        buffer = io.BytesIO()
        picture.save(buffer, "JPEG", quality=quality)
        if buffer.tell() <= MAX_BYTES:
            break
    return buffer.getvalue(), "image/jpeg"
