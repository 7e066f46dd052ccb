"""Active content of a workbook: that of its package, and formulas that reach out of it.

Formulas are told of a file as it is, in its map. What edits bring of them is in what the edit
itself tells, cell by cell, so a comparison does not read all sheets again.
"""

from kbd.formats import Source
from kbd.formats.active import ActiveContent
from kbd.office import active_content as packages
from kbd.opc.package import Package, reading_errors
from kbd_xlsx.calculation.cells import formula_cells
from kbd_xlsx.references import cell_name
from kbd_xlsx.values import reach_of
from kbd_xlsx.workbook import read_workbook

__all__ = ["active_content", "reaching_formulas"]


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


def reaching_formulas(source: Source) -> tuple[str, ...]:
    """Return the formulas of cells that reach out of a workbook, each with its place.

    Raises:
        FileReadFailed: It is damaged, encrypted, or past a limit.
    """
    found = ActiveContent()
    with Package(source) as package, reading_errors(source.name):
        for sheet in read_workbook(package).sheets:
            for cell in formula_cells(package.read(sheet.part), sheet.name) if sheet.part else ():
                if reach_of(cell.text) is not None:
                    place = f"{sheet.name}!{cell_name(cell.row, cell.column)}"
                    found.add("formula", f"={cell.text.removeprefix('=')}", place)
    return found.new_texts()
