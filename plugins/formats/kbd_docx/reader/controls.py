"""Content controls of a body, listed with the paragraphs where they begin."""

from lxml import etree

from kbd_docx.content_controls import (
    CONTROL,
    control_items,
    control_kind,
    control_text,
    control_title,
)
from kbd_docx.document import MC, PARAGRAPH, TABLE, W
from kbd_docx.reader.contents import DocxControl

__all__ = ["MAX_CONTROLS", "ControlList"]

MAX_CONTROLS = 300
"""Content controls that are listed."""

_SHOWN_CHARS = 200
_MAX_ITEMS = 50
_INSIDE = (PARAGRAPH, TABLE)


class ControlList:
    """Collector of the content controls of a body, those of older programs' copies left out."""

    def __init__(self) -> None:
        self.found: list[DocxControl] = []

    def add(self, child: etree._Element, count: int) -> None:
        """Add the controls of a child of the body, before which `count` paragraphs stand."""
        if len(self.found) >= MAX_CONTROLS or next(child.iter(CONTROL), None) is None:
            return
        before = count
        for each in child.iter(PARAGRAPH, CONTROL):
            around = next(each.iterancestors(*_INSIDE), None)
            if each.tag == PARAGRAPH:
                before += around is None
            elif len(self.found) < MAX_CONTROLS and not _is_copy(each):
                # One around paragraphs begins with the next of them.
                self._add(each, before + (around is None))

    def _add(self, control: etree._Element, paragraph: int) -> None:
        settings = control.find(f"{W}sdtPr")
        if settings is None:
            return
        tag, title = control_title(settings)
        items = tuple(shown for shown, _ in control_items(settings)[:_MAX_ITEMS])
        text = control_text(control)[:_SHOWN_CHARS]
        kind = control_kind(settings)
        self.found.append(DocxControl(tag, title, kind, text, items, paragraph))


def _is_copy(control: etree._Element) -> bool:
    return next(control.iterancestors(f"{MC}Fallback"), None) is not None
