"""How cells look: a style index resolved to what it says."""

from functools import cache

from judging.package import Element, Parts, children, local
from judging.substance import substance

__all__ = ["BUILT_IN", "Look", "Looks", "font"]

Look = dict[str, str]
"""The aspects of a style (font, fill, border, number format, alignment, protection, name)."""

_PLAIN = {"number format": "General"}
BUILT_IN = {
    0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%",
    11: "0.00E+00", 12: "# ?/?", 13: "# ??/??", 14: "mm-dd-yy", 15: "d-mmm-yy", 16: "d-mmm",
    17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss",
    22: "m/d/yy h:mm", 37: "#,##0_);(#,##0)", 38: "#,##0_);[Red](#,##0)",
    39: "#,##0.00_);(#,##0.00)", 40: "#,##0.00_);[Red](#,##0.00)", 45: "mm:ss", 46: "[h]:mm:ss",
    47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
}  # fmt: skip
"""The number formats that need no record (ECMA-376 part 1, 18.8.30)."""


def _said(element: Element | None) -> str:
    """What a record says; that an empty side or colour is mentioned at all says nothing."""
    if element is None:
        return ""
    lines = sorted(line for line in substance(element).elements() if "@" in line or "=" in line)
    return "\n".join(lines)


def font(element: Element | None) -> str:
    """What the record of a font or of a run's properties says."""
    said = []
    for child in element if element is not None else ():
        value = child.get("val")
        if value in ("0", "false", "none") or (name := local(child)) in ("charset", "family", ""):
            continue
        name = "name" if name == "rFont" else name
        attributes = {str(k).rpartition("}")[2]: str(v) for k, v in child.attrib.items()}
        if value in ("1", "true"):
            del attributes["val"]
        said.append(f"{name} {sorted(attributes.items())}")
    return "\n".join(sorted(said))


class Looks:
    """The styles part of a workbook; one that has none gives every cell the same look."""

    def __init__(self, parts: Parts) -> None:
        found = parts.of_kind(parts.workbook, "styles")
        self.root = parts.root(found[0]) if found else None
        self._records = {
            group: [] if self.root is None else self._group(group)
            for group in ("fonts", "fills", "borders", "cellXfs", "cellStyleXfs", "dxfs")
        }
        self.formats = {
            int(record.get("numFmtId", "0")): record.get("formatCode", "")
            for record in self._all("numFmts", "numFmt")
        }
        self.names = {
            int(record.get("xfId", "0")): record.get("name", "")
            for record in reversed(self._all("cellStyles", "cellStyle"))
        }
        self.look = cache(self._look)
        self.differential = cache(self._differential)

    @property
    def count(self) -> int:
        """How many styles cells may name."""
        return max(1, len(self._records["cellXfs"]))

    def _group(self, name: str) -> list[Element]:
        groups = children(self.root, name)
        return [child for child in groups[0] if local(child)] if groups else []

    def _all(self, group: str, name: str) -> list[Element]:
        return [
            record for parent in children(self.root, group) for record in children(parent, name)
        ]

    def _at(self, group: str, index: str | None) -> str:
        records = self._records[group]
        place = int(index or 0)
        return _said(records[place]) if place < len(records) else ""

    def _border(self, index: str | None) -> str:
        """A side without a line has no colour either."""
        records = self._records["borders"]
        place = int(index or 0)
        sides = list(records[place]) if place < len(records) else []
        return "\n".join(
            sorted(_said(side) for side in sides if side.get("style", "none") not in ("none", ""))
        )

    def _font(self, index: str | None) -> str:
        records = self._records["fonts"]
        place = int(index or 0)
        return font(records[place]) if place < len(records) else ""

    def _look(self, index: int) -> Look:
        records = self._records["cellXfs"]
        if index >= len(records):
            # Without styles every program has a font of its own: nothing is said of it.
            return dict.fromkeys(("fill", "border", "alignment", "protection"), "") | _PLAIN
        xf = records[index]
        code = int(xf.get("numFmtId", "0"))
        return {
            "font": self._font(xf.get("fontId")),
            "fill": self._at("fills", xf.get("fillId")),
            "border": self._border(xf.get("borderId")),
            "number format": self.formats.get(code, BUILT_IN.get(code, str(code))),
            "alignment": "".join(_said(part) for part in children(xf, "alignment")),
            "protection": "".join(_said(part) for part in children(xf, "protection")),
            "quote prefix": str(xf.get("quotePrefix") in ("1", "true")),
            "named style": self.names.get(int(xf.get("xfId", "0")), "Normal"),
        }

    def _differential(self, index: str) -> str:
        records = self._records["dxfs"]
        place = int(index)
        return _said(records[place]) if place < len(records) else "none"
