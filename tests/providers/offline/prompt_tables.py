"""Tables of the prompts, read without kbd: only what `tables.toml` says of each file counts."""

import csv
import io
import json
import re
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import duckdb
import msgspec
from openpyxl import load_workbook

__all__ = ["PROMPTS", "PromptTables", "TableForm"]

PROMPTS = Path(__file__).parent / "prompts"
"""Where the tables and the requests lie."""

Kept = Literal["text", "category", "number", "date", "timestamp"]
_SQL = {
    "text": "VARCHAR", "category": "VARCHAR", "number": "DECIMAL(18,4)", "date": "DATE",
    "timestamp": "TIMESTAMP",
}  # fmt: skip


class TableForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a raw file becomes a clean table.

    Args:
        columns: What each column holds; of a `category`, spellings that differ in capitals and
            blanks alone are one, in the commonest.
        separator: Between fields, of text files.
        decimal: The sign before the decimals.
        dates: The form of dates that are texts.
        footer: How many rows at the end sum up others.
        moved: The day that stands for today in the file; None where dates stay as they are.
    """

    columns: dict[str, Kept]
    separator: str = ","
    decimal: str = "."
    dates: str = "%Y-%m-%d"
    footer: int = 0
    moved: date | None = None


class PromptTables:
    """Clean tables in DuckDB, each loaded when it is first asked for.

    Args:
        today: The day that relative dates are relative to.
        folder: The folder with `tables/` and `tables.toml`.
    """

    def __init__(self, today: date, folder: Path = PROMPTS) -> None:
        self.today, self._folder = today, folder
        found = msgspec.toml.decode((folder / "tables.toml").read_bytes())
        self.forms = msgspec.convert(found, dict[str, TableForm])
        self._database = duckdb.connect()
        self._loaded: set[str] = set()

    def rows(self, files: Sequence[str], sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Return the columns and rows of a statement over the tables of some files.

        A table is named like its file without the suffix; `{today}` stands for today.
        """
        for name in files:
            self._load(name)
        # Of the statement, for a pivot is more than one to DuckDB.
        found = self._database.execute(sql.replace("{today}", f"date '{self.today}'"))
        return [column[0] for column in found.description or ()], found.fetchall()

    def columns(self, files: Sequence[str]) -> set[str]:
        """Return the names of all columns of some files."""
        return {column for name in files for column in self.forms[name].columns}

    def stage(self, files: Sequence[str], folder: Path) -> list[Path]:
        """Copy raw files into a folder, as a person would give them, and return their paths."""
        for name in files:
            shutil.copyfile(self._folder / "tables" / name, folder / name)
            if self.forms[name].moved:
                (folder / name).write_text(self._text(name))
        return [folder / name for name in files]

    def _load(self, name: str) -> None:
        if name in self._loaded:
            return
        form, table = self.forms[name], Path(name).stem
        rows = _clean(form, self._raw(name, form))
        columns = ", ".join(f'"{column}" {_SQL[kind]}' for column, kind in form.columns.items())
        self._database.execute(f'create table "{table}" ({columns})')
        marks = ", ".join(f"({', '.join('?' * len(form.columns))})" for _ in rows)
        values = [value for row in rows for value in row]
        self._database.execute(f'insert into "{table}" values {marks}', values)
        self._loaded.add(name)

    def _text(self, name: str) -> str:
        """Return a text file with its dates moved as far as today is from the file's."""
        text = (self._folder / "tables" / name).read_text()
        base = self.forms[name].moved
        if base is None:
            return text
        shift = self.today - base
        return re.sub(
            r"\d{4}-\d\d-\d\d", lambda found: str(date.fromisoformat(found[0]) + shift), text
        )

    def _raw(self, name: str, form: TableForm) -> list[list[Any]]:
        """Return the rows below the headings, which must be those that were told."""
        header: list[Any]
        rows: list[list[Any]]
        match Path(name).suffix:
            case ".xlsx":
                book = load_workbook(self._folder / "tables" / name)
                header, *rows = [list(row) for row in book.worksheets[0].values]
            case ".json" | ".jsonl" as suffix:
                text = self._text(name)
                listed = json.loads(text) if suffix == ".json" else [
                    json.loads(line) for line in text.splitlines()
                ]  # fmt: skip
                header, rows = list(listed[0]), [list(row.values()) for row in listed]
            case _:
                reader = csv.reader(io.StringIO(self._text(name)), delimiter=form.separator)
                header, *rows = list(reader)
        assert header == list(form.columns), (name, header)
        return rows[: len(rows) - form.footer]


def _clean(form: TableForm, rows: list[list[Any]]) -> list[list[Any]]:
    """Return rows as typed values; empty texts are nothing."""
    cleaned = [
        [_value(form, kind, value) for kind, value in zip(form.columns.values(), row, strict=True)]
        for row in rows
    ]
    for place, kind in enumerate(form.columns.values()):
        if kind == "category":
            spelled = _spellings([row[place] for row in cleaned])
            for row in cleaned:
                row[place] = spelled.get(row[place])
    return cleaned


def _spellings(values: Sequence[str | None]) -> Mapping[str | None, str]:
    """Return the commonest spelling of each value."""
    counts = Counter(value for value in values if value is not None)
    best: dict[str, str] = {}
    for value, _ in counts.most_common():
        best.setdefault(value.casefold(), value)
    return {value: best[value.casefold()] for value in counts}


def _value(form: TableForm, kind: Kept, value: Any) -> Any:
    if isinstance(value, str):
        value = value.strip()
    if value is None or value == "":
        return None
    match kind:
        case "text" | "category":
            return str(value)
        case "number":
            return _number(form, value)
        case "date" if isinstance(value, str):
            return datetime.strptime(value, form.dates).date()
        case "date":
            return value.date() if isinstance(value, datetime) else value
        case "timestamp":
            return datetime.strptime(value, form.dates)


def _number(form: TableForm, value: Any) -> Decimal:
    if not isinstance(value, str):
        return Decimal(repr(value))
    group = "." if form.decimal == "," else ","
    plain = re.sub(r"[$£€%\s]", "", value).replace(group, "").replace(form.decimal, ".")
    return Decimal(plain) / (100 if "%" in value else 1)
