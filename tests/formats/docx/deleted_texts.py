"""Texts that an edit of a document deleted, and the parts in whose bytes they are found.

Both are read without the code under test.
"""

import html
import io
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path

from lxml import etree

__all__ = ["MIN_LENGTH", "left_in_bytes"]

MIN_LENGTH = 6
"""Characters of a text that is distinctive enough to be searched for in bytes."""

_NESTED = (".docx", ".xlsx", ".pptx", ".docm", ".xlsm", ".dotx")
_LOOKS = re.compile(
    r"(^|/)(styles\w*|theme\d*|fontTable|webSettings|numbering|\[Content_Types\])\.xml$|\.rels$"
)
"""Names of looks are what they are, whatever the text says."""

_NOTES = (("footnotes", "footnote"), ("endnotes", "endnote"), ("comments", "comment"))


def _local(element: etree._Element, name: str) -> str:
    return next((str(v) for k, v in element.attrib.items() if str(k).endswith(f"}}{name}")), "")


def _parsed(archive: zipfile.ZipFile, base: str) -> etree._Element | None:
    for name in archive.namelist():
        if name.lower().endswith(f"word/{base}.xml") and "glossary" not in name:
            data = archive.read(name)
            return etree.fromstring(data, etree.XMLParser(huge_tree=True)) if data else None
    return None


def _paragraphs(root: etree._Element) -> set[str]:
    found = set()
    for paragraph in root.iter("{*}p"):
        text = "".join(each.text or "" for each in paragraph.iter("{*}t", "{*}delText")).strip()
        if len(text) >= MIN_LENGTH:
            found.add(text)
    return found


def seen_texts(path: Path) -> set[str]:
    """The texts of a document's body, and of the notes and comments whose signs it holds."""
    with zipfile.ZipFile(path) as archive:
        body = _parsed(archive, "document")
        if body is None:
            return set()
        found = _paragraphs(body)
        for base, kind in _NOTES:
            root = _parsed(archive, base)
            ids = {_local(each, "id") for each in body.iter(f"{{*}}{kind}Reference")}
            for note in root if root is not None else ():
                if isinstance(note.tag, str) and _local(note, "id") in ids:
                    found |= _paragraphs(note)
        return found


def left_in_bytes(before: Path, after: Path, warnings: Sequence[str]) -> list[str]:
    """Texts that went and are found in a part's bytes, where no warning names the part."""
    there = seen_texts(after)
    gone = [
        text for text in seen_texts(before)
        if not any(text in other for other in there)
    ]  # fmt: skip
    told = " ".join(warnings)
    found = []
    for part, data in _contents(after):
        if _LOOKS.search(part) or part.rpartition("!")[2].rpartition("/")[2].rstrip(".") in told:
            continue
        text = data.decode("utf-8", "replace")
        both = html.unescape(re.sub("<!--.*?-->|<[^>]*>", "", text, flags=re.DOTALL)) + part
        # Names of controls in the body, and of what programs know, are no text of it.
        if not part.endswith("document.xml"):
            both += html.unescape(text) + data.decode("utf-16-le", "replace")
        found += [f"{part}: {text[:50]!r}" for text in gone if text in both][:2]
    return (
        [] if found and re.search(r"elsewhere in the file still: .* and \d+ more", told) else found
    )


def _contents(path: Path) -> list[tuple[str, bytes]]:
    """All parts with their bytes, those of packages within, too."""
    found = []
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            data = archive.read(info)
            found.append((info.filename, data))
            if info.filename.lower().endswith(_NESTED):
                try:
                    with zipfile.ZipFile(io.BytesIO(data)) as nested:
                        found += [
                            (f"{info.filename}!{each}", nested.read(each))
                            for each in nested.namelist()
                        ]
                except zipfile.BadZipFile:
                    continue
    return found
