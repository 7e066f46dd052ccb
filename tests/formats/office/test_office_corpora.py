"""Real files of every format: each is mapped, read whole and told of, or refused by name."""

import csv
import io
import json
import warnings
from pathlib import Path

import pytest

from format_cases import FormatCase, OfficeCase, names
from kbd.errors import FileReadFailed
from kbd.formats import ReadAs, Region, Source, Tabular
from kbd.testing.promises import check_plain
from office_formats import FORMATS, OFFICE
from samples import half_or_all

EVERY = 26
"""Of each so many files `make test` opens one; `make test-full` opens all."""

MAX_BYTES = 500_000
MAX_TOLD = 200_000
"""Characters of what is told of looks."""

pytestmark = pytest.mark.corpora

REAL = [case for case in FORMATS if case.corpora]


def real_files(corpora: Path, case: FormatCase) -> list[Path]:
    """List the files of a format that are neither hostile nor large: those belong in a worker."""
    with (corpora / "manifest.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    folders = tuple(f"{folder}/" for folder in case.corpora)
    return sorted(
        corpora / row["path"]
        for row in rows
        if row["path"].startswith(folders)
        and (case.opens_all or "hostile" not in row["tags"])
        and (case.opens_all or int(row["bytes"]) <= MAX_BYTES)
    )


def read_whole(case: FormatCase, path: Path, folder: Path) -> None:
    """Ask all that is asked of a file, and see that the answers are plain and fit together."""
    source, handler = Source(path, path.name), case.handler
    mapped = check_plain(path.name, lambda: handler.map(source))
    check_plain(path.name, lambda: handler.info(source))
    reading = handler.read(source, Region())
    passages = list(handler.passages(source))
    assert all(passage.place for passage in passages), path.name
    assert not any(each.get("unreadable") for each in mapped.get("slides", ())), path.name
    assert reading.text or not any(each.text.strip() for each in passages), path.name
    places = {passage.place for passage in passages}
    assert len(places) == mapped.get("slide_count", len(places)), path.name
    if isinstance(handler, Tabular):
        for sheet in mapped.get("sheets", [{"name": None, "chunks": [1]}]):
            if sheet["chunks"]:
                load(handler, source, sheet["name"], folder / "table")


def load(handler: Tabular, source: Source, sheet: str | None, plain: Path) -> None:
    """Load a table: its rows are of one width, and as many as are told."""
    table = handler.read_table(source, sheet, ReadAs(), plain)
    with plain.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert len({len(row) for row in rows}) <= 1, source.name
    assert table.row_count == max(0, len(rows) - 1), source.name


def look_at(case: FormatCase, path: Path) -> None:
    """Have the looks of a file told, within bounds, each asset once."""
    found = case.handler.get_styles(Source(path, path.name), None)
    assert len(json.dumps(found)) < MAX_TOLD, path.name
    ids = [asset["asset_id"] for asset in found["assets"]]
    assert len(ids) == len(set(ids)), path.name


def tried(case: FormatCase, paths: list[Path], folder: Path) -> dict[str, str]:
    """Read files and look at them; return what is refused, and why."""
    refused: dict[str, str] = {}
    for path in paths:
        try:
            read_whole(case, path, folder)
            if isinstance(case, OfficeCase):
                look_at(case, path)
        except FileReadFailed as error:
            refused[path.name] = error.message
    assert not [told for told in refused.values() if "/" in told], refused
    return refused


@pytest.mark.parametrize("case", REAL, ids=names)
def test_real_files_are_read(corpora: Path, tmp_path: Path, case: FormatCase) -> None:
    """Of a sample all is mapped, read and told, or refused as damaged or encrypted."""
    paths = real_files(corpora, case)[::EVERY]
    refused = tried(case, paths, tmp_path)

    assert len(refused) <= 2, refused


@pytest.mark.full
@pytest.mark.timeout(1800)
@half_or_all
@pytest.mark.parametrize("case", REAL, ids=names)
def test_all_real_files_are_read(
    corpora: Path, tmp_path: Path, case: FormatCase, every: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same of all, and of more than the plain library of the format opens."""
    paths = real_files(corpora, case)[::every]
    read = len(paths) - len(refused := tried(case, paths, tmp_path))
    theirs = sum(is_opened(case, path) for path in paths) if isinstance(case, OfficeCase) else 0
    with capsys.disabled():
        print(f"\n{case.name}: {read} of {len(paths)} are read, the library opens {theirs}")

    assert read >= case.fewest_read * len(paths), refused
    assert read >= theirs


def is_opened(case: OfficeCase, path: Path) -> bool:
    """Whether the plain library opens a file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            case.library(io.BytesIO(path.read_bytes()))
    except Exception:  # noqa: BLE001 - it raises anything on what it does not know
        return False
    return True


def test_there_are_real_files(corpora: Path) -> None:
    """The formats of the suite have some hundred files each."""
    assert all(len(real_files(corpora, case)) > 200 for case in OFFICE)
