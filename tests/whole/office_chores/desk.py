"""Desk at which a chore of office work is done, by the tools that a model has and nothing else."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

__all__ = ["Chore", "Desk"]

Call = Callable[..., Any]
"""Calls a tool of the workbench by its name, with its arguments."""


class Chore(NamedTuple):
    """A task, and what must be true of the files that it leaves.

    Args:
        tasks: The tasks of OfficeBench that ask for it, as `group/number`.
        files: The files that lie there.
        do: Does it.
        holds: The words that each file holds at the end; none where it only has to be there.
        lacks: Words that it must not hold.
        cells: Values of cells of a workbook's first sheet.
        reads_pictures: Whether it can only be done where pictures are read.
    """

    tasks: str
    files: Sequence[str]
    do: Callable[["Desk"], None]
    holds: Mapping[str, Sequence[str]]
    lacks: Mapping[str, Sequence[str]] = {}
    cells: Mapping[str, Mapping[str, Any]] = {}
    reads_pictures: bool = False

    @property
    def numbers(self) -> list[str]:
        """The tasks one by one: `2-1/0 2-1/3` and `2-21/0-5` are spelled so."""
        found = []
        for each in self.tasks.split():
            group, _, numbers = each.partition("/")
            first, _, last = numbers.partition("-")
            found += [f"{group}/{n}" for n in range(int(first), int(last or first) + 1)]
        return found


class Desk:
    """What a model does at a desk, in words shorter than its calls.

    Args:
        call: Calls a tool.
        names: The files that lie there.
    """

    def __init__(self, call: Call, names: Sequence[str]) -> None:
        self.call, self.names = call, names

    def lines(self, path: str) -> list[str]:
        """The lines of a document, of the pages of a file, or of a text, without blank ones."""
        lines: list[str] = []
        read = self.call("read_file", path=path)
        for line in read["text"].splitlines():
            plain = line.strip().lstrip("#").strip()
            if plain and not re.fullmatch(r"\[page \d+]", plain):
                lines.append(plain)
        return lines

    def after(self, label: str, path: str) -> str:
        """What stands behind a label in the same line, or in the line below."""
        lines = self.lines(path)
        at = next(n for n, line in enumerate(lines) if line.casefold().startswith(label.casefold()))
        return lines[at][len(label) :].strip(" :") or lines[at + 1]

    def rows(self, path: str, query: str = "SELECT * FROM data") -> list[list[Any]]:
        """The rows of a table, or what a query makes of it."""
        return list(self.call("table_query", path=path, query=query, window_rows=500)["rows"])

    def columns(self, path: str) -> list[str]:
        """The names of a table's columns."""
        found = self.call("table_get_map", path=path)["columns"]
        return [column["name"] for column in found]

    def tables(self, path: str) -> list[list[list[str]]]:
        """The tables on the pages of a file, those that go on with one before put to it."""
        found: list[list[list[str]]] = []
        for table in self.call("pdf_tables", path=path)["tables"]:
            if table.get("goes_on"):
                found[-1] += table["rows"]
            else:
                found.append(table["rows"])
        return found

    def seen(self, path: str) -> list[str]:
        """The lines of a picture."""
        found = self.call("recognize_text", path=path)
        return [line["text"] for page in found["pages"] for line in page["lines"]]

    def document(self, path: str, *paragraphs: str, rows: Sequence[Sequence[Any]] = ()) -> None:
        """Write a Word document: a heading, paragraphs, and a table with a header row."""
        first, *rest = paragraphs
        operations: list[dict[str, Any]] = [{"op": "append_paragraph", "text": first}]
        if len(paragraphs) > 1 or rows:
            operations[0]["style"] = "Heading 1"
        operations += [{"op": "append_paragraph", "text": text} for text in rest]
        if rows:
            cells = [[str(value) for value in row] for row in rows]
            operations.append({"op": "add_table", "rows": cells, "header": True})
        self.call("docx_operations", path=path, operations=operations, create_new=True)

    def paper(self, path: str, *paragraphs: str, rows: Sequence[Sequence[Any]] = ()) -> None:
        """Write a PDF file: a document, printed."""
        source = f"{path.removesuffix('.pdf')} (source).docx"
        self.document(source, *paragraphs, rows=rows)
        self.call("print_to_pdf", path=source, target_path=path)

    def poster(self, path: str, *paragraphs: str) -> None:
        """Draw a picture: a document, whose page is saved."""
        source = f"{path.rpartition('.')[0]} (source).docx"
        self.document(source, *paragraphs)
        self.call("save_page_picture", path=source, target_path=path)

    def sheet(self, path: str, rows: Sequence[Sequence[Any]]) -> None:
        """Write a workbook of one sheet."""
        operations = [
            {"op": "ensure_sheet", "sheet": "Sheet1"},
            {"op": "set_range", "sheet": "Sheet1", "start": "A1", "values": [*map(list, rows)]},
        ]
        self.call("xlsx_operations", path=path, operations=operations, create_new=True)

    def text(self, path: str, content: Any) -> None:
        """Write a text file."""
        self.call("write_text_file", path=path, content=f"{content}\n")

    def copy(self, path: str, target_path: str) -> None:
        """Copy a file."""
        self.call("copy_file", path=path, target_path=target_path)
