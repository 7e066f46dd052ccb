"""Which real workbooks tests open in their own process."""

import csv
from pathlib import Path

__all__ = ["MAX_BYTES", "real_workbooks"]

MAX_BYTES = 500_000


def real_workbooks(corpora: Path) -> list[Path]:
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
