"""Filling of a form: values put into fields, with what is seen of them drawn.

A value that a field does not take is refused with what it takes. What is drawn is drawn here, so
that every program shows it and none has to make it up.
"""

from typing import Any

from pypdf import PageObject, PdfWriter
from pypdf.generic import (
    ArrayObject,
    DictionaryObject,
    NameObject,
    TextStringObject,
)
from pypdf.generic._appearance_stream import TextStreamAppearance

from kbd.errors import ValidationFailed
from kbd_pdf.form_fields import FormField, field_named, fields_of, on_states
from kbd_pdf.making.operations import FieldValue, FillForm
from kbd_pdf.objects import array, dictionary, resolved

__all__ = ["fill_form"]

_MAX_LISTED = 20


def fill_form(writer: PdfWriter, operation: FillForm, name: str) -> tuple[str, list[str]]:
    """Give fields of a file their values; return what changed, and what should be looked at.

    Raises:
        ValidationFailed: There is no form, no such field, or a value does not fit its field.
    """
    form = dictionary(writer.root_object.get("/AcroForm"))
    fields: dict[str, FormField] = {}
    for field in fields_of(form):
        fields.setdefault(field.name, field)
    if not fields:
        raise ValidationFailed(f"{name} has no form fields to fill in")
    pages = _pages_of_widgets(writer)
    warnings: list[str] = []
    for given in operation.fields:
        field = field_named(fields, given.name)
        if field.is_read_only:
            raise ValidationFailed(f"field {field.name} is read-only in this form")
        _fill(writer, form, field, given, pages, warnings)
    # What is drawn is complete: a program that drew it anew could change it.
    form.pop("/NeedAppearances", None)
    if _has_calculations(form):
        warnings.append(
            "Fields that the form calculates by script were not worked out: check totals."
        )
    return f"{len(operation.fields)} fields filled in", warnings


def _pages_of_widgets(writer: PdfWriter) -> dict[int, PageObject]:
    """Return on which page each annotation is, by its identity."""
    return {
        id(dictionary(each)): page for page in writer.pages for each in array(page.get("/Annots"))
    }


def _has_calculations(form: DictionaryObject) -> bool:
    return bool(array(form.get("/CO")))


def _fill(
    writer: PdfWriter,
    form: DictionaryObject,
    field: FormField,
    given: FieldValue,
    pages: dict[int, PageObject],
    warnings: list[str],
) -> None:
    match field.kind:
        case "text":
            text = _text_value(field, given.value)
            field.node[NameObject("/V")] = TextStringObject(text)
            _draw(writer, form, field, TextStringObject(text), pages)
            _warn_of_letters(field, text, warnings)
        case "choice":
            chosen = _chosen(field, given.value)
            _choose(writer, form, field, chosen, pages)
            _warn_of_letters(field, "".join(chosen), warnings)
        case "checkbox" | "radio":
            _tick(field, _state(field, given.value))
        case "button" | "signature" | "unknown":
            raise ValidationFailed(f"field {field.name} is a {field.kind}, which takes no value")


def _text_value(field: FormField, value: Any) -> str:
    if isinstance(value, bool | list):
        raise ValidationFailed(f"field {field.name} takes text")
    text = str(value).replace("\r\n", "\n")
    most = field.max_length()
    if most is not None and len(text) > most:
        msg = f"field {field.name} takes at most {most} characters, and got {len(text)}"
        raise ValidationFailed(msg)
    return text


def _chosen(field: FormField, value: Any) -> list[str]:
    """Return the stored values of chosen options; a person names them by what is seen, too."""
    wanted = [str(each) for each in value] if isinstance(value, list) else [str(value)]
    if isinstance(value, bool) or (len(wanted) != 1 and not field.takes_several):
        raise ValidationFailed(f"field {field.name} takes one of: {_listed(field)}")
    # What is seen counts first, for that is what a map lists.
    stored = {each: each for each, _ in field.options()}
    stored |= {shown: each for each, shown in field.options()}
    found = []
    for each in wanted:
        if each not in stored and not field.takes_any:
            msg = f'field {field.name} has no option "{each[:80]}"; it has: {_listed(field)}'
            raise ValidationFailed(msg)
        found.append(stored.get(each, each))
    return found


