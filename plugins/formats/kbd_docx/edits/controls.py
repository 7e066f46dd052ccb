"""Content controls filled in: texts, dropdowns, dates and checkboxes (ECMA-376, part 1, 17.5.2).

What a control shows is replaced and keeps the formatting of its first run. A control that is bound
shows data which is kept in a part of its own; that is written, too (see `bound_data`).
"""

from collections.abc import Iterator
from copy import deepcopy
from datetime import date, datetime
from difflib import get_close_matches
from typing import assert_never

from docx.opc.constants import RELATIONSHIP_TYPE as RT
from docx.opc.part import XmlPart
from docx.oxml.parser import OxmlElement
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.office.operations import listed
from kbd_docx.comment_threads import W14
from kbd_docx.content_controls import (
    CONTROL,
    ControlKind,
    control_items,
    control_kind,
    control_title,
    is_placeholder,
)
from kbd_docx.document import MC, PARAGRAPH, W
from kbd_docx.edits.bound_data import write_bound
from kbd_docx.edits.document import DocumentEdit
from kbd_docx.edits.removal import describe_losses
from kbd_docx.edits.texts import clean_text, text_nodes
from kbd_docx.operations import SetContentControl
from kbd_docx.revisions.tracker import tracking_of
from kbd_docx.styles.properties import ensure_child, insert_child
from kbd_docx.styles.stylesheet import value_of

__all__ = ["set_content_control"]

_LOOK, _RUN, _CELL, _ROW = f"{W}rPr", f"{W}r", f"{W}tc", f"{W}tr"
_SHOWN = 60
_LOCKED = frozenset(("contentLocked", "sdtContentLocked"))
_STATES = {True: ("checkedState", "2612"), False: ("uncheckedState", "2610")}
"""The signs of boxes, where a control names none (MS-DOCX, 2.6.2)."""

_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September",
           "October", "November", "December")  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def set_content_control(edit: DocumentEdit, operation: SetContentControl) -> str:
    """Fill in the controls that have a tag or a title.

    Raises:
        ValidationFailed: There is none, it is locked, or cannot hold what is given.
    """
    if (operation.tag is None) == (operation.title is None):
        raise ValidationFailed("a content control is found by tag or by title; give one of them")
    given = [each for each in (operation.text, operation.checked, operation.choice)
             if each is not None]  # fmt: skip
    if len(given) != 1:
        raise ValidationFailed("give one of text, checked and choice")
    found = _find(edit, operation)
    for control in found:
        _fill(edit, control, operation)
    edit.body.count()
    edit.stories.forget_all()
    name = operation.tag or operation.title
    return f"content control {name}: set" + (f" in {len(found)} places" if len(found) > 1 else "")


def _find(edit: DocumentEdit, operation: SetContentControl) -> list[etree._Element]:
    place = 0 if operation.tag is not None else 1
    wanted = operation.tag if operation.tag is not None else operation.title
    assert wanted is not None, "one of both is given"
    names: dict[str, list[etree._Element]] = {}
    for control in _controls(edit):
        settings = control.find(f"{W}sdtPr")
        if settings is not None and (name := control_title(settings)[place]):
            names.setdefault(name, []).append(control)
    if wanted in names:
        return names[wanted]
    what = "tag" if place == 0 else "title"
    near = get_close_matches(wanted, names, 3, 0.5)
    if near:
        hint = f"is it {' or '.join(map(repr, near))}?"
    elif names:
        hint = f"there are {listed(list(names))}"
    else:
        hint = f"no control of the document has a {what}"
    raise ValidationFailed(f"no content control has the {what} {wanted[:_SHOWN]!r}; {hint}")


def _controls(edit: DocumentEdit) -> Iterator[etree._Element]:
    """Yield the controls of the body, of headers and of footers."""
    roots = [edit.document.element]
    for relation in edit.document.part.rels.values():
        if relation.reltype in (RT.HEADER, RT.FOOTER) and not relation.is_external:
            part = relation.target_part
            roots += [part.element] if isinstance(part, XmlPart) else []
    for root in roots:
        for control in root.iter(CONTROL):
            if next(control.iterancestors(f"{MC}Fallback"), None) is None:
                yield control


