"""Elements of a worksheet part around its rows, in the order of its schema.

Among them `cols` (widths, and styles that cells inherit from their columns) and `sheetViews` (what
stays in view while the rest scrolls). A single element can be put into a part of another workbook.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from kbd.sheets.areas import MAX_COLUMN, cell_name, whole_number
from kbd_xlsx.parts.markup import (
    Splice,
    Tag,
    attribute,
    children,
    element,
    opened,
    start_tag,
    with_attributes,
)
from kbd_xlsx.parts.outline import Outline

__all__ = [
    "ColumnStyles",
    "ElementChange",
    "SheetElements",
    "has_custom_width",
    "spliced",
    "with_changed",
    "with_column_styles",
    "with_element",
    "with_frozen",
    "with_widths",
]

# ECMA-376, CT_Worksheet.
_ORDER = {
    name: rank
    for rank, name in enumerate(
        (
            "sheetPr", "dimension", "sheetViews", "sheetFormatPr", "cols", "sheetData",
            "sheetCalcPr", "sheetProtection", "protectedRanges", "scenarios", "autoFilter",
            "sortState", "dataConsolidate", "customSheetViews", "mergeCells", "phoneticPr",
            "conditionalFormatting", "dataValidations", "hyperlinks", "printOptions",
            "pageMargins", "pageSetup", "headerFooter", "rowBreaks", "colBreaks",
            "customProperties", "cellWatches", "ignoredErrors", "smartTags", "drawing",
            "legacyDrawing", "legacyDrawingHF", "drawingHF", "picture", "oleObjects", "controls",
            "webPublishItems", "tableParts", "extLst",
        )
    )
}  # fmt: skip


class SheetElements:
    """The elements around the rows.

    Args:
        outline: The part.
    """

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        before = children(outline.scan, outline.inside, outline.sheet_data[0])
        after = children(outline.scan, outline.tail, len(outline.scan))
        self._found: list[tuple[int, str, int, int]] = []
        for child in (*before, *after):
            name = child.name.removeprefix(outline.qualified(b"")).decode("utf-8", "replace")
            if name in _ORDER:
                self._found.append((_ORDER[name], name, child.start, child.end))
        self._changed: dict[str, bytes] = {}
        self._repeated: dict[str, list[bytes]] = {}

    def __bool__(self) -> bool:
        return bool(self._changed or self._repeated)

    def text(self, name: str) -> bytes:
        """Return an element as it will be, b"" if there is none.

        Raises:
            ValidationFailed: It holds comments, which a change of it would lose.
        """
        if name in self._changed:
            return self._changed[name]
        found = self._place(name)
        if found is None:
            return b""
        text = self._outline.data[found[0] : found[1]]
        if b"<!" in text or b"<?" in text:
            raise self._outline.refused(f"its element {name} holds comments")
        return text

    def texts(self, name: str) -> list[bytes]:
        """Return all elements of a name as they will be, as `conditionalFormatting` is repeated.

        Raises:
            ValidationFailed: One holds comments, which a change of it would lose.
        """
        if name in self._repeated:
            return list(self._repeated[name])
        found = [self._outline.data[start:end] for start, end in self._places(name)]
        if any(b"<!" in text or b"<?" in text for text in found):
            raise self._outline.refused(f"its elements {name} hold comments")
        return found

    def seen(self, name: str) -> bytes:
        """Return an element to be read only, b"" if there is none."""
        found = self._place(name)
        return self._outline.scan[found[0] : found[1]] if found else b""

    def put(self, name: str, text: bytes) -> None:
        """Put an element in, in the place of the one there is; b"" takes it out."""
        self._changed[name] = text

    def put_all(self, name: str, texts: list[bytes]) -> None:
        """Put all elements of a name in: each in the place of the one there is, b"" takes it out.

        More than there are follow the last one. It is not for names that `put` is used of.
        """
        self._repeated[name] = texts

    def splices(self, more: Mapping[str, bytes]) -> list[Splice]:
        """Return the changes in order, `more` among them."""
        changes = []
        for name, texts in self._repeated.items():
            places = self._places(name)
            end = places[-1][1] if places else self._after(_ORDER[name])
            changes += [
                (*place, _ORDER[name], text) for place, text in zip(places, texts, strict=False)
            ]
            if added := b"".join(texts[len(places) :]):
                # Sorted behind the last one, whose own place begins before.
                changes.append((end, end, _ORDER[name], added))
        for name, text in (self._changed | dict(more)).items():
            place = self._place(name)
            if place is None and not text:
                continue
            start, end = place or (self._after(_ORDER[name]),) * 2
            changes.append((start, end, _ORDER[name], text))
        return [Splice(start, end, text) for start, end, _, text in sorted(changes)]

    def _place(self, name: str) -> tuple[int, int] | None:
        return next(((start, end) for _, known, start, end in self._found if known == name), None)

    def _places(self, name: str) -> list[tuple[int, int]]:
        return [(start, end) for _, known, start, end in self._found if known == name]

    def _after(self, rank: int) -> int:
        """Return where an element goes: after those that the schema has before it."""
        outline = self._outline
        places = [end for known, _, _, end in self._found if known < rank]
        # sheetData itself is not among the elements that were listed.
        if rank > _ORDER["sheetData"]:
            places.append(outline.tail)
        return max(places, default=outline.inside)


class _Span(NamedTuple):
    """Columns with one description; `text` is its element as written, b"" once that changed."""

    first: int
    last: int
    attributes: bytes
    text: bytes


class ColumnStyles:
    """The styles of columns.

    Args:
        cols: The element, b"" if there is none.
        prefix: The prefix of the part's names.
    """

    def __init__(self, cols: bytes, prefix: str) -> None:
        self._spans: list[tuple[int, int, int]] = []
        # They are sorted for the bisection, as a file need not have them in order.
        for span in sorted(_spans(cols, prefix)) if b"style" in cols else ():
            word = attribute(span.attributes, b"style") or "0"
            if style := whole_number(word):
                self._spans.append((span.first, span.last, style))

    def style(self, column: int) -> int:
        """Return the style of a column's cells, 0 if it has none."""
        if not self._spans:
            return 0
        # The key sorts after any span that begins at this column, so such a span is found, too.
        place = bisect_right(self._spans, (column, MAX_COLUMN + 1, 0)) - 1
        if place < 0:
            return 0
        first, last, style = self._spans[place]
        return style if first <= column <= last else 0


