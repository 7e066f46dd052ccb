"""The element `sheetViews`: what stays in view while the rest scrolls."""

from kbd_xlsx.parts.markup import (
    Tag,
    attribute,
    children,
    element,
    opened,
    with_attributes,
)
from kbd_xlsx.references import cell_name

__all__ = ["with_frozen"]

_FROZEN = ("frozen", "frozenSplit")


def with_frozen(views: bytes, prefix: str, rows: int, columns: int) -> bytes:
    """Return the element with so many rows and columns frozen in each view; 0 and 0 unfreezes.

    Args:
        views: The element, b"" if there is none.
        prefix: The prefix of the part's names.
        rows: How many rows at the top.
        columns: How many columns at the left.
    """
    name = prefix.encode()
    if not views:
        if not rows and not columns:
            return b""
        view = element(Tag(name + b"sheetView", b' workbookViewId="0"', b""))
        views = element(Tag(name + b"sheetViews", b"", view))
    tag = opened(views)
    pieces, place = [], 0
    for child in children(tag.inner, 0, len(tag.inner)):
        pieces.append(tag.inner[place : child.start])
        view = tag.inner[child.start : child.end]
        if child.name == name + b"sheetView":
            view = _frozen(view, name, rows, columns)
        pieces.append(view)
        place = child.end
    pieces.append(tag.inner[place:])
    return element(Tag(tag.name, tag.attributes, b"".join(pieces)))


def _frozen(view: bytes, prefix: bytes, rows: int, columns: int) -> bytes:
    tag = opened(view)
    panes, selections, rest = [], [], []
    for child in children(tag.inner, 0, len(tag.inner)):
        text = tag.inner[child.start : child.end]
        match child.name.removeprefix(prefix):
            case b"pane":
                panes.append(opened(text))
            case b"selection":
                selections.append(opened(text))
            case _:
                rest.append(text)
    old = panes[0].attributes if panes else b""
    if not rows and not columns:
        if attribute(old, b"state") not in _FROZEN:
            return view
        inner = [_selection(prefix, b"", _active(selections, old))] if selections else []
        return element(Tag(tag.name, tag.attributes, b"".join((*inner, *rest))))
    # A view that is scrolled would freeze what is in sight instead of the first rows.
    attributes = with_attributes(tag.attributes, {b"topLeftCell": None})
    inner = _panes(prefix, rows, columns, _active(selections, old))
    return element(Tag(tag.name, attributes, b"".join((*inner, *rest))))


def _panes(prefix: bytes, rows: int, columns: int, selected: bytes) -> list[bytes]:
    """Return the pane and the selections of its parts."""
    parts = (b"topRight", b"bottomLeft") if rows and columns else ()
    active = b"bottomRight" if parts else b"bottomLeft" if rows else b"topRight"
    attributes = b' xSplit="%d"' % columns if columns else b""
    attributes += b' ySplit="%d"' % rows if rows else b""
    corner = cell_name(rows + 1, columns + 1).encode()
    attributes += b' topLeftCell="' + corner + b'" activePane="' + active + b'" state="frozen"'
    return [
        element(Tag(prefix + b"pane", attributes, b"")),
        *(_selection(prefix, part, b"") for part in parts),
        _selection(prefix, active, selected),
    ]


def _active(selections: list[Tag], pane: bytes) -> bytes:
    """Return the attributes of the selection that the user sees, without its part's name."""
    active = attribute(pane, b"activePane") or "topLeft"
    chosen = next(
        (tag for tag in selections if (attribute(tag.attributes, b"pane") or "topLeft") == active),
        selections[-1] if selections else None,
    )
    return with_attributes(chosen.attributes, {b"pane": None}) if chosen else b""


def _selection(prefix: bytes, part: bytes, attributes: bytes) -> bytes:
    named = b' pane="' + part + b'"' if part else b""
    return element(Tag(prefix + b"selection", named + attributes, b""))
