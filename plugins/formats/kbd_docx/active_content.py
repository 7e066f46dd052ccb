"""Active content of a document: that of its package, and fields that fetch."""

from kbd.formats import Source
from kbd.formats.active import ActiveContent
from kbd.office import active_content as packages
from kbd.opc.package import Package, xml_root
from kbd.opc.strict import transitional
from kbd_docx.edits.reach import field_instructions
from kbd_docx.reader.stories import fetches_external

__all__ = ["active_content"]

_STORIES = ("document", "header", "footer", "footnotes", "endnotes", "comments", "glossary")


def active_content(source: Source, known: tuple[Source, ...]) -> tuple[str, ...]:
    """Return the active content of a document that none of some others has.

    Raises:
        FileReadFailed: A file is damaged, encrypted, or past a limit.
    """
    return packages.active_content(source, known, _add_fields)


def _add_fields(package: Package, found: ActiveContent) -> None:
    for info in package.entries:
        part = info.filename
        base = part.rpartition("/")[2]
        if not base.endswith(".xml") or not base.startswith(_STORIES):
            continue
        data = package.read(part)
        # Most parts hold no field, and are not parsed.
        if b"instr" not in data.replace(b"\0", b""):
            continue
        for instruction in field_instructions(xml_root(transitional(data), part)):
            if fetches_external(instruction):
                found.add("field", " ".join(instruction.split()))
