"""Runs put into a paragraph: behind words of it, or at its end."""

from collections.abc import Sequence

from lxml import etree

from kbd_docx.edits.document import DocumentEdit
from kbd_docx.edits.ranges import find_range

__all__ = ["insert_inline"]


def insert_inline(
    edit: DocumentEdit,
    paragraph: etree._Element,
    search: str | None,
    elements: Sequence[etree._Element],
) -> None:
    """Put elements behind words of a paragraph, or at its end.

    Raises:
        ValidationFailed: The words are not in the paragraph.
    """
    if search is None:
        paragraph.extend(elements)
        return
    behind = find_range(paragraph, search, edit.warnings.warn).last
    for element in elements:
        behind.addnext(element)
        behind = element
