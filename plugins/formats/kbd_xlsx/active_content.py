"""Active content of a workbook: that of its package, and names that reach out of it.

Formulas of cells are told by the map, which has read them. What edits bring of them is in what the
edit itself tells, cell by cell, so no sheet is read again for a comparison.
"""

from kbd.formats import Source
from kbd.formats.active import ActiveContent
from kbd.office import active_content as packages
from kbd.opc.package import Package
from kbd_xlsx.values import reach_of
from kbd_xlsx.workbook import read_workbook

__all__ = ["active_content"]


def active_content(source: Source, known: tuple[Source, ...]) -> tuple[str, ...]:
    """Return the active content of a workbook that none of some others has, cells not counted.

    Raises:
        FileReadFailed: A file is damaged, encrypted, or past a limit.
    """
    return packages.active_content(source, known, _add_names)


def _add_names(package: Package, found: ActiveContent) -> None:
    for name in read_workbook(package).defined_names:
        text = str(name["refers_to"])
        if reach_of(text) is not None:
            found.add("formula", text, f"name {name['name']}")
