"""Real delimited files: each is mapped, read and loaded, or refused with a typed error."""

import csv
import random
from pathlib import Path

import pytest

from kbd.errors import KbdError
from kbd.formats import Region, Source
from kbd_csv import CsvFormat

FORMAT = CsvFormat()
SAMPLE_SEED = 20
SAMPLE_SIZE = 150
MAX_BYTES = 2_000_000


@pytest.mark.corpora
def test_real_files(corpora: Path, tmp_path: Path) -> None:
    """A sample of the corpus, chosen by a fixed seed: 97 of 100 load, none breaks a promise."""
    files = [f for f in sorted((corpora / "csv").iterdir()) if f.stat().st_size <= MAX_BYTES]
    chosen = random.Random(SAMPLE_SEED).sample(files, min(SAMPLE_SIZE, len(files)))
    refused = []
    for count, path in enumerate(chosen):
        source = Source(path, path.name)
        plain = tmp_path / str(count)
        try:
            found = FORMAT.map(source)
            FORMAT.read(source, Region())
            table = FORMAT.read_table(source, None, plain)
        except KbdError as error:
            refused.append((path.name, error.message))
            continue
        with plain.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        assert found["row_count"] == table.row_count == max(0, len(rows) - 1), path.name
        assert len({len(row) for row in rows}) <= 1, path.name

    assert len(refused) <= 0.03 * len(chosen), refused