def _listed(field: FormField) -> str:
    options = [shown for _, shown in field.options()]
    more = f" and {len(options) - _MAX_LISTED} more" if len(options) > _MAX_LISTED else ""
    return ", ".join(options[:_MAX_LISTED]) + more


def _choose(
    writer: PdfWriter,
    form: DictionaryObject,
    field: FormField,
    chosen: list[str],
    pages: dict[int, PageObject],
) -> None:
    one = len(chosen) == 1
    value = (
        TextStringObject(chosen[0])
        if one
        else ArrayObject(TextStringObject(each) for each in chosen)
    )
    field.node[NameObject("/V")] = value
    # Which options are chosen stands here, too, by their numbers: it would be the old ones.
    field.node.pop("/I", None)
    shown = dict(field.options())
    _draw(writer, form, field, TextStringObject(", ".join(shown.get(c, c) for c in chosen)), pages)


def _state(field: FormField, value: Any) -> str | None:
    """Return the state in which a button is ticked, or None for not ticked."""
    options = field.options()
    if isinstance(value, bool):
        if not value:
            return None
        if field.kind == "checkbox" and options:
            return options[0][0]
        raise ValidationFailed(f"field {field.name} takes one of: {_listed(field)}")
    wanted = str(value)
    if wanted in ("Off", ""):
        return None
    # What is seen counts first, for that is what a map lists.
    by_name = {stored: stored for stored, _ in options} | {shown: each for each, shown in options}
    if wanted in by_name:
        return by_name[wanted]
    takes = f"true, false, or {_listed(field)}" if field.kind == "checkbox" else _listed(field)
    raise ValidationFailed(f'field {field.name} has no state "{wanted[:80]}"; it takes: {takes}')


def _tick(field: FormField, state: str | None) -> None:
    field.node[NameObject("/V")] = NameObject(f"/{state or 'Off'}")
    for widget in field.widgets:
        is_on = state is not None and state in on_states(widget)
        widget[NameObject("/AS")] = NameObject(f"/{state}" if is_on else "/Off")


def _draw(
    writer: PdfWriter,
    form: DictionaryObject,
    field: FormField,
    text: TextStringObject,
    pages: dict[int, PageObject],
) -> None:
    """Draw a field's text in each place where it is shown."""
    for widget in field.widgets:
        if "/Rect" not in widget or not writer.pages:
            continue
        page = pages.get(id(widget), writer.pages[0])
        # All that it inherits, said by itself: the library looks one step up only. A list is drawn
        # as the options that were chosen, on a line.
        about = DictionaryObject(
            {NameObject(key): value for key, value in field.known.items() if value is not None}
        )
        about.update(
            {NameObject(key): widget[key] for key in ("/MK", "/BS", "/Q") if key in widget}
        )
        about[NameObject("/FT")] = NameObject("/Tx")
        about[NameObject("/V")] = text
        look = resolved(widget.get("/DA")) or field.known.get("/DA") or resolved(form.get("/DA"))
        if look is not None:
            widget[NameObject("/DA")] = TextStringObject(str(look))
        drawn = TextStreamAppearance.from_text_annotation(writer, page, False, form, about, widget)  # noqa: FBT003
        looks = dictionary(widget.get("/AP"))
        # The old look is let go of, with the text in it.
        looks[NameObject("/N")] = writer._add_object(drawn)  # noqa: SLF001 - it has no other way
        widget[NameObject("/AP")] = looks


def _warn_of_letters(field: FormField, text: str, warnings: list[str]) -> None:
    """Warn of letters that the usual fonts of forms do not have; the value has them."""
    try:
        text.encode("cp1252")
    except UnicodeEncodeError:
        warnings.append(
            f"Field {field.name} has letters that its font may not have; they may be seen as ?, "
            "though the value has them."
        )
