"""Fields of a form, as a person knows them: name, kind, options, where they are shown.

A field inherits what it does not say itself from those above it, and kids without a name of their
own are the places where it is shown (ISO 32000-1, 12.7.3).
"""

import difflib
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec
from pypdf.generic import DictionaryObject

from kbd.errors import ValidationFailed
from kbd_pdf.objects import array, dictionary, resolved
from kbd_pdf.pages import clean

__all__ = ["FieldKind", "FormField", "field_named", "fields_of"]

FieldKind = Literal["text", "checkbox", "radio", "choice", "button", "signature", "unknown"]

MAX_NODES = 20_000
"""Fields, and places of fields, that are looked at."""

_INHERITED = ("/FT", "/Ff", "/V", "/DA", "/Q", "/Opt", "/MaxLen", "/MK", "/BS")
_KINDS: Mapping[str, FieldKind] = {"/Tx": "text", "/Ch": "choice", "/Sig": "signature"}

# Flags (ISO 32000-1, tables 221, 226, 228, 230), as bits from 0.
_READ_ONLY, _REQUIRED = 1 << 0, 1 << 1
_RADIO, _PUSH = 1 << 15, 1 << 16
_COMBO, _EDIT, _MULTIPLE = 1 << 17, 1 << 18, 1 << 21

_OFF = "/Off"


class FormField(msgspec.Struct, frozen=True):
    """A field of a form.

    Args:
        name: Its whole name, those above it before a dot.
        kind: What it is.
        node: The object that holds its value.
        known: What it says of itself or inherits, by key.
        widgets: The places where it is shown.
    """

    name: str
    kind: FieldKind
    node: DictionaryObject
    known: Mapping[str, Any]
    widgets: tuple[DictionaryObject, ...]

    @property
    def flags(self) -> int:
        """Its flags."""
        flags = self.known.get("/Ff")
        return int(flags) if isinstance(flags, int) else 0

    @property
    def is_read_only(self) -> bool:
        """Whether people cannot change it."""
        return bool(self.flags & _READ_ONLY)

    @property
    def is_required(self) -> bool:
        """Whether a form that is sent must have it."""
        return bool(self.flags & _REQUIRED)

    @property
    def takes_several(self) -> bool:
        """Whether several of its options may be chosen."""
        return self.kind == "choice" and bool(self.flags & _MULTIPLE)

    @property
    def takes_any(self) -> bool:
        """Whether a text that is no option may be written into it."""
        return self.kind == "choice" and bool(self.flags & _COMBO) and bool(self.flags & _EDIT)

    def options(self) -> tuple[tuple[str, str], ...]:
        """Return what may be chosen: the value that is stored, and what people see."""
        found: list[tuple[str, str]] = []
        if self.kind == "choice":
            for item in array(self.known.get("/Opt")):
                pair = array(item)
                if len(pair) >= 2:
                    found.append((str(resolved(pair[0])), str(resolved(pair[1]))))
                else:
                    found.append((str(resolved(item)), str(resolved(item))))
        elif self.kind in ("checkbox", "radio"):
            labels = [str(resolved(each)) for each in array(self.known.get("/Opt"))]
            for place, widget in enumerate(self.widgets):
                for state in on_states(widget):
                    shown = labels[place] if place < len(labels) else state
                    found.append((state, shown))
        return tuple(dict.fromkeys(found))

    def max_length(self) -> int | None:
        """Return how many letters a text may have."""
        most = self.known.get("/MaxLen")
        return int(most) if isinstance(most, int) and most >= 0 else None


def on_states(widget: DictionaryObject) -> list[str]:
    """Return the states of a button in which it is ticked, as its looks name them."""
    looks = dictionary(dictionary(widget.get("/AP")).get("/N"))
    return [str(state)[1:] for state in looks if str(state) != _OFF]


def fields_of(form: DictionaryObject) -> Iterator[FormField]:
    """Yield the fields of a form in its order, of the first `MAX_NODES` nodes."""
    waiting: list[tuple[Any, str, dict[str, Any]]] = [
        (field, "", {}) for field in reversed(array(form.get("/Fields")))
    ]
    seen: set[int] = set()
    while waiting and len(seen) < MAX_NODES:
        given, above, inherited = waiting.pop()
        node = dictionary(given)
        if id(node) in seen:
            continue
        seen.add(id(node))
        own = clean(str(resolved(node.get("/T")) or "")).strip() if "/T" in node else ""
        name = ".".join(filter(None, (above, own)))
        known = inherited | {key: resolved(node[key]) for key in _INHERITED if key in node}
        kids = [dictionary(kid) for kid in array(node.get("/Kids"))]
        if named := [kid for kid in kids if "/T" in kid]:
            waiting.extend((kid, name, known) for kid in reversed(named))
            continue
        widgets = tuple(kids) or (node,)
        yield FormField(name, _kind(known, widgets), node, known, widgets)


def _kind(known: Mapping[str, Any], widgets: tuple[DictionaryObject, ...]) -> FieldKind:
    kind = str(known.get("/FT") or resolved(widgets[0].get("/FT")) or "")
    if kind != "/Btn":
        return _KINDS.get(kind, "unknown")
    flags = known.get("/Ff")
    bits = int(flags) if isinstance(flags, int) else 0
    return "button" if bits & _PUSH else "radio" if bits & _RADIO else "checkbox"


def field_named(fields: Mapping[str, FormField], name: str) -> FormField:
    """Return a field by its whole name, or by its own where only one is called so.

    Raises:
        ValidationFailed: There is none; the message has near names.
    """
    if name in fields:
        return fields[name]
    own = [field for whole, field in fields.items() if whole.rpartition(".")[2] == name]
    if len(own) == 1:
        return own[0]
    shown = name[:80]
    if own:
        several = ", ".join(field.name for field in own[:5])
        raise ValidationFailed(f"several fields are called {shown}: give one of {several}")
    near = difflib.get_close_matches(shown, fields, 3, 0.5)
    listed = ", ".join(list(fields)[:10])
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are: {listed}"
    raise ValidationFailed(f"the form has no field {shown}; {hint}")
