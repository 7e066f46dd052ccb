"""What workbooks hold, for the checker of receipts: the standard library alone.

It shares nothing with what edits workbooks or makes their receipts; see `docs/reference/receipts`.
"""

from __future__ import annotations

import posixpath
import re
import weakref
from typing import Any

__all__ = ["TYPES", "part_titles", "read_part"]

_OFFICE = "application/vnd.openxmlformats-officedocument.spreadsheetml."

TYPES = {_OFFICE + "worksheet+xml": "sheet"}
"""The parts that are taken apart, with what they are called."""

_BOOKS: Any = weakref.WeakKeyDictionary()
"""Shared texts and formats of numbers of the packages at hand: all sheets of one point to them."""

_CELL = re.compile("([A-Z]{1,3})([1-9][0-9]{0,6})")


def read_part(kind: str, package: Any, name: str, markup: Any) -> dict[str, Any]:
    """Return the lists of a sheet: what an item is called, the items, what writes an address."""
    del kind
    return _Sheet(package, name, markup).lists()


class _Sheet:
    """One sheet, while it is read."""

    def __init__(self, package: Any, name: str, markup: Any) -> None:
        self._package, self._name, self._markup = package, name, markup
        if package not in _BOOKS:
            _BOOKS[package] = (self._shared_texts(), self._number_formats())
        self._texts, self._formats = _BOOKS[package]
        self._rows: dict[int, Any] = {}
        self._cells: dict[tuple[int, int], Any] = {}
        self._row = 0

    def lists(self) -> dict[str, Any]:
        """Read the sheet."""
        markup = self._markup
        root = markup.read_markup(
            self._package.blocks(self._name),
            lambda tag, parent: tag.endswith("}row") and parent.endswith("}sheetData"),
            lambda: 0,
            lambda _, row: self._take(row),
        )
        rest = markup.element_items(root, frozenset(("sheetData",)))
        return {
            "cells": ("cell", self._cells, _cell_name),
            "rows": ("row", self._rows, str),
            "elements": ("element", rest, None),
        }

    def _refuse(self, why: str) -> Exception:
        from_markup: type[Exception] = self._markup.Damaged
        return from_markup(why)

    def _take(self, row: Any) -> None:
        written = row.get("r")
        if written is not None and not re.fullmatch("[0-9]{1,7}", written):
            raise self._refuse("a row has no number")
        self._row = self._row + 1 if written is None else int(written)
        if self._row in self._rows:
            raise self._refuse("two rows have one number")
        markup, column = self._markup, 0
        others = []
        for child in row:
            if markup.local_name(child.tag) != "c":
                others.append(markup.write_element(child))
                continue
            column = self._column(child.get("r"), column)
            key = (self._row, column)
            if key in self._cells:
                raise self._refuse("two cells have one address")
            if len(self._cells) >= markup.MAX_ITEMS:
                raise self._refuse("a sheet has more cells than are read here")
            self._cells[key] = self._cell(child)
        told = markup.write_start(row, "r") + "".join(others)
        look = {each: row.get(each) for each in ("hidden", "ht", "s") if row.get(each)}
        self._rows[self._row] = (markup.sha256_text(told), {"attributes": look})

    def _column(self, written: str | None, last: int) -> int:
        if written is None:
            return last + 1
        found = _CELL.fullmatch(written)
        if found is None or int(found.group(2)) != self._row:
            raise self._refuse("a cell is not where it says")
        number = 0
        for letter in found.group(1):
            number = 26 * number + "ABCDEFGHIJKLMNOPQRSTUVWXYZ".index(letter) + 1
        return number

    def _cell(self, cell: Any) -> Any:
        markup = self._markup
        kind, style = cell.get("t", "n"), cell.get("s", "0")
        look = ""
        if re.fullmatch("[0-9]{1,7}", style) and int(style) < len(self._formats):
            look = self._formats[int(style)]
        shown: dict[str, Any] = {"type": kind, "style": style}
        shown.update(markup.cut_text("number_format", look))
        value = ""
        for child in cell:
            word = markup.local_name(child.tag)
            if word == "f":
                shown.update(markup.cut_text("formula", child.text or ""))
            elif word == "is":
                value = self._plain(child)
            elif word == "v":
                value = child.text or ""
                if kind == "s":
                    is_number = re.fullmatch("[0-9]{1,8}", value)
                    if is_number and int(value) < len(self._texts):
                        digest, value = self._texts[int(value)]
                        child.text = "si:" + digest
                    else:
                        child.text, value = "si:?" + value, ""
        shown.update(markup.cut_text("value", value))
        return markup.sha256_text(markup.write_element(cell, "r"), "\n", look), shown

    def _plain(self, element: Any) -> str:
        """Return the text of a rich text; how it is pronounced is no part of it."""
        pieces = []
        for child in element:
            word = self._markup.local_name(child.tag)
            if word == "t":
                pieces.append(child.text or "")
            elif word != "rPh":
                pieces.append(self._plain(child))
        return "".join(pieces)

    def _root_of(self, kind: str) -> Any:
        for name in self._package.infos:
            if self._package.content_type(name) == _OFFICE + kind + "+xml":
                return _root(self._package, name, self._markup)
        return ()

    def _shared_texts(self) -> list[tuple[str, str]]:
        markup = self._markup
        return [
            (markup.sha256_text(markup.write_element(each)), self._plain(each))
            for each in self._root_of("sharedStrings")
            if markup.local_name(each.tag) == "si"
        ]

    def _number_formats(self) -> list[str]:
        """Return the format of numbers of each cell format: its text, or # and its number."""
        root = self._root_of("styles")
        groups = {self._markup.local_name(each.tag): each for each in root}
        own = {
            each.get("numFmtId", ""): each.get("formatCode", "")
            for each in groups.get("numFmts", ())
        }
        numbers = [
            each.get("numFmtId", "0") for each in groups.get("cellXfs", ())
            if self._markup.local_name(each.tag) == "xf"
        ]  # fmt: skip
        return [own.get(number, "#" + number) for number in numbers]


