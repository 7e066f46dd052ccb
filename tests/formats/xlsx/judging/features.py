"""Compares what a sheet and the workbook hold beside cells: views, rules, links, names, tables."""

import copy
import re
from collections import Counter
from collections.abc import Iterator, Mapping

from judging.book import Book, Sheet
from judging.contents import plain
from judging.differences import Difference, Edit
from judging.package import Element, children, local
from judging.places import Place
from judging.substance import Resolve, lost, substance

__all__ = ["compare_features", "compare_tables", "compare_workbook"]

_ELSEWHERE = (
    "sheetData", "cols", "dimension", "mergeCells", "hyperlinks", "extLst", "tableParts",
    "drawing", "legacyDrawing", "legacyDrawingHF", "picture",
)  # fmt: skip
"""Elements of a sheet that are compared by what they mean, or by the parts they lead to."""

_LEADING = ("drawing", "legacyDrawing", "legacyDrawingHF", "picture", "tableParts")
"""Elements that make a program look at a part: without them the part is there in vain."""

_MATERIAL_GAINS = ("conditionalFormatting", "dataValidations", "sheetProtection", "autoFilter")
_IMMATERIAL = (
    "ignoredErrors", "phoneticPr", "sheetCalcPr", "smartTags", "fileVersion", "revisionPtr",
    "fileRecoveryPr", "webPublishing", "smartTagPr", "smartTagTypes",
)  # fmt: skip
_IMMATERIAL_LINES = re.compile(
    r"calcPr@(calcId|fullCalcOnLoad|calcCompleted|calcOnSave|forceFullCalc)="
    r"|workbookView@(xWindow|yWindow|windowWidth|windowHeight|tabRatio)="
    r"|workbookPr@(defaultThemeVersion|updateLinks|saveExternalLinkValues|filterPrivacy"
    r"|hidePivotFieldList|showPivotChartFilter|checkCompatibility|backupFile)="
    r"|table@id=|@(workbookViewId|tabSelected|rupBuild|dyDescent|count|uniqueCount|lastEdited)="
    r"|sheetFormatPr@(baseColWidth|outlineLevel\w+|defaultRowHeight|customHeight)="
    r"|absPath|^[^@=]*$"
)
"""Lines whose loss nobody can see: geometry of windows, marks of versions, empty elements."""

_IMMATERIAL_EXTENSIONS = (
    "{EB79DEF2-80B8-43E5-95BD-54CBDDF9020C}",
    "{9260A510-F301-46A8-8635-F512D64BE5F5}",
    "{140A7094-0E35-4892-8432-C4D2E57EDEB5}",
    "{B58B0392-4F1F-4190-BB64-5DF3571DCE5F}",
    "{79F54976-1DA5-4618-B147-4CDE4B953A38}",
)
"""The default names of styles of slicers and timelines, and marks of how values are calculated."""


def _compare_lines(
    kind: str, place: str, was: Counter[str], now: Counter[str], *, gains: bool
) -> Iterator[Difference]:
    loss = lost(was, now)
    gone = [line for line in loss.gone if not _IMMATERIAL_LINES.search(line)]
    if gone:
        yield Difference(kind, place, "; ".join(gone)[:400], "; ".join(loss.came)[:400])
    elif loss.gone:
        yield Difference(kind, place, loss.gone[0], "; ".join(loss.came)[:400], material=False)
    elif loss.came:
        yield Difference(kind, place, "", "; ".join(loss.came)[:400], gains)


def _by_name(root: Element) -> dict[str, list[Element]]:
    groups: dict[str, list[Element]] = {}
    for child in root:
        if name := local(child):
            groups.setdefault(name, []).append(child)
    return groups


def _lines(
    elements: list[Element], resolve: Mapping[str, Resolve], without: tuple[str, ...] = ()
) -> Counter[str]:
    total: Counter[str] = Counter()
    for element in elements:
        total += substance(element, resolve, without)
    return total


def _styled(book: Book) -> dict[str, Resolve]:
    """Attributes that point into the list of differential styles."""

    def style(_: str, value: str) -> str:
        return book.looks.differential(value)

    names = ("dxfId", "headerRowDxfId", "dataDxfId", "totalsRowDxfId", "headerRowBorderDxfId",
             "tableBorderDxfId", "totalsRowBorderDxfId")  # fmt: skip
    return dict.fromkeys(names, style)


def _extensions(root: Element) -> dict[str, Counter[str]]:
    """What each extension says, by its address."""
    found: dict[str, Counter[str]] = {}
    for group in children(root, "extLst"):
        for extension in children(group, "ext"):
            uri = extension.get("uri", "").upper()
            found[uri] = found.get(uri, Counter()) + substance(extension)
    return found


def _compare_extensions(place: str, before: Element, after: Element) -> Iterator[Difference]:
    was, now = _extensions(before), _extensions(after)
    for uri in was.keys() | now.keys():
        if uri in _IMMATERIAL_EXTENSIONS:
            continue
        one, other = was.get(uri, Counter()), now.get(uri, Counter())
        if uri not in now:
            yield Difference("extension lost", f"{place} {uri}", next(iter(one), ""), "")
        else:
            yield from _compare_lines("extension", f"{place} {uri}", one, other, gains=True)


def _links(sheet: Sheet) -> Counter[str]:
    found: Counter[str] = Counter()
    for group in children(sheet.root, "hyperlinks"):
        for element in children(group, "hyperlink"):
            said = {str(k).rpartition("}")[2]: str(v) for k, v in element.attrib.items()}
            said.pop("uid", "")
            link = sheet.book.parts.linked(sheet.part, said.pop("id", None))
            target = link.target if link else ""
            found[f"{sorted(said.items())} -> {target}"] += 1
    return found


