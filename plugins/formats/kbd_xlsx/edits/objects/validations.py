"""Validations: what people may enter into cells; those that a range has give way to a new one."""

import datetime as dt
import re
from collections.abc import Sequence
from xml.sax.saxutils import escape

from kbd.errors import ValidationFailed
from kbd.sheets.areas import Area, parse_area
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.edits.objects.conditional_formats import COMPARING, rule_formula
from kbd_xlsx.edits.objects.formulas import quoted_sheet
from kbd_xlsx.edits.objects.names import bare_sheet
from kbd_xlsx.edits.objects.ranges import (
    WHOLE,
    absolute,
    attribute_text,
    cut_element,
    cut_extension,
    local_of,
    parse_ranges,
    written_ranges,
)
from kbd_xlsx.operations import Scalar, SetDataValidation
from kbd_xlsx.parts.markup import Tag, children, element, opened, with_attributes
from kbd_xlsx.parts.sheet import SheetPart
from kbd_xlsx.values import cell_value, checked_text, content_of

__all__ = ["add_validations", "set_data_validation", "take_validations"]

MAX_CHOICES = 255
"""Characters of a list's choices together, with the commas between them, as in Excel."""

MAX_VALIDATIONS = 65_534
"""Of a sheet, as in Excel."""

_MAX_TITLE, _MAX_MESSAGE = 32, 255
_TYPES = {"text_length": "textLength"}
_TIME = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d))?")


def set_data_validation(book: BookEdit, operation: SetDataValidation) -> str:
    """Set what may be entered into a range and say where; raises ValidationFailed."""
    sheet = book.sheet(operation.sheet)
    areas = parse_ranges(operation.range)
    place = f"{sheet.name}!{written_ranges(areas)[:60]}: the validation"
    _check_fields(operation, place)
    formulas = _formulas(book, sheet.name, operation, place)
    attributes = _attributes(operation, place)
    taken = take_validations(sheet, areas)
    name = f"{sheet.prefix}dataValidation"
    inner = "".join(
        f"<{sheet.prefix}formula{n}>{escape(text)}</{sheet.prefix}formula{n}>"
        for n, text in enumerate(formulas, 1)
    )
    made = f'<{name}{attributes} sqref="{written_ranges(areas)}">{inner}</{name}>'.encode()
    add_validations(sheet, made)
    instead = f" instead of what {taken} range(s) had" if taken else ""
    return f"{sheet.name}!{written_ranges(areas)}: validation {operation.type}{instead}"


def add_validations(sheet: SheetPart, made: bytes) -> None:
    """Put elements of validations behind those of a sheet; raises ValidationFailed for too many."""
    old = sheet.elements.text("dataValidations")
    tag = opened(old) if old else Tag(f"{sheet.prefix}dataValidations".encode(), b"", b"")
    sheet.elements.put("dataValidations", _counted(Tag(tag.name, tag.attributes, tag.inner + made)))


def take_validations(sheet: SheetPart, areas: Sequence[Area]) -> int:
    """Take the validations off some cells, and return of how many ranges."""
    count = 0

    def change(text: bytes) -> bytes:
        nonlocal count
        made = cut_element(text, areas, "a validation")
        count += made != text
        return made

    old = sheet.elements.text("dataValidations")
    if old:
        tag = opened(old)
        pieces: list[bytes] = []
        place = 0
        for child in children(tag.inner, 0, len(tag.inner)):
            text = tag.inner[child.start : child.end]
            pieces += (tag.inner[place : child.start], change(text))
            place = child.end
        inner = b"".join((*pieces, tag.inner[place:]))
        if count:
            made = _counted(Tag(tag.name, tag.attributes, inner))
            sheet.elements.put("dataValidations", made)
    cut_extension(sheet, "dataValidations", "dataValidation", change)
    return count


def _counted(tag: Tag) -> bytes:
    """Return the element with its count, b"" without any validation."""
    names = [local_of(each.name) for each in children(tag.inner, 0, len(tag.inner))]
    count = names.count("dataValidation")
    if not count:
        return b""
    if count > MAX_VALIDATIONS:
        raise ValidationFailed(f"a sheet holds {MAX_VALIDATIONS:,} validations at most")
    attributes = with_attributes(tag.attributes, {b"count": b"%d" % count})
    return element(Tag(tag.name, attributes, tag.inner))


def _check_fields(operation: SetDataValidation, place: str) -> None:
    """Refuse fields that the type of a validation has no use for, or misses."""
    fields = {
        "choices": bool(operation.choices), "source": operation.source is not None,
        "value": operation.value is not None, "value2": operation.value2 is not None,
        "formula": operation.formula is not None,
    }  # fmt: skip
    match operation.type:
        case "list":
            allowed = {"choices", "source"}
            if fields["choices"] == fields["source"]:
                raise ValidationFailed(f"{place}: a list needs either choices or a source")
        case "custom":
            allowed = {"formula"}
            if not fields["formula"]:
                raise ValidationFailed(f"{place}: custom needs a formula, as =LEN(A1)=5")
        case _:
            allowed = {"value"}
            if operation.operator in ("between", "not_between"):
                allowed = {"value", "value2"}
            missing = sorted(name for name in allowed if not fields[name])
            if missing:
                raise ValidationFailed(
                    f"{place}: {operation.operator} needs {' and '.join(missing)}"
                )
    for name, is_given in fields.items():
        if is_given and name not in allowed:
            raise ValidationFailed(f"{place}: {operation.type} has no use for {name} here")


