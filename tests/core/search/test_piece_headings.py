"""What stands above a table's rows finds the rows, however far below they are."""

from pathlib import Path

import openpyxl
import pytest

from indexed import PlainReader, engine_over, write
from kbd.core.plugins.pieces import cut_pieces, write_pieces
from kbd.core.search.ports import SourceFile
from kbd.formats import Passage, Readable, Source
from kbd.formats.headings import names_of_columns
from kbd_csv.handler import CsvFormat
from kbd_xlsx.handler import XlsxFormat

ROWS: list[list[str]] = [
    ["Date", "Shop", "Amount"],
    *([f"2024-03-{at % 28 + 1:02}", "Baker", f"{at}.5"] for at in range(250)),
]
LINES = "".join(f"{','.join(row)}\n" for row in ROWS)


class _Headed(PlainReader):
    """Reads each file as rows below a heading: its first line."""

    def read(self, file: SourceFile, target: Path) -> None:
        heading, _, rows = file.path.read_text().partition("\n")
        write_pieces(cut_pieces([Passage(rows, "rows", None, heading)], 1 << 20), target)


def test_a_heading_finds_every_piece_and_is_in_none(tmp_path: Path) -> None:
    """Rows are found by the name of a column that stands far above; taking them out leaves none."""
    rows = "".join(f"{at} baker {at * 7}\n" for at in range(400))
    write(tmp_path / "docs", sales=f"amount shop\n{rows}", other="nothing\nof the kind\n")
    with engine_over(tmp_path / "docs", tmp_path / "index", _Headed()) as engine:
        found = engine.search("amount 2793", 3)
        assert "399 baker 2793" in found[0].text
        assert len(engine.search("amount", 50)) == engine.num_chunks - 1 > 5
        assert not any("amount" in chunk.text for chunk in engine.search("amount", 50))
        write(tmp_path / "docs", sales="price shop\nno rows\n")
        assert engine.search("amount", 50) == []


@pytest.mark.parametrize(
    ("row", "heading"),
    [
        (["Date", "Shop", "", "Amount in EUR"], "Date Shop Amount in EUR"),
        (["2024-01-31", "Tea", "4.50"], ""),
        (["Report"], ""),
        ([], ""),
        (["a", "a", "a", "a"], ""),
        (["x" * 100, "y" * 100, "name"], ""),
        ([f"column number {at}" for at in range(100)], None),
    ],
)
def test_names_of_columns_are_words(row: list[str], heading: str | None) -> None:
    """Figures, a title, one word repeated and long texts name nothing; many names are cut."""
    found = names_of_columns(row)
    if heading is None:
        assert found.startswith("column number 0 column number 1")
        assert len(found) <= 301
    else:
        assert found == heading


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_tables_tell_the_names_of_their_columns(tmp_path: Path, kind: str) -> None:
    """Every passage of a sheet or table has them, the last one, too."""
    path = tmp_path / f"sales.{kind}"
    handler: Readable = CsvFormat() if kind == "csv" else XlsxFormat()
    if kind == "csv":
        path.write_text(LINES)
    else:
        book = openpyxl.Workbook()
        assert book.active is not None
        for row in ROWS:
            book.active.append(row)
        book.save(path)
    passages = list(handler.passages(Source(path, path.name)))
    assert len(passages) > 1
    assert {passage.heading for passage in passages} == {"Date Shop Amount"}
