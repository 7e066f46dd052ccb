"""A plugin with a format that is printed and one that documents are printed in; only for tests."""

from typing import Any, ClassVar

from kbd import hookimpl
from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import FormatHandler, Preview, Previewable, Printable, Source


class MemoFormat(FormatHandler, Printable):
    """A text that says what the program which prints it is to do, with its pages in front."""

    name = "memo"
    wire_name = "Memo"
    kind = "note"
    suffixes: ClassVar = {".memo": "text/x-memo", ".memox": "text/x-memo"}
    preview_unit = "Slide"
    print_filters: ClassVar = {".plate": "memo_plate_Export:{all}"}
    print_notes: ClassVar = ("Ink is not printed.",)
    page_count_field = "pages"

    def info(self, source: Source) -> dict[str, Any]:
        """Return how many pages it says that it has, if it says so."""
        text = source.path.read_text()
        if text.startswith("damaged"):
            msg = f"{source.name} is damaged"
            raise FileReadFailed(msg)
        first = text.partition(" ")[0]
        return {"pages": int(first)} if first.isdigit() else {}


class PlateFormat(FormatHandler, Previewable):
    """Pages as lines."""

    name = "plate"
    wire_name = "Plate"
    kind = "note"
    suffixes: ClassVar = {".plate": "text/x-plate"}
    preview_unit = "Page"
    print_suffix = ".plate"

    def preview(self, source: Source, index: int, edge_px: int) -> Preview:
        """Return a line as a picture."""
        lines = source.path.read_text().splitlines()
        if lines[:1] == ["torn"]:
            msg = f"{source.name} is torn"
            raise FileReadFailed(msg)
        if index >= len(lines):
            msg = f"there are {len(lines)} pages"
            raise ValidationFailed(msg)
        return Preview(lines[index].encode(), "image/png", edge_px, 1, len(lines), ("Made.",))


@hookimpl
def kbd_register_formats(settings: dict[str, Any]) -> list[FormatHandler]:
    """Declare both."""
    del settings
    return [MemoFormat(), PlateFormat()]
