"""The text of a page, as pdfium finds it."""

import ctypes

import pypdfium2 as pdfium
from pypdfium2 import raw

__all__ = ["clean", "text_of", "utf16"]

_UNSEEN = {code: None for code in range(32) if chr(code) not in "\t\n"}


def text_of(page: pdfium.PdfTextPage) -> str:
    """Return the text of a page, line by line.

    Its own method is not used: it is four times as slow, and leaves out what stands after a
    character that pdfium does not show.
    """
    count = raw.FPDFText_CountChars(page)
    if count <= 0:
        return ""
    buffer = (ctypes.c_ushort * (count + 1))()
    got = raw.FPDFText_GetText(page, 0, count, buffer)
    return clean(bytes(buffer)[: max(0, got - 1) * 2].decode("utf-16-le", "replace"))


def utf16(buffer: "ctypes.Array[ctypes.c_char]") -> str:
    """Return a text that pdfium wrote, with a zero at its end, into a buffer."""
    return buffer.raw.decode("utf-16-le", "replace").partition("\0")[0]


def clean(text: str) -> str:
    """Return text without control characters, and with words divided as they are on the page.

    pdfium joins a line that ends in a hyphen to the next one, with U+FFFE between.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\ufffe", "-\n")
    return text if text.isprintable() else text.translate(_UNSEEN)
