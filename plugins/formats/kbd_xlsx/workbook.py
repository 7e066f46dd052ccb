"""Workbook part as it is read: its sheets with their parts, and its defined names."""

from typing import Any

import msgspec
from lxml import etree

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.office.suffixes import Suffixes
from kbd.opc import Family, Identity, identify
from kbd.opc.package import Package
from kbd.sheets.areas import whole_number

__all__ = [
    "FAMILY",
    "SUFFIXES",
    "SheetEntry",
    "Workbook",
    "find_sheet",
    "is_early",
    "read_workbook",
]

MAX_NAMES = 200
"""Defined names that a map lists."""

_USUAL_MAIN = "xl/workbook.xml"
"""Path at which some libraries expect the workbook part, whatever the relations are."""

_OPEN_XML = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_EXCEL = "application/vnd.ms-excel"

_EARLY_TYPES = tuple(f"{_EXCEL}.{kind}.main+xml" for kind in ("sheet", "template", "addin"))
"""Types that trial versions of Excel gave to workbooks in 2006, before there was a standard."""

_EARLY_SPACE = "{http://schemas.microsoft.com/office/excel/"
_EARLY_KINDS = {
    "xlWorksheet": "worksheet",
    "xlChartsheet": "chartsheet",
    "xlDialogsheet": "dialogsheet",
}
"""The same versions' names of kinds of sheets."""

FAMILY = Family(
    "a workbook",
    {
        f"{_OPEN_XML}.sheet.main+xml": ".xlsx",
        f"{_EXCEL}.sheet.macroEnabled.main+xml": ".xlsm",
        f"{_OPEN_XML}.template.main+xml": ".xltx",
        f"{_EXCEL}.template.macroEnabled.main+xml": ".xltm",
        f"{_EXCEL}.addin.macroEnabled.main+xml": ".xlam",
        **dict.fromkeys(_EARLY_TYPES, ""),
    },
    {f"{_EXCEL}.sheet.binary.macroEnabled.main": "a binary workbook"},
)
"""Content types of a workbook's main part (ECMA-376, part 1, 12.3.23)."""

SUFFIXES = Suffixes(FAMILY, "workbook")


class SheetEntry(msgspec.Struct, frozen=True):
    """A sheet.

    Args:
        name: As its tab says.
        part: The part that holds it, "" if it is missing.
        kind: "worksheet", "chartsheet", "dialogsheet", or a sheet of Excel 4 macros, which has
            formulas and values as any other: "xlMacrosheet", "xlIntlMacrosheet".
        hidden: Whether its tab is not shown.
        is_very_hidden: Whether programs do not even offer to show it.
    """

    name: str
    part: str
    kind: str
    hidden: bool
    is_very_hidden: bool = False


class Workbook(msgspec.Struct, frozen=True):
    """A workbook.

    Args:
        sheets: In the order of their tabs.
        defined_names: As a map lists them.
        identity: What kind of package it is.
        is_calculated_on_load: Whether programs are asked to calculate it when they open it.
    """

    sheets: tuple[SheetEntry, ...]
    defined_names: tuple[dict[str, Any], ...]
    identity: Identity
    is_calculated_on_load: bool = False


def read_workbook(package: Package) -> Workbook:
    """Read the workbook part.

    Raises:
        FileReadFailed: The package is no workbook of this format.
    """
    identity = identify(package, FAMILY)
    main = identity.part
    # A library that takes the usual path would read another workbook than the relations name.
    if main != _USUAL_MAIN and _USUAL_MAIN in package:
        raise FileReadFailed(f"{package.name} is damaged: it holds two workbooks")
    root = package.root(main)
    if not isinstance(root.tag, str) or not root.tag.endswith("}workbook"):
        raise FileReadFailed(f"{package.name} is an Office file, but not a workbook")
    relations = {relation.id: relation for relation in package.relations(main)}
    sheets = []
    for element in root.iterfind("{*}sheets/{*}sheet"):
        # The strict variant has another namespace for the same attribute.
        key = next(
            (v for k, v in element.attrib.items() if str(k).endswith("/relationships}id")), ""
        )
        # A sheet without its part keeps its place, as names and views count the tabs.
        relation = relations.get(str(key))
        part = relation.target if relation and relation.target in package else ""
        kind = relation.kind if relation else "worksheet"
        kind = _EARLY_KINDS.get(kind, kind)
        state = element.get("state", "visible")
        sheets.append(
            SheetEntry(
                element.get("name", ""), part, kind, state != "visible", state == "veryHidden"
            )
        )
    calculation = root.find("{*}calcPr")
    return Workbook(
        tuple(sheets),
        tuple(_names(root, sheets)),
        identity,
        calculation is not None and calculation.get("fullCalcOnLoad") in ("1", "true"),
    )


def is_early(root: etree._Element) -> bool:
    """Tell whether a workbook part is written as trial versions did, which no program opens now.

    Its cells are those of the standard, but much else of it has other names and units.
    """
    return str(root.tag).startswith(_EARLY_SPACE)


def find_sheet(workbook: Workbook, name: str) -> SheetEntry:
    """Return a sheet by its name, without regard to case as in Excel; raises ValidationFailed."""
    for sheet in workbook.sheets:
        if sheet.name == name:
            return sheet
    for sheet in workbook.sheets:
        if sheet.name.casefold() == name.casefold():
            return sheet
    names = ", ".join(sheet.name for sheet in workbook.sheets[:20])
    raise ValidationFailed(f"there is no sheet {name!r}; there are: {names}")


def _names(root: Any, sheets: list[SheetEntry]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for element in root.iterfind("{*}definedNames/{*}definedName"):
        name = element.get("name", "")
        # Built-in names (print areas, filters) are settings, not names that people gave.
        if name.startswith("_xlnm.") or element.get("hidden") in ("1", "true"):
            continue
        scope = element.get("localSheetId")
        entry = {"name": name, "refers_to": element.text or ""}
        if scope is not None and scope.isdigit() and whole_number(scope) < len(sheets):
            entry["sheet"] = sheets[whole_number(scope)].name
        found.append(entry)
    return found[:MAX_NAMES]
