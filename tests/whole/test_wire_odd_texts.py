"""Texts that no cell holds: control characters, and more than 32,767 of them, by every way in.

Each is refused with a code, or arrives whole; what a format cannot hold is told. Nothing is cut or
left out without a word.
"""

import tempfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import openpyxl
import pytest

from kbd.client.blocking import RemoteError
from real_daemon import RealDaemon

pytestmark = pytest.mark.full

LONG = "x" * 40_000
HELD = "y" * 32_767
CONTROLS = [chr(number) for number in range(32) if chr(number) not in "\t\n\r"]
ODD = [*(f"a{control}b" for control in CONTROLS), "a\ufffeb", "a\uffffb", LONG]


class Bench(NamedTuple):
    """A workbench of a real daemon."""

    daemon: RealDaemon
    workbench_id: str

    def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool."""
        return self.daemon.ask(
            "ToolsCall", workbench_id=self.workbench_id, name=tool, arguments=arguments
        )

    def refused(self, tool: str, **arguments: Any) -> str:
        """Call a tool that refuses, and return its message."""
        with pytest.raises(RemoteError) as refusal:
            self.call(tool, **arguments)
        assert refusal.value.data["error_code"] == "VALIDATION_FAILED", refusal.value
        assert not refusal.value.data.get("retryable")
        return str(refusal.value)

    def names(self) -> set[str]:
        """The files that there are."""
        found = self.daemon.ask("WorkbenchFilesList", workbench_id=self.workbench_id)
        return {row["path"] for row in found["files"]}

    def book(self, name: str) -> list[list[Any]]:
        """The cells of a workbook's first sheet, as openpyxl reads them."""
        sheet = openpyxl.load_workbook(BytesIO(self.written(name))).worksheets[0]
        return [list(row) for row in sheet.iter_rows(values_only=True)]

    def written(self, name: str) -> bytes:
        """A file of the draft."""
        scope = self.daemon.ask("WorkbenchGetScope", workbench_id=self.workbench_id)
        return Path(scope["sandbox_root"], "draft", name).read_bytes()


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    """One with tables that hold what no cell does."""
    with tempfile.TemporaryDirectory(prefix="kbd-") as folder:
        texts = Path(folder, "texts.csv")
        texts.write_text(f"a,b\n1,p\x01q\x0br\n2,{HELD}\n", "utf-8")
        Path(folder, "long.csv").write_text(f"a,b\n1,{LONG}\n", "utf-8")
        daemon = RealDaemon(Path(folder, "h"), "trio")
        daemon.start()
        try:
            yield Bench(daemon, daemon.workbench(texts, Path(folder, "long.csv")))
        finally:
            daemon.stop()


def cells(text: str, **more: Any) -> list[dict[str, Any]]:
    """Operations that write a text to a cell in each way that there is."""
    return [
        {"op": "set_cells", "sheet": "S", "cells": [{"cell": "A1", "value": text, **more}]},
        {"op": "set_range", "sheet": "S", "start": "A1", "values": [[{"value": text, **more}]]},
    ]


def test_cells_refuse_what_they_cannot_hold(bench: Bench) -> None:
    """By its address and code point or length, as a text or typed as one; no file is made."""
    for text in ODD:
        for operation in (*cells(text), *cells(text, type="string")):
            made = {"op": "ensure_sheet", "sheet": "S"}
            told = bench.refused(
                "xlsx_operations", path="odd.xlsx", operations=[made, operation],
                create_if_missing=True,
            )  # fmt: skip
            assert "40,000" in told if text is LONG else f"U+{ord(text[1]):04X}" in told
    assert "odd.xlsx" not in bench.names()


def test_formulas_and_names_refuse_them_too(bench: Bench) -> None:
    """A formula and the name of a sheet."""
    for text in ODD:
        for operation in (
            {"op": "set_cells", "sheet": "S", "cells": [{"cell": "A1", "value": f'="{text}"'}]},
            {"op": "ensure_sheet", "sheet": text},
        ):
            bench.refused(
                "xlsx_operations", path="odd.xlsx", operations=[operation], create_if_missing=True
            )
    assert "odd.xlsx" not in bench.names()


def test_a_text_of_the_greatest_length_arrives_whole(bench: Bench) -> None:
    """32,767 characters are no error and stay as many."""
    operations = [{"op": "ensure_sheet", "sheet": "S"}, cells(HELD)[0]]
    bench.call("xlsx_operations", path="held.xlsx", operations=operations, create_if_missing=True)

    assert bench.book("held.xlsx") == [[HELD]]


def test_rows_carry_controls_over_and_refuse_what_is_too_long(bench: Bench) -> None:
    """From a table of text into a workbook: escaped as the format does, or refused by the cell."""
    asked = {"format": "xlsx", "sheet": "S"}
    bench.call("table_export", path="texts.csv", target_path="texts.xlsx", **asked)
    # As ST_Xstring writes them (ECMA-376, 22.9.2.19), and read back they are what they were.
    assert bench.book("texts.xlsx") == [["a", "b"], [1, "p_x0001_q_x000B_r"], [2, HELD]]
    read = bench.call("table_query", path="texts.xlsx", query="SELECT b FROM data WHERE a = 1")
    assert read["rows"] == [["p\x01q\x0br"]]

    told = bench.refused("table_export", path="long.csv", target_path="long.xlsx", **asked)
    assert "40,000" in told
    assert "long.xlsx" not in bench.names()
    for mode in ("replace_sheet", "append_rows", "write_range"):
        told = bench.refused(
            "table_update_from_export", path="long.csv", target_path="texts.xlsx", sheet="S",
            mode=mode,
        )  # fmt: skip
        assert "40,000" in told
    assert bench.book("texts.xlsx")[-1] == [2, HELD]


def test_tables_of_text_hold_them_whole(bench: Bench) -> None:
    """A field of a text table may be of any length, and is not cut on the way."""
    bench.call("table_export", path="long.csv", target_path="copy.tsv", format="csv")

    assert LONG.encode() in bench.written("copy.tsv")


def test_documents_and_decks_tell_what_they_leave_out(bench: Bench) -> None:
    """They hold no control characters: these are left out, and the answer says so."""
    found = bench.call(
        "docx_operations", path="odd.docx", create_if_missing=True,
        operations=[{"op": "append_paragraph", "text": "a\x01b"}],
    )  # fmt: skip
    assert "control character" in str(found["warnings"])
    found = bench.call(
        "pptx_operations", path="odd.pptx", create_if_missing=True,
        operations=[{"op": "add_slide", "layout": "title_only", "title": "a\x01b"}],
    )  # fmt: skip
    assert "Control characters" in str(found["warnings"])
