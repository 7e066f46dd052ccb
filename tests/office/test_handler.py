"""A handler that is a table: its functions do the work, and their modules are preloaded."""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import pytest

from kbd.formats import Source
from kbd.office.handler import OfficeFormat
from kbd_docx import DocxFormat
from kbd_pptx import PptxFormat
from kbd_xlsx import XlsxFormat


class NoteFormat(OfficeFormat):
    """A format whose functions are of the standard library."""

    name = "note"
    wire_name = "Note"
    kind = "note"
    suffixes: ClassVar[Mapping[str, str]] = {".nt": "text/x-note"}
    functions: ClassVar[Mapping[str, str]] = {
        "info": "msgspec.structs:asdict",
        "map": "msgspec.structs:asdict",
        "read": "operator:concat",
    }


def test_modules_are_preloaded_once() -> None:
    """What a worker preloads is what the table names, each module once, in order."""
    assert NoteFormat.preload == ("msgspec.structs", "operator")


def test_methods_are_functions_of_the_table() -> None:
    """A method hands its arguments to its function, and back what that returns."""
    source = Source(Path("a"), "a.nt")

    assert NoteFormat().info(source)["path"] == Path("a")
    assert NoteFormat().map(source)["name"] == "a.nt"
    with pytest.raises(KeyError, match="passages"):
        NoteFormat().passages(source)


@pytest.mark.parametrize("handler", [DocxFormat(), PptxFormat(), XlsxFormat()])
def test_every_function_is_there(handler: OfficeFormat) -> None:
    """Each name in a format's table is a method of it, and leads to a function."""
    for method in handler.functions:
        assert callable(handler.function(method))
        assert hasattr(handler, method)
    for module in handler.preload:
        importlib.import_module(module)