def _root(package: Any, name: str, markup: Any) -> Any:
    return markup.read_markup(
        package.blocks(name), lambda _tag, _parent: False, lambda: 0, lambda _number, _row: None
    )


def _cell_name(key: tuple[int, int]) -> str:
    row, column = key
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[rest] + letters
    return letters + str(row)


def _relations(package: Any, part: str, markup: Any) -> dict[str, tuple[str, str]]:
    """Return the relations of a part: the last word of the type, and the part, by their ids."""
    folder, base = posixpath.split(part)
    name = package.part(posixpath.join(folder, "_rels", base + ".rels"))
    if name is None:
        return {}
    found: dict[str, tuple[str, str]] = {}
    for each in _root(package, name, markup):
        if each.get("TargetMode", "") == "External":
            continue
        target = each.get("Target", "").replace("\\", "/")
        whole = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
        found[each.get("Id", "")] = (each.get("Type", "").rpartition("/")[2], whole)
    return found


def part_titles(package: Any, markup: Any) -> dict[str, str]:
    """Return the names of sheets, by their parts in lower case."""
    mains = [
        part for kind, part in _relations(package, "", markup).values() if kind == "officeDocument"
    ]
    name = package.part(mains[0]) if mains else None
    if name is None:
        return {}
    targets = _relations(package, mains[0], markup)
    found: dict[str, str] = {}
    for group in _root(package, name, markup):
        if markup.local_name(group.tag) != "sheets":
            continue
        for sheet in group:
            ids = [value for key, value in sheet.items() if key.endswith("/relationships}id")]
            if ids and ids[0] in targets:
                found.setdefault(targets[ids[0]][1].lower(), sheet.get("name", ""))
    return found
