"""Pages of a text: what they may be painted with, and their headers and footers.

Which page a text comes to stand on is not known: what pages of any style are painted with counts.
OpenDocument 1.3, part 3: 16 (layouts of pages, master pages).
"""

from lxml import etree

from kbd.office.open_document import STYLE
from kbd.office.open_text.looks import read_backing
from kbd.office.paint import CLEAR, UNKNOWN, Paints

__all__ = ["OpenPages"]

_MARGIN = f"{STYLE}header-footer-properties"
_USUAL = "Standard"
"""The style of pages that texts begin with unless they name another one."""


class OpenPages:
    """Pages met so far, by their layouts and the styles that name these."""

    def __init__(self) -> None:
        self._layouts: dict[str, set[Paints]] = {}
        self._margins: dict[tuple[str, str], set[Paints]] = {}
        self._masters: dict[str, set[str]] = {}

    def add_layout(self, element: etree._Element) -> None:
        """Add a layout of pages."""
        name = element.get(f"{STYLE}name", "")
        for each in element.iterchildren(f"{STYLE}page-layout-properties"):
            self._layouts.setdefault(name, set()).add(read_backing(each, each).backing({}))
        for kind in ("header", "footer"):
            fills = {
                read_backing(each, each).backing({})
                for each in element.iterfind(f"{STYLE}{kind}-style/{_MARGIN}")
            }
            self._margins.setdefault((name, kind), set()).update(fills or {CLEAR})

    def add_master(self, element: etree._Element) -> None:
        """Add a style of pages."""
        layout = element.get(f"{STYLE}page-layout-name", "")
        self._masters.setdefault(element.get(f"{STYLE}name", ""), set()).add(layout)

    def paints(self) -> frozenset[Paints]:
        """Return what any page, header or footer is painted with."""
        return frozenset().union(*self._layouts.values(), *self._margins.values())

    def papers(self) -> frozenset[Paints]:
        """Return what the pages may be painted with; `CLEAR` is white."""
        named = {layout for layouts in self._masters.values() for layout in layouts}
        found = {paints for name in named for paints in self._paper(name)}
        # A program makes the usual style itself where a text has none.
        return frozenset(found if _USUAL in self._masters else found | {CLEAR})

    def margin(self, element: etree._Element) -> tuple[Paints, frozenset[Paints]]:
        """Return what a header or a footer is painted with, and what its page may be."""
        master = next(element.iterancestors(f"{STYLE}master-page"), None)
        layout = "" if master is None else master.get(f"{STYLE}page-layout-name", "")
        kind = "footer" if str(element.tag).startswith(f"{STYLE}footer") else "header"
        found = self._margins.get((layout, kind)) or {CLEAR}
        paints = next(iter(found)) if len(found) == 1 else UNKNOWN
        return paints, frozenset(self._paper(layout))

    def _paper(self, layout: str) -> set[Paints]:
        return self._layouts.get(layout) or {CLEAR}
