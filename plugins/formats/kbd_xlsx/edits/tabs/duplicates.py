"""A sheet copied with the parts that it leads to: charts, pictures, notes, tables, pivot tables.

Formulas, names and charts of the copy that name the sheet name the copy. Tables get names that are
free, by which the formulas of the copy call them.
"""

import re
from collections.abc import Callable
from xml.sax.saxutils import escape

from kbd.errors import ValidationFailed
from kbd.opc.package import Relation
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.edits.tabs.order import with_selected
from kbd_xlsx.edits.tabs.renames import check_new_name
from kbd_xlsx.edits.tabs.sheet_names import SheetRename
from kbd_xlsx.operations import CopySheet
from kbd_xlsx.parts.book import TablePart

__all__ = ["copy_sheet"]

_KINDS = {
    "comments": "notes", "vmlDrawing": "notes", "threadedComment": "comments",
    "drawing": "drawings", "table": "tables", "pivotTable": "pivot tables",
    "printerSettings": "printer settings", "hyperlink": "links", "image": "pictures",
    "chart": "charts", "chartEx": "charts", "chartStyle": "charts", "chartColorStyle": "charts",
    "chartUserShapes": "charts", "themeOverride": "charts", "package": "charts",
    "pivotCacheDefinition": "pivot tables",
    "diagramData": "diagrams", "diagramLayout": "diagrams", "diagramQuickStyle": "diagrams",
    "diagramColors": "diagrams", "diagramDrawing": "diagrams",
}  # fmt: skip
"""Kinds of relations that a copy can have, by their last word."""

_SHARED = ("image", "pivotCacheDefinition", "package")
"""Kinds whose parts the copy leads to as well, without copies of their own."""

_NUMBERED = re.compile(r"\d*(\.\w+)$")
_CODE_NAME = re.compile(rb"(<(?:[\w.-]+:)?sheetPr\b[^<>]*?)\s+codeName=(?:\"[^\"]*\"|'[^']*')")


def copy_sheet(book: BookEdit, operation: CopySheet) -> str:
    """Copy a sheet and say what came along.

    Raises:
        ValidationFailed: The name is taken or none, or the sheet has what cannot be copied
            (controls, embedded objects, slicers, macros), which is named.
    """
    title, name = book.title(operation.sheet), operation.name
    check_new_name(book, name)
    # Asked for its refusals: a sheet of a chart has no cells.
    book.sheet(title)
    book.flush()
    _check(book, title)
    part = book.part(title)
    book.ensure(name)
    book.made.discard(name)
    target = book.part(name)
    copier = _PartCopier(book, SheetRename(title, name))
    relations = book.rewriting.relations(part)
    copied = [copier.copied(relation) for relation in relations]
    if copied:
        book.rewriting.put_relations(target, copied)
    data = _CODE_NAME.sub(rb"\1", book.rewriting.read(part))
    book.rewriting.put(target, copier.renamed(data))
    with_selected(book, name, is_selected=False)
    tabs = book.titles
    names = book.book.copy_names(tabs.index(title), tabs.index(name), copier.formula)
    book.results.formulas_differ = True
    book.drop_calculation_chain()
    kinds = dict.fromkeys(_KINDS[relation.kind] for relation in relations)
    kinds |= {"names": None} if names else {}
    more = f", with its {', '.join(kinds)}" if kinds else ""
    return f"{name}: copy of {title}{more}"


def _check(book: BookEdit, title: str) -> None:
    main = {relation.kind for relation in book.rewriting.relations(book.main)}
    reason = "the workbook has macros, which know its sheets" if "vbaProject" in main else ""
    for relation in book.rewriting.relations(book.part(title)):
        if relation.kind not in _KINDS:
            reason = f"its {relation.kind} cannot be copied"
        elif not relation.external and relation.target not in book.rewriting:
            reason = f"its part {relation.target} is missing"
    number = book.book.tabs[book.titles.index(title)].sheet_id
    for part in book.rewriting.parts():
        is_tied = "slicerCache" in part or "timelineCache" in part
        if is_tied and f'tabId="{number}"'.encode() in book.rewriting.read(part):
            reason = "a slicer or timeline is tied to it"
    if reason:
        raise ValidationFailed(f"{title} cannot be copied: {reason}; copy its cells by copy_range")