def compare_features(before: Sheet, after: Sheet, edit: Edit) -> Iterator[Difference]:
    """Compare everything of a worksheet but its cells and the parts it leads to."""
    title = before.title
    old, new = _by_name(before.root), _by_name(after.root)
    for name in sorted(old.keys() | new.keys()):
        if name in _ELSEWHERE:
            continue
        without = ("pane", "selection") if title in edit.frozen else ()
        was = _lines(old.get(name, []), _styled(before.book), without)
        now = _lines(new.get(name, []), _styled(after.book), without)
        if name == "sheetViews" and title in edit.frozen:
            # Where a view begins is said anew with its panes.
            was = Counter({k: n for k, n in was.items() if "sheetView@topLeftCell=" not in k})
        for found in _compare_lines(name, title, was, now, gains=name in _MATERIAL_GAINS):
            yield found._replace(material=False) if name in _IMMATERIAL else found
    for name in _LEADING:
        if name in old and name not in new:
            yield Difference("link lost", title, name, "")
    merges = set(before.merges) ^ set(after.merges)
    if merges:
        yield Difference("merges", title, str(before.merges)[:200], str(after.merges)[:200])
    was, now = _links(before), _links(after)
    if was != now:
        yield Difference("hyperlinks", title, str(was - now)[:400], str(now - was)[:400])
    yield from _compare_extensions(title, before.root, after.root)


def compare_workbook(before: Book, after: Book, edit: Edit) -> Iterator[Difference]:
    """Compare the workbook part: tabs, names, views, protection, extensions."""
    was = [(sheet.title, sheet.state, sheet.kind) for sheet in before.sheets]
    now = [(sheet.title, sheet.state, sheet.kind) for sheet in after.sheets]
    wanted = [*was, *((title, "visible", "worksheet") for title in edit.added)]
    if wanted != now:
        yield Difference("sheets", "workbook", str(wanted)[:400], str(now)[:400])
    for key in before.names.keys() | after.names.keys():
        one, other = before.names.get(key), after.names.get(key)
        if one is None or other is None or re.sub(r"[' ]", "", one) != re.sub(r"[' ]", "", other):
            yield Difference("defined name", f"{key[1]}!{key[0]}", str(one), str(other))
    old, new = _by_name(before.root), _by_name(after.root)
    for name in sorted(old.keys() | new.keys()):
        if name in ("sheets", "definedNames", "externalReferences", "extLst"):
            continue
        one_lines, other_lines = _lines(old.get(name, []), {}), _lines(new.get(name, []), {})
        for found in _compare_lines(name, "workbook", one_lines, other_lines, gains=False):
            yield found._replace(material=False) if name in _IMMATERIAL else found
    yield from _compare_extensions("workbook", before.root, after.root)


def _header_texts(book: Book, sheet: str, top: int, left: int, count: int) -> list[str]:
    cells = book.sheet(sheet).cells
    found = [cells.get(Place(top, left + step)) for step in range(count)]
    return [str(plain(cell.value)) if cell else "" for cell in found]


def compare_tables(before: Book, after: Book, edit: Edit) -> Iterator[Difference]:
    """Compare tables; where a header cell was meant to change, its column is to be renamed."""
    for sheet in before.sheets:
        try:
            partner = after.sheet(sheet.title)
        except KeyError:
            continue
        old = {_name(before, part): part for part in before.parts.of_kind(sheet.part, "table")}
        new = {_name(after, part): part for part in after.parts.of_kind(partner.part, "table")}
        for name in old.keys() | new.keys():
            if name not in old or name not in new:
                yield Difference(
                    "table", f"{sheet.title} {name}", str(old.get(name)), str(new.get(name))
                )
                continue
            wanted = _renamed(before, name, before.parts.root(old[name]), edit)
            was = substance(wanted, _styled(before))
            now = substance(after.parts.root(new[name]), _styled(after))
            yield from _compare_lines("table", f"{sheet.title} {name}", was, now, gains=False)
    sound = {table.name for table in before.tables if _headed(before, table.name)}
    for table in after.tables:
        if table.name in sound and not _headed(after, table.name):
            yield Difference("table header unlike its columns", table.name, str(table.columns), "")


def _name(book: Book, part: str) -> str:
    return book.parts.root(part).get("displayName", "").lower()


def _headed(book: Book, name: str) -> bool:
    """Whether the header cells of a table hold the names of its columns, as they must."""
    table = next(table for table in book.tables if table.name == name)
    if not table.header_rows:
        return True
    area = table.area
    texts = _header_texts(book, table.sheet, area.top, area.left, len(table.columns))
    return texts == [plain(column) for column in table.columns]


def _renamed(book: Book, name: str, root: Element, edit: Edit) -> Element:
    """A table as the edit means it: columns renamed, in its own formulas, too."""
    table = next(table for table in book.tables if table.name == name)
    meant = edit.on(table.sheet)
    root = copy.deepcopy(root)
    columns = [column for group in children(root, "tableColumns") for column in group]
    columns = [column for column in columns if local(column) == "tableColumn"]
    for step, column in enumerate(columns):
        place = Place(table.area.top, table.area.left + step)
        value = meant.get(place)
        if table.header_rows and isinstance(value, str):
            was = column.get("name", "")
            column.set("name", re.sub("\n", "_x000a_", value))
            for element in root.iter():
                if local(element) in ("calculatedColumnFormula", "totalsRowFormula"):
                    element.text = (element.text or "").replace(f"[{was}]", f"[{value}]")
    return root
