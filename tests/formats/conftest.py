"""What the tests of hostile workbooks share."""

import zipfile
from collections.abc import Iterator

import openpyxl
import pytest

from confined import Confined, confined


@pytest.fixture(scope="module")
def cell() -> Iterator[Confined]:
    """Where hostile files are opened."""
    with confined() as found:
        yield found


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The parts of a harmless workbook: sheet Data with 2, 3 and "x" in A1 to C1."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "Data"
    sheet.append([2, 3, "x"])
    path = tmp_path_factory.mktemp("plain") / "plain.xlsx"
    book.save(path)
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
