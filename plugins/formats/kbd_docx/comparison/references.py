"""References of two versions to what lies outside of the file: linked pictures, templates, objects.

Links that people follow are told with the text in which they stand.
"""

from collections import Counter

from kbd.errors import FileReadFailed
from kbd.formats import Change, ChangeList
from kbd.office.active_content import parts_of
from kbd.opc.package import Package
from kbd_docx.comparison.places import part_place
from kbd_docx.comparison.version import DocxVersion

__all__ = ["compare_references"]

_LINK = "hyperlink"


def compare_references(before: DocxVersion, after: DocxVersion, out: ChangeList) -> None:
    """Add the references to the outside that came or went, each with its kind and address."""
    old, new = _references(before.package), _references(after.package)
    for kind, target in sorted((old - new).elements()):
        place = part_place(f"external {kind}")
        out.add(Change(place, "removed", "external reference", before=target))
    for kind, target in sorted((new - old).elements()):
        place = part_place(f"external {kind}")
        out.add(Change(place, "added", "external reference", after=target))


def _references(package: Package) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for part in parts_of(package):
        try:
            relations = package.relations(part)
        except FileReadFailed:
            continue  # Damaged ones lead nowhere, for programs as for us.
        found.update(
            (each.kind, each.target) for each in relations if each.external and each.kind != _LINK
        )
    return found
