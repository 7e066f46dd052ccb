"""Headers and footers: which pages have which, and what stands in them."""

from collections.abc import Mapping, Sequence

from lxml import etree

from kbd.opc.package import Package, Relation
from kbd_docx.blocks import W
from kbd_docx.reader.document import DocxMargin
from kbd_docx.reader.findings import StoryFindings
from kbd_docx.reader.names import R, is_on
from kbd_docx.reader.parts import related, root_of
from kbd_docx.reader.stories import StoryRenderer

__all__ = ["PageMargins", "margins"]

_KINDS = {f"{W}headerReference": "header", f"{W}footerReference": "footer"}
_TYPES = ("default", "first", "even")
_MOST_MARGINS = 1_000


class PageMargins:
    """What the layout of some pages says of headers and footers.

    Args:
        element: The layout (`w:sectPr`).
    """

    def __init__(self, element: etree._Element) -> None:
        self.has_first = is_on(element.find(f"{W}titlePg"))
        self.named: list[tuple[str, str, str]] = []
        for child in element:
            kind = _KINDS.get(child.tag) if isinstance(child.tag, str) else None
            if kind:
                type_ = child.get(f"{W}type", "default")
                self.named.append((kind, type_ if type_ in _TYPES else "default",
                                   child.get(f"{R}id", "")))  # fmt: skip


def margins(
    package: Package,
    relations: Mapping[str, Relation],
    layouts: Sequence[PageMargins],
    findings: StoryFindings,
    *,
    has_even: bool,
) -> tuple[DocxMargin, ...]:
    """Return the headers and footers of all pages, each part once.

    Args:
        package: The file.
        relations: The relations of the main part by id.
        layouts: Of the stretches of pages, in order.
        findings: Where what they hold is found.
        has_even: Whether even pages have their own.
    """
    found: list[DocxMargin] = []
    seen: set[tuple[str, str]] = set()
    for place, layout in enumerate(layouts, 1):
        for kind, type_, key in layout.named:
            relation = relations.get(key)
            if relation is None or (relation.target, type_) in seen or len(found) == _MOST_MARGINS:
                continue
            seen.add((relation.target, type_))
            root = root_of(package, relation)
            if root is None:
                continue
            text = StoryRenderer(findings, related(package, relation.target)).text(root)
            is_shown = {"first": layout.has_first, "even": has_even}.get(type_, True)
            found.append(DocxMargin(kind, type_, place, text.strip("\n"), is_shown))
    return tuple(found)
