"""Documents as they are once their tracked changes are settled, to be compared by their content."""

import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lxml import etree

from made_documents import W

__all__ = ["TRACKED", "content_of", "tracked"]

TRACKED = {"author": "Ann Other", "date": "2026-05-31T09:00:00Z"}

_MAIN = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_STRICT = b"http://purl.oclc.org/ooxml/wordprocessingml/main"
_STORIES = re.compile(r"(?:^|/)(document\w*|header\w*|footer\w*|footnotes|endnotes)\.xml$")
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_SAVED = re.compile(r"rsid|paraId|textId|Unid|Hash$|editId")
_NOTES = (f"{W}footnotes", f"{W}endnotes")
_EMPTY = frozenset(f"{W}{name}" for name in ("rPr", "pPr", "trPr", "tcPr", "tblPrEx", "tblPr"))


def tracked(*operations: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return operations that track their changes."""
    return [{**operation, "track_changes": TRACKED} for operation in operations]


def content_of(path: Path) -> dict[str, str]:
    """Return the content of a document's text parts by name, alike for what says the same.

    How text is divided into runs says nothing, nor do empty properties and texts and the numbers
    of saves. The settings of a table may not be missing (ECMA-376, part 1, CT_Tbl), so that those
    of one that has none in spite of that cannot be noted but as empty ones.
    """
    roots = _roots(path)
    _number_notes(roots)
    found = {}
    for name, root in roots.items():
        if root.tag in _NOTES and not len(root):
            # Lines above notes are nothing without notes.
            continue
        text = etree.tostring(root, method="c14n", exclusive=True).decode()
        found[name] = re.sub(r">\s+<", "><", text)
    return found


def _roots(path: Path) -> dict[str, etree._Element]:
    """Return the roots of a document's text parts by name, without what says nothing."""
    roots = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if _STORIES.search(name):
                data = archive.read(name).replace(_STRICT, _MAIN[1:-1].encode())
                if data.strip():
                    root = etree.fromstring(data, etree.XMLParser(huge_tree=True))
                    _simplify(root)
                    roots[name] = root
    return roots


def _number_notes(roots: Mapping[str, etree._Element]) -> None:
    """Number notes as they are cited: a new one among them gives those behind it other numbers."""
    for kind in ("footnote", "endnote"):
        numbers: dict[str, str] = {}
        for root in roots.values():
            for mark in root.iter(f"{W}{kind}Reference"):
                key = mark.get(f"{W}id", "")
                mark.set(f"{W}id", numbers.setdefault(key, f"note {len(numbers)}"))
        for root in roots.values():
            for note in list(root.iter(f"{W}{kind}")):
                if note.getparent() is root:
                    key = note.get(f"{W}id", "")
                    note.set(f"{W}id", numbers.get(key, key))
                    if note.get(f"{W}type", "normal") != "normal":
                        root.remove(note)


def _simplify(root: etree._Element) -> None:
    for each in list(root.iter()):
        if not isinstance(each.tag, str) or each.tag == f"{W}proofErr":
            _drop(each)
        else:
            _strip(each)
    for each in reversed(list(root.iter(*_EMPTY))):
        if not len(each) and not each.attrib:
            _drop(each)
    _drop_empty_bookmarks(root)
    _settle_sections(root)
    _drop_empty_runs(root)
    for holder in list(root.iter(f"{W}ins", f"{W}moveTo")):
        before = holder.getprevious()
        if before is not None and before.tag == holder.tag and before.attrib == holder.attrib:
            before.extend(list(holder))
            _drop(holder)
    for run in list(root.iter(f"{W}r")):
        _join(run)
    body = root.find(f"{W}body")
    blocks = [] if body is None else [each for each in body if each.tag != f"{W}sectPr"]
    # A document ends in a paragraph; one that has none, or ends in a table, is given one.
    is_given = len(blocks) == 1 or (len(blocks) > 1 and blocks[-2].tag == f"{W}tbl")
    if is_given and blocks[-1].tag == f"{W}p" and not list(blocks[-1].iter(f"{W}r")):
        _drop(blocks[-1])


def _settle_sections(root: etree._Element) -> None:
    for section in root.findall(f"{W}body/{W}sectPr"):
        # A body of one section may do without its settings.
        if not len(section):
            _drop(section)
    for reference in reversed(list(root.iter(f"{W}headerReference", f"{W}footerReference"))):
        # They stand first in the settings of a section; some files have them elsewhere.
        settings = reference.getparent()
        if settings is not None and settings.tag == f"{W}sectPr":
            settings.insert(0, reference)


def _strip(element: etree._Element) -> None:
    """Take from an element what says nothing of its content."""
    for name in list(element.attrib):
        if _SAVED.search(str(name)) or name == _SPACE:
            del element.attrib[name]
    if element.tag not in (f"{W}t", f"{W}delText", f"{W}instrText"):
        element.text = None
    element.tail = None


def _drop_empty_runs(root: etree._Element) -> None:
    for text in list(root.iter(f"{W}t", f"{W}delText")):
        if not text.text:
            _drop(text)
    for run in list(root.iter(f"{W}r")):
        if all(child.tag == f"{W}rPr" for child in run):
            _drop(run)


def _drop_empty_bookmarks(root: etree._Element) -> None:
    """Drop bookmarks with nothing in them, and the one of where the cursor was."""
    begun: dict[str, tuple[etree._Element, int]] = {}
    content = 0
    for each in list(root.iter(f"{W}bookmarkStart", f"{W}bookmarkEnd", f"{W}r", f"{W}p")):
        if each.tag in (f"{W}r", f"{W}p"):
            content += 1
        elif each.tag == f"{W}bookmarkStart":
            begun[each.get(f"{W}id", "")] = each, content
        elif each.get(f"{W}id", "") in begun:
            start, before = begun[each.get(f"{W}id", "")]
            if before == content or start.get(f"{W}name") == "_GoBack":
                _drop(start)
                _drop(each)


def _join(run: etree._Element) -> None:
    """Join a run to the one before it, if both look alike."""
    before = run.getprevious()
    if before is None or before.tag != run.tag or _look(before) != _look(run):
        _join_texts(run)
        return
    for child in run:
        if child.tag != f"{W}rPr":
            before.append(child)
    _drop(run)
    _join_texts(before)


def _join_texts(run: etree._Element) -> None:
    for text in list(run.iter(f"{W}t")):
        before = text.getprevious()
        if before is not None and before.tag == text.tag:
            before.text = (before.text or "") + (text.text or "")
            _drop(text)


def _look(run: etree._Element) -> bytes:
    found = run.find(f"{W}rPr")
    return b"" if found is None else etree.tostring(found, method="c14n")


def _drop(element: etree._Element) -> None:
    parent = element.getparent()
    if parent is not None:
        parent.remove(element)
