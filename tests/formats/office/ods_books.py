"""OpenDocument spreadsheets written by hand."""

import zipfile
from pathlib import Path

__all__ = [
    "cell", "flat_book", "ods_book", "rich_book", "row", "sheet_contents", "table", "typed",
]  # fmt: skip

_SPACES = (
    'xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0"'
) + "".join(
    f' xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in (
        ("office", "office"), ("text", "text"), ("table", "table"), ("draw", "drawing"),
        ("style", "style"), ("config", "config"), ("manifest", "manifest"),
    )
)  # fmt: skip
_KIND = "application/vnd.oasis.opendocument.spreadsheet"


def cell(value: str | float | None, *more: str) -> str:
    """A cell with a text, a number or nothing, and further attributes."""
    said = " ".join(("", *more))
    match value:
        case None:
            return f"<table:table-cell{said}/>"
        case str():
            kind = 'office:value-type="string"'
            return f"<table:table-cell {kind}{said}><text:p>{value}</text:p></table:table-cell>"
        case _:
            kind = f'office:value-type="float" office:value="{value}"'
            return f"<table:table-cell {kind}{said}><text:p>{value}</text:p></table:table-cell>"


def typed(kind: str, value: str, shown: str, *more: str) -> str:
    """A cell of a type, with the value that its attribute has and what is shown."""
    name = {"date": "date-value", "time": "time-value", "boolean": "boolean-value"}.get(
        kind, "value"
    )
    said = " ".join((f'office:value-type="{kind}" office:{name}="{value}"', *more))
    return f"<table:table-cell {said}><text:p>{shown}</text:p></table:table-cell>"


def row(*values: str | float | None, more: str = "") -> str:
    """A row of such cells; a text that is markup is a cell already."""
    cells = (v if isinstance(v, str) and v.startswith("<") else cell(v) for v in values)
    return f"<table:table-row {more}>{''.join(cells)}</table:table-row>"


def table(*values: str | float | None, rows: str = "", name: str = "S", more: str = "") -> str:
    """A sheet of one row, or of the rows that are given."""
    return f'<table:table table:name="{name}" {more}>{rows or row(*values)}</table:table>'


def sheet_contents(sheets: str, automatic: str = "") -> str:
    """The part of the contents, with automatic styles."""
    return (
        f"<office:document-content {_SPACES}><office:automatic-styles>{automatic}"
        f"</office:automatic-styles><office:body><office:spreadsheet>{sheets}"
        "</office:spreadsheet></office:body></office:document-content>"
    )


def flat_book(sheets: str, prolog: str = "") -> bytes:
    """A spreadsheet in one file."""
    return (
        f'<?xml version="1.0"?>{prolog}<office:document {_SPACES} office:mimetype="{_KIND}">'
        f"<office:body><office:spreadsheet>{sheets}</office:spreadsheet></office:body>"
        "</office:document>"
    ).encode()


def ods_book(
    path: Path, sheets: str, *, automatic: str = "", kind: str = _KIND, manifest: str = "",
    settings: str = "",
) -> Path:  # fmt: skip
    """Write a spreadsheet and return its path.

    Args:
        path: Where.
        sheets: Its sheets.
        automatic: Its automatic styles.
        kind: What it says that it is.
        manifest: More entries of the manifest.
        settings: What its settings hold.
    """
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("mimetype", kind, zipfile.ZIP_STORED)
        file.writestr("content.xml", sheet_contents(sheets, automatic))
        if settings:
            whole = f"<office:document-settings {_SPACES}>{settings}</office:document-settings>"
            file.writestr("settings.xml", whole)
        listed = f"<manifest:manifest {_SPACES}>{manifest}</manifest:manifest>"
        file.writestr("META-INF/manifest.xml", listed)
    return path


def rich_book(path: Path) -> Path:
    """Write a spreadsheet with values of several types, a formula, and a hidden sheet."""
    rows = row("Day", "Item", "Sum") + row(
        typed("date", "2024-01-31", "31.01.24"),
        "Tea &amp; cake",
        typed("currency", "4.5", "4,50 €", 'office:currency="EUR"'),
    )
    rows += row("Total", None, cell(4.5, 'table:formula="of:=SUM([.C2:.C2])"'))
    unseen = (
        '<style:style style:name="h" style:family="table"><style:table-properties '
        'table:display="false"/></style:style>'
    )
    hidden = table("secret", name="Back", more='table:style-name="h"')
    return ods_book(path, table(rows=rows, name="Front") + hidden, automatic=unseen)
