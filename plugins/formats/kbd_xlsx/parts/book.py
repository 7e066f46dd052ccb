"""Workbook part and table parts.

The workbook part has the sheets in order, the defined names, and the settings of calculation; the
part of a table its range, the names of its columns and its filter.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import msgspec
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.opc.element_names import local_name
from kbd.opc.rewriter import xml_bytes
from kbd.sheets.areas import Area, parse_area, whole_number

__all__ = ["BookName", "BookPart", "SheetTab", "TablePart", "new_table"]

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
        """Whether dates are counted from 1904 (`date1904`)."""
        found = self._child("workbookPr")
        return found is not None and found.get("date1904") in _TRUE

    @property
    def is_precision_as_displayed(self) -> bool:
        """Whether formulas see the digits that cells show (`fullPrecision`)."""
        found = self._child("calcPr")
        return found is not None and found.get("fullPrecision", "1") not in _TRUE

    @property
    def locks_structure(self) -> bool:
        """Whether adding, moving and deleting of sheets is locked."""
        found = self._child("workbookProtection")
        return found is not None and found.get("lockStructure") in _TRUE

    def add(self, title: str, relation_id: str) -> None:
        """Add a sheet at the end."""
        sheets = self._child("sheets")
        if sheets is None:
            sheets = self._made("sheets")
        # A number that no sheet has: slicers and timelines name a sheet by it.
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
        # localSheetId is the place of a sheet, not its sheetId: those behind move down by one.
        for element in list(parent) if parent is not None else ():
            scope = element.get("localSheetId", "")
            if not scope.isdigit() or whole_number(scope) < tab:
                continue
            if whole_number(scope) == tab:
                parent.remove(element)
            else:
                element.set("localSheetId", str(whole_number(scope) - 1))
        self._drop_if_empty("definedNames")
        # So are activeTab and firstSheet; one past the last sheet would be damage.
        visible = [place for place, each in enumerate(self.tabs) if not each.is_hidden]
        for view in self._root.iterfind("{*}bookViews/{*}workbookView"):
            was_active = view.get("activeTab", "0") == str(tab)
            for key in ("activeTab", "firstSheet"):
                shown = view.get(key, "")
                if shown.isdigit() and whole_number(shown) >= tab:
                    view.set(key, str(max(0, whole_number(shown) - 1)))
            # Else programs would open the workbook with a hidden sheet in front.
            active = whole_number(view.get("activeTab", "0"))
            if was_active and visible and active not in visible:
                view.set("activeTab", str(_nearest(visible, active)))
        self.is_changed = True

    def rename(self, tab: int, title: str, change: Callable[[str], str]) -> int:
        """Give a sheet another title, and change the texts of names; return how many changed."""
        self._sheets()[tab].set("name", title)
        count = 0
        for element in self._root.iterfind("{*}definedNames/{*}definedName"):
            text = str(element.text or "")
            new = change(text)
            if new != text:
                element.text = new
                count += 1
        self.is_changed = True
        return count

    def move(self, tab: int, to: int) -> None:
        """Put a sheet into another position, both counted from 0; what counts sheets follows."""
        sheets = self._sheets()
        parent = sheets[tab].getparent()
        order = list(range(len(sheets)))
        order.insert(to, order.pop(tab))
        tails = [sheet.tail for sheet in sheets]
        for sheet in sheets:
            parent.remove(sheet)
        for place, (old, tail) in enumerate(zip(order, tails, strict=True)):
            sheets[old].tail = tail
            parent.insert(place, sheets[old])
        places = {old: new for new, old in enumerate(order)}
        for element in self._root.iterfind("{*}definedNames/{*}definedName"):
            _renumber(element, "localSheetId", places)
        for view in self._root.iterfind("{*}bookViews/{*}workbookView"):
            _renumber(view, "activeTab", places)
            if "activeTab" not in view.attrib and places[0]:
                # Without a number it is the first sheet, which has moved.
                view.set("activeTab", str(places[0]))
        self.is_changed = True

    def hide(self, tab: int, *, is_hidden: bool) -> int | None:
        """Hide or show a sheet; return the sheet that people see first from then on, if another."""
        sheet = self._sheets()[tab]
        if is_hidden:
            sheet.set("state", "hidden")
        else:
            sheet.attrib.pop("state", None)
        self.is_changed = True
        found = None
        shown = [place for place, each in enumerate(self.tabs) if not each.is_hidden]
        for view in self._root.iterfind("{*}bookViews/{*}workbookView"):
            if is_hidden and whole_number(view.get("activeTab", "0")) == tab:
                found = _nearest(shown, tab)
                view.set("activeTab", str(found))
            if is_hidden and view.get("firstSheet", "") == str(tab):
                view.attrib.pop("firstSheet")
        return found

    def copy_names(self, tab: int, to: int, change: Callable[[str], str]) -> list[str]:
        """Copy the names that belong to a sheet to another one; return them."""
        parent = self._child("definedNames")
        found = []
        for element in list(parent) if parent is not None else ():
            if isinstance(element.tag, str) and element.get("localSheetId") == str(tab):
                made = deepcopy(element)
                made.set("localSheetId", str(to))
                made.text = change(element.text or "")
                parent.append(made)
                found.append(element.get("name", ""))
        self.is_changed = self.is_changed or bool(found)
        return found

    def set_name(self, name: str, tab: int | None, text: str, *, hidden: bool = True) -> None:
        """Set a name of a sheet, such as that of its filter, or for None of the workbook.

        Args:
            name: The name; one that differs in case alone is the same.
            tab: The place of the sheet.
            text: What it refers to, without "=".
            hidden: Whether programs hide one that is made here.
        """
        element = self._named(name, tab)
        if element is None:
            parent = self._child("definedNames")
            if parent is None:
                parent = self._made("definedNames")
            element = etree.SubElement(parent, f"{self._space}definedName")
            element.set("name", name)
            if tab is not None:
                element.set("localSheetId", str(tab))
            if hidden:
                element.set("hidden", "1")
        if element.text != text:
            element.text = text
            self.is_changed = True

    def remove_name(self, name: str, tab: int | None) -> None:
        """Take a name out, if it is there."""
        element = self._named(name, tab)
        if element is not None:
            element.getparent().remove(element)
            self._drop_if_empty("definedNames")
            self.is_changed = True

    def _named(self, name: str, tab: int | None) -> Any:
        scope = None if tab is None else str(tab)
        for element in self._root.iterfind("{*}definedNames/{*}definedName"):
            same = element.get("name", "").casefold() == name.casefold()
            if same and element.get("localSheetId") == scope:
                return element
        return None

    def put_names(self, texts: Sequence[str | None]) -> None:
        """Set the texts of all defined names, in the order of `names`; None takes one out."""
        found = list(self._root.iterfind("{*}definedNames/{*}definedName"))
        parent = self._child("definedNames")
        for element, text in zip(found, texts, strict=True):
            if text is None:
                parent.remove(element)
            elif text != (element.text or ""):
                element.text = text
            else:
                continue
            self.is_changed = True
        self._drop_if_empty("definedNames")

    def ask_for_calculation(self) -> None:
        """Have programs that calculate do so when they open the workbook.

        Not all do: LibreOffice passes over it, so stale results are taken out as well.
        """
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
            local = local_name(child)
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
        # A new sheet must use the same one: programs do not look for the id in another.
        for element in self._sheets():
            for key in element.attrib:
                space, _, local = str(key).rpartition("}")
                if local == "id" and space:
                    return space.lstrip("{")
        strict = re.match(r"\{http://purl\.oclc\.org/ooxml/", self._space)
        if strict:
            return "http://purl.oclc.org/ooxml/officeDocument/relationships"
        return _REFERENCE_NAMESPACE


def _renumber(element: Any, key: str, places: Mapping[int, int]) -> None:
    """Have an attribute that counts sheets count the same one in its new position."""
    word = element.get(key, "")
    if word.isdigit() and whole_number(word) in places:
        element.set(key, str(places[whole_number(word)]))


def _nearest(places: Sequence[int], to: int) -> int:
    return min(places, key=lambda place: abs(place - to))


def _tab(element: Any) -> SheetTab:
    # The attribute's namespace differs by variant, its local name does not.
    relation = next((v for k, v in element.attrib.items() if str(k).endswith("}id")), "")
    number = element.get("sheetId", "0")
    hidden = element.get("state", "visible") != "visible"
    return SheetTab(element.get("name", ""), str(relation), whole_number(number), hidden)


_EVERYWHERE = Area(1, 1, 1_048_576, 16_384)


class TablePart:
    """A table, read and changed.

    Args:
        part: The name of its part.
        root: Its root element, which is changed in place.
    """

    def __init__(self, part: str, root: etree._Element) -> None:
        self.part = part
        self._root = root
        self.is_changed = False

    def reload(self, root: etree._Element) -> None:
        """Take over the part as another edit has written it; pending changes must be written."""
        self._root = root

    @property
    def name(self) -> str:
        """The name by which formulas call it."""
        return self._root.get("displayName") or self._root.get("name") or ""

    def identify(self, name: str, number: int) -> None:
        """Give the table another name and number."""
        for key in ("name", "displayName"):
            self._root.set(key, name)
        self._root.set("id", str(number))
        # It is of one table alone.
        for uid in [str(each) for each in self._root.attrib if str(each).endswith("}uid")]:
            self._root.attrib.pop(uid)
        self.is_changed = True

    @property
    def area(self) -> Area:
        """Its cells, the rows of its header and its totals among them."""
        return parse_area(self._root.get("ref", "A1"), _EVERYWHERE)

    @property
    def header_rows(self) -> int:
        """Number of header rows: 1 or 0."""
        return _count(self._root.get("headerRowCount", "1"))

    @property
    def totals_rows(self) -> int:
        """Number of totals rows: 0 or 1."""
        return _count(self._root.get("totalsRowCount", "0"))

    @property
    def columns(self) -> list[str]:
        """The names of its columns, as cells hold them."""
        return [_plain(column.get("name", "")) for column in self._columns()]

    @property
    def formulas(self) -> list[str]:
        """The formulas of its calculated columns and of its totals."""
        found = self._root.iter("{*}calculatedColumnFormula", "{*}totalsRowFormula")
        return [element.text or "" for element in found]

    @property
    def number(self) -> int:
        """Its number, which no other table of the workbook has."""
        return whole_number(self._root.get("id", "0"))

    @property
    def is_query(self) -> bool:
        """Whether its rows come from outside: a query or an XML map."""
        return self._root.get("tableType", "worksheet") != "worksheet"

    @property
    def has_criteria(self) -> bool:
        """Whether its filter hides rows."""
        return next(self._root.iterfind("{*}autoFilter/{*}filterColumn"), None) is not None

    def reshape(self, area: Area, added: Mapping[int, str]) -> None:
        """Have the table cover other columns and rows of the sheet.

        Args:
            area: Its cells, the header among them.
            added: The names of columns that it has not had, by the sheet's column.
        """
        old = self.area
        parent = self._root.find("{*}tableColumns")
        assert parent is not None
        columns = dict(enumerate(self._columns(), old.left))
        number = max((whole_number(each.get("id", "0")) for each in columns.values()), default=0)
        for column, element in columns.items():
            if not area.left <= column <= area.right:
                parent.remove(element)
        for place, column in enumerate(range(area.left, area.right + 1)):
            if column in added:
                number += 1
                parent.insert(place, _column(parent, number, added[column]))
        parent.set("count", str(area.right - area.left + 1))
        self.resize(area.bottom)
        self._root.set("ref", _ref(area))
        found = self._root.find("{*}autoFilter")
        if found is not None:
            found.set("ref", _ref(msgspec.structs.replace(area, bottom=self._filter_end(area))))
        self.is_changed = True

    def _filter_end(self, area: Area) -> int:
        # A filter leaves out the row of totals.
        return area.bottom - self.totals_rows

    def rename(self, column: int, name: str) -> None:
        """Rename a column, counted from 0.

        Raises:
            ValidationFailed: The name is empty or another column's.
        """
        folded = [known.casefold() for known in self.columns]
        if not name or name.casefold() in folded[:column] + folded[column + 1 :]:
            raise ValidationFailed(
                f"the header of table {self.name} needs a text that no other column has"
            )
        element = self._columns()[column]
        if _plain(element.get("name", "")) != name:
            element.set("name", _escaped(name))
            self.is_changed = True

    def resize(self, bottom: int) -> None:
        """Have the table, and its filter, end at another row of the sheet."""
        old = self.area
        if bottom == old.bottom:
            return
        self._root.set("ref", _ref(Area(old.top, old.left, bottom, old.right)))
        found = self._root.find("{*}autoFilter")
        if found is not None:
            filtered = Area(old.top, old.left, bottom, old.right)
            end = self._filter_end(filtered)
            found.set("ref", _ref(msgspec.structs.replace(filtered, bottom=end)))
        # How it was sorted last is of the old rows; an order that reaches past them is damage.
        for order in list(self._root.iter("{*}sortState")):
            parent = order.getparent()
            if parent is not None:
                parent.remove(order)
        self.is_changed = True

    def xml(self) -> bytes:
        """Return the part's bytes."""
        return xml_bytes(self._root)

    def _columns(self) -> list[Any]:
        return list(self._root.iterfind("{*}tableColumns/{*}tableColumn"))


