"""Real workbooks: each is mapped and read, or refused with a typed error."""

import csv
import random
from pathlib import Path

import msgspec
import pytest

from kbd.errors import KbdError
from kbd.formats import Region, Source
from kbd_xlsx import XlsxFormat

FORMAT = XlsxFormat()
SAMPLE_SEED = 114
SAMPLE_SIZE = 70
MAX_BYTES = 500_000


def files(corpora: Path) -> list[Path]:
    """List the workbooks that are neither hostile nor large: those belong into a worker."""
    with (corpora / "manifest.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [
        corpora / row["path"]
        for row in rows
        if row["path"].startswith(("xlsx/", "xlsx_rare/"))
        and "hostile" not in row["tags"]
        and int(row["bytes"]) <= MAX_BYTES
    ]


@pytest.mark.corpora
def test_real_files(corpora: Path, tmp_path: Path) -> None:
    """A sample of the corpus, chosen by a fixed seed: 90 of 100 open, no other error appears."""
    found = files(corpora)
    chosen = random.Random(SAMPLE_SEED).sample(found, min(SAMPLE_SIZE, len(found)))
    refused = []
    for count, path in enumerate(chosen):
        source = Source(path, f"{path.stem}.xlsx")
        try:
            mapped = FORMAT.map(source)
        except KbdError as error:
            refused.append((path.name, error.message))
            continue
        assert msgspec.json.decode(msgspec.json.encode(mapped)) == mapped, path.name
        for sheet in mapped["sheets"]:
            for chunk in sheet["chunks"][:2]:
                reading = FORMAT.read(source, Region(sheet=sheet["name"], range=chunk["range"]))
                assert reading.text, path.name
            if sheet["chunks"]:
                table = FORMAT.read_table(source, sheet["name"], tmp_path / str(count))
                assert table.columns, path.name

    assert len(refused) <= 0.1 * len(chosen), refused
