"""What differs between two documents, told without any code of the product.

Entries of the two zips are compared by their bytes. Of parts whose bytes differ, the XML is: as
canonical text, blank-only text between elements apart, which the library leaves out.
"""

import difflib
import zipfile
from pathlib import Path

from lxml import etree

__all__ = ["differing_lines", "differing_parts", "entries", "lines"]

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_STRICT = b"http://purl.oclc.org/ooxml/wordprocessingml/main"
_USUAL = b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def entries(path: Path) -> dict[str, bytes]:
    """Return a zip's entries; a name that comes twice is a fault."""
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        names = [info.filename for info in archive.infolist()]
        assert len(names) == len(set(names)), "an entry comes twice"
        return {name: archive.read(name) for name in names}


def differing_parts(before: Path, after: Path) -> dict[str, tuple[bytes, bytes]]:
    """Return the entries whose bytes differ, by name; an entry that is missing is no bytes."""
    old, new = entries(before), entries(after)
    return {
        name: (old.get(name, b""), new.get(name, b""))
        for name in old | new
        if old.get(name) != new.get(name)
    }


def lines(part: bytes) -> list[str]:
    """Return XML one tag or text a line, canonical, without text between elements."""
    root = etree.fromstring(part, etree.XMLParser(remove_comments=False, huge_tree=True))
    found: list[str] = []
    for event, element in etree.iterwalk(root, events=("start", "end", "comment", "pi")):
        if event in ("comment", "pi"):
            found.append(f"{event} {element.text}")
        elif event == "start":
            attributes = "".join(f" {key}={value!r}" for key, value in sorted(element.items()))
            found.append(f"<{element.tag}{attributes}>")
            text = element.text or ""
            # Blanks alone are text in an element that holds nothing else.
            if text.strip() or (text and not len(element)):
                found.append(text)
        else:
            found.append(f"</{element.tag}>")
        if event == "end" and (element.tail or "").strip():
            found.append(element.tail)
    return found


def differing_lines(before: bytes, after: bytes) -> tuple[list[str], list[str]]:
    """Return what went from one part's lines and what came."""
    old, new = lines(before), lines(after)
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    went: list[str] = []
    came: list[str] = []
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for kind, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if kind != "equal":
            went += old[old_from:old_to]
            came += new[new_from:new_to]
    return went, came
