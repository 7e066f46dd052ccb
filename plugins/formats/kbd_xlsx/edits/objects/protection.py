"""Protection of a sheet without a password: what people may change, and lifting it again."""

from kbd.errors import ValidationFailed
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.operations import ProtectSheet
from kbd_xlsx.parts.markup import Tag, attribute, element, opened, with_attributes

__all__ = ["protect_sheet"]

_ALLOWED = {
    "format_cells": "formatCells", "format_columns": "formatColumns", "format_rows": "formatRows",
    "insert_columns": "insertColumns", "insert_rows": "insertRows",
    "insert_hyperlinks": "insertHyperlinks", "delete_columns": "deleteColumns",
    "delete_rows": "deleteRows", "sort": "sort", "auto_filter": "autoFilter",
    "pivot_tables": "pivotTables",
}  # fmt: skip
"""Attributes that are 0 for what stays possible; without one it is not."""

_LOCKED = {"objects": "objects", "scenarios": "scenarios"}
"""Attributes that are 1 for what is locked."""

_PASSWORDS = (b"password", b"hashValue", b"algorithmName")


def protect_sheet(book: BookEdit, operation: ProtectSheet) -> str:
    """Protect a sheet, or lift its protection; raises ValidationFailed if it has a password."""
    title = book.title(operation.sheet)
    sheet = book.sheet(title)
    old = sheet.elements.text("sheetProtection")
    attributes = opened(old).attributes if old else b""
    if any(attribute(attributes, name) is not None for name in _PASSWORDS):
        raise ValidationFailed(
            f"sheet {title} is protected with a password: whoever knows it has to lift that in a "
            "spreadsheet program"
        )
    if not operation.protect:
        if operation.allow:
            raise ValidationFailed(f"sheet {title}: allow goes with protect true")
        if old:
            sheet.elements.put("sheetProtection", b"")
        return f"{title}: " + ("no longer protected" if old else "was not protected")
    changes: dict[bytes, bytes | None] = {b"sheet": b"1"}
    allowed = set(operation.allow)
    changes |= {word.encode(): b"0" if name in allowed else None for name, word in _ALLOWED.items()}
    changes |= {word.encode(): None if name in allowed else b"1" for name, word in _LOCKED.items()}
    tag = opened(old) if old else Tag(f"{sheet.prefix}sheetProtection".encode(), b"", b"")
    made = element(Tag(tag.name, with_attributes(attributes, changes), tag.inner))
    if made != old:
        sheet.elements.put("sheetProtection", made)
    but = f", but for {', '.join(operation.allow)}" if allowed else ""
    return f"{title}: protected without a password{but}"
