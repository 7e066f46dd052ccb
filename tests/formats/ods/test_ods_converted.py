"""Spreadsheets that LibreOffice made of workbooks are the tables that those workbooks are."""

import csv
import datetime as dt
import math
import random
import subprocess
from collections import Counter
from pathlib import Path

import msgspec
import openpyxl
import pytest

from kbd.errors import KbdError
from kbd.formats import ReadAs, Source, Table, Tabular
from kbd_ods import OdsFormat
from kbd_xlsx import XlsxFormat

pytestmark = [pytest.mark.libreoffice, pytest.mark.full]

SAMPLE_SEED = 22
SAMPLE_SIZE = 60
CLOSE = 1e-12
"""LibreOffice writes fifteen digits of a number, and files have up to seventeen."""


def converted(folder: Path, files: list[Path]) -> list[tuple[Path, Path]]:
    """Have files converted; those of which nothing came are left out."""
    profile = (folder / "profile").as_uri()
    command = ["soffice", f"-env:UserInstallation={profile}", "--headless", "--convert-to", "ods"]
    for start in range(0, len(files), 15):
        subprocess.run(
            [*command, "--outdir", folder, *files[start : start + 15]],
            check=False, capture_output=True, timeout=300,
        )  # fmt: skip
    made = [(path, folder / f"{path.stem}.ods") for path in files]
    return [pair for pair in made if pair[1].exists()]


def read(handler: Tabular, path: Path, sheet: str, plain: Path) -> tuple[Table, list[list[str]]]:
    """Read a sheet's table: what is told, and its lines."""
    found = handler.read_table(Source(path, path.name), sheet, ReadAs(), plain)
    with plain.open(encoding="utf-8", newline="") as file:
        return found, list(csv.reader(file))


def test_a_workbook_of_every_type_is_the_same_table(tmp_path: Path) -> None:
    """Every cell and every type, hidden rows and a merged title with them."""
    book = openpyxl.Workbook()
    sheet = book.create_sheet("R & D", 0)
    sheet.append(["Report"])
    sheet.merge_cells("A1:C1")
    sheet.append(["Day", "Moment", "Price", "Share", "Ok", "Code", "Lines", "Worth", "At"])
    for number in range(1, 9):
        sheet.append([
            dt.date(2024, 2, number), dt.datetime.fromisoformat(f"2024-02-0{number}T10:30:00"),
            number * 1234.5, number / 8, number % 2 == 0, f"00{number}", f"a\nb  c {number} ",
            f"=C{number + 2}*2", dt.time(9, number),
        ])  # fmt: skip
        sheet.cell(number + 2, 3).number_format = '#,##0.00 "EUR"'
        sheet.cell(number + 2, 4).number_format = "0.0%"
    sheet.row_dimensions[5].hidden = True
    path = tmp_path / "made.xlsx"
    book.save(path)
    ((_, made),) = converted(tmp_path, [path])
    first, lines = read(XlsxFormat(), path, "R & D", tmp_path / "plain")
    second, others = read(OdsFormat(), made, "R & D", tmp_path / "plain")
    # No result of a formula is in a file that openpyxl wrote; LibreOffice worked them out.
    assert [line[:7] + line[8:] for line in others] == [line[:7] + line[8:] for line in lines]
    assert [line[7] for line in others[1:]] == [str(number * 2469) for number in range(1, 9)]
    kinds = [(column.name, column.type) for column in second.columns if column.name != "Worth"]
    assert kinds == [(each.name, each.type) for each in first.columns if each.name != "Worth"]
    (emptied,) = first.reading.repaired
    assert (emptied.count, emptied.sample) == (8, "H3, H4, H5")
    assert second.reading == msgspec.structs.replace(first.reading, repaired=())
    assert "1 row(s) of the table are hidden from people." in second.warnings


@pytest.mark.corpora
@pytest.mark.timeout(900)
def test_real_workbooks_are_the_same_tables(
    corpora: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All but those that LibreOffice calculates anew: pivots, times, functions that it lacks."""
    found = sorted(path for path in corpora.glob("xlsx/*.xlsx") if path.stat().st_size < 200_000)
    chosen = random.Random(SAMPLE_SEED).sample(found, SAMPLE_SIZE)
    counts: Counter[str] = Counter()
    odd = []
    for path, made in converted(tmp_path, chosen):
        try:
            sheets = XlsxFormat().map(Source(path, path.name))["sheets"]
            names = {sheet["name"] for sheet in OdsFormat().map(Source(made, made.name))["sheets"]}
        except KbdError:
            counts["refused"] += 1
            continue
        for sheet in sheets:
            if sheet["kind"] != "worksheet":
                continue
            counts["tables"] += 1
            assert sheet["name"] in names, path.name
            what = compared(path, made, sheet["name"], tmp_path / "plain")
            counts[what] += 1
            if what == "other":
                odd.append(f"{path.name}: {sheet['name']}")
    with capsys.disabled():
        print(f"\n{dict(counts)}; not the same: {odd}")
    assert counts["tables"] > SAMPLE_SIZE // 2
    assert counts["same"] >= 0.9 * counts["tables"]
    assert counts["other"] <= 0.05 * counts["tables"]


def compared(path: Path, made: Path, sheet: str, plain: Path) -> str:
    """Return "same" if names, types and cells of two tables are, "calculated" if formulas differ.

    LibreOffice calculates what a file asks it to: times of today, chance, functions that it lacks.
    """
    first, lines = read(XlsxFormat(), path, sheet, plain)
    second, others = read(OdsFormat(), made, sheet, plain)
    is_same = first.columns == second.columns and len(lines) == len(others)
    pairs = zip(lines, others, strict=False)
    if is_same and all(alike(a, b) for p, q in pairs for a, b in zip(p, q, strict=True)):
        return "same"
    return "calculated" if any("formula" in each for each in second.warnings) else "other"


def alike(one: str, other: str) -> bool:
    """Tell whether two values are the same, numbers as far as LibreOffice writes them."""
    if one == other or one.replace("\r\n", "\n") == other:
        return True
    try:
        return math.isclose(float(one), float(other), rel_tol=CLOSE)
    except ValueError:
        return False