def _formulas(
    book: BookEdit, sheet: str, operation: SetDataValidation, place: str
) -> tuple[str, ...]:
    match operation.type:
        case "list" if operation.source is not None:
            return (_source(book, sheet, operation.source, place),)
        case "list":
            return (_choices(operation.choices, place),)
        case "custom":
            return (rule_formula(book, sheet, operation.formula or "", place),)
        case kind:
            values = (operation.value, operation.value2)
            given = [value for value in values if value is not None]
            return tuple(_operand(book, sheet, value, kind, place) for value in given)


def _choices(choices: Sequence[Scalar], place: str) -> str:
    texts = []
    for choice in choices:
        match choice:
            case bool():
                text = "TRUE" if choice else "FALSE"
            case int() | float():
                text = repr(choice)
            case _:
                text = checked_text(choice or "", place)
        if not text.strip() or "," in text or "\n" in text:
            raise ValidationFailed(
                f"{place}: {text[:40]!r} cannot be a choice of its own, as commas part them; put "
                "the choices into cells and name their range as source"
            )
        texts.append(text)
    joined = ",".join(texts)
    if len(joined) > MAX_CHOICES:
        raise ValidationFailed(
            f"{place}: the choices have {len(joined)} characters, {MAX_CHOICES} at most are "
            "possible; put them into cells and name their range as source"
        )
    return '"' + joined.replace('"', '""') + '"'


def _source(book: BookEdit, sheet: str, source: str, place: str) -> str:
    """Return a list's range, with dollar signs: the choices are the same for every cell."""
    formula = rule_formula(book, sheet, source, place)
    title, mark, cells = formula.rpartition("!")
    try:
        area = parse_area(cells, WHOLE)
    except ValidationFailed:
        # A name, or a formula such as INDIRECT(A1).
        return formula
    if area.top != area.bottom and area.left != area.right:
        raise ValidationFailed(f"{place}: the source {source} is more than one row or column")
    home = f"{quoted_sheet(book.title(bare_sheet(title)))}!" if mark else ""
    return f"{home}{absolute(area)}"


def _operand(book: BookEdit, sheet: str, value: Scalar, kind: str, place: str) -> str:
    """Return a limit as files have it; raises ValidationFailed where it is not of the type."""
    if isinstance(value, str) and value.startswith("="):
        return rule_formula(book, sheet, value, place)
    if kind == "date":
        is_moment = isinstance(value, str) and ":" in value
        moment = cell_value(value, "datetime" if is_moment else "date", place)
        return content_of(moment, from_1904=book.book.from_1904).text
    if kind == "time" and isinstance(value, str):
        found = _TIME.fullmatch(value.strip())
        hours, minutes, seconds = (
            (int(part or 0) for part in found.groups()) if found else (24, 0, 0)
        )
        if hours > 23 or minutes > 59 or seconds > 59:
            raise ValidationFailed(f"{place}: {value[:20]!r} is no time; write it as 08:30")
        return repr(dt.timedelta(hours=hours, minutes=minutes, seconds=seconds) / dt.timedelta(1))
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValidationFailed(f"{place}: {kind} compares with numbers, not with {value!r}")
    if kind in ("whole", "text_length") and value != int(value):
        raise ValidationFailed(f"{place}: {kind} compares with whole numbers, not with {value}")
    return repr(int(value) if kind in ("whole", "text_length") else value)


def _attributes(operation: SetDataValidation, place: str) -> str:
    found: dict[str, str] = {"type": _TYPES.get(operation.type, operation.type)}
    if operation.error_style != "stop":
        found["errorStyle"] = operation.error_style
    if operation.type not in ("list", "custom") and operation.operator != "between":
        found["operator"] = COMPARING[operation.operator]
    if operation.allow_blank:
        found["allowBlank"] = "1"
    found |= {"showInputMessage": "1", "showErrorMessage": "1"}
    for name, text, most in (
        ("errorTitle", operation.error_title, _MAX_TITLE),
        ("error", operation.error, _MAX_MESSAGE),
        ("promptTitle", operation.prompt_title, _MAX_TITLE),
        ("prompt", operation.prompt, _MAX_MESSAGE),
    ):
        if not text:
            continue
        if len(text) > most:
            raise ValidationFailed(
                f"{place}: {text[:20]!r}… has {len(text)} characters, {most} at most are possible"
            )
        found[name] = checked_text(text, place)
    return "".join(f' {name}="{attribute_text(value)}"' for name, value in found.items())
