"""Elements as facts: paths with values, equal for equal contents however these are written.

A fact is the path of an attribute or a text below an element, with its value. The order of
attributes, prefixes, blanks between elements, ids of relations and marks of programs that nobody
sees (a checked spelling, the id that a program gave a shape) make no difference. What a relation
leads to stands in for its id.
"""

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple, cast

from lxml import etree

from kbd_pptx.presentation import MC, P14, A, C, P, R

__all__ = [
    "Difference",
    "Fact",
    "PartValue",
    "Resolve",
    "Value",
    "differences",
    "digest",
    "read_facts",
]


class PartValue(NamedTuple):
    """What a relation leads to inside of the package: its kind, and what identifies its bytes."""

    kind: str
    digest: str
    size_bytes: int

    def __eq__(self, other: object) -> bool:
        """Tell whether it is the same; the same XML may be written in more or fewer bytes."""
        return isinstance(other, PartValue) and self[:2] == other[:2]

    def __ne__(self, other: object) -> bool:
        """Tell whether it is not the same."""
        return not self == other

    def __hash__(self) -> int:
        """Return what equal ones have in common."""
        return hash(self[:2])


Value = str | PartValue
Fact = tuple[str, Value]
Difference = tuple[Value | None, Value | None]
"""A fact before and after; None where there is none."""

Resolve = Callable[[str], Value]
"""Returns what the id of a relation stands for."""

_A16 = "{http://schemas.microsoft.com/office/drawing/2014/main}"
_UNSEEN_ATTRIBUTES = frozenset(
    ("dirty", "err", "smtClean", "smtId", "bmk", f"{MC}Ignorable", f"{MC}PreserveAttributes")
)
_UNSEEN_ELEMENTS = frozenset(
    (f"{_A16}creationId", f"{_A16}rowId", f"{_A16}colId", f"{P14}creationId", f"{P14}modId")
)
_WRAPS = frozenset((f"{A}ext", f"{P}ext", f"{A}extLst", f"{P}extLst"))
"""What holds such elements and, where it holds nothing else, says nothing either."""

_IDS: Mapping[str, Collection[str]] = {f"{P}cNvPr": ("id",)}
"""Attributes by which parts of a slide find each other, and nobody else."""

_TEXTS = frozenset(("t", "text", "v", "f", "pt"))
"""Elements in which a blank is text, by local name."""

_PLAIN = frozenset((P, A, C))
"""Namespaces whose elements are called by their local names alone."""

_STEP = re.compile(r"[/@#]")

_NO_ELEMENTS: frozenset[etree._Element] = frozenset()
_NO_ATTRIBUTES: Mapping[str, Collection[str]] = {}


def read_facts(
    root: etree._Element,
    resolve: Resolve,
    skipped: Collection[etree._Element] = _NO_ELEMENTS,
    omitted: Mapping[str, Collection[str]] = _NO_ATTRIBUTES,
) -> Iterator[Fact]:
    """Yield the facts of an element in the order of its file.

    Args:
        root: The element.
        resolve: For ids of relations.
        skipped: Elements below it that are left out with all that is in them.
        omitted: Attributes that are left out, by the tag of their element.
    """
    waiting = [(root, "")]
    while waiting:
        element, path = waiting.pop()
        tag = element.tag
        left_out = (*_IDS.get(tag, ()), *omitted.get(tag, ()))
        says_nothing = True
        for key, text in sorted(cast("list[tuple[str, str]]", element.items())):
            if key in left_out or key in _UNSEEN_ATTRIBUTES:
                continue
            says_nothing = False
            is_relation = key.startswith(R) and text
            yield f"{path}@{_short(key)}", resolve(text) if is_relation else text
        children = _children(element, path, skipped) if len(element) else []
        text = element.text or ""
        if text and (children or _short(tag).rpartition(":")[2] not in _TEXTS):
            text = text.strip()
        if text:
            yield f"{path}#", text
        elif says_nothing and not children:
            yield path, ""
        waiting.extend(reversed(children))


def _children(
    element: etree._Element, path: str, skipped: Collection[etree._Element]
) -> list[tuple[etree._Element, str]]:
    """Return what is in an element and is not left out, with paths."""
    found: list[tuple[etree._Element, str]] = []
    counts: dict[str, int] = {}
    prefix = f"{path}/" if path else ""
    for child in element:
        tag = child.tag
        if not isinstance(tag, str) or child in skipped:
            continue
        if (tag in _WRAPS or tag in _UNSEEN_ELEMENTS) and _is_unseen(child):
            continue
        count = counts[tag] = counts.get(tag, 0) + 1
        name = f"{prefix}{_short(tag)}"
        found.append((child, f"{name}[{count}]" if count > 1 else name))
    return found


def digest(facts: Iterable[Fact]) -> str:
    """Return what identifies facts."""
    sums = hashlib.sha256()
    for path, value in facts:
        sums.update(path.encode("utf-8", "surrogatepass"))
        sums.update(b"\0")
        plain = value if isinstance(value, str) else f"\0{value.kind}\0{value.digest}"
        sums.update(plain.encode("utf-8", "surrogatepass"))
        sums.update(b"\1")
    return sums.hexdigest()


def differences(before: Iterable[Fact], after: Iterable[Fact]) -> dict[str, Difference]:
    """Return the facts that differ, by their paths, in the order of the file."""
    old, new = dict(before), dict(after)
    found = {
        path: (old.get(path), new.get(path))
        for path in {**old, **new}
        if old.get(path) != new.get(path)
    }
    # An element without contents says that it is there; what is in it says so, too.
    around = {path[: match.start()] for path in found for match in _STEP.finditer(path)}
    return {path: pair for path, pair in found.items() if path not in around or any(pair)}


def _is_unseen(element: etree._Element) -> bool:
    """Tell whether an element says nothing that anybody sees."""
    if element.tag in _UNSEEN_ELEMENTS:
        return True
    # Extensions nest two levels: a list, and an extension in it.
    if element.tag not in _WRAPS:
        return False
    return all(
        child.tag in _UNSEEN_ELEMENTS
        or (child.tag in _WRAPS and len(child) and all(e.tag in _UNSEEN_ELEMENTS for e in child))
        for child in element
    ) and bool(len(element) or element.tag.endswith("extLst"))


@lru_cache(maxsize=4096)
def _short(name: str) -> str:
    """Return a name as paths have it: alone in the usual namespaces, else with its own."""
    space, brace, local = name.rpartition("}")
    if not brace or f"{space}}}" in _PLAIN:
        return local
    return f"{space.rpartition('/')[2]}:{local}" if f"{space}}}" in (R, MC) else f"{space}}}{local}"
