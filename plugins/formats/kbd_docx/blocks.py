"""The paragraphs and tables of a body, in order and numbered.

The map, the readings and the operations count alike: paragraphs from 1, tables from 0, over the
whole body, those in content controls too; what stands in a table or a text box is not counted.
"""

from collections.abc import Iterable, Iterator

from lxml import etree

__all__ = ["PARAGRAPH", "TABLE", "W", "blocks", "standing"]

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
"""The namespace of documents, as lxml names it; strict ones are named over when read."""

PARAGRAPH, TABLE = f"{W}p", f"{W}tbl"

_COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_WRAPPERS = frozenset(
    (f"{W}sdt", f"{W}sdtContent", f"{W}customXml", f"{_COMPATIBILITY}AlternateContent")
)


def blocks(body: etree._Element) -> Iterator[etree._Element]:
    """Yield the paragraphs and tables of a body, header, footer, note or cell, in order."""
    return (child for child in standing(body) if child.tag in (PARAGRAPH, TABLE))


def standing(body: Iterable[etree._Element]) -> Iterator[etree._Element]:
    """Yield the same and whatever else stands between them: marks, formulas, inserted files."""
    pending = [iter(body)]
    while pending:
        child = next(pending[-1], None)
        if child is None:
            pending.pop()
        elif child.tag in _WRAPPERS:
            pending.append(iter(child))
        elif child.tag == f"{_COMPATIBILITY}Choice" and child.getprevious() is None:
            # Of alternatives the first one that is offered counts, once.
            pending.append(iter(child))
        elif child.tag not in (f"{_COMPATIBILITY}Choice", f"{_COMPATIBILITY}Fallback"):
            yield child
