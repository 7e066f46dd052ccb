"""Tool that reads the text of pictures and scanned pages: `recognize_text`.

It needs Tesseract on the machine, which runs in a worker. `recognition` runs it there and marks
what it is not sure of; `recognize_tool` is the tool.
"""

from collections.abc import Sequence

from kbd import hookimpl
from kbd.tools import FormatCatalog, Tool
from kbd_ocr.recognize_tool import RecognizeText

__all__ = ["kbd_register_tools"]


@hookimpl
def kbd_register_tools(formats: FormatCatalog) -> Sequence[Tool]:
    """Return the tool, its description written for the installed formats."""
    return [RecognizeText(formats)]
