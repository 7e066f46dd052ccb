"""The README as tests read it: its sections, their tables, their examples."""

import re
from functools import cache
from pathlib import Path

__all__ = ["Row", "code", "names", "section", "table", "tables"]

ROOT = Path(__file__).resolve().parent.parent

NAME = re.compile(r"`([^`]*)`")

Row = dict[str, str]
"""A row of a table: its cells by the heads of their columns."""


@cache
def section(heading: str) -> str:
    """The README's text from a heading to the next one."""
    text = (ROOT / "README.md").read_text("utf-8")
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)

    assert found, f"the README has no section {heading}"
    return found[1]


def tables(heading: str) -> list[list[Row]]:
    """The tables of a section."""
    found = []
    for lines in re.findall(r"(?:^\|.*\n)+", section(heading), re.MULTILINE):
        head, _, *rows = [
            [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])]
            for line in lines.splitlines()
        ]
        found.append([dict(zip(head, row, strict=True)) for row in rows])
    return found


def table(heading: str, which: int = 0) -> dict[str, Row]:
    """A table of a section, by the name in the first column of each row."""
    rows = tables(heading)[which]
    named = {NAME.findall(next(iter(row.values())))[0]: row for row in rows}

    assert len(named) == len(rows), f"{heading}: a name stands there twice"
    return named


def names(cell: str) -> list[str]:
    """What stands in backticks in a cell."""
    return NAME.findall(cell)


def code(heading: str, language: str, which: int = 0) -> str:
    """A block of code of a section, the first unless said otherwise."""
    found = re.findall(rf"^```{language}\n(.*?)^```", section(heading), re.MULTILINE | re.DOTALL)

    assert len(found) > which, f"{heading} has no such example in {language}"
    return str(found[which])
