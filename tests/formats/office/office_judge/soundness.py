"""What is wrong with a package, whatever it holds: faults that make a program repair or refuse it.

Real files have faults, too; of an edit only those count that were not there before.
"""

import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from lxml import etree

from judging.package import Element, Parts, children, local
from office_judge.belongings import CONTENT_TYPES
from office_judge.places import is_deck, slides

__all__ = ["faults"]

_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_FIRST = {
    "pPr": ("p",), "rPr": ("r",), "tcPr": ("tc",), "bodyPr": ("txBody",), "nvSpPr": ("sp",),
    "cSld": ("sld",),
}  # fmt: skip
"""What stands before all else in these (ECMA-376 part 1, 17.3, 17.4 and 19.3)."""
_LAST = {"sectPr": "body", "endParaRPr": "p"}
"""What stands behind all else."""
_SLIDE_IDS = range(256, 1 << 31)
"""ECMA-376 part 1, 19.7.13."""


def faults(path: Path, known: frozenset[str] = frozenset()) -> list[str]:
    """Name what is wrong with a file; empty if nothing is.

    Args:
        path: The file.
        known: Parts whose insides were looked at elsewhere.
    """
    try:
        parts = Parts(path)
    except (zipfile.BadZipFile, OSError) as error:
        return [f"not readable: {error}"]
    try:
        return list(_faults(parts, known))
    except (zipfile.BadZipFile, zlib.error, etree.XMLSyntaxError, LookupError, StopIteration,
            ValueError, RuntimeError) as error:  # fmt: skip
        return [f"not readable: {error!r}"]
    finally:
        parts.close()


def _faults(parts: Parts, known: frozenset[str]) -> Iterator[str]:
    for key, count in Counter(parts.key(entry.filename) for entry in parts.entries).items():
        if count > 1:
            yield f"{key}: {count} members of that name"
    for part in parts:
        # Reading a part to its end checks it against its sum.
        parts.data(part)
        if part == CONTENT_TYPES or part.endswith(".rels"):
            continue
        if part not in parts.types:
            yield f"{part}: has no content type"
        yield from _link_faults(parts, part)
        if part not in known and parts.is_xml(part) and not part.endswith(".vml"):
            try:
                root = parts.root(part)
            except etree.XMLSyntaxError as error:
                yield f"{part}: {error}"
                continue
            yield from (f"{part}: {fault}" for fault in _part_faults(parts, part, root))
    yield from _link_faults(parts, "")
    for part in parts.types:
        if part not in parts:
            yield f"{part}: has a content type and is not there"
    if is_deck(parts):
        yield from _deck_faults(parts)


def _link_faults(parts: Parts, part: str) -> Iterator[str]:
    links = parts.links(part)
    twice = [name for name, count in Counter(link.id for link in links).items() if count > 1]
    yield from (f"{part}: two relations of the id {name}" for name in twice)
    for link in links:
        if not link.external and link.target.partition("#")[0] not in parts:
            yield f"{part}: {link.kind} leads to {link.target}, which is not there"


def _part_faults(parts: Parts, part: str, root: Element) -> Iterator[str]:
    known = {link.id for link in parts.links(part)}
    named: Counter[tuple[str, str]] = Counter()
    for element in root.iter():
        name = local(element)
        if not name:
            continue
        for key, value in element.attrib.items():
            is_named = "/officeDocument/" in str(key) and "relationships}" in str(key)
            if is_named and value and str(value) not in known:
                yield f"{name} names {value!s}, which is no relation"
        yield from _order_faults(element, name)
        if name == "t" and "wordprocessingml" in str(element.tag):
            text = element.text or ""
            if text.strip() != text and element.get(_SPACE) != "preserve":
                yield f"a text loses its outer blanks: {text!r}"
        if name in ("bookmarkStart", "cNvPr", "docPr"):
            identity = next((v for k, v in element.attrib.items() if str(k).endswith("id")), "")
            named[name, str(identity)] += 1
    for (name, identity), count in named.items():
        if count > 1:
            yield f"{count} {name} of the id {identity}"


def _order_faults(element: Element, name: str) -> Iterator[str]:
    inner = [local(child) for child in element if local(child)]
    for first, holders in _FIRST.items():
        if name in holders and first in inner and inner[0] != first:
            yield f"{first} is not the first in {name}"
    for last, holder in _LAST.items():
        if name == holder and last in inner and inner[-1] != last:
            yield f"{last} is not the last in {name}"
    if name == "txBody" and "p" not in inner:
        yield "a text without a paragraph"
    if name == "tc" and "wordprocessingml" in str(element.tag) and inner[-1:] not in (["p"], []):
        yield f"a cell ends with {inner[-1]}"


def _deck_faults(parts: Parts) -> Iterator[str]:
    root = parts.root(parts.workbook)
    entries = [
        element.get("id", "") for group in children(root, "sldIdLst")
        for element in children(group, "sldId")
    ]  # fmt: skip
    if len(set(entries)) != len(entries):
        yield "two slides of one id"
    for identity in entries:
        if not identity.isdecimal() or int(identity) not in _SLIDE_IDS:
            yield f"a slide of the id {identity}"
    for part in slides(parts):
        if part and len(parts.of_kind(part, "slideLayout")) != 1:
            yield f"{part}: not of one layout"
