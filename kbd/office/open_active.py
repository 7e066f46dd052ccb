"""Active content of an OpenDocument file: macros, listeners, what is linked, embedded objects.

All XML of a package is looked through, that of the objects in it included, for programs read all of
it. What is embedded is compared by its bytes. OpenDocument 1.3, part 3: 3.12 and 14.1 (scripts,
listeners), 5.4.2 and 14.6 (sections and programs that are linked), 10.4 (frames), 13 (forms).
"""

import hashlib
import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import Any
from urllib.parse import unquote

from lxml import etree

from kbd.formats import Source
from kbd.formats.active import ActiveContent
from kbd.office.active_content import sends_or_opens
from kbd.office.open_document import (
    DRAW,
    META,
    OFFICE,
    TABLE,
    TEXT,
    XLINK,
    DocumentKind,
    open_package,
    open_parts,
)
from kbd.opc.package import Package, reading_errors, xml_root

__all__ = ["open_active_content"]

_SCRIPT = "{urn:oasis:names:tc:opendocument:xmlns:script:1.0}"
_FORM = "{urn:oasis:names:tc:opendocument:xmlns:form:1.0}"
_CONFIG = "{urn:oasis:names:tc:opendocument:xmlns:config:1.0}"
_XFORMS = "{http://www.w3.org/2002/xforms}"

_HREF = f"{XLINK}href"
_FOLDERS = {"Basic": "macros", "Scripts": "macros", "Dialogs": "dialog of macros"}
"""Folders of a package that hold code."""

_LISTS = ("script-lc.xml", "script-lb.xml", "dialog-lc.xml", "dialog-lb.xml")
"""Lists of what is in such a folder; there they hold no code."""

_TAGS = {
    f"{_SCRIPT}event-listener": "event listener",
    f"{TEXT}script": "script",
    f"{OFFICE}script": "macros",
    f"{TEXT}execute-macro": "field that calls a macro",
    f"{TEXT}dde-connection-decl": "link to a program",
    f"{OFFICE}dde-source": "link to a program",
    f"{DRAW}applet": "applet",
    f"{DRAW}plugin": "plugin",
    f"{DRAW}object-ole": "embedded object",
    f"{TEXT}database-display": "data of a database",
    f"{TEXT}database-next": "data of a database",
    f"{TEXT}database-row-select": "data of a database",
    f"{TABLE}database-source-sql": "data of a database",
    f"{TABLE}database-source-query": "data of a database",
    f"{TABLE}database-source-table": "data of a database",
    f"{_FORM}connection-resource": "data connection",
    f"{_XFORMS}submission": "form that sends",
}
"""Elements that are active content, whatever they say."""

_LINKS = (
    f"{TEXT}a", f"{DRAW}a", f"{DRAW}area-rectangle", f"{DRAW}area-circle", f"{DRAW}area-polygon",
)  # fmt: skip
"""Elements that lead somewhere only at a click."""

_TRACES = re.compile(
    rb"href|event-listener|dde-|database-|execute-macro|submission|connection-resource"
    rb"|DataSource|[<:](?:script|applet|plugin|object-ole)[\s>/]"
)
"""Words of all of these; a part without them is not parsed."""

_LINKED: Callable[[etree._Element], Any] = etree.XPath(
    "//*[@x:href]", namespaces={"x": XLINK.strip("{}")}
)

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_CALLS = re.compile(r"(?:vnd\.sun\.star\.|macro:|service:|slot:|\.uno:|javascript:)", re.IGNORECASE)
"""Addresses that call what is in the program or the file."""

_SUBDOCUMENTS = re.compile(r"application/vnd\.oasis\.opendocument\.(?:chart|formula)(?:-template)?")
"""Objects that only show something: their own parts are looked through."""


def open_active_content(
    source: Source, known: tuple[Source, ...], kind: DocumentKind
) -> tuple[str, ...]:
    """Return the active content of a file of a kind that none of some others has.

    Raises:
        FileReadFailed: A file is damaged, encrypted, or past a limit.
    """
    return _collect(source, kind).new_texts(_collect(each, kind) for each in known)