def with_widths(cols: bytes, prefix: str, widths: Mapping[int, str]) -> bytes:
    """Return the element with new widths of some columns; their other attributes stay.

    Args:
        cols: The element, b"" if there is none.
        prefix: The prefix of the part's names.
        widths: The widths as stored, by column.
    """
    spans = _spans(cols, prefix)
    left = sorted(widths)
    pieces: list[_Span] = []
    for span in spans:
        first = span.first
        within = [column for column in left if span.first <= column <= span.last]
        for column in within:
            if first < column:
                pieces.append(_Span(first, column - 1, span.attributes, b""))
            changes: dict[bytes, bytes | None] = {
                # A width that was asked for is not the one that fits the contents best.
                b"width": widths[column].encode(), b"customWidth": b"1", b"bestFit": None,
            }  # fmt: skip
            pieces.append(_Span(column, column, with_attributes(span.attributes, changes), b""))
            first = column + 1
        if within and first <= span.last:
            pieces.append(_Span(first, span.last, span.attributes, b""))
        if not within:
            pieces.append(span)
        left = [column for column in left if column not in within]
    for column in left:
        place = next((n for n, span in enumerate(pieces) if span.first > column), len(pieces))
        attributes = f' min="{column}" max="{column}" width="{widths[column]}" customWidth="1"'
        pieces.insert(place, _Span(column, column, attributes.encode(), b""))
    name = f"{prefix}col".encode()
    tag = opened(cols) if cols else Tag(f"{prefix}cols".encode(), b"", b"")
    return element(Tag(tag.name, tag.attributes, b"".join(_text(name, span) for span in pieces)))


def has_custom_width(cols: bytes, prefix: str, column: int) -> bool:
    """Tell whether a column has a width that was asked for."""
    return any(
        span.first <= column <= span.last
        and attribute(span.attributes, b"customWidth") in ("1", "true")
        for span in _spans(cols, prefix)
    )


