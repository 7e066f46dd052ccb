"""Active content of a document: that of its package, fields that fetch, bindings to foreign data.

A content control may be bound to XML that lies in the package, which is shown in its place. What it
is bound to and does not lie there comes from wherever the program has it.
"""

import contextlib

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.formats.active import ActiveContent
from kbd.office import active_content as packages
from kbd.opc.package import Package, xml_root
from kbd.opc.strict import transitional
from kbd_docx.document import W
from kbd_docx.edits.reach import field_instructions
from kbd_docx.reader.stories import fetches_external

__all__ = ["active_content"]

_BINDINGS = (
    f"{W}dataBinding",
    "{http://schemas.microsoft.com/office/word/2012/wordml}dataBinding",
)
_BUILT_IN = (
    "{6C3C8BC8-F283-45AE-878A-BAB7291924A1}",
    "{6668398D-A668-4E3E-A5EB-62B293D839F1}",
    "{55AF091B-3C7A-41E3-B477-F2FDAA23CFDA}",
)
"""The properties of a document: core, extended, and those of a cover page (MS-OE376, 2.5.2)."""

_STORIES = ("document", "header", "footer", "footnotes", "endnotes", "comments", "glossary")


def active_content(source: Source, known: tuple[Source, ...]) -> tuple[str, ...]:
    """Return the active content of a document that none of some others has.

    Raises:
        FileReadFailed: A file is damaged, encrypted, or past a limit.
    """
    return packages.active_content(source, known, _add_texts)


def _add_texts(package: Package, found: ActiveContent) -> None:
    stores: set[str] | None = None
    for info in package.entries:
        part = info.filename
        base = part.rpartition("/")[2]
        if not base.endswith(".xml") or not base.startswith(_STORIES):
            continue
        data = package.read(part)
        plain = data.replace(b"\0", b"")
        # Most parts hold neither, and are not parsed.
        if b"instr" not in plain and b"dataBinding" not in plain:
            continue
        root = xml_root(transitional(data), part)
        for instruction in field_instructions(root):
            if fetches_external(instruction):
                found.add("field", " ".join(instruction.split()))
        for binding in root.iter(*_BINDINGS):
            stores = _stores(package) if stores is None else stores
            store = binding.get(f"{W}storeItemID", "").strip().upper()
            if store and store not in stores:
                path = binding.get(f"{W}xpath", "")
                found.add("binding to data outside of the file", f"{store} {path}")


def _stores(package: Package) -> set[str]:
    """Return the ids of the data that controls may be bound to without leaving the package."""
    found = set(_BUILT_IN)
    for info in package.entries:
        folder, _, base = info.filename.rpartition("/")
        if not (folder + base).casefold().startswith("customxmlitemprops"):
            continue
        with contextlib.suppress(FileReadFailed):
            # A damaged one is bound to nothing, for programs as for us.
            root = xml_root(transitional(package.read(info.filename)), info.filename)
            found.update(str(value).strip().upper() for value in root.values())
    return found
