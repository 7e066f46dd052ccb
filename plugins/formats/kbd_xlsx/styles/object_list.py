"""Objects of a sheet in the words of operations, so that a model sees what it can set.

Validations, links, comments, print settings, protection and pivot tables; what they hold comes from
whoever wrote the file.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from lxml import etree

from kbd.opc.element_names import local_name
from kbd.opc.package import Package
from kbd_xlsx.parts.book import BookName

__all__ = ["OBJECT_LIMITS", "sheet_objects"]

OBJECT_LIMITS = {
    "validations": 60,
    "links": 60,
    "comments": 60,
    "print_settings": 20,
    "protection": 20,
    "pivots": 20,
}
"""Entries of each list."""

MAX_TEXT = 300
"""Characters of a text that are shown."""

_TRUE = ("1", "true")
_CAPITAL = re.compile(r"(?<=[a-z])([A-Z])")
_OPERATORS = {
    "greaterThanOrEqual": "greater_or_equal",
    "lessThanOrEqual": "less_or_equal",
}
_MESSAGES = {
    "promptTitle": "prompt_title", "prompt": "prompt", "errorTitle": "error_title",
    "error": "error", "errorStyle": "error_style",
}  # fmt: skip
_PAPERS = {"1": "letter", "5": "legal", "8": "a3", "9": "a4", "11": "a5"}
_NAMES = {"_xlnm.print_area": "area", "_xlnm.print_titles": "titles"}

Found = tuple[str, dict[str, Any]]
"""The list that an entry belongs to, and the entry."""


def sheet_objects(
    package: Package,
    part: str,
    title: str,
    elements: Sequence[etree._Element],
    names: Sequence[BookName],
) -> Iterator[Found]:
    """Yield the objects of a sheet.

    Args:
        package: The workbook.
        part: The sheet's part.
        title: The sheet's title.
        elements: Those around its rows that tell of objects.
        names: The names that belong to the sheet.

    Raises:
        FileReadFailed: A part is damaged.
    """
    relations = {each.id: each for each in package.relations(part)}
    setup: dict[str, Any] = {}
    for element in elements:
        match local_name(element):
            case "dataValidation":
                yield "validations", {"sheet": title, **_validation(element)}
            case "hyperlink":
                ids = [str(v) for k, v in element.attrib.items() if str(k).endswith("}id")]
                relation = relations.get(ids[0]) if ids else None
                target = relation.target if relation is not None else ""
                yield "links", {"sheet": title, **_link(element, target)}
            case "sheetProtection" if element.get("sheet") in _TRUE:
                yield "protection", {"sheet": title, **_protection(element)}
            case "pageSetUpPr" if element.get("fitToPage") in _TRUE:
                setup["fit_to_page"] = True
            case "pageSetup":
                setup |= _page(element, is_fitted="fit_to_page" in setup)
            case _:
                continue
    setup |= {
        key: name.text[:MAX_TEXT] for name in names if (key := _NAMES.get(name.name.casefold()))
    }
    setup.pop("fit_to_page", None)
    if setup:
        yield "print_settings", {"sheet": title, **setup}
    yield from _related(package, part, title)


def _words(name: str) -> str:
    """Return a word of the file as operations spell it: textLength is text_length."""
    return _OPERATORS.get(name) or _CAPITAL.sub(r"_\1", name).lower()


def _validation(element: etree._Element) -> dict[str, Any]:
    ranges = element.get("sqref") or element.findtext("{*}sqref") or ""
    kind = element.get("type", "none")
    found: dict[str, Any] = {"range": ranges[:MAX_TEXT], "type": _words(kind)}
    formulas = [
        (child.text or child.findtext("{*}f") or "")[:MAX_TEXT]
        for child in element
        if local_name(child) in ("formula1", "formula2")
    ]
    if kind not in ("none", "list", "custom"):
        found["operator"] = _words(element.get("operator", "between"))
    if kind == "list" and formulas and formulas[0].startswith('"'):
        found["choices"] = (
            formulas[0].removeprefix('"').removesuffix('"').replace('""', '"').split(",")
        )
    elif kind == "list":
        found["source"] = "".join(formulas[:1])
    elif kind == "custom":
        found["formula"] = "=" + "".join(formulas[:1])
    elif formulas:
        found["values"] = formulas
    for name, word in _MESSAGES.items():
        if text := element.get(name):
            found[word] = text[:MAX_TEXT]
    return found


def _link(element: etree._Element, target: str) -> dict[str, Any]:
    found = {"cell": element.get("ref", "")[:MAX_TEXT]}
    location = element.get("location", "")
    if target:
        found["target"] = (f"{target}#{location}" if location else target)[:MAX_TEXT]
    elif location:
        found["location"] = location[:MAX_TEXT]
    if tooltip := element.get("tooltip"):
        found["tooltip"] = tooltip[:MAX_TEXT]
    return found


def _protection(element: etree._Element) -> dict[str, Any]:
    found: dict[str, Any] = {}
    allowed = [
        _words(str(name))
        for name, value in element.attrib.items()
        if value in ("0", "false") and name not in ("sheet", "objects", "scenarios")
    ]
    if allowed:
        found["allow"] = allowed
    if any(element.get(name) for name in ("password", "hashValue", "algorithmName")):
        found["has_password"] = True
    return found


def _page(element: etree._Element, *, is_fitted: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if element.get("orientation") in ("portrait", "landscape"):
        found["orientation"] = element.get("orientation")
    if paper := _PAPERS.get(element.get("paperSize", "")):
        found["paper"] = paper
    for name, word in (("fitToWidth", "fit_to_width"), ("fitToHeight", "fit_to_height")):
        number = element.get(name, "1")
        if is_fitted and number.isdecimal() and len(number) < 6:
            found[word] = int(number)
    scale = element.get("scale", "100")
    if not is_fitted and scale != "100" and scale.isdecimal() and len(scale) < 4:
        found["scale"] = int(scale)
    return found


def _related(package: Package, part: str, title: str) -> Iterator[Found]:
    """Yield the comments and the pivot tables that a sheet's relations lead to."""
    threads: set[str] = set()
    related = [
        relation
        for relation in package.relations(part)
        if not relation.external and relation.target in package
    ]
    for relation in related:
        if relation.kind == "threadedComment":
            for each in package.root(relation.target).iterfind("{*}threadedComment"):
                threads.add(each.get("ref", ""))
                text = (each.findtext("{*}text") or "")[:MAX_TEXT]
                entry = {"sheet": title, "cell": each.get("ref", ""), "text": text}
                yield "comments", {**entry, "is_thread": True}
    for relation in related:
        if relation.kind == "comments":
            for entry in _comments(package.root(relation.target)):
                # Beside a thread stands a copy of it for programs that know none.
                if entry["cell"] not in threads:
                    yield "comments", {"sheet": title, **entry}
        elif relation.kind == "pivotTable":
            root = package.root(relation.target)
            place = root.find("{*}location")
            found = {"sheet": title, "name": root.get("name", "")[:MAX_TEXT]}
            yield "pivots", found | ({} if place is None else {"range": place.get("ref", "")})


def _comments(root: etree._Element) -> Iterator[dict[str, Any]]:
    authors = [author.text or "" for author in root.iterfind("{*}authors/{*}author")]
    for element in root.iterfind("{*}commentList/{*}comment"):
        number = element.get("authorId", "")
        is_known = number.isdecimal() and len(number) < 6 and int(number) < len(authors)
        text = "".join(each.text or "" for each in element.iter("{*}t"))
        found = {"cell": element.get("ref", "")[:MAX_TEXT], "text": text[:MAX_TEXT]}
        if is_known and authors[int(number)]:
            found["author"] = authors[int(number)][:MAX_TEXT]
        yield found
