"""Structure of a PDF file beside text: form fields, annotations, attached files, actions.

It is read by pypdf, from the objects themselves; nothing is run, followed or unpacked. Actions are
what a file would do in a program that lets it: named by kind and place, never done.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import msgspec
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DictionaryObject, NameObject, NullObject, StreamObject

from kbd.formats.active import ActiveContent
from kbd.formats.page_numbers import MAX_PAGES
from kbd_pdf.form_fields import FormField, fields_of
from kbd_pdf.pages import clean

__all__ = ["Actions", "Structure", "add_actions", "read_structure"]

MAX_STEPS = 20
"""Actions that one leads to and that are looked at."""

MAX_NAMED = 5
"""Places or files that a warning names."""

MAX_SCRIPTS = 1000
"""Scripts that are looked at."""

_ACTION_KINDS = {
    "/JavaScript": "JavaScript",
    "/Launch": "starting a program",
    "/SubmitForm": "sending what is in its form",
    "/ImportData": "reading another file into its form",
    "/GoToR": "opening another file",
    "/GoToE": "opening an attached file",
    "/Rendition": "playing media",
    "/Movie": "playing media",
    "/Sound": "playing media",
    "/RichMediaExecute": "playing media",
}


class Actions(msgspec.Struct):
    """Actions of a file, counted, with the files, addresses and hosts that they name.

    Args:
        counts: How often each action is asked for, by its kind and its place.
        targets: Files and addresses that actions name.
        links: How many links lead to each host on the web.
        scripts: The scripts that are asked for, as the objects that hold them.
    """

    counts: Counter[tuple[str, str]] = msgspec.field(default_factory=Counter)
    targets: dict[str, None] = msgspec.field(default_factory=dict)
    links: Counter[str] = msgspec.field(default_factory=Counter)
    scripts: list[Any] = msgspec.field(default_factory=list)

    def warnings(self) -> list[str]:
        """Return what a reader should know, the dangerous first."""
        found = [
            f"The file asks for {what} {where}{f' ({count} times)' if count > 1 else ''}; that is "
            "never done here."
            for (what, where), count in sorted(self.counts.items())
        ]
        if self.targets:
            named = ", ".join(list(self.targets)[:MAX_NAMED])
            found.append(f"Its actions name: {named}.")
        if self.links:
            hosts = ", ".join(host for host, _ in self.links.most_common(MAX_NAMED))
            more = ", …" if len(self.links) > MAX_NAMED else ""
            found.append(f"Links lead out of the file, {self.links.total()} in all: {hosts}{more}.")
        return found


def add_actions(found: Actions, value: Any, where: str) -> None:
    """Add what an action does, and those that follow it; a place in the file is none."""
    # Actions may lead to each other in a circle; each step counts.
    waiting, left = [value], MAX_STEPS
    while waiting and left:
        given = waiting.pop()
        action = None if given is None else given.get_object()
        if isinstance(action, ArrayObject):
            # A list may be a place on a page, too; its parts are then no actions.
            waiting.extend(list(action)[:MAX_STEPS])
        if not isinstance(action, DictionaryObject):
            continue
        left -= 1
        kind = str(action.get("/S", ""))
        if kind == "/URI":
            found.links[_host(str(action.get("/URI", "")))] += 1
        elif kind in _ACTION_KINDS:
            found.counts[_ACTION_KINDS[kind], where] += 1
            _note_target(found, action.get("/F"))
        if kind == "/JavaScript" and len(found.scripts) < MAX_SCRIPTS:
            found.scripts.append(action.get("/JS"))
        waiting.append(action.get("/Next"))


def _note_target(found: Actions, value: Any) -> None:
    target = None if value is None else value.get_object()
    if isinstance(target, DictionaryObject):
        # Where both names are given, the Unicode one counts (ISO 32000-1, 7.11.3).
        target = target.get("/UF") or target.get("/F")
    if target is not None and len(found.targets) < MAX_NAMED:
        found.targets[str(target)[:200]] = None


def _host(address: str) -> str:
    """Return the host of an address, or its scheme where there is none ("mailto")."""
    try:
        parts = urlsplit(address[:2000])
        return (parts.hostname or parts.scheme or "an address")[:100]
    except ValueError:
        return "an address"


MAX_FIELDS = 300
"""Form fields that a map lists."""

MAX_ANNOTATIONS = 20_000
"""Annotations that are looked at."""

MAX_FILES = 100
"""Attached files that a map lists."""

MAX_NODES = 1000
"""Nodes of a tree of names that are looked at."""

MAX_CHARACTERS = 200
"""Of a name or a value in a map."""

MAX_ITEMS = 50
"""Chosen items of a field in a map."""

MAX_WHOLE = 20_000
"""Of form fields, of characters of a value, and of its items, where they are told whole."""


class Structure(msgspec.Struct):
    """Form fields, annotations, attached files and actions of a file.

    Args:
        fields: Form fields: name, type, value, and of those of a map what they take and their page.
        field_count: How many there are.
        annotations: How many of each kind; form fields and the windows of notes are not counted.
        files: Names of attached files.
        data: What is in them, as the objects that hold it; None where nothing does.
        actions: What the file would do.
        is_signed: Whether somebody signed it.
        is_xfa: Whether its form is of the kind that only some programs show.
    """

    fields: list[dict[str, Any]] = msgspec.field(default_factory=list)
    field_count: int = 0
    annotations: Counter[str] = msgspec.field(default_factory=Counter)
    files: list[str] = msgspec.field(default_factory=list)
    data: list[Any] = msgspec.field(default_factory=list)
    actions: Actions = msgspec.field(default_factory=Actions)
    is_signed: bool = False
    is_xfa: bool = False

    def active_content(self) -> list[str]:
        """Return what the file would do or holds that may be run, as a map names it."""
        return list(self.active().new_texts())

    def active(self) -> ActiveContent:
        """Return the same, to be compared with that of other files."""
        found = ActiveContent()
        for what, where in sorted(self.actions.counts):
            found.add("action", f"{what}, {where}")
        for target in self.actions.targets:
            found.add("what an action names", target)
        for name in self.files:
            found.add("attached file", name)
        return found


def read_structure(
    reader: PdfReader | PdfWriter, *, with_pages: bool = True, is_whole: bool = False
) -> Structure:
    """Look through the objects of a file; pypdf raises anything of a damaged one.

    Args:
        reader: The file.
        with_pages: Whether pages are looked at, the first `MAX_PAGES` of them, for annotations
            and actions.
        is_whole: Whether form fields are told whole, and not only as a map shows them.
    """
    found = Structure()
    if isinstance(reader, PdfWriter):
        root = reader.root_object
    else:
        root = _dictionary(reader.trailer.get("/Root"))
    listed = _gather_form(found, _dictionary(root.get("/AcroForm")), is_whole=is_whole)
    names = _dictionary(root.get("/Names"))
    for name, value in _names(names.get("/EmbeddedFiles")):
        if len(found.files) < MAX_FILES:
            _add_file(found, _dictionary(value), name)
    add_actions(found.actions, root.get("/OpenAction"), "when it is opened")
    _add_additional_actions(found, root)
    # A program runs all scripts of this tree when it opens the file (ISO 32000-1, 12.6.4.16).
    for _, value in _names(names.get("/JavaScript")):
        add_actions(found.actions, value, "when it is opened")
    left = MAX_ANNOTATIONS
    places: dict[int, int] = {}
    for number, page in enumerate(_pages(root.get("/Pages")) if with_pages else (), 1):
        _add_additional_actions(found, page)
        left -= _gather_annotations(found, page, left, number, places)
    if not is_whole:
        for told, field in listed:
            pages = [places[id(each)] for each in field.widgets if id(each) in places]
            if pages:
                told["page"] = min(pages)
    return found


def _add_file(found: Structure, about: DictionaryObject, name: Any) -> None:
    found.files.append(_text(about.get("/UF") or about.get("/F") or name))
    held = _dictionary(about.get("/EF"))
    found.data.append(held.get("/UF") or held.get("/F"))


def _gather_form(
    found: Structure, form: DictionaryObject, *, is_whole: bool
) -> list[tuple[dict[str, Any], FormField]]:
    """Add the fields of a form; return those that are listed, as they are told and found."""
    most, length = (MAX_WHOLE, MAX_WHOLE) if is_whole else (MAX_FIELDS, MAX_CHARACTERS)
    found.is_xfa = form.get("/XFA") is not None
    listed = []
    for field in fields_of(form):
        found.field_count += 1
        value = _value(field.known.get("/V"), length)
        found.is_signed |= field.kind == "signature" and value is not None
        if len(found.fields) < most:
            told = {"name": field.name[:length], "type": field.kind, "value": value}
            if not is_whole:
                told |= _demands(field)
            found.fields.append(told)
            listed.append((told, field))
    return listed


def _demands(field: FormField) -> dict[str, Any]:
    """Return what a field takes, and what is demanded of it, as far as it says so."""
    told: dict[str, Any] = {}
    if options := [clean(shown)[:MAX_CHARACTERS] for _, shown in field.options()]:
        told["options"] = options[:MAX_ITEMS]
    if (most := field.max_length()) is not None:
        told["max_length"] = most
    marks = {
        "required": field.is_required, "read_only": field.is_read_only,
        "several": field.takes_several, "free_text": field.takes_any,
    }  # fmt: skip
    return told | {name: True for name, holds in marks.items() if holds}


def _gather_annotations(
    found: Structure, page: DictionaryObject, most: int, number: int, places: dict[int, int]
) -> int:
    """Add what annotations of a page tell; note on which page each field is shown."""
    annotations = _array(page.get("/Annots"))[:most]
    for each in annotations:
        annotation = _dictionary(each)
        kind = str(annotation.get("/Subtype", "")).lstrip("/")
        if kind == "FileAttachment":
            _add_file(found, _dictionary(annotation.get("/FS")), None)
        if kind not in ("Widget", "Popup", ""):
            found.annotations[kind] += 1
        if kind == "Widget":
            places[id(annotation)] = number
        where = "in a form field" if kind == "Widget" else "at a click"
        add_actions(found.actions, annotation.get("/A"), where)
        _add_additional_actions(found, annotation)
    return len(annotations)


def _add_additional_actions(found: Structure, holder: DictionaryObject) -> None:
    # Triggers of a document, a page or a field (ISO 32000-1, 12.6.3).
    for action in _dictionary(holder.get("/AA")).values():
        add_actions(found.actions, action, "by itself")


def _pages(root: Any) -> Iterator[DictionaryObject]:
    """Yield the first `MAX_PAGES` pages of a tree, each place in it once."""
    waiting, seen, left = [root], set[int](), MAX_PAGES
    while waiting and left:
        node = _dictionary(waiting.pop())
        if "/Kids" in node:
            if id(node) not in seen:
                seen.add(id(node))
                waiting.extend(reversed(_array(node["/Kids"])))
        elif node:
            left -= 1
            yield node


def _names(root: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the entries of a tree of names (ISO 32000-1, 7.9.6), of its first nodes."""
    waiting, seen = [root], set[int]()
    while waiting and len(seen) < MAX_NODES:
        tree = _dictionary(waiting.pop())
        if id(tree) in seen:
            continue
        seen.add(id(tree))
        pairs = _array(tree.get("/Names"))[: 2 * MAX_FILES]
        yield from zip(pairs[::2], pairs[1::2], strict=False)
        waiting.extend(reversed(_array(tree.get("/Kids"))))


def _dictionary(value: Any) -> DictionaryObject:
    """Return what a reference leads to, or an empty dictionary where that is something else."""
    found = None if value is None else value.get_object()
    return found if isinstance(found, DictionaryObject) else DictionaryObject()


def _array(value: Any) -> list[Any]:
    found = None if value is None else value.get_object()
    return list(found) if isinstance(found, ArrayObject) else []


def _value(value: Any, length: int = MAX_CHARACTERS) -> str | list[str] | None:
    found = None if value is None else value.get_object()
    if found is None or isinstance(found, NullObject):
        return None
    if isinstance(found, ArrayObject):
        items = found[: MAX_ITEMS if length == MAX_CHARACTERS else length]
        return [_text(each, length) for each in items]
    if isinstance(found, StreamObject):
        return _text(found.get_data()[: 5 * length].decode("latin-1"), length)
    if isinstance(found, NameObject):
        # The state of a button, "Off" where it is not ticked.
        return _text(found)[1:]
    return "signed" if isinstance(found, DictionaryObject) else _text(found, length)


def _text(value: Any, length: int = MAX_CHARACTERS) -> str:
    found = "" if value is None else value
    found = found.get_object() if hasattr(found, "get_object") else found
    return clean(str(found)).strip()[:length]