class _PartCopier:
    """Copies the parts that a sheet leads to.

    Args:
        book: The workbook.
        rename: The sheet's name and that of the copy.
    """

    def __init__(self, book: BookEdit, rename: SheetRename) -> None:
        self._book, self._rename = book, rename
        self._tables: dict[str, str] = {}
        self._done: dict[str, str] = {}
        taken = [table for each in book.titles for table in book.tables(each)]
        self._names = {table.name.casefold() for table in taken}
        self._names |= {each.name.casefold() for each in book.book.names}
        for table in book.tables(rename.old):
            self._tables[table.name] = self._free(table.name)
        self._next_id = 1 + max((table.number for table in taken), default=0)

    def formula(self, text: str) -> str:
        """Return a formula of the sheet as the copy has it."""
        return self._with_tables(self._rename.formula(text), lambda name: name)

    def renamed(self, data: bytes) -> bytes:
        """Return a part with the copy's names for those of the sheet and its tables."""
        data = self._rename.part(data)
        if self._tables and b"[" in data:
            text = data.decode("utf-8", "surrogateescape")
            data = self._with_tables(text, escape).encode("utf-8", "surrogateescape")
        return data

    def copied(self, relation: Relation) -> Relation:
        """Return a relation as the copy has it, with a copy of its part.

        Raises:
            ValidationFailed: The part leads to what cannot be copied.
        """
        if relation.external:
            target = relation.target
            sign = "#" if target.startswith("#") else ""
            new = sign + self._rename.formula(target[1:]) if sign else target
            return Relation(relation.id, relation.kind, new, external=True, type=relation.type)
        if relation.kind in _SHARED:
            return relation
        target = self._part(relation.target)
        return Relation(relation.id, relation.kind, target, external=False, type=relation.type)

    def _part(self, part: str) -> str:
        """Return the name of the copy of a part, made once, with all that it leads to."""
        known = self._done.get(part)
        if known is not None:
            return known
        rewriting = self._book.rewriting
        folder, slash, file = part.rpartition("/")
        pattern = f"{folder}{slash}" + _NUMBERED.sub(r"{}\1", file)
        target = rewriting.free_name(pattern)
        self._done[part] = target
        data = rewriting.read(part)
        if part.endswith((".xml", ".vml")):
            data = self.renamed(data)
        rewriting.add(target, data, rewriting.content_type(part))
        if part in {table.part for table in self._book.tables(self._rename.old)}:
            self._name_table(target)
        relations = rewriting.relations(part)
        for relation in relations:
            if relation.kind not in _KINDS:
                raise ValidationFailed(
                    f"{self._rename.old} cannot be copied: its {relation.kind} cannot be copied; "
                    "copy its cells by copy_range"
                )
        if relations:
            rewriting.put_relations(target, [self.copied(each) for each in relations])
        return target

    def _name_table(self, part: str) -> None:
        """Give the copy of a table its own name and number."""
        table = TablePart(part, self._book.rewriting.root(part))
        table.identify(self._tables.get(table.name, table.name), self._next_id)
        self._next_id += 1
        self._book.rewriting.put(part, table.xml())

    def _free(self, name: str) -> str:
        stem = name.rstrip("0123456789") or name
        number = 2
        while f"{stem}{number}".casefold() in self._names:
            number += 1
        found = f"{stem}{number}"
        self._names.add(found.casefold())
        return found

    def _with_tables(self, text: str, spell: Callable[[str], str]) -> str:
        """Return a text with the copies' names of tables before a bracket."""
        for old, new in self._tables.items():
            mark = rf"(?<![\w.\\?]){re.escape(spell(old))}(?=\[)"
            # Names of tables hold letters, digits, dots and underscores: nothing to escape.
            text = re.sub(mark, spell(new), text, flags=re.IGNORECASE)
        return text
