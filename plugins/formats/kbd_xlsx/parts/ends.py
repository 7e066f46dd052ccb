"""The elements of a worksheet part before and after its rows, in the order of its schema."""

from collections.abc import Mapping

from kbd_xlsx.parts.markup import Splice, children
from kbd_xlsx.parts.outline import Outline

__all__ = ["Ends"]

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


class Ends:
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

    def __bool__(self) -> bool:
        return bool(self._changed)

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

    def seen(self, name: str) -> bytes:
        """Return an element to be read only, b"" if there is none."""
        found = self._place(name)
        return self._outline.scan[found[0] : found[1]] if found else b""

    def put(self, name: str, text: bytes) -> None:
        """Put an element in, in the place of the one there is; b"" takes it out."""
        self._changed[name] = text

    def splices(self, more: Mapping[str, bytes]) -> list[Splice]:
        """Return the changes in order, `more` among them."""
        changes = []
        for name, text in (self._changed | dict(more)).items():
            place = self._place(name)
            if place is None and not text:
                continue
            start, end = place or (self._after(_ORDER[name]),) * 2
            changes.append((start, end, _ORDER[name], text))
        return [Splice(start, end, text) for start, end, _, text in sorted(changes)]

    def _place(self, name: str) -> tuple[int, int] | None:
        return next(((start, end) for _, known, start, end in self._found if known == name), None)

    def _after(self, rank: int) -> int:
        """Return where an element goes: after those that the schema has before it."""
        outline = self._outline
        places = [end for known, _, _, end in self._found if known < rank]
        if rank > _ORDER["sheetData"]:
            places.append(outline.tail)
        return max(places, default=outline.inside)
