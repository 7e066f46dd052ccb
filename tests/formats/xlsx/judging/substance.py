"""What an XML tree says, apart from how it is written.

The substance of a tree is a bag of lines, one for each attribute and text: prefixes, order of
attributes, white space, ids of relations and values that are the default anyhow do not count. So a
part that was read and written again by a library has the same substance unless something is gone.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

from judging.package import Element, local

__all__ = ["Loss", "canonical", "lost", "substance"]

KEYS = ("idx", "uri", "name", "r", "ref", "sqref", "i", "min", "cellRange", "fld", "displayName")
"""Attributes that tell siblings apart: they become part of the path of what is below."""

_SAME = {"true": "1", "false": "0", "on": "1", "off": "0"}
_DEFAULTS = {
    ("cellComments", "none"), ("showObjects", "all"), ("headerRowCount", "1"), ("view", "normal"),
    ("patternType", "none"), ("horizontal", "general"), ("vertical", "bottom"), ("locked", "1"),
    ("orientation", "default"), ("pageOrder", "downThenOver"), ("errors", "displayed"),
    ("errorStyle", "stop"), ("imeMode", "noControl"), ("operator", "between"),
    ("visibility", "visible"), ("calcMode", "auto"), ("refMode", "A1"), ("activeCell", "A1"),
}  # fmt: skip
"""Attributes that say the same as none (the schema's defaults)."""

_RELATION = "/relationships}"
_UIDS = "/revision"

Resolve = Callable[[str, str], str]
"""(attribute, value) -> what the value points to; the line says that in its place."""


class Loss(NamedTuple):
    """What was there and is not, and what came instead."""

    gone: tuple[str, ...]
    came: tuple[str, ...]


def _number(text: str) -> str:
    try:
        return format(float(text), ".14g")
    except ValueError:
        return text


def _attributes(element: Element, resolve: Mapping[str, Resolve]) -> dict[str, str]:
    found = {}
    for name, value in element.attrib.items():
        name, value = str(name), str(value)
        plain = name.rpartition("}")[2]
        if _RELATION in name or _UIDS in name or plain in ("Ignorable", "Requires", "space"):
            continue
        if plain in resolve:
            value = resolve[plain](plain, value)
        value = _SAME.get(value, value)
        # The 0 of an element's own value says something: <c:delete val="0"/> and <b val="0"/>.
        if (plain, value) not in _DEFAULTS and (value not in ("0", "") or plain == "val"):
            found[plain] = _number(value)
    return found


def substance(
    root: Element, resolve: Mapping[str, Resolve] | None = None, without: tuple[str, ...] = ()
) -> Counter[str]:
    """The lines of a tree.

    Args:
        root: The tree.
        resolve: For attributes that are indices: what stands there.
        without: Elements by local name that are left out, with all below.
    """
    lines: Counter[str] = Counter()
    pending = [(root, local(root))]
    while pending:
        element, path = pending.pop()
        attributes = _attributes(element, resolve or {})
        lines[path] += 1
        lines.update(f"{path}@{name}={value}" for name, value in attributes.items())
        text = (element.text or "").strip()
        if text:
            lines[f"{path}={_number(text)}"] += 1
        key = next((f"[{name}={attributes[name]}]" for name in KEYS if name in attributes), "")
        pending.extend(
            (child, f"{path}{key}/{name}")
            for child in element
            if (name := local(child)) and name not in without
        )
    return lines


def canonical(root: Element) -> tuple[object, ...]:
    """A tree with its order, without prefixes and white space: equal trees say the same."""
    return (
        local(root),
        tuple(sorted(_attributes(root, {}).items())),
        (root.text or "").strip(),
        *(canonical(child) for child in root if local(child)),
    )


def lost(before: Counter[str], after: Counter[str]) -> Loss:
    """Compare two bags of lines."""
    return Loss(tuple(sorted(before - after)), tuple(sorted(after - before)))
