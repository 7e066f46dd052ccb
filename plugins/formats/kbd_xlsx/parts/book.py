"""The workbook part: its sheets in order, its names, and what it says of calculation."""

import re
from typing import Any

import msgspec
from lxml import etree

from kbd.opc.rewriter import xml_bytes
from kbd_xlsx.references import whole_number

__all__ = ["BookName", "BookPart", "SheetTab"]

# The children of the part in the order of its schema (ECMA-376, CT_Workbook).
_ORDER = (
    "fileVersion", "fileSharing", "workbookPr", "AlternateContent", "revisionPtr",
    "workbookProtection", "bookViews", "sheets", "functionGroups", "externalReferences",
    "definedNames", "calcPr", "oleSize", "customWorkbookViews", "pivotCaches", "smartTagPr",
    "smartTagTypes", "webPublishing", "fileRecoveryPr", "webPublishObjects", "extLst",
)  # fmt: skip
_TRUE = ("1", "true")
_REFERENCE_NAMESPACE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


class SheetTab(msgspec.Struct, frozen=True):
    """A sheet as the workbook lists it: its title, its relation, its number, whether it shows."""

    title: str
    relation_id: str
    sheet_id: int
    is_hidden: bool


class BookName(msgspec.Struct, frozen=True):
    """A defined name: `tab` is the place of the sheet that it belongs to, None for the workbook."""

    name: str
    tab: int | None
    text: str


class BookPart:
    """The workbook part, read and changed.

    Args:
        root: Its root element, which is changed in place.
    """

    def __init__(self, root: etree._Element) -> None:
        self._root = root
        self._space = str(root.tag).rpartition("}")[0] + "}"
        self.is_changed = False

    @property
    def tabs(self) -> list[SheetTab]:
        """The sheets in order."""
        return [_tab(element) for element in self._sheets()]

    @property
    def names(self) -> list[BookName]:
        """The defined names, also those that programs hide."""
        found = []
        for element in self._root.iterfind("{*}definedNames/{*}definedName"):
            scope = element.get("localSheetId", "")
            tab = whole_number(scope) if scope.isdigit() else None
            found.append(BookName(element.get("name", ""), tab, element.text or ""))
        return found

    @property
    def from_1904(self) -> bool:
        """Whether its dates are counted from 1904."""
        found = self._child("workbookPr")
        return found is not None and found.get("date1904") in _TRUE

    @property
    def locks_structure(self) -> bool:
        """Whether its sheets are protected from being added, moved or taken away."""
        found = self._child("workbookProtection")
        return found is not None and found.get("lockStructure") in _TRUE

    def add(self, title: str, relation_id: str) -> None:
        """Add a sheet at the end."""
        sheets = self._child("sheets")
        if sheets is None:
            sheets = self._made("sheets")
        number = max((tab.sheet_id for tab in self.tabs), default=0) + 1
        element = etree.SubElement(sheets, f"{self._space}sheet")
        element.set("name", title)
        element.set("sheetId", str(number))
        element.set(f"{{{self._relation_space()}}}id", relation_id)
        self.is_changed = True

    def remove(self, tab: int) -> None:
        """Take a sheet out of the list, with the names that belong to it."""
        sheet = self._sheets()[tab]
        sheet.getparent().remove(sheet)
        parent = self._child("definedNames")
        for element in list(parent) if parent is not None else ():
            scope = element.get("localSheetId", "")
            if not scope.isdigit() or whole_number(scope) < tab:
                continue
            if whole_number(scope) == tab:
                parent.remove(element)
            else:
                element.set("localSheetId", str(whole_number(scope) - 1))
        self._drop_if_empty("definedNames")
        for view in self._root.iterfind("{*}bookViews/{*}workbookView"):
            for key in ("activeTab", "firstSheet"):
                shown = view.get(key, "")
                if shown.isdigit() and whole_number(shown) >= tab:
                    view.set(key, str(max(0, whole_number(shown) - 1)))
        self.is_changed = True

    def set_name(self, name: str, tab: int, text: str) -> None:
        """Set a hidden name of a sheet, as programs keep them for their own use."""
        parent = self._child("definedNames")
        if parent is None:
            parent = self._made("definedNames")
        for element in parent:
            same = element.get("name") == name and element.get("localSheetId") == str(tab)
            if isinstance(element.tag, str) and same:
                break
        else:
            element = etree.SubElement(parent, f"{self._space}definedName")
            element.set("name", name)
            element.set("localSheetId", str(tab))
            element.set("hidden", "1")
        element.text = text
        self.is_changed = True

    def ask_for_calculation(self) -> None:
        """Have programs that calculate do so when they open the workbook."""
        found = self._child("calcPr")
        if found is None:
            found = self._made("calcPr")
        if found.get("fullCalcOnLoad") not in _TRUE:
            found.set("fullCalcOnLoad", "1")
            self.is_changed = True

    def xml(self) -> bytes:
        """Return the part's bytes."""
        return xml_bytes(self._root)

    def _sheets(self) -> list[Any]:
        return list(self._root.iterfind("{*}sheets/{*}sheet"))

    def _child(self, name: str) -> Any:
        return self._root.find(f"{{*}}{name}")

    def _made(self, name: str) -> Any:
        """Make a child in its place."""
        element = etree.Element(f"{self._space}{name}")
        place = _ORDER.index(name)
        for number, child in enumerate(self._root):
            local = etree.QName(child).localname if isinstance(child.tag, str) else ""
            if local in _ORDER and _ORDER.index(local) > place:
                self._root.insert(number, element)
                break
        else:
            self._root.append(element)
        return element

    def _drop_if_empty(self, name: str) -> None:
        found = self._child(name)
        if found is not None and not len(found):
            self._root.remove(found)

    def _relation_space(self) -> str:
        """Return the namespace in which this workbook's sheets name their relations."""
        for element in self._sheets():
            for key in element.attrib:
                space, _, local = str(key).rpartition("}")
                if local == "id" and space:
                    return space.lstrip("{")
        strict = re.match(r"\{http://purl\.oclc\.org/ooxml/", self._space)
        if strict:
            return "http://purl.oclc.org/ooxml/officeDocument/relationships"
        return _REFERENCE_NAMESPACE


def _tab(element: Any) -> SheetTab:
    relation = next((v for k, v in element.attrib.items() if str(k).endswith("}id")), "")
    number = element.get("sheetId", "0")
    hidden = element.get("state", "visible") != "visible"
    return SheetTab(element.get("name", ""), str(relation), whole_number(number), hidden)
