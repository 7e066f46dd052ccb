"""Files of five formats in memory, edited at random: which edit last touched each of their parts.

A part has a stem, by which it is known again, and a token that each edit makes anew. It keeps the
numbers of the edits that touched it, the newest first; 0 is the file as a person added it. Each
edit of a file is one tool call, which does to the real file what was done to this one.
"""

import copy
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from random import Random
from typing import Any

import msgspec

__all__ = ["KINDS", "BlamedFile", "Part", "make_file"]

_WORDS = (
    "alder", "ash", "beech", "birch", "cedar", "elm", "fir", "hazel", "holly", "juniper", "larch",
    "lime", "maple", "oak", "pine", "rowan", "spruce",
)  # fmt: skip


class Part(msgspec.Struct):
    """A part of a file.

    Args:
        uid: What it is, whatever its text and place.
        stem: The text that it always has.
        token: What the last edit wrote behind that; "" if it wrote nothing.
        edits: The edits that touched it, the newest first, down to the one that made it.
    """

    uid: int
    stem: str
    token: str
    edits: list[int]

    @property
    def text(self) -> str:
        """What it says."""
        return f"{self.stem} {self.token}".strip()

    def touch(self, edit: int, token: str) -> None:
        """Write another token."""
        self.token = token
        self.edits.insert(0, edit)


class BlamedFile(ABC):
    """A file of parts.

    Args:
        path: Its name.
        chance: Decides what its parts say.
    """

    def __init__(self, path: str, chance: Random) -> None:
        self.path, self.chance = path, chance
        self.removed: dict[int, int] = {}
        self.moved: list[int] = []
        self.begun = False
        self._next = 0

    def copied(self) -> "BlamedFile":
        """Return the file as it is now; chance goes on for both."""
        chance, self.chance = self.chance, Random(0)
        twin = copy.deepcopy(self)
        self.chance = twin.chance = chance
        return twin

    def part(self, edit: int) -> Part:
        """Return a new part that an edit makes."""
        self._next += 1
        words = " ".join(self.chance.sample(_WORDS, 6))
        return Part(self._next, f"{words} n{self._next}", self.token(), [edit])

    def token(self) -> str:
        """Return a new token."""
        return f"t{self.chance.randrange(10**9):09}"

    @abstractmethod
    def parts(self) -> Iterator[Part]:
        """Yield all parts."""

    @abstractmethod
    def make(self, edit: int) -> None:
        """Fill the file."""

    @abstractmethod
    def change(self, edit: int) -> tuple[str, dict[str, Any]]:
        """Edit the file and return the call, tool and arguments, that does the same."""

    @abstractmethod
    def at(self, place: dict[str, Any]) -> list[Part]:
        """Return the parts at a place as the wire has it; none if that is none of the parts'."""

    @abstractmethod
    def place(self, part: Part) -> str:
        """Return the place of a part as people write it."""

    def creation(self, edit: int) -> tuple[str, dict[str, Any]]:
        """Make the file by a call."""
        self.make(edit)
        return self.whole()

    @abstractmethod
    def whole(self) -> tuple[str, dict[str, Any]]:
        """Return the call that makes the file as it is."""

    def touched(self, edit: int, parts: list[Part]) -> list[Part]:
        """Give some parts new tokens and return them."""
        chosen = self.chance.sample(parts, min(len(parts), self.chance.randint(1, 2)))
        for part in chosen:
            part.touch(edit, self.token())
        return chosen

    def take_out(self, edit: int, parts: list[Part]) -> None:
        """Remember by which edit parts went."""
        self.removed.update({part.uid: edit for part in parts})


class TextFile(BlamedFile):
    """Lines of a text."""

    lines: list[Part]

    def make(self, edit: int) -> None:
        """Write twelve lines."""
        self.lines = [self.part(edit) for _ in range(12)]

    def parts(self) -> Iterator[Part]:
        """Yield the lines."""
        yield from self.lines

    def change(self, edit: int) -> tuple[str, dict[str, Any]]:
        """Change, add and take out lines."""
        chance = self.chance
        old = list(self.lines)
        if chance.random() < 0.4:
            self.lines.insert(chance.randint(0, len(self.lines)), self.part(edit))
        if chance.random() < 0.4 and len(self.lines) > 6:
            gone = chance.choice(old)
            self.lines.remove(gone)
            old.remove(gone)
            self.take_out(edit, [gone])
        self.touched(edit, old)
        return self.whole()

    def whole(self) -> tuple[str, dict[str, Any]]:
        """Return the call that writes all lines."""
        content = "".join(f"{part.text}\n" for part in self.lines)
        return "write_text_file", {"path": self.path, "content": content}

    def at(self, place: dict[str, Any]) -> list[Part]:
        """Return the line."""
        return [self.lines[place["line"] - 1]] if "line" in place else []

    def place(self, part: Part) -> str:
        """Return the line's number."""
        return f"line {self.lines.index(part) + 1}"


