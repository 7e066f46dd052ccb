"""Which lists of two versions are the same: programs count them anew, and paragraphs change theirs.

A paragraph that goes on with another list, or begins one anew, looks the same in its XML but for a
number. So lists are matched by the paragraphs that are in both versions, those with most of them
first; a paragraph whose list is not the match of what it was has changed.
"""

import re
from collections import Counter
from collections.abc import Mapping

import msgspec

from kbd_docx.comparison.digests import element_digest
from kbd_docx.comparison.matches import BlockMatches
from kbd_docx.comparison.version import DocxVersion
from kbd_docx.document import W

__all__ = ["ListMatches", "match_lists"]

_NUMBER = re.compile(rb'<(?:[\w.-]+:)?numId\b[^>]*?val="([^"]*)"')
_NAMES = frozenset((f"{W}abstractNumId", f"{W}nsid", f"{W}tmpl"))


class ListMatches(msgspec.Struct, frozen=True):
    """Matches of lists.

    Args:
        same: The number of a list after by that before.
        others: Blocks, before and after, that are equal but for their list.
    """

    same: Mapping[str, str]
    others: tuple[tuple[int, int], ...]


def match_lists(before: DocxVersion, after: DocxVersion, found: BlockMatches) -> ListMatches:
    """Return which lists are the same, by the blocks that are."""
    numbers = [(i, j, *_numbers(before, after, i, j)) for i, j in found.forward.items()]
    counts = Counter((old, new) for _, _, old, new in numbers if old and new)
    same: dict[str, str] = {}
    taken: set[str] = set()
    # Of as many paragraphs those are believed that have the same number.
    for old, new in sorted(counts, key=lambda pair: (-counts[pair], pair[0] != pair[1])):
        if old not in same and new not in taken and _may_be(before, after, old, new):
            same[old] = new
            taken.add(new)
    others = tuple(
        (i, j) for i, j, old, new in numbers
        if old and new and same.get(old) != new and j not in found.changed
    )  # fmt: skip
    for old, _ in counts:
        same.setdefault(old, old)
    return ListMatches(same, others)


def _numbers(before: DocxVersion, after: DocxVersion, i: int, j: int) -> tuple[str, str]:
    """Return the numbers of the lists of a paragraph; nothing of what is in none."""
    old, new = before.block(i), after.block(j)
    if new.kind != "paragraph" or old.kind != "paragraph":
        return "", ""
    if old.raw == new.raw:
        told = _NUMBER.search(new.raw)
        number = told[1].decode("utf-8", "replace") if told else ""
        return number, number
    if b"numId" not in old.raw and b"numId" not in new.raw:
        return "", ""
    return before.paragraph(i).list_id, after.paragraph(j).list_id


def _may_be(before: DocxVersion, after: DocxVersion, old: str, new: str) -> bool:
    """Whether a list is another one that has a new number: it is defined alike, or is gone."""
    if old == new or old not in after.lists.numbers or new not in before.lists.numbers:
        return True
    return _definition(before, old) == _definition(after, new)


def _definition(version: DocxVersion, number: str) -> bytes:
    element, abstract = version.lists.numbers[number], version.lists.abstract_numbering(number)
    children = [] if abstract is None else list(abstract.iterchildren(f"{W}*"))
    return b"".join(
        element_digest(each, without=_NAMES) for each in (*children, *element.iterchildren(f"{W}*"))
    )
