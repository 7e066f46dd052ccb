"""Content controls: what kind one is, what it is called, what it offers.

ECMA-376, part 1, 17.5.2 (sdtPr); checkboxes: MS-DOCX, 2.6.2; repeated sections: MS-DOCX, 2.5.4.
"""

from typing import Literal

from lxml import etree

from kbd.opc.element_names import local_name
from kbd_docx.comment_threads import W14
from kbd_docx.document import VAL, W, is_on
from kbd_docx.styles.stylesheet import value_of

__all__ = [
    "CONTROL",
    "ControlKind",
    "control_items",
    "control_kind",
    "control_text",
    "control_title",
    "is_placeholder",
]

CONTROL = f"{W}sdt"

ControlKind = Literal[
    "text", "rich text", "dropdown", "combo box", "checkbox", "date", "picture", "building block",
    "repeating section", "group", "other",
]  # fmt: skip

_KINDS: dict[str, ControlKind] = {
    "text": "text",
    "richText": "rich text",
    "dropDownList": "dropdown",
    "comboBox": "combo box",
    "checkbox": "checkbox",
    "date": "date",
    "picture": "picture",
    "docPartObj": "building block",
    "docPartList": "building block",
    "repeatingSection": "repeating section",
    "repeatingSectionItem": "repeating section",
    "group": "group",
    "equation": "other",
    "bibliography": "other",
    "citation": "other",
}


def control_kind(settings: etree._Element) -> ControlKind:
    """Return what kind of content control its settings (`sdtPr`) make it."""
    names = [local_name(child) for child in settings]
    # What names no kind holds whatever a document does (17.5.2.38).
    return next((_KINDS[name] for name in names if name in _KINDS), "rich text")


def control_title(settings: etree._Element) -> tuple[str, str]:
    """Return the tag and the title of a content control, "" for what it does not have."""
    return value_of(settings, "tag"), value_of(settings, "alias")


def control_items(settings: etree._Element) -> list[tuple[str, str]]:
    """Return what a dropdown offers: each item as it is shown, and its value."""
    found = []
    for name in ("dropDownList", "comboBox"):
        for item in settings.iterfind(f"{W}{name}/{W}listItem"):
            value = item.get(f"{W}value", "")
            found.append((item.get(f"{W}displayText") or value, value))
    return found


def is_placeholder(settings: etree._Element) -> bool:
    """Tell whether a control shows what asks for a text, and has none itself."""
    return is_on(settings.find(f"{W}showingPlcHdr"))


def control_text(control: etree._Element) -> str:
    """Return what a content control shows, its paragraphs as lines; "" for a placeholder."""
    settings, content = control.find(f"{W}sdtPr"), control.find(f"{W}sdtContent")
    if content is None or (settings is not None and is_placeholder(settings)):
        return ""
    box = None if settings is None else settings.find(f"{W14}checkbox/{W14}checked")
    if box is not None:
        return "checked" if box.get(f"{W14}val", "1") in ("1", "true", "on") else "not checked"
    lines: list[str] = []
    for each in content.iter(f"{W}p", f"{W}t", f"{W}tab", f"{W}br"):
        if each.tag == f"{W}p" and lines:
            lines.append("\n")
        elif each.tag == f"{W}t":
            lines.append(each.text or "")
        elif each.get(VAL) is None and each.tag != f"{W}p":
            lines.append(" ")
    return "".join(lines).strip("\n")