def _column(parent: Any, number: int, name: str) -> Any:
    """Return a new column of a table."""
    space = str(parent.tag).rpartition("}")[0] + "}"
    element = etree.Element(f"{space}tableColumn", nsmap=parent.nsmap)
    element.set("id", str(number))
    element.set("name", _escaped(name))
    return element


def new_table(namespace: str, number: int, name: str, area: Area, columns: list[str]) -> Any:
    """Return the root of a table's part, with a filter and without totals.

    Args:
        namespace: That of the workbook.
        number: Its number, which no other table has.
        name: By which formulas call it.
        area: Its cells, the header among them.
        columns: The texts of its header.
    """
    # The stubs do not know that the plain namespace's prefix is None.
    nsmap: Any = {None: namespace}
    root = etree.Element(f"{{{namespace}}}table", nsmap=nsmap)
    for key, value in (("id", str(number)), ("name", name), ("displayName", name)):
        root.set(key, value)
    root.set("ref", _ref(area))
    root.set("totalsRowShown", "0")
    etree.SubElement(root, f"{{{namespace}}}autoFilter").set("ref", _ref(area))
    parent = etree.SubElement(root, f"{{{namespace}}}tableColumns")
    parent.set("count", str(len(columns)))
    parent.extend([_column(parent, place, text) for place, text in enumerate(columns, 1)])
    return root


def _ref(area: Area) -> str:
    """Write a range with both ends, as tables have it."""
    text = str(area)
    return text if ":" in text else f"{text}:{text}"


def _escaped(name: str) -> str:
    # An attribute cannot hold a line break: the format escapes it.
    return name.replace("\n", "_x000a_")


def _plain(name: str) -> str:
    return name.replace("_x000a_", "\n").replace("_x000A_", "\n")


def _count(text: str) -> int:
    return whole_number(text) if text.isdigit() else 1
