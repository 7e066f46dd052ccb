"""Data that a content control shows and that is kept in a part of custom XML.

A control names a store and a path in it (ECMA-376, part 1, 17.5.2.6). A store is the custom XML
part whose properties have its id (22.5). Only plain paths are followed: names, with places.
"""

import re
from collections.abc import Iterator

from docx.opc.part import Part
from docx.oxml.parser import parse_xml
from lxml import etree

from kbd.opc.rewriter import xml_bytes
from kbd_docx.document import W
from kbd_docx.edits.document import DocumentEdit

__all__ = ["write_bound"]

_PATH = re.compile(r"(?:/(?:[\w.-]+:)?[\w.-]+(?:\[\d{1,6}\])?)+(?:/@(?:[\w.-]+:)?[\w.-]+)?")
_SPACES = re.compile(r"xmlns:([\w.-]+)\s*=\s*(?:'([^']*)'|\"([^\"]*)\")")
_STORE = re.compile(r"itemID\s*=\s*[\"']([^\"']+)[\"']")
_CUSTOM = "customXml"


def write_bound(edit: DocumentEdit, settings: etree._Element, value: str, name: str) -> None:
    """Write a value where the data of a control is kept; what cannot be written is warned of.

    Args:
        edit: The document.
        settings: The control's settings.
        value: The value.
        name: What the control is called, for warnings.
    """
    binding = settings.find(f"{W}dataBinding")
    if binding is None:
        return
    if not _write(edit, binding, value):
        edit.warnings.warn(
            f"The content control {name} shows data kept elsewhere in the file, which could not be "
            "changed; programs may show that data again."
        )


def _write(edit: DocumentEdit, binding: etree._Element, value: str) -> bool:
    path = binding.get(f"{W}xpath", "")
    if _PATH.fullmatch(path) is None:
        return False
    spaces = {
        found[1]: found[2] or found[3] or ""
        for found in _SPACES.finditer(binding.get(f"{W}prefixMappings", ""))
    }
    for part in _stores(edit, binding.get(f"{W}storeItemID", "")):
        root = parse_xml(part.blob)
        steps, _, attribute = path.partition("/@")
        try:
            found = root.getroottree().xpath(steps, namespaces=spaces)
        except etree.XPathError:
            return False
        named = found if isinstance(found, list) else []
        elements = [each for each in named if isinstance(each, etree._Element)]  # noqa: SLF001
        if not elements:
            continue
        if attribute:
            prefix, _, local = attribute.rpartition(":")
            elements[0].set(f"{{{spaces.get(prefix, '')}}}{local}" if prefix else local, value)
        elif len(elements[0]):
            return False
        else:
            elements[0].text = value
        part._blob = xml_bytes(root)  # noqa: SLF001 - such parts are bytes to the library
        return True
    return False


def _stores(edit: DocumentEdit, store: str) -> Iterator[Part]:
    """Yield the custom XML parts of a store, all of them for a binding that names none."""
    for relation in edit.document.part.rels.values():
        if relation.is_external or not relation.reltype.endswith(f"/{_CUSTOM}"):
            continue
        part = relation.target_part
        if not part.blob.strip():
            continue
        ids = [
            found[1].casefold()
            for each in part.rels.values()
            if not each.is_external
            and (found := _STORE.search(each.target_part.blob.decode("utf-8", "replace")))
        ]
        if not store or store.casefold() in ids:
            yield part