def with_column_styles(
    cols: bytes, prefix: str, columns: tuple[int, int], restyle: Callable[[int], int], width: str
) -> bytes:
    """Return the element with new styles of adjacent columns; their other attributes stay.

    Args:
        cols: The element, b"" if there is none.
        prefix: The prefix of the part's names.
        columns: The first and the last of them.
        restyle: Returns the new style from the one that a column has.
        width: The width as stored of columns that have none of their own.
    """
    first, last = columns
    pieces: list[_Span] = []
    place = first
    plain = f' min="1" max="1" width="{width}" style="{restyle(0)}"'.encode()
    for span in sorted(_spans(cols, prefix)):
        start, end = max(span.first, first), min(span.last, last)
        if start > end:
            pieces.append(span)
            continue
        if place < start:
            pieces.append(_Span(place, start - 1, plain, b""))
        if span.first < start:
            pieces.append(_Span(span.first, start - 1, span.attributes, b""))
        old = whole_number(attribute(span.attributes, b"style") or "0")
        styled = with_attributes(span.attributes, {b"style": b"%d" % restyle(old)})
        pieces.append(_Span(start, end, styled, b""))
        if end < span.last:
            pieces.append(_Span(end + 1, span.last, span.attributes, b""))
        place = end + 1
    if place <= last:
        pieces.append(_Span(place, last, plain, b""))
    name = f"{prefix}col".encode()
    tag = opened(cols) if cols else Tag(f"{prefix}cols".encode(), b"", b"")
    texts = (_text(name, span) for span in sorted(pieces))
    return element(Tag(tag.name, tag.attributes, b"".join(texts)))


def _spans(cols: bytes, prefix: str) -> list[_Span]:
    """Return the descriptions of columns in order."""
    found = []
    name = f"{prefix}col".encode()
    close = b"</" + re.escape(name) + rb"\s*>"
    for span in re.finditer(start_tag(name) + rb"(?:(?<=/>)|[^<]*" + close + b")", cols):
        attributes = span[1].removesuffix(b"/").rstrip()
        first, last = attribute(attributes, b"min") or "", attribute(attributes, b"max") or ""
        if first.isdecimal() and last.isdecimal():
            found.append(_Span(whole_number(first), whole_number(last), attributes, span[0]))
    return found


def _text(name: bytes, span: _Span) -> bytes:
    if span.text:
        return span.text
    bounds: dict[bytes, bytes | None] = {b"min": b"%d" % span.first, b"max": b"%d" % span.last}
    return b"<" + name + with_attributes(span.attributes, bounds) + b"/>"


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
        # A split that is not frozen is the user's own setting, so it stays.
        if attribute(old, b"state") not in _FROZEN:
            return view
        inner = [_selection(prefix, b"", _active(selections, old))] if selections else []
        return element(Tag(tag.name, tag.attributes, b"".join((*inner, *rest))))
    # A view that is scrolled would freeze what is in sight instead of the first rows.
    attributes = with_attributes(tag.attributes, {b"topLeftCell": None})
    inner = _panes(prefix, rows, columns, _active(selections, old))
    # The schema has the pane first, then the selections, then the rest (CT_SheetView).
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


def with_element(data: bytes, title: str, name: str, make: Callable[[str], str]) -> bytes:
    """Return a part with one more element, after those of its name that there are.

    Args:
        data: The part.
        title: The sheet's title, for messages.
        name: The element's name, without a prefix.
        make: Returns the element's XML for the prefix of the part's names ("" or "x:").

    Raises:
        ValidationFailed: The part has a form that cannot be changed safely.
        FileReadFailed: It is damaged.
    """
    return with_changed(data, title, {name: lambda old, prefix: old + make(prefix).encode()})


ElementChange = Callable[[bytes, str], bytes]
"""Returns an element as it will be, b"" for none, from the one there is and the part's prefix."""


def with_changed(data: bytes, title: str, changes: Mapping[str, ElementChange]) -> bytes:
    """Return a part with some elements around its rows changed.

    Args:
        data: The part.
        title: The sheet's title, for messages.
        changes: What makes each element, by its name without a prefix.

    Raises:
        ValidationFailed: The part has a form that cannot be changed safely.
        FileReadFailed: It is damaged.
    """
    outline = Outline(data, title)
    ends = SheetElements(outline)
    for name, change in changes.items():
        old = ends.text(name)
        new = change(old, outline.prefix)
        if new != old:
            ends.put(name, new)
    return spliced(outline.data, ends.splices({}))


def spliced(data: bytes, splices: Iterable[Splice]) -> bytes:
    """Return bytes with splices, which come in the order of the file."""
    pieces: list[bytes] = []
    place = 0
    for splice in splices:
        pieces += (data[place : splice.start], splice.text)
        place = splice.end
    pieces.append(data[place:])
    return b"".join(pieces)
