"""How each built-in tool is called, well and badly, for tests of calls over the wire."""

import json
from collections.abc import Callable, Mapping
from shutil import which
from types import MappingProxyType
from typing import Any, NamedTuple

from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.host import Plugins
from kbd.core.runtime.settings import Settings

TOOLS = {entry.tool.name: entry.tool for entry in Catalog(Plugins.discover(Settings())).tools()}
"""The built-in tools."""

CELLS = [{"op": "set_cells", "sheet": "S", "cells": [{"cell": "A1", "value": 7}]}]
BOLD = [
    {
        "op": "set_cells",
        "sheet": "S",
        "cells": [{"cell": "A1", "value": 7, "style": {"font_bold": True}}],
    }
]
SHEETS = {
    "target_path": "sheets.xlsx",
    "sheets": [{"sheet": "S", "query": "SELECT a FROM data", "form": {"totals": {"a": "sum"}}}],
}
JOB = {
    "inputs": [{"name": "t", "file": "t.csv", "columns": {"a": "number"}}],
    "steps": [
        {"do": "group", "figures": [{"name": "s", "function": "sum", "column": "a"}]},
        {"do": "write", "file": "job.xlsx"},
        {"do": "report"},
    ],
}
PARAGRAPH = [{"op": "append_paragraph", "text": "Hello"}]
PAGES = [{"op": "add_pages", "file": "a.pdf"}]
SLIDE = [{"op": "add_slide", "layout": "title_only", "title": "Hello"}]


class Case(NamedTuple):
    """How a tool is called.

    Args:
        good: Arguments that it takes; or a function of what asks, where they must be found first.
        shows: What the result holds.
        bad: Arguments that it refuses, each with the code and a part of the message.
    """

    good: dict[str, Any] | Callable[["Call"], dict[str, Any]]
    shows: Mapping[str, Any] | Callable[[Any], bool]
    bad: tuple[tuple[dict[str, Any], str, str], ...]


Call = Callable[..., Any]
"""Calls a tool of the workbench, with its arguments by name."""

NO_FILE = ({"path": "none.csv"}, "NOT_FOUND", "none.csv")
WRONG_PATH = ({"path": 5}, "VALIDATION_FAILED", "path: expected `str`, got `int`")
OUTSIDE = ({"path": "../t.csv"}, "SANDBOX_VIOLATION", "leave the workbench")
UNKNOWN = ({"path": "t.csv", "hue": 1}, "VALIDATION_FAILED", "hue")
READING = (NO_FILE, WRONG_PATH, OUTSIDE, UNKNOWN)


def _editing(name: str, operations: list[dict[str, Any]]) -> Case:
    bad = [{"op": "fly"}]
    return Case(
        {"path": f"new-{name}", "operations": operations, "create_new": True},
        {"path": f"new-{name}", "created": True, "applied": 1},
        (
            ({"path": name, "operations": bad}, "VALIDATION_FAILED", "fly"),
            ({"path": f"x{name}", "operations": operations}, "NOT_FOUND", name),
            ({"path": name}, "VALIDATION_FAILED", "operations"),
            ({"path": f"../{name}", "operations": operations}, "SANDBOX_VIOLATION", "leave"),
        ),
    )


def _jobs(shows: Mapping[str, Any]) -> Case:
    def with_file(name: str) -> dict[str, Any]:
        return {"job": {**JOB, "inputs": [{"name": "t", "file": name}]}}

    def with_steps(*steps: dict[str, Any]) -> dict[str, Any]:
        return {"job": {**JOB, "steps": steps}}

    return Case(
        {"job": JOB},
        shows,
        (
            ({}, "VALIDATION_FAILED", "job"),
            ({"job": "total a"}, "VALIDATION_FAILED", "job"),
            (with_steps({"do": "fly"}), "VALIDATION_FAILED", "fly"),
            (with_steps({"do": "filter", "where": "b1 > 1"}), "VALIDATION_FAILED", "b1"),
            (with_steps({"do": "filter", "where": "a > ("}), "VALIDATION_FAILED", "expected"),
            (with_file("none.csv"), "VALIDATION_FAILED", "none.csv"),
            (with_file("../t.csv"), "VALIDATION_FAILED", "there is no file"),
        ),
    )