def _fill(edit: DocumentEdit, control: etree._Element, operation: SetContentControl) -> None:
    settings = control.find(f"{W}sdtPr")
    assert settings is not None, "it was found by its settings"
    name = repr(operation.tag or operation.title)
    if value_of(settings, "lock") in _LOCKED:
        raise ValidationFailed(f"the content control {name} is locked against being changed")
    kind = control_kind(settings)
    if tracking_of(operation) is not None:
        _check_trackable(settings, kind, name)
    match kind:
        case "checkbox":
            if operation.checked is None:
                raise ValidationFailed(f"{name} is a checkbox; give checked")
            text = _check_box(settings, is_checked=operation.checked)
            bound = "true" if operation.checked else "false"
        case "dropdown" | "combo box":
            text, bound = _choose(settings, kind, operation, name)
        case "text" | "rich text" | "date":
            if operation.text is None:
                raise ValidationFailed(f"{name} is a {kind} control; give text")
            text = bound = clean_text(operation.text, edit.warnings.warn)
            if kind == "date":
                text, bound = _date(edit, settings, text, name)
        case "picture" | "building block" | "repeating section" | "group" | "other":
            raise ValidationFailed(f"{name} is a {kind} control, which cannot be filled in")
        case other:
            assert_never(other)
    _show(edit, control, settings, text, kind)
    write_bound(edit, settings, bound, name)
    for placeholder in settings.findall(f"{W}showingPlcHdr"):
        settings.remove(placeholder)


def _check_trackable(settings: etree._Element, kind: ControlKind, name: str) -> None:
    """Refuse what would stay as it is set when the change is rejected: only text has marks."""
    if kind == "checkbox":
        lasting = "is a checkbox, whose state has no mark of a change"
    elif settings.find(f"{W}dataBinding") is not None:
        lasting = "shows data kept elsewhere in the file, for which there is no mark of a change"
    elif kind == "date":
        lasting = "is a date control, which keeps its date beside the text, without marks"
    else:
        return
    raise ValidationFailed(f"{name} {lasting}; fill it in without track_changes")


def _check_box(settings: etree._Element, *, is_checked: bool) -> str:
    """Set the state of a checkbox and return the sign for it."""
    box = settings.find(f"{W14}checkbox")
    if box is None:
        raise ValidationFailed("the checkbox is damaged: it does not say how it is shown")
    state = box.find(f"{W14}checked")
    if state is None:
        state = box.makeelement(f"{W14}checked")
        box.insert(0, state)
    state.set(f"{W14}val", "1" if is_checked else "0")
    name, usual = _STATES[is_checked]
    shown = box.find(f"{W14}{name}")
    code = usual if shown is None else shown.get(f"{W14}val", usual)
    try:
        return chr(int(code, 16))
    except (ValueError, OverflowError):
        return chr(int(usual, 16))


def _choose(
    settings: etree._Element, kind: ControlKind, operation: SetContentControl, name: str
) -> tuple[str, str]:
    """Return what a dropdown shows for a choice, and the value that it stands for."""
    wanted = operation.choice if operation.choice is not None else operation.text
    if wanted is None:
        raise ValidationFailed(f"{name} is a {kind}; give choice")
    items = control_items(settings)
    for shown, value in items:
        if wanted in (shown, value):
            return shown, value
    folded = [item for item in items if wanted.casefold() in map(str.casefold, item)]
    if len(folded) == 1:
        return folded[0]
    if kind == "combo box" and operation.text is not None:
        return wanted, wanted
    there = listed([repr(shown) for shown, _ in items]) or "none"
    raise ValidationFailed(f"{name} has no item {wanted[:_SHOWN]!r}; its items are {there}")


def _date(edit: DocumentEdit, settings: etree._Element, text: str, name: str) -> tuple[str, str]:
    """Set the date of a control; return how it is shown and how it is stored."""
    entry = settings.find(f"{W}date")
    assert entry is not None, "the control is one for dates"
    try:
        found = datetime.fromisoformat(text.strip()).date()
    except ValueError:
        entry.attrib.pop(f"{W}fullDate", "")
        edit.warnings.warn(
            f"{name} shows the text as it is given: it is no date in ISO form (2026-03-01)."
        )
        return text, text
    entry.set(f"{W}fullDate", f"{found.isoformat()}T00:00:00Z")
    form = value_of(entry, "dateFormat")
    shown = _formatted(found, form, value_of(entry, "lid")) if form else found.isoformat()
    if not shown:
        edit.warnings.warn(
            f"{name} shows the date in ISO form: how its own form spells it is not known here."
        )
    return shown or found.isoformat(), found.isoformat()