class _Rows(BlamedFile):
    """Rows of a table: a stem that stays, and two cells."""

    rows: list[tuple[Part, Part, Part]]

    def row(self, edit: int) -> tuple[Part, Part, Part]:
        """Return a new row."""
        stem = self.part(edit)
        stem.token = ""
        cells = self.part(edit), self.part(edit)
        for cell in cells:
            cell.stem = ""
        return stem, *cells

    def make(self, edit: int) -> None:
        """Write eight rows."""
        self.rows = [self.row(edit) for _ in range(8)]

    def parts(self) -> Iterator[Part]:
        """Yield the cells that change."""
        for _, first, second in self.rows:
            yield from (first, second)

    def cell_of(self, part: Part) -> tuple[int, int]:
        """Return row and column of a part, from 0."""
        for number, row in enumerate(self.rows):
            for column, cell in enumerate(row):
                if cell is part:
                    return number, column
        raise AssertionError(part)


class CsvFile(_Rows):
    """A table of delimited text, its rows with an id each."""

    HEADER = ("name", "amount", "note")

    def change(self, edit: int) -> tuple[str, dict[str, Any]]:
        """Change cells; add or take out a row."""
        chance = self.chance
        cells = list(self.parts())
        if chance.random() < 0.3:
            self.rows.insert(chance.randint(0, len(self.rows)), self.row(edit))
        elif chance.random() < 0.4 and len(self.rows) > 5:
            gone = chance.choice(self.rows)
            self.rows.remove(gone)
            cells = [cell for cell in cells if cell not in gone]
            self.take_out(edit, list(gone))
        self.touched(edit, cells)
        return self.whole()

    def whole(self) -> tuple[str, dict[str, Any]]:
        """Return the call that writes all rows."""
        lines = [",".join(self.HEADER), *(",".join(p.text for p in row) for row in self.rows)]
        return "write_text_file", {"path": self.path, "content": "\n".join(lines) + "\n"}

    def at(self, place: dict[str, Any]) -> list[Part]:
        """Return the cell, or the cells of a row."""
        if "row" not in place:
            return []
        row = self.rows[place["row"] - 1]
        return [row[self.HEADER.index(place["column"])]] if "column" in place else [*row]

    def place(self, part: Part) -> str:
        """Return row and column."""
        row, column = self.cell_of(part)
        return f"row {row + 1}, {self.HEADER[column]}"


class XlsxFile(_Rows):
    """A sheet of a workbook."""

    def change(self, edit: int) -> tuple[str, dict[str, Any]]:
        """Change and empty cells; add a row at the end."""
        chance, operations = self.chance, []
        cells = list(self.parts())
        if chance.random() < 0.3:
            self.rows.append(self.row(edit))
            values = [[part.text for part in self.rows[-1]]]
            start = f"A{len(self.rows)}"
            operations.append(
                {"op": "set_range", "sheet": "Data", "start": start, "values": values}
            )
        settings = []
        for part in self.touched(edit, cells):
            if chance.random() < 0.15:
                part.token = ""
            settings.append({"cell": self._name(part), "value": part.token or None})
        operations.append({"op": "set_cells", "sheet": "Data", "cells": settings})
        return "xlsx_operations", {"path": self.path, "operations": operations}

    def whole(self) -> tuple[str, dict[str, Any]]:
        """Return the call that makes the workbook."""
        values = [[part.text or None for part in row] for row in self.rows]
        operations: list[dict[str, Any]] = [
            {"op": "ensure_sheet", "sheet": "Data"},
            {"op": "set_range", "sheet": "Data", "start": "A1", "values": values},
        ]
        return "xlsx_operations", {
            "path": self.path, "operations": operations, "create_new": True,
        }  # fmt: skip

    def at(self, place: dict[str, Any]) -> list[Part]:
        """Return the cell, or those of rows."""
        if place.get("sheet") != "Data" or "part" in place:
            return []
        if "cell" in place:
            column, row = "ABC".find(place["cell"][0]), int(place["cell"][1:])
            return [self.rows[row - 1][column]] if row <= len(self.rows) else []
        rows = re.findall(r"\d+", place.get("range", ""))
        if len(rows) != 2:
            return []
        return [part for row in self.rows[int(rows[0]) - 1 : int(rows[1])] for part in row]

    def place(self, part: Part) -> str:
        """Return sheet and cell."""
        return f"Data!{self._name(part)}"

    def _name(self, part: Part) -> str:
        row, column = self.cell_of(part)
        return f"{'ABC'[column]}{row + 1}"