def _styles(name: str) -> Case:
    return Case(
        {"path": name},
        lambda found: bool(found["assets"]),
        (({"path": "n.txt"}, "VALIDATION_FAILED", "n.txt"), ({}, "VALIDATION_FAILED", "path")),
    )


def _copying(tool: str, name: str) -> Case:
    def good(call: Call) -> dict[str, Any]:
        (first, *_) = call(f"{tool}_get_styles", path=name)["assets"]
        return {"source_path": name, "target_path": f"copy-{name}", "assets": [first["asset_id"]]}

    wrong = {"source_path": name, "target_path": f"bad-{name}"}
    return Case(
        good,
        {"copied_count": 1},
        (
            ({**wrong, "assets": ["none:none"]}, "VALIDATION_FAILED", "none"),
            ({**wrong, "assets": 5}, "VALIDATION_FAILED", "assets"),
        ),
    )


CASES: Mapping[str, Case] = MappingProxyType(
    {
        "list_files": Case(
            {},
            lambda rows: {"n.txt", "t.csv"} <= {row["path"] for row in rows},
            (({"path": "t.csv"}, "VALIDATION_FAILED", "path"),),
        ),
        "get_file_info": Case({"path": "t.csv"}, {"path": "t.csv", "kind": "table"}, READING),
        "get_file_map": Case({"path": "t.csv"}, {"row_count": 2}, READING),
        "get_file_changes": Case({"path": "a.xlsx"}, {"since": "draft"}, READING),
        "read_file": Case({"path": "n.txt"}, {"text": "hello\nworld\n"}, READING),
        "write_text_file": Case(
            {"path": "made.txt", "content": "x"},
            {"path": "made.txt", "bytes": 1, "created": True},
            (
                ({"path": "a.xlsx", "content": "x"}, "VALIDATION_FAILED", "xlsx"),
                ({"path": "made.txt"}, "VALIDATION_FAILED", "content"),
                ({"path": "../x", "content": "x"}, "SANDBOX_VIOLATION", "leave"),
            ),
        ),
        "copy_file": Case(
            {"path": "n.txt", "target_path": "kept/n.TXT"},
            {"path": "kept/n.TXT", "copied_from": "n.txt", "bytes": 12},
            (
                ({"path": "none.txt", "target_path": "x.txt"}, "NOT_FOUND", "none.txt"),
                ({"path": "n.txt", "target_path": "t.csv"}, "VALIDATION_FAILED", "exists"),
                ({"path": "n.txt", "target_path": "n.pdf"}, "VALIDATION_FAILED", "end with .txt"),
                ({"path": "n.txt", "target_path": "../n.txt"}, "SANDBOX_VIOLATION", "leave"),
            ),
        ),
        "recall_tool_result": Case(
            {"entry_id": 1},
            lambda found: "a.xlsx" in json.dumps(found),
            (
                ({"entry_id": 999}, "NOT_FOUND", "999"),
                ({"entry_id": "one"}, "VALIDATION_FAILED", "entry_id"),
            ),
        ),
        "table_get_map": Case({"path": "t.csv"}, {"row_count": 2}, READING),
        "table_describe": Case({"path": "t.csv"}, {"row_count": 2}, READING),
        "table_stats": Case(
            {"path": "t.csv", "columns": ["a"]}, lambda found: "a" in json.dumps(found), READING
        ),
        "table_read_rows": Case(
            {"path": "t.csv", "row_start": 1, "row_count": 1},
            {"total_rows": 2},
            (
                (
                    {"path": "t.csv", "row_start": 0, "row_count": 1},
                    "VALIDATION_FAILED",
                    "row_start",
                ),
            ),
        ),
        "table_query": Case(
            {"path": "t.csv", "query": "SELECT sum(a) AS s FROM data"},
            {"rows": [[4]]},
            (
                ({"path": "t.csv", "query": "DROP TABLE data"}, "VALIDATION_FAILED", ""),
                (
                    {"path": "t.csv", "query": "SELECT * FROM '/etc/passwd'"},
                    "VALIDATION_FAILED",
                    "",
                ),
                ({"path": "t.csv"}, "VALIDATION_FAILED", "query"),
            ),
        ),
        "table_export": Case(
            {"path": "t.csv", "target_path": "out.xlsx", "format": "xlsx"},
            {"target_path": "out.xlsx", "row_count": 2},
            (
                (
                    {"path": "t.csv", "target_path": "o.pdf", "format": "pdf"},
                    "VALIDATION_FAILED",
                    "format",
                ),
                (
                    {"path": "t.csv", "target_path": "../o.csv", "format": "csv"},
                    "SANDBOX_VIOLATION",
                    "leave",
                ),
            ),
        ),
        "table_export_sheets": Case(
            {"path": "t.csv", "outputs": [SHEETS]},
            lambda found: found["outputs"][0]["sheets"][0]["totals"] == {"a": 4},
            (
                (
                    {"path": "t.csv", "outputs": [{**SHEETS, "target_path": "o.pdf"}]},
                    "VALIDATION_FAILED",
                    "o.pdf",
                ),
                (
                    {"path": "t.csv", "outputs": [SHEETS], "tables": {"no name": {"path": "x"}}},
                    "VALIDATION_FAILED",
                    "no name",
                ),
                (
                    {"path": "t.csv", "outputs": [SHEETS], "tables": {"x": {"path": "none.csv"}}},
                    "NOT_FOUND",
                    "none.csv",
                ),
            ),
        ),
        "table_update_from_export": Case(
            {"path": "t.csv", "target_path": "up.xlsx", "sheet": "S", "mode": "replace_sheet"},
            {"row_count": 2},
            (
                (
                    {"path": "t.csv", "target_path": "a.xlsx", "sheet": "S", "mode": "guess"},
                    "VALIDATION_FAILED",
                    "mode",
                ),
            ),
        ),
        "check_job": _jobs({"failed": [], "notes": []}),
        "run_job": _jobs({"notes": []}),
        "xlsx_operations": _editing("a.xlsx", CELLS),
        "docx_operations": _editing("a.docx", PARAGRAPH),
        "pptx_operations": _editing("a.pptx", SLIDE),
        "pdf_operations": Case(
            {"path": "new-a.pdf", "operations": PAGES, "create_new": True},
            {"path": "new-a.pdf", "created": True, "applied": 1},
            (
                (
                    {"path": "b.pdf", "operations": [{"op": "fly"}], "create_new": True},
                    "VALIDATION_FAILED",
                    "fly",
                ),
                ({"path": "a.pdf", "operations": PAGES}, "VALIDATION_FAILED", "stays as it is"),
                ({"path": "xa.pdf", "operations": PAGES}, "NOT_FOUND", "a.pdf"),
                ({"path": "a.pdf"}, "VALIDATION_FAILED", "operations"),
                ({"path": "../a.pdf", "operations": PAGES}, "SANDBOX_VIOLATION", "leave"),
            ),
        ),
        "pdf_tables": Case({"path": "a.pdf"}, {"tables": []}, READING),
        "print_to_pdf": Case(
            {"path": "a.docx", "target_path": "printed.pdf"},
            {"path": "printed.pdf", "source": "a.docx", "page_count": 1, "created": True},
            (
                ({"path": "a.docx", "target_path": "x.docx"}, "VALIDATION_FAILED", ".pdf"),
                ({"path": "a.docx", "target_path": "a.pdf"}, "VALIDATION_FAILED", "a.pdf"),
                ({"path": "a.pdf", "target_path": "x.pdf"}, "VALIDATION_FAILED", "already"),
                ({"path": "t.csv", "target_path": "x.pdf"}, "VALIDATION_FAILED", "be printed"),
                ({"path": "xa.docx", "target_path": "x.pdf"}, "NOT_FOUND", "a.docx"),
                ({"path": "a.docx"}, "VALIDATION_FAILED", "target_path"),
                ({"path": "a.docx", "target_path": "../x.pdf"}, "SANDBOX_VIOLATION", "leave"),
                ({"path": "a.docx", "target_path": ".x/x.pdf"}, "SANDBOX_VIOLATION", "dot"),
            ),
        ),
        "save_page_picture": Case(
            {"path": "a.pdf", "target_path": "page.JPG", "edge_px": 300},
            {"path": "page.JPG", "source": "a.pdf", "page": 1, "page_count": 1, "height": 300},
            (
                ({"path": "a.pdf", "target_path": "x.gif"}, "VALIDATION_FAILED", ".png"),
                ({"path": "a.pdf", "target_path": "n.txt"}, "VALIDATION_FAILED", "n.txt"),
                ({"path": "a.pdf", "target_path": "x.png", "page": 9}, "VALIDATION_FAILED", "page"),
                ({"path": "t.csv", "target_path": "x.png"}, "VALIDATION_FAILED", "t.csv"),
                ({"path": "xa.pdf", "target_path": "x.png"}, "NOT_FOUND", "a.pdf"),
                ({"path": "a.pdf", "target_path": "../x.png"}, "SANDBOX_VIOLATION", "leave"),
            ),
        ),
        "recognize_text": Case(
            {"path": "a.pdf", "pages": "1"},
            lambda found: [line["text"] for line in found["pages"][0]["lines"]] == ["Page"],
            (
                ({"path": "t.csv"}, "VALIDATION_FAILED", "be looked at"),
                ({"path": "a.pdf", "pages": "9"}, "VALIDATION_FAILED", "has 1 page"),
                ({"path": "a.pdf", "pages": "0"}, "VALIDATION_FAILED", "counted from 1"),
                ({"path": "a.pdf", "pages": "one"}, "VALIDATION_FAILED", "2,7-9"),
                *READING,
            ),
        ),
        "xlsx_get_styles": _styles("a.xlsx"),
        "docx_get_styles": _styles("a.docx"),
        "pptx_get_styles": _styles("a.pptx"),
        "xlsx_copy_assets": _copying("xlsx", "a.xlsx"),
        "docx_copy_assets": _copying("docx", "a.docx"),
        "pptx_copy_assets": _copying("pptx", "a.pptx"),
        "workspace_search": Case(
            {"query": "world", "top_k": 1},
            lambda found: "n.txt" in json.dumps(found),
            (({"query": 5}, "VALIDATION_FAILED", "query"),),
        ),
        "workspace_list_docs": Case(
            {}, lambda found: "n.txt" in json.dumps(found), (({"x": 1}, "VALIDATION_FAILED", "x"),)
        ),
        "workspace_get_doc": Case(
            {"title": "n.txt"},
            lambda found: "hello" in json.dumps(found),
            (({"title": "none"}, "NOT_FOUND", "none"),),
        ),
        "workspace_summarize": Case(
            {"text": "One. Two."},
            lambda found: bool(found["summary"]),
            (({}, "VALIDATION_FAILED", ""), ({"text": 5}, "VALIDATION_FAILED", "text")),
        ),
    }
)

PROGRAMS = MappingProxyType({"print_to_pdf": "soffice", "recognize_text": "tesseract"})
"""Tools that need a program of the machine."""

WORKING = {name: case for name, case in CASES.items() if which(PROGRAMS.get(name, "env"))}
"""The cases of the tools that work on this machine."""