def _collect(source: Source, kind: DocumentKind) -> ActiveContent:
    found = ActiveContent()
    if PurePath(source.name).suffix.lower() == kind.flat_suffix:
        with open_parts(source, kind) as (file,), reading_errors(source.name):
            _add_part(found, file.read(), source.name, None)
        return found
    with open_package(source, kind) as package:
        for info in package.entries:
            part = info.filename
            folder = part.partition("/")[0]
            base = posixpath.basename(part)
            if folder in _FOLDERS and base and base not in _LISTS:
                found.add(_FOLDERS[folder], _digest(package.read(part)), shown=part)
            elif base.endswith(".xml") and part != "META-INF/manifest.xml":
                _add_part(found, package.read(part), part, package)
        _add_objects(found, package)
    return found


def _add_part(found: ActiveContent, data: bytes, part: str, package: Package | None) -> None:
    """Add what stands in a part; `package` is None for a flat file."""
    # In UTF-16 a search would not find the words.
    if not _TRACES.search(data.replace(b"\0", b"")):
        return
    root = xml_root(data, part)
    for element in root.iter(*_TAGS):
        content, shown = _told(element)
        # An empty one says that there is no code.
        if content or element.tag not in (f"{OFFICE}script", f"{TEXT}script"):
            found.add(_TAGS[str(element.tag)], content, shown=shown)
    for element in root.iter(f"{_CONFIG}config-item"):
        # Where a text takes the addresses of its letters from.
        if element.get(f"{_CONFIG}name") == "CurrentDatabaseDataSource" and element.text:
            found.add("mail merge", element.text)
    for element in _LINKED(root):
        _add_link(found, str(element.tag), element.get(_HREF, "").strip(), package)


def _told(element: etree._Element) -> tuple[str, str]:
    """Return what an element says, whole and for people."""
    said = [*map(str, element.values()), " ".join("".join(map(str, element.itertext())).split())]
    whole = "\0".join(filter(None, said))
    listener = element.get(_HREF) or element.get(f"{_SCRIPT}macro-name")
    event = element.get(f"{_SCRIPT}event-name", "")
    return whole, f"{event} {listener}".strip() if listener else " ".join(filter(None, said))


def _add_link(found: ActiveContent, tag: str, href: str, package: Package | None) -> None:
    if not href or href.startswith("#") or tag in _TAGS:
        return
    if _CALLS.match(href):
        found.add("link that calls code", href)
    elif tag in _LINKS:
        if sends_or_opens(href):
            found.add("link that sends or opens", href)
    elif _is_outside(href, package):
        found.add(f"external {_kind(tag)}", href)


def _kind(tag: str) -> str:
    name = etree.QName(tag).localname
    return "template" if tag == f"{META}template" else name


def _is_outside(href: str, package: Package | None) -> bool:
    """Tell whether a program leaves the file for an address; what is missing in it, is nowhere."""
    if package is None or _SCHEME.match(href) or href.startswith(("/", "\\")):
        return True
    path = unquote(href).replace("\\", "/")
    return ".." in path.split("/")


def _add_objects(found: ActiveContent, package: Package) -> None:
    """Add what is embedded and no chart or formula; told by the manifest, else by its bytes."""
    kinds = dict(_kinds(package))
    for info in package.entries:
        part = info.filename
        if part.startswith("Object ") and "/" not in part:
            found.add("embedded object", _digest(package.read(part)), shown=part)
    for path, kind in kinds.items():
        if path.endswith("/") and path != "/" and kind and not _SUBDOCUMENTS.fullmatch(kind):
            parts = [each.filename for each in package.entries if each.filename.startswith(path)]
            if f"{path}content.xml" in parts:
                digest = _digest(b"".join(map(package.read, sorted(parts))))
                found.add("embedded object", digest, shown=path.rstrip("/"))


def _kinds(package: Package) -> Iterator[tuple[str, str]]:
    if "META-INF/manifest.xml" not in package:
        return
    for entry in package.root("META-INF/manifest.xml").iter("{*}file-entry"):
        named = {etree.QName(str(key)).localname: str(value) for key, value in entry.items()}
        yield named.get("full-path", ""), named.get("media-type", "")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