def _formatted(day: date, form: str, language: str) -> str:
    """Return a date in the form of a control, "" for one that is not known."""
    is_named = "MMM" in form or "ddd" in form
    if is_named and language and not language.lower().startswith("en"):
        return ""
    pieces: list[str] = []
    at = 0
    while at < len(form):
        sign = form[at]
        if sign == "'":
            end = form.find("'", at + 1)
            if end < 0:
                return ""
            pieces.append(form[at + 1 : end])
            at = end + 1
            continue
        length = len(form) - at - len(form[at:].lstrip(sign))
        if sign.isalpha():
            said = _date_piece(day, sign * length)
            if said is None:
                return ""
            pieces.append(said)
        else:
            pieces.append(sign * length)
        at += length
    return "".join(pieces)


def _date_piece(day: date, piece: str) -> str | None:
    month, weekday = _MONTHS[day.month - 1], _DAYS[day.weekday()]
    return {
        "d": str(day.day), "dd": f"{day.day:02}", "ddd": weekday[:3], "dddd": weekday,
        "M": str(day.month), "MM": f"{day.month:02}", "MMM": month[:3], "MMMM": month,
        "yy": f"{day.year % 100:02}", "yyyy": f"{day.year:04}",
    }.get(piece)  # fmt: skip


def _show(
    edit: DocumentEdit,
    control: etree._Element,
    settings: etree._Element,
    text: str,
    kind: ControlKind,
) -> None:
    """Replace what a control shows by a text."""
    content = control.find(f"{W}sdtContent")
    if content is None:
        content = etree.SubElement(control, f"{W}sdtContent")
    holder = content
    if next(content.iterchildren(_ROW), None) is not None:
        raise ValidationFailed("the content control goes around rows of a table; set its cells")
    if (cell := next(content.iterchildren(_CELL), None)) is not None:
        holder = cell
    if not is_placeholder(settings) and (lost := describe_losses(list(holder))):
        edit.warnings.warn(f"With the old content of a content control went {lost}.")
    look = _first_look(holder, settings)
    if kind == "checkbox":
        look = _sign_font(look, settings)
    paragraphs = [each for each in holder if each.tag == PARAGRAPH]
    is_block = bool(paragraphs) or holder is not content
    model = paragraphs[0].find(f"{W}pPr") if paragraphs else None
    gone = [each for each in holder if each.tag != f"{W}tcPr"]
    if not is_placeholder(settings):
        edit.let_texts_go(gone)
    for child in gone:
        holder.remove(child)
    if not is_block:
        holder.append(_text_run(text, look))
        return
    for line in text.split("\n") if kind == "rich text" else [text]:
        made = etree.SubElement(holder, PARAGRAPH)
        if model is not None:
            made.append(deepcopy(model))
        made.append(_text_run(line, look))


def _first_look(holder: etree._Element, settings: etree._Element) -> etree._Element | None:
    """Return the formatting of a control's text; of a placeholder's none comes along."""
    if is_placeholder(settings):
        return settings.find(_LOOK)
    run = next(holder.iter(_RUN), None)
    return None if run is None else run.find(_LOOK)


def _sign_font(look: etree._Element | None, settings: etree._Element) -> etree._Element | None:
    """Return formatting with the font in which a checkbox has its sign."""
    checked = settings.find(f"{W14}checkbox/{W14}checked")
    is_checked = checked is not None and checked.get(f"{W14}val") == "1"
    state = settings.find(f"{W14}checkbox/{W14}{_STATES[is_checked][0]}")
    font = "" if state is None else state.get(f"{W14}font", "")
    if not font:
        return look
    made = OxmlElement("w:rPr") if look is None else deepcopy(look)
    fonts = ensure_child(made, "rFonts")
    for name in ("ascii", "eastAsia", "hAnsi"):
        fonts.set(f"{W}{name}", font)
    fonts.set(f"{W}hint", "eastAsia")
    return made


def _text_run(text: str, look: etree._Element | None) -> etree._Element:
    run: etree._Element = OxmlElement("w:r")
    if look is not None:
        insert_child(run, deepcopy(look))
    run.extend(text_nodes(text))
    return run
