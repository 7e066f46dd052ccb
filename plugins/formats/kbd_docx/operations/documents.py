"""Operation that appends another document."""

from typing import Annotated

from msgspec import Meta

from kbd.formats import FilePath
from kbd_docx.operations.base import TrackedOperation

__all__ = ["AppendDocument"]


class AppendDocument(TrackedOperation, frozen=True, kw_only=True, tag="append_document"):
    """Append the body of another document of the workbench, looking as it does there."""

    file: FilePath
    new_page: Annotated[bool, Meta(description="Whether it begins a page.")] = False
