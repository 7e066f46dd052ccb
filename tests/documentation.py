"""The documentation as tests read it: sections of its pages, their tables, their examples.

A page is named by its path below `docs/`.
"""

import re
from functools import cache
from pathlib import Path

__all__ = ["DOCS", "ROOT", "Row", "code", "names", "section", "table", "tables"]

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"

NAME = re.compile(r"`([^`]*)`")

Row = dict[str, str]
"""A row of a table: its cells by the heads of their columns."""


@cache
def section(page: str, heading: str) -> str:
    """The text of a page from a heading to the next one below the title."""
    text = (DOCS / page).read_text("utf-8")
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)

    assert found, f"{page} has no section {heading}"
    return found[1]


def tables(page: str, heading: str) -> list[list[Row]]:
    """The tables of a section."""
    found = []
    for lines in re.findall(r"(?:^\|.*\n)+", section(page, heading), re.MULTILINE):
        head, _, *rows = [
            [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])]
            for line in lines.splitlines()
        ]
        found.append([dict(zip(head, row, strict=True)) for row in rows])
    return found


def table(page: str, heading: str) -> dict[str, Row]:
    """The first table of a section, by the name in the first column of each row."""
    rows = tables(page, heading)[0]
    named = {NAME.findall(next(iter(row.values())))[0]: row for row in rows}

    assert len(named) == len(rows), f"{page}, {heading}: a name is there twice"
    return named


def names(cell: str) -> list[str]:
    """What is in backticks in a cell."""
    return NAME.findall(cell)


def code(page: str, heading: str, language: str) -> str:
    """The first block of code of a section in a language."""
    found = re.search(
        rf"^```{language}\n(.*?)^```", section(page, heading), re.MULTILINE | re.DOTALL
    )

    assert found, f"{page}, {heading} has no example in {language}"
    return found[1]