class DocxFile(BlamedFile):
    """Paragraphs of a document."""

    paragraphs: list[Part]

    def make(self, edit: int) -> None:
        """Write nine paragraphs."""
        self.paragraphs = [self.part(edit) for _ in range(9)]

    def parts(self) -> Iterator[Part]:
        """Yield the paragraphs."""
        yield from self.paragraphs

    def change(self, edit: int) -> tuple[str, dict[str, Any]]:
        """Change, add and take out paragraphs."""
        chance, operations = self.chance, []
        old = list(self.paragraphs)
        if chance.random() < 0.4:
            at = chance.randint(0, len(self.paragraphs))
            self.paragraphs.insert(at, new := self.part(edit))
            operations.append({"op": "insert_paragraph", "at": at + 1, "text": new.text})
        if chance.random() < 0.4 and len(self.paragraphs) > 5:
            gone = chance.choice(old)
            old.remove(gone)
            at = self.paragraphs.index(gone)
            del self.paragraphs[at]
            operations.append({"op": "delete_paragraphs", "from": at + 1, "count": 1})
            self.take_out(edit, [gone])
        before = {part.uid: part.token for part in old}
        operations += [
            {"op": "replace_text", "search": before[part.uid], "replace": part.token}
            for part in self.touched(edit, old)
        ]
        return "docx_operations", {"path": self.path, "operations": operations}

    def whole(self) -> tuple[str, dict[str, Any]]:
        """Return the call that makes the document."""
        texts = [{"text": part.text} for part in self.paragraphs]
        operations = [{"op": "set_paragraphs", "paragraphs": texts}]
        return "docx_operations", {
            "path": self.path, "operations": operations, "create_new": True,
        }  # fmt: skip

    def at(self, place: dict[str, Any]) -> list[Part]:
        """Return the paragraph."""
        if "paragraph" not in place or "table" in place or "part" in place:
            return []
        return [self.paragraphs[place["paragraph"]]]

    def place(self, part: Part) -> str:
        """Return the paragraph's number."""
        return f"paragraph {self.paragraphs.index(part) + 1}"


class PptxFile(BlamedFile):
    """Slides of a deck, each with a title and a body."""

    slides: list[tuple[Part, Part]]

    def make(self, edit: int) -> None:
        """Make four slides."""
        self.slides = [(self.part(edit), self.part(edit)) for _ in range(4)]

    def parts(self) -> Iterator[Part]:
        """Yield titles and bodies."""
        for slide in self.slides:
            yield from slide

    def change(self, edit: int) -> tuple[str, dict[str, Any]]:
        """Change texts; add, take out or move a slide."""
        chance, operations = self.chance, []
        for part in self.touched(edit, list(self.parts())):
            at = next(n for n, slide in enumerate(self.slides) if any(p is part for p in slide))
            name = "title" if self.slides[at][0] is part else "body"
            operations.append({"op": "set_slide_text", "index": at, name: part.text})
        match chance.choice(("", "", "add", "take", "move")):
            case "add":
                at = chance.randint(0, len(self.slides))
                self.slides.insert(at, (self.part(edit), self.part(edit)))
                operations.append(self._adding(at) | {"index": at})
            case "take" if len(self.slides) > 3:
                at = chance.randrange(len(self.slides))
                self.take_out(edit, [*self.slides.pop(at)])
                operations.append({"op": "delete_slide", "index": at})
            case "move":
                at, to = chance.sample(range(len(self.slides)), 2)
                self.slides.insert(to, self.slides.pop(at))
                self.moved.append(edit)
                operations.append({"op": "move_slide", "index": at, "to": to})
        return "pptx_operations", {"path": self.path, "operations": operations}

    def _adding(self, at: int) -> dict[str, Any]:
        title, body = self.slides[at]
        return {"op": "add_slide", "title": title.text, "body": body.text}

    def whole(self) -> tuple[str, dict[str, Any]]:
        """Return the call that makes the deck."""
        operations = [self._adding(at) for at in range(len(self.slides))]
        return "pptx_operations", {
            "path": self.path, "operations": operations, "create_new": True,
        }  # fmt: skip

    def at(self, place: dict[str, Any]) -> list[Part]:
        """Return the title or the body of a slide, or both."""
        if "slide" not in place or "part" in place:
            return []
        title, body = self.slides[place["slide"]]
        if "shape" not in place:
            return [title, body]
        return [title if ", Title" in place["title"] else body]

    def place(self, part: Part) -> str:
        """Return slide and shape."""
        at = next(n for n, slide in enumerate(self.slides) if any(p is part for p in slide))
        shape = "Title 1" if self.slides[at][0] is part else "Content Placeholder 2"
        return f"slide {at + 1}, {shape}"


KINDS: dict[str, type[BlamedFile]] = {
    "a.txt": TextFile,
    "b.csv": CsvFile,
    "c.xlsx": XlsxFile,
    "d.docx": DocxFile,
    "e.pptx": PptxFile,
}
"""What file has which format."""


def make_file(path: str, chance: Random) -> BlamedFile:
    """Return a file of the format that its name says, with nothing in it yet."""
    return KINDS[path](path, chance)
